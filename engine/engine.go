package engine

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// Config holds the knobs of the engine with their defaults filled in by
// DefaultConfig.
type Config struct {
	ReadyTimeout  time.Duration // how long a start may take before it is not_ready
	IdentifyWait  time.Duration // how long to wait for a native id after readiness
	Parallel      int           // seats started at once
	PaneWidth     int           // size of a new seat's session
	PaneHeight    int
	LeaseTTL      time.Duration // shown to others; takeover needs proof of death
	SubmitPause   time.Duration // between a paste and its Enter
	VerifyTimeout time.Duration // how long a send waits for proof of delivery
	PollEvery     time.Duration // fallback inventory interval of the observer
	UndoWindow    time.Duration // how long a handover can be undone; negative = not at all
	GateWait      time.Duration // how long a gate in staging is offered to a person
	CompactWait   time.Duration // how long each stage of a guided compaction may take
}

// DefaultConfig gives the documented defaults.
func DefaultConfig() Config {
	return Config{
		ReadyTimeout: 30 * time.Second, IdentifyWait: 6 * time.Second, Parallel: 24,
		PaneWidth: 160, PaneHeight: 48, LeaseTTL: 15 * time.Second,
		SubmitPause: 300 * time.Millisecond, VerifyTimeout: 5 * time.Second,
		PollEvery: 2 * time.Second, UndoWindow: 10 * time.Minute, GateWait: time.Minute,
		CompactWait: 2 * time.Minute,
	}
}

// Self is what the calling process knows about itself from its environment.
type Self struct {
	Seat       string // RIG_SEAT: address of the seat we run in, "" outside
	Generation string // RIG_GENERATION
	Session    string // RIG_SESSION: our id of the occupant
	Pane       string // TMUX_PANE
	SeatPane   string // RIG_PANE: the pane on our own server that we sit in, "" outside
	Socket     string // socket path of $TMUX, "" outside tmux
	Client     string // the client over which this console is a popup, "" when it is none
	Login      string // login name
}

// Deps is everything the engine needs from outside. All fields but Spawner, Log
// and Self are required.
type Deps struct {
	Store     Store
	Mux       Mux
	Runtimes  map[RuntimeName]Runtime
	Specs     SpecSource
	Occupants Occupants
	Procs     Processes
	Contexts  Contexts // nil: nothing can be delivered to a successor
	Images    Images   // nil: no agent images
	Recaps    Recaps   // nil: no recap can be written
	Attic     Attic    // nil: no files to tidy up
	Recorder  Recorder // nil: screens are not recorded
	// Redact takes secrets out of an opening prompt, because arguments can be read
	// by others; nil: prompts go as they are.
	Redact func(string) string
	// RedactScreen takes secrets out of the rows of a screen, also those that the
	// pane's edge broke in two, and keeps the number of rows; nil: they stay.
	RedactScreen func([]string) []string
	Spawner      Spawner // nil: detached operations run in this process
	Clock        Clock
	IDs          IDs
	Env          []string // the caller's environment, for launches
	RigEnv       []string // RIG_HOME and the like, as every occupant needs them to find us
	Self         Self
	Build        string // version and commit, named on operations and receipts
	Config       Config
	Log          *slog.Logger
	// OnStep, when set, is told before and after each step of an operation
	// ("before" or "after"). Tests end the process there.
	OnStep func(when string, s Step)
}

// Engine plans, applies and observes. It holds no state of the world: every
// answer is read anew.
type Engine struct {
	d        Deps
	planners map[Verb]planner
	steps    map[StepKind]executor
	seated   func() bool // whether the seat that our environment names is one on record; asked once
}

// planner fills a plan by reading only. It returns an error for a request that
// is malformed; everything that merely prevents the apply becomes a blocker.
type planner func(ctx context.Context, e *Engine, w *world, p *Plan) error

// New makes an engine from its dependencies.
func New(d Deps) *Engine {
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	def := DefaultConfig()
	fillConfig(&d.Config, def)
	e := &Engine{d: d}
	e.planners = map[Verb]planner{
		VerbUp: planUp, VerbDown: planDown, VerbLaunch: planLaunch,
		VerbAdopt: planAdopt, VerbRelease: planRelease, VerbHandover: planHandover, VerbUndo: planUndo,
		VerbFinish: planFinish, VerbRollback: planRollback,
		VerbSeatStop: planSeatStop, VerbSeatClean: planSeatClean, VerbSeatLaunch: planSeatLaunch,
		VerbExpand: planExpand, VerbRemove: planRemove, VerbShrink: planShrink, VerbFork: planFork,
		VerbImageCreate: planImageCreate, VerbImageDelete: planImageDelete, VerbImagePrune: planImagePrune,
		VerbImagePin: planImagePin, VerbImageUnpin: planImagePin,
		VerbSetModel: planSetModel, VerbSetToken: planSetToken, VerbClearAttention: planClearAttention,
		VerbCompact:  planCompact,
		VerbRecap:    planRecap,
		VerbGC:       planGC,
		VerbSnapshot: planSnapshot, VerbRestore: planRestore,
	}
	e.steps = stepTable()
	e.seated = sync.OnceValue(e.inSeat)
	return e
}

func fillConfig(c *Config, def Config) {
	durations := []struct{ have, want *time.Duration }{
		{&c.ReadyTimeout, &def.ReadyTimeout},
		{&c.IdentifyWait, &def.IdentifyWait},
		{&c.LeaseTTL, &def.LeaseTTL},
		{&c.SubmitPause, &def.SubmitPause},
		{&c.VerifyTimeout, &def.VerifyTimeout},
		{&c.PollEvery, &def.PollEvery},
		{&c.UndoWindow, &def.UndoWindow},
		{&c.GateWait, &def.GateWait},
		{&c.CompactWait, &def.CompactWait},
	}
	for _, d := range durations {
		if *d.have == 0 {
			*d.have = *d.want
		}
	}
	ints := []struct{ have, want *int }{
		{&c.Parallel, &def.Parallel}, {&c.PaneWidth, &def.PaneWidth}, {&c.PaneHeight, &def.PaneHeight},
	}
	for _, i := range ints {
		if *i.have == 0 {
			*i.have = *i.want
		}
	}
}

// The verbs with a planner.
const (
	VerbUp      Verb = "up"
	VerbDown    Verb = "down"
	VerbLaunch  Verb = "launch"
	VerbAdopt   Verb = "adopt"
	VerbRelease Verb = "release"
)

// runtime gives the adapter of a runtime, or an error with a hint.
func (e *Engine) runtime(name RuntimeName) (Runtime, error) {
	if r, ok := e.d.Runtimes[name]; ok {
		return r, nil
	}
	return nil, Errorf(CodeUnsupportedKind, "this build has no runtime %q", name).
		WithHint("use claude-code, codex or terminal")
}

// Operator gives who acts when nobody names an operator: the seat we run in,
// else the login name; always marked as derived.
func (e *Engine) Operator() Operator {
	if e.d.Self.Seat != "" && e.seated() {
		return Operator{Name: e.d.Self.Seat, Derived: true}
	}
	return Operator{Name: e.d.Self.Login, Derived: true}
}

// inSeat reports whether our environment is that of an occupant on record: a variable
// alone makes nobody the seat that it names. Where the record cannot be read it is
// believed.
func (e *Engine) inSeat() bool {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	address, generation := "", int64(0)
	err := e.d.Store.Read(ctx, func(r Reader) error {
		s, err := r.Session(e.d.Self.Session)
		if err != nil {
			return err
		}
		seat, err := r.Seat(s.SeatID)
		if err != nil {
			return err
		}
		rig, err := r.Rig(seat.RigID)
		address, generation = Address(seat.Pod, seat.Member, rig.Name), s.Generation
		return err
	})
	if err != nil {
		return CodeOf(err) != CodeNotFound && CodeOf(err) != CodeSeatNotFound
	}
	return address == e.d.Self.Seat && itoa(generation) == e.d.Self.Generation
}

// Plan makes the dry run of a request: a pure read of the record, tmux and
// files. A malformed request is an error; whatever prevents the apply is a
// blocker in the plan.
func (e *Engine) Plan(ctx context.Context, r Request) (*Plan, error) { return e.plan(ctx, r, "") }

// plan plans for an operation that holds its leases already, or for none yet.
func (e *Engine) plan(ctx context.Context, r Request, opID string) (*Plan, error) {
	pl, ok := e.planners[r.Verb]
	if !ok {
		return nil, Errorf(CodeInvalid, "no verb %q", r.Verb).WithHint("`rig help` lists the verbs")
	}
	w, shots, err := e.lookAt(ctx, func(w *world) []CaptureRequest { return w.costScreens(r) })
	if err != nil {
		return nil, err
	}
	w.shots = shots
	p := &Plan{
		ID: e.d.IDs.New(), Request: r, Verb: r.Verb, Target: r.Target, Reason: r.Reason,
		Operator: r.Operator, CreatedAt: w.now,
		Phases: []Phase{}, Changes: []Change{}, Unchanged: []string{}, Blockers: []Blocker{},
		Warnings: []string{}, Basis: []Fact{}, Leases: []string{},
	}
	if p.Operator.Name == "" {
		p.Operator = e.Operator()
	}
	if err := pl(ctx, e, w, p); err != nil {
		return nil, err
	}
	if p.Reason != "" && p.Command != "" && !strings.Contains(p.Command, " --reason ") { // every verb takes one
		p.Command += " --reason " + ShellQuote(p.Reason)
	}
	return p, e.blockHeld(ctx, p, opID)
}

// blockHeld puts a lease that another operation holds into the plan: what would
// refuse the apply is said beforehand.
func (e *Engine) blockHeld(ctx context.Context, p *Plan, opID string) error {
	return e.d.Store.Read(ctx, func(r Reader) error {
		if err := e.warnBuild(r, p); err != nil {
			return err
		}
		for _, key := range p.Leases {
			held, is, err := lookup(r.Lease(key))
			if err != nil {
				return err
			}
			if !is || held.OpID == opID {
				continue
			}
			if err := e.holderRefusal(r, held); err != nil {
				p.Block(err)
				return nil // one holder is enough to wait for
			}
		}
		return nil
	})
}
