package engine

import (
	"context"
	"errors"
	"time"
)

// periodicOperator signs what nobody asked for by name.
const periodicOperator = "rig (periodic)"

// PeriodicPolicy says how often running rigs are saved, and how many of those
// snapshots are kept.
type PeriodicPolicy struct {
	Every time.Duration // at least this apart; 0 = five minutes, negative = never
	Keep  int           // newest per rig; 0 = ten, never fewer than one
}

func (p PeriodicPolicy) filled() PeriodicPolicy {
	if p.Every == 0 {
		p.Every = 5 * time.Minute
	}
	if p.Keep <= 0 {
		p.Keep = 10
	}
	return p
}

// PeriodicSnapshots saves every running rig whose last periodic snapshot is old
// enough, and gives what was saved. Of several processes that do so at once only
// one saves: the age is read and the row written in one transaction. A rig that
// tmux does not show is left alone, so that no blind snapshot pushes out a good
// one; the trouble of one rig does not keep the others from being saved.
func (e *Engine) PeriodicSnapshots(ctx context.Context, policy PeriodicPolicy) ([]SnapshotRow, error) {
	policy = policy.filled()
	if policy.Every < 0 {
		return nil, nil
	}
	w, err := e.look(ctx)
	if err != nil || w.inv.Server != Present {
		return nil, err
	}
	var made []SnapshotRow
	var errs []error
	for _, rig := range w.rec.Rigs {
		if !w.runs(rig) {
			continue
		}
		row, ok, err := e.periodic(ctx, rig, policy)
		if err != nil {
			errs = append(errs, err)
		}
		if ok {
			row.Data = nil
			made = append(made, row)
		}
	}
	return made, errors.Join(errs...)
}

// runs reports whether a seat of the rig is in tmux now.
func (w *world) runs(rig Rig) bool {
	for _, s := range w.seatsOf(rig.ID) {
		if w.locate(s.ID).presence == Present {
			return true
		}
	}
	return false
}

// periodic saves one rig if it is due.
func (e *Engine) periodic(ctx context.Context, rig Rig, policy PeriodicPolicy) (SnapshotRow, bool, error) {
	due := func(r Reader) (bool, []SnapshotRow, error) {
		rows, err := r.Snapshots(rig.ID)
		now := e.d.Clock.Now()
		var own, ahead []SnapshotRow // ahead: made while the clock was, so how old they are is not known
		for _, row := range rows {
			switch {
			case row.Kind != SnapshotPeriodic:
			case row.CreatedAt.After(now.Add(clockSlack)):
				ahead = append(ahead, row)
			default:
				own = append(own, row)
			}
		}
		return len(own) == 0 || now.Sub(own[0].CreatedAt) >= policy.Every, append(own, ahead...), err
	}
	is := false
	err := e.d.Store.Read(ctx, func(r Reader) error {
		var err error
		is, _, err = due(r)
		return err
	})
	if err != nil || !is {
		return SnapshotRow{}, false, err
	}
	row, err := e.makeSnapshot(ctx, rig.ID, SnapshotPeriodic, nil, looker{operator: periodicOperator})
	if err != nil || row.Status != SnapshotComplete {
		return row, false, err
	}
	saved := false
	err = e.d.Store.Write(ctx, func(tx Tx) error {
		again, own, err := due(tx)
		if err != nil || !again {
			return err
		}
		if err := tx.InsertSnapshot(row); err != nil {
			return err
		}
		for i := policy.Keep - 1; i < len(own); i++ {
			if err := tx.DeleteSnapshot(own[i].ID); err != nil {
				return err
			}
		}
		_, err = tx.AppendEvent(Event{
			At: e.d.Clock.Now(), Type: "snapshot.created", RigID: rig.ID, Rig: rig.Name, Operator: periodicOperator, Payload: mustJSON(snapshotEvidence(row)),
		})
		saved = err == nil
		return err
	})
	return row, saved && err == nil, err
}

// KeepSnapshots saves running rigs until ctx ends, whenever they are due. A
// console and `rig watch` run it beside their own loop.
func (e *Engine) KeepSnapshots(ctx context.Context, policy PeriodicPolicy) {
	policy = policy.filled()
	if policy.Every < 0 {
		return
	}
	for {
		if _, err := e.PeriodicSnapshots(ctx, policy); err != nil && ctx.Err() == nil {
			e.d.Log.Warn("periodic snapshots", "err", err)
		}
		if pause(ctx, min(policy.Every, 30*time.Second)) != nil {
			return
		}
	}
}
