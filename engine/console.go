package engine

import "context"

// Console is the façade that the screens talk to: it is all they know of the
// engine. cmd gives them an implementation; tests give them a counting one. No
// method may be called from Update or View, only from commands.
type Console interface {
	ImageConsole
	ShotConsole
	PaperConsole
	RecapConsole
	// Subscribe delivers pictures, newest only, at most about ten a second, and
	// nothing while nothing changes. The first comes from the record alone. The
	// channel closes when ctx ends.
	Subscribe(ctx context.Context) <-chan *Fleet
	// Focus says which seats' panes are on screen; Frames delivers their screens
	// when they change.
	Focus(seatIDs []string)
	Frames(ctx context.Context) <-chan PaneFrame
	// Plan makes the dry run of a request.
	Plan(ctx context.Context, r Request) (*Plan, error)
	// Apply applies the very plan that was shown and follows it to its receipt.
	// progress is called with the journal after each change of a step.
	Apply(ctx context.Context, p *Plan, progress func(OpProgress)) (*Receipt, error)
	// Operation gives an operation with its journal.
	Operation(ctx context.Context, id string) (Operation, []OperationStep, error)
	// Operations lists operations, newest first.
	Operations(ctx context.Context, f OperationFilter) ([]Operation, error)
	// Events reads the audit log.
	Events(ctx context.Context, f EventFilter) ([]Event, error)
	// SeatHistory gives a seat's occupants through time, newest first.
	SeatHistory(ctx context.Context, seatID string) ([]Session, []Tenure, error)
	// SpecDrift compares a seat with the spec file of its rig, as that is now.
	SpecDrift(ctx context.Context, seatID string) (SpecDrift, error)
	// Explain says where a fact about a seat comes from.
	Explain(ctx context.Context, seatID, topic string) (Explanation, error)
	// Jump plans a view-only jump into a seat's pane.
	Jump(ctx context.Context, seatID string) (Jump, error)
	// SwitchClient performs a jump inside the same tmux server.
	SwitchClient(ctx context.Context, seatID, client string) error
	// Send types a message into a seat's pane and verifies its delivery.
	Send(ctx context.Context, seatID, text string) (Delivery, error)
	// Ack acknowledges or snoozes an attention item; seconds = 0 acknowledges,
	// negative takes it back.
	Ack(ctx context.Context, key string, seconds int) error
	// Operator is who the console acts for.
	Operator() Operator
	PressureConsole
	HandoverConsole
	RestoreConsole
}

// OpProgress is a running operation's journal at one moment.
type OpProgress struct {
	Op    Operation
	Steps []OperationStep
}

// Jump says how to get a terminal into a seat's pane.
type Jump struct {
	Session string   `json:"session"`
	Inside  bool     `json:"inside"`             // our own client is on that server: switch it
	Client  string   `json:"client"`             // this console's own client, when Inside
	Clients []Client `json:"clients"`            // all clients, when ours cannot be told: ask
	Argv    []string `json:"argv"`               // else: attach, which comes back on detach
	Popup   []string `json:"popup"`              // shows the pane in a popup over this console; ends when it is closed
	NoPopup string   `json:"no_popup,omitempty"` // why there is no popup
}

// Delivery is what is known about a message that was typed.
type Delivery struct {
	Outcome string `json:"outcome"` // one of the Outcome words
	Why     string `json:"why"`
	Source  string `json:"source,omitempty"` // what proved it
	// Queued says of a delivered message that the client keeps it behind the turn
	// under way: nothing has read it yet.
	Queued bool `json:"queued,omitempty"`
	// Warnings say what did not work beside it, such as that it is not on record.
	Warnings []string `json:"warnings,omitempty"`
}

// What became of a message that was typed.
const (
	OutcomeDelivered    = "delivered"             // proven: its client has it
	OutcomeSubmitted    = "submitted"             // what follows proves it
	OutcomeUnconfirmed  = "submitted-unconfirmed" // nobody asked for proof, or none came
	OutcomeNotSubmitted = "typed-not-submitted"   // it stands in the input box
	OutcomeUncertain    = "uncertain"             // it may or may not have arrived
	OutcomeNotSent      = "not-sent"              // nothing was typed
)

// Word is the outcome in a word, for people.
func (d Delivery) Word() string {
	if d.Queued {
		return "queued"
	}
	return d.Outcome
}

// Explanation is where facts come from, ready to print.
type Explanation struct {
	Seat  string          `json:"seat"`
	Topic string          `json:"topic"`
	Facts []ExplainedFact `json:"facts"`
}

// ExplainedFact is one fact with its source, rule, age and competing evidence.
type ExplainedFact struct {
	Name       string     `json:"name"`
	Value      string     `json:"value"`
	Source     string     `json:"source"`
	Rule       string     `json:"rule"`
	Age        string     `json:"age"`
	Confidence Confidence `json:"confidence"`
	Agreeing   []string   `json:"agreeing,omitempty"`  // other evidence that says the same
	Competing  []string   `json:"competing,omitempty"` // what speaks against it
}
