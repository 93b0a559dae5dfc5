package tui

import (
	tea "charm.land/bubbletea/v2"

	"rig/engine"
)

// run is one applied wizard: its plans, one after the other, with their journals
// and receipts. It belongs to the console, not to the dialog: closing the view
// does not end it.
type run struct {
	plans    []*engine.Plan
	at       int
	progress []engine.OpProgress
	receipts []*engine.Receipt
	errs     []error
	done     bool
	halt     bool                                                  // plans whose turn has not come are not applied
	ends     bool                                                  // the one under way was asked to end
	refused  func(m *Model, r engine.Request, cause error) tea.Cmd // of the verb
	news     chan engine.OpProgress
	over     chan struct{}
}

func (r *run) plan() *engine.Plan { return r.plans[min(r.at, len(r.plans)-1)] }

// ids lists the operations of a run.
func (r *run) ids() string {
	var out []string
	for _, rc := range r.receipts {
		if rc != nil {
			out = append(out, rc.Operation.ID)
		}
	}
	return joinWords(" ", out...)
}

// ok reports whether every plan ended clean.
func (r *run) ok() bool {
	for i := range r.plans {
		if !r.clean(i) {
			return false
		}
	}
	return true
}

func (r *run) clean(i int) bool { return r.errs[i] == nil && r.receipts[i] != nil && r.receipts[i].OK }

// confirm applies the plans that were shown.
func (w *wizard) confirm(m *Model) tea.Cmd {
	n := len(w.plans)
	r := &run{plans: w.plans, progress: make([]engine.OpProgress, n), receipts: make([]*engine.Receipt, n), errs: make([]error, n), refused: w.def.refused}
	m.runs = append(m.runs, r)
	w.run, w.phase, w.held = r, phaseRun, false
	w.seen.top()
	if w.def.ofMarks || w.def.each {
		m.unmark(w.who.seats)
	}
	return m.apply(r)
}

// apply applies the next plan of a run and follows its journal.
func (m *Model) apply(r *run) tea.Cmd {
	news, over := make(chan engine.OpProgress, 1), make(chan struct{})
	r.news, r.over = news, over
	c, ctx, p := m.c, m.ctx, r.plan()
	work := func() tea.Msg {
		defer close(over)
		receipt, err := c.Apply(ctx, p, func(o engine.OpProgress) {
			select { // only the newest journal matters
			case <-news:
			default:
			}
			select {
			case news <- o:
			default:
			}
		})
		return appliedMsg{r, receipt, err}
	}
	return tea.Batch(work, r.follow())
}

func (r *run) follow() tea.Cmd {
	news, over := r.news, r.over
	return func() tea.Msg {
		select {
		case o := <-news:
			return progressMsg{r, o}
		case <-over:
			return nil
		}
	}
}

func (m *Model) onProgress(msg progressMsg) tea.Cmd {
	r := msg.run
	if r.done {
		return nil
	}
	r.progress[r.at] = msg.progress
	return r.follow()
}

// onApplied keeps a receipt and goes on to the next plan, or ends the run. A
// stale plan goes back to the preview, which shows what moved.
func (m *Model) onApplied(msg appliedMsg) tea.Cmd {
	r := msg.run
	r.receipts[r.at], r.errs[r.at] = msg.receipt, msg.err
	w := m.wizardOf(r)
	if engine.CodeOf(msg.err) == engine.CodePlanStale && w != nil && len(r.plans) == 1 {
		m.forget(r)
		w.run, w.phase, w.silent = nil, phasePlan, false
		return w.askPlan(m)
	}
	if r.at+1 < len(r.plans) && !r.halt {
		r.at++
		return m.apply(r)
	}
	for i := r.at + 1; i < len(r.plans); i++ {
		r.errs[i] = engine.Errorf("not_started", "its turn did not come").WithHint("nothing was done to it")
	}
	r.done = true
	var note tea.Cmd
	if msg.err != nil && r.refused != nil {
		note = r.refused(m, r.plan().Request, msg.err)
	}
	r.settle()
	m.forget(r)
	if w != nil {
		w.phase = phaseReceipt
		w.seen.top()
		return tea.Batch(w.open.light(m, guardTime), note)
	}
	k, word := r.ended()
	return tea.Batch(note, m.say(k, k == toneBad, r.called()+": "+word+"; "+m.reg.hint("screen-operations")+" shows it"))
}

// called is what the run does, and to what.
func (r *run) called() string {
	p := r.plan()
	if len(r.plans) > 1 {
		return string(p.Verb) + " of " + engine.Counted(len(r.plans), "seat")
	}
	return string(p.Verb) + " " + p.Target
}

// ended says in a few words how the run ended.
func (r *run) ended() (tone, string) {
	bad := 0
	var last error
	for i := range r.plans {
		if !r.clean(i) {
			bad++
		}
		if r.errs[i] != nil {
			last = r.errs[i]
		}
	}
	switch {
	case bad == 0:
		return toneBusy, "done"
	case len(r.plans) > 1:
		return toneBad, itoa(bad) + " of them ended, not clean"
	case last != nil:
		return toneBad, errorText(last)
	}
	return toneBad, "ended, not clean"
}

// wizardOf finds the dialog that shows a run; nil when it was closed.
func (m *Model) wizardOf(r *run) *wizard {
	for _, o := range m.overlays {
		if w, ok := o.(*wizard); ok && w.run == r {
			return w
		}
	}
	return nil
}

func (m *Model) forget(r *run) {
	kept := m.runs[:0]
	for _, other := range m.runs {
		if other != r {
			kept = append(kept, other)
		}
	}
	m.runs = kept
}

// unsafeRun finds a run that would end with this console, or whose later seats
// would never have their turn; nil when there is none.
func (m *Model) unsafeRun() *run {
	for _, r := range m.runs {
		if !r.done && (!r.plan().Detached || r.at+1 < len(r.plans) && !r.halt) {
			return r
		}
	}
	return nil
}
