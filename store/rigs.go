package store

import "rig/engine"

const (
	rigState = "name, summary, spec_path, spec_digest, root, policies, updated_at, archived_at, stopped_at"
	rigCols  = "id, created_at, version, " + rigState
	podCols  = "id, rig_id, name, label, summary, continuity_policy, ordinal"
	edgeCols = "rig_id, from_seat, to_seat, kind"

	listRigs = "`rig ps` lists the rigs"
)

func rigArgs(r *engine.Rig) []any {
	return []any{
		r.Name, r.Summary, r.SpecPath, r.SpecDigest, r.Root, r.Policies,
		stamp(r.UpdatedAt), stamp(r.ArchivedAt), stamp(r.StoppedAt),
	}
}

func scanRig(row row) (r engine.Rig, err error) {
	err = row.Scan(&r.ID, (*stamp)(&r.CreatedAt), &r.Version, &r.Name, &r.Summary, &r.SpecPath, &r.SpecDigest, &r.Root,
		&r.Policies, (*stamp)(&r.UpdatedAt), (*stamp)(&r.ArchivedAt), (*stamp)(&r.StoppedAt))
	return r, err
}

// Rig reads a rig, archived or not.
func (v *view) Rig(id string) (engine.Rig, error) {
	return one(v, scanRig, absent("rig", id, listRigs), "SELECT "+rigCols+" FROM rigs WHERE id = ?", id)
}

// RigsNamed lists the rigs of a name, oldest first.
func (v *view) RigsNamed(name string, archived bool) ([]engine.Rig, error) {
	return many(v, scanRig, "SELECT "+rigCols+" FROM rigs WHERE name = ? AND (archived_at IS NULL OR ?) ORDER BY created_at, id",
		name, archived)
}

// AllRigs lists the rigs by name.
func (v *view) AllRigs(archived bool) ([]engine.Rig, error) {
	return many(v, scanRig, "SELECT "+rigCols+" FROM rigs WHERE archived_at IS NULL OR ? ORDER BY name, created_at, id", archived)
}

// InsertRig stores a new rig with the version that it carries.
func (t *txn) InsertRig(r engine.Rig) error {
	return t.insert("rigs", rigCols, append([]any{r.ID, stamp(r.CreatedAt), r.Version}, rigArgs(&r)...))
}

// UpdateRig writes everything but id and creation time. It bumps r.Version, also
// when the transaction is undone later.
func (t *txn) UpdateRig(r *engine.Rig) error {
	return t.update("rigs", "rig", r.ID, &r.Version, rigState, rigArgs(r))
}

// DeleteRig removes a rig and what means nothing without it. Operations, events,
// tenures and snapshots stay.
func (t *txn) DeleteRig(id string) error { return t.remove("rigs", "rig", id) }

func scanPod(row row) (p engine.Pod, err error) {
	return p, row.Scan(&p.ID, &p.RigID, &p.Name, &p.Label, &p.Summary, &p.Continuity, &p.Ordinal)
}

// Pods lists the pods of a rig in spec order.
func (v *view) Pods(rigID string) ([]engine.Pod, error) {
	return many(v, scanPod, "SELECT "+podCols+" FROM pods WHERE rig_id = ? ORDER BY ordinal, name", rigID)
}

// InsertPod stores a new pod.
func (t *txn) InsertPod(p engine.Pod) error {
	return t.insert("pods", podCols, []any{p.ID, p.RigID, p.Name, p.Label, p.Summary, p.Continuity, p.Ordinal})
}

// DeletePod removes a pod with its seats.
func (t *txn) DeletePod(id string) error { return t.remove("pods", "pod", id) }

func scanEdge(row row) (e engine.Edge, err error) {
	return e, row.Scan(&e.RigID, &e.From, &e.To, &e.Kind)
}

// Edges lists the edges of a rig, in the order of their ends.
func (v *view) Edges(rigID string) ([]engine.Edge, error) {
	return many(v, scanEdge, "SELECT "+edgeCols+" FROM edges WHERE rig_id = ? ORDER BY from_seat, to_seat, kind", rigID)
}

// InsertEdge stores a relation; both ends must be seats of the edge's rig.
func (t *txn) InsertEdge(e engine.Edge) error {
	return t.insert("edges", edgeCols, []any{e.RigID, e.From, e.To, e.Kind})
}
