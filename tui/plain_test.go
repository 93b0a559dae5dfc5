package tui

import (
	"io"
	"strings"
	"testing"

	"rig/engine"
	"rig/tui/tuitest"
)

// plainly runs the plain console over lines and gives what it said.
func plainly(t *testing.T, c *tuitest.Console, opt Options, lines ...string) string {
	t.Helper()
	var out strings.Builder
	if err := RunPlain(t.Context(), c, strings.NewReader(strings.Join(lines, "\n")+"\n"), &out, opt); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestPlainSaysWhatTheScreenShows(t *testing.T) {
	c := tuitest.New(tuitest.Fleet(7))
	c.JumpAnswer = engine.Jump{Argv: []string{"tmux", "-S", "/tmp/rig.sock", "attach", "-t", "=dev-qa@shop:"}}
	out := plainly(t, c, options(), "help", "list codex", "seat dev-impl", "attention", "pressure", "events 3", "operations", "journal op-old1", "explain dev-qa status", "jump dev-qa", "nonsense", "seat nobody", "seat dev")
	for _, want := range []string{
		"1 rig, 7 seats, 6 running, 1 busy, 3 need you",
		"needs you: dev-qa@shop, an answer: permission prompt",
		"jump SEAT",
		"dev-review@shop: idle",
		"state: * busy [registry, just now]",
		"generation 1: initial, fresh (superseded)",
		"1. needs you: dev-qa@shop",
		"plan-architect@shop: 91% 182k of 200k, statusline, 1h ago, wall in now, blocked: usage limit",
		"seat.launched dev-qa@shop , by ana",
		"op-old1 launch shop: failed",
		"failed: dev-qa@shop: wait until it is proven ready 1.3s not ready",
		"but: pane: busy",
		"tmux -S /tmp/rig.sock attach -t =dev-qa@shop:",
		`There is no command "nonsense"`,
		`There is no seat "nobody"`,
		`"dev" means 3 seats`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not said:\n%s", want, out)
		}
	}
	if strings.ContainsAny(out, "\x1b\r") || strings.ContainsAny(out, "─│╭█▌") {
		t.Errorf("the plain console draws:\n%s", out)
	}
}

// That nobody waits is said only of what is known.
func TestPlainSaysWhatIsNotKnown(t *testing.T) {
	for want, change := range map[string]func(f *engine.Fleet){
		"Nothing on record waits for a person. tmux has not been asked yet": func(f *engine.Fleet) { f.Live = false },
		"Nothing is known to wait. tmux is unknown":                         func(f *engine.Fleet) { f.Server.State = engine.Unknown },
		"Nobody waits for you. 6 of 7 seats running, 1 busy":                func(*engine.Fleet) {},
	} {
		f := tuitest.Fleet(7)
		f.Attention = nil
		change(f)
		if out := plainly(t, tuitest.New(f), options(), "attention"); !strings.Contains(out, want) {
			t.Errorf("%q is not said:\n%s", want, out)
		}
	}
}

func TestPlainWizardAsksShowsAndApplies(t *testing.T) {
	c := tuitest.New(tuitest.Fleet(7))
	out := plainly(t, c, options(), "down shop", "", "yes", "", "enough for today", "shop")
	for _, want := range []string{"Rig: shop", "Snapshot?", "Offered: yes", "Delete?", "Drop work?", "Reason?", "down shop", "end its process", "in a shell: rig down shop", `Type "shop" to apply`, "done: dev-impl@shop: end its process", "operation op-001"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not said:\n%s", want, out)
		}
	}
	if _, _, done := c.Did(); len(done) != 1 {
		t.Errorf("applied %v", done)
	}
}

func TestPlainWizardLeavesWithoutTheAnswer(t *testing.T) {
	for name, lines := range map[string][]string{
		"cancel":       {"down shop", "cancel"},
		"yes for name": {"down shop", "", "", "", "yes"},
		"blank":        {"down shop", "", "", "", ""},
		"end of input": {"down shop", "", ""},
		"no reason":    {"launch shop", "", "", "cancel"},
	} {
		c := tuitest.New(tuitest.Fleet(7))
		out := plainly(t, c, options(), lines...)
		if _, _, done := c.Did(); len(done) != 0 || !strings.Contains(out, "Nothing was changed") {
			t.Errorf("%s: applied %v, said\n%s", name, done, out)
		}
	}
}

func TestPlainActsOnSeatsAndItems(t *testing.T) {
	c := tuitest.New(tuitest.Fleet(7))
	out := plainly(t, c, options(), "send dev-impl go on, please", "send dev-review hello", "ack 1", "snooze 2 15", "ack 99")
	sent, _, _ := c.Did()
	if len(sent) != 1 || sent[0] != "seat000 go on, please" {
		t.Errorf("sent %v", sent)
	}
	if n, ok := c.Acked("waiting/seat001"); !ok || n != 0 {
		t.Errorf("acknowledged %d, %v", n, ok)
	}
	for _, want := range []string{"delivered", "never typed over: also check the migr", "Which item?"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not said:\n%s", want, out)
		}
	}
}

func TestPlainSeatVerbsNameTheirSeat(t *testing.T) {
	c := tuitest.New(tuitest.Fleet(7))
	out := plainly(t, c, options(), "seat stop", "seat stop dev-impl", "enough", "dev-impl@shop", "seat dev-impl", "launch nowhere")
	if _, _, done := c.Did(); len(done) != 1 || done[0] != "seat stop dev-impl@shop" {
		t.Errorf("applied %v", done)
	}
	for _, want := range []string{"seat stop SEAT: name the seat", "Reason?", "seat stop dev-impl@shop", "state: * busy", `no seat "nowhere"`} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not said:\n%s", want, out)
		}
	}
}

func TestPlainReadOnlyRefuses(t *testing.T) {
	opt := options()
	opt.ReadOnly = true
	c := tuitest.New(tuitest.Fleet(7))
	out := plainly(t, c, opt, "send dev-impl hello", "ack 1", "down shop", "list")
	if strings.Count(out, "Read-only mode") != 3 || !strings.Contains(out, "dev-impl@shop: busy") {
		t.Errorf("said\n%s", out)
	}
	if n := c.Called("Send") + c.Called("Ack") + c.Called("Plan") + c.Called("Apply"); n != 0 {
		t.Errorf("%d calls that change something", n)
	}
}

func TestPlainSaysEachChangeOnce(t *testing.T) {
	c := tuitest.New(tuitest.Fleet(7))
	r, w := io.Pipe()
	out := &screenful{}
	done := make(chan error, 1)
	go func() { done <- RunPlain(t.Context(), c, r, out, options()) }()
	until(t, "the greeting", func() bool { return strings.Contains(out.String(), "Type help") })
	f := tuitest.Fleet(7)
	f.Revision = 2
	f.Rigs[0].Seats[0].Activity.State, f.Rigs[0].Seats[0].Activity.Why = engine.ActivityIdle, ""
	c.Publish(f)
	until(t, "the change", func() bool {
		return strings.Contains(out.String(), "dev-impl@shop: idle, was busy (a turn is under way)")
	})
	again := *f
	again.Revision = 3
	c.Publish(&again)
	_, _ = io.WriteString(w, "attention\nquit\n")
	if err := <-done; err != nil {
		t.Error(err)
	}
	if n := strings.Count(out.String(), "was busy"); n != 1 {
		t.Errorf("the change was said %d times", n)
	}
}
