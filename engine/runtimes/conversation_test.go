package runtimes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rig/engine"
	"rig/engine/transcript"
)

func userRecord(id, cwd string) string {
	return `{"type":"user","sessionId":"` + id + `","cwd":"` + cwd + `","timestamp":"2026-01-15T12:00:00Z","message":{"role":"user","content":"x"}}` + "\n"
}

func age(t *testing.T, path string, d time.Duration) {
	t.Helper()
	at := time.Now().Add(-d)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

func TestClaudeConversation(t *testing.T) {
	home := t.TempDir()
	h := engine.Homes{Home: home, ClaudeDir: filepath.Join(home, ".claude")}
	rt := NewClaude(testConfig(t))
	project := filepath.Join(h.ClaudeDir, "projects", "-home-op-project")
	find := func(token string) engine.ConversationState {
		return rt.Conversation(t.Context(), token, "/home/op/project", h)
	}
	if st := find(id1); st.Exists != engine.Absent || st.Why == "" {
		t.Errorf("nothing there: %+v", st)
	}
	// B42: a folder of that name does not count.
	write(t, filepath.Join(project, id1, "tool-results", "x.txt"), "x")
	if st := find(id1); st.Exists != engine.Absent {
		t.Errorf("a folder of that name: %+v", st)
	}
	path := filepath.Join(project, id1+".jsonl")
	write(t, path, userRecord(id1, "/home/op/project"))
	if st := find(id1); st.Exists != engine.Present || st.Path != path || len(st.Caveats) != 0 || st.Live {
		t.Errorf("there: %+v", st)
	}
	if st := find(strings.ToUpper(id1)); st.Exists != engine.Present {
		t.Errorf("in capitals: %+v", st)
	}
	if st := find("../" + id1); st.Exists != engine.Absent {
		t.Errorf("no id: %+v", st)
	}
	age(t, path, 29*24*time.Hour)
	if st := find(id1); st.Exists != engine.Present || len(st.Caveats) != 1 || !strings.Contains(st.Caveats[0], "30 days") || st.Details["removal_due"] == nil {
		t.Errorf("about to be cleaned up: %+v", st)
	}
	// B69: comments, a byte order mark and a stray comma in the settings.
	settings := filepath.Join(h.ClaudeDir, "settings.json")
	write(t, settings, readFile(t, filepath.Join(cases, "B69-claude-settings.json")))
	before := readFile(t, settings)
	if st := find(id1); len(st.Caveats) != 0 {
		t.Errorf("kept for 90 days: %+v", st)
	}
	write(t, settings, `{"cleanupPeriodDays": `)
	if st := find(id1); st.Exists != engine.Present || len(st.Caveats) != 1 || !strings.Contains(st.Caveats[0], settings) {
		t.Errorf("broken settings: %+v", st)
	}
	if !strings.HasPrefix(before, "\ufeff") || readFile(t, settings) != `{"cleanupPeriodDays": ` {
		t.Error("the settings were rewritten")
	}
	write(t, path, "")
	if st := find(id1); st.Exists != engine.Absent || !strings.Contains(st.Why, "never prompted") {
		t.Errorf("empty: %+v", st)
	}
	write(t, path, userRecord(id1, "/home/op/other"))
	if st := find(id1); st.Exists != engine.Absent || !strings.Contains(st.Why, "/home/op/other") {
		t.Errorf("began elsewhere: %+v", st)
	}
}

// B40: the transcript is in another home. It is named, and it does not count.
func TestClaudeConversationInAnotherHome(t *testing.T) {
	home := t.TempDir()
	write(t, filepath.Join(home, ".claude", "projects", "-home-op-project", id1+".jsonl"), userRecord(id1, "/home/op/project"))
	rt := NewClaude(testConfig(t))
	st := rt.Conversation(t.Context(), id1, "/home/op/project", engine.Homes{Home: home, ClaudeDir: filepath.Join(home, ".claude-b")})
	if st.Exists != engine.Absent || st.Details["found_in"] != filepath.Join(home, ".claude") || strings.Contains(st.Why, id1) {
		t.Errorf("got %+v", st)
	}
	env := []string{"HOME=" + home, "CLAUDE_CONFIG_DIR=" + filepath.Join(home, ".claude-b")}
	if h := HomesOf(env); h.ClaudeDir != filepath.Join(home, ".claude-b") || h.CodexDir != filepath.Join(home, ".codex") {
		t.Errorf("homes %+v", h)
	}
	if h := HomesOf([]string{"HOME=/h", "CLAUDE_CONFIG_DIR=rel", "CODEX_HOME="}); h.ClaudeDir != "/h/.claude" || h.CodexDir != "/h/.codex" {
		t.Errorf("homes %+v", h)
	}
}

// B43: every row of the table is found in its folder.
func TestClaudeConversationFolders(t *testing.T) {
	rows := strings.Split(strings.TrimSpace(readFile(t, filepath.Join(cases, "B43-slug-table.tsv"))), "\n")[1:]
	if len(rows) < 11 {
		t.Fatalf("only %d rows", len(rows))
	}
	rt := NewClaude(testConfig(t))
	for _, row := range rows {
		cwd, slug, _ := strings.Cut(row, "\t")
		if strings.Contains(cwd, "symlink") || strings.HasPrefix(slug, "(") {
			continue
		}
		home := t.TempDir()
		h := engine.Homes{Home: home, ClaudeDir: filepath.Join(home, ".claude")}
		write(t, filepath.Join(h.ClaudeDir, "projects", slug, id1+".jsonl"), userRecord(id1, filepath.Clean(cwd)))
		if st := rt.Conversation(t.Context(), id1, cwd, h); st.Exists != engine.Present || len(st.Caveats) != 0 {
			t.Errorf("%s: %+v", cwd, st)
		}
	}
	home := t.TempDir()
	real, link := filepath.Join(home, "project"), filepath.Join(home, "link")
	if err := os.Mkdir(real, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	h := engine.Homes{Home: home, ClaudeDir: filepath.Join(home, ".claude")}
	slug := strings.NewReplacer("/", "-", ".", "-", "_", "-").Replace(real)
	write(t, filepath.Join(h.ClaudeDir, "projects", slug, id1+".jsonl"), userRecord(id1, real))
	if st := rt.Conversation(t.Context(), id1, link, h); st.Exists != engine.Present {
		t.Errorf("through a link: %+v", st)
	}
	long := "/home/op" + strings.Repeat("/very-long-segment", 14) + "/end"
	write(t, filepath.Join(h.ClaudeDir, "projects", "shortened-x1y2z3", id2+".jsonl"), userRecord(id2, long))
	if st := rt.Conversation(t.Context(), id2, long, h); st.Exists != engine.Present {
		t.Errorf("a long path: %+v", st)
	}
}

func TestConversationLiveElsewhere(t *testing.T) {
	home := t.TempDir()
	h := engine.Homes{Home: home, ClaudeDir: filepath.Join(home, ".claude")}
	write(t, filepath.Join(h.ClaudeDir, "projects", "-home-op-project", id1+".jsonl"), userRecord(id1, "/home/op/project"))
	pid := process(t, "sleep", "600").Process.Pid
	path := registryFile(t, h.ClaudeDir, "claude-session-registry-idle.json", pid, started(t, pid), id1)
	rt := NewClaude(testConfig(t))
	if st := rt.Conversation(t.Context(), id1, "/home/op/project", h); !st.Live || st.LivePID != pid {
		t.Errorf("live: %+v", st)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	registryFile(t, h.ClaudeDir, "claude-session-registry-idle.json", pid, "1", id1)
	if st := rt.Conversation(t.Context(), id1, "/home/op/project", h); st.Live {
		t.Errorf("a file that a killed client left behind: %+v", st)
	}
}

const (
	thread = "019f0026-0000-7000-8000-000000000026"
	parent = "019f0025-0000-7000-8000-000000000025"
)

func sessionMeta(id, parent, cwd string) string {
	fork := ""
	if parent != "" {
		fork = `,"forked_from_id":"` + parent + `","history_base":{"thread_id":"` + parent + `","end_ordinal_exclusive":5,"end_byte_offset":900}`
	}
	return `{"timestamp":"2026-03-03T10:00:00.000Z","type":"session_meta","payload":{"id":"` + id + `"` + fork + `,"timestamp":"2026-03-03T10:00:00.000Z","cwd":"` + cwd + `"}}` + "\n"
}

// B26: archived, compressed, both, and a home of its own.
func TestCodexConversation(t *testing.T) {
	const name = "rollout-2026-03-03T10-00-00-" + thread + ".jsonl"
	rt := NewCodex(testConfig(t))
	home := func(t *testing.T, files ...string) engine.Homes {
		h := engine.Homes{Home: t.TempDir()}
		h.CodexDir = filepath.Join(h.Home, "codex-b")
		for _, f := range files {
			content := sessionMeta(thread, "", "/home/op/project")
			if strings.HasSuffix(f, ".zst") {
				content = "\x28\xb5\x2f\xfdxxxx"
			}
			write(t, filepath.Join(h.CodexDir, f), content)
		}
		return h
	}
	check := func(name string, h engine.Homes, exists engine.Presence, caveat string) engine.ConversationState {
		t.Helper()
		st := rt.Conversation(t.Context(), thread, "/home/op/project", h)
		if st.Exists != exists || caveat == "" && len(st.Caveats) != 0 || caveat != "" && !strings.Contains(strings.Join(st.Caveats, "|"), caveat) {
			t.Errorf("%s: %+v", name, st)
		}
		return st
	}
	check("none", home(t), engine.Absent, "")
	check("plain", home(t, "sessions/2026/03/03/"+name), engine.Present, "")
	st := check("archived", home(t, "archived_sessions/"+name), engine.Present, "archived")
	if st.Details["blocks"] != true {
		t.Errorf("archived and not blocked: %+v", st)
	}
	check("compressed", home(t, "sessions/2026/03/03/"+name+".zst"), engine.Present, "compressed")
	check("both", home(t, "sessions/2026/03/03/"+name, "sessions/2026/03/03/"+name+".zst"), engine.Present, "")
	// A lock folder that cannot be looked into proves nothing about who writes.
	check("lock", home(t, "sessions/2026/03/03/"+name, lockDir), engine.Present, "whether a process has it open cannot be told: not a directory")

	h := home(t)
	write(t, filepath.Join(h.CodexDir, "sessions/2026/03/03", name), sessionMeta(thread, parent, "/home/op/project"))
	if st := check("parent gone", h, engine.Present, "refers to is gone"); st.Details["blocks"] != true {
		t.Errorf("a fork without its parent: %+v", st)
	}
	write(t, filepath.Join(h.CodexDir, "sessions/2026/03/02/rollout-2026-03-02T10-00-00-"+parent+".jsonl"), sessionMeta(parent, "", "/home/op/project"))
	check("parent there", h, engine.Present, "")

	other := engine.Homes{Home: h.Home, CodexDir: filepath.Join(h.Home, ".codex-c")}
	write(t, filepath.Join(h.Home, ".codex", "sessions/2026/03/03", name), sessionMeta(thread, "", "/home/op/project"))
	if st := check("another home", other, engine.Absent, ""); st.Details["found_in"] != filepath.Join(h.Home, ".codex") {
		t.Errorf("where it was found: %+v", st)
	}
}

// TestCodexTakenBack: when a person takes a thread back to an earlier prompt, Codex
// goes on in a further file of the same thread, perhaps days later, which builds on the
// one before. Names and header as 0.171 writes them.
func TestCodexTakenBack(t *testing.T) {
	const again, third = "019f0030-0000-7000-8000-000000000030", "019f0031-0000-7000-8000-000000000031"
	rt := NewCodex(testConfig(t))
	h := engine.Homes{Home: t.TempDir()}
	h.CodexDir = filepath.Join(h.Home, ".codex")
	first := filepath.Join(h.CodexDir, "sessions/2026/11/30/rollout-2026-11-30T10-00-00-"+thread+".jsonl")
	second := filepath.Join(h.CodexDir, "sessions/2026/11/30/rollout-2026-11-30T10-00-00-"+thread+"_"+again+".jsonl")
	last := filepath.Join(h.CodexDir, "sessions/2027/01/02/rollout-2027-01-02T09-00-00-"+thread+"_"+third+".jsonl")
	taken := strings.Replace(sessionMeta(thread, thread, "/p"), `"forked_from_id":"`+thread+`",`, "", 1)
	write(t, second, taken)
	write(t, last, strings.Replace(taken, `"thread_id":"`+thread, `"thread_id":"`+again, 1))
	if st := rt.Conversation(t.Context(), thread, "/p", h); st.Details["blocks"] != true || !strings.Contains(st.Why, "from before that is gone") {
		t.Errorf("without the first file: %+v", st)
	}
	write(t, first, sessionMeta(thread, "", "/p"))
	if st := rt.Conversation(t.Context(), thread, "/p", h); st.Path != last || st.Details["blocks"] != nil || len(st.Caveats) != 0 {
		t.Errorf("%+v", st)
	}
	kept := transcript.RealDir(h.CodexDir)
	files := []openFile{
		{path: filepath.Join(kept, lockDir, thread+".lock"), locked: true},
		{path: strings.Replace(last, h.CodexDir, kept, 1), writes: true},
	}
	if id, rollout := threadOf(files, h.CodexDir); id != thread || !strings.HasSuffix(rollout, third+".jsonl") {
		t.Errorf("the client writes %s in %s", id, rollout)
	}
}

// TestCodexForkChains: a fork of a fork needs every rollout down to the first, and
// a fork of the older kind, which holds its parent's history itself, needs none.
func TestCodexForkChains(t *testing.T) {
	const child, root = "019f0027-0000-7000-8000-000000000027", "019f0024-0000-7000-8000-000000000024"
	rt := NewCodex(testConfig(t))
	h := engine.Homes{Home: t.TempDir()}
	h.CodexDir = filepath.Join(h.Home, ".codex")
	path := func(id string) string {
		return filepath.Join(h.CodexDir, "sessions/2026/03/03/rollout-2026-03-03T10-00-00-"+id+".jsonl")
	}
	write(t, path(child), sessionMeta(child, parent, "/p"))
	write(t, path(parent), sessionMeta(parent, root, "/p"))
	write(t, path(root), sessionMeta(root, "", "/p"))
	blocked := func(name, id string, want bool) {
		t.Helper()
		if st := rt.Conversation(t.Context(), id, "/p", h); (st.Details["blocks"] == true) != want {
			t.Errorf("%s: %+v", name, st)
		}
	}
	blocked("a whole chain", child, false)
	if err := os.Remove(path(root)); err != nil {
		t.Fatal(err)
	}
	blocked("the first of the chain is gone", child, true)
	blocked("its direct child", parent, true)
	write(t, path(root), "")
	blocked("the first of the chain is empty", child, true)
	write(t, path(root), sessionMeta(root, child, "/p"))
	blocked("a chain that bites its tail", child, true)

	older := strings.Replace(sessionMeta(thread, "", "/p"), `"cwd"`, `"forked_from_id":"`+id1+`","cwd"`, 1)
	write(t, path(thread), older+sessionMeta(id1, "", "/other"))
	blocked("history that was copied", thread, false)
}

func TestHints(t *testing.T) {
	rts := All(testConfig(t))
	for _, c := range []struct {
		rt     engine.RuntimeName
		pane   engine.Pane
		screen []string
		procs  []string
		want   engine.Confidence
	}{
		{engine.RuntimeClaude, engine.Pane{Command: "claude"}, nil, nil, engine.ConfidenceHigh},
		{engine.RuntimeClaude, engine.Pane{Command: "node"}, nil, []string{"node /opt/lib/node_modules/@anthropic-ai/claude-code/cli.js"}, engine.ConfidenceHigh},
		{engine.RuntimeClaude, engine.Pane{Command: "bash"}, pane(t, fixtures, "claude-pane-idle-fresh.txt"), nil, engine.ConfidenceLow},
		{engine.RuntimeClaude, engine.Pane{Command: "vim"}, []string{"claude"}, []string{"vim claude"}, engine.ConfidenceNone},
		{engine.RuntimeCodex, engine.Pane{Command: "node"}, nil, []string{"/usr/bin/codex --no-daemon"}, engine.ConfidenceHigh},
		{engine.RuntimeCodex, engine.Pane{Command: "x"}, pane(t, fixtures, "codex-pane-idle-fresh.txt"), nil, engine.ConfidenceLow},
		{engine.RuntimeCodex, engine.Pane{Command: "bash"}, pane(t, fixtures, "claude-pane-idle-fresh.txt"), nil, engine.ConfidenceNone},
		{engine.RuntimeTerminal, engine.Pane{Command: "bash"}, nil, nil, engine.ConfidenceLow},
		{engine.RuntimeTerminal, engine.Pane{Command: "vim"}, nil, nil, engine.ConfidenceNone},
	} {
		got, why := rts[c.rt].Hint(c.pane, c.screen, c.procs)
		if got != c.want || (got == engine.ConfidenceNone) != (why == "") {
			t.Errorf("%s %+v %q: %s %q", c.rt, c.pane.Command, c.procs, got, why)
		}
	}
}
