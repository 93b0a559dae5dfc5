//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// result is what was measured.
type result struct {
	options
	processes   float64 // started a second, threads included, in the whole namespace
	console     float64 // processor time of the console and its children, percent of one core
	tmux        float64 // processor time of the tmux server, percent of one core
	bytes       float64 // drawn a second
	memory      float64 // resident memory of the console, MB
	paint       time.Duration
	keyMedian   time.Duration
	keyP95      time.Duration
	keyBytes    int
	missed      int // keys that nothing was drawn for
	version     time.Duration
	ps          time.Duration
	status      time.Duration
	supervisors float64 // processor time of everything else, the seats and their supervisors, percent of one core
}

// commands measures the verbs that scripts call often.
func (r *result) commands(ctx context.Context, w *world) error {
	var err error
	if r.version, err = w.timed(ctx, 21, "--version"); err != nil {
		return err
	}
	if r.status, err = w.timed(ctx, 21, "seat", "status", "load."+member(0), "--json"); err != nil {
		return err
	}
	r.ps, err = w.timed(ctx, 21, "ps", "--json")
	return err
}

// watch measures the console while nobody touches it.
func (r *result) watch(ctx context.Context, c *console, w *world, window time.Duration) error {
	before, err := sample()
	if err != nil {
		return err
	}
	drawn, _ := c.count()
	began := time.Now()
	if err := wait(ctx, window); err != nil {
		return err
	}
	after, err := sample()
	if err != nil {
		return err
	}
	now, _ := c.count()
	seconds := time.Since(began).Seconds()
	r.bytes = float64(now-drawn) / seconds
	r.processes = float64(after.last-before.last) / seconds
	for pid, p := range after.cpu {
		percent := 100 * (p - before.cpu[pid]).Seconds() / seconds
		switch pid {
		case os.Getpid():
		case c.cmd.Process.Pid:
			r.console += percent
		case w.server:
			r.tmux += percent
		default:
			r.supervisors += percent
		}
	}
	r.memory, err = resident(c.cmd.Process.Pid)
	return err
}

// press measures how long it takes from a key to the first byte that is drawn after it. Over busy panes a drawing of their own
// may come first, so there the figure is a little too good.
func (r *result) press(ctx context.Context, c *console, n int) error {
	var times []time.Duration
	var sizes []int
	for i := range n {
		if err := quiet(ctx, c); err != nil {
			return err
		}
		before, more := c.count()
		began := time.Now()
		if _, err := c.pty.WriteString([]string{"j", "j", "j", "k", "k", "k"}[i%6]); err != nil {
			return fmt.Errorf("press a key: %w", err)
		}
		select {
		case <-more:
			times = append(times, time.Since(began))
		case <-time.After(400 * time.Millisecond):
			r.missed++
			continue
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := quiet(ctx, c); err != nil {
			return err
		}
		now, _ := c.count()
		sizes = append(sizes, now-before)
	}
	if len(times) > 0 {
		slices.Sort(sizes)
		r.keyMedian, r.keyP95, r.keyBytes = quantile(times, 0.5), quantile(times, 0.95), sizes[len(sizes)/2]
	}
	return nil
}

// quiet waits until nothing has been drawn for a moment, but no longer than half a second: busy panes are never quiet.
func quiet(ctx context.Context, c *console) error {
	end := time.After(500 * time.Millisecond)
	for {
		_, more := c.count()
		select {
		case <-more:
		case <-time.After(40 * time.Millisecond):
			return nil
		case <-end:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// print writes the row, after the head of the table if that is wanted.
func (r *result) print(header bool) {
	if header {
		fmt.Println("| seats | panes | processes/s | console CPU % | tmux CPU % | B/s | RSS MB | first paint ms | key p50 ms | key p95 ms | B/key | version ms | seat status ms | ps ms |")
		fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|")
	}
	ms := func(d time.Duration) string { return strconv.FormatFloat(float64(d.Microseconds())/1000, 'f', 1, 64) }
	fmt.Printf("| %d | %s | %.2f | %.2f | %.2f | %.0f | %.1f | %s | %s | %s | %d | %s | %s | %s |\n",
		r.seats, r.kind, r.processes, r.console, r.tmux, r.bytes, r.memory, ms(r.paint), ms(r.keyMedian), ms(r.keyP95), r.keyBytes,
		ms(r.version), ms(r.status), ms(r.ps))
	fmt.Fprintf(os.Stderr, "measure: seats and supervisors used %.2f %% of a core; %d of %d keys drew nothing\n", r.supervisors, r.missed, r.keys)
}

// quantile is the q-th quantile of times, which it sorts.
func quantile(times []time.Duration, q float64) time.Duration {
	slices.Sort(times)
	return times[min(int(float64(len(times))*q), len(times)-1)]
}

// tick is the unit of the processor times in /proc: Linux reports hundredths of a second on every platform that we run on.
const tick = 10 * time.Millisecond

// usage is a look at all processes of the namespace.
type usage struct {
	last int                   // the newest process id: ids are given out in order
	cpu  map[int]time.Duration // processor time by process id, ended children included
}

// sample looks at /proc.
func sample() (usage, error) {
	u := usage{cpu: map[int]time.Duration{}}
	load, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return u, fmt.Errorf("count processes: %w", err)
	}
	fields := strings.Fields(string(load))
	if u.last, err = strconv.Atoi(fields[len(fields)-1]); err != nil {
		return u, fmt.Errorf("count processes: %w", err)
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return u, fmt.Errorf("list processes: %w", err)
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if stat, err := os.ReadFile("/proc/" + e.Name() + "/stat"); err == nil { // else it has just ended
			u.cpu[pid] = cpu(string(stat))
		}
	}
	return u, nil
}

// cpu is the processor time in a stat line: the process's own and that of its ended children. The program's name, in
// parentheses, may hold anything, so the fields are counted from behind it.
func cpu(stat string) time.Duration {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	const user, childSystem = 11, 14
	var ticks int64
	for _, field := range fields[min(user, len(fields)):min(childSystem+1, len(fields))] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0
		}
		ticks += n
	}
	return time.Duration(ticks) * tick
}

// resident is the resident memory of a process, in MB of a million bytes.
func resident(pid int) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("memory of the console: %w", err)
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, err := strconv.ParseFloat(strings.Fields(value)[0], 64)
			if err != nil {
				return 0, fmt.Errorf("memory of the console: %w", err)
			}
			return kb * 1024 / 1e6, nil
		}
	}
	return 0, fmt.Errorf("memory of the console: no VmRSS")
}
