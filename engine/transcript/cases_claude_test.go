package transcript

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func at(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return t
}

func TestB01TruncatedTail(t *testing.T) {
	msgs, sum := readAll(t, casePath("B01-truncated-tail.jsonl"), RuntimeClaude, Options{})
	wantLines(t, msgs,
		"operator: Rename the cart module to basket.",
		"assistant: Renamed in 4 files; tests still to run.",
		"operator: Run the tests, then stop.")
	if sum.SkippedTotal != 1 || len(sum.Skipped) != 1 || sum.Skipped[0].Line != 4 || !sum.IncompleteTail {
		t.Errorf("skipped = %+v total %d incomplete %v", sum.Skipped, sum.SkippedTotal, sum.IncompleteTail)
	}
	if strings.Contains(sum.Skipped[0].Reason, "corrupt") || !strings.Contains(sum.Skipped[0].Reason, "incomplete") {
		t.Errorf("reason = %q", sum.Skipped[0].Reason)
	}
	if !strings.HasPrefix(sum.SessionID, "5e550001-") || sum.StartCwd != "/home/op/project" {
		t.Errorf("id %q cwd %q", sum.SessionID, sum.StartCwd)
	}
}

func TestB03LongLine(t *testing.T) {
	msgs, sum := readAll(t, casePath("B03-long-line.jsonl"), RuntimeClaude, Options{})
	if len(msgs) != 3 || msgs[0].Text != "See the screenshot." || msgs[2].Text != "Fix it in web/footer.css." {
		t.Errorf("messages:\n%s", lines(msgs))
	}
	if strings.Contains(lines(msgs), "SYNTHETIC") {
		t.Error("image data reached the text")
	}
	if sum.SkippedTotal != 0 || sum.Omitted.Images != 1 {
		t.Errorf("skipped %d images %d", sum.SkippedTotal, sum.Omitted.Images)
	}
}

func TestB03TwentyMegabyteLine(t *testing.T) {
	raw, err := os.ReadFile(casePath("B03-long-line.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	first, rest, _ := strings.Cut(string(raw), "\n")
	start := strings.Index(first, `"data":"`) + len(`"data":"`)
	big := first[:start] + strings.Repeat("SYNTHETIC0", 2_000_000) + first[start:] + "\n" + rest
	msgs, sum := claudeString(t, big, Options{})
	if len(msgs) != 3 || msgs[0].Text != "See the screenshot." {
		t.Fatalf("messages:\n%s", lines(msgs))
	}
	if sum.Shortened != 1 || sum.LeftOutBytes < 18_000_000 || sum.SkippedTotal != 0 {
		t.Errorf("shortened %d left out %d skipped %d", sum.Shortened, sum.LeftOutBytes, sum.SkippedTotal)
	}
}

func TestB04ContentShapes(t *testing.T) {
	msgs, sum := readAll(t, casePath("B04-content-shapes.jsonl"), RuntimeClaude, Options{Tools: true})
	var talk []Message
	var paths []string
	for _, m := range msgs {
		if m.Role == RoleTool {
			paths = append(paths, m.Paths...)
			continue
		}
		talk = append(talk, m)
	}
	wantLines(t, talk, "operator: yes continue", "assistant: Reading the file.",
		"operator: Use 20 percent.", "assistant: Set to 20 percent.")
	if !slices.Contains(paths, "/home/op/project/internal/tax/rates.go") {
		t.Errorf("paths = %v", paths)
	}
	o := sum.Omitted
	if o.ToolCalls != 2 || o.ToolResults != 2 || o.Reasoning != 1 || sum.SkippedTotal != 0 {
		t.Errorf("omitted %+v skipped %d", o, sum.SkippedTotal)
	}
	all, _ := json.Marshal(msgs)
	if strings.Contains(string(all), "private chain") {
		t.Error("reasoning reached the messages")
	}
}

func TestB07LateCwd(t *testing.T) {
	_, sum := readAll(t, casePath("B07-late-cwd.jsonl"), RuntimeClaude, Options{})
	if sum.StartCwd != "/home/op/project" || sum.LastCwd != "/home/op/project/services/billing" {
		t.Errorf("start %q last %q", sum.StartCwd, sum.LastCwd)
	}
	if !sum.StartedAt.Equal(at("2026-03-03T10:02:00Z")) || !sum.LastAt.Equal(at("2026-03-03T10:09:00Z")) {
		t.Errorf("started %v last %v", sum.StartedAt, sum.LastAt)
	}
	if sum.Title != "dev-impl@shop" {
		t.Errorf("title %q", sum.Title)
	}
}

func TestB08Sidechain(t *testing.T) {
	path := casePath("B08-sidechain.jsonl")
	msgs, sum := readAll(t, path, RuntimeClaude, Options{})
	wantLines(t, msgs, "operator: Find all callers of Charge().", "assistant: Three callers, all in billing.")
	if sum.Usage == nil || sum.Usage.Tokens != 41_206 || sum.Omitted.Sidechain != 2 {
		t.Errorf("usage %+v sidechain %d", sum.Usage, sum.Omitted.Sidechain)
	}
	rc, err := ReadRecent(path, RuntimeClaude)
	if err != nil || rc.Usage == nil || rc.Usage.Tokens != 41_206 {
		t.Errorf("latest usage %+v, %v", rc.Usage, err)
	}
}

func TestB08SubagentFilesAreNotSessions(t *testing.T) {
	const id = "5e550008-0000-4000-8000-00000000a008"
	raw, err := os.ReadFile(casePath("B08-sidechain.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	config := t.TempDir()
	folder := filepath.Join(config, "projects", "-home-op-project")
	main := writeFile(t, folder, id+".jsonl", string(raw))
	sub := writeFile(t, folder, filepath.Join(id, "subagents", "agent-a1.jsonl"), string(raw))
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(sub, later, later); err != nil {
		t.Fatal(err)
	}
	loc, err := FindClaude(config, id, "/home/op/project")
	if err != nil || loc.Path != main || loc.FoundElsewhere || loc.CwdMismatch {
		t.Errorf("found %+v, %v", loc, err)
	}
	if _, err := FindClaude(config, "agent-a1", ""); err == nil {
		t.Error("a sub-agent was accepted as a session")
	}
}

func TestB10UUIDCycle(t *testing.T) {
	msgs, sum := readAll(t, casePath("B10-uuid-cycle.jsonl"), RuntimeClaude, Options{})
	wantLines(t, msgs, "operator: First question.", "assistant: First answer.",
		"operator: Second question.", "assistant: Second answer.", "assistant: Self-parented line.")
	if sum.Omitted.Duplicates != 1 {
		t.Errorf("duplicates = %d", sum.Omitted.Duplicates)
	}
}

func TestB10SharedIDIsNotLost(t *testing.T) {
	rec := func(text string) string {
		return `{"type":"user","uuid":"u1","sessionId":"s","message":{"role":"user","content":"` + text + `"}}` + "\n"
	}
	msgs, _ := claudeString(t, rec("one")+rec("two")+rec("one"), Options{})
	wantLines(t, msgs, "operator: one", "operator: two")
}

func TestB11ManualCompact(t *testing.T) {
	path := casePath("B11-manual-compact.jsonl")
	msgs, sum := readAll(t, path, RuntimeClaude, Options{})
	wantLines(t, msgs,
		"operator: Work on the importer.", "assistant: Importer half done; next: dates.",
		"summary: This session is being continued from a previous conversation. Summary: importer half done.",
		"operator: Carry on with dates.", "assistant: Dates done.")
	if sum.CompactionsTotal != 1 || len(sum.Compactions) != 1 {
		t.Fatalf("compactions = %+v", sum.Compactions)
	}
	c := sum.Compactions[0]
	if c.Trigger != "manual" || c.PreTokens != 165_000 || !c.At.Equal(at("2026-03-03T10:02:30Z")) {
		t.Errorf("compaction = %+v", c)
	}
	since, err := CompactionsSince(path, RuntimeClaude, c.Offset)
	if err != nil || len(since) != 1 || since[0].Offset != c.Offset {
		t.Errorf("since its own offset: %+v, %v", since, err)
	}
	if since, _ = CompactionsSince(path, RuntimeClaude, c.Offset+1); len(since) != 0 {
		t.Errorf("since behind it: %+v", since)
	}
}

func TestB14BOMAndCRLF(t *testing.T) {
	msgs, sum := readAll(t, casePath("B14-bom-crlf.jsonl"), RuntimeClaude, Options{})
	if len(msgs) != 3 || msgs[0].Text != "Windows file." || strings.Count(msgs[1].Text, "\n") != 1 {
		t.Fatalf("messages:\n%s", lines(msgs))
	}
	if strings.Contains(lines(msgs), "\r") || sum.SkippedTotal != 0 || sum.SessionID == "" || sum.IncompleteTail {
		t.Errorf("summary %+v", sum)
	}
}

func TestB27StaleAfterCompact(t *testing.T) {
	path := casePath("B27-stale-after-compact/transcript.jsonl")
	rc, err := ReadRecent(path, RuntimeClaude)
	if err != nil {
		t.Fatal(err)
	}
	if rc.Usage == nil || !rc.Usage.Stale || !rc.AwaitingReply {
		t.Fatalf("usage %+v awaiting %v", rc.Usage, rc.AwaitingReply)
	}
	if rc.Compaction == nil || !rc.Compaction.At.Equal(at("2026-03-03T10:29:00Z")) {
		t.Errorf("compaction %+v", rc.Compaction)
	}
	_, sum := readAll(t, path, RuntimeClaude, Options{})
	if sum.Usage == nil || !sum.Usage.Stale {
		t.Errorf("streamed usage %+v", sum.Usage)
	}
	// The first reply after the compaction clears it.
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	reply := `{"type":"assistant","uuid":"n","timestamp":"2026-03-03T10:32:00Z","message":{"model":"m","content":"ok","stop_reason":"end_turn","usage":{"input_tokens":5,"cache_read_input_tokens":3000}}}`
	grown := writeFile(t, t.TempDir(), "t.jsonl", strings.TrimRight(string(raw), "\n")+"\n"+reply+"\n")
	rc, err = ReadRecent(grown, RuntimeClaude)
	if err != nil || rc.Usage == nil || rc.Usage.Stale || rc.AwaitingReply || rc.Usage.Tokens != 3005 {
		t.Errorf("after the reply: %+v awaiting %v, %v", rc.Usage, rc.AwaitingReply, err)
	}
}

func TestB29WindowTooSmall(t *testing.T) {
	raw, err := os.ReadFile(casePath("B29-window-too-small.json"))
	if err != nil {
		t.Fatal(err)
	}
	var status struct {
		ContextWindow struct {
			Size  int64            `json:"context_window_size"`
			Usage map[string]int64 `json:"current_usage"`
		} `json:"context_window"`
	}
	if err := json.Unmarshal(raw, &status); err != nil {
		t.Fatal(err)
	}
	u := status.ContextWindow.Usage
	tokens := u["input_tokens"] + u["cache_creation_input_tokens"] + u["cache_read_input_tokens"]
	o := Occupy(tokens, status.ContextWindow.Size)
	if o.Tokens != 360_236 || o.Reliable || o.Percent != 0 {
		t.Errorf("occupancy %+v", o)
	}
	if !strings.Contains(o.Caveat, "window") || !strings.Contains(o.Caveat, "200000") {
		t.Errorf("caveat %q", o.Caveat)
	}
}

func TestB43SlugTable(t *testing.T) {
	raw, err := os.ReadFile(casePath("B43-slug-table.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	tested := 0
	for _, row := range strings.Split(strings.TrimSpace(string(raw)), "\n")[1:] {
		cwd, want, _ := strings.Cut(row, "\t")
		if strings.Contains(cwd, "(symlink") {
			continue // TestB43Symlink makes a real one
		}
		slug, exact := ClaudeSlug(RealDir(cwd))
		if strings.HasPrefix(want, "(longer") {
			if exact {
				t.Errorf("%s: an exact name was claimed", cwd)
			}
		} else if slug != want || !exact {
			t.Errorf("%s: %s, want %s", cwd, slug, want)
		}
		tested++
	}
	if tested < 10 {
		t.Errorf("only %d rows were tested", tested)
	}
	if slug, _ := ClaudeSlug("/home/op/😀"); slug != "-home-op---" {
		t.Errorf("a character outside the BMP is two units: %s", slug)
	}
}

const b43ID = "5e550043-0000-4000-8000-00000000a043"

func b43Record(cwd string) string {
	b, _ := json.Marshal(map[string]any{
		"type": "user", "uuid": "u", "sessionId": b43ID, "cwd": cwd,
		"timestamp": "2026-03-03T10:00:00Z", "message": map[string]any{"role": "user", "content": "x"},
	})
	return string(b) + "\n"
}

func TestB43Symlink(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	project, link := filepath.Join(root, "project"), filepath.Join(root, "link")
	if err := os.Mkdir(project, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(project, link); err != nil {
		t.Fatal(err)
	}
	slug, _ := ClaudeSlug(project)
	path := writeFile(t, root, filepath.Join("cfg", "projects", slug, b43ID+".jsonl"), b43Record(project))
	loc, err := FindClaude(filepath.Join(root, "cfg"), b43ID, link+"/")
	if err != nil || loc.Path != path || loc.FoundElsewhere || loc.CwdMismatch {
		t.Errorf("through the link: %+v, %v", loc, err)
	}
	if err := os.RemoveAll(project); err != nil {
		t.Fatal(err)
	}
	loc, err = FindClaude(filepath.Join(root, "cfg"), b43ID, project)
	if err != nil || loc.Path != path {
		t.Errorf("after the directory was deleted: %+v, %v", loc, err)
	}
}

func TestB43LongPathIsFoundByID(t *testing.T) {
	config := t.TempDir()
	cwd := "/home/op" + strings.Repeat("/very-long-segment", 14) + "/end"
	slug, _ := ClaudeSlug(cwd)
	path := writeFile(t, config, filepath.Join("projects", slug[:200]+"-x1y2z3", b43ID+".jsonl"), b43Record(cwd))
	loc, err := FindClaude(config, b43ID, cwd)
	if err != nil || loc.Path != path || loc.CwdMismatch || loc.FoundElsewhere {
		t.Errorf("found %+v, %v", loc, err)
	}
}

func TestB43ElsewhereOnlyWithItsOwnDirectory(t *testing.T) {
	config := t.TempDir()
	writeFile(t, config, filepath.Join("projects", "-a", b43ID+".jsonl"), b43Record("/home/op/other"))
	loc, err := FindClaude(config, b43ID, "/home/op/project")
	if err != nil || !loc.CwdMismatch || loc.RecordedCwd != "/home/op/other" || !strings.Contains(loc.Reason, "/home/op/other") {
		t.Errorf("another directory's conversation: %+v, %v", loc, err)
	}
	right := writeFile(t, config, filepath.Join("projects", "-b", b43ID+".jsonl"), b43Record("/home/op/project"))
	loc, err = FindClaude(config, b43ID, "/home/op/project")
	if err != nil || loc.Path != right || loc.CwdMismatch || !loc.FoundElsewhere || len(loc.Others) != 1 {
		t.Errorf("with both: %+v, %v", loc, err)
	}
	if loc, err = FindClaude(config, "00000000-0000-4000-8000-000000000000", ""); err != nil || loc.Path != "" || loc.Reason == "" {
		t.Errorf("unknown id: %+v, %v", loc, err)
	}
	for _, bad := range []string{"", "../../etc/passwd", "a/b", ".", "x"} {
		if _, err := FindClaude(config, bad, ""); err == nil {
			t.Errorf("id %q was accepted", bad)
		}
	}
}
