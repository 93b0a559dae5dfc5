package engine_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"rig/engine"
	"rig/engine/enginetest"
)

// TestAnEndSaysWhatItCutsOff: whatever ends or replaces an occupant says what it is at,
// in one line where it ends, and in a handover what an undo brings back of it.
func TestAnEndSaysWhatItCutsOff(t *testing.T) {
	down := request(engine.VerbDown, "team", engine.DownArgs{})
	remove := request(engine.VerbRemove, "team", engine.ShrinkArgs{Seat: "dev.m0"})
	launch := freshRequest("dev.m0", true)
	queued := func(p *patient) { p.state, p.code, p.queued = engine.ActivityBusy, "retrying", true }
	for name, c := range map[string]struct {
		change   func(p *patient)
		end      string
		handover []string
	}{
		"idle": {change: func(*patient) {}},
		"mid-turn": {
			func(p *patient) { p.state = engine.ActivityBusy }, "dev-m0@team is in mid-turn: that ends with it",
			[]string{"the incumbent is in mid-turn: it is stopped, and an undo lets it go on, but a request in flight may be lost"},
		},
		"approval": {
			func(p *patient) { p.state = engine.ActivityWaiting }, "dev-m0@team waits for a person (set by the test): that ends with it",
			[]string{"the incumbent waits for a person: set by the test"},
		},
		"queued": {
			queued, "dev-m0@team is in mid-turn, has a message queued that its client has not taken yet: all of that ends with it",
			[]string{
				"the incumbent is in mid-turn: it is stopped, and an undo lets it go on, but a request in flight may be lost",
				"a message is queued that the incumbent's client has not taken yet: the successor does not see it; an undo brings it back until its window closes",
			},
		},
		"box not readable": {
			func(p *patient) { p.unread = 1 << 20 }, "dev-m0@team has an input box that cannot be read, where a draft may stand: that ends with it",
			[]string{"the incumbent's input box cannot be read: a draft that stands in it is not seen by the successor; an undo brings it back until its window closes"},
		},
		"box not drawn yet": {change: func(p *patient) { p.unread = 1 }},
		"draft": {
			func(p *patient) { p.draft = "half a sentence" }, "dev-m0@team has a draft in its input box: that ends with it",
			[]string{"a draft stands in the incumbent's input box: the successor does not see it; an undo brings it back until its window closes"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWard(t)
			defer w.close(t)
			w.set(c.change)
			for _, req := range []engine.Request{stopRequest("dev.m0"), launch, down, remove} {
				var want []string
				if c.end != "" {
					want = []string{c.end}
				}
				if got := w.said(t, req); !slices.Equal(got, want) {
					t.Errorf("%s: %q", req.Verb, got)
				}
			}
			if got := w.said(t, handoverRequest("dev.m0", "fresh")); !slices.Equal(got, c.handover) {
				t.Errorf("handover: %q", got)
			}
		})
	}
}

// said gives what a plan warns of.
func (w *ward) said(tb testing.TB, req engine.Request) []string {
	tb.Helper()
	p, err := w.e.Plan(context.Background(), req)
	if err != nil {
		tb.Fatal(err)
	}
	return slices.DeleteFunc(p.Warnings, func(s string) bool { return strings.HasPrefix(s, "nothing primes") })
}

// TestAHandoverWithoutAnUndoPromisesNone: where nothing is kept, nothing comes back.
func TestAHandoverWithoutAnUndoPromisesNone(t *testing.T) {
	w := newWard(t)
	defer w.close(t)
	w.deps.Config.UndoWindow = -1
	w.e = engine.New(w.deps)
	w.set(func(p *patient) { p.state, p.queued = engine.ActivityBusy, true })
	got := strings.Join(w.said(t, handoverRequest("dev.m0", "fresh")), "\n")
	if strings.Contains(got, "undo") || !strings.Contains(got, "in mid-turn: it is ended") || !strings.Contains(got, "it is lost with the incumbent") {
		t.Error(got)
	}
}

// TestAnUndoSaysWhatItEnds: the successor may be at work by then.
func TestAnUndoSaysWhatItEnds(t *testing.T) {
	w := newWard(t)
	defer w.close(t)
	rec := w.run(t, handoverRequest("dev.m0", "fresh"))
	w.set(func(p *patient) { p.state, p.draft = engine.ActivityBusy, "half a sentence" })
	want := []string{"dev-m0@team is in mid-turn, has a draft in its input box: all of that ends with it"}
	if got := w.said(t, request(engine.VerbUndo, rec.Operation.ID, struct{}{})); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// telling remembers what a packet was made from.
type telling struct {
	*enginetest.Contexts
	gaps []string
}

func (c *telling) WritePacket(ctx context.Context, in engine.PacketInput) (engine.Handoff, error) {
	c.gaps = append(c.gaps, in.Gaps...)
	return c.Contexts.WritePacket(ctx, in)
}

// TestTheSuccessorIsToldOfAQueuedMessage: what stood queued is a gap of its packet.
func TestTheSuccessorIsToldOfAQueuedMessage(t *testing.T) {
	w := newWard(t)
	defer w.close(t)
	told := &telling{Contexts: w.ctxs}
	w.deps.Contexts = told
	w.e = engine.New(w.deps)
	w.set(func(p *patient) { p.state, p.queued = engine.ActivityBusy, true })
	p, err := w.e.Plan(t.Context(), handoverRequest("dev.m0", "fresh"))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = w.e.Apply(t.Context(), p, nil) // the busy stand-in need not take its go
	if len(told.gaps) != 1 || !strings.Contains(told.gaps[0], "queued") {
		t.Errorf("%q", told.gaps)
	}
}

// TestMessagesOfAnOperationAreItsOwn: what an operation types is on record under its
// own id and operator, and what a person sends under the person's.
func TestMessagesOfAnOperationAreItsOwn(t *testing.T) {
	w := newWard(t)
	defer w.close(t)
	req := compactRequest(engine.CompactArgs{})
	req.Operator = engine.Operator{Name: "compaction policy", Derived: true}
	p, err := w.e.Plan(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if rec, err := w.e.Apply(t.Context(), p, nil); err != nil || !rec.OK {
		t.Fatalf("%v %+v", err, rec)
	}
	if _, err := w.e.Send(t.Context(), "dev.m0", "hello", false); err != nil {
		t.Fatal(err)
	}
	list, err := w.e.Events(t.Context(), engine.EventFilter{Types: []string{"message.sent"}})
	if err != nil || len(list) != 5 {
		t.Fatalf("%v %+v", err, list)
	}
	for _, e := range list {
		person := e.OpID == "" && e.Operator == w.e.Operator().String()
		policy := e.OpID == p.ID && e.Operator == req.Operator.String()
		if last := e.Seq == newest(list); person != last || policy == last {
			t.Errorf("event %d is by %q, operation %q", e.Seq, e.Operator, e.OpID)
		}
	}
}

func newest(list []engine.Event) (seq int64) {
	for _, e := range list {
		seq = max(seq, e.Seq)
	}
	return seq
}

// TestTheGoNamesWhatWasGiven: a successor is not sent to a packet that does not exist.
func TestTheGoNamesWhatWasGiven(t *testing.T) {
	for source, want := range map[string]string{"fresh": "the work that the packet names", "rebuild": "Nothing was kept of your predecessor's work"} {
		w := newWard(t)
		var typed []string
		w.deps.Mux = typing{w.mux, func(text string) { typed = append(typed, text) }}
		w.e = engine.New(w.deps)
		if rec := w.run(t, handoverRequest("dev.m0", source)); !rec.OK {
			t.Fatalf("%+v", rec)
		}
		if got := strings.Join(typed, "\n"); !strings.Contains(got, want) || source == "rebuild" && strings.Contains(got, "packet") {
			t.Errorf("%s: %q", source, got)
		}
		w.close(t)
	}
}

// TestAStoppedSeatIsBroughtBackWithItsConversation: the advice does not throw away a
// conversation that can be continued.
func TestAStoppedSeatIsBroughtBackWithItsConversation(t *testing.T) {
	b := newSeatBench(t)
	b.run(t, stopRequest("dev.m0"))
	for _, req := range []engine.Request{stopRequest("dev.m0"), cleanRequest("dev.m0")} {
		p, err := b.e.Plan(t.Context(), req)
		if err != nil || len(p.Blockers) != 1 || !strings.Contains(p.Blockers[0].Hint, "`rig launch team dev.m0` brings it back") {
			t.Errorf("%s: %v %+v", req.Verb, err, p.Blockers)
		}
	}
}
