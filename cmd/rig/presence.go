package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"rig/engine"
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
	a.companions(true)
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

// companions lists the other consoles and watches that run over this record.
// tidy removes the files of dead ones, too.
func (a *app) companions(tidy bool) []presence {
	files, err := filepath.Glob(filepath.Join(a.paths.home, "run", "*"+presenceSuffix))
	if err != nil {
		return nil
	}
	var out []presence
	for _, file := range files {
		var p presence
		if b, err := os.ReadFile(file); err != nil || json.Unmarshal(b, &p) != nil {
			continue
		}
		start, alive, err := a.deps.Procs.Start(p.Owner.PID)
		if err == nil && (!alive || start != p.Owner.PIDStart || p.Owner.Boot != a.deps.Procs.Boot()) {
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
	for _, p := range a.companions(false) {
		if r := p.remark(); r != "" {
			fmt.Fprintf(c.err, "  warning: %s\n", plain(r))
		}
	}
}

// companionChecks are the lines of `rig doctor` about processes that stay.
func companionChecks(a *app) (out []check) {
	for _, p := range a.companions(false) {
		k := check{Name: "rig " + p.Verb, Status: "green", Found: fmt.Sprintf("process %d, build %s", p.Owner.PID, p.Build)}
		if r := p.remark(); r != "" {
			what, hint, _ := strings.Cut(r, ": ")
			k.Status, k.Found, k.Hint = "yellow", what, hint
		}
		out = append(out, k)
	}
	return out
}
