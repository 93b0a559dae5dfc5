package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// A session that a seat has let go of is free at once: nobody has to look at tmux
// again before it is listed and adopted as such.
func TestASessionThatWasLetGoIsFree(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("lg", "sh:terminal", "other:terminal"))
	w.must("seat", "stop", "dev.sh", "--reason", "room")
	w.tmux("new-session", "-d", "-s", "mine", "-c", w.project)
	var found struct {
		Sessions []struct{ ID, Status, Claimed string } `json:"sessions"`
	}
	w.into(&found, "discover", "--rescan")
	id := found.Sessions[0].ID
	w.must("adopt", id, "dev.sh")
	if w.into(&found, "discover"); found.Sessions[0].Status != "claimed" {
		t.Errorf("adopted, it is %s", found.Sessions[0].Status)
	}
	w.must("release", "dev.sh")
	if w.into(&found, "discover"); found.Sessions[0].Status != "active" {
		t.Errorf("let go, it is %s", found.Sessions[0].Status)
	}
	w.eventually("an older list is not taken for a look", func() (bool, string) {
		r := w.run("discover")
		return strings.Contains(r.err, "as seen a moment ago; `rig discover --rescan` looks again"), r.err
	})
	if s := w.seat("dev.sh"); s.Life != "stopped" || s.Activity.State != "unknown" {
		t.Errorf("nobody knows whether it ended: %s, %s", s.Life, s.Activity.State)
	}
	for _, verb := range [][]string{{"capture", "dev.sh"}, {"seat", "switch-client", "dev.sh"}} {
		if r := w.run(verb...); r.code == 0 || !strings.Contains(r.err, "its session was released") {
			t.Errorf("rig %v does not say why: exit %d, %s", verb, r.code, r.err)
		}
	}
	w.must("adopt", id, "dev.sh")
	r := w.run("adopt", "nope", "dev.sh")
	if r.code != 1 || strings.Count(r.err, "nope") != 1 {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

// What the command line refuses is a usage error, in words of the usage line.
func TestRefusalsOfTheCommandLine(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("cl", "sh:terminal"))
	for want, args := range map[string][]string{
		"rig adopt takes <discovered-id> <seat>; nothing was given": {"adopt"},
		"rig ps takes no further word; given was x":                 {"ps", "x"},
		"for one rig: `rig restore-check --rig cl`":                 {"restore-check", "cl"},
		"rig work add takes <seat> <title>…; given was dev.sh":      {"work", "add", "dev.sh"},
		"--lines cannot be below zero":                              {"capture", "dev.sh", "--lines", "-3"},
		"no completion for \"tcsh\"":                                {"completion", "tcsh"},
		"rig completion takes <shell>; nothing was given":           {"completion"},
	} {
		r := w.run(args...)
		if r.code != 2 || !strings.Contains(r.err, want) {
			t.Errorf("rig %s: exit %d: %s", strings.Join(args, " "), r.code, r.err)
		}
	}
	w.refuse("wait_timeout", 1, "wait", "dev.sh", "--until", "limit", "--timeout", "1s")
	if r := w.run("events", "--type", "nope"); r.code != 0 || r.out != "" || !strings.Contains(r.err, "no event") {
		t.Errorf("exit %d: %q %q", r.code, r.out, r.err)
	}
	if r := w.run("context", "get"); r.code != 1 || !strings.Contains(r.err, "--seat") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

// The shell is offered the names on record, also in a bash without the package
// bash-completion, and where an @ stands in what was typed.
func TestCompletionOffersNames(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("cn", "sh:terminal", "other:terminal"))
	before := w.trace()
	for line, want := range map[string]string{
		"seat status ":           "dev-sh@cn\tterminal",
		"shrink cn ":             "dev\t",
		"wait dev-sh@cn --until": "limit",
		"explain dev.sh ":        "context",
		"op show ":               "up cn done",
		"completion ":            "fish",
	} {
		words := append([]string{"__complete"}, strings.Fields(line)...)
		if out := w.must(append(words, "")...); !strings.Contains(out, want) {
			t.Errorf("%q offers %q", line, out)
		}
	}
	if after := w.trace(); after != before {
		t.Error("a completion left a trace")
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err) // make needs it too
	}
	script := w.write("rig.bash", w.must("completion", "bash"))
	for line, want := range map[string]string{"rig seat status dev-s": "dev-sh@cn", "rig seat status dev-sh@c": "@cn"} {
		ask := `source "$1"; rig() { "$RIG_UNDER_TEST" "$@"; }; COMP_LINE=$2 COMP_POINT=${#2} COMP_TYPE=9; compopt() { :; }; __start_rig; printf '%s\n' "${COMPREPLY[@]}"`
		cmd := exec.Command(bash, "--norc", "-c", ask, "bash", script, line)
		cmd.Env = append(slices.Clone(w.env), "RIG_UNDER_TEST="+w.program)
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%q completes to %q, %v", line, got, err)
		}
	}
}

// TestAVariableMakesNobodyASeat: who acts is taken from the environment of an occupant on record, not from a variable that names one.
func TestAVariableMakesNobodyASeat(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("who", "sh:terminal"))
	w.setenv("RIG_SEAT", "evil@nowhere")
	w.must("snapshot", "create", "who")
	w.setenv("RIG_SEAT", "dev-sh@who")
	w.must("snapshot", "create", "who")
	w.setenv("RIG_SEAT", "")
	if log := w.must("events", "--json"); strings.Contains(log, "evil@nowhere") || strings.Contains(log, "dev-sh@who (derived)") {
		t.Errorf("a variable acted:\n%s", log)
	}
	w.must("send", "dev.sh", w.program+" snapshot create who")
	w.eventually("the seat itself acted", func() (bool, string) {
		log := w.must("events", "--json")
		return strings.Contains(log, "dev-sh@who (derived)"), log
	})
}
