package tui

import (
	"cmp"
	"context"
	"strings"

	"rig/engine"
)

// wizard asks a verb's questions line by line, shows the plan, and applies it
// when the answer is the whole word or name that was asked for.
func (p *plain) wizard(def wizardDef, target string) {
	m := p.m
	if m.opt.ReadOnly {
		p.say("Read-only mode: no wizard opens.")
		return
	}
	w := &wizard{def: def, name: newInput("")}
	if target != "" && !p.aim(w, target) {
		return
	}
	if w.who.seat != nil {
		target = w.who.seat.Address
	}
	if def.each && len(w.who.seats) == 0 {
		p.say("%s SEAT: name the seat.", def.verb)
		return
	}
	if def.fields != nil {
		w.fields = def.fields(m, w.who)
	}
	for _, f := range w.fields { // all of them: one may look at another
		f.make()
	}
	if w.secretField() != nil { // this terminal would show what is typed
		p.say("%s: not here, where what is typed can be seen. In a shell: rig %s SEAT --token-stdin --reason … < FILE", def.title, def.verb)
		return
	}
	p.say("%s: %s. An empty line takes what is offered, cancel leaves.", def.title, def.about)
	for _, f := range w.fields {
		if f.reads != nil {
			f.load = f.reads(w.answers())
		}
		if f.kind == fieldMany && f.reads != nil && f.load == nil {
			continue // nothing to choose among
		}
		if f.void != nil && f.void() != "" {
			continue
		}
		if !p.ask(f, target) {
			p.say("Left. Nothing was changed.")
			return
		}
	}
	p.plan(w)
}

// plan makes the plans and proposes them.
func (p *plain) plan(w *wizard) {
	w.plans = nil
	for _, r := range w.requests(p.m) {
		plan, err := p.m.c.Plan(p.m.ctx, r)
		if err != nil {
			p.say("There is no plan: %s", clean(errorText(err)))
			return
		}
		w.plans = append(w.plans, plan)
	}
	p.propose(w)
}

// aim points the wizard at what was named: a rig, a seat, or nothing that is
// known yet.
func (p *plain) aim(w *wizard, target string) bool {
	for i := range p.m.fleet.Rigs {
		if r := &p.m.fleet.Rigs[i]; r.Name == target {
			w.who.rig = r
			return true
		}
	}
	if w.def.verb == engine.VerbUp || imageVerb(w.def.verb) || strings.HasPrefix(target, imagePrefix) {
		return true // a spec, or an image
	}
	s := p.find(target)
	if s == nil {
		return false
	}
	w.who.seat, w.who.rig, w.who.seats = s, p.m.rig(s.RigID), []string{s.ID}
	return true
}

// ask asks one question until the answer is right; false when it was left.
func (p *plain) ask(f *field, target string) bool {
	if f.load != nil {
		choices, err := f.load(p.m.ctx)
		if err != nil {
			p.say("The choices cannot be read: %s", clean(errorText(err)))
		}
		f.offer(choices)
	}
	f.settle()
	if (f.id == "spec" || f.id == "rig" || f.id == "origin" || f.id == "image") && target != "" {
		at := f.at
		f.input.set(target)
		f.edited()
		if cmp.Or(unclear(f), f.wrong()) == "" {
			p.say("%s: %s", f.label, f.value())
			return true
		}
		f.input.set("") // it is the answer to another question
		f.at = at
	}
	if f.kind == fieldLines {
		return p.askText(f)
	}
	p.offer(f)
	for {
		line, ok := p.read()
		if !ok || line == "cancel" {
			return false
		}
		if why := cmp.Or(answer(f, line), f.wrong()); why != "" {
			p.say("%s: %s", f.label, why)
			continue
		}
		return true
	}
}

// offer prints a question with its choices.
func (p *plain) offer(f *field) {
	offered := f.value()
	if f.kind == fieldToggle {
		offered = "no"
		if f.on {
			offered = "yes"
		}
	}
	p.say("%s? %s Offered: %s", f.label, clean(f.help), orNothing(offered))
	for i, c := range f.all() {
		note := clean(c.Note)
		if c.Reason != "" {
			note = "cannot: " + clean(c.Reason)
		}
		p.say("  %d. %s %s", i+1, clean(c.Value), note)
	}
}

// askText asks for a text of many lines; false when it was left.
func (p *plain) askText(f *field) bool {
	p.say("%s? %s. Offered: %s", f.label, clean(joinWords("; ", f.help, f.note)), f.pad.size())
	p.say("Type it line by line; a line with a single . ends it. An empty first line takes what is offered.")
	var lines []string
	for {
		line, ok := p.readLine()
		switch {
		case !ok, len(lines) == 0 && line == "cancel":
			return false
		case len(lines) == 0 && line == "":
			return true
		case line == ".":
			text := strings.Join(lines, "\n") + "\n"
			pad := newNotepad("", "")
			if pad.insert(text); pad.full {
				p.say("There is no room for that: give a file instead.")
				return false
			}
			f.pad = pad
			return true
		}
		lines = append(lines, line)
	}
}

// readLine reads a line as it was typed.
func (p *plain) readLine() (string, bool) {
	select {
	case line, ok := <-p.lines:
		return strings.TrimRight(line, "\r\n"), ok
	case <-p.m.ctx.Done():
		return "", false
	}
}

func (p *plain) read() (string, bool) {
	select {
	case line, ok := <-p.lines:
		return strings.TrimSpace(line), ok
	case <-p.m.ctx.Done():
		return "", false
	}
}

// propose prints the plans and applies them after the right answer.
func (p *plain) propose(w *wizard) {
	blocked, steps := inTheWay(w.plans)
	for _, plan := range w.plans {
		for _, l := range plan.Lines() {
			p.say("%s%s", plainLead(l.Kind), clean(l.Text))
		}
	}
	canForce := w.def.force != nil && !w.forced
	switch {
	case blocked > 0:
		p.say("%s: nothing can be applied.", engine.Counted(blocked, "blocker"))
	case steps == 0:
		p.say("%s.", upperFirst(nothingToDo))
	}
	if (blocked > 0 || steps == 0) && !canForce {
		return
	}
	word := w.nameNeeded()
	if word == "" {
		word = "yes"
	}
	if blocked == 0 && steps > 0 {
		p.say("Type \"%s\" to apply this; anything else leaves it.", word)
	}
	if canForce {
		p.say("Type \"over the guard\" to plan it for what is protected too; that is asked about again.")
	}
	line, ok := p.read()
	switch {
	case ok && canForce && line == "over the guard":
		w.forced = true
		p.plan(w)
		return
	case !ok || line != word || blocked > 0 || steps == 0:
		p.say("Left. Nothing was changed.")
		return
	}
	for _, plan := range w.plans {
		p.apply(plan)
	}
}

func plainLead(k engine.LineKind) string {
	switch k {
	case engine.LineStep, engine.LineCommit:
		return "    "
	case engine.LineTitle, engine.LineNote:
		return ""
	case engine.LineCommand:
		return "  in a shell: "
	default:
		return "  "
	}
}

// apply applies one plan and says each step as it changes.
func (p *plain) apply(plan *engine.Plan) {
	ctx, cancel := context.WithCancel(p.m.ctx)
	defer cancel()
	news := make(chan engine.OpProgress, 64)
	done := make(chan appliedMsg, 1)
	go func() {
		r, err := p.m.c.Apply(ctx, plan, func(o engine.OpProgress) {
			select {
			case news <- o:
			default:
			}
		})
		done <- appliedMsg{nil, r, err}
	}()
	said := map[string]engine.StepState{}
	for {
		select {
		case o := <-news:
			p.steps(o, said)
		case msg := <-done:
			for len(news) > 0 {
				p.steps(<-news, said)
			}
			p.receipt(msg.receipt, msg.err)
			p.await()
			return
		}
	}
}

func (p *plain) steps(o engine.OpProgress, said map[string]engine.StepState) {
	for _, st := range o.Steps {
		if g := st.Gate(); g != nil && said["gate "+st.StepID] == "" {
			said["gate "+st.StepID] = st.State
			p.say("  %s", clean(g.Words(st.Seat, p.m.opt.zone())))
		}
		if st.State == engine.StepPending || said[st.StepID] == st.State {
			continue
		}
		said[st.StepID] = st.State
		if st.State == engine.StepStarted {
			continue
		}
		p.say("  %s: %s %s %s", lookStep(st.State).word, clean(stepWords(st, o.Steps)), p.m.stepTime(st), clean(st.Error))
	}
}

func (p *plain) receipt(r *engine.Receipt, err error) {
	if r != nil {
		p.say("%s: %s, operation %s", lookOp(r.Operation.State).word, clean(r.Outcome), clean(r.Operation.ID))
		for _, s := range r.Seats {
			word, _ := receiptWord(s)
			done := clean(s.Action)
			if whyText(done) == word { // said already
				done = ""
			}
			p.say("  %s: %s", clean(s.Seat), joinWords(", ", word, done))
			for _, r := range evidenceRows(unsaid(s)) {
				p.say("    %s", joinWords(": ", r.label, r.text))
			}
			if s.Error != nil {
				p.say("    %s", clean(errorText(s.Error)))
			}
		}
		for _, t := range extraWords(r.Extra) {
			p.say("  %s", clean(t))
		}
		for _, t := range r.Warnings {
			p.say("  warning: %s", clean(t))
		}
		if r.Error != nil && err == nil {
			err = r.Error
		}
	}
	if err != nil && !toldOfSeat(r, err) {
		p.say("It ended with: %s", clean(errorText(err)))
	}
}
