package agentsim

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// gate is a dialog before the session: a screen of its own on the stage.
type gate struct {
	d *dialog
	s *stage
	w int
}

func (g *gate) frame(w, _ int) ([]string, int, int) { g.w = w; return g.d.rows(w), 0, 0 }
func (g *gate) title() string                       { return "" }
func (g *gate) moving() bool                        { return false }
func (g *gate) key(k key) {
	if g.d.press(k) {
		g.s.end(outcome{reason: "answered"})
	}
}

// ask shows a dialog and gives the chosen index; over is set when the client
// has to end instead.
func (s *stage) ask(d *dialog) (choice int, o outcome, over bool) {
	d.answer = make(chan int, 1)
	o = s.run(&gate{d: d, s: s})
	if o.reason != "answered" {
		return 0, o, true
	}
	return <-d.answer, outcome{}, false
}

func rule(w int) string { return strings.Repeat("─", max(1, w)) }

// claudeGates asks what the real client asks before a session, in its order.
// It reports the end when a gate says no.
func claudeGates(e *Env, s *stage, p claudePaths, o *claudeOpts, set *claudeSettings) (outcome, bool) {
	for _, g := range []func(*Env, *stage, claudePaths, *claudeOpts, *claudeSettings) (outcome, bool){
		gateOnboarding, gateTrust, gateKey, gateBypass, gateSettings, gateSummary,
	} {
		if out, over := g(e, s, p, o, set); over {
			return out, true
		}
	}
	return outcome{}, false
}

func gateOnboarding(e *Env, s *stage, p claudePaths, _ *claudeOpts, _ *claudeSettings) (outcome, bool) {
	_, forced := e.fails("login")
	if p.readMain()["hasCompletedOnboarding"] == true && !forced {
		return outcome{}, false
	}
	s.term.write(strings.ReplaceAll(`Welcome to Claude Code v`+claudeVersion+`
..........................................................

 Unable to connect to Anthropic services

 Failed to connect to api.anthropic.com: ENOTFOUND

 Check your internet connection and network settings.

 Claude Code might not be available in your country. Check supported countries at
 https://anthropic.com/supported-countries
`, "\n", "\r\n"))
	return outcome{code: 1}, true
}

func gateTrust(e *Env, s *stage, p claudePaths, _ *claudeOpts, _ *claudeSettings) (outcome, bool) {
	_, forced := e.fails("trust")
	if trusted(p.readMain(), e.Dir) && !forced {
		return outcome{}, false
	}
	c, out, over := s.ask(&dialog{
		head: []string{
			"", rule(s.term.w), " Accessing workspace:", "", " " + printable(e.Dir), "",
			" Quick safety check: Is this a project you created or one you trust? (Like your own code, a well-known open source project, or work from your team). If not, take a moment to review what's in this folder first.", "",
			" Claude Code'll be able to read, edit, and execute files here.", "", " Security guide", "",
		},
		choice: []string{"No, exit", "Yes, I trust this folder"},
		tail:   []string{"", " Enter to confirm · Esc to cancel"},
		mark:   " ❯ ", blank: "   ",
	})
	if over {
		return out, true
	}
	if c == 0 {
		s.term.endInline()
		s.term.write("Claude Code didn't start because this folder isn't trusted.\r\nRun claude again and choose Yes, or run it in another folder.\r\n")
		return outcome{code: 1}, true
	}
	p.changeMain(func(m map[string]any) {
		projects, _ := m["projects"].(map[string]any)
		if projects == nil {
			projects = map[string]any{}
		}
		entry, _ := projects[e.Dir].(map[string]any)
		if entry == nil {
			entry = map[string]any{}
		}
		entry["hasTrustDialogAccepted"] = true
		projects[e.Dir] = entry
		m["projects"] = projects
	})
	return outcome{}, false
}

func gateKey(e *Env, s *stage, p claudePaths, _ *claudeOpts, _ *claudeSettings) (outcome, bool) {
	key := e.get("ANTHROPIC_API_KEY")
	_, forced := e.fails("apikey")
	if key == "" && !forced {
		return outcome{}, false
	}
	tail := key[max(0, len(key)-20):]
	said, _ := p.readMain()["customApiKeyResponses"].(map[string]any)
	approved, _ := said["approved"].([]any)
	rejected, _ := said["rejected"].([]any)
	if !forced && (slices.Contains(approved, any(tail)) || slices.Contains(rejected, any(tail))) {
		return outcome{}, false
	}
	c, out, over := s.ask(&dialog{
		head: []string{
			"", rule(s.term.w), "  Detected a custom API key in your environment", "",
			"  ANTHROPIC_API_KEY: sk-ant-..." + printable(tail), "", "  Do you want to use this API key?", "",
		},
		choice: []string{"Yes", "No (recommended)"}, at: 1, cancel: 1,
		tail: []string{"", "  Enter to confirm · Esc to cancel"},
		mark: "  ❯ ", blank: "    ",
	})
	if over {
		return out, true
	}
	p.changeMain(func(m map[string]any) {
		if c == 0 {
			approved = append(approved, tail)
		} else {
			rejected = append(rejected, tail)
		}
		m["customApiKeyResponses"] = map[string]any{"approved": orEmpty(approved), "rejected": orEmpty(rejected)}
	})
	return outcome{}, false
}

// orEmpty is a list that JSON does not write as null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func gateBypass(e *Env, s *stage, p claudePaths, o *claudeOpts, set *claudeSettings) (outcome, bool) {
	if o.mode != "bypassPermissions" && !o.skip {
		return outcome{}, false
	}
	if os.Getuid() == 0 && e.get("IS_SANDBOX") == "" {
		s.term.write("--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons\r\n")
		return outcome{code: 1}, true
	}
	if set.skipBypass || p.readMain()["bypassPermissionsModeAccepted"] == true {
		return outcome{}, false
	}
	c, out, over := s.ask(&dialog{
		head: []string{
			"", rule(s.term.w), "  WARNING: Claude Code running in Bypass Permissions mode", "",
			"  In Bypass Permissions mode, Claude Code will not ask for your approval before running potentially dangerous commands.",
			"  This mode should only be used in a sandboxed container/VM that has restricted internet access and can easily be restored if damaged.", "",
			"  By proceeding, you accept all responsibility for actions taken while running in Bypass Permissions mode.", "",
			"  https://code.claude.com/docs/en/security", "",
		},
		choice: []string{"No, exit", "Yes, I accept"},
		tail:   []string{"", "  Enter to confirm · Esc to cancel"},
		mark:   "  ❯ ", blank: "    ",
	})
	if over || c == 0 {
		return outcome{reason: out.reason, code: max(out.code, 1)}, true
	}
	p.changeMain(func(m map[string]any) { m["bypassPermissionsModeAccepted"] = true })
	return outcome{}, false
}

func gateSettings(_ *Env, s *stage, _ claudePaths, _ *claudeOpts, set *claudeSettings) (outcome, bool) {
	if len(set.problems) == 0 {
		return outcome{}, false
	}
	title, choices, exit := "Settings Warning", []string{"1. Continue", "2. Fix with Claude", "3. Exit and fix manually"}, 2
	foot := []string{"", "  Learn more: https://code.claude.com/docs/en/hooks", "", "", "  The values listed above were skipped; the rest of the file is in effect.", ""}
	if set.fatal {
		title, choices, exit = "Settings Error", []string{"1. Fix with Claude", "2. Exit and fix manually", "3. Continue without these settings"}, 1
		foot = []string{"", "  Use true or false without quotes. Example: \"includeCoAuthoredBy\": true", "", "  Files with errors are skipped entirely, not just the invalid settings.", ""}
	}
	head := []string{"", rule(s.term.w), "  " + title, "", "  " + printable(set.problemFile)}
	for i, pr := range set.problems {
		branch := "  ├ "
		if i == len(set.problems)-1 {
			branch = "  └ "
		}
		head = append(head, wrap(printable(pr), branch, "    ", s.term.w-1)...)
	}
	c, out, over := s.ask(&dialog{
		head: append(head, foot...), choice: choices, cancel: exit, digits: true,
		tail: []string{"", "  Enter to confirm · Esc to cancel"},
		mark: "  ❯ ", blank: "    ",
	})
	if over {
		return out, true
	}
	return outcome{code: 1}, c == exit
}

// gateSummary is the menu that the real client may show at the resume of an old,
// large session. It hangs on a flag of the server, so only the fault resume-menu
// brings it.
func gateSummary(e *Env, s *stage, _ claudePaths, o *claudeOpts, _ *claudeSettings) (outcome, bool) {
	if _, asked := e.fails("resume-menu"); !asked || !o.hasResume {
		return outcome{}, false
	}
	_, out, over := s.ask(&dialog{
		head:   []string{"", rule(s.term.w), "  This session is 9h 05m old and 412k tokens.", ""},
		choice: []string{"1. Resume from summary (instant, recommended)", "2. Resume full session as-is", "3. Don't ask again"},
		digits: true, tail: []string{"", "  Enter to confirm · Esc to cancel"}, mark: "  ❯ ", blank: "    ", cancel: 1,
	})
	return out, over
}

// claudePicker is the list that --resume shows when its value names no session.
type claudePicker struct {
	s      *stage
	query  string
	rows   []claudeFound
	at     int
	chosen string
	now    func() time.Time
}

func (p *claudePicker) title() string { return "✳ Claude Code" }
func (p *claudePicker) moving() bool  { return false }

func (p *claudePicker) frame(w, _ int) ([]string, int, int) {
	out := []string{"", rule(w), "  Resume session"}
	inner := max(10, w-6)
	query := p.query
	if query == "" {
		query = "Search…"
	}
	out = append(out, "  ╭"+strings.Repeat("─", inner)+"╮",
		"  │ ⌕ "+query+strings.Repeat(" ", max(0, inner-3-textWidth(query)))+"│", "  ╰"+strings.Repeat("─", inner)+"╯", "")
	if found := p.matching(); len(found) > 0 {
		for i, f := range found {
			mark := "    "
			if i == p.at {
				mark = "  ❯ "
			}
			out = append(out, mark+f.label(), fmt.Sprintf("    %s ago · HEAD", p.now().Sub(f.at).Round(time.Second)), "")
		}
		return append(out, "  Type to search · Enter to select · Esc to clear"), 4, 6
	}
	return append(out, fmt.Sprintf("  No sessions match %q.", p.query), "", "  Type to search · Esc to clear"), 4, 6
}

func (p *claudePicker) matching() []claudeFound {
	var out []claudeFound
	for _, f := range p.rows {
		if strings.Contains(strings.ToLower(f.label()), strings.ToLower(p.query)) {
			out = append(out, f)
		}
	}
	return out
}

func (p *claudePicker) key(k key) {
	switch k.kind {
	case keyText:
		p.query, p.at = p.query+k.text, 0
	case keyBackspace:
		if r := []rune(p.query); len(r) > 0 {
			p.query = string(r[:len(r)-1])
		}
	case keyUp:
		p.at = max(0, p.at-1)
	case keyDown:
		p.at = min(max(0, len(p.matching())-1), p.at+1)
	case keyEsc:
		if p.query == "" {
			p.s.end(outcome{reason: "closed"})
		}
		p.query = ""
	case keyCtrl:
		if k.text == "c" {
			p.s.end(outcome{reason: "closed"})
		}
	case keyEnter:
		if found := p.matching(); p.at < len(found) {
			p.chosen = strings.TrimSuffix(filepath.Base(found[p.at].path), ".jsonl")
			p.s.end(outcome{reason: "answered"})
		}
	default: // no other key means anything to the list
	}
}
