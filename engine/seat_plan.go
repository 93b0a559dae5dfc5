package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// The verbs on exactly one seat. Their names are two words, as they are typed.
const (
	VerbSeatStop       Verb = "seat stop"
	VerbSeatClean      Verb = "seat clean"
	VerbSeatLaunch     Verb = "seat launch"
	VerbSetModel       Verb = "seat set-model"
	VerbSetToken       Verb = "seat set-resume-token"
	VerbClearAttention Verb = "seat clear-attention"
)

// Codes of the seat verbs.
const (
	CodeNoSession       Code = "no_session"       // the seat never had an occupant
	CodeClaimedSession  Code = "claimed_session"  // the occupant is the operator's own session
	CodeSessionNotLive  Code = "session_not_live" // positively nothing runs in the seat
	CodeSessionLive     Code = "session_live"     // something runs in the seat
	CodeNothingToClean  Code = "nothing_to_clean" // no binding, and each occupant has ended on record
	CodeFreshRequired   Code = "fresh_required"   // a seat launch is always deliberate
	CodeMissingModel    Code = "missing_model"    // no model was named
	CodeMissingToken    Code = "missing_token"    // standard input held no token
	CodeInvalidToken    Code = "invalid_token"    // not the form of a native id
	CodeNotInAttention  Code = "not_in_attention" // there is nothing to clear
	CodeNotResponsive   Code = "not_demonstrably_responsive"
	CodeCollision       Code = "unmanaged_session_collision" // a session of the seat's name is not the seat's
	CodeStartupMissing  Code = "startup_context_missing"
	CodeStartupBroken   Code = "startup_context_malformed"
	CodeAdapterMissing  Code = "runtime_adapter_missing"
	CodeForeignToken    Code = "token_of_another_seat"
	CodeUnsupportedKind Code = "runtime_unsupported"
)

// seatPlan is the planning of a verb about one seat: what the record and tmux say
// of it, and the plan that grows.
type seatPlan struct {
	e       *Engine
	w       *world
	p       *Plan
	seat    Seat
	address string
	last    Session // the occupant that the seat's row names; zero when it never had one
	next    int64   // generation of the next occupant: one more than any before
	binding Binding
	bound   bool
	at      where
}

// planSeat resolves the request's seat and puts what every seat verb stands on
// into the basis: generation and occupant.
func (e *Engine) planSeat(ctx context.Context, w *world, p *Plan) (*seatPlan, error) {
	seat, err := w.seat(p.Request.Target)
	if err != nil {
		return nil, err
	}
	s := &seatPlan{e: e, w: w, p: p, seat: seat, address: w.address(seat), at: w.locate(seat.ID)}
	err = e.d.Store.Read(ctx, func(r Reader) error {
		if s.last, err = currentSession(r, seat.ID); err != nil {
			return err
		}
		s.next, err = nextGeneration(r, seat.ID)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.binding, s.bound = w.bindings[seat.ID]
	p.Target = s.address
	p.Leases = []string{"seat:" + seat.ID}
	p.SetInput("seatid/"+s.address, seat.ID)
	s.fact("generation", itoa(seat.Generation))
	s.fact("session", strings.TrimSpace(strings.Join([]string{s.last.ID, string(s.last.Status), string(s.last.Origin)}, " ")))
	s.fact("token", strings.TrimSpace(secretDigest(s.last.Token.Reveal())+" "+string(s.last.Provenance)))
	return s, nil
}

// needReason refuses a request without a reason.
func needReason(p *Plan) error {
	if strings.TrimSpace(p.Reason) != "" {
		return nil
	}
	return Errorf(CodeMissingReason, "%s needs a reason", p.Verb).WithHint(`add --reason "…"; it goes into the audit log`)
}

// had reports whether the seat ever had an occupant.
func (s *seatPlan) had() bool { return s.last.ID != "" }

// live reports whether the bound pane is there and its process runs.
func (s *seatPlan) live() bool { return s.at.presence == Present && !s.at.dead }

func (s *seatPlan) fact(name, value string) { s.p.AddFact("seat/"+s.address+"/"+name, value) }

// whereFacts puts server, binding, pane and every open row into the basis.
func (s *seatPlan) whereFacts() {
	s.e.serverFact(s.w, s.p)
	blockUnseen(s.p, s.address, s.at)
	s.fact("binding", string(s.binding.Epoch)+" "+string(s.binding.Pane))
	s.fact("pane", s.at.presence.String()+" "+string(s.at.pane.ID)+deadWord(s.at.dead))
	for _, row := range s.w.live[s.seat.ID] {
		s.fact("open/"+itoa(row.Generation), row.ID+" "+string(row.Status))
	}
}

func (s *seatPlan) block(code Code, hint, format string, args ...any) {
	s.p.BlockSeat(s.address, Errorf(code, format, args...).WithHint("%s", hint))
}

// blockClaimed refuses to end, clear or replace what is the operator's own.
func (s *seatPlan) blockClaimed() {
	rows := s.w.live[s.seat.ID]
	for _, row := range rows {
		if row.Origin == OriginClaimed {
			s.block(CodeClaimedSession, "`rig release "+s.address+"` gives it back first; it keeps running",
				"its occupant %s is an adopted session of yours", row.Name)
			return
		}
	}
}

// command is the shell line of the plan.
func (s *seatPlan) command(verb string, flags ...string) {
	words := append([]string{"rig", "seat", verb, s.address}, flags...)
	if s.p.Reason != "" {
		words = append(words, "--reason", s.p.Reason)
	}
	s.p.Command = CommandLine(words...)
}

func (s *seatPlan) change(field, before, after string) {
	s.p.Changes = append(s.p.Changes, Change{Seat: s.address, Field: field, Before: before, After: after})
}

func (s *seatPlan) stays(texts ...string) { s.p.Unchanged = append(s.p.Unchanged, texts...) }

// occupantWord names who sits there now, "" when nobody is bound.
func (s *seatPlan) occupantWord() string {
	if !s.bound {
		return ""
	}
	return occupantName(s.address, s.seat.Generation)
}

// step makes a step of the plan; args come in pairs after the seat's row.
func (s *seatPlan) step(id string, kind StepKind, effect Effect, title string, args ...string) Step {
	st := Step{
		ID: s.address + "/" + id, Kind: kind, Seat: s.address, Effect: effect, Title: title,
		Args: map[string]string{"seat_id": s.seat.ID, "generation": itoa(s.seat.Generation)},
	}
	for i := 0; i+1 < len(args); i += 2 {
		st.Args[args[i]] = args[i+1]
	}
	return st
}

// unchangedSeat reads the seat of a commit step and refuses when its occupant is
// no longer the planned one.
func unchangedSeat(tx Tx, s Step) (Seat, error) {
	seat, err := tx.Seat(s.Args["seat_id"])
	if err == nil && genTag(seat.Generation) != s.Args["generation"] {
		err = Errorf(CodeConflict, "%s changed its occupant meanwhile", s.Seat).WithHint("look at `rig seat status %s`", s.Seat)
	}
	return seat, err
}

// secretDigest shortens a secret to something that can be compared and not be turned
// back.
func secretDigest(secret string) string {
	if secret == "" {
		return "none"
	}
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:8])
}
