package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"rig/engine"
)

// hooks arms what a test asked of a process of the program through its
// environment: to be killed at a step, or to wait between plan and apply.
func hooks() {
	if at := os.Getenv("TEST_KILL_AT"); at != "" {
		onStep = func(when string, s engine.Step) {
			if when+":"+s.ID == at {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {} // the signal is on its way
			}
		}
	}
	if at := os.Getenv("TEST_PANIC_ON"); at != "" {
		onFrame = func(_ uint64, screen string) {
			if screen == at {
				panic("made to fail")
			}
		}
	}
	if build := os.Getenv("TEST_BUILD"); build != "" {
		version = build
	}
	if gate := os.Getenv("TEST_BARRIER"); gate != "" {
		afterPlan = func() { waitAtBarrier(gate) }
	}
}

// waitAtBarrier says that this process has planned and waits for the gate file.
func waitAtBarrier(gate string) {
	f, err := os.CreateTemp(gate, "planned-*")
	if err != nil {
		panic(err)
	}
	f.Close()
	t := time.NewTicker(5 * time.Millisecond)
	defer t.Stop()
	for range t.C {
		if _, err := os.Stat(filepath.Join(gate, "open")); err == nil {
			return
		}
	}
}

type opDoc struct {
	ID    string `json:"id"`
	Verb  string `json:"verb"`
	State string `json:"state"`
}

func (w *world) ops() []opDoc {
	w.t.Helper()
	var d struct {
		Operations []opDoc `json:"operations"`
	}
	w.into(&d, "op", "list")
	return d.Operations
}

// receiptDoc is what the tests read of a receipt.
type receiptDoc struct {
	OK        bool   `json:"ok"`
	Code      string `json:"code"`
	Outcome   string `json:"outcome"`
	Operation struct {
		ID    string `json:"id"`
		State string `json:"state"`
	} `json:"operation"`
	Seats []struct {
		Seat      string         `json:"seat"`
		Outcome   string         `json:"outcome"`
		Binding   string         `json:"binding"`
		Delivered bool           `json:"context_delivered"`
		Evidence  map[string]any `json:"evidence"`
	} `json:"seats"`
}

// screenHas waits until a seat's screen holds a text.
func (w *world) screenHas(ref, text string) {
	w.t.Helper()
	w.eventually(ref+" shows "+text, func() (bool, string) {
		r := w.run("capture", ref)
		return strings.Contains(r.out, text), r.out + r.err
	})
}

// TestHandoverOfAgents hands a Claude and a Codex seat over from each source and
// asks the successor for what it can know.
func TestHandoverOfAgents(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("ho", "impl:claude-code", "qa:codex", "sh:terminal"))
	for _, ref := range []string{"dev.impl", "dev.qa"} {
		w.must("send", ref, "remember the codeword is HERON", "--verify")
		w.screenHas(ref, "codeword is HERON")
		w.must("wait", ref, "--until", "idle")
	}
	for _, c := range []struct{ ref, source, want string }{
		{"dev.impl", "fork:dev.impl", "forked"},
		{"dev.qa", "fork:dev.qa", "forked"},
		{"dev.impl", "rebuild", "rebuilt"},
		{"dev.impl", "fresh", "fresh"},
		{"dev.qa", "fresh", "fresh"},
		{"dev.sh", "fresh", "fresh"},
	} {
		before := w.seat(c.ref)
		var rec receiptDoc
		if r := w.into(&rec, "handover", c.ref, "--source", c.source, "--reason", "context wall"); r.code != 0 {
			t.Fatalf("%s %s: %s%s", c.ref, c.source, r.out, r.err)
		}
		after := w.seat(c.ref)
		if after.Continuity != c.want || after.Binding != "handed_over" || after.Generation != before.Generation+1 || after.Pane == before.Pane {
			t.Errorf("%s %s: %+v", c.ref, c.source, after)
		}
		if after.ID != before.ID || after.Session != before.Session || after.Seat != before.Seat {
			t.Errorf("%s %s: the seat changed: %+v → %+v", c.ref, c.source, before, after)
		}
		if got := w.tmux("display-message", "-p", "-t", after.Pane, "#{session_name}"); got != after.Seat {
			t.Errorf("the successor's pane is in %s", got)
		}
		if c.want == "forked" {
			w.must("wait", c.ref, "--until", "idle")
			w.must("send", c.ref, "what do you remember about codeword", "--verify")
			w.screenHas(c.ref, "HERON")
			w.must("wait", c.ref, "--until", "idle")
		}
	}
}

// TestUndoInMidTurn hands a seat over whose tool child writes a counter. The
// counter stands still while the incumbent is stopped, and goes on after the undo
// in the same conversation.
func TestUndoInMidTurn(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("mid", "impl:claude-code"))
	counter := filepath.Join(w.dir, "counter")
	script := w.write("count.sh", fmt.Sprintf("i=0\nwhile :; do i=$((i+1)); echo $i > %s; sleep 0.02; done\n", counter))
	w.must("send", "dev.impl", "[[child:sh "+script+"]] [[slow:600]] work", "--verify")
	read := func() string { b, _ := os.ReadFile(counter); return string(b) }
	w.eventually("the counter runs", func() (bool, string) { return len(read()) > 1, read() })
	w.must("wait", "dev.impl", "--until", "busy")
	pane := w.seat("dev.impl").Pane
	var rec receiptDoc
	// A fork delivers nothing: a packet would quote the directives to the stand-in.
	w.into(&rec, "handover", "dev.impl", "--source", "fork:dev.impl", "--reason", "r")
	if !rec.OK {
		t.Fatalf("%+v", rec)
	}
	still := read()
	for range 5 { // each look takes tens of milliseconds, several beats of the counter
		w.seat("dev.impl")
	}
	if now := read(); now != still {
		t.Errorf("the counter went on while the incumbent was stopped: %q → %q", still, now)
	}
	w.must("op", "undo", rec.Operation.ID)
	if s := w.seat("dev.impl"); s.Pane != pane || s.Generation != 1 {
		t.Errorf("not the incumbent: %+v", s)
	}
	w.eventually("the counter runs again", func() (bool, string) { return read() != still, read() })
	w.must("wait", "dev.impl", "--until", "busy")
	w.refuse("undo_done", 1, "op", "undo", rec.Operation.ID)
}

// TestKilledAtEveryStep kills the process of a handover right before and right
// after each step, and then finishes or rolls the operation back.
func TestKilledAtEveryStep(t *testing.T) {
	for i, step := range []string{"tag", "freeze", "rebind", "retire"} {
		for _, when := range []string{"before", "after"} {
			t.Run("discovered/"+when+"-"+step, func(t *testing.T) {
				t.Parallel()
				killedAt(t, "discovered", when+":"+step, i == 3 || i == 2 && when == "after")
			})
		}
	}
	steps := []string{"packet", "freeze", "create", "ready", "identify", "arrive", "swap", "rebind", "go", "retire"}
	for _, source := range []string{"fresh", "rebuild", "fork:dev.impl"} {
		for i, step := range steps {
			if strings.HasPrefix(source, "fork") && (step == "packet" || step == "arrive" || step == "go") {
				continue // a fork delivers nothing
			}
			for _, when := range []string{"before", "after"} {
				committed := i > 7 || (step == "rebind" && when == "after")
				t.Run(source+"/"+when+"-"+step, func(t *testing.T) {
					t.Parallel()
					killedAt(t, source, when+":"+step, committed)
				})
			}
		}
	}
}

func killedAt(t *testing.T, source, at string, committed bool) {
	w := newWorld(t)
	w.must("up", w.spec("kill", "impl:claude-code"))
	w.must("send", "dev.impl", "remember the codeword is HERON", "--verify")
	w.must("wait", "dev.impl", "--until", "idle")
	before := w.seat("dev.impl")
	if source == "discovered" {
		w.own("mine")
		source += ":" + w.discoveredID("mine")
	}
	w.setenv("TEST_KILL_AT", at)
	r := w.run("handover", "dev.impl", "--source", source, "--reason", "r")
	w.setenv("TEST_KILL_AT", "")
	if r.code == 0 {
		t.Fatalf("the process was not killed: %s", r.out)
	}
	op := w.ops()[0]
	if op.State != "unfinished" {
		t.Fatalf("%s: the operation reads %s\n%s%s", at, op.State, r.out, r.err)
	}
	w.refuse("operation_unfinished", 1, "handover", "dev.impl", "--reason", "again")
	if at == "after:freeze" || at == "before:create" || at == "before:swap" { // the incumbent is stopped, and nobody is told to let it go on by hand
		if doc := w.refuse("operation_unfinished", 1, "send", "dev.impl", "hello"); !strings.Contains(fmt.Sprint(doc["hint"]), "rig op rollback "+op.ID) {
			t.Errorf("%s: %v", at, doc)
		}
	}
	verb := "rollback"
	if committed {
		verb = "finish"
	}
	w.must("op", verb, op.ID, "--dry-run")
	w.must("op", verb, op.ID)
	after := w.seat("dev.impl")
	if committed && after.Generation != before.Generation+1 {
		t.Errorf("%s: not finished: %+v", at, after)
	}
	if !committed && (after.Generation != before.Generation || after.Pane != before.Pane || after.PanePID != before.PanePID) {
		t.Errorf("%s: the incumbent is not back: %+v → %+v", at, before, after)
	}
	if after.Life != "running" {
		t.Errorf("%s: the seat is %s", at, after.Life)
	}
	live := 0
	for _, line := range strings.Split(w.tmux("list-panes", "-a", "-F", "#{@rig_seat} #{session_name}"), "\n") {
		if strings.HasPrefix(line, after.ID) && strings.HasSuffix(line, " "+after.Session) {
			live++
		}
	}
	if live != 1 {
		t.Errorf("%s: %d panes in the seat's session", at, live)
	}
	w.must("send", "dev.impl", "are you there", "--verify")
}

// race lets n processes plan the same verb, and then all apply at the same moment.
// It gives how many did it, and the codes of the others.
func (w *world) race(n int, words ...string) (won int, refused map[string]int) {
	w.t.Helper()
	gate := filepath.Join(w.dir, "gate")
	if err := os.Mkdir(gate, 0o700); err != nil {
		w.t.Fatal(err)
	}
	w.setenv("TEST_BARRIER", gate)
	results := make([]receiptDoc, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			w.into(&results[i], words...)
		}()
	}
	w.eventually("all have planned", func() (bool, string) {
		list, _ := filepath.Glob(filepath.Join(gate, "planned-*"))
		return len(list) == n, fmt.Sprint(len(list))
	})
	if err := os.WriteFile(filepath.Join(gate, "open"), nil, 0o600); err != nil {
		w.t.Fatal(err)
	}
	wg.Wait()
	w.setenv("TEST_BARRIER", "")
	refused = map[string]int{}
	for _, r := range results {
		if r.OK {
			won++
			continue
		}
		refused[r.Code]++
	}
	return won, refused
}

// TestFiftyHandoversAtOnce lets fifty processes plan the same handover, and then
// all apply at the same moment: one does it.
func TestFiftyHandoversAtOnce(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("many", "sh:terminal"))
	const n = 50
	won, refused := w.race(n, "handover", "dev.sh", "--reason", "race")
	if won != 1 || refused["operation_in_progress"]+refused["plan_stale"] != n-1 {
		t.Fatalf("%d succeeded, refusals %v", won, refused)
	}
	if s := w.seat("dev.sh"); s.Generation != 2 || s.Life != "running" {
		t.Errorf("%+v", s)
	}
	for _, op := range w.ops() {
		if op.State == "unfinished" || op.State == "running" {
			t.Errorf("left behind: %+v", op)
		}
	}
}

// TestAnAgentHandsItsOwnSeatOver: an agent runs the verb with its own tool. Its `rig` is the operator's: the same record, the same
// settings and the same client.
func TestAnAgentHandsItsOwnSeatOver(t *testing.T) {
	w := newWorld(t)
	w.write("config.yaml", "handover:\n  undo_window: 4321s\n")
	w.must("up", w.spec("self", "a:claude-code"))
	w.must("send", "dev.a", "[[sh: "+w.program+" handover dev-a@self --source fresh --reason 'context wall' > "+w.dir+"/said 2>&1]]", "--verify")
	w.eventually("the seat has a new occupant", func() (bool, string) {
		s := w.seat("dev.a")
		said, _ := os.ReadFile(filepath.Join(w.dir, "said")) // not there yet
		return s.Generation == 2 && s.Life == "running" && s.Binding == "handed_over", fmt.Sprintf("%+v %s", s, said)
	})
	w.eventually("the operation has ended", func() (bool, string) { return w.ops()[0].State == "done", w.ops()[0].State })
	var doc struct {
		Operations []struct {
			UndoUntil time.Time `json:"undo_until"`
			StartedAt time.Time `json:"started_at"`
		}
	}
	w.into(&doc, "op", "list")
	if op := doc.Operations[0]; op.UndoUntil.Sub(op.StartedAt) < 4000*time.Second {
		t.Errorf("it did not read the operator's settings: %+v", op)
	}
}

// TestSelfHandover runs the handover from inside the seat's own pane: the caller
// dies with its pane's freeze, the operation goes on.
func TestSelfHandover(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("self", "sh:terminal"))
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w.must("send", "dev.sh", self+" handover dev-sh@self --reason 'context wall'")
	w.eventually("the seat has a new occupant", func() (bool, string) {
		s := w.seat("dev.sh")
		return s.Generation == 2 && s.Life == "running" && s.Binding == "handed_over", fmt.Sprintf("%+v", s)
	})
	w.eventually("the operation has ended", func() (bool, string) {
		op := w.ops()[0]
		return op.State == "done", op.State
	})
	var ev struct {
		Events []struct {
			Type     string `json:"type"`
			Operator string `json:"operator"`
		} `json:"events"`
	}
	w.into(&ev, "events", "--type", "seat.handover_completed")
	if len(ev.Events) != 1 || ev.Events[0].Operator != "dev-sh@self (derived)" {
		t.Errorf("%+v", ev)
	}
}
