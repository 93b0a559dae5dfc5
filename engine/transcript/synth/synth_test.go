package synth

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"
)

func TestSameSeedSameBytesAndValidLines(t *testing.T) {
	for name, write := range map[string]func(io.Writer, Config) (Facts, error){"claude": Claude, "codex": Codex} {
		make := func(seed uint64) ([]byte, Facts) {
			var b bytes.Buffer
			facts, err := write(&b, Config{Seed: seed, Bytes: 1_000_000, LongLine: 300_000, Secrets: true})
			if err != nil {
				t.Fatal(err)
			}
			return b.Bytes(), facts
		}
		one, facts := make(1)
		again, _ := make(1)
		other, _ := make(2)
		if !bytes.Equal(one, again) || bytes.Equal(one, other) {
			t.Errorf("%s: the seed does not decide the content", name)
		}
		lines, longest := bytes.Split(bytes.TrimSuffix(one, []byte("\n")), []byte("\n")), 0
		for _, l := range lines {
			longest = max(longest, len(l))
			if !json.Valid(l) {
				t.Fatalf("%s: not JSON: %.200s", name, l)
			}
		}
		if len(lines) != facts.Records || longest < 300_000 || len(facts.Planted) == 0 {
			t.Errorf("%s: %d lines of %d, longest %d, planted %d", name, len(lines), facts.Records, longest, len(facts.Planted))
		}
		crossing := 0
		for _, s := range facts.Planted {
			for at := bytes.Index(one, []byte(s)); at >= 0; {
				if at/Edge != (at+len(s)-1)/Edge {
					crossing++
				}
				next := bytes.Index(one[at+1:], []byte(s))
				if next < 0 {
					break
				}
				at += 1 + next
			}
		}
		if crossing < len(facts.Planted)/2 {
			t.Errorf("%s: only %d finds of %d planted secrets lie across an edge", name, crossing, len(facts.Planted))
		}
	}
}
