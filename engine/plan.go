package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"sort"
	"time"
)

// Verb names a mutating verb. Each has exactly one planner.
type Verb string

// Request is what an operator asked for. It is data, so that Apply and a
// detached process can plan it again. It must never hold a token.
type Request struct {
	Verb     Verb            `json:"verb"`
	Target   string          `json:"target"` // as typed: a seat reference, a rig, a file
	Reason   string          `json:"reason,omitempty"`
	Operator Operator        `json:"operator"`
	Args     json.RawMessage `json:"args,omitempty"` // the verb's own arguments
	Secret   Secret          `json:"-"`              // what must never leave this process
}

// Operator is who asked. Derived says that nobody typed the name: it is the
// calling seat or the login name.
type Operator struct {
	Name    string `json:"name"`
	Derived bool   `json:"derived"`
}

// String renders the operator as receipts and events print it.
func (o Operator) String() string {
	if o.Derived && o.Name != "" {
		return o.Name + " (derived)"
	}
	return o.Name
}

// Effect says what a step does to the world.
type Effect string

// Effects of a step.
const (
	EffectNone       Effect = "none"
	EffectReversible Effect = "reversible"
	EffectCommit     Effect = "commit"
	EffectOneWay     Effect = "one_way"
)

// StepKind selects the executor of a step from a closed set.
type StepKind string

// Step is one thing that Apply will do. Args are the executor's inputs; they are
// part of the fingerprint and of the journal, and never hold a token.
type Step struct {
	ID     string            `json:"id"`
	Kind   StepKind          `json:"kind"`
	Title  string            `json:"title"`
	Seat   string            `json:"seat,omitempty"` // seat id the step is about
	Effect Effect            `json:"effect"`
	Args   map[string]string `json:"args,omitempty"`
}

// Phase groups steps under a heading. Phases of one Unit succeed or are undone
// together; a Unit that fails does not undo another. A Unit starts when the
// units in Needs have committed and those in After have ended in any way.
type Phase struct {
	ID    string   `json:"id"`
	Title string   `json:"title"`
	Unit  string   `json:"unit,omitempty"`
	Needs []string `json:"needs,omitempty"` // units that must have succeeded
	After []string `json:"after,omitempty"` // units that must have ended
	Steps []Step   `json:"steps"`
}

// Change is one field that will differ afterwards.
type Change struct {
	Seat   string `json:"seat,omitempty"` // address; "" for the rig or library itself
	Field  string `json:"field"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// TextChange is a text that will differ afterwards.
type TextChange struct {
	Seat  string
	Field string // how it is called
	Lines []TextLine
}

// TextLine is a line of a text, and what becomes of it.
type TextLine struct {
	Kind LineKind // LineTextSame, LineTextGone, LineTextNew or LineTextGap
	Text string
}

// Intent is what a plan means to do with one seat of many, and why.
type Intent struct {
	Seat   string `json:"seat"`   // address
	Action string `json:"action"` // launch, keep, resume-original, fresh-primed, awaiting-decision, stop, release …
	Reason string `json:"reason,omitempty"`
}

// Fact is one thing that the plan stands on. Keys are stable paths such as
// "seat/dev-impl@shop/generation".
type Fact struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Plan is what a verb would do, as data: it is what a dry run prints, what a
// wizard previews, and what Apply executes. It is made by reading only.
type Plan struct {
	ID        string    `json:"id"` // also the id of its operation
	Request   Request   `json:"-"`
	Verb      Verb      `json:"verb"`
	Target    string    `json:"target"` // canonical
	Reason    string    `json:"reason,omitempty"`
	Operator  Operator  `json:"operator"`
	CreatedAt time.Time `json:"created_at"`
	Phases    []Phase   `json:"phases"`
	Intents   []Intent  `json:"seats,omitempty"`
	Changes   []Change  `json:"changes"`
	Unchanged []string  `json:"unchanged"`
	Blockers  []Blocker `json:"blockers"`
	Warnings  []string  `json:"warnings"`
	Basis     []Fact    `json:"basis"`
	Leases    []string  `json:"leases"`   // "seat:<id>" and "rig:<id>", taken in this order
	Detached  bool      `json:"detached"` // starts or ends a process: runs outside the caller
	Command   string    `json:"command"`  // the shell line that does the same

	// Texts are whole texts that change, line by line and redacted. They are printed
	// and never stored: no journal holds what a seat wrote.
	Texts []TextChange `json:"-"`

	// inputs are what executors need beyond Args and what must not be stored:
	// parsed specs, parent tokens. They live only as long as the process; Apply
	// gets them anew by planning again.
	inputs map[string]any
}

// Applicable reports whether the plan has no blockers.
func (p *Plan) Applicable() bool { return len(p.Blockers) == 0 }

// Fingerprint hashes the plan's facts and steps. Two plans of one request with
// equal fingerprints do the same to the same world. Ids, times, warnings and
// live readings are left out.
func (p *Plan) Fingerprint() string {
	facts := append([]Fact(nil), p.Basis...)
	sort.Slice(facts, func(i, j int) bool { return facts[i].Key < facts[j].Key })
	doc := struct {
		Verb     Verb
		Target   string
		Basis    []Fact
		Phases   []Phase
		Blockers []Blocker
	}{p.Verb, p.Target, facts, p.Phases, p.Blockers}
	b, err := json.Marshal(doc)
	if err != nil { // strings and slices of strings always marshal
		panic("engine: plan does not marshal: " + err.Error())
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

// MustBe refuses a plan that is not the one with the fingerprint that was shown;
// "" says that none was.
func (p *Plan) MustBe(shown string) error {
	now := p.Fingerprint()
	if shown == "" || now == shown {
		return nil
	}
	return Errorf(CodePlanStale, "the plan is not the one you saw").On(string(p.Verb), p.Target).
		WithHint("look at it again with --dry-run; its fingerprint is now %s", now).With("fingerprint", now)
}

// AddFact records something that the plan stands on.
func (p *Plan) AddFact(key, value string) { p.Basis = append(p.Basis, Fact{key, value}) }

// Block adds a reason why the plan cannot be applied.
func (p *Plan) Block(err error) { p.Blockers = append(p.Blockers, BlockerFrom(err)) }

// BlockSeat adds a blocker about one seat.
func (p *Plan) BlockSeat(seat string, err error) {
	b := BlockerFrom(err)
	b.Seat = seat
	p.Blockers = append(p.Blockers, b)
}

// Input gives a value that planning left for the executors, and whether it is
// there.
func (p *Plan) Input(key string) (any, bool) {
	v, ok := p.inputs[key]
	return v, ok
}

// SetInput leaves a value for the executors. It is neither printed, nor stored,
// nor hashed.
func (p *Plan) SetInput(key string, v any) {
	if p.inputs == nil {
		p.inputs = map[string]any{}
	}
	p.inputs[key] = v
}

// Forget drops what must not outlive a plan's use: the request's secret and what
// planning left for the executors. The plan cannot be applied any more.
func (p *Plan) Forget() { p.Request.Secret, p.inputs = Secret{}, nil }

// Steps lists every step in print order.
func (p *Plan) Steps() []Step {
	var out []Step
	for _, ph := range p.Phases {
		out = append(out, ph.Steps...)
	}
	return out
}

// FactDiff lists the facts that differ between two plans of one request, as
// "key: before → after" pairs, for plan_stale.
func FactDiff(shown, now *Plan) []Change {
	before := map[string]string{}
	for _, f := range shown.Basis {
		before[f.Key] = f.Value
	}
	var out []Change
	seen := map[string]bool{}
	for _, f := range now.Basis {
		seen[f.Key] = true
		if b, ok := before[f.Key]; !ok || b != f.Value {
			out = append(out, Change{Field: f.Key, Before: b, After: f.Value})
		}
	}
	for _, f := range shown.Basis {
		if !seen[f.Key] {
			out = append(out, Change{Field: f.Key, Before: f.Value})
		}
	}
	return out
}
