package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"rig/engine"
)

// TestSpecDriftIsShownPerSeat: a seat keeps what it was made with. Where its spec says something else by now, or a verb changed the
// seat, status and restore-check say so, and only for that seat.
func TestSpecDriftIsShownPerSeat(t *testing.T) {
	w := newWorld(t)
	path := w.spec("drift", "a:claude-code", "b:terminal", "c:terminal")
	w.must("up", path)
	drift := func(ref string) engine.SpecDrift {
		var doc struct {
			Drift engine.SpecDrift `json:"spec_drift"`
		}
		if r := w.into(&doc, "seat", "status", ref); r.code != 0 {
			t.Fatalf("%s%s", r.out, r.err)
		}
		return doc.Drift
	}
	for _, ref := range []string{"dev.a", "dev.b", "dev.c"} {
		if d := drift(ref); d.State != engine.DriftSame || len(d.Fields) > 0 {
			t.Errorf("%s right after up: %+v", ref, d)
		}
	}
	w.must("seat", "set-model", "dev.a", "--model", "opus", "--reason", "r")
	if d := drift("dev.a"); d.State != engine.DriftDiffers || len(d.Fields) != 1 || d.Why != "1 field of the spec differs" || d.Fields[0] != (engine.DriftField{Field: "model", Spec: "", Seat: "opus"}) {
		t.Errorf("after set-model: %+v", d)
	}
	if r := w.run("seat", "status", "dev.a"); !strings.Contains(r.out, "model: nothing in the spec, opus in the seat") {
		t.Errorf("for a person:\n%s", r.out)
	}

	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	i := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "id: b,") })
	j := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "id: c,") })
	if i < 0 || j < 0 {
		t.Fatalf("the spec has another form:\n%s", text)
	}
	lines[i] = strings.Replace(lines[i], "id: b,", "id: b, label: Tests,", 1)
	if err := os.WriteFile(path, []byte(strings.Join(slices.Delete(lines, j, j+1), "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	if d := drift("dev.b"); d.State != engine.DriftDiffers || len(d.Fields) != 1 || d.Fields[0].Field != "label" {
		t.Errorf("after an edit: %+v", d)
	}
	if d := drift("dev.c"); d.State != engine.DriftGone {
		t.Errorf("a member that was taken out: %+v", d)
	}
	var rep engine.RestoreCheckReport
	w.into(&rep, "restore-check", "--full")
	seen := 0
	for _, c := range rep.Checks {
		if strings.HasSuffix(c.Check, ".spec") {
			seen++
			if c.Status != engine.CheckGreen {
				t.Errorf("a restore does not need the spec: %+v", c)
			}
		}
	}
	if seen != 3 {
		t.Errorf("%d seats are told of: %+v", seen, rep.Checks)
	}
	if err := os.WriteFile(path, []byte("version: ["), 0o600); err != nil {
		t.Fatal(err)
	}
	if d := drift("dev.a"); d.State != engine.DriftUnknown || d.Code == "" {
		t.Errorf("a spec that cannot be read: %+v", d)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if d := drift("dev.a"); d.State != engine.DriftUnknown || d.Why == "" {
		t.Errorf("a spec that is gone: %+v", d)
	}
}
