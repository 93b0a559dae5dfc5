package engine

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// StepClearAttention records that an attention was cleared.
const StepClearAttention StepKind = "commit_attention_cleared"

// commitClearAttention clears the planned classes: state only. Nothing is
// relaunched, ended or bound to another session, and an outcome becomes
// operator_recovered, never a claim of continuity.
func commitClearAttention(_ context.Context, r *run, s Step, tx Tx) (Evidence, error) {
	v, _ := r.plan.Input(clearingInput)
	c, ok := v.(*clearing)
	if !ok {
		return nil, Errorf(CodeInternal, "the plan holds no judgement")
	}
	seat, err := unchangedSeat(tx, s)
	if err != nil {
		return nil, err
	}
	session, err := tx.Session(s.Args["session_id"])
	if err != nil {
		return nil, err
	}
	ev := Evidence{
		"code": "cleared", "from": c.from, "to": string(StartupReady), "cleared_by": c.clearedBy, "cleared_classes": c.classes,
		"evidence": c.evidence, "previous_error": cmp.Or(session.StartupNote, seat.LastError), "session_name": session.Name,
	}
	if err := clearClasses(tx, r, &seat, &session, c); err != nil {
		return nil, err
	}
	if captureToken(&session, c.identity) {
		session.LastVerified = r.e.d.Clock.Now()
		ev["resume_token"] = "captured"
		if err := settleFork(tx, &seat, &session); err != nil {
			return nil, err
		}
	}
	if c.tokenWhy != "" {
		ev[tokenWhyKey] = c.tokenWhy
	}
	if slices.Equal(c.classes, []string{ClassOutcome}) {
		ev["to"] = string(ContinuityRecovered)
	}
	if err := tx.UpdateSession(&session); err != nil {
		return nil, err
	}
	if err := tx.UpdateSeat(&seat); err != nil {
		return nil, err
	}
	receipt := SeatReceipt{Seat: s.Seat, Action: "attention_cleared", Generation: seat.Generation, Evidence: ev}
	if slices.Contains(c.classes, ClassOutcome) {
		receipt.Outcome = ContinuityRecovered
	}
	r.settle(receipt)
	return ev, r.event(tx, "seat.attention_cleared", seat, s.Seat, ev)
}

// clearClasses changes what each class stands on.
func clearClasses(tx Tx, r *run, seat *Seat, session *Session, c *clearing) error {
	for _, class := range c.classes {
		switch class {
		case ClassStartup:
			session.Startup, session.StartupNote, seat.LastError = StartupReady, "", ""
		case ClassOutcome:
			seat.Continuity = ContinuityRecovered
		case ClassIdentity:
			if err := repoint(tx, r, session, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// repoint makes the verified process the recorded one, and stores the verdict.
func repoint(tx Tx, r *run, session *Session, c *clearing) error {
	start, ok, err := r.e.d.Procs.Start(c.pid)
	if err != nil || !ok {
		return Errorf(CodeNotResponsive, "process %d is gone again", c.pid).WithHint("look at the pane, then try again")
	}
	session.PID, session.PIDStart = c.pid, start
	b, err := tx.Binding(session.SeatID)
	if err != nil {
		return err
	}
	b.PanePID, b.UpdatedAt = c.panePID, r.e.d.Clock.Now()
	if err := tx.PutBinding(b); err != nil {
		return err
	}
	return tx.PutVerdict(Verdict{
		SeatID: session.SeatID, SessionID: session.ID, Pane: b.Pane, Verdict: VerdictVerified,
		Reason: strings.TrimSpace("re-verified by " + r.plan.Operator.String()), At: r.e.d.Clock.Now(),
	})
}

// captureToken keeps a native id that the running client proved, when none is on
// record: a start that waited at a gate had none to record.
func captureToken(session *Session, id Identity) bool {
	if !id.Proven || id.Token.Empty() || !session.Token.Empty() || id.Provenance.Rank() < session.Provenance.Rank() {
		return false
	}
	session.Token, session.Provenance = id.Token, id.Provenance
	return true
}
