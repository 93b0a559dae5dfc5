package engine

import (
	"context"
	"time"
)

// compactionSeenKey is where the time of an occupant's last known compaction is
// kept, so that each is told once, whoever sees it first.
func compactionSeenKey(sessionID string) string { return "compact/seen/" + sessionID }

// unauditedKey is where it is kept which conversation of a seat was compacted and has
// not passed its audit since: the seat's row tells of its present occupant alone.
func unauditedKey(seatID string) string { return "compact/unaudited/" + seatID }

// oweAudit notes that a conversation was compacted, whoever goes on with it.
func oweAudit(tx Tx, seatID string, token ResumeToken) error {
	if token.Empty() {
		return nil
	}
	return tx.SetMeta(unauditedKey(seatID), ConversationDigest(token.Reveal()))
}

// goesOn is the lifecycle of an occupant that goes on with a conversation of its seat:
// one that was compacted and not audited stays so.
func goesOn(tx Tx, seatID string, token ResumeToken) (Lifecycle, error) {
	owed, err := tx.Meta(unauditedKey(seatID))
	if err == nil && owed != "" && !token.Empty() && owed == ConversationDigest(token.Reveal()) {
		return LifecycleCompacted, nil
	}
	return LifecycleActive, err
}

func stampOf(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// sameCompaction is how far the times of one compaction may lie apart: a hook and
// a record of the client tell of it at different moments, well within a second of
// each other, and two compactions take a model's answer each.
const sameCompaction = 3 * time.Second

// told is a number of tokens for an event: null where the client did not say it.
func told(tokens int64) any {
	if tokens == 0 {
		return nil
	}
	return tokens
}

// seenCompaction is the newest compaction of an occupant that a look has shown.
type seenCompaction struct {
	session string
	seatID  string
	address string
	proof   CompactionProof
}

// watchCompaction remembers the newest compaction of an occupant, of any origin.
func (o *observer) watchCompaction(ctx context.Context, rt Runtime, p *Probe) {
	c, ok := rt.(compactor)
	if !ok {
		return
	}
	if proof, ok := c.LatestCompaction(ctx, *p); ok && proof.At.After(p.Started) {
		o.kept.seen[p.Seat.ID] = seenCompaction{p.Session.ID, p.Seat.ID, p.Address, proof}
	}
}

// storeCompactions puts compactions on record that no operation of ours drives: a
// person's, and the client's own.
func (o *observer) storeCompactions(ctx context.Context) error {
	if o.kept.off || len(o.kept.seen) == 0 {
		return nil
	}
	w := o.world(o.e.d.Clock.Now())
	for id, s := range o.kept.seen {
		if at := o.kept.told[s.session]; !s.proof.At.After(at.Add(sameCompaction)) || w.latest[id].ID != s.session {
			continue
		}
		if o.guided(w, id) {
			continue // its own commit tells
		}
		first, err := o.e.recordCompaction(ctx, s)
		if err != nil {
			if CodeOf(err) == CodeRecordReadOnly {
				o.kept.off = true
			}
			return err
		}
		o.kept.told[s.session] = s.proof.At
		if first {
			o.e.tellOf(ctx, w, s)
		}
	}
	return nil
}

// guided reports whether an operation of ours is compacting a seat.
func (o *observer) guided(w *world, seatID string) bool {
	return w.holder(seatID).Verb == VerbCompact
}

// recordCompaction writes the event and the verdict of one compaction, unless it
// is on record already; first says that this call has written them.
func (e *Engine) recordCompaction(ctx context.Context, s seenCompaction) (first bool, err error) {
	err = e.d.Store.Write(ctx, func(tx Tx) error {
		first = false
		text, err := tx.Meta(compactionSeenKey(s.session))
		if err != nil {
			return err
		}
		if known, err := time.Parse(time.RFC3339Nano, text); err == nil && !s.proof.At.After(known.Add(sameCompaction)) {
			return nil
		}
		seat, err := tx.Seat(s.seatID)
		if err != nil {
			return err
		}
		cur, err := currentSession(tx, s.seatID)
		if err != nil || cur.ID != s.session {
			return err // another occupant sits there now
		}
		if err := oweAudit(tx, s.seatID, cur.Token); err != nil {
			return err
		}
		seat.Lifecycle, seat.UpdatedAt = LifecycleCompacted, s.proof.At
		if err := tx.UpdateSeat(&seat); err != nil {
			return err
		}
		if err := tx.SetMeta(compactionSeenKey(s.session), stampOf(s.proof.At)); err != nil {
			return err
		}
		first = true
		_, err = tx.AppendEvent(Event{
			At: e.d.Clock.Now(), Type: EventCompacted, RigID: seat.RigID, SeatID: seat.ID, Seat: s.address, Rig: rigOfAddress(s.address, seat),
			Payload: mustJSON(map[string]any{
				"origin": "not by an operation of ours", "trigger": s.proof.Trigger, "source": s.proof.Source, "at": stampOf(s.proof.At),
				"pre_tokens": told(s.proof.PreTokens), "post_tokens": told(s.proof.PostTokens), "generation": seat.Generation,
			}),
		})
		return err
	})
	return first && err == nil, err
}
