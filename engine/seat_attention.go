package engine

import (
	"cmp"
	"context"
	"strings"
)

// Attention classes that clear-attention knows.
const (
	ClassStartup  = "startup_status" // the start needed a person, or failed
	ClassOutcome  = "outcome"        // the last change of occupant ended as attention or failed
	ClassIdentity = "pane_identity"  // another process than the recorded one is in the pane
)

// Who cleared an attention.
const (
	ClearedByEvidence    = "evidence"
	ClearedByAttestation = "operator_attestation"
)

// clearing is the judgement of one clear-attention.
type clearing struct {
	classes   []string
	from      string
	clearedBy string
	evidence  map[string]any
	identity  Identity // of the running client, when it proved one that is nobody else's
	tokenWhy  string   // why the id that it names is not taken
	pid       int      // the process that the pane was verified to hold, 0 = not looked for
	panePID   int
}

const clearingInput = "clearing"

// planClearAttention plans the end of an attention: by fresh evidence from the
// client's own files, or by the operator's word. Nothing is typed into the pane.
// A wrong process in the pane is only cleared by verifying it again.
func planClearAttention(ctx context.Context, e *Engine, w *world, p *Plan) error {
	s, err := e.planSeat(ctx, w, p)
	if err != nil {
		return err
	}
	s.command("clear-attention")
	s.whereFacts()
	s.fact("startup", string(s.last.Startup))
	s.fact("outcome", string(s.seat.Continuity))
	probe, rt := s.probe(ctx)
	c := clearing{classes: s.attentionClasses(probe, rt), evidence: map[string]any{}}
	s.fact("attention", strings.Join(c.classes, " "))
	switch {
	case w.inv.Server == Unknown:
	case len(c.classes) == 0:
		s.block(CodeNotInAttention, "`rig seat status "+s.address+"` says how it is", "there is no attention to clear")
	case !s.live():
		s.block(CodeNotResponsive, "`rig seat clean "+s.address+" --reason …` clears a dead occupant", "its occupant does not run: %s", s.at.why)
	case rt == nil:
		s.block(CodeAdapterMissing, "use a build that has it", "this build has no runtime %q", s.seat.Runtime)
	default:
		s.judge(ctx, rt, probe, &c)
	}
	s.fact("cleared by", c.clearedBy)
	p.SetInput(clearingInput, &c) // behind a pointer: it may hold a token
	s.describeClearing(c)
	p.Phases = append(p.Phases, Phase{ID: "clear", Title: "Clear the attention of " + s.address, Steps: []Step{
		s.step("clear", StepClearAttention, EffectCommit, "record it as cleared, and the event",
			"classes", strings.Join(c.classes, " "), "cleared_by", c.clearedBy, "session_id", s.last.ID),
	}})
	return nil
}

func (s *seatPlan) describeClearing(c clearing) {
	for _, class := range c.classes {
		switch class {
		case ClassStartup:
			s.change("startup status", string(s.last.Startup), string(StartupReady))
		case ClassOutcome:
			s.change("continuity outcome", string(s.seat.Continuity), string(ContinuityRecovered))
		case ClassIdentity:
			s.change("pane identity", VerdictMismatch, VerdictVerified)
		}
	}
	if c.clearedBy == ClearedByAttestation {
		s.p.Warnings = append(s.p.Warnings, "this rests on your word: what the client runs and where was not verified")
	}
	s.stays("the occupant, its pane and its conversation: nothing is typed, started or ended", "name, seat id, role, edges and inbound work of "+s.address)
}

// probe gathers what a judgement about the present occupant needs; rt is nil when
// this build has no adapter.
func (s *seatPlan) probe(ctx context.Context) (Probe, Runtime) {
	rt, err := s.e.runtime(s.seat.Runtime)
	if err != nil {
		return Probe{}, nil
	}
	t := target{seat: s.seat, session: s.last, address: s.address, guard: s.w.guard(s.seat), pane: s.at.pane, rt: rt}
	var screen Screen
	if s.live() {
		screen = s.e.screen(ctx, s.at.pane.ID)
	}
	return t.probe(s.e, screen), rt
}

// attentionClasses lists what waits for a person and can be cleared.
func (s *seatPlan) attentionClasses(p Probe, rt Runtime) []string {
	classes := []string{}
	if !s.had() || s.last.Status.Terminal() {
		return classes
	}
	if s.last.Startup == StartupAttention || s.last.Startup == StartupFailed {
		classes = append(classes, ClassStartup)
	}
	if s.seat.Continuity == ContinuityAttention || s.seat.Continuity == ContinuityFailed {
		classes = append(classes, ClassOutcome)
	}
	if s.live() && rt != nil && s.e.paneIdentity(p, s.binding, s.e.d.Procs.Start).Verdict == VerdictMismatch {
		classes = append(classes, ClassIdentity)
	}
	return classes
}

// judge looks for what clears each class, and blocks where nothing does.
func (s *seatPlan) judge(ctx context.Context, rt Runtime, p Probe, c *clearing) {
	c.clearedBy = ClearedByEvidence
	for _, class := range c.classes {
		switch class {
		case ClassStartup:
			c.from = string(s.last.Startup)
		case ClassOutcome:
			c.from = cmp.Or(c.from, string(s.seat.Continuity))
		case ClassIdentity:
			c.from = cmp.Or(c.from, string(StartupAttention))
			// Look at the pane, not at the record nor at what the former process reported.
			p.RunKnown, p.Run, p.Signals, p.Session.PID, p.Session.PIDStart = false, RunState{}, Signals{}, 0, ""
			if !s.verifyPane(ctx, rt, p, c) {
				return
			}
		}
	}
	s.identify(ctx, rt, p, c)
	if len(c.classes) == 1 && c.classes[0] == ClassIdentity {
		return
	}
	act := rt.Activity(ctx, p)
	if strings.TrimSpace(s.p.Reason) != "" {
		c.clearedBy = ClearedByAttestation
		c.evidence["attested"], c.evidence["runtime_verified"], c.evidence["seen"] = true, false, string(act.State)+reasonWord(act.Why)
		return
	}
	s.responsive(act, c)
}

// identify asks the running client for its conversation. One that is on record as
// another occupant's is not taken, and what cannot be told is not either: one
// conversation has one seat.
func (s *seatPlan) identify(ctx context.Context, rt Runtime, p Probe, c *clearing) {
	id := rt.Identify(ctx, p)
	if !id.Proven || id.Token.Empty() {
		return
	}
	if !s.last.Token.Empty() { // nothing is taken: it is only compared
		if !s.e.namesParent(ctx, s.seat, id.Token.Reveal()) {
			c.identity = id
		}
		return
	}
	switch whose, err := s.e.ownerBeside(ctx, s.w, s.seat, s.last, id); {
	case err != nil:
		c.tokenWhy = "whose conversation it is cannot be told: " + err.Error()
	case whose != "":
		c.tokenWhy = theirConversation + whose
	default:
		c.identity = id
		return
	}
	s.p.Warnings = append(s.p.Warnings, "the conversation that its client names is not recorded as the seat's: "+c.tokenWhy)
}

// responsive accepts fresh activity of high confidence; an outcome also needs the
// running conversation to be proven the recorded one.
func (s *seatPlan) responsive(act Activity, c *clearing) {
	hint := "`rig attach " + s.address + "` and answer it there, or vouch for it with --reason"
	if act.Confidence != ConfidenceHigh || (act.State != ActivityIdle && act.State != ActivityBusy) {
		s.block(CodeNotResponsive, hint, "it reads %s%s (%s, confidence %s)", act.State, reasonWord(act.Why), cmp.Or(act.Source, "no source"), act.Confidence)
		return
	}
	kind := "fresh_activity"
	if strings.Contains(strings.Join(c.classes, " "), ClassOutcome) && s.seat.Runtime != RuntimeTerminal {
		if !SameNativeID(c.identity.Token.Reveal(), s.last.Token.Reveal()) {
			s.block(CodeNotResponsive, hint, "it answers, but its conversation is not proven to be the recorded one")
			return
		}
		kind = "strict_runtime_truth"
	}
	c.evidence["kind"], c.evidence["state"], c.evidence["reason"] = kind, string(act.State), act.Why
	c.evidence["source"], c.evidence["rule"] = act.Source, act.Rule
}

// verifyPane proves that the seat's own conversation runs in its pane, though in
// another process than the recorded one.
func (s *seatPlan) verifyPane(ctx context.Context, rt Runtime, p Probe, c *clearing) bool {
	no := func(why string) bool {
		s.block(CodeNotResponsive, "`rig seat stop "+s.address+" --reason …` ends what is there, and a launch of the seat then continues its own conversation, where it has one; --reason cannot vouch for it",
			"another process runs in its pane, and it is not proven to be the seat's: %s", why)
		return false
	}
	c.panePID, c.pid = s.at.pane.PID, s.at.pane.PID
	var how string
	if s.seat.Runtime == RuntimeTerminal {
		confidence, why := rt.Hint(p.Pane, p.Screen.Lines, nil)
		if confidence == ConfidenceNone {
			return no("it does not look like a shell")
		}
		how = why
	} else {
		id := rt.Identify(ctx, p)
		switch {
		case !id.Proven || s.last.Token.Empty():
			return no(cmp.Or(id.Why, "no conversation of it is on record"))
		case !SameNativeID(id.Token.Reveal(), s.last.Token.Reveal()):
			return no("it runs another conversation")
		}
		how = id.Why
		if id.PID > 0 {
			c.pid = id.PID
		}
	}
	c.evidence["pane_identity"], c.evidence["pid"] = map[string]any{"kind": "pane_identity_reverified", "reason": how}, c.pid
	s.fact("verified process", itoa(int64(c.pid)))
	return true
}
