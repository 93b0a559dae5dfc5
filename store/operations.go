package store

import "rig/engine"

const (
	operationState = "verb, target, rig_id, seat_id, reason, operator, fingerprint, plan, state, receipt, error, owner, build, " +
		"committed, undo_until, started_at, ended_at"
	operationCols = "id, version, " + operationState

	// openStates is the opposite of engine.OpState.Ended, in the words of the
	// partial index.
	openStates = "state NOT IN ('done', 'partial', 'failed', 'rolled_back', 'undone')"

	// undoStates, too, is in the words of its partial index.
	undoStates = "undo_until IS NOT NULL"

	stepCols = "op_id, seq, unit, phase, step_id, kind, title, seat, effect, state, evidence, error, started_at, ended_at"

	leaseCols = "key, op_id, owner, fence, granted_at, expires_at"

	defaultOperations = 200
)

func operationArgs(o *engine.Operation) []any {
	return []any{
		o.Verb, o.Target, o.RigID, o.SeatID, o.Reason, o.Operator, o.Fingerprint, raw(o.Plan), o.State, raw(o.Receipt),
		o.Error, asJSON(&o.Owner), o.Build, o.Committed, stamp(o.UndoUntil), stamp(o.StartedAt), stamp(o.EndedAt),
	}
}

func scanOperation(row row) (o engine.Operation, err error) {
	err = row.Scan(&o.ID, &o.Version, &o.Verb, &o.Target, &o.RigID, &o.SeatID, &o.Reason, &o.Operator, &o.Fingerprint,
		(*raw)(&o.Plan), &o.State, (*raw)(&o.Receipt), &o.Error, asJSON(&o.Owner), &o.Build, &o.Committed,
		(*stamp)(&o.UndoUntil), (*stamp)(&o.StartedAt), (*stamp)(&o.EndedAt))
	return o, err
}

// Operation reads an operation.
func (v *view) Operation(id string) (engine.Operation, error) {
	return one(v, scanOperation, absent("operation", id, "`rig op list` lists them"),
		"SELECT "+operationCols+" FROM operations WHERE id = ?", id)
}

// Operations lists operations, newest first.
func (v *view) Operations(f engine.OperationFilter) ([]engine.Operation, error) {
	var w where
	w.equal("rig_id", f.RigID)
	w.equal("seat_id", f.SeatID)
	if f.Open {
		w.and(openStates)
	}
	if f.Undo {
		w.and(undoStates)
	}
	w.limit(f.Limit, defaultOperations)
	return many(v, scanOperation, "SELECT "+operationCols+" FROM operations"+w.sql("started_at DESC, id DESC"), w.args...)
}

// InsertOperation stores a new operation; an id that was used is CodeConflict.
func (t *txn) InsertOperation(o engine.Operation) error {
	return t.insert("operations", operationCols, append([]any{o.ID, o.Version}, operationArgs(&o)...))
}

// UpdateOperation writes everything but the id. It bumps o.Version, also when the
// transaction is undone later.
func (t *txn) UpdateOperation(o *engine.Operation) error {
	return t.update("operations", "operation", o.ID, &o.Version, operationState, operationArgs(o))
}

// Steps lists the journal of an operation in print order.
func (v *view) Steps(opID string) ([]engine.OperationStep, error) {
	scan := func(row row) (s engine.OperationStep, err error) {
		return s, row.Scan(&s.OpID, &s.Seq, &s.Unit, &s.Phase, &s.StepID, &s.Kind, &s.Title, &s.Seat, &s.Effect, &s.State,
			(*raw)(&s.Evidence), &s.Error, (*stamp)(&s.StartedAt), (*stamp)(&s.EndedAt))
	}
	return many(v, scan, "SELECT "+stepCols+" FROM operation_steps WHERE op_id = ? ORDER BY seq", opID)
}

// PutStep stores a journal entry in place of the one at its position.
func (t *txn) PutStep(s engine.OperationStep) error {
	return t.put("operation_steps", "op_id, seq", stepCols, []any{
		s.OpID, s.Seq, s.Unit, s.Phase, s.StepID, s.Kind, s.Title, s.Seat,
		s.Effect, s.State, raw(s.Evidence), s.Error, stamp(s.StartedAt), stamp(s.EndedAt),
	})
}

func scanLease(row row) (l engine.Lease, err error) {
	return l, row.Scan(&l.Key, &l.OpID, asJSON(&l.Owner), &l.Fence, (*stamp)(&l.GrantedAt), (*stamp)(&l.ExpiresAt))
}

// Lease reads who holds a seat or rig.
func (v *view) Lease(key string) (engine.Lease, error) {
	return one(v, scanLease, absent("lease", key, "no operation holds it"), "SELECT "+leaseCols+" FROM leases WHERE key = ?", key)
}

// Leases lists every lease by key.
func (v *view) Leases() ([]engine.Lease, error) {
	return many(v, scanLease, "SELECT "+leaseCols+" FROM leases ORDER BY key")
}

// LeaseKeys gives the keys that an operation holds with a fencing number.
func (v *view) LeaseKeys(opID string, fence int64) ([]string, error) {
	scan := func(row row) (key string, err error) { return key, row.Scan(&key) }
	return many(v, scan, "SELECT key FROM leases WHERE op_id = ? AND fence = ? ORDER BY key", opID, fence)
}

// PutLease grants or renews a lease. A fencing number below the stored one comes
// from an operation that lost it: CodeLeaseLost.
func (t *txn) PutLease(l engine.Lease) error {
	n, err := t.exec("INSERT INTO leases ("+leaseCols+") VALUES ("+marks(6)+`)
		ON CONFLICT (key) DO UPDATE SET op_id = excluded.op_id, owner = excluded.owner, fence = excluded.fence,
			granted_at = excluded.granted_at, expires_at = excluded.expires_at WHERE excluded.fence >= leases.fence`,
		l.Key, l.OpID, asJSON(&l.Owner), l.Fence, stamp(l.GrantedAt), stamp(l.ExpiresAt))
	if err == nil && n == 0 {
		return engine.Errorf(engine.CodeLeaseLost, "the lease was granted to another operation meanwhile").
			On("write record", l.Key).WithHint("nothing was changed; `rig op list` shows who holds it")
	}
	return err
}

// DeleteLease gives a lease back if that operation holds it, else does nothing.
func (t *txn) DeleteLease(key, opID string) error {
	_, err := t.exec("DELETE FROM leases WHERE key = ? AND op_id = ?", key, opID)
	return err
}

// NextFence gives a number greater than any that a committed transaction got.
func (t *txn) NextFence() (int64, error) {
	return one(&t.view, scanInt, absent("fencing number", keyFence, "the record is damaged"),
		`INSERT INTO meta (key, value) VALUES (?, '1')
		ON CONFLICT (key) DO UPDATE SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT)
		RETURNING CAST(value AS INTEGER)`, keyFence)
}
