package runtimes

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"rig/engine"
)

// large makes a conversation file of a size that begins and ends as a fixture
// does; what lies between is a hole, which takes no room on disk.
func large(t testing.TB, path, fixture string, size int64) {
	t.Helper()
	text := readFile(t, filepath.Join(fixtures, fixture))
	write(t, path, text)
	f, err := os.OpenFile(path, os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	tail := "\n" + strings.TrimSuffix(text, "\n") + "\n"
	if _, err := f.WriteAt([]byte(tail), size-int64(len(tail))); err != nil {
		t.Fatal(err)
	}
}

// readBytes is how many bytes this process has read so far.
func readBytes(t testing.TB) int64 {
	t.Helper()
	for _, l := range strings.Split(readFile(t, "/proc/self/io"), "\n") {
		if v, ok := strings.CutPrefix(l, "rchar: "); ok {
			n, err := strconv.ParseInt(v, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatal("the kernel does not say how much was read")
	return 0
}

// sampler gives a function that takes one sample of a large conversation, as a
// process that has just started does.
func sampler(t testing.TB, rt engine.RuntimeName, size int64) func() engine.Usage {
	t.Helper()
	const id = id1
	home := t.TempDir()
	var p engine.Probe
	if rt == engine.RuntimeCodex {
		p = codexProbe(t, home, rollout1)
		p.Session.Token = engine.NewResumeToken(thread)
		large(t, filepath.Join(p.Session.Homes.CodexDir, rollout1), "codex-rollout.jsonl", size)
	} else {
		p = claudeProbe(t, home)
		p.Session.Token = engine.NewResumeToken(id)
		large(t, filepath.Join(p.Session.Homes.ClaudeDir, "projects", "-home-op-project", id+".jsonl"), "claude-transcript.jsonl", size)
	}
	p.Started = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) // the fixtures are of that month
	p.Session.CreatedAt, p.Run.StartedAt = p.Started, p.Started
	cfg := testConfig(t)
	return func() engine.Usage {
		if rt == engine.RuntimeCodex {
			return NewCodex(cfg).Usage(t.Context(), p)
		}
		return NewClaude(cfg).Usage(t.Context(), p)
	}
}

// A sample of a conversation of 1 GB reads no more bytes than one of 4 MB: only
// the end counts.
func TestSamplingReadsOnlyTheEnd(t *testing.T) {
	for _, rt := range []engine.RuntimeName{engine.RuntimeClaude, engine.RuntimeCodex} {
		cost := func(size int64) (read int64) {
			sample := sampler(t, rt, size)
			before := readBytes(t)
			u := sample()
			read = readBytes(t) - before
			if !u.Known || u.Tokens == 0 {
				t.Fatalf("%s of %d bytes: %+v", rt, size, u)
			}
			return read
		}
		small, big := cost(4<<20), cost(1<<30)
		t.Logf("%s: %d bytes read of 4 MB, %d of 1 GB", rt, small, big)
		if big > small+64<<10 || big > 2<<20 {
			t.Errorf("%s: %d bytes read of 4 MB, %d of 1 GB", rt, small, big)
		}
	}
}

func BenchmarkTailSample(b *testing.B) {
	for _, rt := range []engine.RuntimeName{engine.RuntimeClaude, engine.RuntimeCodex} {
		for _, size := range []int64{4 << 20, 64 << 20, 1 << 30} {
			b.Run(fmt.Sprintf("%s/%dMB", rt, size>>20), func(b *testing.B) {
				sample := sampler(b, rt, size)
				for b.Loop() {
					if u := sample(); !u.Known {
						b.Fatalf("%+v", u)
					}
				}
			})
		}
	}
}
