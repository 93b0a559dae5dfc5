package runtimes

import (
	"fmt"

	"rig/engine"
)

// ending says how an occupant came to its end, as far as it did.
type ending struct {
	over   bool
	failed bool // it never ran
	code   int
	known  bool // code is known
	source string
	rule   string
}

// endOf looks for the end of an occupant: the supervisor's report, the dead
// pane, or a process that is provably gone. A process table that cannot be read
// is no end.
func (c Config) endOf(p engine.Probe) ending {
	switch {
	case p.RunKnown && p.Run.Error != "":
		return ending{over: true, failed: true, code: p.Run.ExitCode, known: true, source: "supervisor", rule: "the client could not be started"}
	case p.RunKnown && p.Run.Exited:
		return ending{over: true, code: p.Run.ExitCode, known: true, source: "supervisor", rule: "exit status of the client"}
	case p.Pane.Dead:
		return ending{over: true, code: p.Pane.DeadCode, known: p.Pane.DeadCode >= 0, source: "process", rule: "the pane's process has ended"}
	}
	pid, start := p.Run.PID, p.Run.PIDStart
	if !p.RunKnown || pid == 0 {
		pid, start = p.Session.PID, p.Session.PIDStart
	}
	if pid <= 0 {
		return ending{}
	}
	if alive, err := c.Procs.lives(pid, start); err != nil || alive {
		return ending{}
	}
	// While the supervisor lives it says itself how its client ended. A process
	// table alone is no proof: a client that becomes its program from another
	// thread than its first reads as a zombie for a moment.
	if p.RunKnown && p.Run.SupervisorPID > 0 {
		if alive, err := c.Procs.lives(p.Run.SupervisorPID, ""); err != nil || alive {
			return ending{}
		}
	}
	return ending{over: true, source: "process", rule: fmt.Sprintf("process %d is gone", pid)}
}

func (e ending) words() string {
	switch {
	case e.failed:
		return "the client could not be started"
	case e.known:
		return fmt.Sprintf("the client ended with code %d", e.code)
	}
	return "the client is gone"
}

// readinessOf turns an end into a failed start. The screen's last words name the
// reason where they are known; a clean end of a start is a failure too.
func (e ending) readinessOf(p engine.Probe, v screenView) engine.Readiness {
	r := engine.Readiness{State: engine.ReadyFailed, Code: CodeClientExited, Why: e.words(), Evidence: evidence(p)}
	if e.failed {
		r.Code = CodeClientNotStarted
		r.Why = "the client could not be started: " + printable(redactText(p.Run.Error), 200)
	} else if v.fail {
		r.Code, r.Why = v.code, v.why
	}
	if e.known {
		r.Evidence["exit_code"] = e.code
	}
	return r
}

// evidence is the redacted tail of the pane, if it was captured.
func evidence(p engine.Probe) map[string]any {
	ev := map[string]any{}
	if p.Screen.Lines != nil {
		ev["pane"] = tail(p.Screen.Lines)
	}
	return ev
}

// gateOf turns a question that a start cannot pass into attention. Nothing ever
// answers it but a person.
func gateOf(p engine.Probe, v screenView) engine.Readiness {
	ev := evidence(p)
	ev["rule"] = v.rule
	return engine.Readiness{State: engine.ReadyGate, Code: v.code, Why: v.why, Evidence: ev}
}

// activity is that of an occupant that is over.
func (e ending) activity() engine.Activity {
	return engine.Activity{Reading: engine.Reading{
		State: engine.ActivityExited, Code: CodeClientExited, Why: e.words(),
		Source: e.source, Rule: e.rule, Confidence: engine.ConfidenceHigh,
	}}
}

// suspended reports a client that stands still because it was stopped, by
// Ctrl-Z in it or by a freeze of ours.
func (c Config) suspended(pid int, start string) (engine.Reading, bool) {
	proc, ok, err := c.Procs.glance(pid)
	if err != nil || !ok || !proc.frozen() || start != "" && proc.Start != start {
		return engine.Reading{}, false
	}
	line := fmt.Sprintf("kill -CONT %d", pid)
	return engine.Reading{
		State: engine.ActivityWaiting, Code: engine.CodeSuspended, Ends: line,
		Why:    "the client is stopped; `" + line + "` lets it go on",
		Source: "process", Rule: "process state T", Confidence: engine.ConfidenceHigh,
	}, true
}
