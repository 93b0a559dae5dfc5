package tuitest

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"rig/engine"
)

// Console is an engine.Console over a made-up picture. It counts its calls, and
// its fields say how it answers. It is safe for concurrent use.
type Console struct {
	// JumpAnswer is what Jump gives.
	JumpAnswer engine.Jump
	// Fail makes the named methods answer with an error.
	Fail map[string]error
	// Delivery is what Send gives; the zero value is a delivery that was proven.
	Delivery engine.Delivery
	// Pause is called between the steps of an applied plan; nil = no pause.
	Pause func()
	// Now gives the times of applied steps; nil = made-up ones, 1.2 s apart.
	Now func() time.Time
	// Refuse makes plans carry a blocker.
	Refuse    bool
	RefuseOne string // target of the only plan that something stands in the way of
	NoSteps   bool   // plans have nothing to do
	// Tenures are the occupants that SeatHistory gives; nil = two of its own.
	Tenures []engine.Tenure
	// Drift is in what every seat differs from its spec.
	Drift engine.SpecDrift
	// NoImages empties the library of agent images.
	NoImages bool
	// Recap is the present recap of every seat; "" = the made-up one, "-" = none.
	Recap string
	// NoShots makes the recorder empty.
	NoShots bool
	// Outcome is what receipts say of each seat; "" = by the verb.
	Outcome engine.Continuity

	mu      sync.Mutex
	fleet   *engine.Fleet
	calls   map[string]int
	focus   []string
	moves   int // facts that moved since the start
	fleets  chan *engine.Fleet
	frames  chan engine.PaneFrame
	ops     []engine.Operation
	steps   map[string][]engine.OperationStep
	acks    map[string]int
	sent    []string
	jumped  []string
	applied []string

	cancelled []string
}

// New makes a console over a picture; f may be nil, for one that has not come.
func New(f *engine.Fleet) *Console {
	c := &Console{
		fleet: f, calls: map[string]int{}, fleets: make(chan *engine.Fleet, 8), frames: make(chan engine.PaneFrame, 256),
		steps: map[string][]engine.OperationStep{}, acks: map[string]int{}, Fail: map[string]error{},
	}
	c.pastOps()
	if f != nil {
		c.fleets <- f
	}
	return c
}

func (c *Console) call(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[name]++
	return c.Fail[name]
}

// Calls counts all calls so far.
func (c *Console) Calls() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, k := range c.calls {
		n += k
	}
	return n
}

// Called counts the calls of one method.
func (c *Console) Called(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls[name]
}

// Publish delivers a picture. One that nobody took yet is replaced.
func (c *Console) Publish(f *engine.Fleet) {
	c.mu.Lock()
	c.fleet = f
	c.mu.Unlock()
	for {
		select {
		case c.fleets <- f:
			return
		default:
		}
		select {
		case <-c.fleets:
		default:
		}
	}
}

// Move makes one fact that plans stand on another, as somebody else would.
func (c *Console) Move() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.moves++
}

// Show delivers the screens of the seats that are in focus.
func (c *Console) Show(tick int) {
	c.mu.Lock()
	f, ids := c.fleet, append([]string(nil), c.focus...)
	c.mu.Unlock()
	if f == nil {
		return
	}
	for _, s := range f.Seats() {
		for _, id := range ids {
			if fr, ok := Frame(s, tick); ok && id == s.ID {
				select {
				case c.frames <- fr:
				default:
				}
			}
		}
	}
}

// Focused is what Focus was last told.
func (c *Console) Focused() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.focus...)
}

// Did lists what was sent, jumped to and applied, in order.
func (c *Console) Did() (sent, jumped, applied []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.sent...), append([]string(nil), c.jumped...), append([]string(nil), c.applied...)
}

// Acked gives the seconds of the last acknowledgement of an item.
func (c *Console) Acked(key string) (int, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, ok := c.acks[key]
	return n, ok
}

// Subscribe delivers pictures.
func (c *Console) Subscribe(context.Context) <-chan *engine.Fleet {
	_ = c.call("Subscribe")
	return c.fleets
}

// Frames delivers screens.
func (c *Console) Frames(context.Context) <-chan engine.PaneFrame {
	_ = c.call("Frames")
	return c.frames
}

// Focus remembers which panes are on screen and shows them once.
func (c *Console) Focus(ids []string) {
	_ = c.call("Focus")
	c.mu.Lock()
	c.focus = append([]string(nil), ids...)
	c.mu.Unlock()
	c.Show(0)
}

// Events gives the made-up log.
func (c *Console) Events(_ context.Context, f engine.EventFilter) ([]engine.Event, error) {
	if err := c.call("Events"); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []engine.Event
	for _, e := range c.fleet.Recent {
		if e.Seq > f.After {
			out = append(out, e)
		}
	}
	return out, nil
}

// SpecDrift says in what every seat differs from its spec: in nothing, unless Drift is set.
func (c *Console) SpecDrift(context.Context, string) (engine.SpecDrift, error) {
	if c.Drift.State != "" {
		return c.Drift, c.call("SpecDrift")
	}
	return engine.SpecDrift{State: engine.DriftSame}, c.call("SpecDrift")
}

// SeatHistory gives two occupants.
func (c *Console) SeatHistory(_ context.Context, id string) ([]engine.Session, []engine.Tenure, error) {
	if err := c.call("SeatHistory"); err != nil {
		return nil, nil, err
	}
	if c.Tenures != nil {
		return nil, c.Tenures, nil
	}
	now := Start()
	sessions := []engine.Session{
		{ID: "s2", SeatID: id, Generation: 2, Status: engine.SessionRunning, CreatedAt: now.Add(-3 * time.Hour)},
		{ID: "s1", SeatID: id, Generation: 1, Status: engine.SessionSuperseded, CreatedAt: now.Add(-30 * time.Hour), EndedAt: now.Add(-3 * time.Hour)},
	}
	tenures := []engine.Tenure{
		{SeatID: id, Generation: 2, SessionID: "s2", Kind: "handover", Continuity: engine.ContinuityResumed, Reason: "the context was full", Operator: "ana", StartedAt: now.Add(-3 * time.Hour)},
		{SeatID: id, Generation: 1, SessionID: "s1", Kind: "initial", Continuity: engine.ContinuityFresh, Operator: "ana", StartedAt: now.Add(-30 * time.Hour), EndedAt: now.Add(-3 * time.Hour)},
	}
	return sessions, tenures, nil
}

// Explain gives where a state comes from.
func (c *Console) Explain(_ context.Context, id, topic string) (engine.Explanation, error) {
	if err := c.call("Explain"); err != nil {
		return engine.Explanation{}, err
	}
	return engine.Explanation{Seat: id, Topic: topic, Facts: []engine.ExplainedFact{
		{Name: "activity", Value: "waiting: permission prompt", Source: "session registry", Rule: "status = waiting", Age: "20s", Confidence: engine.ConfidenceHigh, Competing: []string{"pane: busy (a spinner, 2s old), weaker than the registry"}},
		{Name: "since", Value: "10:18", Source: "record", Rule: "when this state was first seen", Age: "12m", Confidence: engine.ConfidenceHigh},
	}}, nil
}

// Jump gives JumpAnswer.
func (c *Console) Jump(context.Context, string) (engine.Jump, error) {
	return c.JumpAnswer, c.call("Jump")
}

// SwitchClient remembers who was sent where.
func (c *Console) SwitchClient(_ context.Context, id, client string) error {
	err := c.call("SwitchClient")
	c.mu.Lock()
	defer c.mu.Unlock()
	c.jumped = append(c.jumped, client+" "+id)
	return err
}

// Send remembers a message.
func (c *Console) Send(_ context.Context, id, text string) (engine.Delivery, error) {
	err := c.call("Send")
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent = append(c.sent, id+" "+text)
	if c.Delivery.Outcome == "" {
		return engine.Delivery{Outcome: "delivered", Why: "seen as a user turn", Source: "transcript"}, err
	}
	return c.Delivery, err
}

// Ack remembers an acknowledgement and shows it in a new picture.
func (c *Console) Ack(_ context.Context, key string, seconds int) error {
	if err := c.call("Ack"); err != nil {
		return err
	}
	c.mu.Lock()
	c.acks[key] = seconds
	f := *c.fleet
	c.mu.Unlock()
	f.Revision++
	f.Attention = append([]engine.AttentionItem(nil), f.Attention...)
	for i := range f.Attention {
		if f.Attention[i].Key != key {
			continue
		}
		f.Attention[i].Acked, f.Attention[i].Until = "ana", time.Time{}
		if seconds < 0 {
			f.Attention[i].Acked = ""
		}
		if seconds > 0 {
			f.Attention[i].Until = Start().Add(time.Duration(seconds) * time.Second)
		}
	}
	c.Publish(&f)
	return nil
}

// HandoverSources gives a few of each kind, some of which cannot be chosen.
func (c *Console) HandoverSources(context.Context, string) ([]engine.SourceOption, error) {
	return []engine.SourceOption{
		{Source: "fresh", Note: "a new conversation, with a packet of the state of the work"},
		{Source: "rebuild", Note: "from recap of 2 h ago, learned of 3 days ago; 2 missing"},
		{Source: "fork:dev-impl@shop", Note: "a copy of the seat's own conversation"},
		{Source: "fork:01HZY1", Label: "fork:dev-impl@shop, generation 1", Note: "a former conversation of the seat, superseded"},
		{Source: "fork:dev-qa@shop", Note: "a copy of its present conversation; that one goes on", Trouble: "it is codex, the seat is claude-code"},
		{Source: "discovered:d-01", Label: "discovered:work %3", Note: "claude-code, your own session in /home/ana/shop"},
		{Source: "discovered:d-02", Label: "discovered:mail %9", Trouble: "its process has ended"},
	}, c.call("HandoverSources")
}

// NoteTokenRefusal remembers a refusal; a secret in it is remembered too, for the
// test that there is none.
func (c *Console) NoteTokenRefusal(_ context.Context, r engine.Request, cause error) error {
	err := c.call("NoteTokenRefusal")
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent = append(c.sent, "refused "+r.Target+" "+string(engine.CodeOf(cause))+r.Secret.Reveal())
	return err
}

// Operator is ana.
func (c *Console) Operator() engine.Operator {
	_ = c.call("Operator")
	return engine.Operator{Name: "ana"}
}

var _ engine.Console = (*Console)(nil)

func raw(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return b
}
