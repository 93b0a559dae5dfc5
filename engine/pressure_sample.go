package engine

import (
	"context"
	"time"
)

// sampleEvery is how often an unchanged amount is stored again, so that a trend
// also knows of times without growth.
const sampleEvery = 5 * time.Minute

// samples remembers what was stored of each seat, and whether storing works.
type samples struct {
	stored map[string]Usage          // by seat id
	seen   map[string]seenCompaction // by seat id
	told   map[string]time.Time      // by session: its last compaction that is on record
	off    bool                      // the record cannot be written: this process only reads
}

func newSamples() samples {
	return samples{stored: map[string]Usage{}, seen: map[string]seenCompaction{}, told: map[string]time.Time{}}
}

// worth says whether a reading tells more than the last stored one.
func (s *samples) worth(seatID string, u Usage) bool {
	if s.off || !u.Known || u.Stale || u.SampledAt.IsZero() {
		return false
	}
	last, had := s.stored[seatID]
	switch {
	case !had || last.Generation != u.Generation:
		return true
	case !u.SampledAt.After(last.SampledAt):
		return false
	}
	return u.Tokens != last.Tokens || u.Window != last.Window || u.SampledAt.Sub(last.SampledAt) >= sampleEvery
}

// storeSamples puts new readings on record. A reading that another console has
// stored already is the same row.
func (o *observer) storeSamples(ctx context.Context) error {
	if o.kept.off {
		return nil
	}
	var todo []StoredUsage
	w := o.world(o.e.d.Clock.Now())
	for id, u := range o.usage {
		if o.kept.worth(id, u) && w.latest[id].Generation == u.Generation {
			todo = append(todo, StoredUsage{SeatID: id, SessionID: w.latest[id].ID, Usage: u})
		}
	}
	if len(todo) == 0 {
		return nil
	}
	err := o.e.d.Store.Write(ctx, func(tx Tx) error {
		for _, u := range todo {
			known, err := tx.UsageSamples(u.SeatID, 1)
			if err != nil {
				return err
			}
			if len(known) > 0 && !known[0].SampledAt.Before(u.SampledAt) {
				continue // somebody else's, or newer
			}
			if err := tx.PutUsage(u); err != nil {
				return err
			}
		}
		return nil
	})
	if CodeOf(err) == CodeRecordReadOnly {
		o.kept.off = true
		return err
	}
	if err != nil {
		return err
	}
	for _, u := range todo {
		o.kept.stored[u.SeatID] = u.Usage
	}
	return nil
}

// CompactPlan looks at everything and makes the plan. With Refresh the samples
// that were taken are stored first; a refresh that fails gives no plan.
func (e *Engine) CompactPlan(ctx context.Context, o CompactPlanOptions) (*CompactPlan, error) {
	ob := e.newObserver()
	if err := ob.first(ctx, nil); err != nil {
		return nil, err
	}
	if o.Rig != "" && !ob.hasRig(o.Rig) {
		return nil, Errorf(CodeNotFound, "no rig %q", o.Rig).On("compact-plan", o.Rig).WithHint("`rig ps` lists the rigs")
	}
	f := ob.lookOnce(ctx)
	if o.Refresh {
		err := ob.storeSamples(ctx)
		if err == nil && ob.inv.Server == Unknown {
			err = ob.inv.Err
		}
		if err != nil {
			return nil, Errorf(CodeRefreshFailed, "the samples could not be taken and stored").On("compact-plan", o.Rig).Wrap(err).
				WithHint("`rig doctor` says what is wrong; without --refresh the plan shows what is known")
		}
	}
	return e.PlanFrom(ctx, f, o)
}

// CodeRefreshFailed says that no fresh samples could be had, so there is no plan.
const CodeRefreshFailed Code = "context_refresh_failed"

func (o *observer) hasRig(name string) bool {
	for _, r := range o.rec.Rigs {
		if r.Name == name {
			return true
		}
	}
	return false
}

// PlanFrom makes the compact plan of a picture that is at hand, as the console
// has one: it reads the stored samples and nothing else.
func (e *Engine) PlanFrom(ctx context.Context, f *Fleet, o CompactPlanOptions) (*CompactPlan, error) {
	history := map[string][]StoredUsage{}
	err := e.d.Store.Read(ctx, func(r Reader) error {
		for _, s := range f.Seats() {
			if s.Runtime == RuntimeTerminal || (o.Rig != "" && s.Rig != o.Rig) || !s.Usage.Known {
				continue
			}
			rows, err := r.UsageSamples(s.ID, forecastRows)
			if err != nil {
				return err
			}
			history[s.ID] = rows
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return PlanCompaction(f, history, o), nil
}

// forecastRows bounds the samples that are read of one seat: a plan of 500 seats
// must not take longer than 50 ms.
const forecastRows = 10
