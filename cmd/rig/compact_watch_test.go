package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"rig/engine"
	"rig/store"
)

// watch starts `rig watch` and ends it when the test does.
func (w *world) watch() *exec.Cmd {
	w.t.Helper()
	self, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	cmd := exec.Command(self, "watch")
	cmd.Env, cmd.Dir = w.env, w.project
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil && !errors.Is(err, os.ErrProcessDone) {
			w.t.Error(err)
		}
		_ = cmd.Wait()
	})
	return cmd
}

// enforcer gives the process that has the right to enforce policies, 0 = none.
func (w *world) enforcer() int {
	w.t.Helper()
	db, err := store.OpenReadOnly(filepath.Join(w.dir, "rig", "rig.db"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			w.t.Error(err)
		}
	}()
	pid := 0
	err = db.Read(w.t.Context(), func(r engine.Reader) error {
		leases, err := r.Leases()
		for _, l := range leases {
			if l.OpID == "policy" {
				pid = l.Owner.PID
			}
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return pid
}

// With the policy on, a full seat is compacted once, by one of a console and two
// watchers, and its launch line carries idleCompaction false. When the one that
// enforces is killed, another has the right within a round.
func TestManagedCompaction(t *testing.T) {
	w := newWorld(t)
	path := w.guided("mc", "    threshold_percent: 50\n", "Current work: HERON. Next owner: dev-qa@mc", "impl:claude-code")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	w.must("up", w.write("mc.yaml", strings.Replace(string(b), "enabled: false", "enabled: true", 1)))
	argv, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", w.client("dev.impl")))
	if err != nil || strings.Count(string(argv), `"idleCompaction":false`) != 1 || strings.Count(string(argv), "--settings") != 1 {
		t.Errorf("%v %q", err, argv)
	}
	watchers := map[int]*exec.Cmd{}
	for range 2 {
		cmd := w.watch()
		watchers[cmd.Process.Pid] = cmd
	}
	s := w.console(120, 40)
	s.shows("impl", "1 running")
	w.fill("dev.impl", 700_000)
	w.eventually("a managed compaction passes its audit", func() (bool, string) {
		var st compactStateDoc
		w.into(&st, "compact", "dev.impl", "--state")
		return st.Stage == "audited", fmt.Sprintf("%+v", st)
	})
	if n := strings.Count(w.transcript(), `"compact_boundary"`); n != 1 {
		t.Errorf("%d boundaries", n)
	}
	if n := strings.Count(w.must("events", "--type", "seat.compacted", "--json"), `"type":"seat.compacted"`); n != 1 {
		t.Errorf("%d events", n)
	}
	for range 2 { // as often as a watcher enforces, and then the console must
		holder := w.enforcer()
		if watchers[holder] == nil {
			break
		}
		if err := watchers[holder].Process.Kill(); err != nil {
			t.Fatal(err)
		}
		w.eventually("another enforces", func() (bool, string) {
			next := w.enforcer()
			return next != 0 && next != holder, fmt.Sprint(next)
		})
		delete(watchers, holder)
	}
}

// The samples that a trend and a forecast stand on are stored by whoever watches:
// a console alone, and `rig watch` alone. Nobody asks for a refresh here.
func TestConsolesAndWatchersStoreSamples(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("ss", "impl:claude-code"))
	trend := func() int {
		var p struct {
			Skipped []struct {
				Trend []struct {
					Tokens int64 `json:"tokens"`
				} `json:"trend"`
			} `json:"skipped"`
		}
		w.into(&p, "compact-plan")
		if len(p.Skipped) != 1 {
			t.Fatalf("%+v", p)
		}
		return len(p.Skipped[0].Trend)
	}
	fills := func(who string, tokens ...int) {
		for i, n := range tokens {
			before := trend()
			w.fill("dev.impl", n)
			if i > 0 { // the present sample is of the trend whether it is stored or not
				w.eventually(who+" stores samples", func() (bool, string) { return trend() > before, fmt.Sprint(trend()) })
			}
		}
	}
	for range 2 { // nobody watches: only the present sample is known
		w.fill("dev.impl", 5000)
	}
	if n := trend(); n != 1 {
		t.Errorf("%d samples although nobody watches", n)
	}
	s := w.console(120, 40)
	s.keys("3")
	s.shows("impl", "below the threshold")
	fills("the console", 10_000, 20_000)
	s.shows("20k of 1.0M")
	s.keys("q", "q")
	w.eventually("the console is gone", func() (bool, string) {
		out, _ := w.tryTmux("list-sessions", "-F", "#{session_name}")
		return !strings.Contains(out, "console"), out
	})
	w.watch()
	fills("rig watch", 30_000, 40_000)
}

// A rig that says so has the agents on a seat's edges told of its compactions,
// each once: of one that we drive, and of one that a person typed while two
// processes watched. Without the policy nobody is told, and no terminal ever is.
func TestNeighboursAreToldOfCompactions(t *testing.T) {
	w := newWorld(t)
	path := w.guided("nt", "", "Current work: HERON. Next owner: dev-qa@nt", "impl:claude-code", "qa:codex", "sh:terminal")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	edges := "    edges:\n      - {kind: delegates_to, from: impl, to: qa}\n      - {kind: can_observe, from: qa, to: impl}\n      - {kind: can_observe, from: sh, to: impl}\n"
	w.must("up", w.write("nt.yaml", strings.Replace(string(b), "policies:\n", edges+"policies:\n", 1)))
	w.fill("dev.impl", 900_000)
	if out := w.must("compact", "dev.impl", "--dry-run", "--json"); strings.Contains(out, "compact_tell") {
		t.Error("neighbours are told although nothing says so")
	}
	w.must("down", "nt")
	w.must("up", w.write("nt2.yaml", strings.NewReplacer("policies:\n", edges+"policies:\n", "name: nt\n", "name: nt2\n", "enabled: false", "enabled: false\n    tell_neighbours: true", "@nt", "@nt2").Replace(string(b))))
	told := func() int {
		list, err := filepath.Glob(filepath.Join(w.home, ".codex", "sessions", "*", "*", "*", "*.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, path := range list {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range strings.Split(string(b), "\n") {
				if strings.Contains(l, `"role":"user"`) && strings.Contains(l, "[compaction ") && strings.Contains(l, "notice: ") {
					n++
				}
			}
		}
		return n
	}
	w.watch()
	w.watch()
	w.fill("dev-impl@nt2", 900_000)
	w.must("send", "dev-impl@nt2", "/compact once more")
	w.eventually("dev-qa is told of the one by hand", func() (bool, string) { return told() == 1, fmt.Sprint(told()) })
	w.fill("dev-impl@nt2", 900_000)
	w.must("wait", "dev-qa@nt2", "--until", "idle")
	if r := w.run("compact", "dev-impl@nt2", "--skip-map"); r.code != 0 {
		t.Fatalf("exit %d: %s%s", r.code, r.out, r.err)
	}
	w.eventually("dev-qa is told of the guided one", func() (bool, string) { return told() >= 2, fmt.Sprint(told()) })
	w.must("wait", "dev-qa@nt2", "--until", "idle")
	w.must("send", "dev-qa@nt2", "are you there", "--verify") // what came twice would have come by now
	if n := told(); n != 2 {
		t.Errorf("told %d times of two compactions", n)
	}
	if out := w.must("capture", "dev-sh@nt2"); strings.Contains(out, "compact") {
		t.Errorf("typed into a terminal:\n%s", out)
	}
}
