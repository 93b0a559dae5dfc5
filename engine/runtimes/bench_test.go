package runtimes

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rig/engine"
)

func BenchmarkHookBody(b *testing.B) {
	f := NewFiles(b.TempDir(), self(b), self(b))
	if _, err := f.WriteLaunch("S1", launchFile()); err != nil {
		b.Fatal(err)
	}
	env := []string{SpoolEnv + "=" + f.SpoolDir("S1")}
	row, _, _ := strings.Cut(readFile(b, filepath.Join(fixtures, "claude-hooks-stdin.jsonl")), "\n")
	for b.Loop() {
		Hook(strings.NewReader(row), nil, env, []string{"Stop"}, nil)
	}
}

func BenchmarkStatusLineBody(b *testing.B) {
	f := NewFiles(b.TempDir(), self(b), self(b))
	if _, err := f.WriteLaunch("S1", launchFile()); err != nil {
		b.Fatal(err)
	}
	env := []string{SpoolEnv + "=" + f.SpoolDir("S1"), "HOME=" + b.TempDir()}
	report := readFile(b, filepath.Join(fixtures, "claude-statusline-full-45pct.json"))
	var out strings.Builder
	for b.Loop() {
		StatusLine(strings.NewReader(report), &out, env)
	}
}

// What one round over seats costs in which nothing has changed, per seat.
func BenchmarkUnchangedClaudeSeats(b *testing.B) {
	const seats = 40
	home := b.TempDir()
	files := NewFiles(filepath.Join(home, "rig"), self(b), self(b))
	rt := NewClaude(Config{})
	var probes []engine.Probe
	for i := range seats {
		p := claudeProbe(b, home)
		id := fmt.Sprintf("11111111-1111-4111-8111-%012d", i)
		p.Session.ID, p.Session.Token = fmt.Sprintf("S%d", i), engine.NewResumeToken(id)
		registryFile(b, p.Session.Homes.ClaudeDir, "claude-session-registry-idle.json", p.Run.PID, p.Run.PIDStart, id)
		path := filepath.Join(p.Session.Homes.ClaudeDir, "projects", "-home-op-project", id+".jsonl")
		write(b, path, readFile(b, filepath.Join(fixtures, "claude-transcript.jsonl")))
		if _, err := files.WriteLaunch(p.Session.ID, launchFile()); err != nil {
			b.Fatal(err)
		}
		if err := spoolEvent(files.SpoolDir(p.Session.ID), "Stop", []byte(`{"session_id":"`+id+`"}`), time.Now()); err != nil {
			b.Fatal(err)
		}
		probes = append(probes, p)
	}
	round := func() {
		for i := range probes {
			s, err := files.Signals(probes[i].Session.ID)
			if err != nil {
				b.Fatal(err)
			}
			probes[i].Signals = s
			if a := rt.Activity(b.Context(), probes[i]); a.State != engine.ActivityIdle {
				b.Fatalf("%+v", a)
			}
			rt.Usage(b.Context(), probes[i])
		}
	}
	round()
	until(b, "the files are old enough to be trusted", func() bool { return time.Since(probes[0].Now) > 2*settle })
	round()
	b.ReportAllocs()
	for b.Loop() {
		round()
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/seats, "µs/seat")
}

func BenchmarkScreens(b *testing.B) {
	claude, codex := pane(b, fixtures, "claude-pane-busy.txt"), pane(b, fixtures, "codex-pane-busy.txt")
	for b.Loop() {
		readClaude(claude)
		readCodex(codex)
	}
}
