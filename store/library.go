package store

import "rig/engine"

const discoveredCols = "id, socket, epoch, session_name, pane, pid, cwd, command, runtime_hint, confidence, evidence, status, " +
	"claimed_by, first_seen, last_seen"

func scanDiscovered(row row) (d engine.DiscoveredSession, err error) {
	return d, row.Scan(&d.ID, &d.Socket, &d.Epoch, &d.SessionName, &d.Pane, &d.PID, &d.Cwd, &d.Command, &d.RuntimeHint,
		&d.Confidence, &d.Evidence, &d.Status, &d.ClaimedBy, (*stamp)(&d.FirstSeen), (*stamp)(&d.LastSeen))
}

// Discovered reads an unmanaged pane that a scan saw.
func (v *view) Discovered(id string) (engine.DiscoveredSession, error) {
	return one(v, scanDiscovered, absent("discovered session", id, "`rig discover` scans again"),
		"SELECT "+discoveredCols+" FROM discovered WHERE id = ?", id)
}

// AllDiscovered lists what the scans saw, in the order of discovery.
func (v *view) AllDiscovered() ([]engine.DiscoveredSession, error) {
	return many(v, scanDiscovered, "SELECT "+discoveredCols+" FROM discovered ORDER BY first_seen, id")
}

// PutDiscovered stores what a scan saw under its id. A pane of one server life
// has one row: a second id for it is CodeConflict.
func (t *txn) PutDiscovered(d engine.DiscoveredSession) error {
	return t.put("discovered", "id", discoveredCols, []any{
		d.ID, d.Socket, d.Epoch, d.SessionName, d.Pane, d.PID, d.Cwd, d.Command,
		d.RuntimeHint, d.Confidence, d.Evidence, d.Status, d.ClaimedBy, stamp(d.FirstSeen), stamp(d.LastSeen),
	})
}

const snapshotCols = "id, rig_id, kind, status, note, created_at"

// Snapshot reads a snapshot with its data.
func (v *view) Snapshot(id string) (engine.SnapshotRow, error) {
	scan := func(row row) (s engine.SnapshotRow, err error) {
		return s, row.Scan(&s.ID, &s.RigID, &s.Kind, &s.Status, &s.Note, (*stamp)(&s.CreatedAt), &s.Data)
	}
	return one(v, scan, absent("snapshot", id, "`rig snapshot list <rig>` lists them"),
		"SELECT "+snapshotCols+", data FROM snapshots WHERE id = ?", id)
}

// Snapshots lists a rig's snapshots, newest first, without their data.
func (v *view) Snapshots(rigID string) ([]engine.SnapshotRow, error) {
	scan := func(row row) (s engine.SnapshotRow, err error) {
		return s, row.Scan(&s.ID, &s.RigID, &s.Kind, &s.Status, &s.Note, (*stamp)(&s.CreatedAt))
	}
	return many(v, scan, "SELECT "+snapshotCols+" FROM snapshots WHERE rig_id = ? ORDER BY created_at DESC, id DESC", rigID)
}

// InsertSnapshot stores a snapshot. It outlives its rig.
func (t *txn) InsertSnapshot(s engine.SnapshotRow) error {
	return t.insert("snapshots", snapshotCols+", data",
		[]any{s.ID, s.RigID, s.Kind, s.Status, s.Note, stamp(s.CreatedAt), s.Data})
}

// DeleteSnapshot removes a snapshot.
func (t *txn) DeleteSnapshot(id string) error { return t.remove("snapshots", "snapshot", id) }
