package engine

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
)

// Step kinds of a restore.
const (
	StepRestoreBegin StepKind = "begin_restore"
	StepRestoreLeave StepKind = "commit_left"
)

// restoreSteps are the step kinds of snapshots and restores.
func restoreSteps() map[StepKind]executor {
	return map[StepKind]executor{
		StepSnapshotLook: {do: doSnapshotLook},
		StepSnapshotMade: {commit: commitSnapshot},
		StepRestoreBegin: {do: doRestoreBegin},
		StepRestoreLeave: {commit: commitLeft},
	}
}

func (r *run) restores() []*restoring {
	v, _ := r.plan.Input(restoreInput)
	list, _ := v.([]*restoring)
	return list
}

// doRestoreBegin puts the attempt on record: what it stands on, whom it judges
// and whom it leaves out.
func doRestoreBegin(ctx context.Context, r *run, s Step) (Evidence, error) {
	for _, it := range r.restores() {
		if it.rig.ID != s.Args["rig_id"] {
			continue
		}
		ev := Evidence{
			"attempt": r.plan.ID, "selection": it.choice.SnapshotSelection, "intended": it.intended, "excluded": it.excluded,
			"pre_restore": r.saw(it.rig.Name + "/snapshot").Str("snapshot_id"),
		}
		return ev, r.lease.fenced(ctx, func(tx Tx) error {
			rig, err := tx.Rig(it.rig.ID)
			if err != nil {
				return err
			}
			if !rig.StoppedAt.IsZero() && it.launches > 0 {
				rig.StoppedAt = time.Time{}
				if err := tx.UpdateRig(&rig); err != nil {
					return err
				}
			}
			_, err = r.rigEvent(tx, "restore.started", rig, ev)
			return err
		})
	}
	return nil, Errorf(CodeInternal, "the plan restores nothing of this rig")
}

// commitLeft records why a seat was left as it is. Its occupants, binding and
// resume token are not touched.
func commitLeft(_ context.Context, r *run, s Step, tx Tx) (Evidence, error) {
	seat, err := tx.Seat(s.Args["seat_id"])
	if err != nil {
		return nil, err
	}
	if genTag(seat.Generation) != s.Args["generation"] {
		return nil, Errorf(CodeConflict, "%s changed its occupant meanwhile", s.Seat).WithHint("look at `rig seat status %s`", s.Seat)
	}
	outcome := Continuity(s.Args["outcome"])
	e := Errorf(Code(s.Args["code"]), "%s", s.Args["why"]).WithHint("%s", s.Args["hint"])
	if outcome == ContinuityAwaiting {
		e.Code = CodeAwaiting
		e = e.With("cause", s.Args["code"])
	}
	seat.Continuity, seat.LastError, seat.UpdatedAt = outcome, s.Args["why"]+" → "+s.Args["hint"], r.e.d.Clock.Now()
	if err := tx.UpdateSeat(&seat); err != nil {
		return nil, err
	}
	ev := Evidence{"outcome": string(outcome), "code": s.Args["code"], "why": s.Args["why"], "remedy": s.Args["hint"], "started": false}
	r.settle(SeatReceipt{
		Seat: s.Seat, Outcome: outcome, Action: "not_started", Binding: BindingUnchanged, Generation: seat.Generation,
		Evidence: ev, Error: e,
	})
	return ev, r.event(tx, "seat.not_restored", seat, s.Seat, ev)
}

// RestoreResult sums up what a restore of one rig came to.
type RestoreResult string

// Results of a restore. RestoreNothingDown says that every intended seat ran already.
const (
	RestoreFull         RestoreResult = "fully_restored"
	RestorePartial      RestoreResult = "partially_restored"
	RestoreFailed       RestoreResult = "failed"
	RestoreNotAttempted RestoreResult = "not_attempted"
	RestoreNothingDown  RestoreResult = "already_running"
)

// RestoreVerdict is the part of a receipt that tells of one rig's restore.
type RestoreVerdict struct {
	Rig       string            `json:"rig"`
	RigID     string            `json:"rig_id"`
	Result    RestoreResult     `json:"result"`
	Selection SnapshotSelection `json:"selection"`
	Intended  []string          `json:"intended_seats"` // addresses
	Excluded  []ExcludedSeat    `json:"excluded_seats"`
	Counts    map[string]int    `json:"counts"`        // by outcome or action
	Why       *Error            `json:"why,omitempty"` // why nothing was attempted
}

// rollUp sums outcomes up. Shells that came back primed have no conversation and
// stay out of it, as do seats that ran already. A fresh start is never counted as
// a recovery.
func rollUp(intended []string, seats map[string]SeatReceipt, terminal map[string]bool) (RestoreResult, map[string]int) {
	counts := map[string]int{}
	judged, failed, undecided, short, back := 0, 0, 0, 0, 0
	for _, address := range intended {
		s, told := seats[address]
		word := cmp.Or(string(s.Outcome), s.Action)
		if !told {
			s.Outcome, word = ContinuityFailed, "no restore outcome recorded"
		}
		counts[word]++
		switch {
		case told && s.Action == "already_running":
			continue
		case s.Outcome == ContinuityFreshPrimed && terminal[address]:
			back++
			continue
		}
		judged++
		switch s.Outcome {
		case ContinuityFailed, ContinuityNone:
			failed++
		case ContinuityAwaiting:
			undecided++
		case ContinuityFresh, ContinuityFreshPrimed, ContinuityAttention:
			short++
		case ContinuityResumed, ContinuityForked, ContinuityRebuilt, ContinuityRecovered:
		}
	}
	switch {
	case judged == 0 && back > 0:
		return RestoreFull, counts
	case judged == 0 && len(intended) > 0:
		return RestoreNothingDown, counts
	case judged == failed, failed > 0 && back == 0 && judged == failed+undecided: // nothing came back
		return RestoreFailed, counts
	case failed+undecided+short > 0:
		return RestorePartial, counts
	}
	return RestoreFull, counts
}

// judgeRestore adds the verdict of every rig to a receipt. It is clean only when
// everything that was intended is back.
func (r *run) judgeRestore(rec *Receipt) {
	list := r.restores()
	if len(list) == 0 {
		return
	}
	seats := map[string]SeatReceipt{}
	for _, s := range rec.Seats {
		seats[s.Seat] = s
	}
	verdicts := make([]RestoreVerdict, 0, len(list))
	for _, it := range list {
		v := RestoreVerdict{
			Rig: it.rig.Name, RigID: it.rig.ID, Selection: it.choice.SnapshotSelection,
			Intended: append([]string{}, it.intended...), Excluded: append([]ExcludedSeat{}, it.excluded...),
		}
		v.Result, v.Counts = rollUp(it.intended, seats, it.terminals(r))
		if it.refused != nil {
			v.Result, v.Why = RestoreNotAttempted, AsError(it.refused)
		}
		rec.OK = rec.OK && (v.Result == RestoreFull || v.Result == RestoreNothingDown)
		verdicts = append(verdicts, v)
	}
	slices.SortFunc(verdicts, func(a, b RestoreVerdict) int { return strings.Compare(a.Rig, b.Rig) })
	if rec.Extra == nil {
		rec.Extra = map[string]any{}
	}
	rec.Extra["restore"] = verdicts
}

// terminals are the seats of the rig that have no conversation by nature.
func (it *restoring) terminals(r *run) map[string]bool {
	out := map[string]bool{}
	for _, i := range r.plan.Intents {
		if i.Reason == "no_conversation_by_nature" {
			out[i.Seat] = true
		}
	}
	return out
}

// closeRestores appends the end of each rig's attempt, in the transaction that
// closes the operation.
func (r *run) closeRestores(tx Tx, rec *Receipt) error {
	verdicts, _ := rec.Extra["restore"].([]RestoreVerdict)
	for _, v := range verdicts {
		_, err := tx.AppendEvent(Event{
			At: r.e.d.Clock.Now(), Type: "restore.completed", RigID: v.RigID, Rig: v.Rig, OpID: r.plan.ID,
			Operator: r.plan.Operator.String(), Payload: mustJSON(map[string]any{"attempt": r.plan.ID, "result": v.Result, "counts": v.Counts}),
		})
		if err != nil {
			return err
		}
	}
	return nil
}
