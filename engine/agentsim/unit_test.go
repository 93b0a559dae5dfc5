package agentsim

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"rig/engine"
)

func kinds(ks []key) string {
	var out []string
	for _, k := range ks {
		switch k.kind {
		case keyText:
			out = append(out, "text:"+k.text)
		case keyPaste:
			out = append(out, "paste:"+k.text)
		case keyCtrl:
			out = append(out, "ctrl-"+k.text)
		default:
			out = append(out, map[keyKind]string{keyEnter: "enter", keyNewline: "newline", keyEsc: "esc", keyUp: "up", keyDown: "down", keyBackTab: "backtab", keyTab: "tab"}[k.kind])
		}
	}
	return strings.Join(out, " ")
}

func TestDecoder(t *testing.T) {
	at := time.Unix(1000, 0)
	for _, c := range []struct {
		reads []string
		want  string
	}{
		{[]string{"hi\r"}, "text:hi enter"},
		{[]string{"a\nb"}, "text:a newline text:b"},
		{[]string{"\x1b"}, "esc"},
		{[]string{"\x1b[A\x1b[B\x1b[Z"}, "up down backtab"},
		{[]string{"\x1b[", "A"}, "up"},
		{[]string{"\x1b[200~one\rtwo\x1b[2", "01~x"}, "paste:one\ntwo text:x"},
		{[]string{"caf\xc3", "\xa9"}, "text:caf text:é"},
		{[]string{"\x03\x15"}, "ctrl-c ctrl-u"},
		{[]string{"\xff\xfe"}, ""},
		{[]string{"\x1bx"}, ""},
	} {
		var d decoder
		var all []key
		for _, r := range c.reads {
			all = append(all, d.feed([]byte(r), at)...)
		}
		if got := kinds(all); got != c.want {
			t.Errorf("%q: %s, want %s", c.reads, got, c.want)
		}
	}
}

func TestDecoderCountsBursts(t *testing.T) {
	var d decoder
	at := time.Unix(1000, 0)
	ks := d.feed([]byte(strings.Repeat("y", 90)+"\r"), at)
	if got := ks[len(ks)-1].burst; got != 90 {
		t.Errorf("in one read: %d", got)
	}
	d.feed([]byte("zz"), at.Add(time.Second))
	ks = d.feed([]byte("\r"), at.Add(time.Second+time.Millisecond))
	if got := ks[0].burst; got != 2 {
		t.Errorf("a millisecond later: %d", got)
	}
	ks = d.feed([]byte("\r"), at.Add(2*time.Second))
	if got := ks[0].burst; got != 0 {
		t.Errorf("a second later: %d", got)
	}
}

func TestEditor(t *testing.T) {
	var e editor
	e.insert("hello world")
	e.key(key{kind: keyCtrl, text: "w"})
	e.key(key{kind: keyHome})
	e.key(key{kind: keyDelete})
	e.key(key{kind: keyRight})
	e.key(key{kind: keyBackspace})
	if e.String() != "llo " {
		t.Errorf("%q", e.String())
	}
	e.clear()
	e.insert("see ")
	e.chip("[Pasted text #1]", "long\ntext")
	if got := e.expand(func(s string) string { return "<" + s + ">" }); got != "see <long\ntext>" {
		t.Errorf("%q", got)
	}
	e.backspace()
	if e.String() != "see " {
		t.Errorf("a placeholder goes as one: %q", e.String())
	}
	e.set("ab\ncd")
	e.key(key{kind: keyCtrl, text: "u"})
	if e.String() != "ab\n" {
		t.Errorf("Ctrl-U: %q", e.String())
	}
	rows, cy, cx := e.rows("> ", 20)
	if !reflect.DeepEqual(rows, []string{"> ab", "  "}) || cy != 1 || cx != 2 {
		t.Errorf("%q %d %d", rows, cy, cx)
	}
	e.set(strings.Repeat("設", 9))
	if rows, _, _ = e.rows("> ", 12); len(rows) != 3 {
		t.Errorf("wide characters: %q", rows)
	}
}

func TestScript(t *testing.T) {
	s := parseScript("a [[say:one]] [[say:two: three]] [[wait:1.5]] [[x y]] [[limit]] [[open")
	want := script{"say": "two: three", "wait": "1.5", "limit": ""}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("%v", s)
	}
	if s := parseScript(engine.OpeningWords + "dev-impl@demo (claude-code), as its next occupant " + engine.HandoverTag + "01]. It was asked: [[sh:make]]"); len(s) != 0 {
		t.Errorf("what a predecessor was asked is acted out by its successor: %v", s)
	}
	if s.seconds("wait") != 1500*time.Millisecond || (script{"wait": "1e99"}).seconds("wait") != time.Hour || (script{"wait": "NaN"}).seconds("wait") != 0 {
		t.Error("seconds")
	}
	if (script{"tokens": "-5"}).number("tokens", 7) != 7 {
		t.Error("number")
	}
}

func TestAnswerComesFromTheConversationOnly(t *testing.T) {
	held := []said{{"user", "remember the dock is north"}, {"assistant", "Noted: the dock is north"}, {"user", "what is dock?"}, {"assistant", unknownPrefix + "gate."}, {"hook", "gate = 7\nother"}}
	for prompt, want := range map[string]string{
		"what do you remember about gate?": "I remember about gate: gate = 7",
		"and now: what is DOCK ?":          "I remember about DOCK: Noted: the dock is north",
		"what do you know about trains":    "I do not know anything about trains.",
		"remember x is 1":                  "Noted: x is 1",
		"go on":                            "Canned answer 4.",
	} {
		if got := answer(held, prompt, 4); got != want {
			t.Errorf("%s: %q, want %q", prompt, got, want)
		}
	}
	sum := summarize(held, "keep the gate please")
	if !strings.Contains(sum, "2 prompts") || strings.Contains(sum, "north") {
		t.Errorf("summary: %q", sum)
	}
	if got := summarize([]said{{"user", "the harbour is open"}}, "keep harbour"); !strings.Contains(got, "Kept: the harbour is open") {
		t.Errorf("summary with instructions: %q", got)
	}
}

func TestSlug(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "testdata", "cases", "B43-slug-table.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, l := range strings.Split(string(b), "\n")[1:] {
		dir, want, ok := strings.Cut(l, "\t")
		if !ok || strings.Contains(dir, "(symlink") || strings.HasPrefix(want, "(") {
			continue
		}
		n++
		if got := claudeSlug(dir); got != want {
			t.Errorf("%s: %s, want %s", dir, got, want)
		}
	}
	if n < 6 {
		t.Errorf("only %d rows", n)
	}
	// Seen with the real client: the hash is over the path, not over the slug.
	long := "/var/tmp/asim/long" + strings.Repeat("/very-long-segment", 13)
	if got := claudeSlug(long); len(got) != 207 || !strings.HasSuffix(got, "-v9e0yg") {
		t.Errorf("a long path: %s", got)
	}
	dir := t.TempDir()
	if err := os.Symlink(dir, dir+"-link"); err != nil {
		t.Fatal(err)
	}
	if claudeSlug(dir) != claudeSlug(dir+"-link") {
		t.Error("a link has a slug of its own")
	}
}

func TestTrustCoversChildren(t *testing.T) {
	m := map[string]any{"projects": map[string]any{"/a/b": map[string]any{"hasTrustDialogAccepted": true}, "/c": map[string]any{}}}
	for dir, want := range map[string]bool{"/a/b": true, "/a/b/c/d": true, "/a": false, "/a/bc": false, "/c": false, "/": false} {
		if trusted(m, dir) != want {
			t.Errorf("%s", dir)
		}
	}
	top := t.TempDir()
	repo := filepath.Join(top, "repo")
	if err := os.MkdirAll(filepath.Join(repo, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	accepted := map[string]any{"hasTrustDialogAccepted": true}
	for dir, want := range map[string]bool{top: true, repo: false, filepath.Join(repo, "sub"): false} {
		if trusted(map[string]any{"projects": map[string]any{top: accepted}}, dir) != want {
			t.Errorf("the trust of a folder above, in %s", dir)
		}
	}
	if !trusted(map[string]any{"projects": map[string]any{repo: accepted}}, filepath.Join(repo, "sub")) {
		t.Error("the trust of a repository does not cover its folders")
	}
}

func TestActiveBranchOfTheRecordedSession(t *testing.T) {
	rows := readRows(filepath.Join("..", "..", "testdata", "fixtures", "claude-transcript.jsonl"))
	branch, parents := activeBranch(rows)
	if len(branch) == 0 || len(parents) == 0 {
		t.Fatalf("%d records, %d moved", len(branch), len(parents))
	}
	if last := branch[len(branch)-1]; last.UUID != "00000073-0000-4000-8000-000000000073" {
		t.Errorf("leaf %s", last.UUID)
	}
	fork := readRows(filepath.Join("..", "..", "testdata", "fixtures", "claude-transcript-fork.jsonl"))
	var want, got []string
	for _, r := range fork {
		if r.UUID != "" && r.Stamp < "2026-01-15T12:57:20" {
			want = append(want, r.UUID)
		}
	}
	for _, r := range rows { // the fixture leaves bulky records out, so the walk breaks off: compare what is there
		if slices.Contains(want, r.UUID) {
			got = append(got, r.UUID)
		}
	}
	if len(got) < 20 {
		t.Errorf("%d of %d records of the fork are in the parent", len(got), len(want))
	}
	text := string(forkLine(claudeRow{raw: []byte(`{"parentUuid":"a","sessionId":"S1","session_id":"S1"}`), Parent: ptr("a")}, "b", true, "S1", "S2"))
	if text != `{"parentUuid":"b","sessionId":"S2","session_id":"S1"}`+"\n" {
		t.Errorf("%s", text)
	}
}

func ptr(s string) *string { return &s }

func TestActiveBranchSurvivesACycle(t *testing.T) {
	rows := []claudeRow{{Type: "user", UUID: "a", Parent: ptr("b")}, {Type: "assistant", UUID: "b", Parent: ptr("a")}}
	if branch, _ := activeBranch(rows); len(branch) != 2 {
		t.Errorf("%d", len(branch))
	}
}

func TestCodexConfig(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(file, []byte("model = \"m1\" # why\nnotify = [\"a\", \"b\"]\n[projects.\"/x y/z\"]\ntrust_level = \"trusted\"\n[profiles.fast]\nmodel = 'm2'\n[features]\ndaemon_auto_start = false\nbad line\n= nothing\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := readCodexConfig(file)
	if c.get("model") != "m1" || !c.trusts("/x y/z") || c.get("features", "daemon_auto_start") != "false" || !reflect.DeepEqual(c.lists["notify"], []string{"a", "b"}) {
		t.Errorf("%+v", c)
	}
	c.override("fast", []string{"sandbox_mode=\"read-only\"", `projects."/p".trust_level="trusted"`, "features.x=true", "nonsense"})
	if c.get("model") != "m2" || c.get("sandbox_mode") != "read-only" || c.get("features", "x") != "true" || c.trusts("/p") {
		t.Errorf("%+v", c.values)
	}
	c.trust("/new")
	if again := readCodexConfig(file); !again.trusts("/new") || again.get("model") != "m1" {
		t.Error("trust was not written")
	}
}

func TestCodexRemembersTheRecordedSession(t *testing.T) {
	rows := readCodexRows(filepath.Join("..", "..", "testdata", "fixtures", "codex-rollout.jsonl"))
	held := codexRemembered(rows)
	summary := slices.IndexFunc(held, func(s said) bool { return s.role == "summary" })
	if summary < 1 || held[0] != (said{"user", "hello [[say:Hello from the mock.]]"}) || held[len(held)-2].text != "limit [[limit]]" {
		t.Errorf("%d texts, summary at %d: %+v", len(held), summary, held)
	}
	for _, s := range held[:summary] {
		if s.role == "assistant" {
			t.Errorf("an answer outlived the compaction: %q", s.text)
		}
	}
}

func TestIDs(t *testing.T) {
	e := &Env{Rand: bytes.NewReader(bytes.Repeat([]byte{0xff}, 64)), Now: func() time.Time { return time.UnixMilli(0x0123456789ab) }}
	if got := e.uuid4(); got != "ffffffff-ffff-4fff-bfff-ffffffffffff" || !isUUID(got) {
		t.Error(got)
	}
	if got := e.uuid7(); got != "01234567-89ab-7fff-bfff-ffffffffffff" {
		t.Error(got)
	}
	for _, bad := range []string{"", "x", strings.Repeat("a", 36), "11111111-1111-4111-8111-11111111111g"} {
		if isUUID(bad) {
			t.Error(bad)
		}
	}
}

func FuzzDecoder(f *testing.F) {
	for _, s := range []string{"hi\r", "\x1b[200~a\x1b[201~", "\x1b[1;5C", "\xc3", "\x1b\x1b[A", "a\nb\x03"} {
		f.Add([]byte(s), 1)
	}
	f.Fuzz(func(t *testing.T, b []byte, cutAt int) {
		at := time.Unix(1, 0)
		var whole, split decoder
		whole.feed(b, at)
		n := 0
		if len(b) > 0 {
			n = ((cutAt % len(b)) + len(b)) % len(b)
		}
		var e editor
		for _, k := range append(split.feed(b[:n], at), split.feed(b[n:], at)...) {
			e.key(k)
			if e.at < 0 || e.at > len(e.text) {
				t.Fatalf("cursor %d of %d", e.at, len(e.text))
			}
		}
		e.rows("> ", 10)
	})
}

func FuzzScript(f *testing.F) {
	f.Add("[[say:x]] [[wait:-1]]")
	f.Add("[[[[a]]]]")
	f.Fuzz(func(t *testing.T, text string) {
		s := parseScript(text)
		for k := range s {
			if !isDirective(k) {
				t.Errorf("%q", k)
			}
		}
		if d := s.seconds("wait"); d < 0 || d > time.Hour {
			t.Errorf("%v", d)
		}
		answer([]said{{"user", text}}, text, 1)
		for _, r := range wrap(printable(text), "> ", "  ", 20) {
			if strings.ContainsAny(r, "\x1b\r\n\x00") {
				t.Errorf("%q", r)
			}
		}
	})
}

func FuzzTranscript(f *testing.F) {
	f.Add(`{"type":"user","uuid":"a","parentUuid":"a","message":{"content":[{"type":"text"}]}}`)
	f.Add(`{"type":"system","subtype":"compact_boundary","uuid":"b","compactMetadata":{"preservedSegment":{"headUuid":"b","anchorUuid":"b","tailUuid":"b"}}}`)
	f.Add(`{"type":"compacted","payload":{"message":"m","history_base":{"thread_id":"x"}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		file := filepath.Join(t.TempDir(), "f.jsonl")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		rows := readRows(file)
		branch, _ := activeBranch(rows)
		if len(branch) > len(rows) {
			t.Errorf("%d of %d", len(branch), len(rows))
		}
		remembered(branch)
		unanswered(branch)
		codexRemembered(readCodexRows(file))
		readHooks([]byte(text))
		conf := readCodexConfig(file)
		conf.trusts("/")
		var s claudeSettings
		s.hooks = hookSet{}
		s.take([]byte(text), file)
	})
}
