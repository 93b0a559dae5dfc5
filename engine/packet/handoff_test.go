package packet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rig/engine"
)

// departing is a seat with a transcript and claimed work, about to be handed over.
func departing(t *testing.T) (Seats, engine.PacketInput) {
	t.Helper()
	in := engine.PacketInput{
		OpID: "01JNOP0000000000000000TEST", Address: "dev-impl@shop", Now: now, Reason: "the context is full",
		Seat:       engine.Seat{Pod: "dev", Member: "impl", Runtime: "claude-code", Cwd: t.TempDir(), Role: "implements"},
		Session:    engine.Session{Generation: 4},
		Edges:      []engine.EdgeView{{Kind: "reviews", Seat: "dev-qa@shop", Out: true}},
		Transcript: cases + "B93-secrets.jsonl",
		Work: []engine.WorkItem{
			{ID: "w1", Title: "rename the cart", State: "claimed", Note: "password=EXAMPLEexample0000"},
			{ID: "w2", Title: "old thing", State: "done"},
			{ID: "w3", Title: "next thing", State: "pending"},
		},
	}
	return Seats{Home: t.TempDir()}, in
}

func handoff(t *testing.T, s Seats, in engine.PacketInput) engine.Handoff {
	t.Helper()
	h, err := s.WritePacket(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if len(h.Prompt) > maxPrompt || strings.Count(h.Prompt, h.Marker) != 1 || !strings.HasSuffix(h.Prompt, "when the seat is yours.\n") {
		t.Errorf("%d bytes, marker %q in:\n%s", len(h.Prompt), h.Marker, h.Prompt)
	}
	return h
}

func TestHandoffOfASeatAtWork(t *testing.T) {
	s, in := departing(t)
	h := handoff(t, s, in)
	for _, want := range []string{"dev-impl@shop", "the context is full", "generation 4", "w1 (claimed): rename the cart", "Inbound work w3: next thing", "reviews to dev-qa@shop", h.Dir, InstructionsName} {
		if !strings.Contains(h.Prompt, want) {
			t.Errorf("%q is missing from the prompt:\n%s", want, h.Prompt)
		}
	}
	if strings.Contains(h.Prompt, "EXAMPLE") || strings.Contains(h.Prompt, "old thing") {
		t.Errorf("prompt:\n%s", h.Prompt)
	}
	p, err := Read(h.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(p.Summary.WhyItMatters, "unknown: ") || !strings.Contains(strings.Join(p.Summary.Caveats, " "), "the context is full") {
		t.Errorf("the reason of the handover was taken for the purpose of the work: %q, %q", p.Summary.WhyItMatters, p.Summary.Caveats)
	}
	if p.Summary.SourceSessionID != "dev-impl@shop" || p.Summary.SourceRig != "shop" || len(p.Summary.Pointers.Queue) != 2 {
		t.Errorf("summary %+v", p.Summary)
	}
	if got := body(t, filepath.Join(in.Seat.Cwd, ".rig"), ".gitignore"); got != "*\n" {
		t.Errorf("ignore file %q", got)
	}
	if err := s.Remove(h); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(h.Dir); !os.IsNotExist(err) {
		t.Error("the packet is still there")
	}
}

func TestHandoffWithoutAReadableTranscript(t *testing.T) {
	for name, change := range map[string]func(*engine.PacketInput){
		"none":    func(in *engine.PacketInput) { in.Transcript, in.TranscriptW = "", "it was never prompted" },
		"missing": func(in *engine.PacketInput) { in.Transcript = filepath.Join(in.Seat.Cwd, "gone.jsonl") },
	} {
		s, in := departing(t)
		change(&in)
		in.Screen = []string{"last words", "key sk-" + ex[:10]}
		h := handoff(t, s, in)
		if h.Dir != "" || len(h.Gaps) == 0 || !strings.Contains(h.Prompt, "Gap: ") || !strings.Contains(h.Prompt, "last words") || strings.Contains(h.Prompt, "EXAMPLE") {
			t.Errorf("%s: %+v\n%s", name, h.Gaps, h.Prompt)
		}
	}
}

func TestHandoffRefusesLinksInItsFolder(t *testing.T) {
	for _, where := range []string{".rig", ".rig/packets"} {
		s, in := departing(t)
		outside := t.TempDir()
		link := filepath.Join(in.Seat.Cwd, where)
		if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(outside, link); err != nil {
			t.Fatal(err)
		}
		if _, err := s.WritePacket(t.Context(), in); engine.CodeOf(err) != CodeParentMissing {
			t.Errorf("%s: %v", where, err)
		}
		if entries, err := os.ReadDir(outside); err != nil || len(entries) != 0 {
			t.Errorf("%s: written through the link: %v", where, entries)
		}
	}
	if err := (Seats{}).Remove(engine.Handoff{Dir: "/home/op/project"}); err == nil {
		t.Error("a folder that is no packet was removed")
	}
}

func TestLongPromptsKeepTheirEnd(t *testing.T) {
	s, in := departing(t)
	for range 500 {
		in.Work = append(in.Work, engine.WorkItem{ID: "w", Title: strings.Repeat("設計", 20), State: "pending"})
	}
	handoff(t, s, in)
}

// TestTheLongestNamesHaveAPacket: a rig, a pod and a member may have names of their longest at once.
func TestTheLongestNamesHaveAPacket(t *testing.T) {
	s, in := departing(t)
	long := strings.Repeat("n", engine.MaxNameLen)
	in.Seat.Pod, in.Seat.Member, in.Address = long, long, engine.Address(long, long, long)
	h := handoff(t, s, in)
	c, err := s.Chain(t.Context(), in.Seat, in.Address)
	if err != nil || len(c.Artifacts) != 1 || filepath.Dir(c.Artifacts[0].Path) != h.Dir {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := s.WriteRecap(in.Address, []byte("# State\nit goes on\n"), now); err != nil {
		t.Error(err)
	}
}

func TestChainOrderAndGaps(t *testing.T) {
	s, in := departing(t)
	c, err := s.Chain(t.Context(), in.Seat, in.Address)
	if err != nil || c.Empty == "" || len(c.Artifacts) != 0 || len(c.Gaps) != 2 {
		t.Fatalf("an empty chain: %+v, %v", c, err)
	}
	dir := s.Dir(in.Address)
	for name, text := range map[string]string{
		"RECAP.md": "# Recap\n## Decisions\nkeep it", "LEARNED.md": "# Learned\ntoken=EXAMPLEexample0000",
		"recap-superseded/RECAP-000001700000000.md": "older", "recap-superseded/RECAP-000001600000000.md": "oldest",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	handoff(t, s, in)
	newer := in
	newer.OpID = "01JNOP0000000000000001TEST"
	latest := handoff(t, s, newer)
	sibling := in
	sibling.Seat.Member, sibling.OpID = "impl-x", "01JNOP0000000000000009TEST"
	handoff(t, s, sibling)
	namesake := in // of another rig in the same directory
	namesake.Address, namesake.OpID = "dev-impl@other", "01JNOP0000000000000009TEST"
	handoff(t, s, namesake)
	c, err = s.Chain(t.Context(), in.Seat, in.Address)
	if err != nil || len(c.Artifacts) != 5 || len(c.Gaps) != 0 {
		t.Fatalf("%+v, %v", c, err)
	}
	for i, want := range []string{"recap", "learned", "restore packet", "older recap", "older recap"} {
		if c.Artifacts[i].Label != want {
			t.Errorf("artifact %d is %+v, want %s", i, c.Artifacts[i], want)
		}
	}
	if filepath.Dir(c.Artifacts[2].Path) != latest.Dir || !strings.HasSuffix(c.Artifacts[3].Path, "RECAP-000001700000000.md") {
		t.Errorf("latest packet %s, newest old recap %s", c.Artifacts[2].Path, c.Artifacts[3].Path)
	}
	h := s.Priming(in, c)
	recap, learned := strings.Index(h.Prompt, "seat:RECAP.md"), strings.Index(h.Prompt, "seat:LEARNED.md")
	if recap < 0 || learned < recap || strings.Contains(h.Prompt, "EXAMPLE") || len(h.Prompt) > maxPrompt || !strings.HasSuffix(h.Prompt, "when the seat is yours.\n") {
		t.Errorf("priming:\n%s", h.Prompt)
	}
}

// TestARebuildOfNothingClaimsNothing: a successor that was given nothing is told so, and is not asked to restate a work that it cannot know.
func TestARebuildOfNothingClaimsNothing(t *testing.T) {
	s, in := departing(t)
	in.Gaps = []string{"a message stood queued"}
	c, err := s.Chain(t.Context(), in.Seat, in.Address)
	if err != nil || c.Empty == "" {
		t.Fatalf("%v %+v", err, c)
	}
	h := s.Priming(in, c)
	if strings.Contains(h.Prompt, "packet") || strings.Contains(h.Prompt, "the relevant files") || !strings.Contains(h.Prompt, "Nothing was kept for this seat") ||
		!strings.Contains(h.Prompt, "Gap: a message stood queued.") || !strings.HasSuffix(h.Prompt, "when the seat is yours.\n") {
		t.Errorf("prompt:\n%s", h.Prompt)
	}
}

// TestASecretInPiecesStaysOutOfAPrompt: what a terminal would act on is taken out
// first, so that it cannot hide a secret and then join its halves.
func TestASecretInPiecesStaysOutOfAPrompt(t *testing.T) {
	s, in := departing(t)
	split := "sk-ant-" + "api03-EXAM\x1bPLEexample\u2066" + ex[:30]
	in.Reason, in.Work[0].Title, in.Work[0].Note = "it said "+split, split, split
	if err := os.MkdirAll(s.Dir(in.Address), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.Dir(in.Address), recapName), []byte("# State\n"+split+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := s.Chain(t.Context(), in.Seat, in.Address)
	if err != nil {
		t.Fatal(err)
	}
	for name, prompt := range map[string]string{"rebuild": s.Priming(in, c).Prompt, "fresh": handoff(t, s, in).Prompt} {
		if strings.Contains(prompt, "PLEexample") || !strings.Contains(prompt, Marker) {
			t.Errorf("%s:\n%s", name, prompt)
		}
	}
}

// TestAGapIsToldOnce: in the prompt, and in the packet for whoever reads that alone.
func TestAGapIsToldOnce(t *testing.T) {
	s, in := departing(t)
	in.Gaps = []string{"a message stood queued"}
	h := handoff(t, s, in)
	if strings.Count(h.Prompt, "a message stood queued") != 1 {
		t.Errorf("prompt:\n%s", h.Prompt)
	}
	p, err := Read(h.Dir)
	if err != nil || !strings.Contains(p.Instructions, "- a message stood queued") {
		t.Errorf("%v\n%s", err, p.Instructions)
	}
}
