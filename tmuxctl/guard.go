package tmuxctl

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"rig/engine"
)

// A guard is a condition that the tmux server evaluates in the same command list as
// the action (if-shell -F), so nothing can come between the check and the effect:
//
//	if-shell -F -t %5 '<all facts hold>' '<action> ; print yes' 'print no and the facts'
//
// The pane id is part of the condition: for a pane that is gone tmux evaluates the
// formats on some other one.

// check is what a guarded command demands of its pane.
type check struct {
	guard engine.Guard
	// input: the pane must take typed text: alive, input not switched off, and not
	// synchronised with panes that the text is not meant for.
	input bool
	// untagged: the pane must carry no tag of ours.
	untagged bool
	// ended: the pane's process must have ended.
	ended bool
}

// validate refuses guards that guard nothing, and values that cannot stand in a
// format.
func (c check) validate() error {
	g := c.guard
	if _, err := Pane(g.Pane); err != nil {
		return err
	}
	if g.Epoch != "" && !isEpoch(string(g.Epoch)) {
		return engine.Errorf(engine.CodeInvalid, "%q is not a tmux server epoch", clip(string(g.Epoch), 40)).
			WithHint("read the inventory again")
	}
	if !c.untagged && g.Seat == "" && g.Op == "" {
		return engine.Errorf(engine.CodeInvalid, "a guard without seat and operation guards nothing").
			WithHint("name the seat or the operation that owns pane %s", g.Pane)
	}
	if c.untagged && (g.Epoch == "" || g.PID == 0) {
		return engine.Errorf(engine.CodeInvalid, "adopting pane %s needs its epoch and pid", g.Pane).
			WithHint("run `rig discover` again")
	}
	for _, v := range []string{g.Seat, g.Gen, g.Op} {
		if err := checkTag(v); err != nil {
			return err
		}
	}
	return nil
}

// named reports whether the session is one of the facts. A person may have given it a
// name that cannot stand in a format; the tags say then whose pane it is.
func (c check) named() bool { return c.guard.Session != "" && checkSessionName(c.guard.Session) == nil }

// condition is the format that is true when every fact holds.
func (c check) condition() string {
	g := c.guard
	facts := []string{same("#{pane_id}", string(g.Pane))}
	add := func(format, value string) {
		if value != "" {
			facts = append(facts, same(format, value))
		}
	}
	add("#{pid}-#{start_time}", string(g.Epoch))
	add("#{@rig_seat}", g.Seat)
	add("#{@rig_gen}", g.Gen)
	add("#{@rig_op}", g.Op)
	if c.named() {
		facts = append(facts, shownBy(g.Session))
	}
	if g.PID != 0 {
		facts = append(facts, samePID(g.PID))
	}
	if c.untagged {
		facts = append(facts, same("#{@rig_seat}", ""), same("#{@rig_op}", ""))
	}
	switch {
	case c.ended:
		facts = append(facts, "#{pane_dead}")
	case !g.DeadOK || c.input:
		facts = append(facts, "#{?pane_dead,0,1}")
	}
	if c.input {
		facts = append(facts, "#{?pane_input_off,0,1}", "#{?pane_synchronized,0,1}")
	}
	cond := facts[len(facts)-1]
	for i := len(facts) - 2; i >= 0; i-- { // && takes two before 3.5
		cond = "#{&&:" + facts[i] + "," + cond + "}"
	}
	return cond
}

// same is the format that compares a format with a plain value.
func same(format, value string) string { return "#{==:" + format + "," + value + "}" }

// shownBy is the format that is true for a pane whose window is in a session of this
// name, which may not be the only one: in a group of sessions, tmux evaluates the
// formats in the one that was used last.
func shownBy(session string) string {
	listed := "#{m/r:(^|#,)" + session + "(#,|$),#{window_linked_sessions_list}}"
	return "#{||:" + same("#{session_name}", session) + "," + listed + "}"
}

// samePID is the format that is true for a pane of this process, and for a dead pane
// whose process the server has forgotten, as newer versions do.
func samePID(pid int) string {
	forgotten := "#{&&:#{pane_dead}," + same("#{pane_pid}", "") + "}"
	return "#{||:" + same("#{pane_pid}", strconv.Itoa(pid)) + "," + forgotten + "}"
}

// What a guard that refused prints, to say why.
var (
	reportFixed = []string{"pane_id", "pid", "start_time", "pane_pid", "pane_dead", "pane_input_off", "pane_synchronized"}
	reportFree  = []string{"@rig_seat", "@rig_gen", "@rig_op", "session_name", "window_linked_sessions_list"}
)

// words builds the guarded command. do and otherwise are in tmux's own syntax; the
// report of a refusal follows otherwise.
func (c check) words(nonce, do, otherwise string) ([]string, error) {
	pane := string(c.guard.Pane)
	no, err := commandLine("display-message", "-p", "-t", pane, fieldFormat(nonce, reportFixed, reportFree))
	if err != nil {
		return nil, err
	}
	if otherwise != "" {
		no = otherwise + " ; " + no
	}
	return []string{"if-shell", "-F", "-t", pane, c.condition(), do, no}, nil
}

// sayYes prints that the guard let the action through.
func sayYes(nonce string) string { return "display-message -p " + nonce + "yes" }

// action is what a guard protects.
type action struct {
	do        string // in tmux's own syntax
	otherwise string // run when the guard refuses
	before    []string
	stdin     []byte
	last      bool // ends the pane and maybe the server, so the answer is printed first
}

// guarded runs an action under a check and tells a refusal from a failure.
func (m *Mux) guarded(ctx context.Context, op string, c check, a action) error {
	pane := string(c.guard.Pane)
	if err := c.validate(); err != nil {
		return on(err, op, pane)
	}
	nonce := newNonce()
	do := a.do + " ; " + sayYes(nonce)
	if a.last {
		do = sayYes(nonce) + " ; " + a.do
	}
	words, err := c.words(nonce, do, a.otherwise)
	if err != nil {
		return on(err, op, pane)
	}
	if len(a.before) > 0 {
		words = append(append(a.before, separator), words...)
	}
	out, err := m.run.run(ctx, runSpec{words: words, stdin: a.stdin, again: a.last})
	return on(c.verdict(out, nonce, a.last, err), op, pane)
}

// verdict reads the outcome of a guarded run.
func (c check) verdict(out, nonce string, last bool, err error) error {
	yes := strings.Contains(out, nonce+"yes\n")
	var te *tmuxError
	gone := yes && last && errors.As(err, &te) && te.ctx == nil && (serverGone(te.stderr) || noTarget(te.stderr) || te.stderr == noCurrentTarget)
	if err != nil && !gone {
		return asEngine(err)
	}
	if yes {
		return nil
	}
	return c.refusal(out, nonce)
}

// refusal explains why the guard said no.
func (c check) refusal(out, nonce string) error {
	lines, _ := splitRows(out, nonce)
	if len(lines) == 0 {
		return engine.Errorf(engine.CodeTmuxProbeFailed, "the guard did not answer").
			WithHint("run `rig doctor`")
	}
	head, tail, err := splitFields(lines[len(lines)-1], nonce, len(reportFixed), len(reportFree))
	if err != nil {
		return engine.Errorf(engine.CodeTmuxProbeFailed, "the guard's answer cannot be read").
			WithHint("run `rig doctor`").Wrap(err)
	}
	g := c.guard
	epoch := string(epochOf(head[1], head[2]))
	mismatch := func(what, want, got string) error {
		return engine.Errorf(engine.CodePaneMismatch, "its %s is %q, not %q; nothing was done", what, clip(got, 60), want).
			WithHint("look at it with `rig ps`, then plan again").With("fact", what)
	}
	switch {
	case g.Epoch != "" && epoch != string(g.Epoch):
		return mismatch("server epoch", string(g.Epoch), epoch)
	case head[0] != string(g.Pane):
		return engine.Errorf(engine.CodeNotFound, "no such pane").WithHint("`rig ps` shows what is running")
	case c.untagged && (tail[0] != "" || tail[2] != ""):
		return mismatch("owner", "", tail[0]+tail[2])
	case g.Seat != "" && tail[0] != g.Seat:
		return mismatch("seat", g.Seat, tail[0])
	case g.Gen != "" && tail[1] != g.Gen:
		return mismatch("generation", g.Gen, tail[1])
	case g.Op != "" && tail[2] != g.Op:
		return mismatch("operation", g.Op, tail[2])
	case g.PID != 0 && head[3] != strconv.Itoa(g.PID) && (head[3] != "" || head[4] != "1"):
		return mismatch("pid", strconv.Itoa(g.PID), head[3])
	case c.named() && tail[3] != g.Session && !slices.Contains(strings.Split(tail[4], ","), g.Session):
		return mismatch("session", g.Session, tail[3])
	case c.ended && head[4] != "1":
		return engine.Errorf(engine.CodePaneMismatch, "its process is still running; nothing was done").
			WithHint("stop the seat first")
	case head[4] == "1" && !c.ended:
		return engine.Errorf(engine.CodePaneDead, "its process has ended").
			WithHint("`rig seat clean` returns the seat to launchable; its last output is still in the pane")
	case head[5] == "1":
		return engine.Errorf(engine.CodePaneMismatch, "input to this pane is switched off").
			WithHint("switch it on with `tmux select-pane -e -t %s`", g.Pane)
	case head[6] == "1":
		return engine.Errorf(engine.CodePaneMismatch, "this pane is synchronised with others, which would get the keys too").
			WithHint("switch synchronize-panes off for pane %s", g.Pane)
	}
	return engine.Errorf(engine.CodePaneMismatch, "the pane changed while it was looked at").
		WithHint("plan again")
}

// on names the operation and target of an error that has none yet.
func on(err error, op, target string) error {
	var e *engine.Error
	if err == nil || !errors.As(err, &e) || e.Op != "" {
		return err
	}
	return e.On(op, target)
}
