package transcript

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestB18ForkTwoHeaders(t *testing.T) {
	const id, parent = "019f0018-0000-7000-8000-000000000018", "019f0090-0000-7000-8000-000000000090"
	path := casePath("B18-fork-two-metas.jsonl")
	msgs, sum := readAll(t, path, RuntimeCodex, Options{})
	if sum.SessionID != id || sum.ParentID != parent {
		t.Errorf("id %q parent %q", sum.SessionID, sum.ParentID)
	}
	if sum.StartCwd != "/home/op/project" || sum.LastCwd != "/home/op/project" {
		t.Errorf("start %q last %q", sum.StartCwd, sum.LastCwd)
	}
	wantLines(t, msgs, "operator: Parent: design the queue.", "assistant: Parent: queue designed.",
		"operator: Fork: try it with channels.", "assistant: Fork: channels version in internal/q/chan.go.")
	for i, inherited := range []bool{true, true, false, false} {
		if msgs[i].Inherited != inherited {
			t.Errorf("message %d inherited = %v", i, msgs[i].Inherited)
		}
	}
	head, err := ReadHead(path, RuntimeCodex)
	if err != nil || head.SessionID != id || head.ParentID != parent || head.StartCwd != "/home/op/project" {
		t.Errorf("head %+v, %v", head, err)
	}
}

func TestB20LastVersusTotal(t *testing.T) {
	path := casePath("B20-last-vs-total.jsonl")
	rc, err := ReadRecent(path, RuntimeCodex)
	if err != nil || rc.Usage == nil {
		t.Fatalf("usage %+v, %v", rc.Usage, err)
	}
	u := rc.Usage
	o := u.Occupancy()
	if u.Tokens != 37_900 || u.Window != 272_000 || !o.Reliable || o.Percent < 13.9 || o.Percent > 13.95 {
		t.Errorf("usage %+v occupancy %+v", u, o)
	}
	if !u.At.Equal(at("2026-03-03T10:09:00Z")) || u.LifetimeTokens != 967_200 {
		t.Errorf("at %v lifetime %d", u.At, u.LifetimeTokens)
	}
	if _, sum := readAll(t, path, RuntimeCodex, Options{}); sum.Usage == nil || sum.Usage.Tokens != 37_900 {
		t.Errorf("streamed %+v", sum.Usage)
	}
}

func TestB22DualEncoding(t *testing.T) {
	path := casePath("B22-dual-encoding.jsonl")
	want := []string{
		"operator: List the migrations.", "assistant: There are 12.", "operator: again",
		"assistant: There are 12.", "operator: again", "assistant: Still 12.",
	}
	msgs, sum := readAll(t, path, RuntimeCodex, Options{})
	wantLines(t, msgs, want...)
	if sum.Messages != 6 || sum.Omitted.Duplicates != 6 {
		t.Errorf("messages %d duplicates %d", sum.Messages, sum.Omitted.Duplicates)
	}
	for n := 1; n <= 7; n++ {
		last, _, err := LastMessages(path, RuntimeCodex, n, Options{})
		if err != nil {
			t.Fatal(err)
		}
		wantLines(t, last, want[max(6-n, 0):]...)
	}
}

const b26ID = "019caf00-0000-7000-8000-000000000026" // made on 2026-03-02

func b26Rollout() string {
	return `{"timestamp":"2026-03-03T10:00:00.000Z","type":"session_meta","payload":{"id":"` + b26ID + `","cwd":"/home/op/project"}}` + "\n"
}

func TestB26ArchivedAndCompressed(t *testing.T) {
	name := "rollout-2026-03-03T10-00-00-" + b26ID + ".jsonl"
	day := filepath.Join("sessions", "2026", "03", "03")

	home := t.TempDir()
	path := writeFile(t, home, filepath.Join("archived_sessions", name), b26Rollout())
	loc, err := FindCodex(home, b26ID)
	if err != nil || loc.Path != path || !loc.Archived || loc.Compressed || !strings.Contains(loc.Reason, "archived") {
		t.Errorf("(a) archived: %+v, %v", loc, err)
	}

	home = t.TempDir()
	zst := writeFile(t, home, filepath.Join(day, name+".zst"), "\x28\xb5\x2f\xfdxxxx")
	loc, err = FindCodex(home, b26ID)
	if err != nil || loc.Path != zst || !loc.Compressed || loc.Archived || !strings.Contains(loc.Reason, "compressed") {
		t.Errorf("(b) compressed: %+v, %v", loc, err)
	}
	if _, err := ReadFile(zst, RuntimeCodex, Options{}, nil); !errors.Is(err, ErrCompressed) {
		t.Errorf("reading it: %v", err)
	}

	plain := writeFile(t, home, filepath.Join(day, name), b26Rollout())
	loc, err = FindCodex(home, b26ID)
	if err != nil || loc.Path != plain || loc.Compressed || len(loc.Others) != 1 || loc.Others[0] != zst {
		t.Errorf("(c) both: %+v, %v", loc, err)
	}
	if loc.RecordedCwd != "/home/op/project" {
		t.Errorf("(c) cwd %q", loc.RecordedCwd)
	}

	other := t.TempDir()
	if loc, err = FindCodex(other, b26ID); err != nil || loc.Path != "" || !strings.Contains(loc.Reason, other) {
		t.Errorf("(d) another home: %+v, %v", loc, err)
	}
	link := filepath.Join(t.TempDir(), "home")
	if err := os.Symlink(home, link); err != nil {
		t.Fatal(err)
	}
	if loc, err = FindCodex(link, b26ID); err != nil || !strings.HasPrefix(loc.Path, link) {
		t.Errorf("(d) a linked home: %+v, %v", loc, err)
	}
}

func TestFindCodexTellsAForkFromItsParent(t *testing.T) {
	home := t.TempDir()
	day := filepath.Join("sessions", "2026", "01", "15")
	for _, name := range []string{"codex-rollout.jsonl", "codex-rollout-fork.jsonl"} {
		raw, err := os.ReadFile(fixture(name))
		if err != nil {
			t.Fatal(err)
		}
		id := map[bool]string{true: "bbbb", false: "aaaa"}[strings.Contains(name, "fork")]
		writeFile(t, home, filepath.Join(day, "rollout-2026-01-15T12-57-54-01990000-0000-7000-8000-00000000"+id+".jsonl"), string(raw))
	}
	const parent = "01990000-0000-7000-8000-00000000aaaa"
	// The name of a fork's file ends in its own id, so the parent's search
	// finds one file only.
	loc, err := FindCodex(home, parent)
	if err != nil || !strings.HasSuffix(loc.Path, parent+".jsonl") || len(loc.Others) != 0 {
		t.Errorf("parent %+v, %v", loc, err)
	}
}
