package engine

import (
	"cmp"
	"context"
	"strconv"
)

// Step kinds of a clean.
const (
	StepReap        StepKind = "end_dead_pane"
	StepSeatCleaned StepKind = "commit_seat_cleaned"
)

// planSeatClean plans the return of a dead seat to launchable. Every open row and
// the binding are probed; one that runs, or that cannot be told, refuses.
func planSeatClean(ctx context.Context, e *Engine, w *world, p *Plan) error {
	if err := needReason(p); err != nil {
		return err
	}
	s, err := e.planSeat(ctx, w, p)
	if err != nil {
		return err
	}
	s.command("clean")
	s.blockClaimed()
	s.whereFacts()
	v := s.probeVacancy(0)
	s.blockOccupied(v)
	if !s.bound && len(v.rows) == 0 {
		s.blockNothingToClean()
	}
	p.Detached = len(v.dead) > 0
	s.cleanPhase(v, "")
	s.change("occupants not ended on record", strconv.Itoa(len(v.rows)), "0")
	s.change("binding", cmp.Or(string(s.binding.Pane), "none"), "")
	s.stays("name, seat id, role, edges and inbound work of "+s.address, "its history, generations and resume token")
	return nil
}

// blockNothingToClean refuses the clean of a seat that is clean.
func (s *seatPlan) blockNothingToClean() {
	if s.resumable() {
		s.block(CodeNothingToClean, "it is launchable: `rig launch "+s.w.rigs[s.seat.RigID].Name+" "+s.seat.Logical()+"` brings it back, with its conversation where it has one",
			"the seat has no binding, and each of its occupants has ended on record")
		return
	}
	s.block(CodeNothingToClean, "it is launchable: `rig seat launch "+s.address+" --fresh --reason …`", "the seat has no binding, and each of its occupants has ended on record")
}

// cleanPhase adds the clearing of what is left of dead occupants.
func (s *seatPlan) cleanPhase(v vacancy, unit string, needs ...string) {
	ph := Phase{ID: "clean", Unit: unit, Needs: needs, Title: "Clear what is left in " + s.address}
	for i, pane := range v.dead {
		ph.Steps = append(ph.Steps, s.step("reap"+strconv.Itoa(i), StepReap, EffectOneWay,
			"end the kept dead pane "+string(pane.ID)+" and its session "+pane.Session,
			"pane", string(pane.ID), "gen", pane.Gen, "session", pane.Session))
	}
	ph.Steps = append(ph.Steps, s.step("cleaned", StepSeatCleaned, EffectCommit,
		"end "+Counted(len(v.rows), "occupant")+" on record, clear the binding, and the event"))
	s.p.Phases = append(s.p.Phases, ph)
}

// doReap ends the session of a pane whose process has ended. The guard holds the
// pid of the dead process, so that a pane that somebody started again is refused.
func doReap(ctx context.Context, r *run, s Step) (Evidence, error) {
	inv := r.e.d.Mux.Inventory(ctx)
	if inv.Server == Unknown {
		return nil, Errorf(CodeTmuxProbeFailed, "tmux did not answer").On("clean", s.Seat).WithHint("nothing was ended; check `rig doctor`").Wrap(inv.Err)
	}
	pane, ok := inv.Pane(PaneID(s.Args["pane"]))
	if !ok || pane.Seat != s.Args["seat_id"] {
		return Evidence{"already_gone": true}, nil
	}
	for _, p := range beside(&inv, pane) {
		if !p.Dead && ownSession(&inv, pane, s.Seat) {
			return nil, Errorf(CodeSessionLive, "pane %s of session %s runs", p.ID, p.Session).On("clean", s.Seat).WithHint("`rig seat stop %s --reason …`, or close that pane", s.Seat)
		}
	}
	g := Guard{Pane: pane.ID, Epoch: inv.Epoch, Seat: pane.Seat, Gen: s.Args["gen"], PID: pane.PID, DeadOK: true, Session: pane.Session}
	ev := Evidence{"pane": string(pane.ID), "session": pane.Session, "generation": pane.Gen, "exit_code": pane.DeadCode}
	if err := r.e.kill(ctx, &inv, pane, s.Seat, g); err != nil && CodeOf(err) != CodeNotFound {
		return ev, err
	}
	return ev, nil
}

// probeReap says whether the dead pane is gone.
func probeReap(ctx context.Context, r *run, s Step) (StepState, error) {
	inv := r.e.d.Mux.Inventory(ctx)
	if inv.Server == Unknown {
		return StepUnknown, inv.Err
	}
	if pane, ok := inv.Pane(PaneID(s.Args["pane"])); ok && pane.Seat == s.Args["seat_id"] {
		return StepPending, nil
	}
	return StepDone, nil
}

// commitSeatCleaned closes every open row and the binding. Tokens and tenures
// stay.
func commitSeatCleaned(_ context.Context, r *run, s Step, tx Tx) (Evidence, error) {
	seat, err := unchangedSeat(tx, s)
	if err != nil {
		return nil, err
	}
	if err := r.keepExitCodes(tx, seat.ID); err != nil {
		return nil, err
	}
	names, err := endSessions(tx, seat.ID, SessionExited, r.e.d.Clock)
	if err != nil {
		return nil, err
	}
	b, cleared, err := lookup(tx.Binding(seat.ID))
	if err != nil {
		return nil, err
	}
	if err := tx.DeleteBinding(seat.ID); err != nil {
		return nil, err
	}
	seat.Lifecycle = LifecycleRetired
	if err := tx.UpdateSeat(&seat); err != nil {
		return nil, err
	}
	ev := Evidence{
		"session_name": b.SessionName, "generation": seat.Generation,
		"actions": map[string]any{"sessions_exited": names, "binding_cleared": cleared},
	}
	r.settle(SeatReceipt{Seat: s.Seat, Action: "cleaned", Generation: seat.Generation, Evidence: ev})
	return ev, r.event(tx, "session.cleaned", seat, s.Seat, ev)
}

// keepExitCodes writes down how the dead occupants ended, as their kept panes
// told.
func (r *run) keepExitCodes(tx Tx, seatID string) error {
	codes := map[string]int{}
	for _, st := range r.plan.Steps() {
		if ev := r.saw(st.ID); st.Kind == StepReap && ev.Str("generation") != "" && ev.Int("exit_code") >= 0 {
			codes[ev.Str("generation")] = ev.Int("exit_code")
		}
	}
	all, err := tx.Sessions(seatID)
	if err != nil {
		return err
	}
	for i := range all {
		code, ok := codes[genTag(all[i].Generation)]
		if !ok || all[i].Status.Terminal() || all[i].ExitCode != nil {
			continue
		}
		all[i].ExitCode = &code
		if err := tx.UpdateSession(&all[i]); err != nil {
			return err
		}
	}
	return nil
}
