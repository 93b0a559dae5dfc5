package packet

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rig/engine"
	"rig/engine/transcript"
)

const (
	pageMessages = 40       // messages of one page
	pageText     = 16 << 10 // bytes shown of one message
	paperText    = 1 << 20  // bytes shown of a kept text
	paperPackets = 5        // packets that are listed, the newest
)

// Papers lists what can be read of a seat: its conversation, its kept texts, its
// packets and its inbound work.
func (s Seats) Papers(ctx context.Context, in engine.PacketInput) ([]engine.Paper, error) {
	talk := engine.Paper{Address: engine.PaperTranscript, Label: "transcript", Note: fmt.Sprintf("generation %d", in.Session.Generation), Trouble: in.TranscriptW}
	if info, err := os.Stat(in.Transcript); in.Transcript != "" && err == nil {
		talk.Note += fmt.Sprintf(", %d kB, written %s", (info.Size()+999)/1000, shortStamp(info.ModTime()))
		talk.Trouble = ""
	}
	out := []engine.Paper{talk}
	chain, err := s.Chain(ctx, in.Seat, in.Address)
	if err != nil {
		return nil, err
	}
	for _, a := range chain.Artifacts {
		if !strings.HasPrefix(a.Address, packetScheme) {
			out = append(out, engine.Paper{Address: a.Address, Label: a.Label, Note: "written " + shortStamp(a.Modified)})
		}
	}
	for _, g := range chain.Gaps {
		if name, _, ok := strings.Cut(g, " "); ok && len(out) < 3 && (name == recapName || name == learnedName) {
			out = append(out, engine.Paper{Address: seatScheme + name, Label: strings.ToLower(strings.TrimSuffix(name, ".md")), Trouble: g})
		}
	}
	for _, dir := range packetsOf(in.Seat, in.Address, paperPackets) {
		name := filepath.Base(dir)
		at := "at an unknown time"
		if info, err := os.Stat(dir); err == nil {
			at = shortStamp(info.ModTime())
		}
		out = append(out,
			engine.Paper{Address: packetScheme + name + "/" + InstructionsName, Label: "packet", Note: "written " + at + ", " + name},
			engine.Paper{Address: packetScheme + name + "/" + LatestName, Label: "packet's talk", Note: "the latest messages in it"})
	}
	return append(out, engine.Paper{Address: engine.PaperWork, Label: "inbound work", Note: engine.Counted(len(in.Work), "piece") + " on record"}), nil
}

func shortStamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }

// packetsOf lists a seat's newest packets, the newest first. Two rigs in one directory
// may have seats of one name, so a packet counts that says itself whose it is.
func packetsOf(seat engine.Seat, address string, limit int) []string {
	base := filepath.Join(seat.Cwd, workFolder, packetsFolder)
	entries, err := os.ReadDir(base)
	if err != nil {
		return nil
	}
	var out []string
	for i := len(entries) - 1; i >= 0 && len(out) < limit; i-- {
		id, ours := strings.CutPrefix(entries[i].Name(), packetPrefix(seat))
		dir := filepath.Join(base, entries[i].Name())
		if ours && entries[i].IsDir() && !strings.ContainsAny(id, "-.") && packetOwner(dir) == address {
			out = append(out, dir)
		}
	}
	return out
}

// packetOwner is the address of the seat that a packet was made for, "" when the packet
// does not tell.
func packetOwner(dir string) string {
	root, err := openDir(dir)
	if err != nil {
		return ""
	}
	defer func() { _ = root.Close() }()
	raw, err := readFile(root, SummaryName)
	var s struct {
		Source string `json:"source_session_id"`
	}
	if err != nil || json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s.Source
}

// ReadPaper reads one page of a paper, bounded and clean.
func (s Seats) ReadPaper(ctx context.Context, in engine.PacketInput, ask engine.PaperAsk) (engine.PaperPage, error) {
	switch ask.Address {
	case engine.PaperTranscript:
		return transcriptPage(ctx, in, ask)
	case engine.PaperWork:
		return workPage(in), nil
	}
	k, err := s.Get(in.Seat, in.Address, ask.Address)
	if err != nil {
		return engine.PaperPage{}, err
	}
	text := k.Text
	if len(text) > paperText {
		text = clip(text, paperText) + fmt.Sprintf("\n[%d more bytes in %s]", len(k.Text)-paperText, k.Path)
	}
	size := int64(len(k.Text))
	return engine.PaperPage{Parts: []engine.PaperPart{{Text: text}}, To: size, Size: size}, nil
}

func transcriptPage(ctx context.Context, in engine.PacketInput, ask engine.PaperAsk) (engine.PaperPage, error) {
	if in.Transcript == "" {
		return engine.PaperPage{}, engine.Errorf(CodeUnreadable, "there is no transcript: %s", in.TranscriptW).On("transcript", in.Address).WithHint("an occupant that was never prompted has none")
	}
	rt, o := transcript.Runtime(in.Seat.Runtime), transcript.Options{Tools: true}
	if ask.Find != "" {
		words := strings.ToLower(ask.Find)
		at, found, err := transcript.FindMessage(ctx, in.Transcript, rt, ask.At, ask.Back, o, func(m transcript.Message) bool {
			return strings.Contains(strings.ToLower(m.ToolName+" "+m.Text), words)
		})
		if err != nil || !found {
			return engine.PaperPage{Missing: err == nil}, err
		}
		ask = engine.PaperAsk{At: at}
	}
	read := transcript.PageAfter
	if ask.Back {
		read = transcript.PageBefore
	}
	p, err := read(ctx, in.Transcript, rt, ask.At, pageMessages, o)
	if err != nil {
		return engine.PaperPage{}, err
	}
	out := engine.PaperPage{From: p.From, To: p.To, Size: p.Size}
	for _, m := range p.Messages {
		out.Parts = append(out.Parts, part(m))
	}
	return out, nil
}

// part is one message as it is shown.
func part(m transcript.Message) engine.PaperPart {
	who := string(m.Role)
	switch {
	case m.Role == transcript.RoleTool:
		who = "tool " + m.ToolName
	case m.Role == transcript.RoleOperator && engine.OwnMessage(m.Text) != "":
		who = roleRig
	}
	head, _ := Clean(who)
	if !m.Time.IsZero() {
		head += "  " + m.Time.UTC().Format("2006-01-02 15:04:05")
	}
	text, _ := Clean(m.Text)
	if len(text) > pageText {
		text = clip(text, pageText) + fmt.Sprintf("\n[%d more bytes]", len(text)-pageText)
	}
	return engine.PaperPart{Head: head, Text: text}
}

// openFirst orders pieces of work: what is done comes last.
func openFirst(w engine.WorkItem) int {
	if w.State == engine.WorkDone {
		return 1
	}
	return 0
}

// workPage shows the inbound work of a seat.
func workPage(in engine.PacketInput) engine.PaperPage {
	out := engine.PaperPage{To: 1, Size: 1}
	all := slices.Clone(in.Work)
	slices.SortStableFunc(all, func(a, b engine.WorkItem) int { return openFirst(a) - openFirst(b) })
	for _, w := range all {
		state := w.State
		if w.State == engine.WorkClaimed {
			state = fmt.Sprintf("claimed by generation %d", w.Generation)
		}
		text := w.Title + "\nfrom " + w.From + ", " + shortStamp(w.CreatedAt) + "\n"
		if w.Note != "" {
			text += "note: " + w.Note + "\n"
		}
		text, _ = Clean(strings.TrimSpace(text + w.Body))
		out.Parts = append(out.Parts, engine.PaperPart{Head: state + "  " + w.ID, Text: text})
	}
	if len(out.Parts) == 0 {
		out.Parts = []engine.PaperPart{{Text: "Nothing was asked of this seat. rig work add " + in.Address + " …"}}
	}
	return out
}
