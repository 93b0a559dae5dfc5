package tmuxctl

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"rig/engine"
)

func asError(err error, target **engine.Error) bool { return errors.As(err, target) }

func TestTargets(t *testing.T) {
	good := map[string]string{"dev-impl@my-rig": "=dev-impl@my-rig:", "A": "=A:", "_rig-01J": "=_rig-01J:", "007": "=007:"}
	for name, want := range good {
		got, err := Session(name)
		if err != nil || got.String() != want {
			t.Errorf("Session(%q) = %q, %v; want %q", name, got, err, want)
		}
	}
	bad := []string{
		"", "-x", "@x", "a.b", "a:b", "a b", "a\tb", "a\nb", "#{pid}", "$HOME", "a;", "=a", "a*", "%1", "ä", "a'b",
		strings.Repeat("x", maxSessionName+1), "a\x00",
	}
	for _, name := range bad {
		if got, err := Session(name); err == nil || engine.CodeOf(err) != engine.CodeInvalid {
			t.Errorf("Session(%q) = %q, %v; want a refusal", name, got, err)
		}
	}
	if got, err := Window("a", 3); err != nil || got.String() != "=a:3" {
		t.Errorf("Window = %q, %v", got, err)
	}
	if _, err := Window("a", -1); err == nil {
		t.Error("a negative window index passed")
	}
	for _, id := range []engine.PaneID{"", "5", "%", "%x", "%-1", "%1 ", "%1;", "@1", "%99999999999999"} {
		if got, err := Pane(id); err == nil {
			t.Errorf("Pane(%q) = %q; want a refusal", id, got)
		}
	}
	if got, err := Pane("%12"); err != nil || got.String() != "%12" {
		t.Errorf("Pane = %q, %v", got, err)
	}
}

func TestArgWord(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "a": "a", ";": `\;`, "a;": `a\;`, "a;;": `a;\;`, `a\;`: `a\\;`, "a;b": "a;b", "a; ": "a; ",
	} {
		if got := argWord(in); got != want {
			t.Errorf("argWord(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestQuoteWordRefusesLineBreaks(t *testing.T) {
	for _, s := range []string{"a\nb", "a\r", "\x00"} {
		if got, err := quoteWord(s); err == nil {
			t.Errorf("quoteWord(%q) = %q; want a refusal", s, got)
		}
	}
}

func TestEscapeFormat(t *testing.T) {
	for in, want := range map[string]string{
		"/a": "/a", "/a#b": "/a##b", "/#{pid}": "/##{pid}", "/a##b": "/a####b", "/#[fg]": "/#[fg]", "/##[x]#": "/##[x]##",
	} {
		if got := escapeFormat(in); got != want {
			t.Errorf("escapeFormat(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestShellLineRoundTrip(t *testing.T) {
	argv := []string{"printf", "%s\n", "=name:", "it's", "$HOME", "a b", "", "*", "`id`", "ü", "\\"}
	out, err := exec.Command("sh", "-c", ShellLine(argv)).Output()
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Join(argv[2:], "\n") + "\n"; string(out) != want {
		t.Errorf("got %q, want %q", out, want)
	}
}

func TestParseCaps(t *testing.T) {
	tests := []struct {
		in      string
		code    engine.Code
		dead    bool
		crash   bool
		dollars bool
	}{
		{in: "tmux 3.2a\n", crash: true},
		{in: "tmux 3.3a", dead: true, crash: true},
		{in: "3.4", dead: true, dollars: true},
		{in: "tmux 3.5a", dead: true},
		{in: "tmux 3.6-rc2", dead: true},
		{in: "tmux next-3.8", dead: true},
		{in: "tmux master", dead: true},
		{in: "tmux openbsd-7.6", dead: true},
		{in: "tmux 10.0", dead: true},
		{in: "tmux 3.2", code: engine.CodeTmuxTooOld},
		{in: "tmux 3.1c", code: engine.CodeTmuxTooOld},
		{in: "tmux 1.8", code: engine.CodeTmuxTooOld},
		{in: "", code: engine.CodeTmuxProbeFailed},
		{in: "screen 4", code: engine.CodeTmuxProbeFailed},
	}
	for _, tt := range tests {
		c, err := parseCaps(tt.in)
		if engine.CodeOf(err) != tt.code {
			t.Errorf("%q: %v, want code %q", tt.in, err, tt.code)
			continue
		}
		if err != nil {
			if tt.code == engine.CodeTmuxTooOld && (!strings.Contains(err.Error(), Floor) || !strings.Contains(err.Error(), strings.TrimPrefix(tt.in, "tmux "))) {
				t.Errorf("%q: the message names neither: %v", tt.in, err)
			}
			continue
		}
		if c.DeadTime != tt.dead || c.PasteDeadCrashes != tt.crash || c.DollarEscaped != tt.dollars {
			t.Errorf("%q: %+v", tt.in, c)
		}
	}
}

func TestClassify(t *testing.T) {
	tests := map[string]engine.Presence{
		"can't find session: x":                                  engine.Absent,
		"can't find pane: %9":                                    engine.Absent,
		"can't find window: 3":                                   engine.Absent,
		"can't find client: /dev/pts/99":                         engine.Absent,
		"no server running on /tmp/s":                            engine.Absent,
		"error connecting to /tmp/s (No such file or directory)": engine.Absent,
		"error connecting to /tmp/s (Permission denied)":         engine.Unknown,
		"error connecting to /tmp/s (File name too long)":        engine.Unknown,
		"server exited unexpectedly":                             engine.Unknown,
		"lost server":                                            engine.Unknown,
		"protocol version mismatch (client 8, server 7)":         engine.Unknown,
		"no current client":                                      engine.Unknown,
		"tmux: unknown option -- N\nusage: tmux":                 engine.Unknown, // 3.1c
		"":                                                       engine.Unknown,
		"a title: can't find session: x":                         engine.Unknown,
	}
	for text, want := range tests {
		e := &tmuxError{verb: "v", stderr: text, err: errors.New("exit status 1"), socket: "/tmp/s"}
		if got := e.classify(); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
		var ee *engine.Error
		err := asEngine(e)
		if !errors.As(err, &ee) || ee.Hint == "" || (text != "" && ee.Code != engine.CodeTmuxTooOld && !strings.Contains(err.Error(), text)) {
			t.Errorf("%q became %v: it needs a hint and tmux's own words", text, err)
		}
		if strings.HasPrefix(text, "tmux: ") {
			if ee.Code != engine.CodeTmuxTooOld || !strings.Contains(ee.Msg, Floor) {
				t.Errorf("%q became %v", text, err)
			}
			continue
		}
		if wantCode := map[engine.Presence]engine.Code{engine.Absent: engine.CodeNotFound, engine.Unknown: engine.CodeTmuxProbeFailed}[want]; ee.Code != wantCode {
			t.Errorf("%q has code %s, want %s", text, ee.Code, wantCode)
		}
	}
}

func TestCleanEnv(t *testing.T) {
	in := []string{"PATH=/bin", "TMUX=/tmp/x,1,0", "TMUX_PANE=%1", "CLAUDECODE=1", "TMUX_TMPDIR=/t", "ANTHROPIC_API_KEY=k", "CLAUDE_CODE_SESSION_ID=s", "X"}
	got := strings.Join(CleanEnv(in), " ")
	if want := "PATH=/bin TMUX_TMPDIR=/t ANTHROPIC_API_KEY=k X"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNewRefusesSockets(t *testing.T) {
	for _, s := range []string{"", "relative/s", "/" + strings.Repeat("x", 120)} {
		if _, err := New(Options{Socket: s}); engine.CodeOf(err) != engine.CodeInvalid {
			t.Errorf("New(%q): %v", s, err)
		}
	}
}
