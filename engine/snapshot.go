package engine

import (
	"context"
	"fmt"
)

// Kinds of snapshots.
const (
	SnapshotManual     = "manual"
	SnapshotPreDown    = "auto-pre-down"
	SnapshotPeriodic   = "auto-periodic"
	SnapshotPreRestore = "pre_restore"
)

// States of a snapshot. Only a complete one is ever chosen.
const (
	SnapshotComplete = "complete"
	SnapshotPartial  = "partial" // tmux could not be seen, or showed none of the bound seats
)

// Where a snapshot's roster comes from.
const (
	RosterTopology = "materialized_topology" // every seat that the rig had
	RosterExplicit = "operator_explicit"     // the seats that an operator named
)

// SnapshotData is what a snapshot keeps of a rig. It holds raw tokens: it is
// stored with mode 0600 like the record and never printed whole.
type SnapshotData struct {
	Version  int               `json:"version"`
	Rig      Rig               `json:"rig"`
	Pods     []Pod             `json:"pods"`
	Seats    []Seat            `json:"seats"`
	Edges    []Edge            `json:"edges"`
	Sessions []SnapshotSession `json:"sessions"` // the latest of each seat
	Roster   SnapshotRoster    `json:"topology_roster"`
}

// SnapshotSession is an occupant with its raw token.
type SnapshotSession struct {
	Session
	RawToken string `json:"raw_token,omitempty"`
	Pane     string `json:"pane"` // present, absent or unknown when the snapshot was made
}

// SnapshotRoster says which seats a later restore is to judge.
type SnapshotRoster struct {
	Source   string   `json:"source"`         // materialized_topology or operator_explicit
	Intended []string `json:"intended_seats"` // logical ids
}

// doSnapshot saves what the record and tmux show of a rig. A failure is told and
// is not an error: the verb that asked goes on.
func doSnapshot(ctx context.Context, r *run, s Step) (Evidence, error) {
	row, err := r.e.makeSnapshot(ctx, s.Args["rig_id"], s.Args["kind"], nil, r.looker())
	if err == nil {
		err = r.lease.fenced(ctx, func(tx Tx) error { return r.putSnapshot(tx, row) })
	}
	if err != nil {
		r.warn("the snapshot failed: " + err.Error())
		return Evidence{"failed": err.Error()}, nil
	}
	if row.Status != SnapshotComplete && row.Kind != SnapshotPreRestore {
		r.warn("the snapshot is " + row.Status + ": " + row.Note)
	}
	if row.Kind != SnapshotPreRestore { // a restore's receipt names the one it restores from
		r.addExtra("snapshot", snapshotExtra(row))
	}
	return Evidence{"snapshot_id": row.ID, "status": row.Status, "note": row.Note}, nil
}

// putSnapshot stores a snapshot and its event together.
func (r *run) putSnapshot(tx Tx, row SnapshotRow) error {
	if err := tx.InsertSnapshot(row); err != nil {
		return err
	}
	rig, err := tx.Rig(row.RigID)
	if err != nil {
		return err
	}
	_, err = r.rigEvent(tx, "snapshot.created", rig, snapshotEvidence(row))
	return err
}

// snapshotExtra is how a receipt names a snapshot that was saved.
func snapshotExtra(row SnapshotRow) map[string]any {
	return map[string]any{"id": row.ID, "kind": row.Kind, "status": row.Status, "note": row.Note, "created_at": row.CreatedAt}
}

func snapshotEvidence(row SnapshotRow) Evidence {
	return Evidence{"snapshot_id": row.ID, "kind": row.Kind, "status": row.Status, "note": row.Note}
}

// makeSnapshot reads a rig into a row. Where tmux could not be seen, or shows
// none of the seats that the record binds, the row says partial: a server that is
// going down must not leave a snapshot that passes for a healthy one. What the
// occupants prove of themselves meanwhile goes onto the record first. intended
// names the roster, nil = every seat.
func (e *Engine) makeSnapshot(ctx context.Context, rigID, kind string, intended []string, by looker) (SnapshotRow, error) {
	w, err := e.look(ctx)
	if err != nil {
		return SnapshotRow{}, err
	}
	rig, ok := w.rigs[rigID]
	if !ok {
		return SnapshotRow{}, Errorf(CodeRigNotFound, "no rig %s", rigID).WithHint("`rig ps` lists the rigs")
	}
	e.learnIDs(ctx, w, w.seatsOf(rig.ID), by)
	d := w.snapshotOf(rig, intended)
	row := SnapshotRow{ID: e.d.IDs.New(), RigID: rigID, Kind: kind, Status: SnapshotComplete, Data: mustJSON(d), CreatedAt: w.now}
	if note := w.blindness(rig); note != "" {
		row.Status, row.Note = SnapshotPartial, note
	}
	return row, nil
}

func (w *world) snapshotOf(rig Rig, intended []string) SnapshotData {
	d := SnapshotData{
		Version: 1, Rig: rig, Seats: w.seatsOf(rig.ID), Pods: []Pod{}, Edges: []Edge{}, Sessions: []SnapshotSession{},
		Roster: SnapshotRoster{Source: RosterTopology, Intended: []string{}},
	}
	if d.Seats == nil {
		d.Seats = []Seat{}
	}
	for _, p := range w.rec.Pods {
		if p.RigID == rig.ID {
			d.Pods = append(d.Pods, p)
		}
	}
	for _, ed := range w.rec.Edges {
		if ed.RigID == rig.ID {
			d.Edges = append(d.Edges, ed)
		}
	}
	for _, seat := range d.Seats {
		d.Roster.Intended = append(d.Roster.Intended, seat.Logical())
		if last, ok := w.latest[seat.ID]; ok {
			raw := last.Token.Reveal()
			last.Token = ResumeToken{} // it marshals redacted, which nothing could read back
			d.Sessions = append(d.Sessions, SnapshotSession{last, raw, w.locate(seat.ID).presence.String()})
		}
	}
	if intended != nil {
		d.Roster = SnapshotRoster{Source: RosterExplicit, Intended: intended}
	}
	return d
}

// blindness says why a look at tmux does not show a rig as the record has it, ""
// when it does. A rig without a bound seat needs no tmux to be seen.
func (w *world) blindness(rig Rig) string {
	bound, seen := 0, 0
	for _, s := range w.seatsOf(rig.ID) {
		if _, ok := w.bindings[s.ID]; !ok {
			continue
		}
		bound++
		if w.locate(s.ID).presence == Present {
			seen++
		}
	}
	switch {
	case bound == 0 || seen > 0:
		return ""
	case w.inv.Server == Present:
		return fmt.Sprintf("tmux showed none of its %d bound seats", bound)
	}
	return fmt.Sprintf("tmux was %s, with %s bound on record", w.inv.Server, Counted(bound, "seat"))
}
