package engine

import "context"

// Step kinds that take a seat's occupant away.
const (
	StepStop       StepKind = "stop_session"
	StepVacate     StepKind = "commit_vacate"
	StepUntag      StepKind = "release_pane"
	StepSnapshot   StepKind = "save_snapshot"
	StepRigStopped StepKind = "commit_rig_stopped"
	StepRigDeleted StepKind = "commit_rig_deleted"
)

// stopSteps lists the steps that end a seat's occupant, or let an adopted one go.
func stopSteps(w *world, seat Seat, address string, at where) []Step {
	args := map[string]string{"seat_id": seat.ID, "generation": itoa(seat.Generation)}
	var steps []Step
	latest := w.latest[seat.ID]
	switch {
	case at.presence != Present:
	case latest.Origin == OriginClaimed:
		steps = append(steps, Step{
			ID: address + "/release", Kind: StepUntag, Seat: address, Effect: EffectReversible, Args: args,
			Title: "release the adopted session " + at.pane.Session + " (it keeps running)",
		})
	default:
		steps = append(steps, Step{
			ID: address + "/stop", Kind: StepStop, Seat: address, Effect: EffectOneWay, Args: args,
			Title: endTitle(&w.inv, at.pane, address),
		})
	}
	return append(steps, Step{
		ID: address + "/vacate", Kind: StepVacate, Seat: address, Effect: EffectCommit, Args: args,
		Title: "record that " + address + " is empty, and the event",
	})
}

// boundPane finds a seat's pane anew from the record and tmux.
func (r *run) boundPane(ctx context.Context, seatID string) (Binding, Inventory, where, error) {
	var b Binding
	err := r.e.d.Store.Read(ctx, func(rd Reader) error {
		var err error
		b, err = rd.Binding(seatID)
		return err
	})
	if err != nil {
		return b, Inventory{}, where{}, err
	}
	inv := r.e.d.Mux.Inventory(ctx)
	inv.Elsewhere = r.e.askElsewhere(ctx, []Binding{b})
	return b, inv, locate(b, &inv), nil
}

// sitting reads a step's seat and its present occupant from the record.
func (r *run) sitting(ctx context.Context, s Step) (seat Seat, session Session, err error) {
	err = r.e.d.Store.Read(ctx, func(rd Reader) error {
		if seat, err = rd.Seat(s.Args["seat_id"]); err == nil {
			session, err = currentSession(rd, seat.ID)
		}
		return err
	})
	return seat, session, err
}

// doStop ends the seat's session through the guard and proves that its client is
// gone. Absence is proof that there is nothing to stop.
func doStop(ctx context.Context, r *run, s Step) (Evidence, error) {
	id := s.Args["seat_id"]
	_, inv, at, err := r.boundPane(ctx, id)
	if err != nil {
		return nil, err
	}
	switch at.presence {
	case Unknown:
		return nil, Errorf(CodeTmuxProbeFailed, "%s", at.why).On("stop", s.Seat).WithHint("nothing was stopped; check `rig doctor`").Wrap(inv.Err)
	case Absent:
		return Evidence{"already_gone": true, "why": at.why}, nil
	case Present:
	}
	seat, session, err := r.sitting(ctx, s)
	if err != nil {
		return nil, err
	}
	r.e.awaitWritten(ctx, seat, session)
	ev := Evidence{"session": at.pane.Session, "pane": string(at.pane.ID), "pid": session.PID, "was_dead": at.dead}
	if r.lastLook(ctx, s, session, at) {
		ev[neverPromptedKey] = true
	}
	return ev, r.e.endPane(ctx, &inv, at.pane, s.Seat, session.ID)
}

// probeStop says whether the seat's pane is gone.
func probeStop(ctx context.Context, r *run, s Step) (StepState, error) {
	_, inv, at, err := r.boundPane(ctx, s.Args["seat_id"])
	switch {
	case CodeOf(err) == CodeNotFound:
		return StepDone, nil
	case err != nil:
		return StepUnknown, err
	case at.presence == Unknown:
		return StepUnknown, inv.Err
	case at.presence == Absent:
		return StepDone, nil
	}
	return StepPending, nil
}

// doUntag takes our tags off an adopted pane; its process is not touched.
func doUntag(ctx context.Context, r *run, s Step) (Evidence, error) {
	id := s.Args["seat_id"]
	b, _, at, err := r.boundPane(ctx, id)
	if err != nil {
		return nil, err
	}
	if at.presence == Unknown {
		return nil, Errorf(CodeTmuxProbeFailed, "%s", at.why).On("release", s.Seat).WithHint("nothing was changed; check `rig doctor`")
	}
	if at.presence == Absent {
		return Evidence{"already_gone": true, "why": at.why}, nil
	}
	g := Guard{Pane: b.Pane, Epoch: b.Epoch, Seat: id, Gen: s.Args["generation"], DeadOK: true}
	return Evidence{"pane": string(b.Pane), "session": at.pane.Session, "op": at.pane.Op}, r.e.d.Mux.Tag(ctx, g, "", "", "")
}

// undoUntag puts the tags back, on a dead pane too: that was the seat's. Where none is
// left, or the tags were never taken off, there is nothing to do.
func undoUntag(ctx context.Context, r *run, s Step) error {
	b, inv, _, err := r.boundPane(ctx, s.Args["seat_id"])
	if err != nil {
		return err
	}
	p, there := inv.Pane(b.Pane)
	gone := inv.Server == Absent || inv.Server == Present && (inv.Epoch != b.Epoch || !there && len(inv.Faults) == 0)
	if gone || there && p.Seat == b.SeatID {
		return nil
	}
	return r.e.d.Mux.Adopt(ctx, Guard{Pane: b.Pane, Epoch: b.Epoch, PID: p.PID, DeadOK: true}, b.SeatID, s.Args["generation"], r.saw(s.ID).Str("op"))
}

// commitVacate records that a seat has no occupant.
func commitVacate(_ context.Context, r *run, s Step, tx Tx) (Evidence, error) {
	seat, err := tx.Seat(s.Args["seat_id"])
	if err != nil {
		return nil, err
	}
	if genTag(seat.Generation) != s.Args["generation"] {
		return nil, Errorf(CodeConflict, "%s changed its occupant meanwhile", s.Seat).WithHint("look at `rig seat status %s`", s.Seat)
	}
	status, kind, action := SessionExited, "session.stopped", "stopped"
	if _, released := r.index[s.Seat+"/release"]; released {
		status, kind, action = SessionDetached, "session.detached", "released"
	} else if _, stopped := r.index[s.Seat+"/stop"]; !stopped {
		kind, action = "session.cleaned", "already_stopped"
	}
	ended, err := endSessions(tx, seat.ID, status, r.e.d.Clock)
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
	ev := Evidence{"sessions": ended, "generation": seat.Generation, "action": action}
	if r.saw(s.Seat + "/stop")[neverPromptedKey] == true {
		ev[neverPromptedKey] = true
	}
	r.settle(SeatReceipt{Seat: s.Seat, Action: action, Generation: seat.Generation, Evidence: ev})
	return ev, r.event(tx, kind, seat, s.Seat, ev)
}

// endSessions closes every open occupant of a seat and gives their names.
func endSessions(tx Tx, seatID string, status SessionStatus, clock Clock) ([]string, error) {
	all, err := tx.Sessions(seatID)
	if err != nil {
		return nil, err
	}
	now, names := clock.Now(), []string{}
	for i := range all {
		if all[i].Status.Terminal() {
			continue
		}
		all[i].Status, all[i].EndedAt = status, now
		if err := tx.UpdateSession(&all[i]); err != nil {
			return nil, err
		}
		if err := tx.EndTenure(seatID, all[i].Generation, now); err != nil {
			return nil, err
		}
		names = append(names, all[i].Name)
	}
	return names, nil
}
