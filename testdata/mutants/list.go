package main

import "slices"

const (
	engineTests = "./engine"
	random      = "TestRandomHistories"
)

// mutants is every invariant that the tests are known to guard.
var mutants = slices.Concat([]mutant{
	// Leases and plans.
	{
		"a held lease is not taken", "engine/lease.go",
		"if err == nil && is && held.OpID != l.opID {", "if err == nil && is && held.OpID != l.opID && false {",
		engineTests, "TestAHeldLeaseIsNeverTaken",
	},
	{
		"a rival is refused at any moment", "engine/lease.go",
		"if err == nil && is && held.OpID != l.opID {", "if err == nil && is && held.OpID != l.opID && false {",
		engineTests, random,
	},
	{
		"a write carries the fencing number", "store/operations.go",
		"WHERE op_id = ? AND fence = ?", "WHERE op_id = ? AND 0 <> ?",
		engineTests, "TestTheDeadDoNotWriteBesideTheirRecovery",
	},
	{
		"a lease that cannot be read is not lost", "engine/lease.go",
		"held, err := tx.LeaseKeys(l.opID, l.fence)\n\tif err != nil {\n\t\treturn err\n\t}", "held, _ := tx.LeaseKeys(l.opID, l.fence)",
		engineTests, "TestALeaseThatCannotBeReadIsNotLost",
	},
	{
		"an unknown boot is no proof of death", "engine/apply.go",
		`o.Boot != "" && boot != "" && o.Boot != boot`, `o.Boot != "" && o.Boot != boot`,
		engineTests, "TestAnUnknownBootIsNoProofOfDeath",
	},
	{
		"a dead owner is proven dead", "engine/apply.go",
		"if err != nil {\n\t\treturn false\n\t}\n\treturn !ok ||", "if err != nil {\n\t\treturn true\n\t}\n\treturn !ok ||",
		engineTests, "TestDeathNeedsProof",
	},
	{
		"a pid that was reused is not its owner", "engine/apply.go",
		`return !ok || (o.PIDStart != "" && start != o.PIDStart)`, `return !ok || (o.PIDStart != "" && start != o.PIDStart && false)`,
		engineTests, "TestDeathNeedsProof",
	},
	{
		"an end that is not on record keeps its leases", "engine/lastwrite.go",
		"\tl.keys = nil\n\treturn own", "\treturn own",
		engineTests, "TestAnEndThatCannotBeWritten",
	},
	{
		"a plan is used once", "engine/lease.go",
		"} else if used {", "} else if used && false {",
		engineTests, "TestPlanIsUsedOnce",
	},
	{
		"a stale plan is not applied", "engine/apply.go",
		"\t\tif now.Fingerprint() != shown.Fingerprint() {", "\t\tif now.Fingerprint() == \"\" {",
		engineTests, "TestStalePlanChangesNothing",
	},
	{
		"the fingerprint holds the facts", "engine/plan.go",
		"}{p.Verb, p.Target, facts, p.Phases, p.Blockers}", "}{p.Verb, p.Target, facts[:0], p.Phases, p.Blockers}",
		engineTests, "TestStalePlanChangesNothing|TestSetModel|TestNoUndo|TestTheFingerprintHoldsEveryFact",
	},
	{
		"a blocked plan is not applied", "engine/apply.go",
		"if !shown.Applicable() {", "if false {",
		engineTests, "TestHandoverRefusals|TestStopRefusals",
	},
	// Undo and commit.
	{
		"what failed is undone", "engine/units.go",
		"r.unwind(ctx, u.steps[:i+1])", "_ = i",
		engineTests, random,
	},
	{
		"the failed step is undone too", "engine/units.go",
		"r.unwind(ctx, u.steps[:i+1])", "r.unwind(ctx, u.steps[:i])",
		engineTests, "TestHandoverFailureBeforeTheCommit|TestHalfDoneSwap",
	},
	{
		"undo runs in reverse", "engine/units.go",
		"for i := len(steps) - 1; i >= 0; i-- {\n\t\ts := steps[i]", "for i := range steps {\n\t\ts := steps[i]",
		engineTests, "TestHandoverFailureBeforeTheCommit",
	},
	{
		"nothing is undone after the commit", "engine/units.go",
		"\t\tif !committed {\n\t\t\tr.unwind", "\t\tif true {\n\t\t\tr.unwind",
		engineTests, "TestNothingIsUndoneAfterTheCommit",
	},
	{
		"a rollback leaves what committed", "engine/recover.go",
		"\t\tif r.unitCommitted(u) {\n\t\t\tr.recall(u)\n\t\t\tcontinue\n\t\t}", "",
		engineTests, "TestRollbackLeavesWhatCommitted",
	},
	{
		"an undo that nobody can tell the end of leaves its operation open", "engine/units.go",
		"\t\t\tr.untold(err)\n", "",
		engineTests, "TestAnUndoThatCannotBeTold",
	},
	{
		"an undo ends its own successor", "engine/handover_undo.go",
		"own := p.Op == s.Args[\"operation\"]", "own := true",
		engineTests, "TestAnUndoEndsItsOwnSuccessor",
	},
	{
		"what commits outlives a loss of power", "engine/units.go",
		"\t\ttx.Durable()\n", "",
		engineTests, "TestCommitsOutlive",
	},
	{
		"a finish says what had become of those who committed", "engine/recover.go",
		"\t\tr.recall(u)\n\t}\n\tif state", "\t}\n\tif state",
		engineTests, "TestAFinishNames",
	},
	{
		"a step that has an undo is undone", "engine/steptable.go",
		"StepSwap:       {do: doSwap, undo: undoSwap, probe: probeSwap},", "StepSwap:       {do: doSwap, probe: probeSwap},",
		engineTests, random + "|TestHalfDoneSwap",
	},
	{
		"a step is on record before it is done", "engine/units.go",
		"\tif err := r.note(ctx, s, StepStarted, nil, nil); err != nil {\n\t\treturn err\n\t}\n", "",
		engineTests, "TestWhatWasShownIsWhatRuns",
	},
	{
		"a commit stands with its event", "engine/handover_commit.go",
		`return ev, r.event(tx, "seat.handover_completed", seat, s.Seat, ev)`, `_ = r.event(tx, "seat.handover_completed", seat, s.Seat, ev)` + "\n\treturn ev, nil",
		engineTests, "TestACommitStandsWithItsEventOrNotAtAll",
	},
	{
		"a transaction that fails leaves no row", "store/store.go",
		"\tif err := fn(t); err != nil {\n\t\treturn err\n\t}\n\tif err := tx.Commit(); err != nil {\n\t\treturn db.writeError",
		"\tif err := fn(t); err != nil {\n\t\t_ = tx.Commit()\n\t\treturn err\n\t}\n\tif err := tx.Commit(); err != nil {\n\t\treturn db.writeError",
		engineTests, "TestACommitStandsWithItsEventOrNotAtAll|TestNoChangeWithoutItsEvent",
	},
	{
		"a commit belongs to the planned occupant", "engine/seat_plan.go",
		`if err == nil && genTag(seat.Generation) != s.Args["generation"] {`, "if false {",
		engineTests, "TestACommitBelongsToThePlannedOccupant",
	},
	{
		"the incumbent is kept for the undo window", "engine/handover_window.go",
		"op.UndoOpen(now) || !op.State.Ended()", "op.UndoOpen(now) && false || !op.State.Ended()",
		engineTests, "TestAWindowThatNobodyClosedIsClosedLater",
	},
	{
		"an undo under way keeps its incumbent", "engine/handover_window.go",
		`Leases: []string{seat}`, "Leases: []string{}",
		engineTests, "TestAnUndoUnderWayIsNotExpired",
	},
	// Identity and outcomes.
	{
		"a fork proves an id of its own", "engine/ready.go",
		"if !id.Proven || id.Token.Empty() || SameNativeID(id.Token.Reveal(), start.Parent.Reveal()) {", "if !id.Proven || id.Token.Empty() {",
		engineTests, "TestAForkProvesAnIDOfItsOwn",
	},
	{
		"an id is compared however it is spelt", "engine/ready.go",
		"SameNativeID(id.Token.Reveal(), start.Parent.Reveal()) {", "id.Token.Reveal() == start.Parent.Reveal() {",
		engineTests, "TestAForkProvesAnIDOfItsOwn",
	},
	{
		"an unproven fork is no fork", "engine/ready.go",
		"if !id.Proven || id.Token.Empty() || SameNativeID", "if id.Token.Empty() || SameNativeID",
		engineTests, "TestAForkProvesAnIDOfItsOwn",
	},
	{
		"a parent's id prints redacted", "engine/occupant.go",
		"func (t ParentToken) String() string { return redact(t.v) }", "func (t ParentToken) String() string { return t.v }",
		engineTests, "TestTokensPrintRedacted",
	},
	{
		"a token marshals redacted", "engine/occupant.go",
		"func (t ResumeToken) MarshalJSON() ([]byte, error) { return json.Marshal(redact(t.v)) }", "func (t ResumeToken) MarshalJSON() ([]byte, error) { return json.Marshal(t.v) }",
		engineTests, "TestTokensPrintRedacted",
	},
	{
		"the parent's id is not stored on the child", "engine/ready.go",
		`"source": string(id.Provenance), "token": id.Token.String()}`, `"source": string(id.Provenance), "token": l.parent.Reveal()}`,
		engineTests, "TestForkNeverKeepsTheParentsToken",
	},
	{
		"resumed needs a proof", "engine/ready.go",
		"if !id.Proven || id.Token.Reveal() != start.Token.Reveal() {", "if id.Token.Reveal() != start.Token.Reveal() && false {",
		engineTests, "TestResumedOnlyWithProof",
	},
	{
		"another conversation is not resumed", "engine/ready.go",
		"if !id.Proven || id.Token.Reveal() != start.Token.Reveal() {", "if !id.Proven {",
		engineTests, "TestResumedOnlyWithProof",
	},
	{
		"a start at a gate has no good outcome", "engine/commit.go",
		"if l.session.Startup != StartupReady {", "if false {",
		engineTests, "TestFreshLaunchAtAGateIsAttention|TestRestoreAfterACrash",
	},
	{
		"a new occupant gives claimed work back", "engine/commit.go",
		"if err := releaseClaims(tx, l.session.SeatID, l.session.Generation-1, r.e.d.Clock); err != nil {", "if err := error(nil); err != nil {",
		engineTests, "TestANewOccupantGivesClaimedWorkBack",
	},
	{
		"context arrives before the seat changes hands", "engine/handover_steps.go",
		"if a.seen, a.why = prover.Arrived(wait, p, marker); a.seen {", "if _, a.why = prover.Arrived(wait, p, marker); true {\n\t\t\ta.seen = true",
		engineTests, "TestHandoverFailureBeforeTheCommit",
	},
	// What cannot be told.
	{
		"unknown refuses a mutation", "engine/up.go",
		"if w.inv.Server == Unknown {", "if false {",
		engineTests, "TestUnknownRefusesEveryVerb|TestStopRefusals|TestCleanRefusals",
	},
	{
		"unknown is not absent", "engine/world.go",
		"\tcase inv.Server == Unknown:\n\t\treturn where{presence: Unknown, why", "\tcase inv.Server == Unknown:\n\t\treturn where{presence: Absent, why",
		engineTests, "TestUnknownIsNeverDrawnAsIdleOrDead",
	},
	{
		"a stale sample compacts nothing", "engine/compact_enforce.go",
		"case !u.Known || u.Stale || u.Generation != s.Generation:", "case !u.Known || u.Generation != s.Generation:",
		engineTests, "TestJudgeManaged",
	},
	{
		"another occupant's sample compacts nothing", "engine/compact_enforce.go",
		"case !u.Known || u.Stale || u.Generation != s.Generation:", "case !u.Known || u.Stale:",
		engineTests, "TestJudgeManaged",
	},
	{
		"a seat that works is not compacted", "engine/compact_plan.go",
		"\tcase ActivityBusy:\n\t\terr = Errorf(CodeMidWork", "\tcase ActivityBusy:\n\t\treturn nil\n\t\terr = Errorf(CodeMidWork",
		engineTests, "TestCompactBlockers",
	},
	{
		"a draft is not typed over", "engine/send_box.go",
		"case draft != \"\":", "case false:",
		engineTests, "TestCompactBlockers",
	},
	// Dry runs.
	{
		"planning writes nothing", "engine/engine.go",
		"\tif err := pl(ctx, e, w, p); err != nil {", "\t_ = e.d.Store.Write(ctx, func(tx Tx) error { return tx.SetMeta(\"seen\", p.ID) })\n\tif err := pl(ctx, e, w, p); err != nil {",
		engineTests, "TestDryRunLeavesNoTrace|TestSeatDryRunsLeaveNoTrace",
	},
	{
		"a dry run is not applied", "cmd/rig/mutate.go",
		"\tif m.dryRun {\n\t\treturn c.showPlan(p, m.more(p, nil))\n\t}", "\tif m.dryRun {\n\t\t_ = c.showPlan(p, m.more(p, nil))\n\t}",
		"./cmd/rig", "TestSeatDryRunsLeaveNoTrace",
	},
	{
		"another fingerprint is not applied", "engine/plan.go",
		`if shown == "" || now == shown {`, `if now != "" {`,
		"./cmd/rig", "TestApplyNeedsTheFingerprintThatWasShown",
	},
	{
		"a refused preview leaves no trace", "tui/wizard.go",
		"\t\t\tw.onPlanned(msg)\n\t\t\tw.hide()\n", "\t\t\tw.onPlanned(msg)\n\t\t\tw.hide()\n\t\t\tif w.def.refused != nil && len(msg.plans) > 0 && !msg.plans[0].Applicable() {\n\t\t\t\treturn w.def.refused(m, msg.plans[0].Request, msg.err)\n\t\t\t}\n",
		"./tui", "TestRefusedTokenIsNoted",
	},
	// The introduction of a control client.
	{
		"a control client is never half introduced", "tmuxctl/introduce.go",
		"case f.kind == identifyFlags || f.kind == identifyLongFlags || f.kind == identifyDone:", "case f.kind == identifyDone:",
		"./tmuxctl", "TestSessionsChangeDuringAnIntroduction",
	},

	// The guard in the tmux server.
	{
		"half an answer is none", "tmuxctl/batch.go",
		"if !errors.Is(err, errNotAsked) && allThere(", "if !errors.Is(err, errNotAsked) || allThere(",
		"./tmuxctl", "TestHalfAnAnswerIsNone",
	},
	{
		"a server's file is not served", "tmuxctl/direct.go",
		"if len(body) < 12 || len(bytes.Trim(body[12:], \"-\\x00\")) > 0 {", "if len(body) < 12 {",
		"./tmuxctl", "TestDirectWithAStranger",
	},
	{
		"a pane of another seat is left alone", "tmuxctl/guard.go",
		`	add("#{@rig_seat}", g.Seat)`, "",
		"./tmuxctl", "TestGuardFacts",
	},
	{
		"a pane of another generation is left alone", "tmuxctl/guard.go",
		`	add("#{@rig_gen}", g.Gen)`, "",
		"./tmuxctl", "TestGuardFacts",
	},
	{
		"a pane of another operation is left alone", "tmuxctl/guard.go",
		`	add("#{@rig_op}", g.Op)`, "",
		"./tmuxctl", "TestGuardFacts",
	},
	{
		"a pane of another server is left alone", "tmuxctl/guard.go",
		`	add("#{pid}-#{start_time}", string(g.Epoch))`, "",
		"./tmuxctl", "TestGuardFacts",
	},
	{
		"both panes of a swap are checked", "tmuxctl/pane.go",
		`inner, err := second.words(two, swap, "")`, `inner, err := check{guard: engine.Guard{Pane: b.Pane, Seat: b.Seat}}.words(two, swap, "")`,
		"./tmuxctl", "TestSwap",
	},
	// Papers.
	{
		"a packet overwrites nothing", "engine/packet/write.go",
		"\tcase errors.Is(err, fs.ErrNotExist):\n\t\treturn nil", "\tcase true:\n\t\treturn nil",
		"./engine/packet", "TestTargetThatExistsIsLeftAsItIs",
	},
	{
		"a secret is redacted", "engine/packet/redact.go",
		"\t\tout.WriteString(Marker)\n", "\t\tout.WriteString(text[hit.start:hit.end])\n",
		"./engine/packet", "TestEveryFormIsRedacted|TestB93",
	},
	{
		"a secret is seen across a cut", "engine/packet/redact.go",
		"s := scanner{text: text, cut: cut, screen: theScreen()}", "s := scanner{text: text, screen: theScreen()}",
		"./engine/packet", "TestSecretsAcrossACut",
	},
	{
		"what becomes an argument is redacted", "engine/occupy.go",
		"Prompt: r.e.redactPrompt(st.Prompt)", "Prompt: st.Prompt",
		engineTests, "TestAnOpeningPromptIsRedacted",
	},
	{
		"a recap that is shown is redacted", "engine/textdiff.go",
		"if e.d.RedactScreen != nil {", "if e.d.RedactScreen != nil && false {",
		engineTests, "TestARecapIsPlannedWrittenAndKept",
	},
	{
		"what a seat wrote is on no record", "engine/plan.go",
		"Texts []TextChange `json:\"-\"`", "Texts []TextChange `json:\"texts\"`",
		engineTests, "TestARecapIsPlannedWrittenAndKept",
	},
	{
		"a recap that is not recorded is taken back", "engine/recap.go",
		"StepRecapWrite: {do: doRecapWrite, undo: undoRecapWrite, probe: probeRecapWrite},", "StepRecapWrite: {do: doRecapWrite, probe: probeRecapWrite},",
		engineTests, "TestARecapThatIsNotRecordedIsNotThere",
	},
	{
		"what is closed no longer runs", "engine/units.go",
		"if st.State != StepStarted {\n\t\treturn\n\t}\n\tvar said error", "if st.State != StepStarted || true {\n\t\treturn\n\t}\n\tvar said error",
		engineTests, "TestCutOffHandover",
	},
	// What a client has reported.
	{
		"a turn that was reported is waited for", "engine/written.go",
		"since.After(after) && (done || !ended) ||", "since.After(after) || done || ended ||",
		engineTests, "TestAPromptThatIsReportedIsWaitedFor",
	},
	{
		"the turn before is not the one that was reported", "engine/written.go",
		"reported, after, ended = h.At, before, true", "reported, after, ended = h.At, time.Time{}, true",
		engineTests, "TestAPromptThatIsReportedIsWaitedFor",
	},
	{
		"a stop waits for what its client has not written", "engine/stop.go",
		"	r.e.awaitWritten(ctx, seat, session)\n", "	_, _ = seat, session\n",
		engineTests, "TestAStopWaitsForWhatItsClientHasNotWritten",
	},
	{
		"a reported prompt beats an older registry", "engine/runtimes/claude_state.go",
		"if taken, ok := takenPrompt(p, e, facts); ok {", "if taken, ok := takenPrompt(p, e, facts); ok && false {",
		"./engine/runtimes", "TestClaudeHasTakenAPromptThatItsRegistryDoesNotKnowYet",
	},
	{
		"a client at rest is given time for its own word", "engine/send_proof.go",
		"!before.speaks || before.state", "true || before.state",
		"./cmd/rig", "TestAVerifiedMessageIsTheClientsOwnWord",
	},
}, learnedMutants)
