package tui

import (
	"encoding/json"
	"time"

	tea "charm.land/bubbletea/v2"

	"rig/engine"
)

// wizardDef is a verb as data: what to ask, and how the answers make requests.
// Everything after that is the same for all of them.
type wizardDef struct {
	verb     engine.Verb
	keys     []string
	label    string // footer
	about    string // help and palette
	title    string
	in       scope
	foot     int
	disabled func(m *Model) string
	fields   func(m *Model, s subject) []*field
	// request makes one request; with each set, one for every seat it was opened
	// on. A request may name another verb than the wizard's.
	request func(a answers, target string) engine.Request
	each    bool
	ofRig   bool // it is on the rig under the cursor, which no question asks for
	ofSeat  bool // it is on the seat under the cursor, where there is one
	ofMarks bool // what is marked is done with when it is applied
	// order, where set, orders the seats of a wizard that makes one request for
	// each.
	order  func(m *Model, ids []string) []string
	target func(m *Model, s subject, a answers) string
	// status, where set, says above the steps how a run stands.
	status func(w *wizard, m *Model, cols int) []string
	// force, where set, makes a request that goes over the guard of the verb.
	force func(r *engine.Request)
	// refused is told of an apply that was refused, never of a preview: that leaves no
	// trace. nil = nobody needs to know.
	refused func(m *Model, r engine.Request, cause error) tea.Cmd
}

// answers are the fields of a wizard by id.
type answers map[string]*field

func (a answers) text(id string) string {
	if f := a[id]; f != nil {
		return f.value()
	}
	return ""
}

func (a answers) yes(id string) bool { return a[id] != nil && a[id].on }

func (a answers) list(id string) []string {
	if f := a[id]; f != nil {
		return f.values()
	}
	return nil
}

// args marshals a verb's arguments.
func args(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil { // structs of strings and booleans always marshal
		return nil
	}
	return b
}

// phase is where a wizard stands.
type phase int

const (
	phaseAsk phase = iota
	phasePlan
	phasePreview
	phaseConfirm
	phaseRun
	phaseReceipt
)

// wizard is a verb on its way: ask, plan, preview, confirm, run, receipt. It is
// the only place from which anything is applied.
type wizard struct {
	def    wizardDef
	who    subject
	fields []*field
	at     int
	phase  phase

	leaving bool // the next step back drops what was written

	forced bool // over a guard, because a person asked for that after seeing it
	asked  int  // number of the planning request under way, 0 = none
	silent bool
	due    bool // a look at the facts is due
	plans  []*engine.Plan
	moved  []engine.Change
	left   map[string]string // address of a seat of the batch that is left out: why
	names  map[string]string // addresses of the seats that it was opened on, by id: also of those that go
	err    error

	seen   window
	tall   int  // lines that the questions took at most: the dialog does not shrink under what is typed
	held   bool // one scrolled: the view does not follow the run
	open   fuse
	pause  fuse
	astray bool // text that is not the name came before keys counted
	name   *input
	run    *run
}

// guardTime is how long keys are ignored after the last question appeared.
const guardTime = 300 * time.Millisecond

// replanTime is how often the facts are looked at again while a plan is shown.
const replanTime = time.Second

// wizard is the topmost dialog when that is a wizard.
func (m *Model) wizard() *wizard {
	w, ok := m.top().(*wizard)
	if !ok {
		return nil
	}
	return w
}

// openWizard opens a verb on what is marked, or else on what the cursor stands
// on. A verb without questions goes straight to its plan.
func (m *Model) openWizard(def wizardDef) tea.Cmd {
	who := m.here()
	if len(m.marks) > 0 {
		who.seats = m.markedSeats()
		who.seat = m.seats[who.seats[0]]
		who.rig = m.rig(who.seat.RigID)
	}
	return m.openWizardOn(def, who)
}

// openWizardOn opens a verb on what is named.
func (m *Model) openWizardOn(def wizardDef, who subject) tea.Cmd {
	w := &wizard{def: def, who: who, name: newInput(""), names: map[string]string{}}
	for _, id := range who.seats {
		if s := m.seats[id]; s != nil {
			w.names[id] = s.Address
		}
	}
	if def.fields != nil {
		w.fields = def.fields(m, w.who)
	}
	var cmds []tea.Cmd
	for i, f := range w.fields {
		if f.first {
			w.at = i
		}
		f.make()
		if f.load != nil {
			cmds = append(cmds, w.loadChoices(m, f))
		}
	}
	cmds = append(cmds, w.follow(m))
	m.push(w)
	if len(w.fields) == 0 {
		cmds = append(cmds, w.plan(m))
	}
	return tea.Batch(cmds...)
}

func (*wizard) loadChoices(m *Model, f *field) tea.Cmd {
	f.loading, f.asked = true, m.next()
	id, ctx, name, load := f.asked, m.ctx, f.id, f.load
	return func() tea.Msg {
		choices, err := load(ctx)
		return choicesMsg{id, name, choices, err}
	}
}

// follow reads anew the choices that depend on an answer which is another one
// now. It is called when a question is left, not while one types.
func (w *wizard) follow(m *Model) tea.Cmd {
	var cmds []tea.Cmd
	a := w.answers()
	for _, f := range w.fields {
		if f.reads == nil {
			continue
		}
		key := ""
		for _, id := range f.follows {
			key += a.text(id) + "\x00"
		}
		if !f.primed {
			f.base = f.choices
		} else if key == f.behind {
			continue
		}
		f.restart(key)
		if f.load = f.reads(a); f.load != nil {
			cmds = append(cmds, w.loadChoices(m, f))
		}
	}
	return tea.Batch(cmds...)
}

func (w *wizard) answers() answers {
	a := answers{}
	for _, f := range w.fields {
		a[f.id] = f
	}
	return a
}

// requests makes what the answers ask for.
func (w *wizard) requests(m *Model) []engine.Request {
	a := w.answers()
	var out []engine.Request
	if w.def.each {
		ids := w.who.seats
		if w.def.order != nil {
			ids = w.def.order(m, ids)
		}
		for _, id := range ids {
			if s := m.seats[id]; s != nil && w.left[s.Address] == "" {
				out = append(out, w.def.request(a, s.Address))
			}
		}
	} else {
		out = append(out, w.def.request(a, w.def.target(m, w.who, a)))
	}
	for i := range out {
		out[i].Operator, out[i].Secret = m.operator, w.secretFor()
		if out[i].Verb == "" {
			out[i].Verb = w.def.verb
		}
		if out[i].Reason == "" {
			out[i].Reason = a.text("reason")
		}
		if w.forced && w.def.force != nil {
			w.def.force(&out[i])
		}
	}
	return out
}

// plan makes the plan, or makes it again. Nothing is changed by it.
func (w *wizard) plan(m *Model) tea.Cmd {
	w.phase, w.err, w.silent = phasePlan, nil, false
	w.seen.top()
	return w.askPlan(m)
}

func (w *wizard) askPlan(m *Model) tea.Cmd {
	w.asked = m.next()
	c, ctx, id, reqs := m.c, m.ctx, w.asked, w.requests(m)
	return func() tea.Msg {
		out := plannedMsg{id: id}
		for _, r := range reqs {
			p, err := c.Plan(ctx, r)
			if err != nil {
				out.err = err
				return out
			}
			out.plans = append(out.plans, p)
		}
		return out
	}
}

// onPlanned shows a plan. When it is another than the one shown, the last
// question is taken back and what moved is said.
func (w *wizard) onPlanned(msg plannedMsg) {
	w.asked = 0
	if msg.err != nil {
		if w.silent && w.phase == phaseConfirm {
			w.phase = phasePreview
		}
		if w.silent { // the plan that is shown stands; applying it re-reads everything
			w.err = msg.err
			return
		}
		w.err, w.plans = msg.err, nil
		if len(w.fields) > 0 { // the answers stand, with the keys on them again
			w.phase, w.moved, w.forced = phaseAsk, nil, false
			w.seen.top()
		}
		return
	}
	w.err = nil
	diff := moved(w.plans, msg.plans)
	if w.silent && len(diff) == 0 {
		return // the same plan: keep the very one that was shown, with what moved before
	}
	if !w.silent {
		w.moved = nil
	}
	w.moved = movedOn(w.moved, diff)
	w.phase, w.plans = phasePreview, msg.plans
}

func (w *wizard) update(m *Model, msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case plannedMsg:
		if msg.id == w.asked && msg.id != 0 {
			w.onPlanned(msg)
			w.hide()
		}
	case armMsg:
		w.open.burnt(msg)
		w.pause.burnt(msg)
	case choicesMsg:
		w.onChoices(msg)
		w.settle()
		return w.follow(m)
	case pictureMsg:
		return w.look(m)
	case replanMsg:
		return w.lookAgain(m, msg)
	case tea.WindowSizeMsg:
		w.tall = 0
	}
	return nil
}

func (w *wizard) onChoices(msg choicesMsg) {
	for _, f := range w.fields {
		if f.id != msg.field || f.asked != msg.id {
			continue
		}
		f.loading, f.trouble = false, ""
		if msg.err != nil {
			f.trouble = errorText(msg.err)
			continue
		}
		f.offer(msg.choices)
		f.stand()
	}
}

// look plans a look at the facts when the picture changed under a plan that is
// shown.
func (w *wizard) look(m *Model) tea.Cmd {
	if w.due || w.asked != 0 || w.phase != phasePreview && w.phase != phaseConfirm {
		return nil
	}
	w.due = true
	id := m.next()
	return m.after(replanTime, func(time.Time) tea.Msg { return replanMsg{id} })
}

func (w *wizard) lookAgain(m *Model, _ replanMsg) tea.Cmd {
	if !w.due {
		return nil
	}
	w.due = false
	if w.asked != 0 || w.phase != phasePreview && w.phase != phaseConfirm {
		return nil
	}
	w.silent = true
	return w.askPlan(m)
}

// copyText is the command line that does the same as the plan.
func (w *wizard) copyText() string {
	if w.phase == phaseReceipt && w.run != nil {
		return w.run.ids()
	}
	var lines []string
	for _, p := range w.plans {
		lines = append(lines, p.Command)
	}
	return joinWords("\n", lines...)
}
