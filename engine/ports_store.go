package engine

import (
	"context"
	"encoding/json"
	"time"
)

// Store is the record. Read and Write run the function once, in one
// transaction; an error rolls a Write back. The Reader or Tx must not be used
// after the function returns.
type Store interface {
	// Read gives a consistent view. It never waits for a writer.
	Read(ctx context.Context, fn func(Reader) error) error
	// Write takes the write lock at once and waits for it up to the busy
	// timeout. CodeRecordReadOnly when the record cannot be written.
	Write(ctx context.Context, fn func(Tx) error) error
	// Changed gives a number that differs after another connection's or this
	// one's commit: a cheap question for pollers.
	Changed(ctx context.Context) (int64, error)
	// Path is the database file, for messages.
	Path() string
	Close() error
}

// Record is everything the fleet view and the planners read at once: all rigs
// that are not archived, with what belongs to them.
type Record struct {
	Rigs     []Rig
	Pods     []Pod
	Seats    []Seat
	Edges    []Edge
	Sessions []Session // the latest of each seat, and every other that is not terminal
	Bindings []Binding
	Usage    []StoredUsage // newest per seat
	Open     []Operation   // not ended
	Leases   []Lease
	Work     []WorkCount
	Acks     []Ack
	Verdicts []Verdict
	LastSeq  int64 // of the audit log
}

// StoredUsage is a usage sample on record.
type StoredUsage struct {
	SeatID    string `json:"seat_id"`
	SessionID string `json:"session_id"`
	Usage
}

// WorkCount counts a seat's inbound work by state.
type WorkCount struct {
	SeatID  string `json:"seat_id"`
	Pending int    `json:"pending"`
	Claimed int    `json:"claimed"`
	Blocked int    `json:"blocked"`
}

// WorkItem is one piece of inbound work. It is addressed to a seat, so it stays
// when the occupant changes.
type WorkItem struct {
	ID         string    `json:"id"`
	SeatID     string    `json:"seat_id"`
	Title      string    `json:"title"`
	Body       string    `json:"body,omitempty"`
	State      string    `json:"state"`                // pending, claimed, blocked, done
	Generation int64     `json:"generation,omitempty"` // of the occupant that claimed it
	From       string    `json:"from,omitempty"`
	Note       string    `json:"note,omitempty"`
	CreatedAt  time.Time `json:"created_at"`
	UpdatedAt  time.Time `json:"updated_at"`
	Version    int64     `json:"version"`
}

// Ack is an acknowledged or snoozed attention item, shared between consoles.
type Ack struct {
	Key   string    `json:"key"` // the item's key
	By    string    `json:"by"`
	At    time.Time `json:"at"`
	Until time.Time `json:"until,omitzero"` // snoozed until; zero = acknowledged
}

// Verdict is the newest identity verdict of a seat. It counts only while session
// and pane are still the ones it was made of.
type Verdict struct {
	SeatID    string    `json:"seat_id"`
	SessionID string    `json:"session_id"`
	Pane      PaneID    `json:"pane"`
	Verdict   string    `json:"verdict"` // verified, mismatch, pane_missing
	Reason    string    `json:"reason,omitempty"`
	At        time.Time `json:"at"`
}

// StartupContext is what a fresh launch of a seat replays.
type StartupContext struct {
	SeatID  string          `json:"seat_id"`
	Runtime RuntimeName     `json:"runtime"`
	Files   json.RawMessage `json:"files"`   // resolved startup files
	Actions json.RawMessage `json:"actions"` // startup actions
	Version int64           `json:"version"`
}

// DiscoveredSession is an unmanaged pane that a scan saw.
type DiscoveredSession struct {
	ID          string      `json:"id"`
	Socket      string      `json:"socket"`
	Epoch       Epoch       `json:"epoch"`
	SessionName string      `json:"session"`
	Pane        PaneID      `json:"pane"`
	PID         int         `json:"pid"`
	Cwd         string      `json:"cwd"`
	Command     string      `json:"command"`
	RuntimeHint RuntimeName `json:"runtime_hint"` // "" = unknown
	Confidence  Confidence  `json:"confidence"`
	Evidence    string      `json:"evidence,omitempty"`
	Status      string      `json:"status"`               // active, claimed, vanished
	ClaimedBy   string      `json:"claimed_by,omitempty"` // seat id
	FirstSeen   time.Time   `json:"first_seen_at"`
	LastSeen    time.Time   `json:"last_seen_at"`
}

// SnapshotRow is one stored snapshot of a rig. Data holds raw tokens: it is
// never printed whole.
type SnapshotRow struct {
	ID        string    `json:"id"`
	RigID     string    `json:"rig_id"`
	Kind      string    `json:"kind"`   // manual, auto-pre-down, auto-periodic, pre_restore, auto-rehydrate
	Status    string    `json:"status"` // complete, partial, failed
	Note      string    `json:"note,omitempty"`
	Data      []byte    `json:"-"`
	CreatedAt time.Time `json:"created_at"`
}

// EventFilter selects audit events; zero fields select all.
type EventFilter struct {
	After  int64 // seq greater than
	Since  time.Time
	RigID  string
	SeatID string
	OpID   string
	Types  []string
	Limit  int  // 0 = 1000
	Newest bool // newest first
}

// OperationFilter selects operations; zero fields select all.
type OperationFilter struct {
	RigID  string
	SeatID string
	Open   bool // not ended
	Undo   bool // with an undo window that nobody has closed yet, over or not
	Limit  int  // 0 = 200, newest first
}

// lookup tells a row that is not on record from one that cannot be read.
func lookup[T any](row T, err error) (T, bool, error) {
	if CodeOf(err) == CodeNotFound {
		return row, false, nil
	}
	return row, err == nil, err
}

// Reader reads the record inside one transaction. A missing row is an *Error
// with CodeNotFound.
type Reader interface {
	Record() (*Record, error)
	// RecordOf reads as much of Record as what is shown of one seat stands on:
	// all of the seat and of those that hold its conversation, and who is at the
	// other ends of its edges. No LastSeq.
	RecordOf(seatID string) (*Record, error)
	Rig(id string) (Rig, error)
	RigsNamed(name string, archived bool) ([]Rig, error)
	AllRigs(archived bool) ([]Rig, error)
	Pods(rigID string) ([]Pod, error)
	Seat(id string) (Seat, error)
	Seats(rigID string) ([]Seat, error)
	// SeatsMatching finds the seats of active rigs that a reference means, in the
	// order of their rigs' names.
	SeatsMatching(ref SeatRef) ([]SeatName, error)
	Edges(rigID string) ([]Edge, error)
	Session(id string) (Session, error)
	Sessions(seatID string) ([]Session, error) // highest generation first
	Tenures(seatID string) ([]Tenure, error)   // highest generation first
	Binding(seatID string) (Binding, error)
	StartupContext(seatID string) (StartupContext, error)
	Operation(id string) (Operation, error)
	Operations(f OperationFilter) ([]Operation, error)
	Steps(opID string) ([]OperationStep, error)
	Lease(key string) (Lease, error)
	Leases() ([]Lease, error)
	// LeaseKeys gives the keys that an operation holds with a fencing number.
	LeaseKeys(opID string, fence int64) ([]string, error)
	Events(f EventFilter) ([]Event, error)
	Discovered(id string) (DiscoveredSession, error)
	AllDiscovered() ([]DiscoveredSession, error)
	Snapshot(id string) (SnapshotRow, error)
	Snapshots(rigID string) ([]SnapshotRow, error)                // newest first, without Data
	UsageSamples(seatID string, limit int) ([]StoredUsage, error) // newest first
	Work(seatID string) ([]WorkItem, error)
	WorkItem(id string) (WorkItem, error)
	Acks() ([]Ack, error)
	Verdict(seatID string) (Verdict, error)
	Meta(key string) (string, error) // "" when absent
}

// Tx writes inside one immediate transaction. Update methods compare the row's
// version with the stored one and bump it; a difference is CodeConflict.
type Tx interface {
	Reader
	// Durable makes Write return only when what this transaction writes, and all that
	// was written before, is on the disk: it then outlives a loss of power, and not
	// only of the process. As long as the disk can say so; that it cannot is no error.
	Durable()
	InsertRig(Rig) error
	UpdateRig(*Rig) error
	DeleteRig(id string) error // with pods, seats, edges, sessions, bindings; history stays
	InsertPod(Pod) error
	DeletePod(id string) error
	InsertSeat(Seat) error
	UpdateSeat(*Seat) error
	DeleteSeat(id string) error
	InsertEdge(Edge) error
	InsertSession(Session) error
	UpdateSession(*Session) error
	InsertTenure(Tenure) error
	EndTenure(seatID string, generation int64, at time.Time) error
	ReopenTenure(seatID string, generation int64) error
	PutBinding(Binding) error
	DeleteBinding(seatID string) error
	PutStartupContext(StartupContext) error
	PutDiscovered(DiscoveredSession) error
	InsertOperation(Operation) error
	UpdateOperation(*Operation) error
	PutStep(OperationStep) error
	PutLease(Lease) error
	DeleteLease(key, opID string) error
	// NextFence gives a number greater than any before it.
	NextFence() (int64, error)
	AppendEvent(Event) (int64, error)
	InsertSnapshot(SnapshotRow) error
	DeleteSnapshot(id string) error
	PutUsage(StoredUsage) error
	InsertWork(WorkItem) error
	UpdateWork(*WorkItem) error
	PutAck(Ack) error
	DeleteAck(key string) error
	PutVerdict(Verdict) error
	// SetMeta stores a value under a key; an empty one leaves no row.
	SetMeta(key, value string) error
}
