package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// collect reads all lines and checks offsets and numbers on the way.
func collect(t *testing.T, r io.Reader, o Options) ([]string, error) {
	t.Helper()
	lr := newLineReader(r, o)
	var got []string
	for no := 1; ; no++ {
		l, ok := lr.next()
		if !ok {
			return got, lr.failure()
		}
		if l.no != no {
			t.Fatalf("line %d came as %d", no, l.no)
		}
		got = append(got, string(l.data))
	}
}

func TestLinesOfEveryLength(t *testing.T) {
	sizes := []int{0, 1, startBuffer - 1, startBuffer, startBuffer + 1, 2 * startBuffer, longLine - 1, 3}
	var src strings.Builder
	var want []string
	for i, n := range sizes {
		s := strings.Repeat(string(rune('a'+i)), n)
		want = append(want, s)
		src.WriteString(s + "\n")
	}
	for name, r := range map[string]io.Reader{
		"whole": strings.NewReader(src.String()),
		"half":  iotest.HalfReader(strings.NewReader(src.String())),
		"eof":   iotest.DataErrReader(strings.NewReader(src.String())),
	} {
		got, err := collect(t, r, Options{})
		if err != nil || len(got) != len(want) {
			t.Fatalf("%s: %d lines, %v", name, len(got), err)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s: line %d has %d bytes, want %d", name, i+1, len(got[i]), len(want[i]))
			}
		}
	}
}

func TestLinesByteByByte(t *testing.T) {
	got, err := collect(t, iotest.OneByteReader(strings.NewReader("a\n\nbc\nd")), Options{})
	if err != nil || strings.Join(got, "|") != "a||bc|d" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestLinesReportReadErrors(t *testing.T) {
	broken := errors.New("disk on fire")
	got, err := collect(t, io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)), Options{})
	if !errors.Is(err, broken) || len(got) != 2 {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := collect(t, stuck{}, Options{}); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("a reader without progress: %v", err)
	}
}

// stuck never returns anything, not even an error.
type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

// hugeRecord is a user record with text of the given raw content before an
// image of n bytes.
func hugeRecord(rawText string, n int) string {
	return `{"type":"user","uuid":"u","message":{"role":"user","content":[{"type":"text","text":"` + rawText +
		`"},{"type":"image","source":{"data":"` + strings.Repeat("A", n) + `"}}]}}`
}

func TestLongLinesAreShortenedNotLost(t *testing.T) {
	src := hugeRecord("look", 6<<20) + "\n" + `{"type":"user","uuid":"v","message":{"content":"next"}}` + "\n"
	msgs, sum := claudeString(t, src, Options{})
	wantLines(t, msgs, "operator: look", "operator: next")
	if sum.Shortened != 1 || sum.LeftOutBytes < 5<<20 || sum.Bytes != int64(len(src)) {
		t.Errorf("summary %+v", sum)
	}
	if msgs[1].Line != 2 || msgs[1].Offset != int64(strings.Index(src, "\n")+1) {
		t.Errorf("line %d offset %d", msgs[1].Line, msgs[1].Offset)
	}
}

func TestLongTextIsCutAtABlank(t *testing.T) {
	secret := "ghp_EXAMPLEexample0000EXAMPLEexample0000"
	const keep = 64 << 10
	for shift := range len(secret) + 2 {
		filler := strings.Repeat("word ", (keep-shift)/5-1)
		filler += strings.Repeat("x", keep-shift-len(filler)-1) + " "
		msgs, _ := claudeString(t, hugeRecord(filler+secret+strings.Repeat(" tail", 100), longLine)+"\n", Options{MaxString: keep})
		if len(msgs) != 1 {
			t.Fatalf("shift %d: %d messages", shift, len(msgs))
		}
		tail := msgs[0].Text[len(msgs[0].Text)-100:]
		if !strings.Contains(tail, "bytes left out]") {
			t.Fatalf("shift %d: no note in %q", shift, tail)
		}
		if strings.Contains(tail, "ghp_") && !strings.Contains(tail, secret) {
			t.Fatalf("shift %d: half a secret survived: %q", shift, tail)
		}
	}
}

func TestCutNeverSplitsAnEscape(t *testing.T) {
	for _, unit := range []string{`\\`, `\"`, `\n`, `é`, `\ud83d\ude00`, `\\\"`, "設", "😀"} {
		for shift := range 13 {
			raw := strings.Repeat("a", shift) + strings.Repeat(unit, 100<<10/len(unit))
			o := Options{MaxString: 32 << 10}
			msgs, sum := claudeString(t, hugeRecord(raw, longLine)+"\n", o)
			if len(msgs) != 1 || sum.SkippedTotal != 0 {
				t.Fatalf("%s shifted by %d: %d messages, skipped %+v", unit, shift, len(msgs), sum.Skipped)
			}
			body, _, found := strings.Cut(msgs[0].Text, "[")
			if !found || strings.Contains(body, `\u`) || strings.Contains(body, "\uFFFD") {
				t.Fatalf("%s shifted by %d ends in %q", unit, shift, msgs[0].Text[max(len(msgs[0].Text)-60, 0):])
			}
		}
	}
}

func TestLineCeilingSkipsThatLineOnly(t *testing.T) {
	wide := `{"type":"user","uuid":"w","message":{"content":["` + strings.Repeat(`x","`, 3<<20) + `"]}}`
	src := `{"type":"user","uuid":"a","message":{"content":"one"}}` + "\n" + wide + "\n" + `{"type":"user","uuid":"b","message":{"content":"two"}}` + "\n"
	msgs, sum := claudeString(t, src, Options{MaxLine: 8 << 20})
	wantLines(t, msgs, "operator: one", "operator: two")
	if sum.SkippedTotal != 1 || sum.Skipped[0].Line != 2 || !strings.Contains(sum.Skipped[0].Reason, "line limit") {
		t.Errorf("skipped %+v", sum.Skipped)
	}
}

func TestShortenedLineIsStillJSON(t *testing.T) {
	src := hugeRecord(strings.Repeat(`a\"b\\`, 1<<20), 3<<20)
	for _, r := range []io.Reader{strings.NewReader(src), iotest.HalfReader(strings.NewReader(src))} {
		lr := newLineReader(r, Options{})
		l, ok := lr.next()
		if !ok || !json.Valid(l.data) || len(l.data) > 3<<20 {
			t.Errorf("valid %v, %d bytes", json.Valid(l.data), len(l.data))
		}
		if l.leftOut+int64(len(l.data)) < int64(len(src)) {
			t.Errorf("kept %d, left out %d of %d", len(l.data), l.leftOut, len(src))
		}
	}
}

func TestBackwardIsTheReverseOfForward(t *testing.T) {
	parts := []string{"", "a", strings.Repeat("b", tailBlock), "c", strings.Repeat("d", 3*tailBlock+7), "", "e", strings.Repeat("f", tailWhole+9), "g"}
	for _, end := range []string{"", "\n"} {
		src := strings.Join(parts, "\n") + end
		var forward, offsets []string
		lr := newLineReader(strings.NewReader(src), Options{})
		for {
			l, ok := lr.next()
			if !ok {
				break
			}
			if len(l.data) > 0 {
				forward = append(forward, string(l.data))
				offsets = append(offsets, src[l.off:l.off+1])
			}
		}
		b := newBackward(bytes.NewReader([]byte(src)), int64(len(src)))
		at := len(forward)
		complete, err := b.walk(func(l line) bool {
			at--
			if string(l.data) != forward[at] || src[l.off:l.off+1] != offsets[at] {
				t.Fatalf("line %d differs: %d bytes at %d", at, len(l.data), l.off)
			}
			if l.ended != (at < len(forward)-1 || end == "\n") {
				t.Errorf("line %d ended = %v", at, l.ended)
			}
			return true
		})
		if err != nil || !complete || at != 0 {
			t.Errorf("complete %v, %d lines missing, %v", complete, at, err)
		}
	}
}

func TestBackwardStopsAtItsBudget(t *testing.T) {
	src := strings.Repeat(strings.Repeat("x", 99)+"\n", 200_000)
	b := newBackward(strings.NewReader(src), int64(len(src)))
	b.budget = 1 << 20
	n := 0
	complete, err := b.walk(func(line) bool { n++; return true })
	if err != nil || complete || b.scanned > 2<<20 || n < 10_000 || n > 21_000 {
		t.Errorf("complete %v scanned %d lines %d, %v", complete, b.scanned, n, err)
	}
}
