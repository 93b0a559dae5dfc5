package store

import (
	"errors"

	"rig/engine"
)

const usageCols = "seat_id, session_id, known, tokens, window, percent, source, sampled_at, generation, confidence, note"

// maxSamples is how many samples of a seat are kept.
const maxSamples = 500

func scanUsage(row row) (u engine.StoredUsage, err error) {
	return u, row.Scan(&u.SeatID, &u.SessionID, &u.Known, &u.Tokens, &u.Window, &u.Percent, &u.Source, (*stamp)(&u.SampledAt),
		&u.Generation, &u.Confidence, &u.Note)
}

// UsageSamples lists a seat's samples, newest first; limit ≤ 0 means all that are
// kept.
func (v *view) UsageSamples(seatID string, limit int) ([]engine.StoredUsage, error) {
	if limit <= 0 {
		limit = maxSamples
	}
	return many(v, scanUsage, "SELECT "+usageCols+" FROM usage_samples WHERE seat_id = ? ORDER BY sampled_at DESC, session_id DESC LIMIT ?",
		seatID, limit)
}

// PutUsage adds a sample to a seat's history, of which the newest 500 are kept,
// and makes it the current one unless a later sample is. The same session sampled
// at the same moment is one sample.
func (t *txn) PutUsage(u engine.StoredUsage) error {
	args := []any{
		u.SeatID, u.SessionID, u.Known, u.Tokens, u.Window, u.Percent, u.Source, stamp(u.SampledAt), u.Generation,
		u.Confidence, u.Note,
	}
	err := t.put("usage_samples", "seat_id, sampled_at, session_id", usageCols, args)
	if err != nil {
		return err
	}
	_, err = t.exec(`DELETE FROM usage_samples WHERE seat_id = ?1 AND sampled_at < (
		SELECT sampled_at FROM usage_samples WHERE seat_id = ?1 ORDER BY sampled_at DESC, session_id DESC LIMIT 1 OFFSET ?2)`,
		u.SeatID, maxSamples-1)
	if err != nil {
		return err
	}
	_, err = t.exec("INSERT INTO context_usage ("+usageCols+") VALUES ("+marks(len(args))+") ON CONFLICT (seat_id) DO UPDATE SET ("+
		usageCols+") = ("+excluded(usageCols)+") WHERE excluded.sampled_at >= context_usage.sampled_at", args...)
	return err
}

const workCols = "id, seat_id, title, body, state, generation, sender, note, created_at, updated_at, version"

func scanWork(row row) (w engine.WorkItem, err error) {
	return w, row.Scan(&w.ID, &w.SeatID, &w.Title, &w.Body, &w.State, &w.Generation, &w.From, &w.Note, (*stamp)(&w.CreatedAt),
		(*stamp)(&w.UpdatedAt), &w.Version)
}

// Work lists a seat's inbound work, oldest first.
func (v *view) Work(seatID string) ([]engine.WorkItem, error) {
	return many(v, scanWork, "SELECT "+workCols+" FROM work_items WHERE seat_id = ? ORDER BY created_at, id", seatID)
}

// WorkItem reads one piece of work.
func (v *view) WorkItem(id string) (engine.WorkItem, error) {
	return one(v, scanWork, absent("work item", id, "`rig work list <seat>` lists a seat's work"),
		"SELECT "+workCols+" FROM work_items WHERE id = ?", id)
}

// InsertWork stores a new piece of work for a seat.
func (t *txn) InsertWork(w engine.WorkItem) error {
	return t.insert("work_items", workCols, []any{
		w.ID, w.SeatID, w.Title, w.Body, w.State, w.Generation, w.From, w.Note,
		stamp(w.CreatedAt), stamp(w.UpdatedAt), w.Version,
	})
}

// UpdateWork writes everything but id, seat and creation time: work never leaves
// its seat. It bumps w.Version, also when the transaction is undone later.
func (t *txn) UpdateWork(w *engine.WorkItem) error {
	return t.update("work_items", "work item", w.ID, &w.Version, "title, body, state, generation, sender, note, updated_at",
		[]any{w.Title, w.Body, w.State, w.Generation, w.From, w.Note, stamp(w.UpdatedAt)})
}

func scanAck(row row) (a engine.Ack, err error) {
	return a, row.Scan(&a.Key, &a.By, (*stamp)(&a.At), (*stamp)(&a.Until))
}

// Acks lists the acknowledged and snoozed attention items by key.
func (v *view) Acks() ([]engine.Ack, error) {
	return many(v, scanAck, "SELECT key, by, at, until FROM acks ORDER BY key")
}

// PutAck acknowledges or snoozes an attention item.
func (t *txn) PutAck(a engine.Ack) error {
	return t.put("acks", "key", "key, by, at, until", []any{a.Key, a.By, stamp(a.At), stamp(a.Until)})
}

// DeleteAck takes an acknowledgement back; none is fine.
func (t *txn) DeleteAck(key string) error {
	_, err := t.exec("DELETE FROM acks WHERE key = ?", key)
	return err
}

// Meta reads a value of the record itself, "" when there is none.
func (v *view) Meta(key string) (string, error) {
	s, err := one(v, scanString, absent("meta value", key, "nothing was stored under it"), "SELECT value FROM meta WHERE key = ?", key)
	if errors.Is(err, &engine.Error{Code: engine.CodeNotFound}) {
		return "", nil
	}
	return s, err
}

// SetMeta stores a value of the record itself; an empty one leaves no row. Keys
// that start with "store." are this package's own and refused.
func (t *txn) SetMeta(key, value string) error {
	if len(key) >= len(reservedPrefix) && key[:len(reservedPrefix)] == reservedPrefix {
		return engine.Errorf(engine.CodeInvalid, "keys that start with %q belong to the record itself", reservedPrefix).
			On("write record", key).WithHint("choose another key")
	}
	if value == "" {
		_, err := t.exec("DELETE FROM meta WHERE key = ?", key)
		return err
	}
	return t.put("meta", "key", "key, value", []any{key, value})
}
