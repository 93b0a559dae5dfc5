package engine

import (
	"encoding/json"
	"time"
)

// OpState is where an operation stands.
type OpState string

// Operation states. Planned exists only for the moment between the row and the
// first step; Unfinished is derived: started, and its owner is proven dead or has left it.
const (
	OpPlanned    OpState = "planned"
	OpRunning    OpState = "running"
	OpDone       OpState = "done"        // everything committed and clean
	OpPartial    OpState = "partial"     // committed, but something is not clean
	OpFailed     OpState = "failed"      // nothing committed; undone
	OpRolledBack OpState = "rolled_back" // undone by an operator or a recovery
	OpUndone     OpState = "undone"      // committed, then undone inside its window
	OpUnfinished OpState = "unfinished"
)

// Ended reports whether nothing more will happen by itself.
func (s OpState) Ended() bool {
	return s == OpDone || s == OpPartial || s == OpFailed || s == OpRolledBack || s == OpUndone
}

// Operation is an applied plan.
type Operation struct {
	ID          string          `json:"id"` // the plan's id
	Verb        Verb            `json:"verb"`
	Target      string          `json:"target"`
	RigID       string          `json:"rig_id,omitempty"`
	SeatID      string          `json:"seat_id,omitempty"`
	Reason      string          `json:"reason,omitempty"`
	Operator    string          `json:"operator,omitempty"`
	Fingerprint string          `json:"fingerprint"`
	Plan        json.RawMessage `json:"plan"` // the plan as printed
	State       OpState         `json:"state"`
	Receipt     json.RawMessage `json:"receipt,omitempty"`
	Error       string          `json:"error,omitempty"`
	Owner       Owner           `json:"owner"`
	Build       string          `json:"build"`
	Committed   bool            `json:"committed"` // some unit has committed
	UndoUntil   time.Time       `json:"undo_until,omitzero"`
	StartedAt   time.Time       `json:"started_at"`
	EndedAt     time.Time       `json:"ended_at,omitzero"`
	Version     int64           `json:"version"`
}

// clockSlack is how far two looks at a clock that is kept in step may differ.
const clockSlack = time.Minute

// closes is the line that closes an operation which was cut off: what has committed is
// finished, and before that everything is undone.
func closes(opID string, committed bool) string {
	if committed {
		return "rig op finish " + opID
	}
	return "rig op rollback " + opID
}

// UndoOpen reports whether the operation can still be undone. A clock that was set
// back behind the operation's start closes the window: else what it keeps would be
// kept for as long as the clock had been ahead.
func (o Operation) UndoOpen(now time.Time) bool {
	return o.UndoUntil.After(now) && !o.StartedAt.After(now.Add(clockSlack))
}

// StepState is where one journaled step stands.
type StepState string

// Step states. Unknown is said when a probe could not tell.
const (
	StepPending StepState = "pending"
	StepStarted StepState = "started"
	StepDone    StepState = "done"
	StepFailed  StepState = "failed"
	StepUndone  StepState = "undone"
	StepUnknown StepState = "unknown"
	StepSkipped StepState = "skipped"
)

// OperationStep is the journal of one step.
type OperationStep struct {
	OpID      string          `json:"op_id"`
	Seq       int             `json:"seq"` // print order, from 0
	Unit      string          `json:"unit,omitempty"`
	Phase     string          `json:"phase"`
	StepID    string          `json:"step_id"`
	Kind      StepKind        `json:"kind"`
	Title     string          `json:"title"`
	Seat      string          `json:"seat,omitempty"`
	Effect    Effect          `json:"effect"`
	State     StepState       `json:"state"`
	Evidence  json.RawMessage `json:"evidence,omitempty"`
	Error     string          `json:"error,omitempty"`
	StartedAt time.Time       `json:"started_at,omitzero"`
	EndedAt   time.Time       `json:"ended_at,omitzero"`
}

// Owner identifies the process that drives an operation well enough to prove its
// death: a pid alone is reused.
type Owner struct {
	PID      int    `json:"pid"`
	PIDStart string `json:"pid_start"`
	Boot     string `json:"boot"`
	Label    string `json:"label"`          // what a refusal calls the holder
	Verb     Verb   `json:"verb,omitempty"` // of a lease: what it was granted for; "" in records of older builds
	Left     bool   `json:"left,omitempty"` // the process may live, and is no longer at it
}

// Lease gives one operation the right to change a seat or rig.
type Lease struct {
	Key       string    `json:"key"` // "seat:<id>" or "rig:<id>"
	OpID      string    `json:"op_id"`
	Owner     Owner     `json:"owner"`
	Fence     int64     `json:"fence"` // grows with every grant; writes carry it
	GrantedAt time.Time `json:"granted_at"`
	ExpiresAt time.Time `json:"expires_at"`
}

// SeatReceipt is what happened to one seat.
type SeatReceipt struct {
	Seat             string         `json:"seat"`
	Outcome          Continuity     `json:"outcome"` // "" prints as unverified
	Binding          BindingOutcome `json:"binding,omitempty"`
	ContextDelivered bool           `json:"context_delivered,omitempty"`
	Action           string         `json:"action,omitempty"` // launched, already_running, stopped, released …
	Generation       int64          `json:"generation,omitempty"`
	Evidence         map[string]any `json:"evidence,omitempty"`
	Error            *Error         `json:"error,omitempty"`
}

// Receipt is the truth about an applied plan.
type Receipt struct {
	OK        bool           `json:"ok"`
	Operation ReceiptOp      `json:"operation"`
	Outcome   string         `json:"outcome"`
	Seats     []SeatReceipt  `json:"seats"`
	Warnings  []string       `json:"warnings,omitempty"`
	EventSeq  int64          `json:"event_seq,omitempty"`
	Extra     map[string]any `json:"extra,omitempty"`
	Error     *Error         `json:"error,omitempty"`
}

// ReceiptOp names the operation of a receipt.
type ReceiptOp struct {
	ID    string  `json:"id"`
	State OpState `json:"state"`
	Build string  `json:"build,omitempty"`
}

// Event is one entry of the audit log. It is written in the transaction of the
// change it tells of.
type Event struct {
	Seq      int64           `json:"seq"`
	At       time.Time       `json:"at"`
	Type     string          `json:"type"`
	RigID    string          `json:"rig_id,omitempty"`
	SeatID   string          `json:"seat_id,omitempty"`
	Rig      string          `json:"rig,omitempty"`  // name at the time
	Seat     string          `json:"seat,omitempty"` // address at the time
	OpID     string          `json:"op_id,omitempty"`
	Operator string          `json:"operator,omitempty"`
	Payload  json.RawMessage `json:"payload,omitempty"`
}
