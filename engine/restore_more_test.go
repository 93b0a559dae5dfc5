package engine_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"rig/engine"
	"rig/engine/enginetest"
)

// TestARunningSeatKeepsItsConversation: a seat that does not run is not started with the conversation of one that runs, or that may run
// on another tmux server, whatever the client says of who has it open.
func TestARunningSeatKeepsItsConversation(t *testing.T) {
	t.Parallel()
	const other = "/tmp/other.sock"
	for name, away := range map[string]bool{"here": false, "elsewhere": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, t.TempDir(), engine.RuntimeClaude, engine.RuntimeClaude)
			defer b.close(t)
			b.run(t, upRequest())
			token, runs, down := b.token(t, "dev.m0"), b.seat(t, "dev.m0"), b.seat(t, "dev.m1")
			err := b.db.Write(context.Background(), func(tx engine.Tx) error {
				rows, err := tx.Sessions(down.ID)
				if err != nil {
					return err
				}
				rows[0].Token = engine.NewResumeToken(strings.ToUpper(token))
				if err := tx.UpdateSession(&rows[0]); err != nil || !away {
					return err
				}
				at, err := tx.Binding(runs.ID)
				if err != nil {
					return err
				}
				at.Socket, at.Epoch = other, "7:7"
				return tx.PutBinding(at)
			})
			if err != nil {
				t.Fatal(err)
			}
			b.mux.Drop(down.Pane)
			if away {
				inv := b.mux.Inventory(context.Background())
				pane, _ := inv.Pane(runs.Pane)
				b.mux.Drop(runs.Pane)
				b.mux.Others = map[string]engine.Inventory{other: {Socket: other, Server: engine.Present, Epoch: "7:7", Panes: []engine.Pane{pane}}}
			}
			p, text := b.planLines(t, restoreUp())
			if p.Applicable() == away || !strings.Contains(text, "its conversation is also on record for dev-m0@team, which") || strings.Contains(text, "resume-original") {
				t.Errorf("%s", text)
			}
		})
	}
}

// TestUpAllLeavesARigOutThatIsElsewhere: one rig has a seat on another tmux server. It is left out with the reason, and the other rig
// comes back.
func TestUpAllLeavesARigOutThatIsElsewhere(t *testing.T) {
	t.Parallel()
	const socket = "/tmp/other.sock"
	dir := t.TempDir()
	b := newBench(t, dir, engine.RuntimeClaude, engine.RuntimeClaude)
	defer b.close(t)
	b.specs["other"] = enginetest.Team("other", dir, engine.RuntimeClaude)
	b.run(t, upRequest())
	b.run(t, request(engine.VerbUp, "other", engine.UpArgs{Spec: "other"}))
	s, pane := b.seat(t, "dev.m0@team"), b.mux.Panes()[0]
	b.reboot()
	err := b.db.Write(context.Background(), func(tx engine.Tx) error {
		at, err := tx.Binding(s.ID)
		if err != nil {
			return err
		}
		at.Socket, at.Epoch = socket, "7:7"
		return tx.PutBinding(at)
	})
	if err != nil {
		t.Fatal(err)
	}
	b.mux.Others = map[string]engine.Inventory{socket: {Socket: socket, Server: engine.Present, Epoch: "7:7", Panes: []engine.Pane{pane}}}
	rec := b.run(t, request(engine.VerbUp, "", engine.UpArgs{All: true}))
	results := map[string]engine.RestoreVerdict{}
	for _, v := range engine.RestoreVerdicts(rec.Extra) {
		results[v.Rig] = v
	}
	left := results["team"]
	if rec.OK || left.Result != engine.RestoreNotAttempted || left.Why == nil || left.Why.Code != engine.CodeOtherServer || results["other"].Result != engine.RestoreFull {
		t.Errorf("%+v", results)
	}
	if len(b.mux.Panes()) != 1 {
		t.Errorf("panes %+v", b.mux.Panes())
	}
}

// setClock is a clock that is set by what it points at.
type setClock struct {
	engine.Clock
	by *time.Duration
}

// Now implements engine.Clock.
func (m setClock) Now() time.Time { return m.Clock.Now().Add(*m.by) }

// TestReconciliationOfAClockThatWasSetBack: what became of an attempt is told by the order of the audit log, not by its times.
func TestReconciliationOfAClockThatWasSetBack(t *testing.T) {
	t.Parallel()
	for _, by := range []time.Duration{-time.Hour, time.Hour} {
		b := newBench(t, t.TempDir(), engine.RuntimeClaude)
		defer b.close(t)
		var off time.Duration
		b.made.Clock = setClock{b.made.Clock, &off}
		b.e = engine.New(b.made)
		b.run(t, upRequest())
		b.reboot()
		b.faults.Fail = func(name string, _ int) (bool, bool) { return name == "identify", false }
		rec := b.run(t, restoreUp())
		b.faults.Fail = nil
		off = by
		b.run(t, request(engine.VerbClearAttention, "dev.m0", struct{}{}))
		st, err := b.e.RestoreStatus(context.Background(), rec.Operation.ID, "team")
		if err != nil || st.Current != engine.RestoreFull || len(st.Reconciliations) != 1 || len(st.Unresolved) != 0 {
			t.Errorf("the clock moved by %s: %v %+v", by, err, st)
		}
	}
}

// TestAPlanStaysTheSameWhileItIsRead: a restore stands on a snapshot that grows older while somebody reads the plan, and nothing of the
// world moves by that. Of a snapshot that a clock made which was ahead no age is claimed.
func TestAPlanStaysTheSameWhileItIsRead(t *testing.T) {
	t.Parallel()
	for _, by := range []time.Duration{2 * time.Minute, time.Hour, -time.Hour} {
		b := newBench(t, t.TempDir(), engine.RuntimeClaude)
		defer b.close(t)
		var off time.Duration
		b.made.Clock = setClock{b.made.Clock, &off}
		b.e = engine.New(b.made)
		b.run(t, upRequest())
		b.run(t, snapshotRequest())
		b.reboot()
		p, text := b.planLines(t, restoreUp())
		if !strings.Contains(text, "of 2026-03-03 10:00 UTC") {
			t.Errorf("%s", text)
		}
		off = by
		rec, err := b.e.Apply(context.Background(), p, nil)
		if err != nil || !rec.OK {
			t.Fatalf("the clock moved by %s: %v %+v", by, err, rec)
		}
		if age := verdict(t, rec).Selection.Age; (age == "?") != (by < 0) {
			t.Errorf("the clock moved by %s: the snapshot is %s", by, engine.Old(age))
		}
	}
}
