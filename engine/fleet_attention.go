package engine

import (
	"cmp"
	"sort"
	"strings"
	"time"
)

// opViews lists the operations that have not ended, and those that can be undone.
func (b *builder) opViews() []OpView {
	out := []OpView{}
	for _, op := range append(append([]Operation(nil), b.in.Record.Open...), b.in.Undoable...) {
		v := OpView{
			ID: op.ID, Verb: op.Verb, Target: op.Target, State: op.State, Operator: op.Operator,
			StartedAt: op.StartedAt, EndedAt: op.EndedAt, Error: op.Error, UndoUntil: op.UndoUntil,
			UndoGone: b.undoGone(op), Committed: op.Committed,
		}
		if b.in.Dead[op.ID] {
			v.State = OpUnfinished
		}
		for _, st := range b.in.Steps[op.ID] {
			v.Total++
			switch st.State {
			case StepDone, StepSkipped:
				v.Done++
			case StepStarted:
				v.Now = st.Title
			case StepPending, StepFailed, StepUndone, StepUnknown:
			}
		}
		out = append(out, v)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].StartedAt.After(out[j].StartedAt) })
	return out
}

// undoableOps lists the operations whose undo window is open.
func undoableOps(r Reader, now time.Time) ([]Operation, error) {
	ops, err := r.Operations(OperationFilter{Undo: true})
	var out []Operation
	for _, op := range ops {
		if op.State.Ended() && op.UndoOpen(now) {
			out = append(out, op)
		}
	}
	return out, err
}

// undoGone reports that tmux was asked, has answered for every pane, and has none any more
// in which the former occupant of an operation's seat lives.
func (b *builder) undoGone(op Operation) bool {
	seat, ok := b.w.seats[op.SeatID]
	if op.UndoUntil.IsZero() || !ok || !b.in.Live || b.in.Inv.Server == Unknown || len(b.in.Inv.Faults) > 0 {
		return false
	}
	for _, p := range b.w.inv.Find(seat.ID) {
		if !p.Dead && p.Gen != genTag(seat.Generation) {
			return false
		}
	}
	return true
}

// attention finds everything that waits for a person.
func (b *builder) attention(f *Fleet) []AttentionItem {
	items := []AttentionItem{}
	for _, s := range f.Seats() {
		items = append(items, b.seatAttention(s)...)
		items = append(items, auditAttention(s)...)
		items = append(items, managedAttention(s)...)
	}
	items = append(items, b.shared(f)...)
	for _, op := range f.Ops {
		if op.State == OpUnfinished {
			items = append(items, AttentionItem{
				Key: AttnUnfinished + "/" + op.ID, Class: AttnUnfinished, OpID: op.ID, Target: op.Target, Weight: 80, Since: op.StartedAt,
				Reason: string(op.Verb) + " of " + op.Target + " was cut off half-way",
				Remedy: closes(op.ID, op.Committed),
			})
		}
	}
	if f.Live && f.Server.State == Unknown {
		items = append(items, AttentionItem{
			Key: AttnServer, Class: AttnServer, Weight: 100, Since: b.in.Unseen,
			Reason: f.Server.Silence(), Remedy: "rig doctor",
		})
	}
	for i := range items {
		b.acknowledge(&items[i])
		if s := f.Seat(items[i].SeatID); s != nil {
			s.Attention = append(s.Attention, items[i].Key)
		}
		for j := range f.Rigs {
			if f.Rigs[j].Name == items[i].Rig && items[i].Acked == "" {
				f.Rigs[j].Attention++
			}
		}
	}
	sort.SliceStable(items, func(i, j int) bool {
		a, z := items[i], items[j]
		if (a.Acked == "") != (z.Acked == "") {
			return a.Acked == ""
		}
		if a.Weight != z.Weight {
			return a.Weight > z.Weight
		}
		if a.Since.IsZero() != z.Since.IsZero() { // an age that is not known is not an old one
			return z.Since.IsZero()
		}
		if !a.Since.Equal(z.Since) {
			return a.Since.Before(z.Since)
		}
		return a.Key < z.Key
	})
	return items
}

// ackSlack is how much later than an acknowledgement a wait may seem to begin and
// still be the one that was seen: some sources tell whole seconds.
const ackSlack = time.Second

// acknowledge notes on an item who has seen it. The key of a wait names the seat
// and the question, not the moment, which processes tell a little differently: a
// wait that began after the acknowledgement is another one.
func (b *builder) acknowledge(it *AttentionItem) {
	a, ok := b.acks[it.Key]
	if !ok || (!a.Until.IsZero() && !a.Until.After(b.in.Now)) {
		return
	}
	if (it.Class == AttnWaiting || it.Class == AttnSuspended || it.Class == AttnServer) && it.Since.After(a.At.Add(ackSlack)) {
		return
	}
	it.Acked, it.Until = cmp.Or(a.By, "somebody"), a.Until
}

// snoozeEnd is when the first of the snoozed items waits again; zero when none is
// snoozed.
func snoozeEnd(items []AttentionItem) time.Time {
	var end time.Time
	for _, it := range items {
		if !it.Until.IsZero() && (end.IsZero() || it.Until.Before(end)) {
			end = it.Until
		}
	}
	return end
}

// gateCodes are the readings that mean a gate of the client rather than a
// question of the agent.
var gateCodes = map[Code]bool{
	"trust_gate": true, "login_required": true, "hook_trust_gate": true, "update_gate": true, "settings_error": true,
	"settings_warning": true, "resume_selection": true, "conversation_locked": true, "onboarding_gate": true,
	"api_key_gate": true, "bypass_gate": true, "resume_cwd_gate": true, "resume_picker": true, "mcp_gate": true, "imports_gate": true,
	"model_selection_gate": true,
}

func (b *builder) seatAttention(s *SeatView) []AttentionItem {
	item := func(class, detail, reason, remedy string, weight int) AttentionItem {
		since := s.Since
		if since.IsZero() && (class == AttnOutcome || class == AttnStartup) { // of nothing else it is the beginning
			since = s.OutcomeAt
		}
		return AttentionItem{
			Key:   strings.Join([]string{class, s.ID, itoa(s.Generation), detail}, "/"),
			Class: class, Seat: s.Address, SeatID: s.ID, Rig: s.Rig, Reason: reason, Remedy: remedy, Weight: weight, Since: since,
			Evidence: map[string]any{"source": s.Activity.Source, "rule": s.Activity.Rule},
		}
	}
	attach := "rig attach " + s.Address
	if s.Gate != nil {
		gate := item(AttnGate, "staged/"+s.OpID, "the successor waits at a gate: "+s.Gate.Why, attach+" and answer it there", 92)
		gate.Since, gate.Evidence = s.Gate.Since, map[string]any{"session": s.Gate.Session, "offered_until": s.Gate.Until}
		return []AttentionItem{gate}
	}
	if left := leftAttention(s, item); left != nil {
		return left
	}
	if s.Identity == VerdictMismatch && s.Life == LifeAttention {
		return identityAttention(s, item)
	}
	if (s.Life == LifeDead || s.Life == LifeLost) && b.beingEnded(s) {
		return nil
	}
	switch s.Life {
	case LifeDead:
		return []AttentionItem{item(AttnDead, "", s.LifeWhy, "rig seat clean "+s.Address+" --reason …", 70)}
	case LifeLost:
		return []AttentionItem{item(AttnLost, "", "on record, but "+s.LifeWhy, "rig seat clean "+s.Address+" --reason …, or rig up "+s.Rig, 75)}
	case LifeAttention:
		return []AttentionItem{item(AttnStartup, "", s.LifeWhy, attach+" and answer it there", 85)}
	case LifeNever:
		if s.LastError != "" { // nobody has sat there, so nothing else tells of the attempt
			return []AttentionItem{item(AttnOutcome, "never", "its start failed: "+s.LastError, "rig launch "+s.Rig+" "+s.Logical, 70)}
		}
	case LifeRunning, LifeStarting, LifeStopped, LifeUnknown:
	}
	code := string(s.Activity.Code)
	switch {
	case s.Activity.State == ActivityWaiting && gateCodes[s.Activity.Code]:
		return []AttentionItem{item(AttnGate, code, s.Activity.Why, attach+" and answer it there", 88)}
	case s.Activity.State == ActivityWaiting && s.Activity.Code == CodeSuspended && s.OpID != "":
		return nil // what stopped it is an item of its own
	case s.Activity.State == ActivityWaiting && s.Activity.Code == CodeSuspended:
		return []AttentionItem{item(AttnSuspended, code, s.Activity.Why, letGoOn(s), 90)}
	case s.Activity.State == ActivityWaiting:
		return []AttentionItem{item(AttnWaiting, code, s.Activity.Why, attach+" and answer it there", 90)}
	case s.Activity.State == ActivityLimit:
		return []AttentionItem{item(AttnLimit, code, s.Activity.Why, "wait for the reset, or hand the seat over", 50)}
	}
	return outcomeAttention(s, item)
}

// beingEnded reports that an operation at work ends the occupant of a seat on purpose: its
// pane goes a moment before the record says so, and that needs nobody.
func (b *builder) beingEnded(s *SeatView) bool {
	switch s.OpVerb {
	case VerbSeatStop, VerbDown, VerbRemove, VerbShrink, VerbSeatLaunch:
		return !b.in.Dead[s.OpID]
	default:
		return false
	}
}

// letGoOn says what ends the stop of a client: the line of its reading. Its pane
// answers nothing; there, only a shell that may have started it could.
func letGoOn(s *SeatView) string {
	remedy := "`" + cmp.Or(s.Activity.Ends, "kill -CONT PID") + "` in a shell lets it go on"
	if s.Origin == OriginClaimed {
		remedy += "; so does `fg` in its pane, where a shell started it"
	}
	return remedy
}

// shared finds seats whose occupants hold one conversation.
func (b *builder) shared(f *Fleet) []AttentionItem {
	byToken := map[string][]*SeatView{}
	for _, s := range f.Seats() {
		last := b.w.latest[s.ID]
		if s.Life == LifeRunning && !last.Token.Empty() {
			byToken[last.Token.Reveal()] = append(byToken[last.Token.Reveal()], s)
		}
	}
	var out []AttentionItem
	for _, seats := range byToken {
		if len(seats) < 2 {
			continue
		}
		names := make([]string, len(seats))
		for i, s := range seats {
			names[i] = s.Address
		}
		sort.Strings(names)
		for _, s := range seats {
			out = append(out, AttentionItem{
				Key: AttnShared + "/" + s.ID + "/" + itoa(s.Generation), Class: AttnShared, Seat: s.Address, SeatID: s.ID, Rig: s.Rig,
				Reason: "one conversation is open in " + strings.Join(names, " and "),
				Remedy: "stop all but one: rig seat stop " + s.Address + " --reason …", Weight: 95, Since: s.StartedAt,
			})
		}
	}
	told := map[string]bool{}
	for _, it := range out {
		told[it.SeatID] = true
	}
	out = append(out, b.sharedOutside(f, told)...)
	sort.Slice(out, func(i, j int) bool { return out[i].Key < out[j].Key })
	return out
}
