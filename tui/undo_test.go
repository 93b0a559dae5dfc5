package tui

import (
	"strings"
	"testing"
	"time"

	"rig/engine"
	"rig/tui/tuitest"
)

// handedOver is a picture in which seats were handed over, the later ones later, with
// the undo windows open.
func handedOver(seats ...string) *engine.Fleet {
	f := tuitest.Fleet(7)
	for i, seat := range seats {
		at := tuitest.Start().Add(time.Duration(i-len(seats)) * time.Minute)
		f.Ops = append(f.Ops, engine.OpView{
			ID: "op-" + seat, Verb: engine.VerbHandover, Target: seat, State: engine.OpDone, Committed: true,
			StartedAt: at, EndedAt: at.Add(9 * time.Second), UndoUntil: tuitest.Start().Add(time.Hour),
		})
	}
	return f
}

// undoes is the operation whose undo is planned; "" = none.
func (d *driver) undoes() string {
	d.t.Helper()
	d.keys("u")
	if w := d.m.wizard(); w != nil && len(w.plans) == 1 && w.plans[0].Verb == engine.VerbUndo {
		return w.plans[0].Request.Target
	}
	return ""
}

func TestUndoIsOfTheSeatUnderTheCursor(t *testing.T) {
	for _, screen := range []string{"1", "4", "5"} {
		d := drive(t, handedOver("dev-impl@shop", "dev-qa@shop"), options())
		d.keys("space", "v", "k", screen) // marks are of no account, and the cursor is on impl again
		seat := d.m.here().seat.Address
		if got := d.undoes(); got != "op-"+seat {
			t.Errorf("on screen %s with the cursor on %s the undo is of %q", screen, seat, got)
		}
	}
	d := drive(t, handedOver("dev-impl@shop", "dev-qa@shop"), options())
	d.keys("j", "j")
	if got := d.undoes(); got != "" || !strings.Contains(d.m.toast.text, "nothing of dev-review@shop can be undone") {
		t.Errorf("undo of %q, says %q", got, d.m.toast.text)
	}
	d.has("dev-qa@shop", "dev-impl@shop")
	d.keys("g")
	if got := d.undoes(); got != "" || !strings.Contains(d.m.toast.text, "put the cursor on a seat") || !strings.Contains(d.m.toast.text, "dev-qa@shop") {
		t.Errorf("on a rig: undo of %q, says %q", got, d.m.toast.text)
	}
}

func TestUndoOnOperationsIsOfTheRow(t *testing.T) {
	d := drive(t, handedOver("dev-impl@shop"), options())
	d.keys("8")
	if got := d.undoes(); got != "" || !strings.Contains(d.m.toast.text, "up of shop cannot be undone") || !strings.Contains(d.m.toast.text, "handover of dev-impl@shop, begun 10:29") {
		t.Errorf("undo of %q, says %q", got, d.m.toast.text)
	}
	s := d.m.operations()
	s.all = append([]engine.Operation{{ID: "op-dev-impl@shop", Verb: engine.VerbHandover, Target: "dev-impl@shop", State: engine.OpDone}}, s.all...)
	s.filter(d.m)
	s.list.cursor = 0
	if got := d.undoes(); got != "op-dev-impl@shop" {
		t.Errorf("on its row the undo is of %q", got)
	}
}

// What the picture already rules out is not promised.
func TestUndoThatCannotBeSaysWhy(t *testing.T) {
	for want, change := range map[string]func(f *engine.Fleet, s *engine.SeatView){
		"until 11:30:00": func(*engine.Fleet, *engine.SeatView) {},
		"a later occupant sits there: generation 3": func(_ *engine.Fleet, s *engine.SeatView) {
			s.Generation, s.StartedAt = 3, tuitest.Start()
		},
		"its successor is gone": func(_ *engine.Fleet, s *engine.SeatView) { s.Life, s.LifeWhy = engine.LifeStopped, "stopped by ana" },
		"compact is under way":  func(_ *engine.Fleet, s *engine.SeatView) { s.OpID, s.OpVerb = "op-9", engine.VerbCompact },
		"its seat is not there any more": func(f *engine.Fleet, _ *engine.SeatView) {
			f.Ops[0].Target = "dev-gone@shop"
		},
		"it is not over yet":           func(f *engine.Fleet, _ *engine.SeatView) { f.Ops[0].State = engine.OpRunning },
		"the incumbent's pane is gone": func(f *engine.Fleet, _ *engine.SeatView) { f.Ops[0].UndoGone = true },
		"it was cut off":               func(f *engine.Fleet, _ *engine.SeatView) { f.Ops[0].State = engine.OpUnfinished },
	} {
		f := handedOver("dev-impl@shop")
		change(f, &f.Rigs[0].Seats[0])
		d := drive(t, f, options())
		d.keys("8")
		s := d.m.operations()
		s.all = []engine.Operation{{ID: f.Ops[0].ID, Verb: engine.VerbHandover, Target: f.Ops[0].Target, State: engine.OpDone}}
		s.filter(d.m)
		top := strings.Join(strings.Fields(ansiText(s.journalTop(d.m, s.all[0], 60))), " ")
		receipt := strings.Join(strings.Fields(ansiText(d.m.undoLine(&engine.Receipt{Operation: engine.ReceiptOp{ID: f.Ops[0].ID}}, 80))), " ")
		if can := strings.HasPrefix(want, "until"); !strings.Contains(top, want) || !strings.Contains(receipt, want) || strings.Contains(top, "until") != can || strings.Contains(receipt, "until") != can {
			t.Errorf("want %q, the journal says %q, the receipt %q", want, top, receipt)
		} else if got := d.undoes(); (got != "") != can || !can && !strings.Contains(d.m.toast.text, want) {
			t.Errorf("%s: undo of %q, says %q", want, got, d.m.toast.text)
		}
	}
}
