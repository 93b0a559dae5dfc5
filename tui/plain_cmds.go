package tui

import (
	"strconv"
	"strings"

	"rig/engine"
)

// plainCommand is a command of the plain console that changes no rig.
type plainCommand struct {
	name, usage, help string
	write             bool
	run               func(p *plain, rest string)
}

func plainCommands() []plainCommand {
	return []plainCommand{
		{"help", "help", "this list", false, func(p *plain, _ string) { p.help() }},
		{"list", "list [words]", "seats with their state, narrowed by words", false, (*plain).list},
		{"seat", "seat SEAT", "everything that is known of a seat", false, (*plain).seat},
		{"attention", "attention", "what waits for a person, numbered", false, func(p *plain, _ string) { p.attention() }},
		{"pressure", "pressure", "context windows, fullest first", false, func(p *plain, _ string) { p.pressure() }},
		{"images", "images [NAME]", "the agent images; of one all there is, and the spec that starts a seat from it", false, (*plain).images},
		{"reboot", "reboot [words]", "what would become of each seat if this machine rebooted now", false, (*plain).reboot},
		{"sockets", "sockets", "where the seats are: the tmux servers, and what each holds", false, func(p *plain, _ string) { p.sockets() }},
		{"snapshots", "snapshots [words]", "what a restore could stand on, newest first", false, (*plain).snapshots},
		{"restores", "restores", "past restores: the verdict then, and now", false, func(p *plain, _ string) { p.restores() }},
		{"events", "events [number]", "the newest entries of the audit log", false, (*plain).events},
		{"operations", "operations", "running and past operations", false, func(p *plain, _ string) { p.operations() }},
		{"journal", "journal OPERATION", "the steps of an operation", false, (*plain).journal},
		{"explain", "explain SEAT [status|context|identity]", "where a fact comes from", false, (*plain).explain},
		{"look-back", "look-back SEAT [HHMM]", "the moments recorded of a seat, or its screen at a time of day", false, (*plain).lookBack},
		{"jump", "jump SEAT", "the line that goes into the seat's pane", false, (*plain).jump},
		{"send", "send SEAT TEXT", "type a message into a seat and verify it", true, (*plain).send},
		{"undo", "undo [SEAT|OPERATION]", "undo an operation, or the last one of a seat, while that is possible", true, (*plain).undo},
		{"ack", "ack NUMBER", "acknowledge an item of attention", true, func(p *plain, r string) { p.ack(r, 0) }},
		{"snooze", "snooze NUMBER [minutes]", "hide an item for a while", true, (*plain).snooze},
	}
}

func (p *plain) help() {
	for _, c := range plainCommands() {
		p.say("%-42s %s", c.usage, c.help)
	}
	for _, d := range wizardDefs() {
		p.say("%-42s %s", string(d.verb)+" [target]", d.about)
	}
	p.say("%-42s %s", "quit", "leave; seats and operations go on")
	p.say("A verb asks its questions one by one, shows its plan, and asks before it changes anything. cancel leaves it.")
}

func (p *plain) list(words string) {
	for i := range p.m.fleet.Rigs {
		r := &p.m.fleet.Rigs[i]
		p.say("rig %s: %s, %s of %s running", clean(r.Name), lookRig(r.Life).word, engine.Untold(r.Running, r.Unknown), engine.Counted(len(r.Seats), "seat"))
		for j := range r.Seats {
			s := &r.Seats[j]
			if !seatMatches(s, words) {
				continue
			}
			share, _ := p.m.shareCell(s)
			if share != "" {
				share = ", context " + share
			}
			p.say("  %s: %s, %s%s%s", clean(s.Address), p.looks[s.ID], runtimeWord(s.Runtime), share, p.since(s))
		}
	}
}

func (p *plain) since(s *engine.SeatView) string {
	if s.Since.IsZero() {
		return ""
	}
	return ", for " + age(p.m.now, s.Since)
}

// find finds a seat by an address, a logical id or a part of them that only one
// seat has.
func (p *plain) find(text string) *engine.SeatView {
	var hits []*engine.SeatView
	for _, s := range p.m.fleet.Seats() {
		if s.Address == text || s.Logical+"@"+s.Rig == text {
			return s
		}
		if text != "" && (s.Logical == text || matches(text, s.Address)) {
			hits = append(hits, s)
		}
	}
	switch len(hits) {
	case 1:
		return hits[0]
	case 0:
		p.say("There is no seat %q. list shows them.", clean(text))
	default:
		p.say("%q means %s: %s, %s …", clean(text), engine.Counted(len(hits), "seat"), clean(hits[0].Address), clean(hits[1].Address))
	}
	return nil
}

func (p *plain) seat(text string) {
	s := p.find(text)
	if s == nil {
		return
	}
	facts := p.m.seatFacts(s)
	sessions, tenures, err := p.m.c.SeatHistory(p.m.ctx, s.ID)
	if err != nil {
		p.say("history: %s", clean(errorText(err)))
	}
	facts = append(p.m.withLineage(facts, tenures), p.m.historyFacts(s, sessions, tenures)...)
	drift, err := p.m.c.SpecDrift(p.m.ctx, s.ID)
	if err != nil {
		p.say("spec: %s", clean(errorText(err)))
	}
	for _, f := range append(facts, driftFacts(drift)...) {
		if strings.HasPrefix(f.key, "h/") {
			p.say("%s", f.value)
			continue
		}
		note := f.note
		if note != "" {
			note = " [" + note + "]"
		}
		p.say("  %s: %s%s", f.label, f.value, note)
	}
}

func (p *plain) attention() {
	if len(p.m.fleet.Attention) == 0 {
		title, why, _ := calmWords(p.m.fleet)
		p.say("%s. %s", title, why)
	}
	p.told = nil
	for i, it := range p.m.fleet.Attention {
		p.told = append(p.told, it.Key)
		seen := ""
		if it.Acked != "" {
			seen = " (" + p.m.ackWord(it) + ")"
		}
		p.say("%d. %s For %s.%s", i+1, p.item(it), age(p.m.now, it.Since), seen)
	}
}

func (p *plain) pressure() {
	s, ok := p.m.screens[screenPressure].(*pressureScreen)
	if !ok {
		return
	}
	plan, err := p.m.c.Pressure(p.m.ctx, p.m.fleet)
	s.take(pressureMsg{plan: plan, err: err})
	if err != nil {
		p.say("no plan: %s", clean(s.trouble))
	}
	s.sort(p.m)
	for _, seat := range s.rows {
		u := seat.Usage
		share, _ := p.m.shareCell(seat)
		note := p.m.sourceNote(u.Source, u.SampledAt, u.Confidence)
		wall, _ := s.wallCell(seat)
		if wall != "" {
			wall = "wall in " + wall
		}
		word, _ := s.planCell(seat)
		p.say("%s: %s %s", clean(seat.Address), orUnknown(share), joinWords(", ", tokensOf(u), note, clean(u.Note), wall, word))
	}
}

func (p *plain) events(text string) {
	n, err := strconv.Atoi(text)
	if err != nil || n <= 0 {
		n = 20
	}
	events, err := p.m.c.Events(p.m.ctx, engine.EventFilter{Newest: true, Limit: n})
	if err != nil {
		p.say("%s", clean(errorText(err)))
		return
	}
	for i := min(n, len(events)) - 1; i >= 0; i-- {
		e := events[i]
		p.say("%s %s %s %s %s", e.At.In(p.m.opt.zone()).Format("15:04:05"), clean(e.Type), clean(e.Seat), byWord(e.Operator), payloadText(e.Payload))
	}
}

func (p *plain) operations() {
	ops, err := p.m.c.Operations(p.m.ctx, engine.OperationFilter{Limit: 30})
	if err != nil {
		p.say("%s", clean(errorText(err)))
		return
	}
	for i := len(ops) - 1; i >= 0; i-- {
		op := ops[i]
		p.say("%s %s %s: %s%s %s", clean(op.ID), op.Verb, clean(op.Target), p.m.opState(op), byWord(op.Operator), clean(op.Error))
	}
}

func (p *plain) journal(id string) {
	op, steps, err := p.m.c.Operation(p.m.ctx, id)
	if err != nil {
		p.say("%s", clean(errorText(err)))
		return
	}
	p.say("%s %s: %s", op.Verb, clean(op.Target), p.m.opState(op))
	steps = p.m.asItStands(op.ID, steps)
	for _, st := range steps {
		p.say("  %s: %s %s %s", lookStep(st.State).word, clean(stepWords(st, steps)), p.m.stepTime(st), clean(st.Error))
	}
}

// stepWords is the title of a step, with its seat where it stands among the steps of
// others.
func stepWords(st engine.OperationStep, steps []engine.OperationStep) string {
	if st.Seat == "" || !ofManySeats(steps) || strings.Contains(st.Title, st.Seat) {
		return st.Title
	}
	return st.Seat + ": " + st.Title
}

func (p *plain) explain(text string) {
	ref, topic, _ := strings.Cut(text, " ")
	s := p.find(ref)
	if s == nil {
		return
	}
	if topic == "" {
		topic = "status"
	}
	x, err := p.m.c.Explain(p.m.ctx, s.ID, topic)
	if err != nil {
		p.say("%s", clean(errorText(err)))
		return
	}
	for _, l := range explainLines(x) {
		p.say("%s", joinWords(": ", l.label, l.text))
	}
}

// jump says how to get into a pane: a line-oriented console stays where it is.
func (p *plain) jump(text string) {
	s := p.find(text)
	if s == nil {
		return
	}
	j, err := p.m.c.Jump(p.m.ctx, s.ID)
	switch {
	case err != nil:
		p.say("%s", clean(errorText(err)))
	case len(j.Argv) > 0:
		p.say("%s", clean(strings.Join(j.Argv, " ")))
	default:
		p.say("rig attach %s", clean(s.Address))
	}
}

func (p *plain) send(text string) {
	ref, message, _ := strings.Cut(text, " ")
	s := p.find(ref)
	switch {
	case s == nil:
		return
	case message == "":
		p.say("send SEAT TEXT: the text is missing.")
		return
	case s.Activity.Draft != "":
		p.say("A draft stands in its input box and is never typed over: %s", clean(s.Activity.Draft))
		return
	}
	d, err := p.m.c.Send(p.m.ctx, s.ID, message)
	if err != nil {
		p.say("%s", clean(errorText(err)))
		return
	}
	p.say("%s", clean(joinWords(", ", append([]string{d.Word(), d.Why, d.Source}, d.Warnings...)...)))
}

func (p *plain) ack(text string, seconds int) {
	it := p.numbered(text)
	if it == nil {
		return
	}
	if err := p.m.c.Ack(p.m.ctx, it.Key, seconds); err != nil {
		p.say("%s", clean(errorText(err)))
		return
	}
	p.say("Done for every console: %s", clean(it.Reason))
	p.await()
}

// numbered is the item of a number, as attention told them last or else as they stand now;
// nil when there is none, which is said.
func (p *plain) numbered(text string) *engine.AttentionItem {
	now := p.m.fleet.Attention
	keys := p.told
	if keys == nil {
		for _, it := range now {
			keys = append(keys, it.Key)
		}
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > len(keys) {
		p.say("Which item? attention numbers them.")
		return nil
	}
	for i := range now {
		if now[i].Key == keys[n-1] {
			return &now[i]
		}
	}
	p.say("Number %d does not wait any more; attention numbers what does.", n)
	return nil
}

func (p *plain) snooze(text string) {
	which, minutes, _ := strings.Cut(text, " ")
	n, err := strconv.Atoi(minutes)
	if err != nil || n <= 0 {
		n = 60
	}
	p.ack(which, n*60)
}

// sockets says where the seats are.
func (p *plain) sockets() {
	for _, l := range socketLines(p.m) {
		if text := strings.TrimRight(l.text, " "); text != "" {
			p.say("%s", joinWords(" ", l.label+":", text))
		}
	}
}
