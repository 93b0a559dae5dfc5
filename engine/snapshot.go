package engine

import "context"

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
	Source   string   `json:"source"` // materialized_topology or operator_explicit
	Intended []string `json:"intended_seats"`
}

// doSnapshot saves what the record and tmux show of a rig. A failure is told and
// is not an error: the verb that asked goes on.
func doSnapshot(ctx context.Context, r *run, s Step) (Evidence, error) {
	row, err := r.e.makeSnapshot(ctx, s.Args["rig_id"], s.Args["kind"])
	if err == nil {
		err = r.lease.fenced(ctx, func(tx Tx) error {
			if err := tx.InsertSnapshot(row); err != nil {
				return err
			}
			rig, err := tx.Rig(row.RigID)
			if err != nil {
				return err
			}
			_, err = r.rigEvent(tx, "snapshot.created", rig, Evidence{"snapshot_id": row.ID, "kind": row.Kind, "status": row.Status, "note": row.Note})
			return err
		})
	}
	if err != nil {
		r.warn("the snapshot failed: " + err.Error())
		return Evidence{"failed": err.Error()}, nil
	}
	if row.Status != "complete" {
		r.warn("the snapshot is " + row.Status + ": " + row.Note)
	}
	return Evidence{"snapshot_id": row.ID, "status": row.Status, "note": row.Note}, nil
}

// makeSnapshot reads a rig into a row. When tmux could not be seen the row says
// partial: it is never taken for a healthy one.
func (e *Engine) makeSnapshot(ctx context.Context, rigID, kind string) (SnapshotRow, error) {
	w, err := e.look(ctx)
	if err != nil {
		return SnapshotRow{}, err
	}
	rig, ok := w.rigs[rigID]
	if !ok {
		return SnapshotRow{}, Errorf(CodeRigNotFound, "no rig %s", rigID).WithHint("`rig ps` lists the rigs")
	}
	d := SnapshotData{Version: 1, Rig: rig, Seats: w.seatsOf(rigID), Roster: SnapshotRoster{Source: "materialized_topology"}}
	for _, p := range w.rec.Pods {
		if p.RigID == rigID {
			d.Pods = append(d.Pods, p)
		}
	}
	for _, ed := range w.rec.Edges {
		if ed.RigID == rigID {
			d.Edges = append(d.Edges, ed)
		}
	}
	for _, seat := range d.Seats {
		d.Roster.Intended = append(d.Roster.Intended, seat.Logical())
		if last, ok := w.latest[seat.ID]; ok {
			d.Sessions = append(d.Sessions, SnapshotSession{last, last.Token.Reveal(), w.locate(seat.ID).presence.String()})
		}
	}
	row := SnapshotRow{ID: e.d.IDs.New(), RigID: rigID, Kind: kind, Status: "complete", Data: mustJSON(d), CreatedAt: w.now}
	if w.inv.Server != Present {
		row.Status, row.Note = "partial", "tmux was "+w.inv.Server.String()+" when it was made"
	}
	return row, nil
}
