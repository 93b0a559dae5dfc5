package tui

import (
	"time"

	"rig/engine"
)

// followsSeats reports whether a run is shown seat by seat instead of step by
// step: verbs that start many seats at once.
func followsSeats(p *engine.Plan) bool {
	switch p.Verb {
	case engine.VerbUp, engine.VerbRestore, engine.VerbLaunch:
		return len(seatsOf(p)) > 1
	default:
		return false
	}
}

// seatRun is how far one seat of a running operation is.
type seatRun struct {
	seat        string
	state       engine.StepState
	left        bool // nothing was started
	done, total int
	title, err  string
	from, to    time.Time
}

// seatRuns sums the journal up by seat, in the order of the plan.
func seatRuns(steps []engine.OperationStep) []*seatRun {
	var out []*seatRun
	by := map[string]*seatRun{}
	for _, st := range steps {
		if st.Seat == "" {
			continue
		}
		r := by[st.Seat]
		if r == nil {
			r = &seatRun{seat: st.Seat, state: engine.StepPending}
			by[st.Seat], out = r, append(out, r)
		}
		r.add(st)
	}
	return out
}

func (r *seatRun) add(st engine.OperationStep) {
	r.total++
	r.left = r.left || st.Kind == engine.StepRestoreLeave
	if !st.StartedAt.IsZero() && (r.from.IsZero() || st.StartedAt.Before(r.from)) {
		r.from = st.StartedAt
	}
	if st.EndedAt.After(r.to) {
		r.to = st.EndedAt
	}
	switch st.State {
	case engine.StepDone:
		r.done++
		if r.state == engine.StepPending {
			r.state = engine.StepStarted
		}
		if r.done == r.total {
			r.title = clean(st.Title)
		}
	case engine.StepFailed, engine.StepUnknown:
		r.state, r.title, r.err = st.State, clean(st.Title), clean(st.Error)
	case engine.StepStarted:
		if r.state != engine.StepFailed {
			r.state, r.title = engine.StepStarted, clean(st.Title)
		}
	case engine.StepSkipped:
		r.done++
	case engine.StepUndone: // what was done of the seat is taken back
		if r.state != engine.StepFailed {
			r.state, r.title = engine.StepUndone, clean(st.Title)
		}
	case engine.StepPending:
	}
}

// seatRunLines shows how far each seat is: one line for each, with the step that
// is under way and the time since its first.
func (m *Model) seatRunLines(steps []engine.OperationStep, cols int) []string {
	var out []string
	for _, st := range steps {
		if st.Seat == "" {
			out = append(out, m.stepLines(st, cols, false)...)
		}
	}
	name := min(max(cols/3, 16), 30)
	for _, r := range seatRuns(steps) {
		if r.state == engine.StepStarted && r.done == r.total {
			r.state = engine.StepDone
		}
		l := lookStep(r.state)
		if r.left && r.state == engine.StepDone { // that is no success
			l = look{"◆", "+", "left", toneNeed}
		}
		segs := []seg{
			{l.tone, " " + l.mark(m.brush.g) + " "},
			{toneText, pad(cutMiddle(clean(r.seat), name), name) + "  "},
			{l.tone, pad(itoa(r.done)+"/"+itoa(r.total), 6)},
			{toneDim, r.title},
		}
		if r.err != "" {
			segs = append(segs, seg{toneBad, "  " + r.err})
		}
		right := ""
		switch {
		case r.from.IsZero():
		case r.state != engine.StepStarted && r.state != engine.StepPending:
			right = "  " + elapsed(r.to.Sub(r.from)) + " "
		default:
			right = "  " + elapsed(m.now.Sub(r.from).Truncate(time.Second)) + " "
		}
		out = append(out, m.brush.line(cols-width(right), false, segs...)+m.brush.line(width(right), false, seg{toneDim, right}))
	}
	return out
}

// verdictLines says what a receipt tells of each rig that was brought back.
func (m *Model) verdictLines(r *engine.Receipt, cols int) []string {
	var out []string
	for _, v := range engine.RestoreVerdicts(r.Extra) {
		l := lookResult(v.Result)
		head := []seg{{toneStrong, "  " + clean(v.Rig) + "  "}, {l.tone, l.text(m.brush.g)}}
		from := "from " + selectionText(v.Selection)
		if segsWidth(head)+2+width(from) <= cols {
			out = append(out, m.brush.line(cols, false, append(head, seg{toneDim, "  " + from})...))
		} else {
			out = append(append(out, m.brush.line(cols, false, head...)), m.paragraph(toneDim, "      ", from, cols)...)
		}
		if v.Why != nil {
			out = append(out, m.paragraph(toneBad, "      ", errorText(v.Why), cols)...)
		}
		for _, x := range v.Excluded {
			out = append(out, m.paragraph(toneDim, "      ", x.Seat+" left out: "+whyText(x.Reason), cols)...)
		}
	}
	return out
}
