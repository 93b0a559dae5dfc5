package packet

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"rig/engine/transcript/synth"
)

// benchWrite measures a packet with its full transcript, and reports the memory
// the process got from the system so far, in MB.
func benchWrite(b *testing.B, write func(f *os.File) (synth.Facts, error), size int64) {
	source := filepath.Join(b.TempDir(), "source.jsonl")
	f, err := os.Create(source)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := write(f); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	b.SetBytes(size)
	b.ResetTimer()
	n := 0
	for b.Loop() {
		n++
		q := Request{SourcePath: source, SourceRig: "shop", Target: filepath.Join(dir, "p"+strconv.Itoa(n)), Now: now}
		if _, err := Write(q); err != nil {
			b.Fatal(err)
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.Sys)/1e6, "sys-MB")
}

func claudeFile(size int64) func(*os.File) (synth.Facts, error) {
	return func(f *os.File) (synth.Facts, error) {
		return synth.Claude(f, synth.Config{Seed: 1, Bytes: size, LongLine: 20_000_000, Secrets: true})
	}
}

func BenchmarkWriteClaude100MB(b *testing.B) { benchWrite(b, claudeFile(100_000_000), 100_000_000) }

func BenchmarkWriteClaude1GB(b *testing.B) { benchWrite(b, claudeFile(1_000_000_000), 1_000_000_000) }

func BenchmarkWriteCodex100MB(b *testing.B) {
	benchWrite(b, func(f *os.File) (synth.Facts, error) {
		return synth.Codex(f, synth.Config{Seed: 1, Bytes: 100_000_000, LongLine: 20_000_000, Secrets: true})
	}, 100_000_000)
}

func BenchmarkValidate(b *testing.B) {
	source := filepath.Join(b.TempDir(), "source.jsonl")
	f, err := os.Create(source)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := claudeFile(100_000_000)(f); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	res, err := Write(Request{SourcePath: source, SourceRig: "shop", Target: filepath.Join(b.TempDir(), "p"), Now: now})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if r, err := Validate(res.Path); err != nil || !r.Valid || len(r.Errors) != 0 {
			b.Fatalf("%+v, %v", r, err)
		}
	}
}
