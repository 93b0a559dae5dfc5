package tui

import (
	"cmp"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rig/engine"
)

func (w *wizard) scope(*Model) scope {
	switch w.phase {
	case phaseAsk:
		if f := w.field(); f != nil && f.kind == fieldLines {
			return scopeText
		}
		return scopeAsk
	case phasePlan:
		return scopePlan
	case phasePreview:
		return scopePreview
	case phaseConfirm:
		if w.nameNeeded() != "" {
			return scopeName
		}
		return scopeConfirm
	case phaseRun:
		return scopeRun
	case phaseReceipt:
	}
	return scopeReceipt
}

func (w *wizard) typing() bool {
	switch w.phase {
	case phaseAsk:
		return w.field() != nil && w.field().takesText()
	case phaseConfirm:
		return w.nameNeeded() != ""
	case phasePlan, phasePreview, phaseRun, phaseReceipt:
	}
	return false
}

func (w *wizard) field() *field {
	if w.at < len(w.fields) {
		return w.fields[w.at]
	}
	return nil
}

func (w *wizard) key(m *Model, k tea.KeyPressMsg) tea.Cmd {
	switch {
	case w.phase == phaseAsk && w.field() != nil:
		w.field().key(k)
		w.settle()
		w.answering()
	case w.phase == phaseConfirm && w.nameNeeded() != "":
		w.name.key(k)
		return w.pause.light(m, typePause)
	}
	return nil
}

func (w *wizard) paste(m *Model, text string) tea.Cmd {
	switch {
	case w.phase == phaseAsk && w.typing():
		if f := w.field(); f.kind == fieldLines {
			f.pad.insert(text)
		} else {
			f.input.insert(text)
			f.edited()
		}
		w.answering()
	case w.phase == phaseConfirm && w.nameNeeded() != "" && w.open.ready:
		w.name.insert(text)
		return w.pause.light(m, typePause)
	}
	return nil
}

// early reports whether a key comes too soon after the last question appeared
// and is to be ignored. Each of them makes the wait begin anew, so that a key
// that is held down never answers.
func (w *wizard) early(m *Model, k tea.KeyPressMsg) (tea.Cmd, bool) {
	if w.phase != phaseConfirm && w.phase != phaseReceipt || k.String() == "ctrl+c" || k.String() == "esc" {
		return nil, false
	}
	if w.open.ready && !k.Key().IsRepeat {
		return nil, false
	}
	// A name that is typed at once is no key that was held down. The first key that does
	// not go on with it ends that, so that nothing becomes the name by what it lacks.
	if name := w.nameNeeded(); w.phase == phaseConfirm && name != "" && k.Key().Text != "" {
		if !w.astray && !k.Key().IsRepeat && strings.HasPrefix(name, w.name.text()+k.Key().Text) {
			return nil, false
		}
		w.astray = true
		w.name.set("")
	}
	return w.open.light(m, guardTime), true
}

// step goes to the next or previous question.
func (w *wizard) step(m *Model, by int) tea.Cmd {
	w.at = (w.at + by + len(w.fields)) % max(len(w.fields), 1)
	return w.follow(m)
}

// walk moves among the choices of a question, and past its end to the next one.
func (w *wizard) walk(m *Model, by int) tea.Cmd {
	if f := w.field(); f != nil && f.walk(by) {
		w.settle()
		w.answering()
		return nil
	}
	if next := w.at + by; next >= 0 && next < len(w.fields) {
		w.at = next
	}
	return w.follow(m)
}

// answering puts a refusal away: an answer is another one now.
func (w *wizard) answering() {
	w.err, w.leaving = nil, false
	w.seen.top()
}

// whyNoLeaf says why there is no refusal to page through below the questions.
func (m *Model) whyNoLeaf() string {
	w := m.wizard()
	if w == nil || w.err == nil {
		return "no plan was refused"
	}
	if cols, h := w.size(m.w, m.h-1); len(w.lines(m, cols-4)) <= w.room(h) {
		return "all of it is in sight"
	}
	return ""
}

// lookForChoices reads the choices of a question again.
func (w *wizard) lookForChoices(m *Model) tea.Cmd {
	if f := w.field(); f != nil && f.load != nil {
		return w.loadChoices(m, f)
	}
	return nil
}

func (m *Model) whyNoChoices() string {
	if w := m.wizard(); w == nil || w.field() == nil || w.field().load == nil {
		return "there is nothing to look for again: this question has no list that changes"
	}
	return ""
}

// settle fits answers to others that they follow from.
func (w *wizard) settle() {
	for i, f := range w.fields {
		if i == w.at {
			f.choose()
		} else {
			f.settle()
		}
	}
}

func (w *wizard) toggle(*Model) tea.Cmd {
	w.field().toggle()
	w.answering()
	return nil
}

func (m *Model) whyNoToggle() string {
	w := m.wizard()
	if w == nil || w.field() == nil || w.field().takesText() {
		return "this question is answered with text"
	}
	return ""
}

// answered makes the plan when every answer is right; else it goes to the first
// that is not.
func (w *wizard) answered(m *Model) tea.Cmd {
	reading := w.follow(m) // what was picked for another answer is void
	for i, f := range w.fields {
		if why := f.wrong(); why != "" {
			w.at = i
			return tea.Batch(reading, m.say(toneNeed, false, strings.ToLower(f.label)+": "+why))
		}
	}
	return tea.Batch(reading, w.plan(m))
}

// whyNoApply says why the plan that is shown cannot be applied.
func (m *Model) whyNoApply() string {
	w := m.wizard()
	switch {
	case w == nil:
		return "no wizard is open"
	case len(w.plans) == 0:
		return "there is no plan"
	case w.asked != 0 && !w.silent:
		return "the plan is being made"
	}
	blocked, steps := inTheWay(w.plans)
	if blocked > 0 {
		gone := "it is"
		if blocked > 1 {
			gone = "they are"
		}
		why := engine.Counted(blocked, "blocker") + ": nothing can be applied until " + gone + " gone; " + m.reg.hint("replan") + " plans again"
		if m.whyNoLeaveOut() == "" {
			why += ", " + m.reg.hint("leave-out") + " leaves out " + engine.Counted(blockedPlans(w.plans), "seat") + " of " + itoa(len(w.plans))
		}
		return why
	}
	if steps == 0 {
		return nothingToDo
	}
	return ""
}

const nothingToDo = "there is nothing to do: the plan has no steps"

// inTheWay counts what plans cannot be applied for, and what they would do.
func inTheWay(plans []*engine.Plan) (blockers, steps int) {
	for _, p := range plans {
		blockers += len(p.Blockers)
		steps += len(p.Steps())
	}
	return blockers, steps
}

// whyNotArmed says why the last question cannot be answered yet.
func (m *Model) whyNotArmed() string {
	w := m.wizard()
	switch {
	case w == nil:
		return "no wizard is open"
	case w.phase == phaseReceipt: // it stays on Operations: closing it at once loses nothing
		return ""
	case !w.open.ready:
		return "a moment: keys do not count yet"
	case w.nameNeeded() != "" && w.name.text() != w.nameNeeded():
		return typed(w.nameNeeded()) + " first"
	case w.nameNeeded() != "" && !w.pause.ready:
		return "a moment: text was still coming in"
	}
	return ""
}

// force plans again over the guard that was shown, or back behind it.
func (w *wizard) force(m *Model) tea.Cmd {
	w.forced = !w.forced
	return w.plan(m)
}

// forceWord says what the key does now.
func (m *Model) forceWord() string {
	if w := m.wizard(); w != nil && w.forced {
		return "no force"
	}
	return "force"
}

func (m *Model) whyNoForce() string {
	if w := m.wizard(); w == nil || w.def.force == nil {
		return "nothing guards this verb that could be overruled"
	}
	return ""
}

// ask goes on to the last question, which ignores keys for a moment.
func (w *wizard) ask(m *Model) tea.Cmd {
	w.phase, w.moved = phaseConfirm, nil
	w.name.set("")
	w.pause, w.astray = fuse{}, false
	return w.open.light(m, guardTime)
}

// back goes one step back; from the first it closes the wizard.
func (w *wizard) back(m *Model) tea.Cmd {
	switch {
	case w.phase == phaseConfirm:
		w.phase = phasePreview
		return nil
	case w.phase == phaseAsk && w.err != nil:
		w.tall = 0
		w.answering()
		return nil
	case w.phase == phaseAsk && w.unsaved() && !w.leaving:
		w.leaving = true
		return m.say(toneNeed, false, "what was written here is nowhere else: "+m.reg.hint("wizard-back")+" again drops it")
	case w.phase != phaseAsk && len(w.fields) > 0:
		w.drop()
		w.hide()
		w.phase, w.asked, w.moved, w.err, w.forced, w.left = phaseAsk, 0, nil, nil, false, nil
		return nil
	}
	w.drop()
	return m.closeTop()
}

// nameNeeded is what must be typed to apply the plans: a name, when many seats
// or something that cannot be undone is at stake; "" when a key is enough.
func (w *wizard) nameNeeded() string {
	if len(w.plans) == 0 {
		return ""
	}
	if w.forced {
		return "force"
	}
	if len(w.plans) > 1 {
		return engine.Counted(len(w.plans), "seat")
	}
	p := w.plans[0]
	if len(seatsOf(p)) < manySeats && !oneWay(p) {
		return ""
	}
	return clean(cmp.Or(partOf(p), p.Target))
}

// partOf is the part of its target that a plan is about: the pod that it takes out, the
// one seat that it launches; "" for other plans, and where the arguments cannot be read:
// the name of the rig is asked for then.
func partOf(p *engine.Plan) string {
	switch p.Verb {
	case engine.VerbShrink:
		if a, err := engine.DecodeArgs[engine.ShrinkArgs](p.Request); err == nil {
			return a.Pod
		}
	case engine.VerbLaunch:
		seats := seatsOf(p)
		if a, err := engine.DecodeArgs[engine.LaunchArgs](p.Request); err == nil && len(a.Seats) == 1 && len(seats) == 1 {
			return seats[0]
		}
	default:
	}
	return ""
}

// manySeats is from how many seats on a plan asks for a name.
const manySeats = 3

// seatsOf lists the seats that a plan does something to.
func seatsOf(p *engine.Plan) []string {
	seen := map[string]bool{}
	var out []string
	for _, s := range p.Steps() {
		if s.Seat != "" && !seen[s.Seat] {
			seen[s.Seat] = true
			out = append(out, s.Seat)
		}
	}
	return out
}

// oneWay reports whether a step of the plan ends something for good. To count a
// fork cannot be taken back either, but ends nothing.
func oneWay(p *engine.Plan) bool {
	for _, s := range p.Steps() {
		if s.Effect == engine.EffectOneWay && s.Kind != engine.StepImageUsed {
			return true
		}
	}
	return false
}

// move scrolls what is shown.
func (w *wizard) move(m *Model, d move) tea.Cmd {
	cols, h := w.size(m.w, m.h-1)
	text := w.lines(m, cols-4)
	w.seen = w.inSight(m, text, cols-4, w.room(h))
	w.seen.move(d, text, cols-4, w.room(h))
	w.held = true
	return nil
}
