package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"rig/engine"
	"rig/engine/enginetest"
)

// reboot loses the tmux server with everything in it; the record stays.
func (b *bench) reboot() {
	for _, p := range b.mux.Panes() {
		b.mux.Drop(p.ID)
	}
	b.mux.Epoch += "+"
}

func restoreUp(fresh ...string) engine.Request {
	return request(engine.VerbUp, "team", engine.UpArgs{Spec: "team", Fresh: fresh})
}

func verdict(tb testing.TB, rec *engine.Receipt) engine.RestoreVerdict {
	tb.Helper()
	list := engine.RestoreVerdicts(rec.Extra)
	if len(list) != 1 {
		tb.Fatalf("%d verdicts: %+v", len(list), rec)
	}
	return list[0]
}

func outcomes(rec *engine.Receipt) string {
	var words []string
	for _, s := range rec.Seats {
		word := string(s.Outcome)
		if word == "" {
			word = s.Action
		}
		words = append(words, s.Seat[:strings.Index(s.Seat, "@")]+"="+word)
	}
	return strings.Join(words, " ")
}

func TestRestoreAfterACrash(t *testing.T) {
	t.Parallel()
	b := newBench(t, t.TempDir(), engine.RuntimeClaude, engine.RuntimeCodex, engine.RuntimeTerminal)
	defer b.close(t)
	b.run(t, upRequest())
	b.run(t, snapshotRequest())
	good := b.snapshots(t)[0].ID
	b.reboot()
	rec := b.run(t, restoreUp())
	v := verdict(t, rec)
	if !rec.OK || v.Result != engine.RestoreFull || v.Selection.ID != good || v.Counts["resumed"] != 2 {
		t.Errorf("%s: %+v", outcomes(rec), v)
	}
	kinds := map[string]int{}
	for _, s := range b.snapshots(t) {
		kinds[s.Kind+" "+s.Status]++
	}
	if kinds["pre_restore partial"] != 1 {
		t.Errorf("what was there before is not kept: %v", kinds)
	}
	b.reboot()
	rec = b.run(t, restoreUp("dev.m1"))
	if v := verdict(t, rec); rec.OK || v.Result != engine.RestorePartial || v.Selection.ID != good {
		t.Errorf("a fresh start counts as a recovery, or the same conversation as another occupant: %s: %+v", outcomes(rec), v)
	}
	rec = b.run(t, restoreUp())
	if v := verdict(t, rec); !rec.OK || v.Result != engine.RestoreNothingDown {
		t.Errorf("everything runs: %s: %+v", outcomes(rec), v)
	}
	if _, err := b.e.Plan(context.Background(), restoreUp("dev.nobody")); engine.CodeOf(err) != engine.CodeSeatNotFound {
		t.Errorf("an unknown seat: %v", err)
	}
	p, err := b.e.Plan(context.Background(), restoreUp("dev.m0"))
	if err != nil || p.Applicable() || p.Blockers[0].Code != engine.CodeSessionLive {
		t.Errorf("a fresh start of a running seat: %v %+v", err, p)
	}
}

// TestOneBrokenSeatStopsNoOther fails the start of one seat of three.
func TestOneBrokenSeatStopsNoOther(t *testing.T) {
	t.Parallel()
	b := newBench(t, t.TempDir(), engine.RuntimeClaude, engine.RuntimeClaude, engine.RuntimeClaude)
	defer b.close(t)
	b.run(t, upRequest())
	b.reboot()
	b.faults.Fail = func(name string, nth int) (bool, bool) { return name == "create" && nth == 1, false }
	rec := b.run(t, restoreUp())
	v := verdict(t, rec)
	if rec.OK || v.Result != engine.RestorePartial || v.Counts["resumed"] != 2 || v.Counts["failed"] != 1 || len(b.mux.Panes()) != 2 {
		t.Errorf("%s: %+v", outcomes(rec), v)
	}
	failed := ""
	for _, s := range rec.Seats {
		if s.Outcome == engine.ContinuityFailed {
			failed = s.Seat
		}
	}
	f, err := b.e.Fleet(context.Background())
	if err != nil || len(f.Attention) != 1 || f.Attention[0].Seat != failed || !strings.Contains(f.Attention[0].Remedy, "rig up team") {
		t.Errorf("attention: %v %+v", err, f.Attention)
	}
	b.faults.Fail = nil
	if rec = b.run(t, restoreUp()); !rec.OK {
		t.Errorf("once more: %s", outcomes(rec))
	}
	st, err := b.e.RestoreStatus(context.Background(), rec.Operation.ID, "team")
	if err != nil || st.Original != engine.RestoreFull || st.Current != st.Original || len(st.Unresolved) != 0 {
		t.Errorf("%v %+v", err, st)
	}
}

// TestAllFailedIsFailed and nothing else.
func TestAllFailedIsFailed(t *testing.T) {
	t.Parallel()
	b := newBench(t, t.TempDir(), engine.RuntimeClaude, engine.RuntimeCodex)
	defer b.close(t)
	b.run(t, upRequest())
	b.reboot()
	b.faults.Fail = func(name string, _ int) (bool, bool) { return name == "ready", false }
	rec := b.run(t, restoreUp())
	if v := verdict(t, rec); rec.OK || v.Result != engine.RestoreFailed || len(b.mux.Panes()) != 0 {
		t.Errorf("%s: %+v, %d panes", outcomes(rec), v, len(b.mux.Panes()))
	}
	b.mux.State = engine.Unknown
	p, err := b.e.Plan(context.Background(), restoreUp())
	if err != nil || p.Applicable() || p.Blockers[0].Code != engine.CodeTmuxProbeFailed {
		t.Errorf("a server that does not answer must stop a restore: %v %+v", err, p)
	}
}

// TestReconciliationStandsBesideTheVerdict clears a gate by hand after a restore:
// the original verdict stays, the current one moves.
func TestReconciliationStandsBesideTheVerdict(t *testing.T) {
	t.Parallel()
	b := newBench(t, t.TempDir(), engine.RuntimeClaude)
	defer b.close(t)
	b.run(t, upRequest())
	b.reboot()
	b.faults.Fail = func(name string, _ int) (bool, bool) { return name == "identify", false }
	rec := b.run(t, restoreUp())
	b.faults.Fail = nil
	if v := verdict(t, rec); v.Result != engine.RestorePartial || rec.Seats[0].Outcome != engine.ContinuityAttention {
		t.Fatalf("%s: %+v", outcomes(rec), v)
	}
	clearing := request(engine.VerbClearAttention, "dev.m0", struct{}{})
	b.run(t, clearing)
	st, err := b.e.RestoreStatus(context.Background(), rec.Operation.ID, "team")
	if err != nil || st.Original != engine.RestorePartial || st.Current != engine.RestoreFull || len(st.Reconciliations) != 1 || len(st.Unresolved) != 0 {
		t.Errorf("%v %+v", err, st)
	}
	for code, ask := range map[engine.Code][2]string{
		engine.CodeAttemptNotFound: {"nothing", "team"}, engine.CodeAttemptWrongRig: {rec.Operation.ID, "other"},
	} {
		if _, err := b.e.RestoreStatus(context.Background(), ask[0], ask[1]); engine.CodeOf(err) != code {
			t.Errorf("want %s, got %v", code, err)
		}
	}
}

func TestRestoreCheckJudgesAsIfRebooted(t *testing.T) {
	t.Parallel()
	b := newBench(t, t.TempDir(), engine.RuntimeClaude, engine.RuntimeTerminal)
	defer b.close(t)
	b.run(t, upRequest())
	b.run(t, snapshotRequest())
	check := func(opt engine.RestoreCheckOptions) engine.RestoreCheckReport {
		t.Helper()
		before := dump(t, b.db)
		rep, err := b.e.RestoreCheck(context.Background(), opt)
		if err != nil {
			t.Fatal(err)
		}
		if dump(t, b.db) != before {
			t.Error("a check changed the record")
		}
		return rep
	}
	full := check(engine.RestoreCheckOptions{Full: true})
	if full.ExitCode() != 0 || full.Seats.Restorable != 2 || len(full.Checks) != full.Counts.Green+full.Counts.Yellow {
		t.Errorf("%+v", full)
	}
	short := check(engine.RestoreCheckOptions{})
	if short.Verdict != full.Verdict || short.Counts != full.Counts || len(short.Checks) >= len(full.Checks) {
		t.Errorf("what is not listed does not count: %+v", short)
	}
	if short.Counts.Yellow == 0 || check(engine.RestoreCheckOptions{NoHooks: true}).Counts.Yellow != short.Counts.Yellow-1 {
		t.Errorf("--no-hooks: %+v", short.Counts)
	}
	if rep := check(engine.RestoreCheckOptions{Rig: "nothing"}); rep.ExitCode() != 1 || rep.Repairs[0].Check != "rig.nothing.exists" {
		t.Errorf("an unknown rig: %+v", rep)
	}
	b.reboot()
	if rep := check(engine.RestoreCheckOptions{}); rep.Verdict != short.Verdict || rep.Seats != short.Seats {
		t.Errorf("the crash itself is not judged: %+v", rep)
	}
	b.mux.State = engine.Unknown
	if rep := check(engine.RestoreCheckOptions{}); rep.ExitCode() != 2 || rep.Verdict != engine.VerdictUnknownState {
		t.Errorf("a silent server: %+v", rep)
	}
}

// TestPeriodicSnapshots saves once for many callers, keeps the newest, and saves
// nothing that it cannot see.
func TestPeriodicSnapshots(t *testing.T) {
	t.Parallel()
	b := newBench(t, t.TempDir(), engine.RuntimeTerminal)
	defer b.close(t)
	b.run(t, upRequest())
	save := func(every time.Duration, keep int) int {
		t.Helper()
		made, err := b.e.PeriodicSnapshots(context.Background(), engine.PeriodicPolicy{Every: every, Keep: keep})
		if err != nil {
			t.Fatal(err)
		}
		return len(made)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	total := 0
	for range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			made, err := b.e.PeriodicSnapshots(context.Background(), engine.PeriodicPolicy{})
			mu.Lock()
			defer mu.Unlock()
			if total += len(made); err != nil {
				t.Error(err)
			}
		}()
	}
	wg.Wait()
	if total != 1 || save(time.Hour, 3) != 0 || save(-1, 3) != 0 {
		t.Fatalf("%d callers saved", total)
	}
	for range 5 {
		if save(time.Nanosecond, 3) != 1 {
			t.Fatal("it was due")
		}
	}
	if n := len(b.snapshots(t)); n != 3 {
		t.Errorf("%d are kept", n)
	}
	b.reboot()
	if save(time.Nanosecond, 3) != 0 || !b.snapshots(t)[0].Chosen {
		t.Error("a blind snapshot was saved")
	}
}

// TestUpAllLeavesOneRigOut holds one rig of two by an operation: the other comes
// back, and the receipt says of each what happened.
func TestUpAllLeavesOneRigOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := newBench(t, dir, engine.RuntimeClaude)
	defer b.close(t)
	b.specs["other"] = enginetest.Team("other", dir, engine.RuntimeClaude)
	b.run(t, upRequest())
	b.run(t, request(engine.VerbUp, "other", engine.UpArgs{Spec: "other"}))
	b.reboot()
	f, err := b.e.Fleet(context.Background())
	if err != nil || len(f.Rigs) != 2 {
		t.Fatalf("%v %+v", err, f)
	}
	now := time.Now()
	b.procs.Alive[2] = "s2"
	held := engine.Lease{Key: "rig:" + f.Rigs[0].ID, OpID: "someone", Owner: engine.Owner{PID: 2, PIDStart: "s2", Label: "ann"}, Fence: 1, GrantedAt: now, ExpiresAt: now.Add(time.Hour)}
	if err := b.db.Write(context.Background(), func(tx engine.Tx) error { return tx.PutLease(held) }); err != nil {
		t.Fatal(err)
	}
	rec := b.run(t, request(engine.VerbUp, "", engine.UpArgs{All: true}))
	results := map[string]engine.RestoreResult{}
	for _, v := range engine.RestoreVerdicts(rec.Extra) {
		results[v.Rig] = v.Result
	}
	if rec.OK || results[f.Rigs[0].Name] != engine.RestoreNotAttempted || results[f.Rigs[1].Name] != engine.RestoreFull || len(b.mux.Panes()) != 1 {
		t.Errorf("%v, %d panes", results, len(b.mux.Panes()))
	}
}

func BenchmarkPlanRestore(bm *testing.B) {
	kinds := make([]engine.RuntimeName, 100)
	for i := range kinds {
		kinds[i] = engine.RuntimeClaude
	}
	b := newBench(bm, bm.TempDir(), kinds...)
	defer b.close(bm)
	p, err := b.e.Plan(context.Background(), upRequest())
	if err != nil {
		bm.Fatal(err)
	}
	if _, err := b.e.Apply(context.Background(), p, nil); err != nil {
		bm.Fatal(err)
	}
	b.reboot()
	for bm.Loop() {
		p, err := b.e.Plan(context.Background(), restoreUp())
		if err != nil || len(p.Intents) != len(kinds) {
			bm.Fatal(fmt.Sprint(err, len(p.Intents)))
		}
	}
}

// TestPeriodicSnapshotsAfterAClockThatWasAhead: what was saved while the clock was ahead does not keep a rig from being saved until the
// clock is there again, and is what is dropped first.
func TestPeriodicSnapshotsAfterAClockThatWasAhead(t *testing.T) {
	t.Parallel()
	b := newBench(t, t.TempDir(), engine.RuntimeTerminal)
	defer b.close(t)
	b.run(t, upRequest())
	policy := engine.PeriodicPolicy{Every: time.Nanosecond, Keep: 2}
	save := func() engine.SnapshotRow {
		t.Helper()
		made, err := b.e.PeriodicSnapshots(context.Background(), policy)
		if err != nil || len(made) != 1 {
			t.Fatalf("%d saved, %v", len(made), err)
		}
		return made[0]
	}
	b.made.Clock = ahead{b.made.Clock}
	right := b.e
	b.e = engine.New(b.made)
	save()
	save()
	b.e = right
	a, z := save(), save()
	var kept []string
	for _, s := range b.snapshots(t) {
		kept = append(kept, s.ID)
	}
	if len(kept) != 2 || !slices.Contains(kept, a.ID) || !slices.Contains(kept, z.ID) {
		t.Errorf("kept %v, and %s and %s are the newest", kept, a.ID, z.ID)
	}
}

// ahead is a clock that is a month ahead.
type ahead struct{ engine.Clock }

// Now implements engine.Clock.
func (a ahead) Now() time.Time { return a.Clock.Now().Add(720 * time.Hour) }

// A seat that a cut-off operation holds keeps the whole rig down, so the check must not promise it.
func TestRestoreCheckSeesWhoHoldsASeat(t *testing.T) {
	t.Parallel()
	b := newBench(t, t.TempDir(), engine.RuntimeClaude)
	defer b.close(t)
	b.run(t, upRequest())
	check := func() engine.RestoreCheckItem {
		rep, err := b.e.RestoreCheck(context.Background(), engine.RestoreCheckOptions{Full: true})
		if err != nil {
			t.Fatal(err)
		}
		if red := rep.Verdict == engine.VerdictNotRestorable; red != (rep.Seats.Restorable == 0) {
			t.Errorf("%s, and %+v", rep.Verdict, rep.Seats)
		}
		i := slices.IndexFunc(rep.Checks, func(it engine.RestoreCheckItem) bool { return strings.HasSuffix(it.Check, "restore-preconditions") })
		return rep.Checks[i]
	}
	if it := check(); it.Status != engine.CheckGreen {
		t.Errorf("%+v", it)
	}
	op := b.crash(t, handoverRequest("dev.m0", "fresh"), "ready")
	if it := check(); it.Status != engine.CheckRed || !strings.Contains(it.Remedy, "rig op rollback "+op) {
		t.Errorf("%+v", it)
	}
	b.procs.Alive[1] = "s1"
	if it := check(); it.Status != engine.CheckYellow || !strings.Contains(it.Remedy, op) {
		t.Errorf("%+v", it)
	}
}

// TestACheckpointOnlySeatIsNotContinued: an older build took this policy into the record and resumed the seat all the same. There are no
// checkpoints, so a restore starts nothing and asks, and so says the check.
func TestACheckpointOnlySeatIsNotContinued(t *testing.T) {
	t.Parallel()
	b := newSeatBench(t)
	b.edit(t, "dev.m0", func(seat *engine.Seat, _ *engine.Session) { seat.RestorePolicy = engine.RestoreCheckpoint })
	rep, err := b.e.RestoreCheck(context.Background(), engine.RestoreCheckOptions{})
	if err != nil || len(rep.Repairs) == 0 || !strings.Contains(rep.Repairs[0].Evidence, "checkpoint_only") || !strings.Contains(rep.Repairs[0].Remedy, "--fresh dev.m0") {
		t.Errorf("%v %+v", err, rep.Repairs)
	}
	b.run(t, request(engine.VerbDown, "team", engine.DownArgs{}))
	if got := outcomes(b.run(t, restoreUp())); !strings.Contains(got, "dev-m0=awaiting-decision") {
		t.Errorf("restored as %s", got)
	}
	if got := outcomes(b.run(t, restoreUp("dev.m0"))); !strings.Contains(got, "dev-m0=fresh-primed") {
		t.Errorf("started anew as %s", got)
	}
}

// TestTheCheckAdvisesNoSnapshotThatNothingWouldChoose: without sight of its seats a
// snapshot of a rig is partial.
func TestTheCheckAdvisesNoSnapshotThatNothingWouldChoose(t *testing.T) {
	t.Parallel()
	b := newBench(t, t.TempDir(), engine.RuntimeClaude)
	defer b.close(t)
	b.run(t, upRequest())
	advice := func() (remedy string, safe bool) {
		t.Helper()
		rep, err := b.e.RestoreCheck(context.Background(), engine.RestoreCheckOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range rep.Checks {
			if it.Check == "rig.team.snapshot" {
				return it.Remedy, it.Safe
			}
		}
		return "", false
	}
	if got, safe := advice(); !strings.HasPrefix(got, "`rig snapshot create") || !safe {
		t.Errorf("while it runs: %q, safe %v", got, safe)
	}
	for _, p := range b.mux.Panes() {
		b.mux.Drop(p.ID)
	}
	if got, safe := advice(); !strings.HasPrefix(got, "`rig up team`") || safe {
		t.Errorf("when it is gone: %q, safe %v", got, safe)
	}
}
