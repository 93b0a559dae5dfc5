package engine

import (
	"context"
	"strings"
)

// StepSeatStopped records that a seat's live occupant was ended.
const StepSeatStopped StepKind = "commit_seat_stopped"

// planSeatStop plans the end of exactly one live occupant that we manage.
func planSeatStop(ctx context.Context, e *Engine, w *world, p *Plan) error {
	if err := needReason(p); err != nil {
		return err
	}
	s, err := e.planSeat(ctx, w, p)
	if err != nil {
		return err
	}
	p.Detached = true
	s.command("stop")
	if !s.had() {
		s.block(CodeNoSession, "`rig launch "+w.rigs[s.seat.RigID].Name+" "+s.seat.Logical()+"` gives it one", "the seat never had an occupant")
	}
	s.blockClaimed()
	s.whereFacts()
	switch {
	case !s.had() || w.inv.Server == Unknown:
	case !s.bound && len(w.live[s.seat.ID]) == 0:
		s.blockNothingToStop()
	case !s.live():
		s.block(CodeSessionNotLive, "`rig seat clean "+s.address+" --reason …` clears what is left of it", "its occupant does not run: %s", s.at.why)
	}
	s.stopPhase(ctx, "")
	s.change("occupant", s.occupantWord(), "")
	s.stays("name, seat id, role, edges and inbound work of "+s.address, "its history and resume token", "every other seat and session")
	return nil
}

// blockNothingToStop refuses the stop of a seat that is stopped, and says how it comes
// back: with its conversation, where there is one to continue.
func (s *seatPlan) blockNothingToStop() {
	if s.resumable() {
		s.block(CodeSessionNotLive, "there is nothing to stop; `rig launch "+s.w.rigs[s.seat.RigID].Name+" "+s.seat.Logical()+"` brings it back, with its conversation where it has one",
			"its last occupant is %s", s.last.Status)
		return
	}
	s.block(CodeSessionNotLive, "there is nothing to stop; `rig seat launch "+s.address+" --fresh --reason …` starts it", "its last occupant is %s", s.last.Status)
}

// stopPhase adds the end of the present occupant as a unit of its own.
func (s *seatPlan) stopPhase(ctx context.Context, unit string) {
	if s.live() {
		s.e.warnEnding(ctx, s.w, s.p, s.seat, s.at)
	}
	s.p.Phases = append(s.p.Phases, Phase{
		ID: "stop", Unit: unit, Title: "Stop " + s.address,
		Steps: append(keptSteps(s.w, s.seat, s.address, s.at),
			s.step("stop", StepStop, EffectOneWay, endTitle(&s.w.inv, s.at.pane, s.address)),
			s.step("stopped", StepSeatStopped, EffectCommit, "record that "+s.address+" is empty, and the event"),
		),
	})
}

// warnEnding says what is lost, and what else ends, when a seat's live pane does.
func (e *Engine) warnEnding(ctx context.Context, w *world, p *Plan, seat Seat, at where) {
	address := w.address(seat)
	ends := w.latest[seat.ID].Origin != OriginClaimed // else it is let go
	if n := len(beside(&w.inv, at.pane)); n > 0 && ends && ownSession(&w.inv, at.pane, address) {
		p.Warnings = append(p.Warnings, "with "+address+" ends what is beside it in its session: "+Counted(n, "pane"))
	}
	e.warnStranger(w, p, seat)
	e.warnEnd(ctx, w, p, seat)
	if ends && e.d.Self.Seat == address {
		p.Warnings = append(p.Warnings, address+" is the seat that you are in: your own shell ends with it")
	}
}

// resumable reports whether a launch of the seat continues what was there: a
// conversation, or a terminal, which has none to lose.
func (s *seatPlan) resumable() bool {
	return !s.last.Token.Empty() || s.seat.Runtime == RuntimeTerminal
}

// warnKept names former occupants that an undo window keeps: they are stopped, not
// gone, and nothing here ends them.
func (s *seatPlan) warnKept() {
	for _, pane := range s.w.inv.Panes {
		if pane.Seat == s.seat.ID && pane.ID != s.at.pane.ID && !pane.Dead && staged(pane) {
			s.p.Warnings = append(s.p.Warnings, "generation "+pane.Gen+" is kept, stopped, in session "+pane.Session+" until its undo window closes")
		}
	}
}

// commitSeatStopped closes the row of the stopped occupant and its binding. Other
// rows, tokens, inbound work and siblings are not touched.
func commitSeatStopped(_ context.Context, r *run, s Step, tx Tx) (Evidence, error) {
	seat, err := unchangedSeat(tx, s)
	if err != nil {
		return nil, err
	}
	session, err := currentSession(tx, seat.ID)
	if err != nil {
		return nil, err
	}
	now := r.e.d.Clock.Now()
	session.Status, session.EndedAt = SessionExited, now
	if err := tx.UpdateSession(&session); err != nil {
		return nil, err
	}
	if err := tx.EndTenure(seat.ID, session.Generation, now); err != nil {
		return nil, err
	}
	if err := tx.DeleteBinding(seat.ID); err != nil {
		return nil, err
	}
	seat.Lifecycle = LifecycleRetired
	if err := tx.UpdateSeat(&seat); err != nil {
		return nil, err
	}
	stopped := r.saw(strings.TrimSuffix(s.ID, "stopped") + "stop")
	ev := Evidence{
		"session_name": session.Name, "session_id": session.ID, "generation": session.Generation,
		"pane": stopped.Str("pane"), "pid": stopped.Int("pid"),
	}
	if stopped[neverPromptedKey] == true {
		ev[neverPromptedKey] = true
	}
	r.settle(SeatReceipt{Seat: s.Seat, Action: "stopped", Generation: seat.Generation, Evidence: ev})
	return ev, r.event(tx, "session.stopped", seat, s.Seat, ev)
}
