package tui

import (
	"io"
	"strings"
	"testing"
	"time"

	"rig/engine"
	"rig/tui/tuitest"
)

// talk is a plain console that one talks to while its pictures change.
type talk struct {
	t    *testing.T
	c    *tuitest.Console
	in   *io.PipeWriter
	out  *screenful
	done chan error
	rev  uint64
}

func talking(t *testing.T, opt Options) *talk {
	t.Helper()
	r, w := io.Pipe()
	k := &talk{t: t, c: tuitest.New(tuitest.Fleet(7)), in: w, out: &screenful{}, done: make(chan error, 1), rev: 1}
	go func() {
		err := RunPlain(t.Context(), k.c, r, k.out, opt)
		_ = r.Close() // whoever still writes is not held up
		k.done <- err
	}()
	k.until("Type help")
	return k
}

func (k *talk) until(words string) {
	k.t.Helper()
	until(k.t, words, func() bool { return strings.Contains(k.out.String(), words) })
}

// shows publishes a picture that is changed from the first.
func (k *talk) shows(change func(f *engine.Fleet)) {
	k.rev++
	f := tuitest.Fleet(7)
	f.Revision = k.rev
	change(f)
	k.c.Publish(f)
}

func (k *talk) says(lines ...string) { _, _ = io.WriteString(k.in, strings.Join(lines, "\n")+"\n") }

func (k *talk) quit() string {
	k.t.Helper()
	k.says("quit")
	if err := <-k.done; err != nil {
		k.t.Error(err)
	}
	return k.out.String()
}

// A wait that comes again is said again, also when it is the same question of the same
// seat; one that goes on is not.
func TestPlainSaysEachWait(t *testing.T) {
	k := talking(t, options())
	said := func() int { return strings.Count(k.out.String(), "needs you: dev-qa@shop") }
	calm := func(f *engine.Fleet) { f.Attention = nil; f.Rigs[0].Seats[1].Activity.Why = "calm" }
	k.shows(func(f *engine.Fleet) { f.Rigs[0].Seats[0].Activity.Why = "still the same wait" })
	k.until("still the same wait")
	if said() != 1 {
		t.Errorf("said %d times", said())
	}
	k.shows(calm)
	k.until("(calm)")
	k.shows(func(*engine.Fleet) {})
	until(t, "the second wait", func() bool { return said() == 2 })
	k.quit()
}

// What is asked after something was done is answered from the picture of after it.
func TestPlainAnswersFromTheNewestPicture(t *testing.T) {
	k := talking(t, options())
	k.c.Pause = func() {
		k.shows(func(f *engine.Fleet) {
			s := &f.Rigs[0].Seats[0]
			s.Life, s.LifeWhy = engine.LifeStopped, "ended just now"
		})
	}
	k.says("seat stop dev-impl", "enough", "dev-impl@shop", "list")
	k.until("ops-deploy@shop: unknown")
	if out := k.quit(); strings.Count(out, "  dev-impl@shop: stopped (ended just now)") != 1 {
		t.Errorf("said\n%s", out)
	}
}

// What stands over the whole picture is said when it changes, not only at the start; and
// so is a seat that is no longer there.
func TestPlainSaysWhatBecomesOfThePicture(t *testing.T) {
	k := talking(t, options())
	k.shows(func(f *engine.Fleet) { f.Server.State, f.Server.Why = engine.Unknown, "it did not answer" })
	k.until("The picture is: tmux ?.")
	k.shows(func(*engine.Fleet) {})
	k.until("The picture is: live.")
	k.shows(func(f *engine.Fleet) { f.RecordErr = "database is locked" })
	k.until("The record cannot be read: database is locked.")
	k.shows(func(f *engine.Fleet) { f.Rigs[0].Seats = f.Rigs[0].Seats[:6] })
	k.until("ops-deploy@shop: no longer there")
	if out := k.quit(); strings.Count(out, "The record cannot be read") != 1 {
		t.Errorf("said\n%s", out)
	}
}

// Ages and undo windows are counted from now, not from the last picture, which comes only
// when something changes.
func TestPlainKnowsTheTime(t *testing.T) {
	opt := options()
	opt.Now = func() time.Time { return tuitest.Start().Add(10 * time.Minute) }
	out := plainly(t, tuitest.New(tuitest.Fleet(7)), opt, "list")
	if !strings.Contains(out, "dev-impl@shop: busy (a turn is under way), claude, context 62%, for 14m") {
		t.Errorf("said\n%s", out)
	}
}

// The numbers of attention are those that were told, whatever came since.
func TestPlainNumbersStandUntilTheyAreToldAnew(t *testing.T) {
	k := talking(t, options())
	k.says("attention")
	k.until("1. needs you: dev-qa@shop")
	k.shows(func(f *engine.Fleet) {
		f.Attention = append([]engine.AttentionItem{{Key: "new/1", Class: engine.AttnGate, Seat: "dev-impl@shop", SeatID: "seat000", Reason: "a new gate"}}, f.Attention...)
	})
	k.until("a new gate")
	k.says("ack 1", "attention")
	k.until("1. needs you: dev-impl@shop")
	k.quit()
	if _, ok := k.c.Acked("waiting/seat001"); !ok {
		t.Errorf("another item was acknowledged\n%s", k.out.String())
	}
}

// A line that is longer than what can be taken does not end the console unsaid, and one
// that is as long as a message may be is taken.
func TestPlainTakesLongLines(t *testing.T) {
	c := tuitest.New(tuitest.Fleet(7))
	text := strings.Repeat("x", 150<<10)
	out := plainly(t, c, options(), "send dev-impl "+text, "list")
	if sent, _, _ := c.Did(); len(sent) != 1 || len(sent[0]) < len(text) || !strings.Contains(out, "rig shop:") {
		t.Errorf("sent %d messages; said\n%s", len(sent), out)
	}
	in := strings.NewReader("send dev-impl " + strings.Repeat("x", maxLine) + "\nlist\n")
	if err := RunPlain(t.Context(), tuitest.New(tuitest.Fleet(7)), in, io.Discard, options()); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("ended with %v", err)
	}
}
