package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"
)

// Compaction stages, in the order of an attempt.
const (
	StagePreparing   = "preparing"
	StageCompactSent = "compact-sent"
	StageRestoreSent = "restore-sent"
	StageAuditSent   = "audit-sent"
	StageDone        = "audited"
	StageFailed      = "skipped-or-failed"
)

// CompactState is how a seat's newest guided compaction stands.
type CompactState struct {
	OK         bool           `json:"ok"`
	Seat       string         `json:"seat"`
	Verdict    string         `json:"verdict,omitempty"` // "compacted, not audited", or ""
	Operation  string         `json:"operation,omitempty"`
	State      OpState        `json:"state,omitempty"` // of the operation
	Stage      string         `json:"stage,omitempty"`
	Map        string         `json:"map,omitempty"`
	Packet     string         `json:"packet,omitempty"`
	Delivery   string         `json:"delivery,omitempty"` // of the preparation
	Deadline   string         `json:"deadline,omitempty"` // of the step under way; when all is over, of the preparation
	Directive  DirectiveState `json:"directive,omitempty"`
	Cancelled  string         `json:"cancelled_by,omitempty"`
	Code       Code           `json:"code,omitempty"` // of its failure
	Error      string         `json:"error,omitempty"`
	Operator   string         `json:"operator,omitempty"`
	StartedAt  time.Time      `json:"started_at,omitzero"`
	EndedAt    time.Time      `json:"ended_at,omitzero"`
	Compaction SeatCompaction `json:"compaction"`
}

// CompactState tells how a seat's newest guided compaction stands. It sends
// nothing. Without any, Stage is empty.
func (e *Engine) CompactState(ctx context.Context, ref string) (*CompactState, error) {
	w, err := e.look(ctx)
	if err != nil {
		return nil, err
	}
	seat, err := w.seat(ref)
	if err != nil {
		return nil, err
	}
	managed, err := (&enforcer{e: e}).remembered(ctx, seat.ID)
	if err != nil {
		return nil, err
	}
	if managed.Generation != seat.Generation {
		managed = ManagedState{}
	}
	c := &CompactState{OK: true, Seat: w.address(seat), Compaction: seatCompaction(w.rigs[seat.RigID], seat, w.latest[seat.ID], managed)}
	c.Verdict = c.Compaction.Verdict
	op, steps, err := e.compactOp(ctx, seat.ID)
	if err != nil || op.ID == "" {
		return c, err
	}
	if !op.State.Ended() && e.ownerDead(op.Owner) {
		op.State = OpUnfinished
	}
	c.Operation, c.State, c.Operator, c.StartedAt, c.EndedAt, c.Error = op.ID, op.State, op.Operator, op.StartedAt, op.EndedAt, op.Error
	c.fill(op, steps)
	if k, err := e.directives(); err == nil {
		if c.Directive, err = k.DirectiveOf(w.latest[seat.ID].ID, op.ID); err != nil {
			c.Directive = DirectiveNone // an occupant without a spool has none
		}
	}
	err = e.d.Store.Read(ctx, func(r Reader) error {
		c.Cancelled, err = r.Meta(cancelKey(op.ID))
		return err
	})
	return c, err
}

// compactOp finds the newest guided compaction of a seat.
func (e *Engine) compactOp(ctx context.Context, seatID string) (op Operation, steps []OperationStep, err error) {
	err = e.d.Store.Read(ctx, func(r Reader) error {
		ops, err := r.Operations(OperationFilter{SeatID: seatID})
		for _, o := range ops {
			if o.Verb == VerbCompact {
				op = o
				steps, err = r.Steps(o.ID)
				return err
			}
		}
		return err
	})
	return op, steps, err
}

// fill reads the stage out of the journal.
func (c *CompactState) fill(op Operation, steps []OperationStep) {
	c.Stage = StagePreparing
	for _, s := range steps {
		ev := evidenceOf(s)
		begun := s.State != StepPending && s.State != StepSkipped
		if d := ev.Str("deadline"); d != "" && s.State == StepStarted {
			c.Deadline = d
		}
		switch s.Kind {
		case StepCompactPacket:
			c.Packet = ev.Str("dir")
		case StepCompactPrep:
			c.Map, c.Delivery, c.Deadline = ev.Str("map"), ev.Str("delivery"), ev.Str("deadline")
		case StepCompactSend:
			if begun && ev.Str("delivery") != "" && ev.Str("delivery") != "not sent" || s.State == StepDone {
				c.Stage = StageCompactSent
			}
		case StepCompactRestore:
			if ev["typed"] == true || s.State == StepDone {
				c.Stage = StageRestoreSent
			}
		case StepCompactAudit:
			if ev["typed"] == true || s.State == StepDone {
				c.Stage = StageAuditSent
			}
		case StepCompactVerdict:
			if s.State == StepDone && ev["passed"] == true { // an audit that did not pass was only sent
				c.Stage = StageDone
			}
		}
	}
	if rec, err := receiptOf(op); op.State.Ended() && err == nil {
		for _, seat := range rec.Seats {
			if seat.Error != nil {
				c.Code, c.Error = seat.Error.Code, cmp.Or(c.Error, seat.Error.Msg)
			}
		}
		if rec.Error != nil {
			c.Stage, c.Code = StageFailed, rec.Error.Code
		}
	} else if op.State.Ended() {
		c.Stage, c.Code = StageFailed, CodeOf(err)
	}
}

func evidenceOf(s OperationStep) Evidence {
	var ev Evidence
	if len(s.Evidence) > 0 && json.Unmarshal(s.Evidence, &ev) != nil {
		return nil
	}
	return ev
}

// CancelCompact stops a guided compaction that has not typed /compact yet. Errors:
// CodeNoCompaction when none is under way; a "too_late" refusal when it was typed.
func (e *Engine) CancelCompact(ctx context.Context, ref string, by Operator) (*CompactState, error) {
	c, err := e.CompactState(ctx, ref)
	if err != nil {
		return nil, err
	}
	if c.Operation == "" || c.State.Ended() {
		return nil, Errorf(CodeNoCompaction, "no compaction is under way").On("compact", c.Seat).WithHint("rig compact %s --state", c.Seat)
	}
	if by.Name == "" {
		by = e.Operator()
	}
	err = e.d.Store.Write(ctx, func(tx Tx) error {
		steps, err := tx.Steps(c.Operation)
		switch {
		case err != nil:
			return err
		case !slices.ContainsFunc(steps, sendsCompact): // an audit alone
			return Errorf(CodeNoCompaction, "only its audit is under way").On("compact", c.Seat).WithHint("rig compact %s --state", c.Seat)
		case slices.ContainsFunc(steps, typesCompact):
			return Errorf("too_late", "/compact is typed, or was").On("compact", c.Seat).WithHint("`rig op show %s` follows it to its audit", c.Operation)
		}
		return tx.SetMeta(cancelKey(c.Operation), by.String())
	})
	if err != nil {
		return nil, err
	}
	c.Cancelled = by.String()
	return c, nil
}

// sendsCompact reports whether a step is the one that types /compact.
func sendsCompact(s OperationStep) bool { return s.Kind == StepCompactSend }

// typesCompact reports whether that step has put on record that it types now. It looks
// for a cancel once more after that and before it types, so one that found no such
// mark, in one transaction with its own, is seen.
func typesCompact(s OperationStep) bool { return sendsCompact(s) && evidenceOf(s).Str("at") != "" }
