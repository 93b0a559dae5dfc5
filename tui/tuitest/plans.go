package tuitest

import (
	"context"
	"fmt"
	"time"

	"rig/engine"
)

// Plan makes a plan of the verb with steps, changes and what stays. It stands on
// one fact, which Move moves.
func (c *Console) Plan(_ context.Context, r engine.Request) (*engine.Plan, error) {
	if err := c.call("Plan"); err != nil {
		return nil, err
	}
	c.mu.Lock()
	moves, n := c.moves, c.calls["Plan"]
	c.mu.Unlock()
	if r.Target == "" {
		return nil, engine.Errorf(engine.CodeRigNotFound, "no rig is named").WithHint("rig ps lists them")
	}
	p := &engine.Plan{
		ID: fmt.Sprintf("op-%03d", n), Request: r, Verb: r.Verb, Target: r.Target, Reason: r.Reason, Operator: r.Operator,
		CreatedAt: Start(), Detached: true, Command: engine.CommandLine("rig", string(r.Verb), r.Target),
		Unchanged: []string{"name and address of every seat", "edges", "inbound work"},
	}
	p.AddFact("seat/dev-impl@shop/generation", fmt.Sprint(2+moves))
	p.AddFact("server/epoch", "4711-1773480000")
	if p.Phases = phases(r); c.NoSteps {
		p.Phases = nil
	}
	if c.imagePlan(p) || c.recapPlan(p) {
		return p, nil
	}
	for _, s := range p.Steps() {
		if s.Seat != "" && len(p.Intents) < 12 && (len(p.Intents) == 0 || p.Intents[len(p.Intents)-1].Seat != s.Seat) {
			p.Intents = append(p.Intents, engine.Intent{Seat: s.Seat, Action: intent(r.Verb), Reason: "as asked"})
		}
	}
	p.Changes = []engine.Change{
		{Seat: "dev-impl@shop", Field: "occupant", Before: "generation 2, running", After: afterWord(r.Verb)},
		{Field: "lifecycle", Before: "degraded", After: string(r.Verb) + " done"},
	}
	if rig, fresh := c.restored(r); rig != nil {
		p.Intents = nil
		planRestored(p, rig, fresh)
	}
	if r.Verb == engine.VerbDown {
		p.Warnings = []string{"dev-impl@shop is in the middle of a turn; what it does now is lost"}
	}
	if c.RefuseOne == r.Target {
		p.BlockSeat(r.Target, engine.Errorf(engine.CodeInProgress, "launch holds this seat, started by bob 2 minutes ago").WithHint("wait for it, or rig op show op-9"))
	}
	if c.Refuse {
		p.BlockSeat("dev-impl@shop", engine.Errorf(engine.CodeInProgress, "launch holds this seat, started by bob 2 minutes ago").WithHint("wait for it, or rig op show op-9"))
		p.Block(engine.Errorf(engine.CodeRuntimeMissing, "the program codex is not on the path").WithHint("install it, or set RIG_CODEX_COMMAND"))
	}
	return p, nil
}

func intent(v engine.Verb) string {
	switch v {
	case engine.VerbDown:
		return "stop"
	case engine.VerbRelease:
		return "release"
	case engine.VerbCompact:
		return "compact"
	default:
		return "launch"
	}
}

func afterWord(v engine.Verb) string {
	if v == engine.VerbCompact {
		return "generation 2, compacted, not audited until its audit passes"
	}
	if v == engine.VerbDown {
		return "none, stopped"
	}
	return "generation 3, running"
}

// phases makes the steps of a verb for three seats, or for the one it names.
func phases(r engine.Request) []engine.Phase {
	if r.Verb == engine.VerbCompact {
		return compactPhases(r)
	}
	seats := []string{"dev-impl@shop", "dev-qa@shop", "dev-review@shop"}
	if r.Verb == engine.VerbRelease || r.Verb == engine.VerbAdopt || r.Verb == engine.VerbHandover || r.Verb == engine.VerbSetToken {
		seats = []string{r.Target}
	}
	var out []engine.Phase
	for i, s := range seats {
		ph := engine.Phase{ID: fmt.Sprintf("p%d", i), Title: s, Unit: s}
		add := func(kind, title string, e engine.Effect) {
			ph.Steps = append(ph.Steps, engine.Step{ID: fmt.Sprintf("%s%d", kind, i), Kind: engine.StepKind(kind), Title: title, Seat: s, Effect: e})
		}
		switch r.Verb {
		case engine.VerbDown:
			add("snapshot", "attempt a snapshot", engine.EffectNone)
			add("stop", "record the seat as stopped, and the event", engine.EffectCommit)
			add("end", "end its process", engine.EffectOneWay)
		case engine.VerbRelease, engine.VerbAdopt:
			add("tag", "change the tags of its pane", engine.EffectReversible)
			add("commit", "record the binding, and the event", engine.EffectCommit)
		default:
			add("create", "create its session", engine.EffectReversible)
			add("ready", "wait until it is proven ready", engine.EffectReversible)
			add("bind", "record binding and generation, and the event", engine.EffectCommit)
		}
		out = append(out, ph)
	}
	return out
}

// Apply goes through the steps of a plan and gives its receipt. A plan whose fact
// moved is stale.
func (c *Console) Apply(_ context.Context, p *engine.Plan, progress func(engine.OpProgress)) (*engine.Receipt, error) {
	if err := c.call("Apply"); err != nil {
		return nil, err
	}
	c.mu.Lock()
	stale := p.Basis[0].Value != fmt.Sprint(2+c.moves)
	c.applied = append(c.applied, string(p.Verb)+" "+p.Target)
	c.mu.Unlock()
	if stale {
		return nil, engine.Errorf(engine.CodePlanStale, "the facts moved since the plan was shown").WithHint("look at the new plan")
	}
	op := engine.Operation{ID: p.ID, Verb: p.Verb, Target: p.Target, Operator: p.Operator.Name, Reason: p.Reason, State: engine.OpRunning, StartedAt: Start()}
	var steps []engine.OperationStep
	for i, s := range p.Steps() {
		steps = append(steps, engine.OperationStep{OpID: p.ID, Seq: i, StepID: s.ID, Kind: s.Kind, Title: s.Title, Seat: s.Seat, Effect: s.Effect, State: engine.StepPending})
	}
	at := Start()
	if c.Now != nil {
		at = c.Now()
		op.StartedAt = at
	}
	for i := range steps {
		steps[i].State, steps[i].StartedAt = engine.StepStarted, at
		progress(engine.OpProgress{Op: op, Steps: append([]engine.OperationStep(nil), steps...)})
		if c.Pause != nil {
			c.Pause()
		}
		at = at.Add(1200 * time.Millisecond)
		if c.Now != nil {
			at = c.Now()
		}
		steps[i].State, steps[i].EndedAt, steps[i].Evidence = engine.StepDone, at, raw(map[string]any{"pane": "%7", "pid": 4812})
	}
	op.State, op.EndedAt = engine.OpDone, at
	progress(engine.OpProgress{Op: op, Steps: append([]engine.OperationStep(nil), steps...)})
	c.mu.Lock()
	c.ops = append([]engine.Operation{op}, c.ops...)
	c.steps[op.ID] = steps
	c.mu.Unlock()
	return c.receipt(p), nil
}

func (c *Console) receipt(p *engine.Plan) *engine.Receipt {
	r := &engine.Receipt{OK: true, Operation: engine.ReceiptOp{ID: p.ID, State: engine.OpDone}, Outcome: "done", EventSeq: 901}
	for _, i := range p.Intents {
		s := engine.SeatReceipt{Seat: i.Seat, Outcome: engine.ContinuityFresh, Binding: engine.BindingUnchanged, Action: i.Action, Generation: 3, Evidence: map[string]any{"pid": 4812, "registry": "idle"}}
		if p.Verb == engine.VerbCompact {
			s.Outcome, s.Generation, s.Action = engine.ContinuityNone, 2, "compacted and audited"
			s.Evidence = map[string]any{"current_work": "the checkout test", "next_owner": "dev-qa@shop", "directive": "delivered"}
		}
		if p.Verb == engine.VerbDown || p.Verb == engine.VerbRelease {
			s.Outcome, s.Generation = engine.ContinuityNone, 0
		}
		if c.Outcome != "" {
			s.Outcome = c.Outcome
		}
		if c.Outcome == engine.ContinuityFailed {
			s.Error = engine.Errorf(engine.CodeNotReady, "it was not ready within 30 s").WithHint("rig attach %s shows its screen", i.Seat)
			r.OK, r.Outcome, r.Operation.State = false, "failed", engine.OpFailed
		}
		r.Seats = append(r.Seats, s)
	}
	if p.Verb == engine.VerbRecap {
		r.Seats = []engine.SeatReceipt{{
			Seat: p.Target, Action: "recap_written", Generation: 2,
			Evidence: map[string]any{"path": "/home/ana/.local/state/rig/rigs/shop/seats/dev-impl/RECAP.md", "digest": "9c1d0a7be2f40311", "earlier": 3},
		}}
		r.Warnings = append(r.Warnings, p.Warnings...)
	}
	r.Extra = libraryExtra(p)
	if rig, _ := c.restored(p.Request); rig != nil && c.Outcome == "" {
		receiptRestored(r, p, rig)
	}
	return r
}

// pastOps makes the operations of the day before.
func (c *Console) pastOps() {
	now := Start()
	states := []engine.OpState{engine.OpDone, engine.OpFailed, engine.OpPartial, engine.OpRolledBack, engine.OpDone}
	verbs := []engine.Verb{engine.VerbUp, engine.VerbLaunch, engine.VerbDown, engine.VerbHandover, engine.VerbAdopt}
	for i, st := range states {
		start := now.Add(-time.Duration(i*i+1) * 37 * time.Minute)
		op := engine.Operation{
			ID: fmt.Sprintf("op-old%d", i), Verb: verbs[i], Target: "shop", Operator: "ana", State: st, StartedAt: start, EndedAt: start.Add(time.Duration(4+i) * time.Second), Reason: "morning",
		}
		if st == engine.OpFailed {
			op.Error = "dev-qa@shop: it was not ready within 30 s"
		}
		c.ops = append(c.ops, op)
		for j, ph := range phases(engine.Request{Verb: verbs[i], Target: "dev-impl@shop"}) {
			for k, s := range ph.Steps {
				step := engine.OperationStep{
					OpID: op.ID, Seq: j*3 + k, StepID: s.ID, Kind: s.Kind, Title: s.Title, Seat: s.Seat, Effect: s.Effect, State: engine.StepDone,
					StartedAt: start, EndedAt: start.Add(1300 * time.Millisecond), Evidence: raw(map[string]any{"pid": 4800 + k}),
				}
				if st == engine.OpFailed && j == 1 && k == 1 {
					step.State, step.Error = engine.StepFailed, "not ready"
				}
				c.steps[op.ID] = append(c.steps[op.ID], step)
			}
		}
	}
}

// Past puts an operation with its journal on record, as the newest.
func (c *Console) Past(op engine.Operation, steps []engine.OperationStep) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ops, c.steps[op.ID] = append([]engine.Operation{op}, c.ops...), steps
}

// Operations lists what was applied.
func (c *Console) Operations(context.Context, engine.OperationFilter) ([]engine.Operation, error) {
	if err := c.call("Operations"); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]engine.Operation(nil), c.ops...), nil
}

// Operation gives one operation with its steps.
func (c *Console) Operation(_ context.Context, id string) (engine.Operation, []engine.OperationStep, error) {
	if err := c.call("Operation"); err != nil {
		return engine.Operation{}, nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, op := range c.ops {
		if op.ID == id {
			return op, append([]engine.OperationStep(nil), c.steps[id]...), nil
		}
	}
	return engine.Operation{}, nil, engine.Errorf(engine.CodeNotFound, "no operation %s", id).WithHint("rig op list")
}
