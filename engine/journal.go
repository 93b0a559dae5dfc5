package engine

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"
)

// Evidence is what a step found or made, as journaled: JSON-safe values, never a
// token.
type Evidence map[string]any

// Str gives a text value, "" when absent.
func (ev Evidence) Str(key string) string {
	s, _ := ev[key].(string)
	return s
}

// Int gives a number, whichever way JSON brought it back.
func (ev Evidence) Int(key string) int {
	switch n := ev[key].(type) {
	case int:
		return n
	case int64:
		return int(n)
	case float64:
		return int(n)
	}
	return 0
}

// run is one application of a plan.
type run struct {
	e        *Engine
	plan     *Plan
	lease    *leases
	progress func(OpProgress)

	mu       sync.Mutex
	op       Operation
	journal  []OperationStep
	index    map[string]int // step id → journal position
	evidence map[string]Evidence
	memory   sync.Map // what steps hand on and must not be journaled, by key
	seats    []SeatReceipt
	warnings []string
	eventSeq int64
	failed   []unitFailure
	extra    map[string]any // what a receipt says beside its seats
	by       closer         // who closes it after its own process died
	takenUp  bool           // its own process died
	open     bool           // nobody could tell whether all that failed is undone
}

type unitFailure struct {
	unit string
	seat string
	step Step
	err  error
}

// begin writes the operation and its journal.
func (r *run) begin(ctx context.Context) error {
	now := r.e.d.Clock.Now()
	r.op = Operation{
		ID: r.plan.ID, Verb: r.plan.Verb, Target: r.plan.Target, Reason: r.plan.Reason,
		Operator: r.plan.Operator.String(), Fingerprint: r.plan.Fingerprint(), Plan: mustJSON(r.plan),
		State: OpRunning, Owner: r.lease.owner, Build: r.e.d.Build, StartedAt: now,
	}
	r.op.RigID, r.op.SeatID = leaseIDs(r.plan.Leases)
	r.index = map[string]int{}
	for _, ph := range r.plan.Phases {
		for _, s := range ph.Steps {
			r.index[s.ID] = len(r.journal)
			r.journal = append(r.journal, OperationStep{
				OpID: r.op.ID, Seq: len(r.journal), Unit: ph.Unit, Phase: ph.ID, StepID: s.ID,
				Kind: s.Kind, Title: s.Title, Seat: s.Seat, Effect: s.Effect, State: StepPending,
			})
		}
	}
	err := r.lease.fenced(ctx, func(tx Tx) error {
		if err := tx.InsertOperation(r.op); err != nil {
			return err
		}
		for _, st := range r.journal {
			if err := tx.PutStep(st); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		r.tell()
	}
	return err
}

// leaseIDs finds the one rig or seat that an operation is about, for filters.
func leaseIDs(keys []string) (rigID, seatID string) {
	for _, k := range keys {
		if len(k) > 4 && k[:4] == "rig:" {
			rigID = k[4:]
		}
		if len(k) > 5 && k[:5] == "seat:" {
			if seatID != "" {
				return rigID, ""
			}
			seatID = k[5:]
		}
	}
	return rigID, seatID
}

// mark changes a journal entry in memory and gives a copy to store.
func (r *run) mark(s Step, state StepState, ev Evidence, err error) OperationStep {
	r.mu.Lock()
	defer r.mu.Unlock()
	st := &r.journal[r.index[s.ID]]
	st.State = state
	now := r.e.d.Clock.Now()
	if state == StepStarted {
		st.StartedAt = now
	} else {
		st.EndedAt = now
	}
	if ev != nil {
		r.evidence[s.ID] = ev
		st.Evidence = mustJSON(ev)
	}
	if err != nil {
		st.Error = err.Error()
	}
	return *st
}

// note stores one journal entry. A journal that cannot be written stops the
// operation: what is not on record must not happen.
func (r *run) note(ctx context.Context, s Step, state StepState, ev Evidence, stepErr error) error {
	st := r.mark(s, state, ev, stepErr)
	err := r.lease.fenced(context.WithoutCancel(ctx), func(tx Tx) error { return tx.PutStep(st) })
	r.tell()
	return err
}

// saw gives the evidence of an earlier step.
func (r *run) saw(stepID string) Evidence {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.evidence[stepID]
}

// settle records what happened to a seat, replacing what was said before.
func (r *run) settle(s SeatReceipt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.seats {
		if r.seats[i].Seat == s.Seat {
			r.seats[i] = s
			return
		}
	}
	r.seats = append(r.seats, s)
}

// warn adds a remark to the receipt.
func (r *run) warn(text string) {
	r.mu.Lock()
	r.warnings = append(r.warnings, text)
	r.mu.Unlock()
}

// addExtra says something beside the seats in the receipt; nil takes it back.
func (r *run) addExtra(key string, v any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.extra == nil {
		r.extra = map[string]any{}
	}
	if r.extra[key] = v; v == nil {
		delete(r.extra, key)
	}
}

// appendExtra adds one text to a list beside the seats in the receipt.
func (r *run) appendExtra(key, text string) {
	r.mu.Lock()
	list, _ := r.extra[key].([]string)
	r.mu.Unlock()
	r.addExtra(key, append(list, text))
}

func (r *run) tell() {
	if r.progress == nil {
		return
	}
	r.mu.Lock()
	p := OpProgress{r.op, append([]OperationStep(nil), r.journal...)}
	r.mu.Unlock()
	r.progress(p)
}

// allClean reports whether no seat has failed or needs a person.
func allClean(seats []SeatReceipt) bool {
	return !slices.ContainsFunc(seats, func(s SeatReceipt) bool { return s.Error != nil || !goodOutcome(s.Outcome) })
}

// finish computes the outcome from what happened, stores it and gives it.
func (r *run) finish() (*Receipt, error) {
	r.settleIntents()
	r.tellIdle()
	r.mu.Lock()
	rec := &Receipt{
		Seats: append([]SeatReceipt{}, r.seats...), Warnings: r.warnings, EventSeq: r.eventSeq, Extra: r.extra,
	}
	state, clean := OpDone, allClean(rec.Seats)
	switch {
	case len(r.failed) > 0 && !r.op.Committed:
		state, clean = OpFailed, false
	case len(r.failed) > 0 || !clean:
		state, clean = OpPartial, false
	}
	if len(r.failed) > 0 {
		rec.Error = AsError(r.failed[0].err)
	}
	rec.OK, rec.Outcome = clean, string(state)
	rec.Operation = ReceiptOp{ID: r.op.ID, State: state, Build: r.e.d.Build}
	if r.open {
		r.mu.Unlock()
		return rec, r.leaveOpen(rec)
	}
	r.judgeSnapshot(rec)
	r.judgeRestore(rec)
	tried := r.judgeHandover(rec)
	op := r.op
	op.State, op.EndedAt, op.Receipt = state, r.e.d.Clock.Now(), mustJSON(rec)
	if rec.Error != nil {
		op.Error = rec.Error.Error()
	}
	r.mu.Unlock()
	err := r.putEnd(rec, &op, tried)
	r.mu.Lock()
	if err == nil { // nothing has ended before that is on record
		r.op = op
	}
	r.mu.Unlock()
	r.tell()
	return rec, err
}

// putEnd puts the end of the operation on record.
func (r *run) putEnd(rec *Receipt, op *Operation, tried *attempt) error {
	return r.lastWrite(func(tx Tx, l *leases) error {
		end := *op
		if err := r.closeRestores(tx, rec); err != nil {
			return err
		}
		if err := r.closeHandover(tx, tried); err != nil {
			return err
		}
		if err := tx.UpdateOperation(&end); err != nil {
			return err
		}
		return l.giveBack(tx)
	}, op.Committed)
}

// settleIntents adds the seats that the plan left alone, so that a receipt always
// speaks of every seat that was asked about.
func (r *run) settleIntents() {
	told := map[string]bool{}
	r.mu.Lock()
	for _, s := range r.seats {
		told[s.Seat] = true
	}
	r.mu.Unlock()
	for _, i := range r.plan.Intents {
		if told[i.Seat] {
			continue
		}
		s := SeatReceipt{Seat: i.Seat, Action: i.Action, Binding: BindingUnchanged, Evidence: map[string]any{"why": i.Reason}}
		if i.Action == string(ContinuityAwaiting) {
			s.Outcome = ContinuityAwaiting
			_, rig, _ := strings.Cut(i.Seat, "@")
			s.Error = Errorf(CodeAwaiting, "%s", i.Reason).
				WithHint("nothing was started and nothing was lost; `rig up %s --fresh %s` starts it afresh, on purpose", rig, i.Seat)
		}
		if i.Action == string(ContinuityAttention) {
			s.Outcome, s.Error = ContinuityAttention, strangerError(i.Seat, i.Reason)
		}
		r.settle(s)
	}
}

// tellIdle makes a plan without steps say in its receipt why nothing was to be
// done: nobody else does.
func (r *run) tellIdle() {
	if len(r.plan.Steps()) > 0 || len(r.plan.Warnings) == 0 {
		return
	}
	r.addExtra("note", strings.Join(r.plan.Warnings, "; "))
	if kept, ok := r.plan.Input("kept"); ok {
		r.addExtra("protected", kept)
	}
}

// goodOutcome reports whether an outcome needs no person. Failed, attention and
// awaiting-decision are never clean.
func goodOutcome(c Continuity) bool {
	switch c {
	case ContinuityFailed, ContinuityAttention, ContinuityAwaiting:
		return false
	case ContinuityNone, ContinuityResumed, ContinuityForked, ContinuityRebuilt, ContinuityFresh,
		ContinuityFreshPrimed, ContinuityRecovered:
	}
	return true
}

// receiptOf reads the receipt of an ended operation.
func receiptOf(op Operation) (*Receipt, error) {
	var rec Receipt
	if err := json.Unmarshal(op.Receipt, &rec); err != nil {
		return nil, Errorf(CodeRecordDamaged, "the receipt of %s cannot be read", op.ID).Wrap(err).
			WithHint("`rig op show %s` shows its journal", op.ID)
	}
	if rec.Error != nil && len(rec.Seats) == 0 && rec.Outcome == outcomeRefused {
		return nil, rec.Error
	}
	return &rec, nil
}

// outcomeRefused marks the receipt of a detached apply that never began.
const outcomeRefused = "refused"

// seatNamed is the address of a seat that text refers to, the text itself where it refers
// to something else: as a plan does, what is on record names a seat in one way.
func seatNamed(r Reader, text, seatID string) string {
	ref, err := ParseSeatRef(text)
	if err != nil || seatID == "" {
		return text
	}
	seat, err := r.Seat(seatID)
	if err != nil {
		return text
	}
	rig, err := r.Rig(seat.RigID)
	if err != nil || !ref.Matches(rig.Name, seat) {
		return text
	}
	return Address(seat.Pod, seat.Member, rig.Name)
}

// recordRefusal leaves a refusal of a detached apply on record, so that whoever
// follows the operation learns of it. It gives back the refusal.
func (e *Engine) recordRefusal(t Ticket, cause error) error {
	now := e.d.Clock.Now()
	er := AsError(cause)
	rec := Receipt{Operation: ReceiptOp{t.OpID, OpFailed, e.d.Build}, Outcome: outcomeRefused, Seats: []SeatReceipt{}, Error: er}
	op := Operation{
		ID: t.OpID, Verb: t.Request.Verb, Target: t.Request.Target, Reason: t.Request.Reason,
		Operator: t.Request.Operator.String(), Fingerprint: t.Fingerprint, State: OpFailed,
		Plan: json.RawMessage("null"), Receipt: mustJSON(rec), Error: er.Error(), Owner: e.d.Procs.Self(t.Request.Operator.Name),
		Build: e.d.Build, StartedAt: now, EndedAt: now,
	}
	op.RigID, op.SeatID = leaseIDs(t.Leases)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := e.d.Store.Write(ctx, func(tx Tx) error {
		op.Target = seatNamed(tx, op.Target, op.SeatID)
		return tx.InsertOperation(op)
	}); err != nil {
		e.d.Log.Error("record refusal", "op", t.OpID, "err", err)
	}
	return er
}
