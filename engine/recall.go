package engine

import "slices"

// recall says of the seats of a committed unit what had become of them, where the process
// that died had settled it: a receipt is in its memory until it ends, the evidence of a
// commit is in the journal.
func (r *run) recall(u *unit) {
	for _, s := range slices.Backward(u.steps) {
		if s.Seat == "" || s.Effect != EffectCommit || r.journal[r.index[s.ID]].State != StepDone || r.settled(s.Seat) {
			continue
		}
		if rec, ok := recalled(s, r.saw(s.ID)); ok {
			r.settle(rec)
		}
	}
}

func (r *run) settled(seat string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.seats, func(s SeatReceipt) bool { return s.Seat == seat })
}

// recalledActions are the words of a receipt for commits whose evidence has none. That of
// a handover is judged by itself.
var recalledActions = map[StepKind]string{
	StepOccupy: "launched", StepFreshOccupy: "launched", StepAdopt: "adopted", StepSeatStopped: "stopped", StepSeatCleaned: "cleaned",
	StepSetModel: "model_changed", StepSetToken: "resume_token_set", StepClearAttention: "attention_cleared", StepSeatDelete: "removed",
}

// recalled is the receipt of a seat as the evidence of its commit tells it; false when it
// tells nothing of a seat.
func recalled(s Step, ev Evidence) (SeatReceipt, bool) {
	rec := SeatReceipt{
		Seat: s.Seat, Outcome: Continuity(ev.Str("outcome")), Action: recalledActions[s.Kind], Generation: int64(ev.Int("generation")), Evidence: ev,
	}
	rec.ContextDelivered = ev["context_delivered"] == true
	switch s.Kind {
	case StepFreshOccupy:
		if rec.Outcome = ContinuityFresh; ev.Str("status") != "ready" {
			rec.Outcome = ContinuityAttention
		}
	case StepCompactRecord, StepCompactVerdict:
		return compactReceipt(s.Seat, ev, s.Kind == StepCompactVerdict), true
	case StepVacate:
		rec.Action = ev.Str("action")
	}
	return rec, rec.Action != ""
}

// compactReceipt is the receipt of a compaction: audited says that its verdict is in the
// evidence. Without one, or without a good one, it stays "compacted, not audited".
func compactReceipt(seat string, ev Evidence, audited bool) SeatReceipt {
	rec := SeatReceipt{Seat: seat, Action: "compacted and audited", Generation: int64(ev.Int("generation")), Binding: BindingUnchanged, Evidence: ev}
	switch {
	case !audited:
		rec.Outcome, rec.Action, rec.Binding = ContinuityAttention, NotAudited, BindingNone
		rec.Error = Errorf(CodeNotAudited, "%s", NotAudited).On("compact", seat).WithHint("ask it what it works on and who comes next: rig send %s …", seat)
	case ev["passed"] != true:
		rec.Outcome, rec.Action = ContinuityAttention, NotAudited
		rec.Error = Errorf(CodeNotAudited, "the audit names %s", lacks(ev)).On("compact", seat).
			WithHint("a person must brief it: rig attach %s; the packet is %s", seat, ev.Str("packet"))
	}
	return rec
}
