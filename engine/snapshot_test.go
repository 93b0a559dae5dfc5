package engine_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"rig/engine"
)

func snapshotRequest(seats ...string) engine.Request {
	return request(engine.VerbSnapshot, "team", engine.SnapshotArgs{Intended: seats})
}

func (b *bench) snapshots(tb testing.TB) []engine.SnapshotView {
	tb.Helper()
	list, err := b.e.Snapshots(context.Background(), "team")
	if err != nil {
		tb.Fatal(err)
	}
	return list
}

func TestSnapshotKeepsTheRosterItSaw(t *testing.T) {
	t.Parallel()
	b := newBench(t, t.TempDir(), engine.RuntimeClaude, engine.RuntimeTerminal)
	defer b.close(t)
	b.run(t, upRequest())
	if rec := b.run(t, snapshotRequest("dev.m0")); !rec.OK {
		t.Fatalf("%+v", rec)
	}
	rec := b.run(t, snapshotRequest())
	got, _ := rec.Extra["snapshot"].(map[string]any)
	if !rec.OK || got["status"] != engine.SnapshotComplete {
		t.Fatalf("%+v", rec)
	}
	list := b.snapshots(t)
	if len(list) != 2 || list[0].Roster != engine.RosterTopology || len(list[0].Intended) != 2 || !list[0].Usable || !list[0].Chosen {
		t.Errorf("the newer one: %+v", list)
	}
	if list[1].Roster != engine.RosterExplicit || strings.Join(list[1].Intended, " ") != "dev.m0" || list[1].Chosen {
		t.Errorf("the older one: %+v", list[1])
	}
	p, err := b.e.Plan(context.Background(), snapshotRequest("dev.nobody"))
	if engine.CodeOf(err) != engine.CodeSeatNotFound {
		t.Errorf("an unknown seat: %v, %+v", err, p)
	}
}

func TestSnapshotIsShownWithoutTokens(t *testing.T) {
	t.Parallel()
	b := newBench(t, t.TempDir(), engine.RuntimeClaude)
	defer b.close(t)
	b.run(t, upRequest())
	b.run(t, snapshotRequest())
	var raw string
	err := b.db.Read(context.Background(), func(r engine.Reader) error {
		rec, err := r.Record()
		raw = rec.Sessions[0].Token.Reveal()
		return err
	})
	if err != nil || raw == "" {
		t.Fatalf("no token to look for: %v", err)
	}
	d, err := b.e.Snapshot(context.Background(), b.snapshots(t)[0].ID)
	if err != nil || len(d.Detail) != 1 || d.Detail[0].Token == "" {
		t.Fatalf("%+v, %v", d, err)
	}
	text, err := json.Marshal(d)
	if err != nil || strings.Contains(string(text), raw) {
		t.Errorf("the token is shown: %s, %v", text, err)
	}
	if _, err := b.e.Snapshot(context.Background(), "nothing"); engine.CodeOf(err) != engine.CodeSnapshotNotFound {
		t.Errorf("an unknown id: %v", err)
	}
}

// TestBlindSnapshotIsNeverChosen takes snapshots while tmux is gone, does not
// answer, or has lost the seats: the good one stays what a restore stands on.
func TestBlindSnapshotIsNeverChosen(t *testing.T) {
	t.Parallel()
	b := newBench(t, t.TempDir(), engine.RuntimeClaude, engine.RuntimeTerminal)
	defer b.close(t)
	b.run(t, upRequest())
	b.run(t, snapshotRequest())
	good := b.snapshots(t)[0].ID
	for name, blind := range map[string]func(){
		"gone":   func() { b.mux.State = engine.Absent },
		"silent": func() { b.mux.State = engine.Unknown },
		"anew":   func() { b.mux.State, b.mux.Epoch = engine.Present, "200:2" },
	} {
		blind()
		rec := b.run(t, snapshotRequest())
		if rec.OK || rec.Error == nil || rec.Error.Code != engine.CodeSnapshotPartial || rec.Error.Hint == "" {
			t.Errorf("%s: %+v", name, rec)
		}
		list := b.snapshots(t)
		if list[0].Status != engine.SnapshotPartial || list[0].Usable || list[0].Note == "" {
			t.Errorf("%s: %+v", name, list[0])
		}
		for _, s := range list {
			if s.Chosen != (s.ID == good) {
				t.Errorf("%s: %+v", name, s)
			}
		}
	}
}

// TestDamagedSnapshotsAreNotChosen stores snapshots that are cut off, empty, of
// another rig, or of an older occupant.
func TestDamagedSnapshotsAreNotChosen(t *testing.T) {
	t.Parallel()
	b := newBench(t, t.TempDir(), engine.RuntimeClaude)
	defer b.close(t)
	b.run(t, upRequest())
	b.run(t, snapshotRequest())
	good := b.snapshots(t)[0]
	var row engine.SnapshotRow
	err := b.db.Read(context.Background(), func(r engine.Reader) error {
		var err error
		row, err = r.Snapshot(good.ID)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	text := string(row.Data)
	for id, data := range map[string]string{
		"zz-cut":      text[:len(text)/2],
		"zz-nothing":  "",
		"zz-array":    "[]",
		"zz-version":  strings.Replace(text, `"version":1`, `"version":9`, 1),
		"zz-noroster": strings.Replace(text, `"intended_seats":["dev.m0"]`, `"intended_seats":null`, 1),
		"zz-empty":    strings.Replace(text, `"intended_seats":["dev.m0"]`, `"intended_seats":[]`, 1),
		"zz-rig":      strings.Replace(text, row.RigID, "another", 1),
	} {
		bad := row
		bad.ID, bad.Data, bad.Kind, bad.CreatedAt = id, []byte(data), engine.SnapshotPreDown, row.CreatedAt.AddDate(1, 0, 0)
		if err := b.db.Write(context.Background(), func(tx engine.Tx) error { return tx.InsertSnapshot(bad) }); err != nil {
			t.Fatal(err)
		}
		if data == text {
			t.Errorf("%s is not damaged", id)
		}
	}
	for _, s := range b.snapshots(t) {
		if s.Usable != (s.ID == good.ID) || s.Chosen != s.Usable || (!s.Usable && s.Why == "") {
			t.Errorf("%+v", s)
		}
	}
	b.run(t, handoverRequest("dev.m0", "fresh"))
	if s := b.snapshots(t); s[len(s)-1].Usable || !strings.Contains(s[len(s)-1].Why, "older occupant") {
		t.Errorf("after a handover: %+v", s[len(s)-1])
	}
}

func TestDownOfASeenRigKeepsACompleteSnapshot(t *testing.T) {
	t.Parallel()
	b := newBench(t, t.TempDir(), engine.RuntimeClaude)
	defer b.close(t)
	b.run(t, upRequest())
	b.run(t, request(engine.VerbDown, "team", engine.DownArgs{}))
	b.run(t, request(engine.VerbDown, "team", engine.DownArgs{}))
	list := b.snapshots(t)
	if len(list) != 1 || list[0].Kind != engine.SnapshotPreDown || !list[0].Chosen {
		t.Errorf("one snapshot for the running rig, none for the stopped one: %+v", list)
	}
}
