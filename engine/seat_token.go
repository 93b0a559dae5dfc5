package engine

import (
	"cmp"
	"context"
	"strings"
)

// StepSetToken records an operator's resume token.
const StepSetToken StepKind = "commit_resume_token"

// tokenInput is where planning leaves the checked token for the commit.
const tokenInput = "token"

// resumeTypes names the kind of id that each runtime resumes by.
var resumeTypes = map[RuntimeName]string{RuntimeClaude: "claude_id", RuntimeCodex: "codex_id"}

// planSetToken plans the replacement of the resume token of a seat's occupant by
// one that an operator vouches for. The token is the request's Secret: it goes
// from the caller's memory into the one column, and nowhere else. Setting it
// proves nothing about continuity.
func planSetToken(ctx context.Context, e *Engine, w *world, p *Plan) error {
	if err := needReason(p); err != nil {
		return err
	}
	s, err := e.planSeat(ctx, w, p)
	if err != nil {
		return err
	}
	s.command("set-resume-token", "--token-stdin")
	kind, agent := resumeTypes[s.seat.Runtime]
	if !agent {
		s.block(CodeUnsupportedKind, "only claude-code and codex seats have one", "a %s has no conversation to resume", s.seat.Runtime)
	}
	if !s.had() {
		s.block(CodeNoSession, "launch it once, then set the token", "the seat never had an occupant")
	}
	if agent {
		s.checkToken(ctx, p.Request.Secret)
	}
	s.change("resume token", tokenWord(s.last.Token, s.last.Provenance), "the one you gave (operator)")
	s.stays("the running process: nothing is typed and nothing is restarted", "the continuity outcome: a token on record proves nothing",
		"name, seat id, role, edges and inbound work of "+s.address)
	p.Phases = append(p.Phases, Phase{ID: "token", Title: "Set the resume token of " + s.address, Steps: []Step{
		s.step("token", StepSetToken, EffectCommit, "record the token as the operator's, and the event (redacted)",
			"session_id", s.last.ID, "resume_type", kind, "previous_provenance", string(s.last.Provenance)),
	}})
	return nil
}

func tokenWord(t ResumeToken, from Provenance) string {
	if t.Empty() {
		return "none"
	}
	return "on record (" + cmp.Or(string(from), "unknown source") + ")"
}

// checkToken validates the given token and leaves it for the commit. No message
// quotes it.
func (s *seatPlan) checkToken(ctx context.Context, given Secret) {
	if strings.TrimSpace(given.Reveal()) == "" {
		what := "empty"
		if !given.Empty() {
			what = "blank"
		}
		s.block(CodeMissingToken, "pipe the whole id into --token-stdin", "standard input was %s", what)
		return
	}
	id, err := CheckNativeID(s.seat.Runtime, given.Reveal())
	if err == nil {
		var rt Runtime
		if rt, err = s.e.runtime(s.seat.Runtime); err == nil {
			err = rt.ValidToken(id)
		}
	}
	if err != nil {
		e := AsError(err)
		s.block(CodeInvalidToken, e.Hint, "%s", e.Msg)
		return
	}
	if s.e.namesParent(ctx, s.seat, id) {
		s.block(CodeForeignToken, "give the id of the seat's own conversation", "that id is the conversation that the seat was forked from")
	}
	s.fact("new token", secretDigest(strings.ToLower(id)))
	token := NewResumeToken(id)
	s.p.SetInput(tokenInput, &token) // behind a pointer: a printed plan shows an address
	if s.live() {
		if p, rt := s.probe(ctx); rt != nil {
			if seen := rt.Identify(ctx, p); seen.Proven && !SameNativeID(seen.Token.Reveal(), id) {
				s.p.Warnings = append(s.p.Warnings, "the running client names another conversation; your word outranks it from now on")
			}
		}
	}
	s.checkOwner(ctx, id)
}

// checkOwner refuses an id that is on record as another seat's conversation, also
// of a former occupant: a parent's id never becomes a seat's own.
func (s *seatPlan) checkOwner(ctx context.Context, id string) {
	err := s.e.d.Store.Read(ctx, func(r Reader) error {
		for _, seat := range s.w.rec.Seats {
			rows, err := r.Sessions(seat.ID)
			if err != nil {
				return err
			}
			for _, row := range rows {
				if !SameNativeID(row.Token.Reveal(), id) || row.ID == s.last.ID {
					continue
				}
				whose := occupantName(s.w.address(seat), row.Generation)
				if seat.ID != s.seat.ID {
					s.block(CodeForeignToken, "`rig handover "+s.address+" --source fork:"+s.w.address(seat)+" --reason …` continues from it under an id of its own",
						"that id is the conversation of %s", whose)
					return nil
				}
				s.p.Warnings = append(s.p.Warnings, "that id is the conversation of "+whose)
			}
		}
		return nil
	})
	if err != nil {
		s.p.BlockSeat(s.address, err)
	}
}

// commitToken writes the token to the occupant's row with the operator's rank,
// which no weaker source overwrites.
func commitToken(_ context.Context, r *run, s Step, tx Tx) (Evidence, error) {
	v, _ := r.plan.Input(tokenInput)
	token, ok := v.(*ResumeToken)
	if !ok || token.Empty() {
		return nil, Errorf(CodeInternal, "the plan holds no token")
	}
	seat, err := unchangedSeat(tx, s)
	if err != nil {
		return nil, err
	}
	session, err := tx.Session(s.Args["session_id"])
	if err != nil {
		return nil, err
	}
	previous := session.Provenance
	session.Token, session.Provenance, session.LastVerified = *token, ProvenanceOperator, r.e.d.Clock.Now()
	if err := tx.UpdateSession(&session); err != nil {
		return nil, err
	}
	ev := Evidence{
		"session_name": session.Name, "session_id": session.ID, "generation": session.Generation, "resume_type": s.Args["resume_type"],
		"previous_provenance": string(previous), "provenance": string(ProvenanceOperator), "redacted": true,
	}
	r.settle(SeatReceipt{Seat: s.Seat, Action: "resume_token_set", Generation: seat.Generation, Evidence: ev})
	return ev, r.event(tx, "session.resume_token_set", seat, s.Seat, map[string]any{
		"session_name": session.Name, "session_id": session.ID, "resume_type": s.Args["resume_type"],
		"previous_provenance": string(previous), "new_provenance": string(ProvenanceOperator), "source": "operator_set", "redacted": true,
	})
}

// NoteTokenRefusal puts a refused token on record: who tried, when and why not,
// never what. Planning writes nothing, so the caller of a plan that was meant to
// be applied does it. A seat that cannot be told gets no event.
func (e *Engine) NoteTokenRefusal(ctx context.Context, r Request, cause error) error {
	w, err := e.look(ctx)
	if err != nil {
		return err
	}
	seat, err := w.seat(r.Target)
	if err != nil {
		return nil //nolint:nilerr // there is no seat to put it on
	}
	by := r.Operator
	if by.Name == "" {
		by = e.Operator()
	}
	c := AsError(cause)
	return e.d.Store.Write(ctx, func(tx Tx) error {
		_, err := tx.AppendEvent(Event{
			At: e.d.Clock.Now(), Type: "session.resume_token_refused", RigID: seat.RigID, SeatID: seat.ID, Seat: w.address(seat),
			Rig: w.rigs[seat.RigID].Name, Operator: by.String(),
			Payload: mustJSON(map[string]any{
				"session_name": w.latest[seat.ID].Name, "generation": seat.Generation, "code": c.Code, "why": c.Msg, "reason": r.Reason, "redacted": true,
			}),
		})
		return err
	})
}
