//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// op is one kind of command line, drawn with its weight.
type op struct {
	weight int
	run    func(ctx context.Context, w *world) result
}

// workers is how many command lines act at once, beside the two consoles.
const workers = 4

// fewest is the least number of faults of each kind in a round.
const fewest = 1

// storm lets commands and faults loose until both have had their share of this round.
func (w *world) storm(ctx context.Context, round int) {
	stop := make(chan struct{})
	var acting, breaking sync.WaitGroup
	breaking.Go(func() { w.faultsOf(ctx, round) })
	for i := range 2 {
		acting.Go(func() { w.console(ctx, i, stop) })
	}
	for range workers {
		acting.Go(func() {
			for ctx.Err() == nil && !closed(stop) {
				w.act(ctx)
			}
		})
	}
	breaking.Wait()
	for w.count(ctx); ctx.Err() == nil && w.onRecord < w.ops*round/w.rounds; w.count(ctx) {
		wait(ctx, 500*time.Millisecond)
	}
	close(stop)
	acting.Wait()
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// wait lets d pass, or less if the run is cut off.
func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// act runs one command line, drawn by weight.
func (w *world) act(ctx context.Context) {
	total := 0
	for _, o := range allOps {
		total += o.weight
	}
	n := w.pick(total)
	for _, o := range allOps {
		if n -= o.weight; n < 0 {
			w.tried.Add(1)
			o.run(ctx, w)
			return
		}
	}
}

// anySeat draws a seat; kind is "agent", "shell" or "" for either.
func (w *world) anySeat(kind string) seat {
	for {
		s := w.seats[w.pick(len(w.seats))]
		if kind == "" || s.agent == (kind == "agent") {
			return s
		}
	}
}

func (w *world) anyRig() string { return []string{"alpha", "beta"}[w.pick(2)] }

// on makes a command line for a seat that is drawn anew each time.
func on(kind string, words ...string) func(context.Context, *world) result {
	return func(ctx context.Context, w *world) result {
		s := w.anySeat(kind)
		args := slices.Clone(words)
		for i, a := range args {
			args[i] = strings.NewReplacer("SEAT", s.Address, "LOGICAL", s.Logical, "RIG", s.Rig, "N", fmt.Sprint(w.pick(1000))).Replace(a)
		}
		return w.do(ctx, args...)
	}
}

// allOps is what the four command lines do.
var allOps = []op{
	{6, on("agent", "handover", "SEAT", "--reason", "chaos")},
	{4, on("agent", "handover", "SEAT", "--source", "fork:SEAT", "--reason", "chaos")},
	{2, on("agent", "handover", "SEAT", "--source", "rebuild", "--reason", "chaos")},
	{8, on("shell", "handover", "SEAT", "--reason", "chaos")},
	{5, on("", "seat", "stop", "SEAT", "--reason", "chaos")},
	{7, on("", "seat", "launch", "SEAT", "--fresh", "--reason", "chaos")},
	{4, on("", "seat", "clean", "SEAT", "--reason", "chaos")},
	{3, on("", "seat", "clear-attention", "SEAT", "--reason", "chaos")},
	{3, on("agent", "seat", "set-model", "SEAT", "modelN", "--reason", "chaos")},
	{6, on("", "launch", "RIG")},
	{2, on("", "down", "RIG", "--reason", "chaos")},
	{6, on("", "up", "RIG", "--fresh-unprompted")},
	{3, on("agent", "send", "SEAT", "work on N", "--verify")},
	{3, on("", "snapshot", "create", "RIG")},
	{2, on("agent", "agent-image", "create", "SEAT", "--name", "imageN")},
	{2, on("agent", "fork", "SEAT", "--pod", "dev", "--member", "childN", "--reason", "chaos")},
	{1, on("agent", "agent-image", "prune", "--reason", "chaos")},
	{1, on("agent", "compact", "SEAT", "--skip-map", "--reason", "chaos")},
	{4, undo},
	{8, recover1},
	{3, dropChild},
	{1, restore},
}

// operation is what is read of `rig op list --json`.
type operation struct {
	ID, Verb, State, Target string
	UndoUntil               time.Time `json:"undo_until"`
}

// operations lists the newest operations. In a storm there may be no answer, while the record is locked.
func (w *world) operations(ctx context.Context, args ...string) ([]operation, error) {
	var doc struct{ Operations []operation }
	r := w.do(ctx, append([]string{"op", "list"}, args...)...)
	if err := json.Unmarshal([]byte(r.text), &doc); err != nil || r.code != 0 {
		return nil, fmt.Errorf("rig op list %s gave no list: exit %d: %.400s", strings.Join(args, " "), r.code, r.text)
	}
	return doc.Operations, nil
}

// undo takes back a handover whose window is open.
func undo(ctx context.Context, w *world) result {
	list, _ := w.operations(ctx)
	for _, o := range list {
		if !o.UndoUntil.IsZero() && o.State == "done" {
			return w.do(ctx, "op", "undo", o.ID)
		}
	}
	return result{}
}

// recover1 closes an operation that was cut off, in one of the two ways.
func recover1(ctx context.Context, w *world) result {
	list, _ := w.operations(ctx)
	for _, o := range list {
		if o.State == "unfinished" {
			return w.do(ctx, "op", []string{"finish", "rollback"}[w.pick(2)], o.ID)
		}
	}
	return result{}
}

// listed is a seat as `rig ps --json` shows it.
type listed struct{ Address, Lifecycle string }

// fleet lists every seat.
func (w *world) fleet(ctx context.Context) (out []listed) {
	var doc struct {
		Rigs []struct{ Seats []listed }
	}
	r := w.do(ctx, "ps")
	_ = json.Unmarshal([]byte(r.text), &doc) // no answer while the record is locked
	for _, rig := range doc.Rigs {
		out = append(out, rig.Seats...)
	}
	return out
}

// children are the seats that the run has added to the rigs itself.
func (w *world) children(ctx context.Context) (out []string) {
	for _, s := range w.fleet(ctx) {
		if strings.HasPrefix(s.Address, "dev-child") {
			out = append(out, s.Address)
		}
	}
	return out
}

// dropChild takes one of the forked seats out again, once there are several.
func dropChild(ctx context.Context, w *world) result {
	list := w.children(ctx)
	if len(list) < 2 {
		return result{}
	}
	address := list[w.pick(len(list))]
	_, rig, _ := strings.Cut(address, "@")
	return w.do(ctx, "remove", rig, address, "--reason", "chaos")
}

// restore brings a rig back from its newest snapshot.
func restore(ctx context.Context, w *world) result {
	var doc struct {
		Snapshots []struct {
			ID string `json:"id"`
		} `json:"snapshots"`
	}
	rig := w.anyRig()
	r := w.do(ctx, "snapshot", "list", rig)
	if json.Unmarshal([]byte(r.text), &doc) != nil || len(doc.Snapshots) == 0 {
		return r
	}
	w.do(ctx, "down", rig, "--reason", "chaos")
	return w.do(ctx, "restore", doc.Snapshots[0].ID, "--rig", rig, "--fresh-unprompted")
}

// count asks the record, by plain SQL, how many operations there are.
func (w *world) count(ctx context.Context) {
	db, err := w.open("ro")
	if err != nil {
		return
	}
	defer db.Close()
	var n int
	if db.QueryRowContext(ctx, "SELECT count(*) FROM operations").Scan(&n) == nil {
		w.onRecord = n
	}
}

// calm takes every fault back, closes what was cut off, and brings every seat back.
func (w *world) calm(ctx context.Context, round int) error {
	if err := w.healed(ctx); err != nil {
		return err
	}
	if err := w.closeAll(ctx); err != nil {
		return err
	}
	for range 4 {
		for _, rig := range []string{"alpha", "beta"} {
			w.do(ctx, "up", rig, "--fresh-unprompted")
		}
		down := w.notRunning(ctx)
		if len(down) == 0 {
			break
		}
		for _, s := range down {
			w.do(ctx, "seat", "clean", s, "--reason", "calm")
			w.do(ctx, "seat", "launch", s, "--fresh", "--reason", "calm")
		}
	}
	wait(ctx, undoWindow+time.Second)
	w.do(ctx, "doctor")
	wait(ctx, time.Second)
	if err := w.expectations(); err != nil {
		return err
	}
	if down := w.notRunning(ctx); len(down) > 0 {
		return fmt.Errorf("not brought back: %v", down)
	}
	return nil
}

// closeAll finishes or rolls back what was cut off, and waits for what still runs. Only a list that rig gave counts as empty.
func (w *world) closeAll(ctx context.Context) error {
	var open []operation
	var err error
	for range 60 {
		if open, err = w.operations(ctx, "--open"); err == nil && len(open) == 0 {
			return nil
		}
		for _, o := range open {
			if o.State == "unfinished" {
				w.do(ctx, "op", []string{"finish", "rollback"}[w.pick(2)], o.ID)
			}
		}
		wait(ctx, time.Second)
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("still open after a minute of calm: %+v", open)
}

// notRunning lists the seats that do not run, children of the run's own among them.
func (w *world) notRunning(ctx context.Context) (out []string) {
	running := map[string]bool{}
	for _, s := range w.fleet(ctx) {
		running[s.Address] = s.Lifecycle == "running"
		if !running[s.Address] {
			out = append(out, s.Address)
		}
	}
	for _, s := range w.seats {
		if _, there := running[s.Address]; !there {
			out = append(out, s.Address)
		}
	}
	return out
}

// expectations writes down for the check what must be there.
func (w *world) expectations() error {
	b, err := json.Marshal(map[string]any{"home": w.home, "socket": w.socket, "said": w.said, "seats": w.seats, "work": w.works, "program": w.rig})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(w.dir, "expect.json"), b, 0o600)
}

// verify runs the independent check and keeps its findings.
func (w *world) verify(ctx context.Context) string {
	out, err := command(ctx, filepath.Join(w.dir, "bin", "check"), filepath.Join(w.dir, "expect.json"))
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for _, l := range lines[:len(lines)-1] {
		w.wrong("check: %s", l)
	}
	if err != nil && len(lines) < 2 {
		w.wrong("check: %v: %s", err, out)
	}
	return lines[len(lines)-1]
}
