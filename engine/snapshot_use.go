package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Codes of choosing a snapshot.
const (
	CodeSnapshotNotFound Code = "snapshot_not_found"
	CodeSnapshotWrongRig Code = "snapshot_wrong_rig"
	CodeSnapshotUnusable Code = "snapshot_unusable"
)

// readSnapshot reads what a row holds and checks that it is whole. An error says
// what is wrong with it.
func readSnapshot(row SnapshotRow) (SnapshotData, error) {
	var d SnapshotData
	if err := json.Unmarshal(row.Data, &d); err != nil {
		return d, unusable("its data is cut off or damaged")
	}
	switch {
	case d.Version != 1:
		return d, unusable("its version %d is not known to this build", d.Version)
	case d.Rig.ID == "" || d.Rig.ID != row.RigID:
		return d, unusable("it does not name its rig")
	case d.Seats == nil || d.Edges == nil || d.Sessions == nil || d.Roster.Intended == nil:
		return d, unusable("its seats, edges, occupants or roster are missing")
	}
	seats := map[string]bool{}
	for _, s := range d.Seats {
		if s.ID == "" || s.Pod == "" || s.Member == "" {
			return d, unusable("one of its seats has no name")
		}
		seats[s.ID] = true
	}
	for _, s := range d.Sessions {
		if s.ID == "" || s.Name == "" || !seats[s.SeatID] {
			return d, unusable("one of its occupants has no name or no seat")
		}
	}
	if d.Roster.Source != RosterTopology && d.Roster.Source != RosterExplicit {
		return d, unusable("the source of its roster is not known")
	}
	return d, nil
}

func unusable(format string, a ...any) *Error {
	return Errorf(CodeSnapshotUnusable, format, a...).
		WithHint("`rig snapshot list` shows the others; `rig up` chooses the newest usable one, or the record itself")
}

// judgeSnapshotRow says whether a restore may stand on a snapshot: it is whole,
// it saw tmux, it is not empty where the rig is not, and no seat has had another
// conversation since. An unusable one is an error with the reason.
func (w *world) judgeSnapshotRow(rig Rig, row SnapshotRow) (SnapshotData, error) {
	d, err := readSnapshot(row)
	if err != nil {
		return d, err
	}
	if row.Status != SnapshotComplete {
		return d, unusable("it is %s: %s", row.Status, row.Note)
	}
	seats := w.seatsOf(rig.ID)
	if len(seats) > 0 && (len(d.Seats) == 0 || len(d.Roster.Intended) == 0) {
		return d, unusable("it holds no seat, and the rig has %d", len(seats))
	}
	known, then := map[string]bool{}, map[string]SnapshotSession{}
	for _, s := range d.Seats {
		known[s.ID] = true
	}
	for _, s := range d.Sessions {
		then[s.SeatID] = s
	}
	for _, s := range seats {
		if !known[s.ID] {
			return d, unusable("it does not know %s, which was added since", s.Logical())
		}
		if why := w.olderOccupant(s, then[s.ID]); why != "" {
			return d, unusable("%s", why)
		}
	}
	return d, nil
}

// olderOccupant says that a snapshot names another occupant than the seat has
// now. A later generation that goes on with the same conversation is the same
// one; a shell has no conversation to lose.
func (w *world) olderOccupant(s Seat, then SnapshotSession) string {
	now, ok := w.latest[s.ID]
	switch {
	case !ok || s.Runtime == RuntimeTerminal || now.Generation == then.Generation:
		return ""
	case !now.Token.Empty() && SameNativeID(now.Token.Reveal(), then.RawToken):
		return ""
	}
	return fmt.Sprintf("it names an older occupant of %s: generation %d, and now it is %d", s.Logical(), then.Generation, now.Generation)
}

// SnapshotSelection says what a restore stands on, and why.
type SnapshotSelection struct {
	ID        string    `json:"id,omitempty"` // "" = the record itself
	Kind      string    `json:"kind,omitempty"`
	CreatedAt time.Time `json:"created_at,omitzero"`
	Age       string    `json:"age,omitempty"`
	Mode      string    `json:"mode"` // explicit, automatic or record
	Rationale string    `json:"rationale"`
	// Passed are the newer ones that were not usable, with the reason.
	Passed []SnapshotPassed `json:"passed_over,omitempty"`
	// Newer is a newer usable snapshot than the one that was named.
	Newer string `json:"newer_usable,omitempty"`
}

// SnapshotPassed is a snapshot that was not chosen.
type SnapshotPassed struct {
	ID     string `json:"id"`
	Kind   string `json:"kind"`
	Reason string `json:"reason"`
}

// chosenSnapshot is a selection with its data; data is nil for the record.
type chosenSnapshot struct {
	SnapshotSelection
	data *SnapshotData
}

// chooseSnapshot finds the newest usable snapshot of a rig: those that our own
// verbs and the clock make come first, any other kind after them. Without a
// usable one the record itself is what there is.
func (e *Engine) chooseSnapshot(ctx context.Context, w *world, rig Rig) (chosenSnapshot, error) {
	c := chosenSnapshot{SnapshotSelection: SnapshotSelection{Mode: "record", Rationale: "no snapshot: the record has what is known"}}
	rows, err := e.snapshotRows(ctx, rig.ID)
	if err != nil {
		return c, err
	}
	for _, auto := range []bool{true, false} {
		for _, row := range rows {
			if (row.Kind == SnapshotPreDown || row.Kind == SnapshotPeriodic) != auto {
				continue
			}
			d, err := w.judgeSnapshotRow(rig, row)
			if err != nil {
				c.Passed = append(c.Passed, SnapshotPassed{row.ID, row.Kind, AsError(err).Msg})
				continue
			}
			c.take(w, row, &d, "automatic")
			c.Rationale = "the newest usable one of kind " + SnapshotPreDown + " or " + SnapshotPeriodic
			if !auto {
				c.Rationale = "the newest usable one; there is none of kind " + SnapshotPreDown + " or " + SnapshotPeriodic
			}
			return c, nil
		}
	}
	if len(c.Passed) > 0 {
		c.Rationale = "no snapshot is usable: the record has what is known"
	}
	return c, nil
}

func (c *chosenSnapshot) take(w *world, row SnapshotRow, d *SnapshotData, mode string) {
	c.ID, c.Kind, c.CreatedAt, c.Mode, c.data = row.ID, row.Kind, row.CreatedAt, mode, d
	c.Age = Age(row.CreatedAt, w.now)
}

// namedSnapshot takes the snapshot that an operator named, or refuses it with
// what is wrong.
func (e *Engine) namedSnapshot(ctx context.Context, w *world, rig Rig, id string) (chosenSnapshot, error) {
	var c chosenSnapshot
	rows, err := e.snapshotRows(ctx, rig.ID)
	if err != nil {
		return c, err
	}
	for _, row := range rows {
		if row.ID != id {
			if _, err := w.judgeSnapshotRow(rig, row); err == nil && c.Newer == "" {
				c.Newer = row.ID
			}
			continue
		}
		d, err := w.judgeSnapshotRow(rig, row)
		c.take(w, row, &d, "explicit")
		c.Rationale = "named by the operator"
		if err != nil {
			return c, AsError(err).On("restore", id)
		}
		return c, nil
	}
	err = e.d.Store.Read(ctx, func(r Reader) error { _, err := r.Snapshot(id); return err })
	if err == nil {
		return c, Errorf(CodeSnapshotWrongRig, "snapshot %s is of another rig", id).On("restore", rig.Name).
			WithHint("`rig snapshot list %s` lists this rig's", rig.Name)
	}
	return c, Errorf(CodeSnapshotNotFound, "no snapshot %s", id).On("restore", rig.Name).WithHint("`rig snapshot list %s` lists them", rig.Name)
}

// snapshotRows reads a rig's snapshots, newest first, with their data. A row
// that cannot be read whole keeps no data, and so is not usable.
func (e *Engine) snapshotRows(ctx context.Context, rigID string) ([]SnapshotRow, error) {
	var rows []SnapshotRow
	err := e.d.Store.Read(ctx, func(r Reader) error {
		var err error
		if rows, err = r.Snapshots(rigID); err != nil {
			return err
		}
		for i := range rows {
			if full, err := r.Snapshot(rows[i].ID); err == nil {
				rows[i] = full
			}
		}
		return nil
	})
	return rows, err
}
