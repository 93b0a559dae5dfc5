package engine

import (
	"cmp"
	"context"
	"strings"
)

// VerbCompact compacts the conversation of one Claude seat, guided.
const VerbCompact Verb = "compact"

// CompactArgs are the arguments of `rig compact`.
type CompactArgs struct {
	SkipMap   bool `json:"skip_map,omitempty"`  // do not ask the seat for a restore map
	Automatic bool `json:"automatic,omitempty"` // the managed policy asks, not a person
	AuditOnly bool `json:"audit,omitempty"`     // the seat was compacted already: only its audit
}

// Step kinds of a guided compaction.
const (
	StepCompactPacket  StepKind = "compact_packet"
	StepCompactPrep    StepKind = "compact_prepare"
	StepCompactSend    StepKind = "compact_send"
	StepCompactProve   StepKind = "compact_prove"
	StepCompactRecord  StepKind = "compact_record"
	StepCompactRestore StepKind = "compact_restore"
	StepCompactAudit   StepKind = "compact_audit"
	StepCompactVerdict StepKind = "compact_verdict"
)

// compactSteps are the executors of a guided compaction.
func compactSteps() map[StepKind]executor {
	return map[StepKind]executor{
		StepCompactPacket:  {do: doCompactPacket},
		StepCompactPrep:    {do: doCompactPrep},
		StepCompactSend:    {do: doCompactSend, undo: undoCompactSend},
		StepCompactProve:   {do: doCompactProve},
		StepCompactRecord:  {commit: commitCompacted},
		StepCompactTell:    {do: doCompactTell},
		StepCompactRestore: {do: doCompactRestore},
		StepCompactAudit:   {do: doCompactAudit},
		StepCompactVerdict: {commit: commitVerdict},
	}
}

// planCompact plans prep, /compact, restore and audit of one seat. It is refused
// for every seat that a compaction cannot help: a compaction unblocks nothing.
func planCompact(ctx context.Context, e *Engine, w *world, p *Plan) error {
	args, err := DecodeArgs[CompactArgs](p.Request)
	if err != nil {
		return err
	}
	s, err := e.planSeat(ctx, w, p)
	if err != nil {
		return err
	}
	p.Detached = true
	p.Command = CommandLine(compactWords(s.address, args, p.Reason)...)
	s.whereFacts()
	policy, _, _ := RigCompaction(w.rigs[s.seat.RigID])
	if policy == nil {
		policy = &ClaudeCompaction{}
	}
	p.SetInput("compaction", *policy)
	s.fact("texts", secretDigest(policy.PreCompactInstruction+"\x00"+policy.CompactInstruction+"\x00"+policy.MessageInline+"\x00"+policy.PostRestoreAudit))
	s.blockCompact(ctx, args)
	s.compactPhases(args, policy.TellNeighbours)
	if args.AuditOnly {
		s.change("occupant lifecycle", string(s.seat.Lifecycle), string(LifecycleActive)+", if its audit passes")
		return nil
	}
	s.change("occupant lifecycle", string(s.seat.Lifecycle), string(LifecycleCompacted)+", until its audit passes")
	s.stays("seat, occupant, generation, binding, native id", "the client's own session, auth and transcript files: nothing of ours writes them")
	p.Warnings = append(p.Warnings, "what was said before is replaced by the client's own summary; that cannot be undone")
	return nil
}

func compactWords(address string, args CompactArgs, reason string) []string {
	words := []string{"rig", "compact", address}
	if args.SkipMap {
		words = append(words, "--skip-map")
	}
	if args.AuditOnly {
		words = append(words, "--audit")
	}
	if reason != "" {
		words = append(words, "--reason", reason)
	}
	return words
}

func (s *seatPlan) compactPhases(args CompactArgs, tell bool) {
	mode := "manual"
	if args.Automatic {
		mode = "automatic"
	}
	prepare := Phase{ID: "prepare", Title: "Phase A - prepare: what must survive is on disk first", Steps: []Step{
		s.step("packet", StepCompactPacket, EffectOneWay, "write the restore packet and check it on disk"),
	}}
	if !args.SkipMap {
		prepare.Steps = append(prepare.Steps, s.step("prep", StepCompactPrep, EffectOneWay, "ask the seat for its own restore map and wait until it is whole", "mode", mode))
	}
	compact := Phase{ID: "compact", Title: "Phase B - the client compacts its conversation", Steps: []Step{
		s.step("send", StepCompactSend, EffectOneWay, "type /compact once, when it is idle and its input box is empty", "mode", mode),
		s.step("prove", StepCompactProve, EffectNone, "prove it by the client's own record; a failure beats a proof"),
		s.step("record", StepCompactRecord, EffectCommit, "record: "+NotAudited),
	}}
	if to := s.w.neighbours(s.seat.ID); tell && len(to) > 0 {
		compact.Steps = append(compact.Steps, s.step("tell", StepCompactTell, EffectOneWay, "tell its neighbours, as the rig's policy says: "+strings.Join(to, ", "),
			"to", strings.Join(to, " ")))
	}
	after := Phase{ID: "restore", Title: "Phase C - restore and audit", Steps: []Step{
		s.step("restore", StepCompactRestore, EffectOneWay, "one typed line starts the restore that its hook was given"),
		s.step("audit", StepCompactAudit, EffectOneWay, "ask what it knows now: current work and next owner"),
		s.step("verdict", StepCompactVerdict, EffectCommit, "record whether the audit passed"),
	}}
	s.p.Phases = []Phase{prepare, compact, after}
	if args.AuditOnly {
		after.Steps = after.Steps[1:]
		s.p.Phases = []Phase{after}
	}
}

// blockCompact collects every reason why this seat is not compacted now.
func (s *seatPlan) blockCompact(ctx context.Context, args CompactArgs) {
	switch {
	case s.seat.Runtime != RuntimeClaude:
		s.block(CodeRuntimeFilter, "a "+string(s.seat.Runtime)+" seat keeps its context by other means; nothing was sent", "only claude-code seats are compacted in place")
		return
	case s.seat.Generation == 0 || !s.had():
		s.block(CodeNoGeneration, "rig launch brings it up", "the seat has no occupant that could be named")
		return
	case s.at.presence == Unknown:
		s.block(CodeTmuxProbeFailed, "`rig doctor` says what is wrong with tmux", "%s", s.at.why)
		return
	case !s.live():
		s.block(CodeSessionMissing, "rig seat status "+s.address, "nothing runs in the seat: %s", cmp.Or(s.at.why, "its process has ended"))
		return
	case s.last.Origin == OriginClaimed:
		s.block(CodeClaimedSession, "compact it by hand, or hand the seat over", "its occupant is an adopted session, whose hooks are not ours")
	}
	for _, op := range s.w.rec.Open {
		if l, held := s.w.leases["seat:"+s.seat.ID]; held && l.OpID == op.ID {
			s.block(CodeAlreadyCompacting, "`rig op show "+op.ID+"` follows it", "%s by %s is under way", op.Verb, cmp.Or(op.Operator, "somebody"))
		}
	}
	rt, err := s.e.runtime(s.seat.Runtime)
	if err != nil {
		s.p.BlockSeat(s.address, err)
		return
	}
	if _, ok := rt.(compactor); !ok {
		s.block(CodeNotSupported, "use a newer build", "this build cannot prove a compaction")
		return
	}
	t := target{seat: s.seat, session: s.last, address: s.address, guard: s.w.guard(s.seat), pane: s.at.pane, rt: rt}
	screen := s.e.screen(ctx, t.pane.ID)
	probe := t.probe(s.e, screen)
	act := rt.Activity(ctx, probe)
	if act.State == ActivityIdle {
		screen = s.e.boxScreen(ctx, t, screen)
	}
	if err := mayCompact(t, act, screen); err != nil {
		s.p.BlockSeat(s.address, err)
	}
	if args.AuditOnly {
		if s.seat.Lifecycle != LifecycleCompacted {
			s.block(CodeNoCompaction, "rig compact "+s.address+" --state", "there is no compaction that waits for its audit")
		}
	} else {
		if u := rt.Usage(ctx, probe); !u.Known {
			s.block(CodeNoUsage, "wait for an answer of the seat, then try again; `rig explain "+s.address+" context`", "nothing is known of its context: %s", cmp.Or(u.Note, "no sample"))
		}
		s.blockNoTranscript(ctx, rt)
	}
	if s.last.Startup == StartupAttention && stillAtStart(s.last, act) {
		s.block(CodeNeedsInput, "look at it: rig attach "+s.address, "its start still waits for a person: %s", s.last.StartupNote)
	}
}

// blockNoTranscript refuses a conversation that its client has not written, such as that
// of a fork which nobody has prompted: no restore packet could be made of it.
func (s *seatPlan) blockNoTranscript(ctx context.Context, rt Runtime) {
	f, ok := rt.(transcriptFinder)
	if !ok {
		return
	}
	if path, why := f.Transcript(ctx, s.last, s.seat.Cwd); path == "" {
		hint := "prompt it first: a conversation that nobody has prompted has nothing to compact"
		if s.last.Token.Empty() && s.last.Startup == StartupAttention {
			hint = "`rig seat clear-attention " + s.address + "` records its conversation, which its start could not"
		}
		s.block(CodePrepIncomplete, hint,
			"no restore packet could be written: no transcript: %s", cmp.Or(why, "none was found"))
	}
}

// mayCompact says whether a client in this state may be told to compact: only an
// idle one with an empty input box.
func mayCompact(t target, act Activity, screen Screen) error {
	hint := "look at it: rig attach " + t.address
	var err *Error
	switch act.State {
	case ActivityWaiting:
		err = Errorf(CodeNeedsInput, "it waits for a person: %s", act.Why)
	case ActivityLimit:
		err = Errorf(CodeUsageLimited, "it is at a usage limit: %s", act.Why)
		hint = "a compaction is a request too; wait for the reset"
	case ActivityUnknown:
		err = Errorf(CodeActivityUnknown, "nobody can tell what it does: %s", cmp.Or(act.Why, "no evidence"))
	case ActivityExited:
		err = Errorf(CodeSessionMissing, "its client has ended: %s", act.Why)
		hint = "launch it again"
	case ActivityBusy:
		err = Errorf(CodeMidWork, "it is at work: %s", act.Why)
		hint = "rig wait " + t.address + ", then try again"
	case ActivityIdle:
		return t.mayAppend("compact", screen)
	}
	if err == nil {
		return nil
	}
	return err.On("compact", t.address).WithHint("%s", hint)
}

// compactTag stands in every line that an attempt types, so that each can be found
// again in the seat's own record.
func compactTag(opID string) string { return compactionTag + opID + "]" }
