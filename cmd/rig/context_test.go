package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestKeptTexts writes recaps of a seat, reads them back, and has a rebuild and a
// startup block read them.
func TestKeptTexts(t *testing.T) {
	w := newWorld(t)
	spec := w.spec("kt", "impl:claude-code")
	w.write("kt.yaml", readText(t, spec)+"startup:\n  files:\n    - {path: \"seat:RECAP.md\"}\n")
	w.must("up", spec)
	draft := w.write("draft.md", "# Recap\n\n## State\n\nThe heron stands; unverified so far.\n\n### Open\n\nThe tests.\n\n## Next\n\ndev-qa\n")
	r := w.run("context", "recap-write", "--rig", "kt", "--seat", "dev-impl", "--file", draft)
	if r.code != 0 || !strings.Contains(r.out, "dev-impl@kt: written to ") || !strings.Contains(r.err, "no-decisions-section") || !strings.Contains(r.err, "line 5: ") {
		t.Fatalf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	w.refuse("recap_not_addressable", 1, "context", "recap-write", "--seat", "dev.impl", "--file", w.write("bad.md", "# A\n# A\n"))
	w.refuse("rig_not_found", 1, "context", "recap-write", "--rig", "nope", "--seat", "dev-impl", "--file", draft)
	w.refuse("seat_not_found", 1, "context", "recap-write", "--rig", "kt", "--seat", "../x", "--file", draft)
	w.refuse("invalid", 2, "context", "recap-write", "--seat", "dev.impl", "--file", filepath.Join(w.dir, "gone.md"))
	w.refuse("not_in_a_seat", 1, "context", "recap-write", "--file", draft)
	home := filepath.Join(w.dir, "rig", "rigs", "kt", "seats")
	if list, err := os.ReadDir(home); err != nil || len(list) != 1 {
		t.Errorf("a refusal made folders: %v %v", list, err)
	}
	next := "# Second\n\n## Decisions\n\nThe landmark is EGRET.\n"
	dry := w.runIn(w.project, []byte(next), "context", "recap-write", "--seat", "dev.impl", "--file", "-", "--dry-run")
	_, shown, found := strings.Cut(dry.out, "fingerprint ")
	if dry.code != 0 || !found || !strings.Contains(dry.out, "No changes") || !strings.Contains(dry.out, "$ rig context recap-write --seat dev-impl@kt --file -") {
		t.Errorf("dry run: exit %d %s%s", dry.code, dry.out, dry.err)
	}
	shown, _, _ = strings.Cut(shown, "\n")
	if out := w.must("context", "get", "seat:RECAP.md#State/Open", "--seat", "dev.impl"); out != "### Open\n\nThe tests.\n" {
		t.Errorf("section %q", out)
	}
	apply := []string{"context", "recap-write", "--seat", "dev.impl", "--file", "-", "--apply", shown}
	if r := w.runIn(w.project, []byte(next+"other"), append(apply, "--json")...); r.code != 1 || !strings.Contains(r.out+r.err, "plan_stale") {
		t.Errorf("another draft under the same fingerprint: exit %d %s%s", r.code, r.out, r.err)
	}
	var done struct {
		OK         bool
		Seat, Path string
		Digest     string
		Superseded []string
		Findings   []any
		Operation  struct{ State string }
	}
	if r := w.runIn(w.project, []byte(next), append(apply, "--json")...); r.code != 0 || json.Unmarshal([]byte(r.out), &done) != nil ||
		!done.OK || done.Seat != "dev-impl@kt" || readText(t, done.Path) != next || len(done.Superseded) != 1 || len(done.Digest) != 16 || done.Operation.State != "done" {
		t.Fatalf("exit %d %s%s", r.code, r.out, r.err)
	}
	w.write("rig/rigs/kt/seats/dev-impl/LEARNED.md", "# Learned\n\nHerons are shy.\n")
	list := w.must("context", "get", "--seat", "dev.impl")
	recap, learned, older := strings.Index(list, "seat:RECAP.md"), strings.Index(list, "seat:LEARNED.md"), strings.Index(list, "seat:recap-superseded/RECAP-")
	if recap < 0 || learned < recap || older < learned {
		t.Errorf("order of what is kept:\n%s", list)
	}
	w.refuse("not_found", 1, "context", "get", "seat:RECAP.md#Nowhere", "--seat", "dev.impl")
	w.refuse("not_found", 1, "context", "get", "seat:OTHER.md", "--seat", "dev.impl")
	w.refuse("invalid", 2, "context", "get", "/etc/passwd", "--seat", "dev.impl")
	w.refuse("bad_name", 2, "context", "get", "seat:../x", "--seat", "dev.impl")
	w.must("handover", "dev.impl", "--source", "rebuild", "--reason", "test")
	said := ""
	files, err := filepath.Glob(filepath.Join(w.home, ".claude", "projects", "*", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if text := readText(t, f); strings.Contains(text, "You are a rebuilt successor") {
			said = text
		}
	}
	if r, l := strings.Index(said, "EGRET"), strings.Index(said, "Herons are shy"); r < 0 || l < r {
		t.Errorf("the rebuilt seat read the recap at %d, the notes at %d", r, l)
	}
	w.must("seat", "stop", "dev.impl", "--reason", "test")
	w.must("seat", "launch", "dev.impl", "--fresh", "--reason", "test")
	w.eventually("the startup block served the recap", func() (bool, string) {
		out := w.must("capture", "dev.impl", "--lines", "60")
		return strings.Contains(out, "EGRET"), out
	})
	w.refuse("invalid", 2, "events", "--limit", "-1")
	w.refuse("invalid", 2, "events", "--since", "-1h")
	if out := w.must("events", "--type", "seat.recap_written"); strings.Count(out, "seat.recap_written") != 2 || strings.Contains(out, "EGRET") {
		t.Errorf("audit log:\n%s", out)
	}
}

func readText(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestWorkInstall(t *testing.T) {
	w := newWorld(t)
	var doc struct {
		OK       bool `json:"ok"`
		Position struct {
			By string `json:"selected_by"`
		} `json:"position"`
		Project *struct {
			ID string `json:"id"`
		} `json:"project"`
		Pieces   []struct{ Path, Text string } `json:"pieces"`
		Projects []string                      `json:"projects"`
	}
	if r := w.into(&doc, "context", "work-install"); r.code != 0 || doc.Project != nil || len(doc.Projects) != 0 {
		t.Fatalf("none: exit %d %s", r.code, r.out)
	}
	w.write("project/rig-project.yaml", "id: shop\nintent: Checkout must not stop.\ncontext: [docs/intent.md, docs/gone.md, docs/out.md]\n")
	w.write("project/docs/intent.md", "# Intent\nHerons. key sk-"+"EXAMPLEexample0000EXAMPLE\n")
	if err := os.Symlink("/etc/passwd", filepath.Join(w.project, "docs", "out.md")); err != nil {
		t.Fatal(err)
	}
	out := w.must("context", "work-install")
	if !strings.Contains(out, "shop ("+w.project+"), chosen by only project") || !strings.Contains(out, "docs/gone.md    absent: it is not there\n  3. docs/out.md     absent: path escapes from parent") || strings.Contains(out, "Herons") {
		t.Errorf("list:\n%s", out)
	}
	out = w.must("context", "work-install", "--deliver")
	if !strings.Contains(out, "1 of 3: docs/intent.md") || !strings.Contains(out, "Herons.") || !strings.Contains(out, "(absent: ") || strings.Contains(out, "root:") || strings.Contains(out, "EXAMPLE") {
		t.Errorf("deliver:\n%s", out)
	}
	w.write("other/rig-project.yaml", "id: pay\n")
	w.write("third/rig-project.yaml", "id: third\n")
	w.write("config.yaml", "projects:\n  roots: ["+filepath.Join(w.dir, "other")+", "+filepath.Join(w.dir, "third")+"]\n")
	if r := w.into(&doc, "context", "work-install"); r.code != 0 || doc.Project.ID != "shop" || doc.Position.By != "deepest_root" || len(doc.Projects) != 3 {
		t.Errorf("around the directory: exit %d %s", r.code, r.out)
	}
	w.runIn(w.dir, nil, "context", "work-install")
	if r := w.runIn(w.dir, nil, "context", "work-install", "--json"); r.code != 1 || !strings.Contains(r.out, `"project_required"`) || !strings.Contains(r.out, `"pay"`) {
		t.Errorf("several: exit %d %s", r.code, r.out)
	}
	if r := w.runIn(w.dir, nil, "context", "work-install", "--project", "pay"); r.code != 0 || !strings.Contains(r.out, "pay (") {
		t.Errorf("named: exit %d %s%s", r.code, r.out, r.err)
	}
	w.write("third/rig-project.yaml", "id: pay\n")
	w.refuse("ambiguous_name", 1, "context", "work-install")
	w.write("third/rig-project.yaml", "id: third\ncolour: red\n")
	w.refuse("invalid", 2, "context", "work-install")
}
