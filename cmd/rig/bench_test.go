package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rig/engine"
	"rig/store"
)

// buildRig builds the program as it is shipped, without the race detector and
// without the tests in it, because its start is what is measured.
func buildRig(b testing.TB) string {
	b.Helper()
	dir := b.TempDir()
	for name, from := range map[string]string{"rig": ".", "rig-seat": "../rig-seat", "agentsim": "../../testdata/agentsim"} {
		cmd := exec.CommandContext(context.Background(), "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", filepath.Join(dir, name), from)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
	}
	return filepath.Join(dir, "rig")
}

// seats puts n bound terminal seats on the world's server and record, without a
// supervisor in each pane: the look costs the same.
func (w *world) seats(b *testing.B, n int) {
	b.Helper()
	// One source file for all: a process a seat would take longer than the bench.
	var script strings.Builder
	for i := range n {
		fmt.Fprintf(&script, "new-session -d -s 'dev-m%d@big' -x 160 -y 48 -- sleep 100000 ; set-option -p -t '=dev-m%d@big:' @rig_seat 's%04d' ; set-option -p -t '=dev-m%d@big:' @rig_gen 1\n", i, i, i, i)
	}
	w.tmux("start-server", ";", "source-file", w.write("seats.conf", script.String()))
	panes := strings.Split(w.tmux("list-panes", "-a", "-F", "#{@rig_seat} #{pane_id} #{pane_pid} #{pid}-#{start_time}"), "\n")
	db, err := store.Open(filepath.Join(w.dir, "rig", "rig.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	now := time.Now().UTC()
	err = db.Write(context.Background(), func(tx engine.Tx) error {
		if err := tx.InsertRig(engine.Rig{ID: "r", Name: "big", CreatedAt: now, UpdatedAt: now, Version: 1}); err != nil {
			return err
		}
		if err := tx.InsertPod(engine.Pod{ID: "p", RigID: "r", Name: "dev", Label: "Development"}); err != nil {
			return err
		}
		for _, line := range panes { // sorted by session name, not by number
			if err := insertSeat(tx, line, w.project, now); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	var doc struct {
		Totals struct{ Running int } `json:"totals"`
	}
	// A look at seats that are lost is another look, and a slower one.
	if w.into(&doc, "ps"); doc.Totals.Running != n {
		b.Fatalf("%d of %d seats are running", doc.Totals.Running, n)
	}
}

func insertSeat(tx engine.Tx, row, cwd string, now time.Time) error {
	f := strings.Fields(row)
	var i, pid int
	if _, err := fmt.Sscanf(f[0]+" "+f[2], "s%d %d", &i, &pid); err != nil {
		return err
	}
	seat := engine.Seat{
		ID: f[0], RigID: "r", PodID: "p", Pod: "dev", Member: fmt.Sprintf("m%d", i), Runtime: engine.RuntimeTerminal, AgentRef: "builtin:terminal",
		Profile: "none", RestorePolicy: engine.RestoreResume, Cwd: cwd, Ordinal: i, Generation: 1, Lifecycle: engine.LifecycleActive,
		Continuity: engine.ContinuityFresh, CreatedAt: now, UpdatedAt: now, Version: 1,
	}
	if err := tx.InsertSeat(seat); err != nil {
		return err
	}
	err := tx.InsertSession(engine.Session{
		ID: "x" + f[0], SeatID: f[0], Generation: 1, Name: "dev-" + seat.Member + "@big", Runtime: engine.RuntimeTerminal,
		Status: engine.SessionRunning, Origin: engine.OriginLaunched, Startup: engine.StartupReady, CreatedAt: now, Version: 1,
	})
	if err != nil {
		return err
	}
	return tx.PutBinding(engine.Binding{SeatID: f[0], Epoch: engine.Epoch(f[3]), SessionName: "dev-" + seat.Member + "@big", Pane: engine.PaneID(f[1]), PanePID: pid, UpdatedAt: now})
}

// BenchmarkProcess is whole processes of the shipped program: start to end. What they
// print goes to no pipe, so that the reader has no part in the figure.
func BenchmarkProcess(b *testing.B) {
	bin := buildRig(b)
	w := newWorld(b)
	w.seats(b, 200)
	for _, c := range []struct {
		name, bin string
		args      []string
	}{
		{"version", bin, []string{"--version"}},
		{"seat-status-200", bin, []string{"seat", "status", "dev.m7@big", "--json"}},
		{"ps-200", bin, []string{"ps", "--json"}},
		{"hook", bin + "-seat", []string{"hook", "Stop"}},
		{"statusline", bin + "-seat", []string{"statusline"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			command := func() *exec.Cmd {
				cmd := exec.CommandContext(context.Background(), c.bin, c.args...)
				cmd.Env, cmd.Dir = w.env, w.project
				return cmd
			}
			if out, err := command().CombinedOutput(); err != nil {
				b.Fatalf("%v\n%s", err, out)
			}
			for b.Loop() {
				if err := command().Run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkLook is one look at 200 seats inside a process: record, inventory,
// readings, picture.
func BenchmarkLook(b *testing.B) {
	w := newWorld(b)
	w.seats(b, 200)
	for _, kv := range w.env {
		k, v, _ := strings.Cut(kv, "=")
		b.Setenv(k, v)
	}
	b.ReportAllocs()
	for b.Loop() {
		a, err := openApp(appRead)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := a.engine().Fleet(context.Background()); err != nil {
			b.Fatal(err)
		}
		a.close()
	}
}
