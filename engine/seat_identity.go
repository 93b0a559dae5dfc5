package engine

import (
	"context"
	"fmt"
	"reflect"
	"strings"
)

// Verdicts on who sits in a seat's pane.
const (
	VerdictVerified = "verified" // the process on record runs there
	VerdictMismatch = "mismatch" // another one does
)

// CodeIdentityMismatch says that another process than the recorded one runs in a
// seat's pane.
const CodeIdentityMismatch Code = "process_identity_mismatch"

// PaneIdentity is one look at who sits in a seat's pane. It counts only for the
// occupant and the pane that it was made of, so that an old one never colours a
// new occupant. An empty verdict means that nothing can be told.
type PaneIdentity struct {
	Session string `json:"session_id"`
	Pane    PaneID `json:"pane"`
	Verdict string `json:"verdict"`
	Reason  Code   `json:"reason,omitempty"`
	Why     string `json:"why"`
}

// of reports whether the look was at this occupant in this pane.
func (id PaneIdentity) of(session string, pane PaneID) bool {
	return id.Session == session && id.Pane == pane
}

// paneIdentity compares the process in a live pane with the one on record. It
// says mismatch only on positive evidence: the pane was started anew, or the
// recorded client is gone and nothing of ours is left to say so. start tells of a
// process, as Processes.Start does.
func (e *Engine) paneIdentity(p Probe, b Binding, start processStart) PaneIdentity {
	id := PaneIdentity{Session: p.Session.ID, Pane: p.Pane.ID}
	mismatch := func(format string, args ...any) PaneIdentity {
		id.Verdict, id.Reason, id.Why = VerdictMismatch, CodeIdentityMismatch, fmt.Sprintf(format, args...)
		return id
	}
	if b.PanePID > 0 && p.Pane.PID > 0 && p.Pane.PID != b.PanePID {
		return mismatch("its pane was started anew: process %d runs there (%.40q), process %d is on record", p.Pane.PID, p.Pane.Command, b.PanePID)
	}
	pid, began := p.Session.PID, p.Session.PIDStart
	if p.RunKnown && p.Run.PID > 0 {
		pid, began = p.Run.PID, p.Run.PIDStart
	}
	if pid <= 0 {
		id.Why = "no process of its client is on record"
		return id
	}
	now, alive, err := start(pid)
	switch {
	case err != nil:
		id.Why = "the process table cannot be read"
	case alive && (began == "" || now == began):
		id.Verdict, id.Why = VerdictVerified, fmt.Sprintf("process %d, which was started for it, runs", pid)
	case p.RunKnown && p.Run.Exited:
		id.Why = "its client has ended"
	case p.RunKnown && e.mayRun(p.Run.SupervisorPID, ""):
		id.Why = "its client has just ended" // its supervisor is about to say how
	default:
		return mismatch("its client, process %d, is gone, and something else runs in its pane (%.40q)", pid, p.Pane.Command)
	}
	return id
}

// stranger says what runs in a seat's live pane in place of its occupant; "" when
// nothing proves that something does.
func (e *Engine) stranger(w *world, seat Seat) string {
	at, last := w.locate(seat.ID), w.latest[seat.ID]
	if at.presence != Present || at.dead {
		return ""
	}
	p := Probe{Session: last, Pane: at.pane}
	var err error
	if p.Run, p.RunKnown, err = e.d.Occupants.RunState(last.ID); err != nil {
		p.RunKnown = false
	}
	p.Run, p.RunKnown = currentRun(last, p.Run, p.RunKnown)
	if id := e.paneIdentity(p, w.bindings[seat.ID], e.d.Procs.Start); id.Verdict == VerdictMismatch {
		return id.Why
	}
	return ""
}

// warnStranger says of a plan that ends or replaces a seat's occupant that it is
// about another process.
func (e *Engine) warnStranger(w *world, p *Plan, seat Seat) {
	if why := e.stranger(w, seat); why != "" {
		p.Warnings = append(p.Warnings, w.address(seat)+" is not what runs in its pane: "+why)
	}
}

// strangerError says it as an error, with what a person does about it.
func strangerError(address, why string) *Error {
	return Errorf(CodeIdentityMismatch, "what runs in its pane is not its occupant: %s", why).
		WithHint("`rig attach %[1]s` shows who is there; `rig seat clear-attention %[1]s` verifies it, or `rig seat stop %[1]s --reason …` ends it: a launch of the seat then continues its own conversation, where it has one", address)
}

// currentRun gives the supervisor's report unless the record was pointed at
// another process since, by a verified clear-attention.
func currentRun(s Session, run RunState, known bool) (RunState, bool) {
	if known && s.PID > 0 && run.PID > 0 && run.PID != s.PID {
		return RunState{}, false
	}
	return run, known
}

// Holder is a process that has a conversation open.
type Holder struct {
	PID   int    `json:"pid"`
	Start string `json:"pid_start,omitempty"`
}

// holderLister is what a runtime offers when its clients say which conversation
// each of them has open, by lower-case native id. Files of dead clients may be
// among them: pid and start time decide.
type holderLister interface {
	Holders(ctx context.Context, h Homes) map[string][]Holder
}

// processStart gives a live process's start time, and false when there is none.
type processStart func(pid int) (string, bool, error)

// keepIdentity keeps who sits in a probed pane; true when that says something new.
func (o *observer) keepIdentity(seatID string, id PaneIdentity) bool {
	old, had := o.identity[seatID]
	o.identity[seatID] = id
	return !had || old != id
}

// findHolders looks for living processes outside a seat that have its
// conversation open; true when that says something new.
func (o *observer) findHolders(ctx context.Context, probes []*Probe) bool {
	open := map[string]map[string][]Holder{} // runtime and homes → conversation → holders
	found := map[string][]int{}
	for _, p := range probes {
		token := strings.ToLower(p.Session.Token.Reveal())
		rt, err := o.e.runtime(p.Seat.Runtime)
		lister, ok := rt.(holderLister)
		if err != nil || !ok || token == "" {
			continue
		}
		key := string(p.Seat.Runtime) + " " + p.Session.Homes.Home + " " + p.Session.Homes.ClaudeDir + " " + p.Session.Homes.CodexDir
		if open[key] == nil {
			open[key] = lister.Holders(ctx, p.Session.Homes)
		}
		holders := open[key][token]
		if len(holders) == 0 {
			continue
		}
		own := rt.Identify(ctx, *p).PID
		for _, h := range holders {
			if h.PID == own || h.PID == p.Run.PID {
				continue
			}
			if pid, err := o.e.sameProcess(h.PID, h.Start); err == nil && pid != 0 {
				found[p.Seat.ID] = append(found[p.Seat.ID], pid)
			}
		}
	}
	if reflect.DeepEqual(found, o.foreign) {
		return false
	}
	o.foreign = found
	return true
}

// misplaced shows an occupant whose pane holds somebody else: attention, with no
// activity claimed. A live look wins over a stored verdict.
func (b *builder) misplaced(v *SeatView, s Seat, last Session) bool {
	id, looked := b.in.Identity[s.ID]
	if !looked || !id.of(last.ID, v.Pane) {
		id = b.stored(s.ID, last.ID, v.Pane)
	}
	v.Identity, v.IdentityWhy = id.Verdict, id.Why
	if id.Verdict != VerdictMismatch {
		return false
	}
	v.Life, v.LifeWhy, v.Activity = LifeAttention, id.Why, noReading("another process than the seat's runs in its pane")
	return true
}

// stored gives the verdict on record, if it was made of this occupant and pane.
func (b *builder) stored(seatID, session string, pane PaneID) PaneIdentity {
	for _, x := range b.in.Record.Verdicts {
		if x.SeatID == seatID && x.SessionID == session && x.Pane == pane {
			return PaneIdentity{Session: session, Pane: pane, Verdict: x.Verdict, Reason: Code(x.Reason), Why: "as last verified"}
		}
	}
	return PaneIdentity{}
}

// identityAttention is the item of a misplaced occupant.
func identityAttention(s *SeatView, item func(class, detail, reason, remedy string, weight int) AttentionItem) []AttentionItem {
	it := item(AttnIdentity, string(s.Pane), s.LifeWhy, strangerError(s.Address, s.LifeWhy).Hint, 92)
	it.Evidence = map[string]any{"source": "process table", "rule": string(CodeIdentityMismatch), "pane": s.Pane, "recorded_pid": s.PanePID}
	return []AttentionItem{it}
}

// outcomeAttention is the item of an outcome that a person has to settle.
func outcomeAttention(s *SeatView, item func(class, detail, reason, remedy string, weight int) AttentionItem) []AttentionItem {
	switch s.Continuity {
	case ContinuityAttention, ContinuityFailed:
		return []AttentionItem{item(AttnOutcome, string(s.Continuity), "its last change of occupant ended as "+string(s.Continuity),
			"rig attach "+s.Address+", then rig seat clear-attention "+s.Address, 60)}
	case ContinuityNone, ContinuityResumed, ContinuityForked, ContinuityRebuilt, ContinuityFresh, ContinuityFreshPrimed,
		ContinuityAwaiting, ContinuityRecovered:
	}
	return nil
}

// sharedOutside finds seats whose conversation is open in a process that is not
// theirs. told holds the seats that were named for it already.
func (b *builder) sharedOutside(f *Fleet, told map[string]bool) []AttentionItem {
	var out []AttentionItem
	for _, s := range f.Seats() {
		pids := b.in.Foreign[s.ID]
		if len(pids) == 0 || told[s.ID] || s.Life != LifeRunning {
			continue
		}
		out = append(out, AttentionItem{
			Key: strings.Join([]string{AttnShared, s.ID, itoa(s.Generation), "outside"}, "/"), Class: AttnShared, Seat: s.Address, SeatID: s.ID, Rig: s.Rig,
			Reason: fmt.Sprintf("its conversation is also open in process %s", strings.Trim(fmt.Sprint(pids), "[]")),
			Remedy: "end the other one, or stop this: rig seat stop " + s.Address + " --reason …", Weight: 95, Since: s.StartedAt,
			Evidence: map[string]any{"source": "registry", "pids": pids},
		})
	}
	return out
}
