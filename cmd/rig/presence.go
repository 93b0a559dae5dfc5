package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"rig/engine"
	"rig/engine/runtimes"
)

// presence is what a process that stays, a console or a watch, says of itself in
// a file of its own, so that others can name it and its build.
type presence struct {
	Verb  string       `json:"verb"`
	Build string       `json:"build"`
	Owner engine.Owner `json:"owner"`
}

// presenceSuffix ends the names of these files, in run/ below RIG_HOME.
const presenceSuffix = ".here"

// announce writes this process's presence and gives what takes it away again. A
// presence that cannot be written is no reason not to work.
func (a *app) announce(verb string) (leave func()) {
	companions(a.paths.home, a.deps.Procs, true)
	p := presence{Verb: verb, Build: buildName(), Owner: a.deps.Procs.Self("")}
	dir := filepath.Join(a.paths.home, "run")
	file := filepath.Join(dir, fmt.Sprintf("%s-%d%s", verb, p.Owner.PID, presenceSuffix))
	b, err := json.Marshal(p)
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		err = writeAnew(file, b)
	}
	if err != nil {
		a.deps.Log.Warn("announce", "err", err)
		return func() {}
	}
	return func() { _ = os.Remove(file) } // what stays is known to be dead
}

// writeAnew writes a file of a name that is ours: what lies there is of a dead
// process, or a trap, and is removed, never followed.
func writeAnew(file string, b []byte) error {
	if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
		return err
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(b); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// companions lists the other consoles and watches that run over the record below
// home, which need not be readable. tidy removes the files of dead ones, too.
func companions(home string, procs engine.Processes, tidy bool) []presence {
	files, err := filepath.Glob(filepath.Join(home, "run", "*"+presenceSuffix))
	if err != nil {
		return nil
	}
	var out []presence
	for _, file := range files {
		var p presence
		if b, err := os.ReadFile(file); err != nil || json.Unmarshal(b, &p) != nil {
			continue
		}
		if lives(procs, p.Owner) == engine.Absent {
			if tidy {
				_ = os.Remove(file) // the next one tries again
			}
			continue
		}
		if p.Owner.PID != os.Getpid() {
			out = append(out, p)
		}
	}
	return out
}

// lives says whether a process is there: that very one, not another one with its
// number.
func lives(procs engine.Processes, o engine.Owner) engine.Presence {
	start, alive, err := procs.Start(o.PID)
	switch {
	case err != nil:
		return engine.Unknown
	case !alive || start != o.PIDStart || o.Boot != procs.Boot():
		return engine.Absent
	}
	return engine.Present
}

// remark says of a companion of another build what is to be done about it; ""
// when it is of this build.
func (p presence) remark() string {
	mine := buildName()
	switch {
	case p.Build == mine:
		return ""
	case engine.OlderBuild(p.Build, mine):
		return fmt.Sprintf("rig %s (process %d) is of the older build %s, this is %s: end it and start it again", p.Verb, p.Owner.PID, p.Build, mine)
	case engine.OlderBuild(mine, p.Build):
		return fmt.Sprintf("rig %s (process %d) is of the newer build %s, this is %s: use that one", p.Verb, p.Owner.PID, p.Build, mine)
	}
	return fmt.Sprintf("rig %s (process %d) is of another build, %s, this is %s: end it and start it again", p.Verb, p.Owner.PID, p.Build, mine)
}

// nameOtherBuilds remarks, before a verb acts, every process that stays and is of
// another build.
func (c *cli) nameOtherBuilds(a *app) {
	for _, p := range companions(a.paths.home, a.deps.Procs, false) {
		if r := p.remark(); r != "" {
			fmt.Fprintf(c.err, "  warning: %s\n", plain(r))
		}
	}
}

// companionChecks are the lines of `rig doctor` about processes that stay. They
// stand also where the record is of another build and cannot be read.
func companionChecks(home string) (out []check) {
	for _, p := range companions(home, runtimes.NewProcesses(), false) {
		k := check{Name: "rig " + p.Verb, Status: "green", Found: fmt.Sprintf("process %d, build %s", p.Owner.PID, p.Build)}
		if r := p.remark(); r != "" {
			what, hint, _ := strings.Cut(r, ": ")
			k.Status, k.Found, k.Hint = "yellow", what, hint
		}
		out = append(out, k)
	}
	return out
}

// operationChecks name the processes of operations that are of another build:
// those under way, and those that keep an undo window open.
func operationChecks(ctx context.Context, a *app) (out []check, err error) {
	for _, f := range []engine.OperationFilter{{Open: true}, {Undo: true}} {
		ops, err := a.engine().Operations(ctx, f)
		if err != nil {
			return nil, err
		}
		for _, op := range ops {
			if f.Undo && op.State.Ended() && !op.UndoOpen(wallClock{}.Now()) && lives(a.deps.Procs, op.Owner) == engine.Absent {
				out = append(out, check{
					"operation " + op.ID, "yellow", "the window to undo the handover of " + op.Target + " is over, and the occupant that it replaced is still kept, stopped",
					"the console, `rig watch` and the next change of anything end it",
				})
				continue
			}
			if op.Build == buildName() || op.State == engine.OpUnfinished || op.State.Ended() == f.Open || lives(a.deps.Procs, op.Owner) == engine.Absent {
				continue
			}
			p := presence{Verb: string(op.Verb) + " of " + op.Target, Build: op.Build, Owner: op.Owner}
			what, _, _ := strings.Cut(p.remark(), ": ")
			hint := "let it end: rig op show " + op.ID
			if op.State.Ended() {
				hint = "it waits until its undo window closes: rig op show " + op.ID
			}
			out = append(out, check{"operation " + op.ID, "yellow", what, hint})
		}
	}
	return out, nil
}
