package runtimes

import (
	"context"
	"path/filepath"
	"strings"

	"rig/engine"
)

// Terminal is the runtime of seats that hold a plain shell. It has no
// conversation: nothing can be resumed, forked or measured.
type Terminal struct{ cfg Config }

var _ engine.Runtime = (*Terminal)(nil)

// NewTerminal makes the terminal runtime.
func NewTerminal(c Config) *Terminal { return &Terminal{cfg: c.filled()} }

// Name is "terminal".
func (*Terminal) Name() engine.RuntimeName { return engine.RuntimeTerminal }

// Caps says that a terminal can do none of it.
func (*Terminal) Caps() engine.RuntimeCaps { return engine.RuntimeCaps{} }

// ValidToken refuses everything: a terminal has no conversation ids.
func (*Terminal) ValidToken(id string) error { return validToken(engine.RuntimeTerminal, id) }

// Close does nothing.
func (*Terminal) Close() error { return nil }

const fallbackShell = "/bin/sh"

// Line starts the user's shell: the configured one, else $SHELL of the launch if
// it is a program, else /bin/sh. A prompt is left out; resume and fork are
// refused.
func (t *Terminal) Line(r engine.LaunchRequest) (engine.LaunchLine, error) {
	r.Prompt = ""
	if err := checkRequest(r); err != nil {
		return engine.LaunchLine{}, err
	}
	if _, ok := r.Start.(engine.StartFresh); !ok {
		return engine.LaunchLine{}, engine.Errorf(engine.CodeUnsupportedKind, "a terminal has no conversation to resume or fork").
			On("launch", r.Address).WithHint("start it fresh")
	}
	line := base(r)
	shell := t.cfg.Shell
	if shell == "" {
		if shell = lookup(line.Env, "SHELL"); !filepath.IsAbs(shell) || executable(shell) != nil {
			shell = fallbackShell
		}
	}
	line.Argv = []string{shell}
	return line, nil
}

// Preflight lists what would stop this launch.
func (t *Terminal) Preflight(_ context.Context, r engine.LaunchRequest) []engine.Blocker {
	line, err := t.Line(r)
	if err != nil {
		return []engine.Blocker{engine.BlockerFrom(err)}
	}
	return preflight(r, line, line.Argv[0])
}

// Ready says yes as soon as the shell's process lives.
func (t *Terminal) Ready(_ context.Context, p engine.Probe) engine.Readiness {
	if end := t.cfg.endOf(p); end.over {
		return end.readinessOf(p, screenView{})
	}
	if p.RunKnown && p.Run.PID > 0 || !p.RunKnown && p.Pane.PID > 0 && p.Session.Origin == engine.OriginClaimed {
		return engine.Readiness{State: engine.ReadyYes, Why: "the shell runs", Evidence: map[string]any{"source": "process"}}
	}
	return engine.Readiness{State: engine.ReadyStarting, Why: "the supervisor has not reported a process yet"}
}

// Identify finds nothing: a terminal has no conversation.
func (*Terminal) Identify(context.Context, engine.Probe) engine.Identity {
	return engine.Identity{Code: "no_conversation_by_nature", Why: "a terminal has no conversation"}
}

// Activity is busy while something else than the shell is in the foreground of
// the pane. A shell that runs a command of its own reads idle, which cannot be
// told apart from outside.
func (t *Terminal) Activity(_ context.Context, p engine.Probe) engine.Activity {
	if end := t.cfg.endOf(p); end.over {
		return end.activity()
	}
	pid, start := t.cfg.root(p)
	if r, is := t.cfg.suspended(pid, start); is && p.RunKnown {
		return engine.Activity{Reading: r}
	}
	proc, ok, err := t.cfg.Procs.glance(pid)
	if err == nil && ok && proc.Front > 0 && p.RunKnown {
		return engine.Activity{Reading: t.foreground(proc)}
	}
	r := engine.Reading{Source: "process", Rule: "foreground command " + printable(p.Pane.Command, 40), Confidence: engine.ConfidenceLow}
	switch {
	case p.Pane.Command == "":
		r = unknownReading("the foreground program is not known")
	case isShell(p.Pane.Command):
		r.State, r.Why = engine.ActivityIdle, "at the shell's prompt"
	default:
		r.State, r.Why = engine.ActivityBusy, "runs "+printable(p.Pane.Command, 40)
	}
	return engine.Activity{Reading: r}
}

// foreground compares the shell with the group in front of its terminal.
func (t *Terminal) foreground(shell Process) engine.Reading {
	r := engine.Reading{Source: "process", Rule: "foreground group of the terminal", Confidence: engine.ConfidenceHigh}
	if shell.Front == shell.Group {
		r.State, r.Why = engine.ActivityIdle, "at the shell's prompt"
		return r
	}
	r.State, r.Why = engine.ActivityBusy, "runs a program"
	if front, ok, err := t.cfg.Procs.glance(shell.Front); err == nil && ok {
		r.Why = "runs " + printable(strings.TrimSpace(front.Comm), 40)
	}
	return r
}

// NeedsScreen is never true: the process tells all there is.
func (*Terminal) NeedsScreen(engine.Probe) bool { return false }

// ByProcess says so of every judgement, so that no file of hooks is read either.
func (*Terminal) ByProcess() bool { return true }

// Usage is never known: a terminal has no context.
func (*Terminal) Usage(_ context.Context, p engine.Probe) engine.Usage {
	return engine.Usage{Generation: p.Session.Generation, Confidence: engine.ConfidenceNone, Note: "a terminal has no context"}
}

// Conversation is absent by nature.
func (*Terminal) Conversation(context.Context, string, string, engine.Homes) engine.ConversationState {
	return engine.ConversationState{Exists: engine.Absent, Why: "a terminal has no conversation"}
}

// Hint sees a shell in the foreground.
func (*Terminal) Hint(pane engine.Pane, _, _ []string) (engine.Confidence, string) {
	if isShell(pane.Command) {
		return engine.ConfidenceLow, "a shell is in front"
	}
	return engine.ConfidenceNone, ""
}
