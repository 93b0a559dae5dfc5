package engine_test

import (
	"context"
	"testing"

	"rig/engine"
)

// TestSnapshotLearnsOnlyWhatIsProven: a snapshot puts an id onto the record that the running client proves, and no other: not a
// guess, not the one of a process that is not the seat's, not one that was another occupant's, nor while somebody else changes
// the seat.
func TestSnapshotLearnsOnlyWhatIsProven(t *testing.T) {
	t.Parallel()
	proven := engine.Identity{Proven: true, Token: engine.NewResumeToken(secretID), Provenance: engine.ProvenanceHook, Why: "the registry names it"}
	for name, c := range map[string]struct {
		want bool
		id   engine.Identity
		edit func(*testing.T, *seatBench)
	}{
		"proven":         {true, proven, nil},
		"a guess":        {false, engine.Identity{Token: proven.Token, Why: "the newest file"}, nil},
		"another's pane": {false, proven, func(t *testing.T, b *seatBench) { b.respawn(t, 4711) }},
		"the id of its own former occupant": {false, proven, func(t *testing.T, b *seatBench) {
			all := b.history(t, "dev.m0")
			former := all[0]
			if former.Status == engine.SessionRunning {
				former = all[len(all)-1]
			}
			if err := b.db.Write(context.Background(), func(tx engine.Tx) error {
				s, err := tx.Session(former.ID)
				if err != nil {
					return err
				}
				s.Token = proven.Token
				return tx.UpdateSession(&s)
			}); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newSeatBench(t)
			b.claude.Gate = "trust_gate"
			b.run(t, freshRequest("dev.m0", true))
			b.claude.Gate = ""
			if c.edit != nil {
				c.edit(t, b)
			}
			b.claude.identity = &c.id
			rec := b.run(t, snapshotRequest())
			if got := b.token(t, "dev.m0") == secretID; got != c.want {
				t.Errorf("learned: %v, want %v", got, c.want)
			}
			learned := 0
			for _, ev := range b.events(t, rec.Operation.ID) {
				if ev.Type == engine.EventConversationLearned {
					learned++
					payload(t, ev, `"why":"the registry names it"`)
				}
			}
			if (learned == 1) != c.want {
				t.Errorf("%d events say so", learned)
			}
		})
	}
}
