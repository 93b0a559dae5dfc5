package engine

import (
	"context"
	"fmt"
	"slices"
)

// LaunchArgs are the arguments of `rig launch`.
type LaunchArgs struct {
	Seats []string `json:"seats,omitempty"` // logical ids or addresses; none = every seat that does not run
}

// planLaunch launches what does not run: an agent continues its own conversation
// when it has one, and otherwise waits for a decision.
func planLaunch(ctx context.Context, e *Engine, w *world, p *Plan) error {
	args, err := DecodeArgs[LaunchArgs](p.Request)
	if err != nil {
		return err
	}
	rig, err := w.rig(p.Request.Target)
	if err != nil {
		return err
	}
	p.Command = CommandLine(append([]string{"rig", "launch", rig.Name}, args.Seats...)...)
	p.Detached = true
	return e.planRevive(ctx, w, p, rig, reviveOptions{only: args.Seats})
}

// planUpRig brings a rig on record back by name.
func planUpRig(ctx context.Context, e *Engine, w *world, p *Plan, rig Rig, args UpArgs) error {
	words := []string{"rig", "up", rig.Name}
	for _, f := range args.Fresh {
		words = append(words, "--fresh", f)
	}
	if args.FreshUnprompted {
		words = append(words, "--fresh-unprompted")
	}
	p.Command = CommandLine(words...)
	return e.planRevive(ctx, w, p, rig, reviveOptions{fresh: args.Fresh, unprompted: args.FreshUnprompted})
}

type reviveOptions struct {
	only       []string // launch these only; none = all
	fresh      []string // prime these afresh, by name
	unprompted bool
}

// planRevive plans, seat by seat, how a rig on record comes back. Seats that run
// are left alone; one broken seat stops no other.
func (e *Engine) planRevive(ctx context.Context, w *world, p *Plan, rig Rig, opt reviveOptions) error {
	p.Target = rig.Name
	p.Leases = append(p.Leases, "rig:"+rig.ID)
	p.AddFact("rig/"+rig.Name, rig.ID)
	e.serverFact(w, p)
	seats := w.seatsOf(rig.ID)
	only, err := pickSeats(rig, seats, opt.only)
	if err != nil {
		return err
	}
	fresh, err := pickSeats(rig, seats, opt.fresh)
	if err != nil {
		return err
	}
	graph, err := OrderMembers(logicals(seats), w.edgeSpecs(rig.ID))
	if err != nil {
		return err
	}
	if len(opt.only) == 0 {
		only = logicals(seats)
	}
	byLogical := map[string]Seat{}
	for _, s := range seats {
		byLogical[s.Logical()] = s
	}
	contexts, err := e.startups(ctx, seats)
	if err != nil {
		return err
	}
	for _, logical := range graph.Order {
		if !slices.Contains(only, logical) {
			continue
		}
		seat := byLogical[logical]
		p.Leases = append(p.Leases, "seat:"+seat.ID)
		p.AddFact("seat/"+logical+"/generation", itoa(seat.Generation))
		after := []string{}
		for _, pre := range graph.After[logical] {
			after = append(after, unitOf(pre, rig.Name))
		}
		e.planSeatRevive(ctx, w, p, rig, seat, contexts[seat.ID], after, slices.Contains(fresh, logical), opt.unprompted)
	}
	if len(p.Phases) == 0 && len(p.Blockers) == 0 {
		p.Warnings = append(p.Warnings, "nothing to start: see the seats above")
	}
	return nil
}

// planSeatRevive decides what happens to one seat and plans it. The same
// classification serves the plan that is shown and the one that is applied.
func (e *Engine) planSeatRevive(ctx context.Context, w *world, p *Plan, rig Rig, seat Seat, c StartupContext, after []string, fresh, unprompted bool) {
	address := Address(seat.Pod, seat.Member, rig.Name)
	at := w.locate(seat.ID)
	p.AddFact("seat/"+address+"/pane", at.presence.String()+deadWord(at.dead))
	switch {
	case at.presence == Unknown:
		return // the server is a blocker already
	case at.presence == Present && !at.dead:
		p.Intents = append(p.Intents, Intent{address, "already_running", "its pane is alive"})
		return
	case at.presence == Present && at.dead:
		p.BlockSeat(address, Errorf("dead_pane", "its process has ended and its pane is kept").
			WithHint("`rig seat clean %s` clears it, then launch again", address))
		return
	}
	st, intent := e.reviveStart(ctx, w, p, seat, c, address, fresh, unprompted)
	p.Intents = append(p.Intents, intent)
	if st == nil {
		p.SetInput("undecided/"+address, intent.Reason)
		p.Warnings = append(p.Warnings, address+" awaits a decision: "+intent.Reason)
		return
	}
	if _, isFresh := st.Start.(StartFresh); isFresh && seat.Runtime != RuntimeTerminal && st.Prompt == "" {
		m, err := memberOf(seat, c)
		if err == nil {
			var digest string
			st.Prompt, digest, err = openingPrompt(address, m, MomentFresh)
			p.AddFact("seat/"+address+"/prompt", digest)
		}
		if err != nil {
			p.BlockSeat(address, err)
		}
	}
	e.planStart(ctx, w, p, seat, *st, nil, after)
	p.Changes = append(p.Changes, Change{
		Seat: address, Field: "generation", Before: itoa(seat.Generation), After: itoa(seat.Generation + 1),
	})
}

func deadWord(dead bool) string {
	if dead {
		return ", dead"
	}
	return ""
}

// reviveStart classifies a seat that does not run: its own conversation if it can
// be continued, a fresh start if asked for by name or natural, else a decision
// for a person. A nil start means that nothing is started.
func (e *Engine) reviveStart(ctx context.Context, w *world, p *Plan, seat Seat, c StartupContext, address string, fresh, unprompted bool) (*seatStart, Intent) {
	last, had := w.latest[seat.ID]
	freshStart := func(good Continuity) *seatStart {
		return &seatStart{Address: address, Start: StartFresh{}, Kind: "fresh", Good: good}
	}
	switch {
	case seat.Runtime == RuntimeTerminal:
		return freshStart(ContinuityFreshPrimed), Intent{address, "fresh-primed", "no_conversation_by_nature"}
	case fresh:
		return freshStart(ContinuityFreshPrimed), Intent{address, "fresh-primed", "asked for by name"}
	case !had:
		return e.firstStart(ctx, p, seat, c, address)
	case seat.RestorePolicy == RestoreFresh:
		return freshStart(ContinuityFreshPrimed), Intent{address, "fresh-primed", "its restore_policy is relaunch_fresh"}
	case last.Token.Empty() && unprompted:
		return freshStart(ContinuityFreshPrimed), Intent{address, "fresh-primed", "never prompted, and --fresh-unprompted was given"}
	case last.Token.Empty():
		return nil, Intent{address, "awaiting-decision", "no resume token on record; --fresh " + seat.Logical() + " starts it anew"}
	}
	rt, err := e.runtime(seat.Runtime)
	if err != nil {
		return nil, Intent{address, "awaiting-decision", err.Error()}
	}
	conv := rt.Conversation(ctx, last.Token.Reveal(), seat.Cwd, last.Homes)
	switch {
	case conv.Live:
		return nil, Intent{address, "awaiting-decision", fmt.Sprintf("its conversation is open in process %d", conv.LivePID)}
	case conv.Exists == Absent && unprompted:
		return freshStart(ContinuityFreshPrimed), Intent{address, "fresh-primed", "never prompted, and --fresh-unprompted was given"}
	case conv.Exists == Absent:
		return nil, Intent{address, "awaiting-decision", orText(conv.Why, "its conversation is not on disk") + "; --fresh " + seat.Logical() + " starts it anew"}
	case conv.Exists == Unknown:
		return nil, Intent{address, "awaiting-decision", orText(conv.Why, "whether its conversation exists cannot be told")}
	}
	reason := "its conversation is on disk"
	if len(conv.Caveats) > 0 {
		reason += " (" + conv.Caveats[0] + ")"
	}
	st := &seatStart{Address: address, Start: StartResume{Token: last.Token}, Kind: "restore", Good: ContinuityResumed}
	return st, Intent{address, "resume-original", reason}
}

func orText(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// pickSeats turns references into logical ids of a rig; an unknown one is an
// error, never ignored.
func pickSeats(rig Rig, seats []Seat, refs []string) ([]string, error) {
	var out []string
	for _, text := range refs {
		ref, err := ParseSeatRef(text)
		if err != nil {
			return nil, err
		}
		found := ""
		for _, s := range seats {
			if ref.Matches(rig.Name, s) || text == Address(s.Pod, s.Member, rig.Name) {
				found = s.Logical()
			}
		}
		if found == "" {
			return nil, Errorf(CodeSeatNotFound, "rig %s has no seat %q", rig.Name, text).On("", text).
				WithHint("`rig ps --rig %s --seats` lists them", rig.Name)
		}
		out = append(out, found)
	}
	return out, nil
}

func logicals(seats []Seat) []string {
	out := make([]string, len(seats))
	for i, s := range seats {
		out[i] = s.Logical()
	}
	return out
}

// edgeSpecs gives a rig's edges between logical ids.
func (w *world) edgeSpecs(rigID string) []EdgeSpec {
	var out []EdgeSpec
	for _, e := range w.rec.Edges {
		if e.RigID == rigID {
			out = append(out, EdgeSpec{Kind: e.Kind, From: w.seats[e.From].Logical(), To: w.seats[e.To].Logical()})
		}
	}
	return out
}

// startups reads what a fresh launch of each seat replays.
func (e *Engine) startups(ctx context.Context, seats []Seat) (map[string]StartupContext, error) {
	out := map[string]StartupContext{}
	err := e.d.Store.Read(ctx, func(r Reader) error {
		for _, s := range seats {
			c, err := r.StartupContext(s.ID)
			if CodeOf(err) == CodeNotFound {
				continue
			}
			if err != nil {
				return err
			}
			out[s.ID] = c
		}
		return nil
	})
	return out, err
}
