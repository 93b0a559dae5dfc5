package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkHandover is one `rig handover` of a seat by the shipped program, start
// to end, with a client that starts in a millisecond. A handover cannot be faster
// than its successor starts; ms/start is that time, ms/beyond-start what rig adds.
func BenchmarkHandover(b *testing.B) {
	bin := buildRig(b)
	for _, source := range []string{"fresh", "fork:dev.impl", "rebuild"} {
		mode, _, _ := strings.Cut(source, ":")
		b.Run(mode, func(b *testing.B) {
			w := newWorld(b)
			w.ships(bin)
			w.must("up", w.spec("bench", "impl:claude-code"))
			w.must("send", "dev.impl", "remember the codeword is HERON", "--verify")
			w.must("wait", "dev.impl", "--until", "idle")
			start := w.clientStart(b, bin)
			var spent time.Duration
			n := 0
			for b.Loop() {
				began := time.Now()
				cmd := exec.CommandContext(context.Background(), bin, "handover", "dev.impl", "--source", source, "--reason", "bench", "--json")
				cmd.Env, cmd.Dir = w.env, w.project
				if out, err := cmd.CombinedOutput(); err != nil {
					b.Fatalf("%v\n%s", err, out)
				}
				spent += time.Since(began)
				n++
				// A fork writes its own file only when somebody speaks, and the next
				// handover needs a conversation at rest; neither is part of this one.
				b.StopTimer()
				w.must("wait", "dev.impl", "--until", "idle")
				w.must("send", "dev.impl", "go on", "--verify")
				w.must("wait", "dev.impl", "--until", "idle")
				b.StartTimer()
			}
			each := spent / time.Duration(n)
			b.ReportMetric(millis(each), "ms/handover")
			b.ReportMetric(millis(start), "ms/start")
			b.ReportMetric(millis(each-start), "ms/beyond-start")
		})
	}
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// clientStart starts the client alone in a pane a few times and gives the median
// time from the start of its process to its entry in its own registry, which is
// when rig can know it at the earliest.
func (w *world) clientStart(b *testing.B, bin string) time.Duration {
	b.Helper()
	const rounds = 3 // odd: the median is one of them
	var all [rounds]time.Duration
	for i := range rounds {
		stamp := filepath.Join(w.dir, "began-"+strconv.Itoa(i))
		script := fmt.Sprintf("date +%%s%%N > '%s'; exec '%s' claude", stamp, filepath.Join(filepath.Dir(bin), "agentsim"))
		pid := w.tmux("new-session", "-d", "-s", "alone-"+strconv.Itoa(i), "-x", "160", "-y", "48", "-P", "-F", "#{pane_pid}", "--", script)
		seen := w.appears(filepath.Join(w.home, ".claude", "sessions", pid+".json"))
		text, err := os.ReadFile(stamp)
		if err != nil {
			b.Fatal(err)
		}
		ns, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		all[i] = seen.Sub(time.Unix(0, ns))
		w.tmux("kill-session", "-t", "=alone-"+strconv.Itoa(i))
	}
	lo, hi := min(all[0], all[1]), max(all[0], all[1])
	return max(lo, min(hi, all[2]))
}

// appears waits for a file, looking every millisecond, and gives when it was seen.
func (w *world) appears(path string) time.Time {
	w.t.Helper()
	deadline := time.NewTimer(10 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Stat(path); err == nil {
			return time.Now()
		}
		select {
		case <-deadline.C:
			w.t.Fatalf("%s did not appear", path)
		case <-tick.C:
		}
	}
}
