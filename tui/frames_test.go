package tui

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"rig/engine"
	"rig/tui/tuitest"
)

func typeName(v any) string { return reflect.TypeOf(v).String() }

// text is a value of a string type as its text.
func text(v any) string { return reflect.ValueOf(v).String() }

// sizes are the terminals every frame is drawn on.
var sizes = []struct{ w, h int }{{200, 50}, {120, 40}, {100, 30}, {80, 24}, {60, 20}, {40, 12}}

// state is a situation of the golden frames: its name, and how to get there.
type state struct {
	name string
	go_  func(d *driver)
}

// states are the situations of the golden frames.
var states = append([]state{
	{"fleet", func(*driver) {}},
	{"fleet-facts", func(d *driver) { d.keys("j", "tab") }},
	{"fleet-filter", func(d *driver) { d.keys("/", "codex") }},
	{"fleet-marked", func(d *driver) { d.keys("space", "space", "g") }},
	{"attention", func(d *driver) { d.keys("2") }},
	{"attention-seen", func(d *driver) { d.keys("2", "a"); d.send(fleetMsg{acked()}) }},
	{"pressure", func(d *driver) { d.keys("3") }},
	{"pressure-marked", func(d *driver) { pressured(d); d.keys("3", "space", "space") }},
	{"pressure-many", func(d *driver) { d.send(fleetMsg{tuitest.Near(200)}); d.keys("3", "j", "j") }},
	{"pressure-failed", func(d *driver) {
		d.c.Fail["Pressure"] = engine.Errorf(engine.CodeRecordReadOnly, "the record cannot be read").WithHint("rig doctor")
		d.keys("3")
	}},
	{"compact-ask", func(d *driver) { pressured(d); d.keys("3", "C") }},
	{"compact-audit", func(d *driver) { pressured(d); d.keys("3", "j", "j", "j", "C") }},
	{"compact-preview", func(d *driver) { pressured(d); d.keys("3", "C", "enter") }},
	{"compact-confirm", func(d *driver) { pressured(d); d.keys("3", "C", "enter", "a"); d.fire(guardTime); d.keys("dev-i") }},
	{"compact-marked", func(d *driver) { pressured(d); d.keys("3", "space", "space", "C", "enter", "a"); d.fire(guardTime) }},
	{"compact-blocked", func(d *driver) { pressured(d); d.c.Refuse = true; d.keys("3", "C", "enter") }},
	{"send-marked", func(d *driver) { d.keys("space", "space", "space", "s", "go on"); d.fire(typePause); d.keys("enter") }},
	{"batch-blocked", func(d *driver) { batchBlocked(d) }},
	{"batch-left-out", func(d *driver) { batchBlocked(d); d.keys("x") }},
	{"compact-run", func(d *driver) { compactRun(d, 2) }},
	{"compact-typed", func(d *driver) { compactRun(d, 4) }},
	{"compact-auditing", func(d *driver) { compactRun(d, 7) }},
	{"compact-cancel", func(d *driver) { compactRun(d, 2); d.hold = false; d.keys("x") }},
	{"compact-receipt", func(d *driver) { pressured(d); compactConfirmed(d) }},
	{"compact-failed", func(d *driver) { pressured(d); d.c.Outcome = engine.ContinuityFailed; compactConfirmed(d) }},
	{"wall", func(d *driver) { d.keys("4", "l", "j") }},
	{"seat", func(d *driver) { d.keys("5") }},
	{"seat-facts", func(d *driver) { d.keys("5", "tab", "j") }},
	{"restore", func(d *driver) { d.keys("6", "j", "j") }},
	{"restore-rig", func(d *driver) { d.keys("6") }},
	{"restore-filter", func(d *driver) { d.keys("6", "/", "decision", "enter", "j") }},
	{"restore-seat-open", func(d *driver) { d.keys("6", "j", "j", "enter") }},
	{"restore-snapshots", func(d *driver) { d.keys("6", "tab", "j") }},
	{"restore-snapshot-open", func(d *driver) { d.keys("6", "tab", "j", "enter") }},
	{"restore-past", func(d *driver) { d.keys("6", "tab", "tab") }},
	{"restore-past-open", func(d *driver) { d.keys("6", "tab", "tab", "enter") }},
	{"papers", func(d *driver) { d.keys("5", "p") }},
	{"paper-transcript", func(d *driver) { d.keys("5", "p", "enter") }},
	{"paper-find", func(d *driver) { d.keys("5", "p", "enter", "/", "step 30"); d.keys("enter") }},
	{"paper-text", func(d *driver) { d.keys("5", "p", "j", "enter", "/", "cart") }},
	{"operations", func(d *driver) { d.keys("8", "j") }},
	{"operations-journal", func(d *driver) { d.keys("8", "j", "enter", "j", "j") }},
	{"events", func(d *driver) { d.keys("9") }},
	{"event", func(d *driver) { d.keys("9", "j", "enter") }},
	{"help", func(d *driver) { d.keys("?", "mark") }},
	{"palette", func(d *driver) { d.keys(":", "qa") }},
	{"explain", func(d *driver) { d.keys("j", "e") }},
	{"look-back", func(d *driver) { d.keys("j", "t", "k", "0312") }},
	{"look-back-none", func(d *driver) { d.c.NoShots = true; d.keys("t") }},
	{"send", func(d *driver) { d.keys("j", "s", "go on, please") }},
	{"send-lines", func(d *driver) {
		d.keys("j", "s", "please: ")
		d.send(tea.PasteMsg{Content: "run the tests\n\tof the cart\n\nthen say 買い物かご"})
	}},
	{"sockets", func(d *driver) { d.keys("M") }},
	{"sockets-scattered", func(d *driver) { d.send(fleetMsg{tuitest.Scattered(7)}); d.keys("M") }},
	{"clients", func(d *driver) { d.keys("enter") }},
	{"snooze", func(d *driver) { d.keys("2", "z") }},
	{"up-ask", func(d *driver) { d.keys("U") }},
	{"up-typed", func(d *driver) { d.keys("U", "te", "tab", "/srv", "tab", "A") }},
	{"up-known", func(d *driver) { d.keys("U", "tab", "tab", "tab") }},
	{"up-all", func(d *driver) { d.keys("U", "every") }},
	{"restore-ask", func(d *driver) { d.keys("6", "R") }},
	{"restore-ask-snapshot", func(d *driver) { d.keys("6", "R", "tab") }},
	{"restore-ask-seats", func(d *driver) { d.keys("6", "R", "tab", "tab", "space") }},
	{"restore-preview", func(d *driver) { d.keys("6", "R", "tab", "tab", "space", "enter") }},
	{"restore-confirm", func(d *driver) { d.keys("6", "R", "enter", "a"); d.fire(guardTime); d.keys("sho") }},
	{"restore-run", func(d *driver) { restoreRun(d) }},
	{"restore-receipt", func(d *driver) { restoreConfirmed(d) }},
	{"resolve", func(d *driver) { d.keys("2", "/", "scout", "enter", "r") }},
	{"snapshot-ask", func(d *driver) { d.keys("B", "tab", "space") }},
	{"snapshot-preview", func(d *driver) { d.keys("B", "enter") }},
	{"launch-ask", func(d *driver) { d.keys("L") }},
	{"adopt-ask", func(d *driver) { d.keys("A", "tab") }},
	{"handover-ask", func(d *driver) { d.keys("H") }},
	{"handover-cannot", func(d *driver) { d.keys("H", "dev-qa") }},
	{"token-ask", func(d *driver) { d.run(d.m.openWizard(tokenDef())); d.keys(someToken) }},
	{"token-refused", func(d *driver) {
		d.c.Refuse = true
		d.run(d.m.openWizard(tokenDef()))
		d.keys(someToken, "tab", "typed by hand", "enter")
	}},
	{"recap-ask", func(d *driver) { d.keys("W") }},
	{"recap-text", func(d *driver) { d.keys("W", "tab", "down", "down", "down", "down") }},
	{"recap-written", func(d *driver) {
		d.keys("W", "tab", "down", "down", "down", "down", "end", "enter", "One line more.")
		d.send(tea.PasteMsg{Content: "pasted \x1b[2J\x1b]0;owned\x07\u202ebackwards\r\n\tindented 買い物かご 👩‍🚀\r\n"})
	}},
	{"recap-file", func(d *driver) { d.keys("W", "/tmp/recap.md", "tab", "tab", "before the rebuild") }},
	{"recap-none", func(d *driver) { d.c.Recap = "-"; d.keys("W", "tab") }},
	{"recap-seat", func(d *driver) { d.keys("9", "W") }},
	{"recap-preview", func(d *driver) { d.keys("W", "/tmp/recap.md", "enter") }},
	{"recap-blocked", func(d *driver) { d.c.Refuse = true; d.keys("W", "/tmp/recap.md", "enter") }},
	{"recap-confirm", func(d *driver) { d.keys("W", "/tmp/recap.md", "enter", "a"); d.fire(guardTime) }},
	{"recap-receipt", func(d *driver) { d.keys("W", "/tmp/recap.md", "enter", "a"); d.fire(guardTime); d.keys("y") }},
	{"attention-cut-off", func(d *driver) { d.send(fleetMsg{withCutOff(d.m.fleet, false)}); d.keys("2", "g") }},
	{"rollback-preview", func(d *driver) { d.send(fleetMsg{withCutOff(d.m.fleet, false)}); d.keys("2", "g", "r") }},
	{"finish-ask", func(d *driver) {
		d.send(fleetMsg{withCutOff(d.m.fleet, true)})
		d.keys("8")
		d.run(d.m.openWizard(finishDef()))
	}},
	{"down-preview", func(d *driver) { d.keys("D", "enter") }},
	{"down-confirm", func(d *driver) { d.keys("D", "enter", "a"); d.fire(guardTime); d.keys("sho") }},
	{"release-preview", func(d *driver) { d.keys("j", "j", "X") }},
	{"release-confirm", func(d *driver) { d.keys("j", "j", "X", "a"); d.fire(guardTime) }},
	{"blocked", func(d *driver) { d.c.Refuse = true; d.keys("D", "enter") }},
	{"refused", func(d *driver) {
		d.c.Fail["Plan"] = engine.Errorf(engine.CodeTmuxProbeFailed, "tmux did not answer within 2 s").WithHint("rig doctor says what is wrong with it")
		d.keys("D", "enter")
	}},
	{"moved", func(d *driver) { d.keys("D", "enter"); d.c.Move(); d.keys("r") }},
	{"down-run", func(d *driver) { downRun(d) }},
	{"down-receipt", func(d *driver) { downConfirmed(d) }},
	{"launch-failed", func(d *driver) {
		d.c.Outcome = engine.ContinuityFailed
		d.keys("L", "tab", "morning", "enter", "a")
		d.fire(guardTime)
		d.keys("shop")
		d.fire(typePause)
		d.keys("enter")
	}},
}, imageStates...)

func acked() *engine.Fleet {
	f := *tuitest.Fleet(7)
	f.Revision = 2
	f.Attention = append([]engine.AttentionItem(nil), f.Attention[1:]...)
	f.Attention = append(f.Attention, tuitest.Fleet(7).Attention[0])
	f.Attention[len(f.Attention)-1].Acked = "ana"
	return &f
}

// downConfirmed takes the rig down to the end.
func downConfirmed(d *driver) {
	d.keys("D", "enter", "a")
	d.fire(guardTime)
	d.keys("shop")
	d.fire(typePause)
	d.keys("enter")
}

// downRun stops in the middle of the steps.
func downRun(d *driver) {
	d.keys("D", "enter", "a")
	d.fire(guardTime)
	d.keys("shop")
	d.fire(typePause)
	d.hold = true
	d.keys("enter")
	w := d.m.wizard()
	var steps []engine.OperationStep
	at := tuitest.Start()
	for i, s := range w.run.plan().Steps() {
		st := engine.OperationStep{StepID: s.ID, Title: s.Title, Effect: s.Effect, State: engine.StepPending}
		if i < 4 {
			st.State, st.StartedAt, st.EndedAt = engine.StepDone, at, at.Add(1300*time.Millisecond)
		}
		if i == 4 {
			st.State, st.StartedAt = engine.StepStarted, at
		}
		steps = append(steps, st)
	}
	d.send(nowMsg{at: at.Add(7 * time.Second)})
	d.send(progressMsg{w.run, engine.OpProgress{Op: engine.Operation{StartedAt: at}, Steps: steps}})
}

func options() Options {
	return Options{Starters: starters, Discovered: discovered}
}

func scene(t testing.TB, f *engine.Fleet, w, h int, opt Options) *driver {
	t.Helper()
	d := drive(t, f, opt)
	d.c.JumpAnswer = engine.Jump{Inside: true, Clients: []engine.Client{{Name: "/dev/pts/3", Session: "work", Width: 120, Height: 40}, {Name: "/dev/pts/9", Session: "mail", Width: 80, Height: 24}}}
	d.size(w, h)
	return d
}

func TestFramesAreAsOnFile(t *testing.T) {
	for _, st := range states {
		for _, s := range sizes {
			t.Run(fmt.Sprintf("%s/%dx%d", st.name, s.w, s.h), func(t *testing.T) {
				d := scene(t, tuitest.Fleet(7), s.w, s.h, options())
				st.go_(d)
				d.golden(fmt.Sprintf("%s/%dx%d", st.name, s.w, s.h))
			})
		}
	}
}

// Pictures that are not of a good day.
func TestFramesOfBadDaysAreAsOnFile(t *testing.T) {
	pictures := map[string]func() *engine.Fleet{
		"loading": func() *engine.Fleet { return nil },
		"empty":   func() *engine.Fleet { return tuitest.Fleet(0) },
		"from-record": func() *engine.Fleet {
			f := tuitest.Fleet(7)
			f.Live, f.Server = false, engine.ServerView{}
			return f
		},
		"no-server": func() *engine.Fleet {
			f := tuitest.Fleet(7)
			f.Server = engine.ServerView{State: engine.Absent, Why: "no server on /tmp/rig.sock"}
			return f
		},
		"server-unknown": func() *engine.Fleet {
			f := tuitest.Fleet(7)
			f.Server = engine.ServerView{State: engine.Unknown, Why: "it did not answer within 2 s"}
			return f
		},
		"record-error": func() *engine.Fleet {
			f := tuitest.Fleet(0)
			f.RecordErr = "the database was written by a newer build (schema 9, this is 7)"
			return f
		},
		"many": func() *engine.Fleet { return tuitest.Fleet(200) },
	}
	for name, picture := range pictures {
		for _, s := range sizes {
			t.Run(fmt.Sprintf("%s/%dx%d", name, s.w, s.h), func(t *testing.T) {
				d := scene(t, picture(), s.w, s.h, options())
				d.golden(fmt.Sprintf("%s/%dx%d", name, s.w, s.h))
			})
		}
	}
}

func TestFramesInASCIIHoldOnlyASCII(t *testing.T) {
	t.Parallel()
	for _, st := range states {
		opt := options()
		opt.ASCII, opt.Theme = true, "mono"
		d := scene(t, tuitest.Fleet(13), 120, 40, opt)
		d.m.frames = map[string]frameOf{} // panes are the clients' own
		st.go_(d)
		d.m.frames = map[string]frameOf{}
		for i, l := range d.frame() {
			for _, r := range l {
				if r > 0x7e {
					t.Errorf("%s, line %d holds %q: %s", st.name, i, r, l)
					break
				}
			}
		}
	}
}
