package packet

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rig/engine"
)

// conversation writes a Claude transcript of operator turns, each answered.
func conversation(t *testing.T, turns ...string) string {
	t.Helper()
	var b strings.Builder
	for i, text := range turns {
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, `{"type":"user","uuid":"u%d","sessionId":"5e550092-0000-4000-8000-00000000a092","cwd":"/home/op/project","timestamp":"2026-03-04T08:%02d:00Z","message":{"role":"user","content":%s}}`+"\n", i, i, quoted)
		fmt.Fprintf(&b, `{"type":"assistant","uuid":"a%d","sessionId":"5e550092-0000-4000-8000-00000000a092","cwd":"/home/op/project","timestamp":"2026-03-04T08:%02d:30Z","message":{"role":"assistant","content":[{"type":"text","text":"Done %d."}]}}`+"\n", i, i, i)
	}
	path := filepath.Join(t.TempDir(), "talk.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// rigsOwn are messages as the engine types them.
func rigsOwn() []string {
	return []string{
		"[compaction 01JDQ4ZK8W3M5N7P9R1T2V4X6Y] An operator asked for a compaction of this conversation; it may or may not follow within 3m0s. Write your restore map with your edit tool, no shell, to /home/op/project/.rig/compaction/01JDQ4ZK8W3M5N7P9R1T2V4X6Y/RESTORE-MAP.md.tmp : a ranked reading list",
		"[compaction 01JDQ4ZK8W3M5N7P9R1T2V4X6Y] restore: restore now, as your restore directive says (/home/op/project/.rig/packets/dev-impl-01JDQ4ZK8W3M5N7P9R1T2V4X6Y).",
		"[compaction 01JDQ4ZK8W3M5N7P9R1T2V4X6Y] audit: before any other work list what you were asked to read with FULL, PARTIAL or NOT_READ, and read the rest.",
		"The handover of dev-impl@shop is committed: the seat is yours. Go on with the work that the packet names, beginning with what it calls current.",
		"You are dev-impl@shop. `rig whoami` tells your role, peers and edges.\n\nBe brief.",
	}
}

func TestRigsOwnMessagesAreNoInstructions(t *testing.T) {
	turns := append([]string{rigsOwn()[4], "Move the cart into its own service."}, rigsOwn()[:4]...)
	q := request(t, conversation(t, turns...))
	q.CurrentWork, q.WhyItMatters = "", ""
	res, p := written(t, q)
	if !strings.Contains(p.Summary.CurrentWork, `(2026-03-04T08:01:00Z): "Move the cart into its own service."`) {
		t.Errorf("current work: %s", p.Summary.CurrentWork)
	}
	if !strings.Contains(p.Summary.WhyItMatters, `"Move the cart into its own service."`) {
		t.Errorf("why: %s", p.Summary.WhyItMatters)
	}
	said := talk(t, res.Path)
	if len(said) != 12 || !strings.HasPrefix(said[4], "rig: [compaction ") || !strings.HasPrefix(said[2], "operator: Move") || !strings.HasPrefix(said[10], "rig: The handover") {
		t.Errorf("transcript: %q", said)
	}
	if !strings.Contains(strings.Join(said, "\n"), "/home/op/project/.rig/compaction/01JDQ4ZK8W3M5N7P9R1T2V4X6Y/RESTORE-MAP.md.tmp") {
		t.Error("the path of the restore map is gone")
	}
}

// Somebody who talks about such a message is still somebody.
func TestWhatOnlyLooksLikeRigsOwn(t *testing.T) {
	for _, text := range []string{
		"Why did it say [compaction 01JDQ4ZK8W3M5N7P9R1T2V4X6Y]?", "[compaction of the tables] is next", "You now sit in the seat of honour.",
		"The handover of the keys is committed: the seat is yours. Enjoy", "You are right. `rig whoami` tells it", "/compact keep the plan",
	} {
		if kind := engine.OwnMessage(text); kind != "" {
			t.Errorf("%q was taken for %s", text, kind)
		}
	}
}

// A successor to whom nobody spoke hands on what it was given: the intent does not
// get lost however often the occupant changes.
func TestIntentOutlivesAChainOfHandovers(t *testing.T) {
	s, in := departing(t)
	in.Work = nil
	in.Transcript = conversation(t, "Move the cart into its own service, because checkout must not stop.", "First the tests.")
	for i := range 3 {
		in.OpID = fmt.Sprintf("01JNOP0000000000000000TES%d", i)
		h := handoff(t, s, in)
		p, err := Read(h.Dir)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(p.Summary.WhyItMatters, `"Move the cart into its own service, because checkout must not stop."`) ||
			!strings.Contains(p.Summary.CurrentWork, `"First the tests."`) || len(p.Summary.CurrentWork) > 400 {
			t.Fatalf("handover %d: why %s\ncurrent %s", i, p.Summary.WhyItMatters, p.Summary.CurrentWork)
		}
		in.Transcript = conversation(t, h.Prompt, rigsOwn()[3])
	}
	in.OpID = "01JNOP0000000000000000TES8"
	in.Transcript = conversation(t, handoff(t, s, in).Prompt, rigsOwn()[3], "Now the documentation.")
	in.OpID = "01JNOP0000000000000000TES9"
	p, err := Read(handoff(t, s, in).Dir)
	if err != nil || !strings.Contains(p.Summary.WhyItMatters, "checkout must not stop") || !strings.Contains(p.Summary.CurrentWork, `"Now the documentation."`) {
		t.Errorf("new words: %v, why %s\ncurrent %s", err, p.Summary.WhyItMatters, p.Summary.CurrentWork)
	}
}
