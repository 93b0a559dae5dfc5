package transcript

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// said is one plain user record.
func said(id, text string) string {
	return `{"parentUuid":null,"type":"user","uuid":"` + id + `","sessionId":"s","message":{"role":"user","content":"` + text + `"}}`
}

func TestDamageAnywhere(t *testing.T) {
	tests := map[string]struct {
		src     string
		want    []string
		skipped int
	}{
		"first line cut":       {said("a", "one")[9:] + "\n" + said("b", "two") + "\n", []string{"operator: two"}, 1},
		"middle line cut":      {said("a", "one") + "\n" + said("b", "two")[:40] + "\n" + said("c", "three") + "\n", []string{"operator: one", "operator: three"}, 1},
		"nul block":            {said("a", "one") + "\n" + strings.Repeat("\x00", 4096) + "\n" + said("b", "two") + "\n", []string{"operator: one", "operator: two"}, 1},
		"nuls before a record": {said("a", "one") + "\n" + strings.Repeat("\x00", 512) + said("b", "two") + "\n", []string{"operator: one", "operator: two"}, 0},
		"nul inside":           {said("a", "o\x00ne") + "\n", []string{"operator: one"}, 0},
		"two on one line":      {said("a", "one") + said("b", "two") + "\n", []string{"operator: one", "operator: two"}, 0},
		"torn then whole":      {said("a", "one") + "\n" + said("b", "two")[:60] + said("c", "three") + "\n", []string{"operator: one", "operator: three"}, 1},
		"torn at the end":      {said("a", "one") + said("b", "two")[:60], []string{"operator: one"}, 1},
		"blank lines":          {"\n\n  \n" + said("a", "one") + "\n\t\n", []string{"operator: one"}, 0},
		"not objects":          {"[1]\n\"x\"\n17\nnull\n" + said("a", "one") + "\n", []string{"operator: one"}, 4},
		"not JSON":             {"%PDF-1.4\n" + said("a", "one") + "\n", []string{"operator: one"}, 1},
		"lone CR ends":         {said("a", "one") + "\r\r\n" + said("b", "t\\r\\nwo") + "\r\n", []string{"operator: one", "operator: t\nwo"}, 0},
		"bad UTF-8":            {said("a", "o\xffne") + "\n", []string{"operator: o\uFFFDne"}, 0},
		"half a surrogate":     {said("a", `\ud83d!`) + "\n", []string{"operator: \uFFFD!"}, 0},
		"unknown escape":       {said("a", `\q\u12`) + "\n", []string{`operator: \q\u12`}, 0},
		"no closing newline":   {said("a", "one"), []string{"operator: one"}, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			msgs, sum := claudeString(t, tt.src, Options{})
			wantLines(t, msgs, tt.want...)
			if sum.SkippedTotal != tt.skipped || len(sum.Skipped) != tt.skipped {
				t.Errorf("skipped %+v (%d)", sum.Skipped, sum.SkippedTotal)
			}
		})
	}
}

func TestSkipListIsBounded(t *testing.T) {
	_, sum := claudeString(t, strings.Repeat("broken\n", 10_000), Options{})
	if sum.SkippedTotal != 10_000 || len(sum.Skipped) != MaxSkips || sum.Skipped[MaxSkips-1].Line != MaxSkips {
		t.Errorf("total %d listed %d", sum.SkippedTotal, len(sum.Skipped))
	}
	var src strings.Builder
	for i := range 200 {
		fmt.Fprintf(&src, `{"type":"system","subtype":"compact_boundary","uuid":"%d","compactMetadata":{"preTokens":%d}}`+"\n", i, i)
	}
	_, sum = claudeString(t, src.String(), Options{})
	if sum.CompactionsTotal != 200 || len(sum.Compactions) != MaxCompactions || sum.Compactions[MaxCompactions-1].PreTokens != 199 {
		t.Errorf("compactions %d listed %d", sum.CompactionsTotal, len(sum.Compactions))
	}
}

func TestOddTypesNeverLoseALine(t *testing.T) {
	odd := []string{`null`, `true`, `17`, `-1.5e300`, `"text"`, `[]`, `{}`, `[[["deep"]]]`, `{"type":{"a":1}}`, `[null,7,{"text":5}]`}
	for _, key := range []string{"uuid", "sessionId", "cwd", "timestamp", "isSidechain", "isMeta", "origin", "promptSource", "version", "error", "quotaLimits"} {
		for _, v := range odd {
			if key == "isSidechain" && v == "true" || key == "isMeta" && v == "true" || key == "promptSource" {
				continue
			}
			src := `{"type":"user","` + key + `":` + v + `,"message":{"role":"user","content":"kept"}}` + "\n"
			msgs, sum := claudeString(t, src, Options{})
			if len(msgs) != 1 || msgs[0].Text != "kept" || sum.SkippedTotal != 0 {
				t.Errorf("%s = %s: %v %+v", key, v, msgs, sum.Skipped)
			}
		}
	}
	for _, v := range odd {
		for _, src := range []string{
			`{"type":"user","message":` + v + `}`,
			`{"type":"assistant","message":{"content":` + v + `,"usage":` + v + `,"model":` + v + `}}`,
			`{"type":"attachment","attachment":` + v + `}`,
			`{"type":"system","subtype":"compact_boundary","compactMetadata":` + v + `}`,
		} {
			if _, sum := claudeString(t, src+"\n", Options{Tools: true, Injected: true}); sum.SkippedTotal != 0 || sum.Records != 1 {
				t.Errorf("%s: %+v", src, sum.Skipped)
			}
		}
		for _, kind := range []string{"session_meta", "turn_context", "response_item", "event_msg", "compacted", "new_thing"} {
			src := `{"type":"` + kind + `","payload":` + v + `,"timestamp":` + v + `}`
			if _, sum := codexString(t, src+"\n", Options{Tools: true, Injected: true}); sum.SkippedTotal != 0 || sum.Records != 1 {
				t.Errorf("%s: %+v", src, sum.Skipped)
			}
		}
	}
}

func TestDeepNestingIsRefusedWithoutHarm(t *testing.T) {
	deep := `{"type":"user","x":` + strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20) + `}`
	msgs, sum := claudeString(t, deep+"\n"+said("a", "one")+"\n", Options{})
	wantLines(t, msgs, "operator: one")
	if sum.SkippedTotal != 1 {
		t.Errorf("skipped %+v", sum.Skipped)
	}
}

func TestReadFileRefusals(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "pipe.jsonl")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{fifo, dir, filepath.Join(dir, "missing.jsonl")} {
		if _, err := ReadFile(path, RuntimeClaude, Options{}, nil); err == nil {
			t.Errorf("%s was read", path)
		}
		if _, err := ReadRecent(path, RuntimeClaude); err == nil {
			t.Errorf("%s was read from its end", path)
		}
	}
	path := writeFile(t, dir, "t.jsonl", said("a", "one")+"\n")
	if _, err := ReadFile(path, "terminal", Options{}, nil); err == nil {
		t.Error("a terminal has no transcript")
	}
}

func TestReadFromFollowsAGrowingFile(t *testing.T) {
	path := writeFile(t, t.TempDir(), "t.jsonl", said("a", "one")+"\n"+said("b", "two")[:30])
	var got []Message
	read := func(from int64) int64 {
		got = nil
		_, next, err := ReadFrom(path, RuntimeClaude, from, Options{}, func(m Message) { got = append(got, m) })
		if err != nil {
			t.Fatal(err)
		}
		return next
	}
	next := read(0)
	wantLines(t, got, "operator: one")
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(said("b", "two")[30:] + "\n" + said("c", "three") + "\n"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	next = read(next)
	wantLines(t, got, "operator: two", "operator: three")
	if again := read(next); again != next || len(got) != 0 {
		t.Errorf("nothing new, but %d messages up to %d", len(got), again)
	}
	read(3) // in the middle of the first record: the next whole one counts
	wantLines(t, got, "operator: two", "operator: three")
	if err := os.Truncate(path, 10); err != nil {
		t.Fatal(err)
	}
	if next = read(next); next != 0 {
		t.Errorf("a shorter file must be read anew, got offset %d", next)
	}
}
