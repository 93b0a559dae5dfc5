package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// reviveOptions say what is to come back, and how.
type reviveOptions struct {
	only       []string // launch these only; none = all
	fresh      []string // prime these afresh, by name
	unprompted bool     // prime afresh what was never prompted
	snapshot   string   // stand on this one; "" = the newest usable
	// attempt marks a restore: it stands on a snapshot, keeps one of what was
	// there before, and ends with a roll-up.
	attempt bool
}

// revival plans how rigs on record come back. The same judgement serves the plan
// that is shown and the one that is applied.
type revival struct {
	e       *Engine
	w       *world
	p       *Plan
	opt     reviveOptions
	claimed map[string]string // native id → the seat that is to continue it
	all     []*restoring
}

// restoring is what a plan means to bring back of one rig. It travels in the
// plan's inputs.
type restoring struct {
	rig      Rig
	choice   chosenSnapshot
	intended []string // addresses
	excluded []ExcludedSeat
	begin    string // unit that everything else comes after
	launches int
	refused  error // why nothing of it is attempted
}

// ExcludedSeat is a seat that a restore leaves out, and why.
type ExcludedSeat struct {
	Seat   string `json:"seat"`
	Reason string `json:"reason"`
}

// Why a seat is left out of a restore.
const (
	ExcludedHistorical = "historical_not_in_intended_roster"
	ExcludedGone       = "no_longer_in_the_rig"
)

const restoreInput = "restores"

func (e *Engine) newRevival(w *world, p *Plan, opt reviveOptions) *revival {
	return &revival{e: e, w: w, p: p, opt: opt, claimed: map[string]string{}}
}

// rig plans, seat by seat, how one rig comes back. Seats that run are left
// alone; one broken seat stops no other.
func (v *revival) rig(ctx context.Context, rig Rig) error {
	seats := v.w.seatsOf(rig.ID)
	v.p.Leases = append(v.p.Leases, "rig:"+rig.ID)
	v.p.AddFact("rig/"+rig.Name, rig.ID)
	only, err := pickSeats(rig, seats, v.opt.only)
	if err != nil {
		return err
	}
	fresh, err := pickSeats(rig, seats, v.opt.fresh)
	if err != nil {
		return err
	}
	graph, err := OrderMembers(logicals(seats), v.w.edgeSpecs(rig.ID))
	if err != nil {
		return err
	}
	if len(v.opt.only) == 0 {
		only = logicals(seats)
	}
	contexts, err := v.e.startups(ctx, seats)
	if err != nil {
		return err
	}
	r := &restoring{rig: rig, begin: "begin " + rig.Name}
	if only, err = v.roster(ctx, r, seats, only); err != nil {
		return err
	}
	byLogical := map[string]Seat{}
	for _, s := range seats {
		byLogical[s.Logical()] = s
	}
	first := len(v.p.Phases)
	for _, logical := range graph.Order {
		if !slices.Contains(only, logical) {
			continue
		}
		seat := byLogical[logical]
		v.p.Leases = append(v.p.Leases, "seat:"+seat.ID)
		v.p.AddFact("seat/"+Address(seat.Pod, seat.Member, rig.Name)+"/generation", itoa(seat.Generation))
		after := []string{r.begin}
		for _, pre := range graph.After[logical] {
			after = append(after, unitOf(pre, rig.Name))
		}
		v.seat(ctx, r, seat, contexts[seat.ID], after, slices.Contains(fresh, logical))
	}
	v.close(r, first)
	return nil
}

// refuse leaves one rig of many out, with the reason: it stops no other.
func (v *revival) refuse(rig Rig, err error) {
	p := v.p
	p.Warnings = append(p.Warnings, rig.Name+" is left out: "+AsError(err).Msg+" → "+AsError(err).Hint)
	v.all = append(v.all, &restoring{rig: rig, refused: err, choice: chosenSnapshot{SnapshotSelection: SnapshotSelection{Mode: "none", Rationale: "not attempted"}}})
	p.SetInput(restoreInput, v.all)
	p.Leases = slices.DeleteFunc(p.Leases, func(key string) bool { return key == "rig:"+rig.ID })
	p.AddFact("rig/"+rig.Name+"/refused", string(AsError(err).Code))
}

// rigHeld says which operation holds a rig or one of its seats, nil when none
// does. What this very process holds does not count: it plans again under its
// own leases.
func (e *Engine) rigHeld(ctx context.Context, w *world, rig Rig) error {
	keys, self := []string{"rig:" + rig.ID}, e.d.Procs.Self("")
	for _, s := range w.seatsOf(rig.ID) {
		keys = append(keys, "seat:"+s.ID)
	}
	return e.d.Store.Read(ctx, func(r Reader) error {
		for _, key := range keys {
			held, ok := w.leases[key]
			if !ok || (held.Owner.PID == self.PID && held.Owner.PIDStart == self.PIDStart) {
				continue
			}
			if err := e.holderRefusal(r, held); err != nil {
				return err
			}
		}
		return nil
	})
}

// rigUnseen says which seat of a rig another tmux server holds, or may hold, nil when
// none does. A server of ours that does not answer at all is no matter of one rig.
func (w *world) rigUnseen(rig Rig) error {
	var p Plan
	if w.inv.Server == Unknown {
		return nil
	}
	for _, s := range w.seatsOf(rig.ID) {
		blockUnseen(&p, w.address(s), w.locate(s.ID))
	}
	if len(p.Blockers) == 0 {
		return nil
	}
	b := p.Blockers[0]
	return Errorf(b.Code, "%s: %s", b.Seat, b.Message).On("up", rig.Name).WithHint("%s", b.Hint)
}

// roster says which seats the restore judges: those that the chosen snapshot
// intends, or all. It gives the ones that are left of only.
func (v *revival) roster(ctx context.Context, r *restoring, seats []Seat, only []string) ([]string, error) {
	if !v.opt.attempt {
		return only, nil
	}
	var err error
	if v.opt.snapshot != "" {
		if r.choice, err = v.e.namedSnapshot(ctx, v.w, r.rig, v.opt.snapshot); err != nil {
			if CodeOf(err) != CodeSnapshotUnusable {
				return nil, err
			}
			v.p.Block(err)
		}
	} else if r.choice, err = v.e.chooseSnapshot(ctx, v.w, r.rig); err != nil {
		return nil, err
	}
	v.p.AddFact("rig/"+r.rig.Name+"/snapshot", cmp.Or(r.choice.ID, r.choice.Mode))
	if len(r.choice.Passed) > 0 {
		v.p.Warnings = append(v.p.Warnings, fmt.Sprintf("%s stands on %s; %d newer snapshots are not usable (%s: %s)",
			r.rig.Name, cmp.Or(r.choice.ID, "the record"), len(r.choice.Passed), r.choice.Passed[0].ID, r.choice.Passed[0].Reason))
	}
	if r.choice.data == nil {
		return only, nil
	}
	v.tokensOf(*r.choice.data)
	var kept []string
	for _, s := range seats {
		logical, address := s.Logical(), v.w.address(s)
		if slices.Contains(r.choice.data.Roster.Intended, logical) {
			kept = append(kept, logical)
			continue
		}
		if slices.Contains(only, logical) {
			r.excluded = append(r.excluded, ExcludedSeat{address, ExcludedHistorical})
			v.p.Intents = append(v.p.Intents, Intent{address, "excluded", ExcludedHistorical})
		}
	}
	var gone []string
	for _, s := range r.choice.data.Seats {
		if _, ok := v.w.seats[s.ID]; !ok {
			address := Address(s.Pod, s.Member, r.rig.Name)
			r.excluded, gone = append(r.excluded, ExcludedSeat{address, ExcludedGone}), append(gone, address)
		}
	}
	if len(gone) > 0 {
		v.p.Warnings = append(v.p.Warnings, "no longer in the rig, so not brought back: "+strings.Join(gone, ", "))
	}
	return slices.DeleteFunc(slices.Clone(only), func(l string) bool { return !slices.Contains(kept, l) }), nil
}

// tokensOf takes from the snapshot what the record lacks of the very same
// occupant. What the record has is newer.
func (v *revival) tokensOf(d SnapshotData) {
	for _, s := range d.Sessions {
		now, ok := v.w.latest[s.SeatID]
		if ok && now.ID == s.ID && now.Token.Empty() && s.RawToken != "" {
			now.Token, now.Provenance = NewResumeToken(s.RawToken), s.Provenance
			v.w.latest[s.SeatID] = now
		}
	}
}

// close adds what comes before the seats of a rig.
func (v *revival) close(r *restoring, first int) {
	if len(v.p.Phases) == first && len(v.p.Blockers) == 0 {
		v.p.Warnings = append(v.p.Warnings, "nothing to start in "+r.rig.Name+": see the seats above")
	}
	if !v.opt.attempt {
		return
	}
	v.all = append(v.all, r)
	v.p.SetInput(restoreInput, v.all)
	if len(v.p.Phases) == first {
		return
	}
	ph := Phase{ID: r.begin, Unit: r.begin, Title: "Begin the restore of " + r.rig.Name}
	if r.launches > 0 {
		ph.Steps = append(ph.Steps, Step{
			ID: r.rig.Name + "/snapshot", Kind: StepSnapshot, Effect: EffectNone,
			Args:  map[string]string{"rig_id": r.rig.ID, "kind": SnapshotPreRestore},
			Title: "save what is there before anything is changed",
		})
	}
	ph.Steps = append(ph.Steps, Step{
		ID: r.rig.Name + "/begin", Kind: StepRestoreBegin, Effect: EffectNone, Args: map[string]string{"rig_id": r.rig.ID},
		Title: "put the attempt on record; it stands on " + r.choice.words(),
	})
	v.p.Phases = slices.Insert(v.p.Phases, first, ph)
	v.p.Unchanged = append(v.p.Unchanged, "seats of "+r.rig.Name+" that run, every stored resume token, history and inbound work")
}

// words names what a restore stands on, for a step: by its time and not by its age,
// which would make the plan another one with every minute that somebody reads it.
func (c *chosenSnapshot) words() string {
	if c.ID == "" {
		return "the record (" + c.Rationale + ")"
	}
	return fmt.Sprintf("snapshot %s, %s, of %s (%s)", c.ID, c.Kind, c.CreatedAt.UTC().Format("2006-01-02 15:04 UTC"), c.Rationale)
}

// seat decides what happens to one seat and plans it.
func (v *revival) seat(ctx context.Context, r *restoring, seat Seat, c StartupContext, after []string, fresh bool) {
	address := v.w.address(seat)
	at := v.w.locate(seat.ID)
	v.p.AddFact("seat/"+address+"/pane", at.presence.String()+deadWord(at.dead))
	r.intended = append(r.intended, address)
	switch {
	case at.presence == Unknown:
		blockUnseen(v.p, address, at)
		return // else the server is a blocker already
	case at.presence == Present && !at.dead && fresh:
		v.p.BlockSeat(address, Errorf(CodeSessionLive, "its occupant runs").
			WithHint("`rig seat launch %s --fresh --stop --reason …` ends it and starts it anew", address))
		return
	case at.presence == Present && !at.dead:
		if why := v.e.stranger(v.w, seat); why != "" { // what runs there is not the occupant: nothing is back
			v.p.AddFact("seat/"+address+"/stranger", why)
			v.p.Intents = append(v.p.Intents, Intent{address, string(ContinuityAttention), why})
			return
		}
		v.p.Intents = append(v.p.Intents, Intent{address, "already_running", "its pane is alive"})
		return
	}
	j := v.judge(ctx, seat, c, address, fresh)
	if j.start == nil {
		v.leave(seat, address, j, after)
		return
	}
	v.launch(ctx, r, seat, c, address, at, j, after)
}

// launch plans the start of one seat. What stands against it is this seat's
// outcome, not a blocker of the others.
func (v *revival) launch(ctx context.Context, r *restoring, seat Seat, c StartupContext, address string, at where, j verdict, after []string) {
	p := v.p
	phases, blockers := len(p.Phases), len(p.Blockers)
	if _, isFresh := j.start.Start.(StartFresh); isFresh && seat.Runtime != RuntimeTerminal && j.start.Prompt == "" {
		m, err := memberOf(seat, c)
		if err == nil {
			var digest string
			j.start.Prompt, digest, err = v.e.openingPrompt(address, m)
			p.AddFact("seat/"+address+"/prompt", digest)
		}
		if err != nil {
			p.BlockSeat(address, err)
		}
	}
	v.e.planStart(ctx, v.w, p, seat, *j.start, nil, after)
	if len(p.Blockers) > blockers {
		b := p.Blockers[blockers]
		p.Phases, p.Blockers = p.Phases[:phases], p.Blockers[:blockers]
		out := ContinuityFailed
		if slices.Contains(conversationCodes, b.Code) {
			out = ContinuityAwaiting
		}
		v.leave(seat, address, verdict{outcome: out, code: b.Code, why: b.Message, hint: b.Hint}, after)
		return
	}
	if at.dead {
		last := len(p.Phases) - 1
		p.Phases[last].Steps = slices.Insert(p.Phases[last].Steps, 0, Step{
			ID: address + "/reap", Kind: StepReap, Seat: address, Effect: EffectOneWay,
			Title: "end the kept dead pane " + string(at.pane.ID) + " (exit status " + strconv.Itoa(at.pane.DeadCode) + ")",
			Args:  map[string]string{"seat_id": seat.ID, "pane": string(at.pane.ID), "gen": at.pane.Gen, "session": at.pane.Session},
		})
	}
	r.launches++
	p.Intents = append(p.Intents, j.intent(address))
	v.e.planNext(ctx, p, seat, address)
}

// leave plans that nothing is started in a seat: only the outcome is put on
// record, so that Attention shows it with what to do.
func (v *revival) leave(seat Seat, address string, j verdict, after []string) {
	v.p.Intents = append(v.p.Intents, j.intent(address))
	v.p.SetInput("seatid/"+address, seat.ID)
	if j.outcome == ContinuityAwaiting {
		v.p.Warnings = append(v.p.Warnings, address+" awaits a decision: "+j.why)
	} else {
		v.p.Warnings = append(v.p.Warnings, address+" cannot come back: "+j.why)
	}
	v.p.Phases = append(v.p.Phases, Phase{
		ID: address, Unit: address, After: after, Title: "Leave " + address + " as it is",
		Steps: []Step{{
			ID: address + "/outcome", Kind: StepRestoreLeave, Seat: address, Effect: EffectCommit,
			Title: "start nothing, and record: " + string(j.outcome),
			Args: map[string]string{
				"seat_id": seat.ID, "outcome": string(j.outcome), "code": string(j.code), "why": j.why, "hint": j.hint,
				"generation": itoa(seat.Generation),
			},
		}},
	})
}

// ownDead reports the kept dead pane of the seat itself, which its next start
// clears away.
func ownDead(p Pane, seat Seat) bool { return p.Dead && seat.ID != "" && p.Seat == seat.ID }

func deadWord(dead bool) string {
	if dead {
		return ", dead"
	}
	return ""
}
