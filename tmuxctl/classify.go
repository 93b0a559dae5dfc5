package tmuxctl

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"rig/engine"
)

// tmuxError is a failed run, before anybody decided what it means.
type tmuxError struct {
	verb   string
	stderr string
	err    error // from the process
	ctx    error // the context's error, when it ended the run
	took   time.Duration
	socket string
}

func (e *tmuxError) Error() string {
	if e.stderr != "" {
		return "tmux " + e.verb + ": " + e.stderr
	}
	return fmt.Sprintf("tmux %s: %v", e.verb, e.err)
}

func (e *tmuxError) Unwrap() error { return e.err }

// classify says whether the failure proves absence. Only tmux's own words for "no
// such thing" and "no server" do; permission, a timeout, a version clash and every
// text not known here leave it unknown.
func (e *tmuxError) classify() engine.Presence {
	if e.ctx != nil {
		return engine.Unknown
	}
	if noServer(e.stderr) || noTarget(e.stderr) {
		return engine.Absent
	}
	return engine.Unknown
}

// noServer recognises a socket that provably has no server behind it.
func noServer(stderr string) bool {
	return strings.HasPrefix(stderr, "no server running on ") ||
		strings.HasPrefix(stderr, "error connecting to ") && strings.HasSuffix(stderr, "(No such file or directory)")
}

// noTarget recognises tmux's words for a session, window, pane or client that is
// not there.
func noTarget(stderr string) bool {
	for _, p := range []string{"can't find session", "can't find window", "can't find pane", "can't find client"} {
		if strings.HasPrefix(stderr, p) {
			return true
		}
	}
	return false
}

// noCurrentTarget is what tmux says when its server holds no session at all.
const noCurrentTarget = "no current target"

// serverGone recognises the words of a client whose server ended under it, as it
// does when its last session is killed.
func serverGone(stderr string) bool {
	return strings.Contains(stderr, "server exited") || strings.Contains(stderr, "lost server") || noServer(stderr)
}

// asEngine turns a failure into the product's error with a code and a hint. An
// *engine.Error is passed through.
func asEngine(err error) error {
	var ee *engine.Error
	if err == nil || errors.As(err, &ee) {
		return err
	}
	var te *tmuxError
	if !errors.As(err, &te) {
		return engine.Errorf(engine.CodeTmuxProbeFailed, "tmux could not be asked").
			WithHint("run `rig doctor`").Wrap(err)
	}
	switch {
	case te.ctx != nil:
		verb := te.verb + " "
		if te.verb == "control" || te.verb == "source-file" { // how questions are asked; nobody typed that
			verb = ""
		}
		return engine.Errorf(ctxCode(te.ctx), "tmux %sdid not answer within %s", verb, te.took.Round(100*time.Millisecond)).
			WithHint("the server on %s may be hung: run `rig doctor`", te.socket).Wrap(te.ctx)
	case isMissingProgram(te.err):
		return engine.Errorf(engine.CodeUnavailable, "tmux is not installed or not in PATH").
			WithHint("install tmux %s or newer", Floor).Wrap(te.err)
	case strings.Contains(te.stderr, "option -- N"): // our -N came with 3.2
		return engine.Errorf(engine.CodeTmuxTooOld, "this tmux is too old: %s or newer is needed", Floor).
			WithHint("install tmux %s or newer; a server started by the old one must be ended first", Floor)
	case te.classify() == engine.Absent:
		return engine.Errorf(engine.CodeNotFound, "%s", absentText(te)).
			WithHint("`rig ps` shows what is running").Wrap(te)
	case strings.HasPrefix(te.stderr, "duplicate session"):
		return engine.Errorf(engine.CodeSessionExists, "a tmux session of that name exists already").
			WithHint("stop its owner, or take it over with `rig adopt`; it was left alone").Wrap(te)
	}
	return engine.Errorf(engine.CodeTmuxProbeFailed, "tmux gave no usable answer").
		WithHint("%s", unknownHint(te)).Wrap(te)
}

// absentText says what is absent.
func absentText(te *tmuxError) string {
	if noServer(te.stderr) {
		return "no tmux server is running on " + te.socket
	}
	return "not in tmux"
}

// unknownHint says what to do about a failure that proves nothing.
func unknownHint(te *tmuxError) string {
	switch {
	case strings.Contains(te.stderr, "Permission denied"):
		return "the socket " + te.socket + " belongs to another user: check RIG_TMUX_SOCKET and who started the server"
	case strings.Contains(te.stderr, "protocol version mismatch"):
		return "the server was started by another tmux version: use that tmux, or end the server when its work is done"
	case strings.Contains(te.stderr, "File name too long"):
		return "set RIG_TMUX_SOCKET to a shorter path"
	}
	return "run `rig doctor`; the server on " + te.socket + " did not answer as expected"
}
