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
	"slices"
	"strings"
	"unicode/utf8"

	"rig/engine"
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
const (
	workFolder    = ".rig"
	packetsFolder = "packets"
)

// Dir is the folder of a seat's own files below home: RECAP.md, LEARNED.md and
// superseded recaps. The address is canonical, so both parts are plain names.
func (s Seats) Dir(address string) string {
	member, rig, _ := strings.Cut(address, "@")
	return filepath.Join(s.Home, "rigs", rig, "seats", member)
}

// WritePacket implements engine.Contexts. Without a transcript no folder is
// written: the prompt then says what could not be gathered.
func (s Seats) WritePacket(_ context.Context, in engine.PacketInput) (engine.Handoff, error) {
	h := engine.Handoff{Marker: marker(in), Gaps: append([]string{}, in.Gaps...), Sources: []string{}} // evidence prints them, and a list is never null
	var sum *Summary
	if in.Transcript == "" {
		h.Gaps = append(h.Gaps, "no transcript of the predecessor: "+in.TranscriptW)
	} else {
		res, err := s.write(in)
		switch code := engine.CodeOf(err); {
		case code == CodeUnreadable || code == CodeUndetected:
			// The record is there but says nothing to us: the successor is told
			// so, and gets what is known without it.
			h.Gaps = append(h.Gaps, "the predecessor's transcript cannot be read: "+err.Error())
		case err != nil:
			return h, err
		default:
			h.Dir, sum = res.Path, &res.Summary
			h.Sources = append(h.Sources, "the predecessor's transcript")
			if res.SkippedTotal > 0 {
				h.Gaps = append(h.Gaps, engine.Counted(res.SkippedTotal, "line")+" of the transcript could not be read")
			}
		}
	}
	h.Prompt = opening(in, h, sum)
	h.Digest = digest([]byte(h.Prompt))
	return h, nil
}

func (s Seats) write(in engine.PacketInput) (Result, error) {
	base, err := makeWorkFolder(in.Seat.Cwd)
	if err != nil {
		return Result{}, err
	}
	q, err := s.RequestOf(in)
	if err != nil {
		return Result{}, err
	}
	q.Target, q.TargetRuntime = filepath.Join(base, packetPrefix(in.Seat)+in.OpID), string(in.Seat.Runtime)
	return Write(q)
}

// makeWorkFolder makes the self-ignored folder in a seat's directory, and the
// one for packets in it. A link in the place of either is refused: it could lead
// anywhere.
func makeWorkFolder(cwd string) (packets string, err error) {
	dir := filepath.Join(cwd, workFolder)
	packets = filepath.Join(dir, packetsFolder)
	for _, d := range []string{dir, packets} {
		info, err := os.Lstat(d)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			err = os.Mkdir(d, 0o700)
		case err == nil && !info.IsDir():
			err = errors.New("something else is in its place")
		}
		if err != nil {
			return "", engine.Errorf(CodeParentMissing, "the folder for packets cannot be made").On(opWrite, d).Wrap(err).
				WithHint("make the seat's directory writable for yourself, and move away what is in the folder's place")
		}
	}
	ignore := filepath.Join(dir, ".gitignore")
	f, err := os.OpenFile(ignore, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return packets, nil
	case err != nil:
		return "", writeFailed(ignore, err)
	}
	_, err = f.WriteString("*\n")
	if err = errors.Join(err, f.Close()); err != nil {
		return "", writeFailed(ignore, err)
	}
	return packets, nil
}

// packetPrefix begins the names of a seat's packets; an operation's id ends them.
func packetPrefix(seat engine.Seat) string { return seat.Pod + "-" + seat.Member + "-" }

// claimed states the current work from the seat's own work items: what the
// departing occupant had claimed. Without any, it stays unstated.
func claimed(in engine.PacketInput) string {
	var lines []string
	for _, w := range in.Work {
		if w.State == "claimed" || w.State == "blocked" {
			line := w.ID + " (" + w.State + "): " + w.Title
			if w.Note != "" {
				line += " [" + w.Note + "]"
			}
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
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

func marker(in engine.PacketInput) string { return engine.HandoverTag[1:] + in.OpID }

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

// Priming implements engine.Contexts: it names the artifacts, in trust order, the
// gaps, and an empty chain plainly.
func (s Seats) Priming(in engine.PacketInput, c engine.Chain) engine.Handoff {
	h := engine.Handoff{Marker: marker(in), Gaps: slices.Concat([]string{}, in.Gaps, c.Gaps), Sources: []string{}}
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
		clean, _ := Clean(string(text))
		fmt.Fprintf(&b, "\n## %d. %s (%s, of %s)\n%s\n", i+1, a.Address, a.Label, a.Modified.Format("2006-01-02 15:04"), cut(clean, 2<<10))
	}
	for _, g := range h.Gaps {
		fmt.Fprintf(&b, "Gap: %s.\n", g)
	}
	h.Prompt = withTail(b.String(), len(h.Sources) > 0)
	h.Digest = digest([]byte(h.Prompt))
	return h
}

// Remove implements engine.Contexts. Only a packet below a work folder is ever
// removed.
func (s Seats) Remove(h engine.Handoff) error {
	parent := filepath.Dir(h.Dir)
	if filepath.Base(parent) != packetsFolder || filepath.Base(filepath.Dir(parent)) != workFolder {
		return engine.Errorf(engine.CodeInvalid, "%s is not a packet of ours", h.Dir).WithHint("remove it by hand")
	}
	return os.RemoveAll(h.Dir)
}

// head begins every opening prompt: who the occupant is, why, and the marker that
// proves the prompt's arrival.
func head(b *strings.Builder, in engine.PacketInput, mark string) {
	reason, _ := Clean(in.Reason)
	fmt.Fprintf(b, "%s%s (%s), as its next occupant [%s].\n", engine.OpeningWords, in.Address, in.Seat.Runtime, mark)
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
			title, _ := Clean(w.Title)
			fmt.Fprintf(b, "Inbound work %s: %s (%s).\n", w.ID, title, w.State)
		}
	}
}

// opening is the prompt of a fresh successor.
func opening(in engine.PacketInput, h engine.Handoff, sum *Summary) string {
	var b strings.Builder
	head(&b, in, h.Marker)
	if sum != nil {
		b.WriteString(labelWhy + cut(sum.WhyItMatters, 1500) + "\n" + labelWork + cut(sum.CurrentWork, 1500) + "\n" + labelOwner + cut(sum.NextOwner, 300) + "\n")
		for _, c := range sum.Caveats {
			if slices.Contains(h.Gaps, c) {
				continue // told below
			}
			b.WriteString(labelCaveat + cut(c, 300) + "\n")
		}
		b.WriteString(labelAuthority + cut(sum.AuthorityBoundaries, 600) + "\n")
		fmt.Fprintf(&b, labelPacket+"%s: read %s there first, then %s.\n", h.Dir, InstructionsName, LatestName)
	}
	for _, g := range h.Gaps {
		fmt.Fprintf(&b, "Gap: %s.\n", g)
	}
	if sum == nil && len(in.Screen) > 0 {
		screen, _ := RedactLines(in.Screen, 0)
		fmt.Fprintf(&b, "The predecessor's last screen:\n%s\n", cut(strings.Join(screen, "\n"), 2<<10))
	}
	return withTail(b.String(), sum != nil)
}

// withTail ends every opening prompt: two agents never act in one directory, so
// the successor waits for the go. A prompt that is too long is cut before this. A
// successor that was given nothing of the work is not asked to restate it.
func withTail(body string, carries bool) string {
	tail := "\n\nNow acknowledge: restate in your own words your identity, the current work, the next owner, the relevant files and the constraints. "
	if !carries {
		tail = "\n\nNow acknowledge: restate in your own words your identity, and say what you know of the work and what you do not: nothing but the above was kept of it. "
	}
	tail += "Change nothing yet. You are told when the seat is yours.\n"
	return cut(printable(body), maxPrompt-len(tail)) + tail
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
