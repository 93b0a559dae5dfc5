package engine

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"
)

// VerbRecap makes a draft the recap of a seat.
const VerbRecap Verb = "context recap-write"

// StepRecapWrite publishes a recap, StepRecapEvent records it.
const (
	StepRecapWrite StepKind = "write_recap"
	StepRecapEvent StepKind = "commit_recap"
)

// EventRecapWritten is a seat's recap that was written or replaced.
const EventRecapWritten = "seat.recap_written"

// InputRecap names what a plan of a recap leaves for its caller: a RecapWritten as it
// will be, without the recaps that are kept by then.
const InputRecap = "recap"

// RecapArgs are the arguments of `rig context recap-write`.
type RecapArgs struct {
	File string `json:"file,omitempty"` // where the draft is read from; "" or - = it is in Text
	Text string `json:"text,omitempty"`
}

// recapSteps are the executors of a recap's steps.
func recapSteps() map[StepKind]executor {
	return map[StepKind]executor{
		StepRecapWrite: {do: doRecapWrite, undo: undoRecapWrite, probe: probeRecapWrite},
		StepRecapEvent: {commit: commitRecap},
	}
}

func errNoRecaps() *Error {
	return Errorf(CodeNotSupported, "this build cannot keep recaps").WithHint("use a build with packets")
}

// planRecap plans a new recap. Its lease is its own and not the seat's: an occupant
// writes its recap while it is being compacted, and before it is handed over.
func planRecap(ctx context.Context, e *Engine, w *world, p *Plan) error {
	args, err := DecodeArgs[RecapArgs](p.Request)
	if err != nil {
		return err
	}
	if e.d.Recaps == nil {
		return errNoRecaps()
	}
	s, err := e.planSeat(ctx, w, p)
	if err != nil {
		return err
	}
	p.Leases, p.Basis = []string{"recap:" + s.seat.ID}, p.Basis[:0] // who sits there matters, and nothing else of it
	s.fact("generation", itoa(s.seat.Generation))
	draft := []byte(args.Text)
	file := strings.TrimSpace(args.File)
	if file != "" && file != "-" {
		if draft, err = e.d.Recaps.ReadDraft(file); err != nil {
			return err
		}
	}
	p.Command = recapCommand(s.address, file, p.Reason)
	old, err := e.d.Recaps.Recap(s.address)
	if err != nil {
		p.BlockSeat(s.address, err)
	}
	e.planRecapText(s, old, draft)
	return nil
}

// recapCommand is the shell line of a new recap. A text that was written in the
// console is in no file that a line could name: it says what to put there.
func recapCommand(seat, file, reason string) string {
	words := []string{"rig", "context", "recap-write", "--seat", seat, "--file", cmp.Or(file, "DRAFT")}
	if reason != "" {
		words = append(words, "--reason", reason)
	}
	line := CommandLine(words...)
	if file == "" {
		line += "  # DRAFT: a file that holds this text"
	}
	return line
}

// planRecapText compares the draft with what there is.
func (e *Engine) planRecapText(s *seatPlan, old Recap, draft []byte) {
	found, faults := e.d.Recaps.CheckRecap(s.address, draft)
	for _, err := range faults {
		s.p.BlockSeat(s.address, err)
	}
	for _, f := range found {
		s.p.Warnings = append(s.p.Warnings, f.words())
	}
	wrote := secretDigest(string(draft))
	s.fact("recap", secretDigest(old.Text))
	s.p.AddFact("draft", wrote)
	s.p.SetInput("draft", draft)
	s.p.SetInput(InputRecap, RecapWritten{Path: old.Path, Digest: wrote, Findings: found, Superseded: []string{}})
	s.stays("LEARNED.md, every packet and every conversation", "the occupant: nothing is typed")
	if old.Digest != "" && old.Text == string(draft) {
		s.p.Intents = append(s.p.Intents, Intent{s.address, "unchanged", "the draft is its recap already, byte for byte"})
		s.p.Phases = append(s.p.Phases, Phase{ID: "recap", Title: "Nothing to write", Steps: []Step{
			s.step("unchanged", StepUnchanged, EffectNone, "leave the recap as it is; there is no event", "from", wrote, "to", wrote),
		}})
		return
	}
	s.change("RECAP.md", old.words(s.w), sizeOfText(string(draft)))
	if old.Digest != "" {
		s.stays("the present recap: it is kept, byte for byte" + besideEarlier(old.Earlier))
	}
	if utf8.Valid(draft) && len(faults) < tooManyFaults {
		s.p.Texts = append(s.p.Texts, TextChange{Seat: s.address, Field: "RECAP.md", Lines: e.textDiff(old.Text, string(draft))})
	}
	publish := "publish the draft by one rename"
	if old.Digest != "" {
		publish = "keep the present recap, byte for byte, and " + publish
	}
	// No seat stands on the steps: what goes wrong with a text is no failure of the seat.
	at := map[string]string{"recap_of": s.seat.ID, "address": s.address, "was": old.Digest, "wrote": wrote}
	s.p.Phases = append(s.p.Phases, Phase{ID: "recap", Unit: "recap", Title: "Write the recap of " + s.address, Steps: []Step{
		{ID: "recap/write", Kind: StepRecapWrite, Effect: EffectReversible, Args: at, Title: publish},
		{ID: "recap/event", Kind: StepRecapEvent, Effect: EffectCommit, Args: at, Title: "record the event: a digest, never the text"},
	}})
}

func besideEarlier(n int) string {
	if n == 0 {
		return ""
	}
	return ", beside " + Counted(n, "earlier one")
}

// tooManyFaults is from how many faults on a draft is not laid beside the recap.
const tooManyFaults = 20

// words is a finding as a warning says it.
func (f RecapFinding) words() string {
	at := ""
	if f.Line > 0 {
		at = fmt.Sprintf("line %d: ", f.Line)
	}
	return "advice: " + at + f.Message + " [" + f.Code + "]"
}

// words is a recap in a line: its size and when it was written.
func (r Recap) words(w *world) string {
	if r.Digest == "" {
		return ""
	}
	return sizeOfText(r.Text) + ", written " + agoWord(w, Artifact{Modified: r.Modified})
}

// sizeOfText says how long a text is.
func sizeOfText(text string) string {
	lines := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		lines++
	}
	return Counted(lines, "line") + ", " + Counted(len(text), "byte")
}

func doRecapWrite(_ context.Context, r *run, s Step) (Evidence, error) {
	v, _ := r.plan.Input("draft")
	draft, ok := v.([]byte)
	if !ok {
		return nil, Errorf(CodeInternal, "the plan has no draft")
	}
	done, err := r.e.d.Recaps.WriteRecap(s.Args["address"], draft, r.e.d.Clock.Now())
	if err != nil {
		return nil, err
	}
	for _, f := range done.Findings {
		r.warn(f.words())
	}
	r.addExtra(InputRecap, done)
	return Evidence{"path": done.Path, "digest": done.Digest, "earlier": len(done.Superseded)}, nil
}

func undoRecapWrite(_ context.Context, r *run, s Step) error {
	r.addExtra(InputRecap, nil)
	if r.e.d.Recaps == nil {
		return errNoRecaps()
	}
	return r.e.d.Recaps.TakeBackRecap(s.Args["address"], s.Args["was"], s.Args["wrote"])
}

func probeRecapWrite(_ context.Context, r *run, s Step) (StepState, error) {
	if r.e.d.Recaps == nil {
		return StepUnknown, errNoRecaps()
	}
	now, err := r.e.d.Recaps.Recap(s.Args["address"])
	switch {
	case err != nil:
		return StepUnknown, err
	case now.Digest == s.Args["wrote"]:
		return StepDone, nil
	case now.Digest == s.Args["was"]:
		return StepPending, nil
	}
	return StepUnknown, nil
}

// commitRecap puts a written recap into the audit log: its digest, never its text.
func commitRecap(_ context.Context, r *run, s Step, tx Tx) (Evidence, error) {
	seat, err := tx.Seat(s.Args["recap_of"])
	if err != nil {
		return nil, err
	}
	saw := r.saw("recap/write")
	ev := Evidence{"path": saw.Str("path"), "digest": s.Args["wrote"], "earlier": saw.Int("earlier")}
	err = r.event(tx, EventRecapWritten, seat, s.Args["address"], map[string]any{
		"digest": ev["digest"], "earlier": ev["earlier"], "generation": seat.Generation,
	})
	if err == nil {
		r.settle(SeatReceipt{Seat: s.Args["address"], Action: "recap_written", Generation: seat.Generation, Evidence: ev})
	}
	return ev, err
}

// SeatIn gives the canonical address of a seat within a rig that is named by name
// or id. The seat may be written as pod-member, pod.member or with the rig behind.
func (e *Engine) SeatIn(ctx context.Context, rig, seat string) (string, error) {
	w, err := e.look(ctx)
	if err != nil {
		return "", err
	}
	r, err := w.rig(rig)
	if err != nil {
		return "", err
	}
	if seat == "" {
		return "", Errorf(CodeSeatRefRequired, "a seat is required").WithHint("name one of the rig: `rig ps --seats --rig %s`", r.Name)
	}
	for _, s := range w.seatsOf(r.ID) {
		if a := w.address(s); seat == a || seat+"@"+r.Name == a || seat == s.Logical() || seat == s.Logical()+"@"+r.Name {
			return a, nil
		}
	}
	return "", Errorf(CodeSeatNotFound, "the rig %s has no seat %q", r.Name, seat).On("", seat).WithHint("`rig ps --seats --rig %s` lists them", r.Name)
}
