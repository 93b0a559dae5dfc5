package runtimes

import (
	"slices"
	"strings"
	"testing"

	"rig/engine"
)

func TestScreensOfClaude(t *testing.T) {
	const (
		idle, busy, wait, limit = engine.ActivityIdle, engine.ActivityBusy, engine.ActivityWaiting, engine.ActivityLimit
	)
	for name, want := range map[string]screenView{
		"claude-2.1.197-pane-settings-warning.txt": {kind: screenDialog, state: wait, code: CodeSettingsWarning, gate: true},
		"claude-2.1.197-pane-trust-dialog.txt":     {kind: screenDialog, state: wait, code: CodeTrustGate, gate: true},
		"claude-pane-after-exit.txt":               {kind: screenShell, code: CodeClientExited},
		"claude-pane-api-error.txt":                {kind: screenBox, state: idle, code: CodeAPIError},
		"claude-pane-apikey-dialog.txt":            {kind: screenDialog, state: wait, code: CodeAPIKeyGate, gate: true},
		"claude-pane-busy-queued.txt":              {kind: screenBox, state: busy, code: engine.CodeQueued, queued: true},
		"claude-pane-busy.txt":                     {kind: screenBox, state: busy},
		"claude-pane-bypass-dialog.txt":            {kind: screenDialog, state: wait, code: CodeBypassGate, gate: true},
		"claude-pane-compact-failed.txt":           {kind: screenBox, state: idle, code: CodeCompactFailed},
		"claude-pane-compacted.txt":                {kind: screenBox, state: idle},
		"claude-pane-compacting.txt":               {kind: screenBox, state: busy, code: CodeCompacting},
		"claude-pane-idle-after-turn.txt":          {kind: screenBox, state: idle},
		"claude-pane-idle-fresh.txt":               {kind: screenBox, state: idle},
		"claude-pane-interrupted.txt":              {kind: screenBox, state: idle, code: CodeInterrupted},
		"claude-pane-onboarding-offline.txt":       {kind: screenShell, code: CodeUnreachable, fail: true},
		"claude-pane-permission-bash.txt":          {kind: screenDialog, state: wait, code: CodePermissionPrompt},
		"claude-pane-permission-write.txt":         {kind: screenDialog, state: wait, code: CodePermissionPrompt},
		"claude-pane-question.txt":                 {kind: screenDialog, state: wait, code: CodeQuestion},
		"claude-pane-resume-picker-no-match.txt":   {kind: screenDialog, state: wait, code: CodeResumePicker, gate: true},
		"claude-pane-resume-wrong-id.txt":          {kind: screenShell, code: CodeNoConversation, fail: true},
		"claude-pane-retrying.txt":                 {kind: screenBox, state: busy, code: CodeRetrying, queued: true},
		"claude-pane-settings-error.txt":           {kind: screenDialog, state: wait, code: CodeSettingsError, gate: true},
		"claude-pane-status.txt":                   {kind: screenDialog, state: wait, code: CodePanel},
		"claude-pane-trust-dialog.txt":             {kind: screenDialog, state: wait, code: CodeTrustGate, gate: true},
		"claude-pane-usage-limit.txt":              {kind: screenBox, state: limit, code: CodeUsageLimit},
		"../cases/B45-resume-summary.pane.txt":     {kind: screenDialog, state: wait, code: CodeResumeSelection, gate: true},
		"../cases/B34-compact-too-long.pane.txt":   {kind: screenBox, state: idle, code: CodeCompactFailed},
		"../cases/B47-codex-no-rollout.pane.txt":   {kind: screenOther},
		"codex-pane-idle-fresh.txt":                {kind: screenOther},
	} {
		t.Run(name, func(t *testing.T) { checkView(t, readClaude(pane(t, fixtures, name)), want) })
	}
}

func TestScreensOfCodex(t *testing.T) {
	const (
		idle, busy, wait, limit = engine.ActivityIdle, engine.ActivityBusy, engine.ActivityWaiting, engine.ActivityLimit
	)
	for name, want := range map[string]screenView{
		"codex-pane-after-quit.txt":              {kind: screenShell, code: CodeClientExited},
		"codex-pane-approval.txt":                {kind: screenDialog, state: wait, code: CodePermissionPrompt},
		"codex-pane-busy-queued.txt":             {kind: screenBox, state: busy, code: engine.CodeQueued, queued: true},
		"codex-pane-busy-streaming.txt":          {kind: screenBox, state: idle, weak: true},
		"codex-pane-busy.txt":                    {kind: screenBox, state: busy},
		"codex-pane-compact-failed.txt":          {kind: screenBox, state: idle, code: CodeAPIError, weak: true},
		"codex-pane-compacted.txt":               {kind: screenBox, state: idle, weak: true},
		"codex-pane-fork-parent-missing.txt":     {kind: screenShell, code: CodeSourceMissing, fail: true},
		"codex-pane-fork.txt":                    {kind: screenBox, state: limit, code: CodeUsageLimit},
		"codex-pane-hooks-review.txt":            {kind: screenDialog, state: wait, code: CodeHookTrustGate, gate: true},
		"codex-pane-idle-after-turn.txt":         {kind: screenBox, state: idle, weak: true},
		"codex-pane-idle-fresh.txt":              {kind: screenBox, state: idle, weak: true},
		"codex-pane-interrupted.txt":             {kind: screenBox, state: idle, code: CodeInterrupted, weak: true},
		"codex-pane-login.txt":                   {kind: screenDialog, state: wait, code: CodeLoginRequired, gate: true},
		"codex-pane-reconnecting.txt":            {kind: screenBox, state: busy, code: CodeRetrying},
		"codex-pane-resume-locked.txt":           {kind: screenDialog, state: wait, code: CodeLocked, gate: true},
		"codex-pane-resume-other-cwd.txt":        {kind: screenDialog, state: wait, code: CodeOtherCwd, gate: true},
		"codex-pane-resume-wrong-id.txt":         {kind: screenShell, code: CodeNoSavedSession, fail: true},
		"codex-pane-status.txt":                  {kind: screenBox, state: idle, weak: true},
		"codex-pane-trust-dialog.txt":            {kind: screenDialog, state: wait, code: CodeTrustGate, gate: true},
		"codex-pane-usage-limit.txt":             {kind: screenBox, state: limit, code: CodeUsageLimit},
		"../cases/B47-codex-no-rollout.pane.txt": {kind: screenShell, code: CodeNoRollout, fail: true},
		"claude-pane-idle-fresh.txt":             {kind: screenOther},
	} {
		t.Run(name, func(t *testing.T) { checkView(t, readCodex(pane(t, fixtures, name)), want) })
	}
}

func checkView(t *testing.T, got, want screenView) {
	t.Helper()
	if got.state != "" && (got.why == "" || got.rule == "") {
		t.Errorf("a state without reason or rule: %+v", got)
	}
	got.why, got.rule, got.draft = "", "", ""
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// A conversation can quote every dialog there is. The shape at the bottom of the
// screen decides, so a quoted dialog above the input box is only conversation.
func TestQuotedDialogsAreConversation(t *testing.T) {
	box := pane(t, fixtures, "claude-pane-idle-after-turn.txt")
	at := slices.IndexFunc(box, func(l string) bool { return strings.HasPrefix(l, "● Hello") })
	for _, quoted := range []string{
		"claude-pane-trust-dialog.txt", "claude-pane-bypass-dialog.txt", "claude-pane-apikey-dialog.txt",
		"claude-pane-settings-error.txt", "claude-pane-permission-bash.txt", "claude-pane-question.txt",
		"claude-pane-resume-wrong-id.txt", "claude-pane-usage-limit.txt", "claude-pane-retrying.txt",
		"claude-pane-busy.txt", "../cases/B45-resume-summary.pane.txt",
	} {
		t.Run(quoted, func(t *testing.T) {
			screen := slices.Clone(box[:at+1])
			screen = append(screen, tidy(pane(t, fixtures, quoted))...)
			screen = append(screen, "", "✻ Churned for 0s · done 12:56 PM", "")
			screen = append(screen, box[len(box)-6:]...)
			v := readClaude(screen)
			if v.kind != screenBox || v.gate || v.fail || v.state != engine.ActivityIdle {
				t.Errorf("taken for real: %+v", v)
			}
		})
	}
	codex := pane(t, fixtures, "codex-pane-idle-after-turn.txt")
	at = slices.IndexFunc(codex, func(l string) bool { return strings.HasPrefix(l, "• Hello") })
	for _, quoted := range []string{
		"codex-pane-trust-dialog.txt", "codex-pane-hooks-review.txt", "codex-pane-login.txt", "codex-pane-approval.txt",
		"codex-pane-resume-locked.txt", "codex-pane-resume-wrong-id.txt", "codex-pane-resume-other-cwd.txt",
	} {
		t.Run(quoted, func(t *testing.T) {
			screen := slices.Clone(codex[:at+1])
			screen = append(screen, tidy(pane(t, fixtures, quoted))...)
			screen = append(screen, codex[at+1:]...)
			v := readCodex(screen)
			if v.kind != screenBox || v.gate || v.fail || v.state != engine.ActivityIdle {
				t.Errorf("taken for real: %+v", v)
			}
		})
	}
}

func TestLabelledRuleIsTheBox(t *testing.T) {
	v := readClaude([]string{
		"❯ -hello", "● ok",
		strings.Repeat("─", 104) + " dev-impl@shop ─",
		"❯\u00a0half a thought",
		"  on two lines",
		strings.Repeat("─", 120),
		"  ⏸ manual mode on · ? for shortcuts",
	})
	if v.kind != screenBox || v.draft != "half a thought\non two lines" {
		t.Errorf("got %+v", v)
	}
	if v := readClaude(pane(t, fixtures, "claude-pane-retrying.txt")); v.draft != "" || !strings.Contains(v.why, "attempt 4/10") {
		t.Errorf("a placeholder is no draft: %+v", v)
	}
}

func TestNotLoggedInIsAGate(t *testing.T) {
	s := pane(t, fixtures, "claude-pane-idle-fresh.txt")
	s[len(s)-1] = "  Not logged in · Run /login"
	if v := readClaude(s); !v.gate || v.code != CodeLoginRequired {
		t.Errorf("got %+v", v)
	}
	s = append([]string{"● Not logged in · Run /login"}, pane(t, fixtures, "claude-pane-idle-fresh.txt")...)
	if v := readClaude(s); v.gate {
		t.Errorf("said in the conversation: %+v", v)
	}
}

func TestUnknownMenuIsAttention(t *testing.T) {
	v := readClaude([]string{strings.Repeat("─", 80), "  A new question", "", "  ❯ 1. This", "    2. That", "", "  Enter to confirm · Esc to cancel"})
	if v.state != engine.ActivityWaiting || v.code != CodeDialog || !v.gate {
		t.Errorf("got %+v", v)
	}
}

func TestTailHidesTokensAndSecrets(t *testing.T) {
	lines := append(pane(t, fixtures, "codex-pane-fork-parent-missing.txt"),
		"export API_KEY=abcdef0123456789 and sk-ant-api03-aaaaaaaaaaaa", "x\x1b[31mred\x00\u202e")
	got := strings.Join(tail(lines), "\n")
	for _, bad := range []string{"01990000-0000-7000", "0000-00000000bbbb", "019900e7-0000", "abcdef0123456789", "api03", "\x1b", "\x00", "\u202e"} {
		if strings.Contains(got, bad) {
			t.Errorf("%q is in %q", bad, got)
		}
	}
	if !strings.Contains(got, "missing source rollout") || !strings.Contains(got, "tok_…bbbb") {
		t.Errorf("the evidence is lost: %q", got)
	}
}

func FuzzScreens(f *testing.F) {
	for _, name := range []string{"claude-pane-question.txt", "claude-pane-usage-limit.txt", "codex-pane-approval.txt", "codex-pane-resume-locked.txt"} {
		f.Add(strings.Join(pane(f, fixtures, name), "\n"))
	}
	f.Add("───\n❯\u00a0\n───")
	f.Add(strings.Repeat("─", 40) + "\n❯\u00a0\xff\n" + strings.Repeat("─", 40))
	f.Fuzz(func(t *testing.T, s string) {
		lines := strings.Split(s, "\n")
		for _, v := range []screenView{readClaude(lines), readCodex(lines)} {
			if v.state != "" && (v.why == "" || v.rule == "") {
				t.Errorf("a state without reason: %+v", v)
			}
			if v.state == engine.ActivityExited || v.gate && v.state != engine.ActivityWaiting {
				t.Errorf("a screen cannot say that: %+v", v)
			}
		}
		for _, l := range tail(lines) {
			if strings.ContainsAny(l, "\x1b\x00\n") || len(l) > 2000 {
				t.Errorf("not printable: %q", l)
			}
		}
	})
}

// A client that retries or compacts may hold a message as well: that it does is a field of
// its own, on a screen of any height and with a message of any length.
func TestAQueuedMessageIsSeenWhateverTheClientDoes(t *testing.T) {
	long := slices.Repeat([]string{"    more of a long message"}, 12)
	after := func(file, line string, more ...string) []string {
		lines := tidy(pane(t, fixtures, file))
		at := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, line) })
		if at < 0 {
			t.Fatalf("%s has no line %q", file, line)
		}
		return slices.Insert(lines, at+1, more...)
	}
	held := append([]string{"", "• Messages to be submitted after next tool call (press esc to interrupt and send immediately)", "  ↳ and this"}, long...)
	for name, c := range map[string]struct {
		view screenView
		code engine.Code
	}{
		"claude compacts":     {readClaude(after("claude-pane-compacting.txt", "❯ /compact", "", "❯ and this", "  ⎿  Queued · ctrl+x ctrl+s to send now")), CodeCompacting},
		"codex retries":       {readCodex(after("codex-pane-reconnecting.txt", "  └ We", held[:3]...)), CodeRetrying},
		"codex, long message": {readCodex(after("codex-pane-busy.txt", "• Working", held...)), engine.CodeQueued},
	} {
		if !c.view.queued || c.view.state != engine.ActivityBusy || c.view.code != c.code {
			t.Errorf("%s: %+v", name, c.view)
		}
	}
	for _, file := range []string{"claude-pane-busy.txt", "claude-pane-compacting.txt", "claude-pane-idle-after-turn.txt", "claude-pane-interrupted.txt"} {
		if readClaude(pane(t, fixtures, file)).queued {
			t.Errorf("%s: nothing is queued", file)
		}
	}
	for _, file := range []string{"codex-pane-busy.txt", "codex-pane-interrupted.txt", "codex-pane-reconnecting.txt"} {
		if readCodex(pane(t, fixtures, file)).queued {
			t.Errorf("%s: nothing is queued", file)
		}
	}
}
