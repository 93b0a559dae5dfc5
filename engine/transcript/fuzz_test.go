package transcript

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

// seed adds the case files of one kind, cut to a size that fuzzes well.
func seed(f *testing.F, pattern string) {
	f.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds at %s: %v", pattern, err)
	}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw[:min(len(raw), 8<<10)])
	}
}

// checkRead reads b in every way there is and checks what must hold for any
// input: no panic, counts that add up, clean text, the end agreeing with the
// stream on what can be compared.
func checkRead(t *testing.T, b []byte, rt Runtime) {
	o := Options{Tools: true, Injected: true, MaxLine: 64 << 10, MaxString: 4 << 10}
	kept := 0
	sum, err := Read(bytes.NewReader(b), rt, o, func(m Message) {
		if !utf8.ValidString(m.Text) || strings.ContainsAny(m.Text, "\x00\r") {
			t.Errorf("unclean text %q", m.Text)
		}
		if m.Line < 1 || m.Offset < 0 || m.Offset > int64(len(b)) {
			t.Errorf("line %d offset %d", m.Line, m.Offset)
		}
		if m.Role != RoleTool && m.Role != RoleInjected {
			kept++
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if kept != sum.Messages || sum.Bytes != int64(len(b)) || sum.SkippedTotal > sum.Lines {
		t.Errorf("kept %d of %d, %d bytes of %d, skipped %d of %d lines",
			kept, sum.Messages, sum.Bytes, len(b), sum.SkippedTotal, sum.Lines)
	}
	slow, err := Read(iotest.HalfReader(bytes.NewReader(b)), rt, o, nil)
	if err != nil || slow.Records != sum.Records || slow.Messages != sum.Messages || slow.SkippedTotal != sum.SkippedTotal {
		t.Errorf("in pieces: %+v, %v", slow, err)
	}
	rc, err := RecentFrom(bytes.NewReader(b), int64(len(b)), rt)
	if err != nil {
		t.Fatal(err)
	}
	if rc.Complete && rt == RuntimeClaude && sum.Shortened == 0 && sum.Omitted.Duplicates == 0 && sum.SkippedTotal == 0 && rc.Turn.State != sum.Turn.State {
		t.Errorf("turn %+v from the end, %+v in the stream", rc.Turn, sum.Turn)
	}
}

func FuzzClaude(f *testing.F) {
	seed(f, casePath("B*.jsonl"))
	seed(f, fixture("claude-*.jsonl"))
	f.Fuzz(func(t *testing.T, b []byte) { checkRead(t, b, RuntimeClaude) })
}

func FuzzCodex(f *testing.F) {
	seed(f, casePath("B*.jsonl"))
	seed(f, fixture("codex-rollout*.jsonl"))
	f.Fuzz(func(t *testing.T, b []byte) { checkRead(t, b, RuntimeCodex) })
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("a\n\nb\r\nc"), uint16(3))
	f.Add([]byte(`{"k":"aaaaaaaaaaaaaaaaaaaaa\\\"é\ud83d\ude00"}`+"\n"), uint16(0))
	f.Fuzz(func(t *testing.T, b []byte, block uint16) {
		var want [][]byte
		for _, l := range bytes.SplitAfter(b, []byte("\n")) {
			if len(l) > 0 {
				want = append(want, bytes.TrimSuffix(l, []byte("\n")))
			}
		}
		lr := newLineReader(&blocks{b: b, n: int(block)%97 + 1}, Options{})
		var off int64
		for i := 0; ; i++ {
			l, ok := lr.next()
			if !ok {
				if i != len(want) || lr.failure() != nil {
					t.Fatalf("%d lines of %d, %v", i, len(want), lr.failure())
				}
				break
			}
			if !bytes.Equal(l.data, want[i]) || l.off != off {
				t.Fatalf("line %d at %d: %q, want %q at %d", i, l.off, l.data, want[i], off)
			}
			off += int64(len(l.data)) + 1
		}
		// The shortener on the first line: valid JSON stays valid and bounded.
		if len(want) == 0 {
			return
		}
		s := shortener{keep: int(block) % 50, limit: 1 << 20}
		for rest := want[0]; len(rest) > 0; {
			n := min(len(rest), int(block)%7+1)
			s.feed(rest[:n])
			rest = rest[n:]
		}
		out, left, over := s.finish()
		if json.Valid(want[0]) && (!json.Valid(out) || over) {
			t.Fatalf("%q became %q", want[0], out)
		}
		if left < 0 || left == 0 && !bytes.Equal(out, want[0]) {
			t.Fatalf("%q became %q without a note (%d)", want[0], out, left)
		}
	})
}

// blocks hands out n bytes at a time.
type blocks struct {
	b []byte
	n int
}

func (r *blocks) Read(p []byte) (int, error) {
	n := copy(p[:min(len(p), r.n)], r.b)
	r.b = r.b[n:]
	if n == 0 {
		return 0, errEnd
	}
	return n, nil
}

// FuzzScan compares the scanner with the standard library: what is JSON there
// must be read here, with the same strings.
func FuzzScan(f *testing.F) {
	for _, s := range []string{`{"a":"b"}`, `{"a":{"b":[1,{"c":"\u00e9\ud83d\ude00\\"}]},"d":null}`, `{"a":`, `{}`, ` { "x" : -1.5E+3 } `} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		end := skipValue(b, skipSpace(b, 0))
		var v map[string]any
		if !utf8.Valid(b) || json.Unmarshal(b, &v) != nil || v == nil || depth(b) >= maxDepth {
			return
		}
		if end < 0 {
			t.Fatalf("%q is JSON", b)
		}
		var scratch []byte
		got := map[string]any{}
		c := objectCursor(b)
		for c.member() {
			key := text(append(append([]byte{'"'}, c.key...), '"'), &scratch)
			raw := c.value()
			if isString(raw) {
				got[key] = text(raw, &scratch)
			} else {
				got[key] = raw
			}
		}
		if c.bad {
			t.Fatalf("%q: damaged", b)
		}
		for key, want := range v {
			s, ok := want.(string)
			if !ok || strings.ContainsAny(key+s, "\x00\r\n") {
				continue
			}
			if have, ok := got[key]; !ok || have != s {
				t.Fatalf("%q: member %q is %q, want %q", b, key, have, s)
			}
		}
	})
}

func depth(b []byte) int { return bytes.Count(b, []byte("{")) + bytes.Count(b, []byte("[")) }

func FuzzPathsInText(f *testing.F) {
	f.Add("see /home/op/project/a.go:12, src/main.go and https://x.example/y.html")
	f.Fuzz(func(t *testing.T, s string) {
		PathsInText(s, func(p string) {
			if len(p) < minPath || len(p) > maxPath || !strings.Contains(s, p) || strings.ContainsAny(p, " \n\x00\"'`") {
				t.Fatalf("%q from %q", p, s)
			}
		})
	})
}
