package engine

import "context"

// shrinkSteps are the executors of taking seats out of a rig.
func shrinkSteps() map[StepKind]executor {
	return map[StepKind]executor{
		StepEndKept:    {do: doEndKept},
		StepSeatDelete: {commit: commitSeatRemoved},
		StepPodDelete:  {commit: commitPodRemoved},
	}
}

// commitSeatRemoved takes a seat that has no occupant any more out of its rig.
// Its tenures and events stay.
func commitSeatRemoved(_ context.Context, r *run, s Step, tx Tx) (Evidence, error) {
	seat, err := tx.Seat(s.Args["seat_id"])
	if err != nil {
		return nil, err
	}
	if genTag(seat.Generation) != s.Args["generation"] {
		return nil, Errorf(CodeConflict, "%s changed its occupant meanwhile", s.Seat).WithHint("look at `rig seat status %s`", s.Seat)
	}
	if _, bound, err := lookup(tx.Binding(seat.ID)); err != nil {
		return nil, err
	} else if bound {
		return nil, Errorf(CodeConflict, "%s still has an occupant", s.Seat).WithHint("run it again")
	}
	if err := keepWork(tx, s, seat, s.Seat); err != nil {
		return nil, err
	}
	ev := Evidence{"generation": seat.Generation, "forked_from": seat.ForkedFrom, "session": r.endOf(s)}
	if err := r.event(tx, "seat.removed", seat, s.Seat, ev); err != nil {
		return nil, err
	}
	if err := forgetNotes(tx, seat.ID); err != nil {
		return nil, err
	}
	r.settle(SeatReceipt{Seat: s.Seat, Action: "removed", Generation: seat.Generation, Evidence: ev})
	return ev, tx.DeleteSeat(seat.ID)
}

// keepWork refuses to forget a seat that was asked for something after its plan was
// made: nobody waits for the seat's lease to ask for work.
func keepWork(tx Tx, s Step, seat Seat, address string) error {
	if s.Args["drop_work"] != "" {
		return nil
	}
	items, err := tx.Work(seat.ID)
	for _, it := range items {
		if it.State != WorkDone {
			return Errorf(CodeWorkOpen, "it was asked for something meanwhile: %s", it.Title).On("remove", address).
				WithHint("hand the work to another seat first (`rig work handoff`), or --drop-work loses it")
		}
	}
	return err
}

// forgetNotes removes what the record keeps of a seat beside its rows: where its
// first conversation was to come from, and how its compaction was managed.
func forgetNotes(tx Tx, seatID string) error {
	sessions, err := tx.Sessions(seatID)
	if err != nil {
		return err
	}
	keys := []string{declaredKey(seatID), managedKey(seatID), unauditedKey(seatID)}
	for _, s := range sessions {
		keys = append(keys, compactionSeenKey(s.ID))
	}
	for _, key := range keys {
		if err := tx.SetMeta(key, ""); err != nil {
			return err
		}
	}
	return nil
}

// endOf says in a word what became of a removed seat's session.
func (r *run) endOf(s Step) string {
	if _, released := r.index[s.Seat+"/release"]; released {
		return "released"
	}
	if _, stopped := r.index[s.Seat+"/stop"]; stopped {
		return "stopped"
	}
	return "none"
}

// commitPodRemoved forgets a pod that has no seats any more.
func commitPodRemoved(_ context.Context, r *run, s Step, tx Tx) (Evidence, error) {
	rig, err := tx.Rig(s.Args["rig_id"])
	if err != nil {
		return nil, err
	}
	seats, err := tx.Seats(rig.ID)
	if err != nil {
		return nil, err
	}
	for _, seat := range seats {
		if seat.PodID == s.Args["pod_id"] {
			return nil, Errorf(CodeConflict, "the pod %s got a seat meanwhile", s.Args["pod"]).WithHint("run it again")
		}
	}
	if err := tx.DeletePod(s.Args["pod_id"]); err != nil {
		return nil, err
	}
	return r.rigEvent(tx, "pod.removed", rig, Evidence{"pod": s.Args["pod"]})
}
