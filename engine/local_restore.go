package engine

import (
	"context"
	"sort"
)

// RestoreCheck implements RestoreConsole.
func (l *Local) RestoreCheck(ctx context.Context, opt RestoreCheckOptions) (RestoreCheckReport, error) {
	return l.e.RestoreCheck(ctx, opt)
}

// AllSnapshots implements RestoreConsole.
func (l *Local) AllSnapshots(ctx context.Context) ([]SnapshotView, error) {
	return l.e.AllSnapshots(ctx)
}

// Snapshot implements RestoreConsole.
func (l *Local) Snapshot(ctx context.Context, id string) (SnapshotDetail, error) {
	return l.e.Snapshot(ctx, id)
}

// Restores implements RestoreConsole.
func (l *Local) Restores(ctx context.Context, limit int) ([]RestoreStatus, error) {
	return l.e.Restores(ctx, limit)
}

// AllSnapshots lists the snapshots of every rig on record, newest first.
func (e *Engine) AllSnapshots(ctx context.Context) ([]SnapshotView, error) {
	w, err := e.look(ctx)
	if err != nil {
		return nil, err
	}
	out := []SnapshotView{}
	for _, rig := range w.rec.Rigs {
		list, err := e.snapshotsOf(ctx, w, rig)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].CreatedAt.After(out[j].CreatedAt) })
	return out, nil
}

// Restores lists the newest restores that have ended, newest first: each rig of
// each attempt with its frozen and its current verdict. limit counts attempts,
// 0 = 20. Attempts that ended without a verdict are left out: Operations shows
// them.
func (e *Engine) Restores(ctx context.Context, limit int) ([]RestoreStatus, error) {
	if limit <= 0 {
		limit = 20
	}
	ops, err := e.Operations(ctx, OperationFilter{})
	if err != nil {
		return nil, err
	}
	out, taken := []RestoreStatus{}, 0
	for _, op := range ops {
		if taken == limit || (op.Verb != VerbUp && op.Verb != VerbRestore) || !op.State.Ended() {
			continue
		}
		rec, err := receiptOf(op)
		if err != nil {
			continue // its journal is whole and stands on Operations
		}
		list := RestoreVerdicts(rec.Extra)
		for _, v := range list {
			st, err := e.statusOf(ctx, op, v, rec)
			if err != nil {
				return nil, err
			}
			out = append(out, st)
		}
		if len(list) > 0 {
			taken++
		}
	}
	return out, nil
}
