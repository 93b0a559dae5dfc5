package engine

import (
	"cmp"
	"context"
	"fmt"
	"strings"
)

// verdict is what a restore does with one seat that does not run, and why.
type verdict struct {
	start   *seatStart // nil: nothing is started
	action  string     // of a start: resume-original, fresh-primed, launch
	outcome Continuity // without a start: awaiting-decision or failed
	code    Code
	why     string
	hint    string // what resolves it, in words with the command
	conv    ConversationState
}

func (j verdict) intent(address string) Intent {
	if j.start != nil {
		return Intent{address, j.action, j.why}
	}
	return Intent{address, string(j.outcome), j.why}
}

// Codes of seats that a restore leaves as they are.
const (
	CodeAwaiting    Code = "awaiting_decision"    // a person must say what is to become of it
	CodeNoToken     Code = "no_resume_token"      // nothing to continue is on record
	CodeNeverAsked  Code = "never_prompted"       // there is no conversation yet
	CodeNotYet      Code = "not_yet_resumable"    // a fork that has written nothing of its own yet
	CodeLost        Code = "conversation_gone"    // its conversation is not on disk
	CodeElsewhere   Code = "conversation_live"    // a process has it open
	CodeBlockedConv Code = "conversation_blocked" // it is there and cannot be resumed as it is
	CodeSharedConv  Code = "conversation_shared"  // another seat is to continue it
)

// judge classifies a seat that does not run: its own conversation if it can be
// continued, a fresh start if asked for by name or natural, else a decision for
// a person.
func (v *revival) judge(ctx context.Context, seat Seat, c StartupContext, address string, fresh bool) verdict {
	last, had := v.w.latest[seat.ID]
	primed := func(why string) verdict {
		st := &seatStart{Address: address, Start: StartFresh{}, Kind: "fresh", Good: ContinuityFreshPrimed}
		return verdict{start: st, action: string(ContinuityFreshPrimed), why: why}
	}
	switch {
	case seat.Runtime == RuntimeTerminal:
		return primed("no_conversation_by_nature")
	case fresh:
		return primed("asked for by name")
	case !had:
		return v.first(ctx, seat, c, address)
	case seat.RestorePolicy == RestoreFresh:
		return primed("its restore_policy is relaunch_fresh")
	}
	j := v.e.continuable(ctx, v.w, seat, last, true)
	switch {
	case j.code == CodeNeverAsked && v.opt.unprompted:
		return primed("never prompted, and --fresh-unprompted was given")
	case j.outcome != "":
		return j
	}
	if why := v.heldBy(seat, last); why != "" {
		j.outcome, j.code, j.why, j.hint = ContinuityAwaiting, CodeSharedConv, "its conversation is also on record for "+why, v.freshHint(seat)
		return j
	}
	v.claimed[strings.ToLower(last.Token.Reveal())] = address
	j.start = &seatStart{Address: address, Start: StartResume{Token: last.Token}, Kind: "restore", Good: ContinuityResumed}
	j.action = "resume-original"
	return j
}

// heldBy says which other seat has an occupant's conversation on record and is to
// continue it, or runs or may run with it: a conversation never gets two. "" is none.
func (v *revival) heldBy(seat Seat, last Session) string {
	if other, taken := v.claimed[strings.ToLower(last.Token.Reveal())]; taken {
		return other + ", which is to continue it"
	}
	for _, s := range v.w.rec.Seats {
		if s.ID == seat.ID || !SameNativeID(v.w.latest[s.ID].Token.Reveal(), last.Token.Reveal()) {
			continue
		}
		switch at := v.w.locate(s.ID); {
		case at.presence == Unknown:
			return v.w.address(s) + ", which may run: " + at.why
		case at.presence == Present && !at.dead:
			return v.w.address(s) + ", which runs"
		}
	}
	return ""
}

func (v *revival) freshHint(seat Seat) string { return freshHint(v.w, seat) }

func freshHint(w *world, seat Seat) string {
	return "`" + CommandLine("rig", "up", w.rigs[seat.RigID].Name, "--fresh", seat.Logical()) + "` starts it anew on purpose"
}

// first is the start of a seat that never had an occupant.
func (v *revival) first(ctx context.Context, seat Seat, c StartupContext, address string) verdict {
	st, intent := v.e.firstStart(ctx, v.p, seat, c, address)
	if st == nil {
		return verdict{outcome: ContinuityAwaiting, code: CodeAwaiting, why: intent.Reason, hint: v.freshHint(seat)}
	}
	return verdict{start: st, action: intent.Action, why: intent.Reason}
}

// continuable judges whether an occupant's own conversation could be continued.
// An outcome in the answer says that it could not. With now, a process that has
// it open stands against it; a machine that reboots ends every process.
func (e *Engine) continuable(ctx context.Context, w *world, seat Seat, last Session, now bool) verdict {
	rigName := w.rigs[seat.RigID].Name
	wait := func(code Code, why, hint string) verdict {
		return verdict{outcome: ContinuityAwaiting, code: code, why: why, hint: hint}
	}
	if seat.RestorePolicy == RestoreCheckpoint {
		return wait(CodeAwaiting, "its restore_policy is checkpoint_only: its conversation is not to be resumed, and there is no checkpoint to start from", freshHint(w, seat))
	}
	again := "then `" + CommandLine("rig", "up", rigName) + "`"
	if last.Token.Empty() {
		if at := w.locate(seat.ID); last.Startup == StartupAttention && at.presence == Present && !at.dead { // a gate was in the way when it started
			return wait(CodeNoToken, "its client asked something when it started, so its conversation was not recorded",
				"answer it, then `rig seat clear-attention "+w.address(seat)+" --reason …` records it")
		}
		return wait(CodeNoToken, "no resume token on record",
			freshHint(w, seat)+"; `rig seat set-resume-token "+w.address(seat)+" --token-stdin --reason …` gives it one")
	}
	rt, err := e.runtime(seat.Runtime)
	if err != nil {
		return verdict{outcome: ContinuityFailed, code: CodeOf(err), why: AsError(err).Msg, hint: AsError(err).Hint}
	}
	conv := rt.Conversation(ctx, last.Token.Reveal(), seat.Cwd, last.Homes)
	var j verdict
	switch {
	case conv.Live && now:
		j = wait(CodeElsewhere, fmt.Sprintf("its conversation is open in process %d", conv.LivePID),
			fmt.Sprintf("end process %d, %s; or %s", conv.LivePID, again, freshHint(w, seat)))
	case conv.Exists == Absent && e.neverPrompted(ctx, w, seat, last):
		j = wait(CodeNeverAsked, "it was never prompted, so there is no conversation to continue",
			"`"+CommandLine("rig", "up", rigName, "--fresh-unprompted")+"` starts every such seat anew; or "+freshHint(w, seat))
	case conv.Exists == Absent && last.Continuity == ContinuityForked && e.askedNothing(ctx, seat, last):
		j = wait(CodeNotYet, "it was forked and nobody prompted it since, so it has written nothing of its own yet",
			"its source is untouched: `rig fork` and `rig handover` fork from it again; or "+freshHint(w, seat))
	case conv.Exists == Absent:
		j = wait(CodeLost, cmp.Or(conv.Why, "its conversation is not on disk"), "bring its file back, "+again+"; or "+freshHint(w, seat))
	case conv.Exists == Unknown:
		j = wait(CodeUnavailable, cmp.Or(conv.Why, "whether its conversation exists cannot be told"), "make it readable, "+again)
	case conv.Details["blocks"] == true:
		j = wait(CodeBlockedConv, cmp.Or(conv.Why, "it cannot be resumed as it is"), "correct that, "+again+"; or "+freshHint(w, seat))
	default:
		j.why = "its conversation is on disk"
		if now && e.movedUnseen(last) {
			conv.Caveats = append([]string{leftCaveat}, conv.Caveats...)
		}
		if len(conv.Caveats) > 0 {
			j.why += " (" + conv.Caveats[0] + ")"
		}
	}
	j.conv = conv
	return j
}

// neverPrompted reports positive evidence that an occupant began a conversation
// of its own and was never asked anything.
func (e *Engine) neverPrompted(ctx context.Context, w *world, seat Seat, last Session) bool {
	began := last.Continuity == ContinuityFresh || last.Continuity == ContinuityFreshPrimed
	return began && (e.askedNothing(ctx, seat, last) || e.holdsUnwritten(ctx, w, seat, last))
}

// holdsUnwritten reports that the occupant runs, holds the conversation on record
// open and has written nothing of it.
func (e *Engine) holdsUnwritten(ctx context.Context, w *world, seat Seat, last Session) bool {
	at := w.locate(seat.ID)
	rt, err := e.runtime(seat.Runtime)
	if err != nil || at.presence != Present || at.dead || last.Generation != seat.Generation || seat.ContextDelivered {
		return false
	}
	return e.unwritten(ctx, target{seat: seat, session: last, address: w.address(seat), pane: at.pane, rt: rt})
}

// unwritten asks a running client whether it holds the conversation on record open and
// has written nothing of it.
func (e *Engine) unwritten(ctx context.Context, t target) bool {
	id := t.rt.Identify(ctx, t.probe(e, Screen{}))
	return id.Proven && id.Unwritten && SameNativeID(id.Token.Reveal(), t.session.Token.Reveal())
}

// askedNothing reports positive evidence that nobody prompted an occupant: its own
// hooks tell of its start and of no prompt, or it had written nothing when it was
// stopped; and no sample of it was ever taken. Without evidence the answer is
// no: a conversation that was lost must not pass for one that never was.
func (e *Engine) askedNothing(ctx context.Context, seat Seat, last Session) bool {
	if last.Generation != seat.Generation || seat.ContextDelivered {
		return false
	}
	used, unwritten := false, false
	err := e.d.Store.Read(ctx, func(r Reader) error {
		samples, err := r.UsageSamples(seat.ID, 50)
		for _, s := range samples {
			used = used || (s.SessionID == last.ID && s.Known && s.Tokens > 0 && last.Continuity != ContinuityForked) // a fork has its source's context
		}
		if err == nil {
			unwritten, err = stoppedUnprompted(r, seat)
		}
		return err
	})
	if err != nil || used {
		return false
	}
	if unwritten {
		return true
	}
	sig, err := e.d.Occupants.Signals(last.ID)
	if err != nil || sig.Older { // a prompt may be among those that are not handed out
		return false
	}
	started := false
	for _, h := range sig.Hooks {
		switch h.Event {
		case "SessionStart":
			started = true
		case "SessionEnd", "Notification":
		default:
			return false
		}
	}
	return started
}
