package engine

import (
	"context"
	"time"
)

// SnapshotView is a snapshot as lists show it. It holds no token.
type SnapshotView struct {
	ID        string    `json:"id"`
	RigID     string    `json:"rig_id"`
	Rig       string    `json:"rig"`
	Kind      string    `json:"kind"`
	Status    string    `json:"status"`
	Note      string    `json:"note,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	Seats     int       `json:"seats"`
	Roster    string    `json:"roster,omitempty"` // materialized_topology or operator_explicit
	Intended  []string  `json:"intended_seats"`
	Usable    bool      `json:"usable"`
	Why       string    `json:"why,omitempty"`    // why it is not usable
	Chosen    bool      `json:"chosen,omitempty"` // `rig up` would stand on it now
}

// SnapshotSeat is what a snapshot knows of one seat.
type SnapshotSeat struct {
	Seat       string      `json:"logical_id"`
	Runtime    RuntimeName `json:"runtime"`
	Intended   bool        `json:"intended"`
	Generation int64       `json:"generation"`
	Status     string      `json:"session_status,omitempty"`
	Pane       string      `json:"pane,omitempty"`         // present, absent or unknown then
	Token      string      `json:"resume_token,omitempty"` // redacted
	Cwd        string      `json:"cwd"`
}

// SnapshotDetail is one snapshot with its seats.
type SnapshotDetail struct {
	SnapshotView
	Detail []SnapshotSeat `json:"detail"`
}

// Snapshots lists the snapshots of a rig, newest first; ref is a name or an id,
// also of a rig that is forgotten. CodeRigNotFound when there is neither.
func (e *Engine) Snapshots(ctx context.Context, ref string) ([]SnapshotView, error) {
	w, err := e.look(ctx)
	if err != nil {
		return nil, err
	}
	rig, rigErr := w.rig(ref)
	if rigErr != nil {
		rig = Rig{ID: ref}
	}
	out, err := e.snapshotsOf(ctx, w, rig)
	if err == nil && rigErr != nil && len(out) == 0 {
		return nil, rigErr
	}
	return out, err
}

// snapshotsOf lists the snapshots of one rig from one look at the world.
func (e *Engine) snapshotsOf(ctx context.Context, w *world, rig Rig) ([]SnapshotView, error) {
	rows, err := e.snapshotRows(ctx, rig.ID)
	if err != nil {
		return nil, err
	}
	chosen, err := e.chooseSnapshot(ctx, w, rig)
	if err != nil {
		return nil, err
	}
	out := make([]SnapshotView, 0, len(rows))
	for _, row := range rows {
		v, _ := w.snapshotView(rig, row)
		v.Chosen = v.Usable && v.ID == chosen.ID
		out = append(out, v)
	}
	return out, nil
}

// Snapshot shows one snapshot, with every token redacted. One that cannot be
// read is shown as unusable, with the reason.
func (e *Engine) Snapshot(ctx context.Context, id string) (SnapshotDetail, error) {
	w, err := e.look(ctx)
	if err != nil {
		return SnapshotDetail{}, err
	}
	var row SnapshotRow
	err = e.d.Store.Read(ctx, func(r Reader) error { row, err = r.Snapshot(id); return err })
	if CodeOf(err) == CodeNotFound {
		return SnapshotDetail{}, Errorf(CodeSnapshotNotFound, "no snapshot %s", id).WithHint("`rig snapshot list <rig>` lists them")
	}
	if err != nil {
		return SnapshotDetail{}, err
	}
	rig, ok := w.rigs[row.RigID]
	if !ok {
		rig = Rig{ID: row.RigID}
	}
	v, d := w.snapshotView(rig, row)
	out := SnapshotDetail{SnapshotView: v, Detail: []SnapshotSeat{}}
	intended, then := map[string]bool{}, map[string]SnapshotSession{}
	for _, l := range d.Roster.Intended {
		intended[l] = true
	}
	for _, s := range d.Sessions {
		then[s.SeatID] = s
	}
	for _, s := range d.Seats {
		o := then[s.ID]
		out.Detail = append(out.Detail, SnapshotSeat{
			Seat: s.Logical(), Runtime: s.Runtime, Intended: intended[s.Logical()], Generation: s.Generation,
			Status: string(o.Status), Pane: o.Pane, Token: NewResumeToken(o.RawToken).String(), Cwd: s.Cwd,
		})
	}
	return out, nil
}

func (w *world) snapshotView(rig Rig, row SnapshotRow) (SnapshotView, SnapshotData) {
	v := SnapshotView{
		ID: row.ID, RigID: row.RigID, Rig: rig.Name, Kind: row.Kind, Status: row.Status, Note: row.Note,
		CreatedAt: row.CreatedAt, Usable: true, Intended: []string{},
	}
	d, err := w.judgeSnapshotRow(rig, row)
	if err != nil {
		v.Usable, v.Why = false, AsError(err).Msg
	}
	if v.Rig == "" {
		v.Rig, v.Usable, v.Why = d.Rig.Name, false, "its rig is forgotten"
	}
	v.Seats, v.Roster = len(d.Seats), d.Roster.Source
	if d.Roster.Intended != nil {
		v.Intended = d.Roster.Intended
	}
	return v, d
}
