package engine_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"rig/engine"
)

// TestALookTakesNothingForLostThatCameMeanwhile has a pane appear between the look
// at the panes, which runs beside the reading of the record, and the record.
func TestALookTakesNothingForLostThatCameMeanwhile(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeClaude, engine.RuntimeTerminal)
	defer b.close(t)
	b.run(t, upRequest())
	pane := b.mux.Panes()[1]
	looks := 0
	b.faults.Fail = func(name string, _ int) (bool, bool) {
		if name == "inventory" {
			if looks++; looks == 1 {
				b.mux.Drop(pane.ID)
			} else {
				b.mux.Put(pane)
			}
		}
		return false, false
	}
	f, err := b.e.Fleet(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range f.Seats() {
		if s.Life != engine.LifeRunning {
			t.Errorf("%s: %s (%s)", s.Address, s.Life, s.LifeWhy)
		}
	}
	if looks != 2 {
		t.Errorf("%d looks at the panes", looks)
	}
	if _, err := b.e.Fleet(context.Background()); err != nil || looks != 3 {
		t.Errorf("where every pane is in its place one look is enough: %d %v", looks-2, err)
	}
	b.mux.Drop(pane.ID)
	b.faults.Fail = nil
	if f, err = b.e.Fleet(context.Background()); err != nil || f.Seats()[1].Life != engine.LifeLost {
		t.Errorf("a pane that is gone: %+v %v", f.Seats()[1].Life, err)
	}
}

func TestValidName(t *testing.T) {
	for name, want := range map[string]bool{
		"a": true, "Z9": true, "0": true, "a-b_c": true, "": false, "-a": false, "_a": false, "a.b": false, "a@b": false, "a b": false,
		"é": false, "a\n": false, "a\x00": false, "a[": false, "a`": false, "a{": false, strings.Repeat("x", 64): true, strings.Repeat("x", 65): false,
	} {
		if engine.ValidName(name) != want {
			t.Errorf("%q: want %v", name, want)
		}
	}
}

// TestOneSeatIsShownAsAmongAll compares the look at one seat, which reads only what
// concerns it, with the picture of everything.
func TestOneSeatIsShownAsAmongAll(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeClaude, engine.RuntimeClaude, engine.RuntimeClaude, engine.RuntimeTerminal, engine.RuntimeCodex)
	defer b.close(t)
	b.run(t, upRequest())
	ctx := context.Background()
	f, err := b.e.Fleet(ctx)
	if err != nil {
		t.Fatal(err)
	}
	seats := f.Seats()
	err = b.db.Write(ctx, func(tx engine.Tx) error {
		first, err := tx.Sessions(seats[0].ID)
		if err != nil {
			return err
		}
		other, err := tx.Sessions(seats[2].ID)
		if err != nil {
			return err
		}
		other[0].Token = first[0].Token // one conversation in two seats
		now := f.At
		for _, err := range []error{
			tx.UpdateSession(&other[0]),
			tx.InsertEdge(engine.Edge{RigID: seats[0].RigID, From: seats[0].ID, To: seats[3].ID, Kind: engine.EdgeCanObserve}),
			tx.InsertEdge(engine.Edge{RigID: seats[0].RigID, From: seats[3].ID, To: seats[1].ID, Kind: engine.EdgeEscalatesTo}),
			tx.InsertWork(engine.WorkItem{ID: "w", SeatID: seats[1].ID, State: "blocked", CreatedAt: now, UpdatedAt: now}),
			tx.InsertOperation(engine.Operation{ID: "op", Verb: engine.VerbHandover, State: engine.OpRunning, StartedAt: now}),
			tx.PutLease(engine.Lease{Key: "seat:" + seats[1].ID, OpID: "op", Fence: 9, GrantedAt: now, ExpiresAt: now}),
			tx.DeleteBinding(seats[4].ID),
		} {
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	renamed := b.mux.Panes()[1]
	renamed.Session = "by hand"
	b.mux.Put(renamed)
	for _, gone := range []bool{false, true} {
		if gone {
			b.mux.Drop(b.mux.Panes()[3].ID)
		}
		if f, err = b.e.Fleet(ctx); err != nil {
			t.Fatal(err)
		}
		for _, s := range f.Seats() {
			for _, ref := range []string{s.Address, s.Logical, s.Logical + "@" + s.Rig} {
				got, of, err := b.e.SeatView(ctx, ref)
				if err != nil {
					t.Fatal(err)
				}
				if was, is := asSeen(t, f, s), asSeen(t, of, got); was != is {
					t.Errorf("%s:\n%s\namong all:\n%s", ref, is, was)
				}
			}
		}
	}
	shared, lost, held := f.Seats()[0], f.Seats()[3], f.Seats()[1]
	if len(shared.Attention) != 1 || lost.Life != engine.LifeLost || len(lost.Edges) < 2 || held.OpVerb != engine.VerbHandover {
		t.Errorf("the world is not as meant: %v, %s, %v, %q", shared.Attention, lost.Life, lost.Edges, held.OpVerb)
	}
}

// asSeen is all that `rig seat status` shows of a seat, but for the moments of the
// looks.
func asSeen(t *testing.T, f *engine.Fleet, s *engine.SeatView) string {
	t.Helper()
	var items []engine.AttentionItem
	for _, it := range f.Attention {
		if it.SeatID == s.ID {
			it.Since = time.Time{}
			items = append(items, it)
		}
	}
	view := *s
	view.Since = time.Time{}
	text, err := json.MarshalIndent([]any{view, items, f.Server}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
