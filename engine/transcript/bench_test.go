package transcript

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"rig/engine/transcript/synth"
)

// synthetic makes one large file per kind and test run.
func synthetic(b *testing.B, rt Runtime, size int64) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), string(rt)+".jsonl")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	c := synth.Config{Seed: 1, Bytes: size, Secrets: true}
	if size >= 100_000_000 {
		c.LongLine = 20_000_000
	}
	write := synth.Claude
	if rt == RuntimeCodex {
		write = synth.Codex
	}
	if _, err := write(f, c); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	return path
}

// peak reports the memory the process got from the system, in MB: an upper
// bound of what the benchmark needed at any moment.
func peak(b *testing.B) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.Sys)/1e6, "sys-MB")
}

func benchRead(b *testing.B, rt Runtime, size int64) {
	path := synthetic(b, rt, size)
	b.SetBytes(size)
	b.ResetTimer()
	for b.Loop() {
		chars := 0
		sum, err := ReadFile(path, rt, Options{Tools: true}, func(m Message) { chars += len(m.Text) })
		if err != nil || sum.SkippedTotal != 0 || chars == 0 {
			b.Fatalf("%d characters, skipped %+v, %v", chars, sum.Skipped, err)
		}
	}
	peak(b)
}

func BenchmarkClaude100MB(b *testing.B) { benchRead(b, RuntimeClaude, 100_000_000) }

func BenchmarkClaude1GB(b *testing.B) { benchRead(b, RuntimeClaude, 1_000_000_000) }

func BenchmarkCodex100MB(b *testing.B) { benchRead(b, RuntimeCodex, 100_000_000) }

func BenchmarkLines100MB(b *testing.B) {
	path := synthetic(b, RuntimeClaude, 100_000_000)
	b.SetBytes(100_000_000)
	for b.Loop() {
		f, err := os.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		lr := newLineReader(f, Options{})
		for _, ok := lr.next(); ok; _, ok = lr.next() {
		}
		_ = f.Close()
	}
}

func BenchmarkRecent(b *testing.B) {
	for name, size := range map[string]int64{"1MB": 1_000_000, "100MB": 100_000_000} {
		b.Run(name, func(b *testing.B) {
			path := synthetic(b, RuntimeClaude, size)
			for b.Loop() {
				if rc, err := ReadRecent(path, RuntimeClaude); err != nil || rc.Usage == nil {
					b.Fatalf("%+v, %v", rc.Usage, err)
				}
			}
		})
	}
}

func BenchmarkLastMessages(b *testing.B) {
	path := synthetic(b, RuntimeClaude, 100_000_000)
	for b.Loop() {
		if msgs, _, err := LastMessages(path, RuntimeClaude, 120, Options{}); err != nil || len(msgs) != 120 {
			b.Fatalf("%d messages, %v", len(msgs), err)
		}
	}
}

// The generator's facts are what the reader must find, with the long line in
// the middle and secrets across every buffer edge.
func TestSyntheticFactsAreFound(t *testing.T) {
	for rt, write := range map[Runtime]func(io.Writer, synth.Config) (synth.Facts, error){
		RuntimeClaude: synth.Claude, RuntimeCodex: synth.Codex,
	} {
		r, w := io.Pipe()
		done := make(chan struct{})
		var facts synth.Facts
		var once sync.Once
		go func() {
			defer close(done)
			buf := bufio.NewWriter(w)
			var err error
			facts, err = write(buf, synth.Config{Seed: 7, Bytes: 24_000_000, LongLine: 20_000_000, Secrets: true})
			if err == nil {
				err = buf.Flush()
			}
			once.Do(func() { _ = w.CloseWithError(err) })
		}()
		roles := map[Role]int{}
		found := map[string]int{}
		sum, err := Read(r, rt, Options{Tools: true}, func(m Message) {
			roles[m.Role]++
			for _, s := range synthSecrets(m.Text) {
				found[s]++
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		<-done
		if sum.SkippedTotal != 0 || sum.Records != facts.Records || sum.Shortened != 1 {
			t.Errorf("%s: records %d of %d, skipped %+v, shortened %d", rt, sum.Records, facts.Records, sum.Skipped, sum.Shortened)
		}
		if roles[RoleOperator] != facts.Operator || roles[RoleAssistant] != facts.Assistant || roles[RoleTool] != facts.ToolCalls {
			t.Errorf("%s: roles %v, want %+v", rt, roles, facts)
		}
		if sum.Omitted.ToolResults != facts.ToolResults {
			t.Errorf("%s: %d tool results, want %d", rt, sum.Omitted.ToolResults, facts.ToolResults)
		}
		want := map[string]int{}
		for _, s := range facts.Planted {
			want[s]++
		}
		for s, n := range want {
			if found[s] != n {
				t.Errorf("%s: secret %.12s… found %d times whole, planted %d times", rt, s, found[s], n)
			}
		}
		if len(facts.Planted) == 0 {
			t.Errorf("%s: nothing was planted", rt)
		}
	}
}
