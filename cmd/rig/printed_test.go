package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// TestATokenIsNotRepeated: whoever gives a resume token where it does not belong reads it in no refusal.
func TestATokenIsNotRepeated(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("tok", "a:claude-code"))
	const token = "0b01d6f2-53a4-4a7e-9a53-0a7d0f9c2e11"
	verb := []string{"seat", "set-resume-token"}
	for _, words := range [][]string{
		{"dev.a", token, "--token-stdin", "--reason", "x"},
		{token, "--token-stdin", "--reason", "x"},
		{"dev.a", "--token-stdin=" + token, "--reason", "x"},
		{"dev.a", "--" + token, "--reason", "x"},
		{"dev.a", token},
	} {
		for _, form := range [][]string{nil, {"--json"}} {
			r := w.run(append(append(append([]string{}, verb...), words...), form...)...)
			if r.code != 2 || strings.Contains(r.out+r.err, token) {
				t.Errorf("%v: exit %d\n%s%s", words, r.code, r.out, r.err)
			}
		}
	}
	if log := w.must("events", "--json"); strings.Contains(log, token) {
		t.Error("the token is in the audit log")
	}
	has(t, w.run("seat", "stop", "a", "b", "--reason", "r").err, "given was a b")
}

// TestAFollowerThatGoesSaysSo: an interrupted client says in plain words that the operation goes on.
func TestAFollowerThatGoesSaysSo(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("go", "a:claude-code"))
	w.setenv("AGENTSIM_START_MS", "1500")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cmd := exec.CommandContext(ctx, w.program, "handover", "dev.a", "--reason", "r")
	var out, errs bytes.Buffer
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = w.env, w.project, &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.eventually("the handover runs", func() (bool, string) {
		op := w.ops()[0]
		return op.Verb == "handover" && op.State == "running", op.State
	})
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	err := cmd.Wait()
	op := w.ops()[0]
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); err == nil || !ok || status.Signaled() {
		t.Errorf("%v", err)
	}
	has(t, errs.String(), "goes on without you", "`rig op show "+op.ID+"`")
	hasNot(t, errs.String(), "context canceled")
	w.eventually("the handover ends", func() (bool, string) { return w.ops()[0].State == "done", w.ops()[0].State })
}

// TestSwitchClientNamesTheWindow: the answer names the window that is shown.
func TestSwitchClientNamesTheWindow(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("win", "a:terminal", "b:terminal"))
	screen := w.terminal(80, 24, "attach", "dev.a")
	w.eventually("a client is attached", func() (bool, string) {
		got := w.tmux("list-clients", "-F", "#{session_name}")
		return got == "dev-a@win", got + screen.look()
	})
	var done struct {
		Window  int    `json:"window"`
		Target  string `json:"target"`
		Session string `json:"session"`
	}
	if w.into(&done, "seat", "switch-client", "dev.b"); done.Window != 0 || done.Target != "dev-b@win:0" || done.Session != "dev-b@win" {
		t.Errorf("%+v", done)
	}
	// A server that counts from another number has no window 0: the first one is meant.
	w.tmux("move-window", "-s", "dev-a@win:0", "-t", "dev-a@win:4")
	if w.into(&done, "seat", "switch-client", "dev.a"); done.Window != 4 || done.Target != "dev-a@win:4" {
		t.Errorf("%+v", done)
	}
	if got := w.tmux("list-clients", "-F", "#{session_name}"); got != "dev-a@win" {
		t.Errorf("the client views %s", got)
	}
	w.refuse("window_not_found", 1, "seat", "switch-client", "dev.a", "--to-window", "0")
}

// TestAttachShowsTheSeatsPane: whatever window somebody left the session at, and whatever
// name the session has been given.
func TestAttachShowsTheSeatsPane(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("win", "a:terminal", "b:terminal"))
	shown := func(seat string) {
		t.Helper()
		pane := w.seat(seat).Pane
		w.eventually("the client shows "+seat, func() (bool, string) {
			got := w.tmux("list-clients", "-F", "#{pane_id}")
			return got == pane, got
		})
	}
	for _, seat := range []string{"dev-a", "dev-b"} {
		w.tmux("new-window", "-t", "="+seat+"@win:")
		w.tmux("rename-session", "-t", "="+seat+"@win:", "my "+seat)
	}
	w.terminal(80, 24, "attach", "dev.a")
	shown("dev.a")
	w.must("seat", "switch-client", "dev.b")
	shown("dev.b")
}

// TestLongValuesAreCut: a value of any length does not bury what is said about it, wherever it stands.
func TestLongValuesAreCut(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("cut", "a:claude-code"))
	long := strings.Repeat("x", 5000)
	for _, args := range [][]string{
		{"handover", "dev.a", "--source", "fork:" + long, "--reason", "r"},
		{"handover", "dev.a", "--source", "fork:" + long, "--reason", "r", "--json"},
		{"op", "show", long},
		{"seat", "status", long},
		{long},
		{"work", "show", long},
		{"up", long},
	} {
		r := w.run(args...)
		if n := len(r.out) + len(r.err); r.code == 0 || n > 1500 {
			t.Errorf("%.40q: exit %d, %d bytes\n%.600s%.600s", args, r.code, n, r.out, r.err)
		}
	}
	has(t, w.run("op", "show", long).err, "…")
}

// TestWordsOfCountsAndStates: a few sentences that were put together wrongly.
func TestWordsOfCountsAndStates(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("words", "a:terminal"))
	has(t, w.must("ps"), "1 rig · 1 seat · 1 running · 0 need attention")
	w.tmux("new-session", "-d", "-s", "mine", "/bin/sh")
	var found struct {
		Sessions []struct {
			ID string `json:"id"`
		} `json:"sessions"`
	}
	w.into(&found, "discover", "--rescan")
	w.tmux("kill-session", "-t", "mine")
	w.must("discover", "--rescan")
	err := w.run("adopt", found.Sessions[0].ID, "dev.a").err
	has(t, err, "also [discovered_not_active] the discovered session is")
}

// TestAnIDMayBeGivenInPart: its beginning or its end is enough when only one has it.
func TestAnIDMayBeGivenInPart(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("part", "a:terminal"))
	w.must("handover", "dev.a", "--reason", "r")
	id := w.ops()[0].ID
	has(t, w.must("op", "show", id[len(id)-8:]), "handover dev-a@part")
	has(t, w.must("op", "show", strings.ToLower(id[:18])), "handover dev-a@part")
	w.refuse("not_found", 1, "op", "show", id[len(id)-5:])
	doc := w.refuse("ambiguous_id", 1, "op", "show", id[:6])
	if list, _ := doc["matches"].([]any); len(list) != 2 {
		t.Errorf("%v", doc)
	}
	has(t, w.run("op", "show", id[:6]).err, id)
	w.must("op", "undo", id[len(id)-8:])

	var item struct{ Item struct{ ID string } }
	w.into(&item, "work", "add", "dev.a", "count", "herons")
	end := item.Item.ID[len(item.Item.ID)-8:]
	w.must("work", "claim", end)
	w.must("work", "done", end)
	has(t, w.must("work", "show", end), "herons")
	w.must("snapshot", "create", "part")
	var list struct {
		Snapshots []struct {
			ID string `json:"id"`
		} `json:"snapshots"`
	}
	w.into(&list, "snapshot", "list", "part")
	has(t, w.must("snapshot", "show", list.Snapshots[0].ID[18:]), list.Snapshots[0].ID)
}

// TestPlansNameWhatEndsBeside: somebody opened panes in a seat's session; each plan that
// ends the session says so, and one that leaves it does not.
func TestPlansNameWhatEndsBeside(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("side", "a:terminal", "b:terminal", "c:terminal"))
	w.tmux("split-window", "-d", "-t", "=dev-a@side:", "cat")
	w.tmux("new-window", "-d", "-t", "=dev-a@side:", "cat")
	const want = "with dev-a@side ends what is beside it in its session: 2 panes"
	for _, args := range [][]string{
		{"down", "side"}, {"seat", "stop", "dev.a", "--reason", "r"}, {"remove", "side", "dev.a"},
	} {
		r := w.run(append(args, "--dry-run")...)
		has(t, r.out, want)
		hasNot(t, r.out, "with dev-b@side")
	}
	w.tmux("join-pane", "-d", "-s", w.seat("dev.b").Pane, "-t", "=dev-a@side:")
	hasNot(t, w.run("down", "side", "--dry-run").out, "ends what is beside")
	w.must("down", "side")
	if left := w.tmux("list-panes", "-a", "-F", "#{session_name}"); left != "dev-a@side\ndev-a@side" {
		t.Errorf("left: %s", left)
	}
}
