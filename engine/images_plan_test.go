package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"rig/engine"
)

// TestAnImageSaysHowLargeItsConversationIs: as its client says now, else as the
// same occupant's last sample does. Another occupant's sample, and the texts that
// the image carries along, say nothing of it.
func TestAnImageSaysHowLargeItsConversationIs(t *testing.T) {
	b := newForkBench(t, engine.RuntimeClaude, engine.RuntimeClaude)
	b.run(t, upRequest())
	ctx := context.Background()
	seat := b.seat(t, "dev.m0")
	stored := func(session string, tokens int64) {
		t.Helper()
		u := engine.Usage{Known: true, Tokens: tokens, Window: 1000000, Generation: seat.Generation, SampledAt: b.made.Clock.Now()}
		if err := b.db.Write(ctx, func(tx engine.Tx) error {
			return tx.PutUsage(engine.StoredUsage{SeatID: seat.ID, SessionID: session, Usage: u})
		}); err != nil {
			t.Fatal(err)
		}
	}
	note := filepath.Join(b.dir, "note.md")
	if err := os.WriteFile(note, make([]byte, 4000), 0o600); err != nil {
		t.Fatal(err)
	}
	made := func(name string, want int64) {
		t.Helper()
		b.run(t, request(engine.VerbImageCreate, "dev.m0", engine.ImageArgs{Name: name, Files: []string{note}}))
		img, err := b.e.Image(ctx, name)
		if err != nil || img.EstimatedTokens != want {
			t.Errorf("%s: %d tokens, want %d (%v)", name, img.EstimatedTokens, want, err)
		}
	}
	made("nothing-known", 0)
	stored("01FORMER", 700000)
	made("a-former-occupant", 0)
	var now string
	if err := b.db.Read(ctx, func(r engine.Reader) error {
		all, err := r.Sessions(seat.ID)
		now = all[0].ID
		return err
	}); err != nil {
		t.Fatal(err)
	}
	stored(now, 90000)
	made("its-last-sample", 90000)
	b.rt.Used = func(p engine.Probe) engine.Usage { return engine.Usage{Known: true, Tokens: 120000} }
	made("as-it-is-now", 120000)
}
