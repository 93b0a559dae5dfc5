package tui

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"rig/engine"
)

// runLines shows the steps of a run with their states and times. now is the line of
// the step that is under way.
func (w *wizard) runLines(m *Model, cols int) (out []string, now int) {
	r := w.run
	if w.def.status != nil {
		out = w.def.status(w, m, cols)
	}
	for i, p := range r.plans {
		k := toneStrong
		if i > r.at {
			k = toneDim
		}
		out = append(out, m.brush.line(cols, false, seg{k, string(p.Verb) + " " + clean(p.Target)}, seg{toneDim, m.runTime(r.progress[i].Op)}))
		steps := r.progress[i].Steps
		if len(steps) == 0 {
			for _, s := range p.Steps() {
				steps = append(steps, engine.OperationStep{Kind: s.Kind, Title: s.Title, Effect: s.Effect, Seat: s.Seat, State: engine.StepPending})
			}
		}
		if followsSeats(p) {
			out = append(out, m.seatRunLines(steps, cols)...)
			continue
		}
		for i, st := range steps {
			out = append(out, m.headedStep(steps, i, cols, false)...)
			if st.State != engine.StepPending {
				now = len(out) - 1
			}
		}
	}
	out = append(out, m.brush.blank(cols, 1)...)
	return append(out, m.paragraph(toneDim, "", m.reg.hint("run-close")+" closes this view; the operation goes on and stays on Operations ("+m.reg.hint("screen-operations")+")", cols)...), now
}

func (m *Model) runTime(op engine.Operation) string {
	switch {
	case op.StartedAt.IsZero():
		return ""
	case op.EndedAt.IsZero():
		return "  " + elapsed(m.now.Sub(op.StartedAt).Truncate(time.Second))
	}
	return "  " + elapsed(op.EndedAt.Sub(op.StartedAt))
}

// receiptLines says what really happened, seat by seat.
func (w *wizard) receiptLines(m *Model, cols int) []string {
	out := w.leftLines(m, cols)
	for i, p := range w.run.plans {
		if i > 0 {
			out = append(out, m.brush.blank(cols, 1)...)
		}
		out = append(out, m.brush.line(cols, false, seg{toneStrong, string(p.Verb) + " " + clean(p.Target)}))
		out = append(out, m.receipt(w.run.receipts[i], w.run.errs[i], cols)...)
		out = append(out, m.undoLine(w.run.receipts[i], cols)...)
	}
	return out
}

// undoLine says until when what was done can be taken back, and how.
func (m *Model) undoLine(r *engine.Receipt, cols int) []string {
	if r == nil || m.fleet == nil {
		return nil
	}
	op, why := m.undoOf(r.Operation.ID)
	switch {
	case op == nil:
		return nil
	case why != "":
		return m.paragraph(toneDim, "  "+m.brush.g.dot+" ", "it cannot be taken back: "+why, cols)
	}
	where := ""
	if here, _ := m.undoable(); here == nil || here.ID != op.ID { // the cursor is on something else
		where = " on " + clean(op.Target)
	}
	return m.paragraph(toneAccent, "  "+m.brush.g.arrow+" ", m.reg.hint("receipt-close")+", then "+m.reg.hint("undo")+where+" takes it back, until "+m.undoEnd(op), cols)
}

func (m *Model) receipt(r *engine.Receipt, err error, cols int) []string {
	var out []string
	if r != nil {
		l := lookOp(r.Operation.State)
		outcome := clean(r.Outcome)
		if whyText(outcome) == l.word {
			outcome = ""
		}
		out = append(out, m.brush.line(cols, false, seg{l.tone, l.text(m.brush.g)}, seg{toneText, "  " + outcome}, seg{toneDim, "  operation " + clean(r.Operation.ID) + m.eventWord(r)}))
		out = append(out, m.verdictLines(r, cols)...)
		for _, s := range r.Seats {
			out = append(out, m.seatReceipt(s, cols)...)
		}
		if r.Operation.State == engine.OpRolledBack {
			out = append(out, m.paragraph(toneText, "  "+m.brush.g.dot+" ", "what it had begun is undone", cols)...)
		}
		for _, t := range extraWords(r.Extra) {
			out = append(out, m.paragraph(toneText, "  "+m.brush.g.dot+" ", t, cols)...)
		}
		for _, t := range r.Warnings {
			out = append(out, m.paragraph(toneNeed, "  ! ", t, cols)...)
		}
		if r.Error != nil && err == nil {
			err = r.Error
		}
	}
	if err != nil && !toldOfSeat(r, err) {
		e := asEngineError(err)
		out = append(out, m.paragraph(toneBad, "  "+m.brush.g.fail+" ", coded(e), cols)...)
		if e.Hint != "" {
			out = append(out, m.paragraph(toneAccent, "    "+m.brush.g.arrow+" ", e.Hint, cols)...)
		}
	}
	return out
}

// toldOfSeat reports that what an operation ended with stands in its receipt already, below
// the seat that it happened to.
func toldOfSeat(r *engine.Receipt, err error) bool {
	return r != nil && slices.ContainsFunc(r.Seats, func(s engine.SeatReceipt) bool { return s.Error != nil && errorText(s.Error) == errorText(err) })
}

// coded is an error with its code, said once.
func coded(e *engine.Error) string {
	text := e.Error()
	if strings.HasPrefix(text, string(e.Code)+":") {
		return text
	}
	return text + "  [" + string(e.Code) + "]"
}

func (m *Model) eventWord(r *engine.Receipt) string {
	if r.EventSeq == 0 {
		return ""
	}
	return ", event " + itoa(int(r.EventSeq))
}

// snapshotExtra is what a receipt says of a snapshot that was saved.
type snapshotExtra struct {
	ID     string `json:"id"`
	Kind   string `json:"kind"`
	Status string `json:"status"`
	Note   string `json:"note"`
}

// extraWords is what a receipt says beside its seats: of the library, what was
// written, deleted and kept. It comes as values of the engine or, after another
// process has applied the plan, as JSON: both are read as JSON.
func extraWords(extra map[string]any) []string {
	var doc struct {
		Image *struct {
			ID     string `json:"id"`
			Pinned bool   `json:"pinned"`
		} `json:"image"`
		Snapshot  *snapshotExtra `json:"snapshot"`
		Note      string         `json:"note"` // why nothing was to be done
		Deleted   []string       `json:"deleted"`
		Protected []struct {
			Image   string                   `json:"image"`
			Reasons []engine.ImageProtection `json:"reasons"`
		} `json:"protected"`
	}
	b, err := json.Marshal(extra)
	if err != nil || json.Unmarshal(b, &doc) != nil {
		return nil
	}
	var out []string
	if doc.Note != "" {
		out = append(out, doc.Note)
	}
	if doc.Image != nil && doc.Image.ID != "" {
		word := "not pinned"
		if doc.Image.Pinned {
			word = "pinned"
		}
		out = append(out, doc.Image.ID+", "+word)
	}
	if s := doc.Snapshot; s != nil {
		out = append(out, joinWords(", ", "snapshot "+s.ID, s.Status, s.Kind, s.Note))
	}
	for _, id := range doc.Deleted {
		out = append(out, "deleted "+id)
	}
	for _, k := range doc.Protected {
		var why []string
		for _, p := range k.Reasons {
			why = append(why, protectionWord(p.Code))
		}
		out = append(out, "kept "+k.Image+": protected by "+joinWords(", ", why...))
	}
	return out
}

// seatReceipt is one seat of a receipt: its outcome in the words of the record,
// what was done, and what proves it.
func (m *Model) seatReceipt(s engine.SeatReceipt, cols int) []string {
	word, k := receiptWord(s)
	mark := m.brush.g.done
	switch {
	case s.Error != nil || s.Outcome == engine.ContinuityFailed && s.Action != rolledBack:
		mark, k = m.brush.g.fail, toneBad
	case k == toneNeed:
		mark = lookAttention.mark(m.brush.g)
	}
	if s.ContextDelivered {
		word += ", context delivered"
	}
	name := max(min(26, cols-6-width(word)), 10) // how it ended has its place first
	segs := []seg{{k, "  " + mark + " "}, {toneText, pad(cutMiddle(clean(s.Seat), name), name) + "  "}, {k, word}}
	more := string(s.Binding) // an outcome: in the words of the record
	if a := clean(s.Action); a != more && whyText(s.Action) != word {
		more = joinWords(", ", whyText(a), more)
	}
	if s.Generation > 0 {
		more = joinWords(", ", more, "generation "+itoa(int(s.Generation)))
	}
	if more != "" {
		segs = append(segs, seg{toneDim, "  " + more})
	}
	out := []string{m.brush.line(cols, false, segs...)}
	out = append(out, m.evidence(unsaid(s), cols)...)
	if s.Error != nil {
		out = append(out, m.paragraph(toneBad, "      ", coded(s.Error), cols)...)
		if s.Error.Hint != "" {
			out = append(out, m.paragraph(toneAccent, "      "+m.brush.g.arrow+" ", s.Error.Hint, cols)...)
		}
	}
	return out
}

// unsaid is the evidence of a seat without what its first line says already.
func unsaid(s engine.SeatReceipt) map[string]any {
	head := map[string]string{
		"outcome": string(s.Outcome), "continuity_outcome": string(s.Outcome), "binding_outcome": string(s.Binding), "generation": itoa(int(s.Generation)),
		"context_delivered": valueText(s.ContextDelivered), "action": s.Action,
	}
	out := map[string]any{}
	for k, v := range s.Evidence {
		if text, ok := head[k]; !ok || text != valueText(v) {
			out[k] = v
		}
	}
	return out
}

// fewRows is how many short values of a seat stand in one line: a receipt of many
// seats stays one that can be looked over.
const fewRows = 3

// evidence draws evidence below the line of the seat that it belongs to: in one line
// where it is short, else as a row for each value.
func (m *Model) evidence(ev map[string]any, cols int) []string {
	lead := "      "
	if cols < stackCols {
		lead = "    "
	}
	rows := evidenceRows(ev)
	words := make([]string, len(rows))
	for i, r := range rows {
		words[i] = joinWords(": ", r.label, r.text)
	}
	if line := lead + strings.Join(words, "  "+m.brush.g.dot+"  "); len(ev) == len(rows) && len(rows) <= fewRows && width(line) <= cols {
		if len(rows) == 0 {
			return nil
		}
		return []string{m.brush.text(cols, toneDim, line)}
	}
	out := wrapped(rows, m.brush, max(cols-width(lead), 8))
	for i := range out {
		out[i] = lead + out[i]
	}
	return out
}

// rolledBack is what was done to a seat whose operation was rolled back.
const rolledBack = "rolled_back"

// receiptWord is the outcome of a seat. Where a seat was ended or let go there is
// no continuity to tell of, so what was done is the word.
func receiptWord(s engine.SeatReceipt) (string, tone) {
	if s.Action == rolledBack { // that the attempt came to nothing is what was asked for
		return whyText(s.Action), toneText
	}
	if s.Outcome == engine.ContinuityNone {
		for _, done := range []string{"stop", "releas", "already", "not_", "skip", "delet", "compact", "remov", "model_", "resume_token_", "attention_", "recap_", "clean"} {
			if strings.HasPrefix(s.Action, done) {
				return whyText(s.Action), toneText
			}
		}
	}
	return outcomeWord(s.Outcome)
}

// labelled wraps a text behind a label, as the lines of a box of facts do.
func (m *Model) labelled(label, text string, k tone, cols int) []string {
	const room = 13
	var out []string
	for _, l := range wrap(clean(text), max(cols-room-1, 8)) {
		out = append(out, m.brush.line(cols, false, seg{toneDim, " " + pad(label, room)}, seg{k, l}))
		label = ""
	}
	return out
}

// paragraph wraps a text behind a lead.
func (m *Model) paragraph(k tone, lead, text string, cols int) []string {
	var out []string
	for i, l := range wrap(clean(text), max(cols-width(lead), 8)) {
		if i > 0 {
			lead = pad("", width(lead))
		}
		out = append(out, m.brush.line(cols, false, seg{k, lead + l}))
	}
	return out
}
