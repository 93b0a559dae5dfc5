package packet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"unicode/utf8"

	"rig/engine"
	"rig/engine/transcript"
)

// Seats is where seats keep their files, and what makes the opening prompts of
// successors. It implements engine.Contexts. Home is RIG_HOME.
type Seats struct{ Home string }

var _ engine.Contexts = Seats{}

// maxPrompt bounds an opening prompt, in bytes: an argument is readable by every
// user of the machine, and the long form is in the packet.
const maxPrompt = 8 << 10

// workFolder is the one folder that we make in a seat's directory. The client
// may read there without asking; it ignores itself in git.
const workFolder = ".rig"

// Dir is the folder of a seat's own files below home: RECAP.md, LEARNED.md and
// superseded recaps. The address is canonical, so both parts are plain names.
func (s Seats) Dir(address string) string {
	member, rig, _ := strings.Cut(address, "@")
	return filepath.Join(s.Home, "rigs", rig, "seats", member)
}

// WritePacket implements engine.Contexts. Without a transcript no folder is
// written: the prompt then says what could not be gathered.
func (s Seats) WritePacket(_ context.Context, in engine.PacketInput) (engine.Handoff, error) {
	h := engine.Handoff{Marker: marker(in)}
	var sum *Summary
	if in.Transcript == "" {
		h.Gaps = append(h.Gaps, "no transcript of the predecessor: "+in.TranscriptW)
	} else {
		res, err := s.write(in)
		if err != nil {
			return h, err
		}
		h.Dir, sum = res.Path, &res.Summary
		h.Sources = append(h.Sources, "the predecessor's transcript")
		if res.SkippedTotal > 0 {
			h.Gaps = append(h.Gaps, fmt.Sprintf("%d lines of the transcript could not be read", res.SkippedTotal))
		}
	}
	h.Prompt = opening(in, h, sum)
	h.Digest = digest([]byte(h.Prompt))
	return h, nil
}

func (s Seats) write(in engine.PacketInput) (Result, error) {
	base := filepath.Join(in.Seat.Cwd, workFolder, "packets")
	if err := makeWorkFolder(in.Seat.Cwd); err != nil {
		return Result{}, err
	}
	if err := os.MkdirAll(base, 0o700); err != nil {
		return Result{}, engine.Errorf(CodeParentMissing, "the packet's folder cannot be made").On(opWrite, base).Wrap(err).
			WithHint("make the seat's directory writable for yourself")
	}
	q := Request{
		SourcePath: in.Transcript, SourceRuntime: transcript.Runtime(in.Seat.Runtime), SourceSession: in.Address, SourceCwd: in.Seat.Cwd,
		Target: filepath.Join(base, in.Seat.Pod+"-"+in.Seat.Member+"-"+in.OpID), TargetRuntime: string(in.Seat.Runtime),
		TargetWorkspaceRoot: in.Seat.Cwd, RolePointer: in.Seat.Role, WhyItMatters: in.Reason, Now: in.Now,
		Pointers: DurablePointers{Queue: queue(in.Work)},
	}
	chain, err := s.Chain(context.Background(), in.Seat, in.Address)
	if err != nil {
		return Result{}, err
	}
	for _, a := range chain.Artifacts {
		q.Pointers.Artifacts = append(q.Pointers.Artifacts, a.Address)
	}
	return Write(q)
}

// makeWorkFolder makes the self-ignored folder in a seat's directory. A link in
// its place is refused: it could lead anywhere.
func makeWorkFolder(cwd string) error {
	dir := filepath.Join(cwd, workFolder)
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = os.Mkdir(dir, 0o700)
	case err == nil && !info.IsDir():
		err = engine.Errorf(engine.CodeInvalid, "%s is not a folder", dir).WithHint("move it away")
	}
	if err != nil {
		return engine.Errorf(CodeParentMissing, "the folder for packets cannot be made").On(opWrite, dir).Wrap(err).
			WithHint("make the seat's directory writable for yourself")
	}
	ignore := filepath.Join(dir, ".gitignore")
	if _, err := os.Lstat(ignore); errors.Is(err, fs.ErrNotExist) {
		return os.WriteFile(ignore, []byte("*\n"), 0o600)
	}
	return nil
}

func queue(items []engine.WorkItem) []string {
	var out []string
	for _, w := range items {
		if w.State != "done" {
			out = append(out, w.ID)
		}
	}
	return out
}

func marker(in engine.PacketInput) string { return "handover " + in.OpID }

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

// Chain implements engine.Contexts.
func (s Seats) Chain(_ context.Context, _ engine.Seat, address string) (engine.Chain, error) {
	dir := s.Dir(address)
	var c engine.Chain
	for _, f := range []struct{ name, label string }{{"RECAP.md", "recap"}, {"LEARNED.md", "learned"}} {
		a, err := artifact(filepath.Join(dir, f.name), f.label, "seat:"+f.name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			c.Gaps = append(c.Gaps, f.name+" was never written")
		case err != nil:
			c.Gaps = append(c.Gaps, f.name+" cannot be read: "+err.Error())
		default:
			c.Artifacts = append(c.Artifacts, a)
		}
	}
	older, err := filepath.Glob(filepath.Join(dir, "recap-superseded", "RECAP-*.md"))
	if err != nil {
		return c, err
	}
	sort.Sort(sort.Reverse(sort.StringSlice(older)))
	for _, p := range older {
		if a, err := artifact(p, "older recap", "seat:recap-superseded/"+filepath.Base(p)); err == nil {
			c.Artifacts = append(c.Artifacts, a)
		}
	}
	if len(c.Artifacts) == 0 {
		c.Empty = "the seat has neither a recap nor learned notes; `rig context recap-write` makes one"
	}
	return c, nil
}

// maxArtifact bounds what is read of one kept file.
const maxArtifact = 4 << 20

func artifact(path, label, address string) (engine.Artifact, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return engine.Artifact{}, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxArtifact {
		return engine.Artifact{}, engine.Errorf(engine.CodeInvalid, "not a plain file of at most 4 MiB").On("artifact", path).WithHint("replace it")
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return engine.Artifact{}, err
	}
	return engine.Artifact{Label: label, Address: address, Path: path, Modified: info.ModTime().UTC(), Digest: digest(b)}, nil
}

// Priming implements engine.Contexts: it names the artifacts, in trust order, the
// gaps, and an empty chain plainly.
func (s Seats) Priming(in engine.PacketInput, c engine.Chain) engine.Handoff {
	h := engine.Handoff{Marker: marker(in), Gaps: c.Gaps}
	var b strings.Builder
	head(&b, in, h.Marker)
	b.WriteString("You are a rebuilt successor: the conversation of your predecessor was deliberately not carried over.\n")
	if c.Empty != "" {
		fmt.Fprintf(&b, "Nothing was kept for this seat: %s. Say so in your first report.\n", c.Empty)
	}
	for i, a := range c.Artifacts {
		text, err := os.ReadFile(a.Path)
		if err != nil {
			h.Gaps = append(h.Gaps, a.Address+" vanished")
			continue
		}
		h.Sources = append(h.Sources, a.Address)
		clean, _ := Redact(string(text))
		fmt.Fprintf(&b, "\n## %d. %s (%s, of %s)\n%s\n", i+1, a.Address, a.Label, a.Modified.Format("2006-01-02 15:04"), cut(clean, 2<<10))
	}
	for _, g := range h.Gaps {
		fmt.Fprintf(&b, "Gap: %s.\n", g)
	}
	tailOf(&b)
	h.Prompt = cut(b.String(), maxPrompt)
	h.Digest = digest([]byte(h.Prompt))
	return h
}

// Remove implements engine.Contexts. Only a packet below a work folder is ever
// removed.
func (s Seats) Remove(h engine.Handoff) error {
	parent := filepath.Dir(h.Dir)
	if filepath.Base(parent) != "packets" || filepath.Base(filepath.Dir(parent)) != workFolder {
		return engine.Errorf(engine.CodeInvalid, "%s is not a packet of ours", h.Dir).WithHint("remove it by hand")
	}
	return os.RemoveAll(h.Dir)
}

// head begins every opening prompt: who the occupant is, why, and the marker that
// proves the prompt's arrival.
func head(b *strings.Builder, in engine.PacketInput, mark string) {
	reason, _ := Redact(in.Reason)
	fmt.Fprintf(b, "You now sit in the seat %s (%s), as its next occupant [%s].\n", in.Address, in.Seat.Runtime, mark)
	fmt.Fprintf(b, "Why the occupant changed: %s. Your predecessor was generation %d.\n", strings.TrimSuffix(reason, "."), in.Session.Generation)
	if in.Seat.Role != "" {
		fmt.Fprintf(b, "Your role: %s.\n", in.Seat.Role)
	}
	for _, e := range in.Edges {
		arrow := "to"
		if !e.Out {
			arrow = "from"
		}
		fmt.Fprintf(b, "Edge: %s %s %s.\n", e.Kind, arrow, e.Seat)
	}
	for _, w := range in.Work {
		if w.State != "done" {
			title, _ := Redact(w.Title)
			fmt.Fprintf(b, "Inbound work %s: %s (%s).\n", w.ID, title, w.State)
		}
	}
}

// opening is the prompt of a fresh successor.
func opening(in engine.PacketInput, h engine.Handoff, sum *Summary) string {
	var b strings.Builder
	head(&b, in, h.Marker)
	if sum != nil {
		fmt.Fprintf(&b, "Why the work matters: %s\nCurrent work: %s\nNext owner: %s\n", sum.WhyItMatters, cut(sum.CurrentWork, 1500), sum.NextOwner)
		for _, c := range sum.Caveats {
			fmt.Fprintf(&b, "Caveat: %s\n", cut(c, 300))
		}
		fmt.Fprintf(&b, "Authority: %s\n", cut(sum.AuthorityBoundaries, 600))
		fmt.Fprintf(&b, "The restore packet is %s: read %s there first, then %s.\n", h.Dir, InstructionsName, LatestName)
	}
	for _, g := range h.Gaps {
		fmt.Fprintf(&b, "Gap: %s.\n", g)
	}
	if sum == nil && len(in.Screen) > 0 {
		screen, _ := RedactCut(strings.TrimSpace(strings.Join(in.Screen, "\n")))
		fmt.Fprintf(&b, "The predecessor's last screen:\n%s\n", cut(screen, 2<<10))
	}
	tailOf(&b)
	return cut(b.String(), maxPrompt)
}

// tailOf ends every opening prompt: two agents never act in one directory, so the
// successor waits for the go.
func tailOf(b *strings.Builder) {
	b.WriteString("\nNow acknowledge: restate in your own words your identity, the current work, the next owner, the relevant files and the constraints. " +
		"Change nothing yet. You are told when the seat is yours.\n")
}

// cut shortens text to at most n bytes on a rune boundary, visibly.
func cut(s string, n int) string {
	s = strings.TrimSpace(s)
	if len(s) <= n {
		return s
	}
	n -= len(" […]")
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + " […]"
}
