package tui

import (
	"context"
	"strings"
	"testing"
	"time"

	"rig/engine"
	"rig/tui/tuitest"
)

// A time of day finds the last moment that was not after it; the frame of that
// moment is what is shown and copied.
func TestTapeFindsATime(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("t")
	d.has("What happened in", "5/5", "exited")
	d.keys("0311")
	d.has("2/5", "when it was noticed")
	d.keys("g")
	d.keys("0312")
	d.has("4/5", "Do you want to proceed?", "a little later: asks for permission")
	d.keys("0100")
	d.has("4/5") // nothing that early: stay
	d.keys("y")
	if len(d.copied) != 1 || !strings.Contains(d.copied[0], "make migrate") {
		t.Errorf("copied %q", d.copied)
	}
	d.keys("esc")
	d.hasNot("What happened in")
	d.c.Fail["Shots"] = engine.Errorf(engine.CodeUnavailable, "nothing records the seats here").WithHint("recorder.off")
	d.keys("t")
	d.has("nothing records the seats here")
}

// Each thing that comes to wait rings once, not what waits already when the
// console opens, and not more often than the gap.
func TestBellRingsOnceForEachWait(t *testing.T) {
	opt := options()
	opt.Bell, opt.Notify = true, true
	d := drive(t, tuitest.Fleet(7), opt)
	if len(d.raw) != 0 {
		t.Fatalf("the first picture rang: %q", d.raw)
	}
	next := func(rev int, after time.Duration, keys ...string) {
		f := *tuitest.Fleet(7)
		f.Revision, f.At = uint64(rev), tuitest.Start().Add(after)
		f.Attention = append([]engine.AttentionItem(nil), f.Attention...)
		for _, k := range keys {
			f.Attention = append(f.Attention, engine.AttentionItem{Key: k, Class: engine.AttnWaiting, Seat: "dev-" + k + "@shop;\x1b\a", Reason: "asks"})
		}
		d.send(fleetMsg{&f})
	}
	next(2, time.Second, "a")
	next(3, 2*time.Second, "a")
	next(4, 3*time.Second, "a", "b")
	if len(d.raw) != 1 || !strings.Contains(d.raw[0], "dev-a@shop") || strings.Count(d.raw[0], "\a") != 1 {
		t.Fatalf("rang %q", d.raw)
	}
	next(5, 9*time.Second, "a", "b")
	if len(d.raw) != 2 || !strings.Contains(d.raw[1], "dev-b@shop") {
		t.Fatalf("rang %q", d.raw)
	}
	next(6, 30*time.Second, "a", "b")
	if len(d.raw) != 2 {
		t.Errorf("rang again: %q", d.raw[2:])
	}
	for _, out := range d.raw {
		if body := strings.TrimSuffix(out, "\a"); strings.Contains(body, "\a") || strings.Count(body, "\x1b") != 4 {
			t.Errorf("a name got its escapes through: %q", out)
		}
	}
	if got := notification("x", true); !strings.HasPrefix(got, "\x1bPtmux;\x1b\x1b]9;x") || !strings.HasSuffix(got, "\x1b\\") {
		t.Errorf("inside tmux: %q", got)
	}
}

func TestPopupSaysWhyThereIsNone(t *testing.T) {
	opt := options()
	opt.NoPopup = "a popup needs tmux around this console"
	d := drive(t, tuitest.Fleet(7), opt)
	d.keys("o")
	d.has("a popup needs tmux around this console: Enter goes into the pane")
	var ran []string
	opt.Popup = func(_ context.Context, argv []string) error { ran = argv; return nil }
	d = drive(t, tuitest.Fleet(7), opt)
	d.c.JumpAnswer = engine.Jump{NoPopup: "it cannot be told which of the terminals shows this console"}
	d.keys("o")
	d.has("it cannot be told which of the terminals")
	d.c.JumpAnswer = engine.Jump{Popup: []string{"tmux", "display-popup"}}
	d.keys("o")
	d.has("back from dev-impl@shop")
	if len(ran) != 2 {
		t.Errorf("ran %v", ran)
	}
	opt.InPopup = true
	d = drive(t, tuitest.Fleet(7), opt)
	d.c.JumpAnswer = engine.Jump{Inside: true, Client: "/dev/pts/1"}
	d.keys("enter")
	if !d.quit {
		t.Error("a jump out of a popup leaves it open")
	}
}

// A time that is still to come today was yesterday's, and a time before all that was
// recorded is said to be that.
func TestTapeFindsLastNight(t *testing.T) {
	now := time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC)
	shot := func(before time.Duration) engine.Shot { return engine.Shot{At: now.Add(-before)} }
	shots := []engine.Shot{shot(30 * time.Hour), shot(11 * time.Hour), shot(9 * time.Hour), shot(time.Hour)} // 3 March 03:00, 22:00; 00:00, 08:00
	for hhmm, want := range map[string]int{"2300": 1, "2200": 1, "2159": 0, "0312": 2, "0000": 2, "0759": 2, "0800": 3, "0859": 3, "9999": -1} {
		if got := shotAt(shots, hhmm, now, time.UTC); got != want {
			t.Errorf("%s finds %d, want %d", hhmm, got, want)
		}
	}
	if got := shotAt(shots[2:], "2300", now, time.UTC); got != -1 {
		t.Errorf("before all of them: %d", got)
	}
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("t", "0100")
	if !strings.Contains(d.m.toast.text, "nothing was recorded until 01:00") {
		t.Errorf("says %q", d.m.toast.text)
	}
}
