package engine

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// SeatLaunchArgs are the arguments of `rig seat launch`.
type SeatLaunchArgs struct {
	Fresh bool `json:"fresh"`          // must be true: nobody gets a blank occupant by accident
	Stop  bool `json:"stop,omitempty"` // end the occupant that runs there first
}

// planSeatLaunch plans a deliberate blank occupant for exactly one seat: no
// conversation is continued, forked or rebuilt, and no packet is delivered.
func planSeatLaunch(ctx context.Context, e *Engine, w *world, p *Plan) error {
	args, err := DecodeArgs[SeatLaunchArgs](p.Request)
	if err != nil {
		return err
	}
	if err := needReason(p); err != nil {
		return err
	}
	if !args.Fresh {
		return Errorf(CodeFreshRequired, "a seat launch gives the seat a blank occupant").
			WithHint("add --fresh to say so; `rig launch` continues the seat's own conversation")
	}
	s, err := e.planSeat(ctx, w, p)
	if err != nil {
		return err
	}
	p.Detached = true
	flags := []string{"--fresh"}
	if args.Stop {
		flags = append(flags, "--stop")
	}
	s.command("launch", flags...)
	member, hash := s.startup(ctx)
	_, err = e.runtime(s.seat.Runtime)
	if err != nil {
		s.block(CodeAdapterMissing, "use a build that has it", "this build has no runtime %q", s.seat.Runtime)
	}
	s.blockClaimed()
	s.whereFacts()
	s.fact("model", strings.TrimSpace(s.seat.Model+" "+s.seat.Effort))
	s.blockCollision(args.Stop)
	needs := s.vacate(ctx, args.Stop)
	if err == nil {
		s.freshPhase(ctx, member, hash, needs)
	}
	if !args.Stop || !s.live() {
		s.warnKept()
	}
	s.change("generation", itoa(s.seat.Generation), itoa(s.next))
	s.change("occupant", s.occupantWord(), occupantName(s.address, s.next)+", blank")
	s.change("continuity outcome", cmp.Or(string(s.seat.Continuity), "unverified"), string(ContinuityFresh))
	s.stays("name, seat id, role, edges and inbound work of "+s.address, "model, effort, profile, permission posture and directory",
		"the former occupant's row and resume token, as history")
	return nil
}

// blockCollision refuses when a session of the seat's name is not provably the
// seat's own, or holds more than its one pane.
func (s *seatPlan) blockCollision(stop bool) {
	collision := func(format string, args ...any) {
		s.block(CodeCollision, "look at it with `tmux -S "+s.e.d.Mux.Socket()+" list-panes -a`; it is not ours to end", format, args...)
	}
	if s.w.inv.Server != Present {
		return
	}
	for _, p := range s.w.inv.Panes {
		inName := p.Session == s.address
		beside := s.live() && stop && p.Session == s.at.pane.Session && p.ID != s.at.pane.ID
		switch {
		case beside:
			collision("session %s also holds pane %s, which is not the seat's", p.Session, p.ID)
			return
		case inName && (s.at.presence != Present || p.Session != s.at.pane.Session) && !s.ownDead(p):
			collision("a session named %s is there, and its pane %s is not the seat's", p.Session, p.ID)
			return
		}
	}
	if s.live() && !stop {
		s.block(CodeSessionLive, "--stop ends it first; `rig handover "+s.address+" --reason …` replaces it and carries context", "its occupant runs: %s", s.at.why)
	}
}

// ownDead reports whether a pane is a kept dead one of an open row of this seat.
func (s *seatPlan) ownDead(p Pane) bool {
	return p.Dead && p.Seat == s.seat.ID && slices.ContainsFunc(s.w.live[s.seat.ID], func(row Session) bool { return genTag(row.Generation) == p.Gen })
}

// vacate adds what must go before a blank occupant can come: the running one with
// --stop, and what dead ones left. It gives the units that the launch needs.
func (s *seatPlan) vacate(ctx context.Context, stop bool) []string {
	needs := []string{}
	except := int64(0)
	if s.live() {
		except = s.seat.Generation
		if stop {
			unit := s.address + " stop"
			s.stopPhase(ctx, unit)
			needs = append(needs, unit)
		}
	}
	v := s.probeVacancy(except)
	s.blockOccupied(v)
	if len(v.rows) > 0 || len(v.dead) > 0 || (s.bound && !s.live()) {
		unit := s.address + " clean"
		s.cleanPhase(v, unit, needs...)
		needs = []string{unit}
	}
	return needs
}

// freshPhase adds the launch itself. Its world is the one that the phases before
// it leave: without the panes that they end.
func (s *seatPlan) freshPhase(ctx context.Context, member MemberSpec, hash string, needs []string) {
	st := seatStart{Address: s.address, Start: StartFresh{}, Kind: "fresh", Good: ContinuityFresh}
	if s.seat.Runtime != RuntimeTerminal {
		prompt, read, err := s.e.openingPrompt(s.address, member)
		if err != nil {
			s.p.BlockSeat(s.address, err)
		}
		if st.Prompt = prompt; read != "" {
			s.fact("prompt", read)
		}
	}
	after := *s.w
	after.inv.Panes = slices.DeleteFunc(slices.Clone(s.w.inv.Panes), func(p Pane) bool { return p.Session == s.address })
	before := len(s.p.Phases)
	s.e.planStart(ctx, &after, s.p, s.seat, st, needs, nil)
	if len(s.p.Phases) == before {
		return
	}
	ph := &s.p.Phases[before]
	supersedes := s.toSupersede()
	mark := s.step("mark", StepFreshMark, EffectReversible, "remember whom the blank occupant replaces", "supersedes", strings.Join(supersedes, " "))
	mark.Args["address"] = s.address
	last := &ph.Steps[len(ph.Steps)-1]
	last.Kind, last.Title = StepFreshOccupy, "record the blank occupant, its binding and the event"
	last.Args = map[string]string{
		"seat_id": s.seat.ID, "generation": itoa(s.seat.Generation), "supersedes": mark.Args["supersedes"], "startup_policy_hash": hash,
	}
	ph.Steps = append([]Step{mark}, ph.Steps...)
}

// toSupersede lists the rows that become history: all that are not exited or
// superseded yet.
func (s *seatPlan) toSupersede() []string {
	ids := []string{}
	if s.last.Status == SessionDetached {
		ids = append(ids, s.last.ID)
	}
	for _, row := range s.w.live[s.seat.ID] {
		ids = append(ids, row.ID)
	}
	slices.Sort(ids)
	return ids
}
