package runtimes

import (
	"strings"
	"testing"

	"rig/engine"
)

// claudeBoxed is a screen of Claude Code with these lines in its input box.
func claudeBoxed(box ...string) engine.Screen {
	rule := strings.Repeat("─", 60)
	s := engine.Screen{}
	for _, l := range append(append([]string{"● Canned answer 2.", "", rule}, box...), rule, "  ⏸ manual mode on") {
		text, faint, _ := strings.Cut(l, "|")
		s.Lines, s.Faint = append(s.Lines, text+faint), append(s.Faint, faint)
	}
	return s
}

// TestASuggestionIsNoDraft: what stands behind "|" is drawn faint.
func TestASuggestionIsNoDraft(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		box    []string
		draft  string
		queued bool
	}{
		"empty":                        {[]string{inputMark}, "", false},
		"a draft":                      {[]string{inputMark + "run the tests"}, "run the tests", false},
		"a suggestion":                 {[]string{inputMark + "r|un the tests"}, "", false},
		"a suggestion without cursor":  {[]string{inputMark + "|run the tests"}, "", false},
		"one of two lines":             {[]string{inputMark + "r|un the tests and then", "|  look at what they say"}, "", false},
		"a draft with a faint hint":    {[]string{inputMark + "/compact |[instructions]"}, "/compact [instructions]", false},
		"a draft, its second line dim": {[]string{inputMark + "run", "|  faint"}, "run\nfaint", false},
		"one letter":                   {[]string{inputMark + "r"}, "r", false},
	} {
		s := claudeBoxed(c.box...)
		v := readClaudeScreen(s)
		if v.draft != c.draft || v.kind != screenBox || v.state != engine.ActivityIdle {
			t.Errorf("%s: draft %q, %v %s %s", name, v.draft, v.kind, v.state, v.why)
		}
		if told := strings.Contains(v.why, "with text"); told != (c.draft != "") {
			t.Errorf("%s: %s", name, v.why)
		}
		if blind := readClaudeScreen(engine.Screen{Lines: s.Lines}); c.draft == "" && name != "empty" && blind.draft == "" {
			t.Errorf("%s: without a word on what is faint it is no draft", name)
		}
	}
	queued := claudeBoxed(inputMark + claudeQueuedMark[:1] + "|" + claudeQueuedMark[1:])
	queued.Lines[0] = "✻ Working… (3s · esc to interrupt)"
	queued.Lines[len(queued.Lines)-1] = "  esc to interrupt"
	if v := readClaudeScreen(queued); !v.queued || v.draft != "" {
		t.Errorf("a queued message: %+v", v)
	}
	codex := engine.Screen{Lines: []string{"› Explain this codebase", "", "  gpt-5.5-codex default · ~/project", "  ← for agents · ? for shortcuts"}, Faint: []string{"Explain this codebase", "", "", ""}}
	if v := readCodexScreen(codex); v.kind != screenBox || v.draft != "" {
		t.Errorf("a placeholder of codex: %+v", v)
	}
	if codex.Faint[0] = ""; readCodexScreen(codex).draft == "" {
		t.Error("a draft of codex was not seen")
	}
	codex.Lines, codex.Faint = append([]string{"  Explain this codebase"}, codex.Lines...), append([]string{"Explain this codebase"}, codex.Faint...)
	if readCodexScreen(codex).draft == "" {
		t.Error("a draft of codex was taken for what is drawn faint elsewhere")
	}
}
