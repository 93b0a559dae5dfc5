package tui

import (
	"slices"

	"rig/engine"
)

// moved lists the facts that differ between what was shown and what is true, plan by plan
// of the same target: in another order a batch is the same.
func moved(shown, now []*engine.Plan) []engine.Change {
	var out []engine.Change
	for _, old := range shown {
		i := slices.IndexFunc(now, func(p *engine.Plan) bool { return p.Request.Target == old.Request.Target })
		if i < 0 {
			out = append(out, engine.Change{Field: old.Target, Before: "there", After: "no longer there"})
			continue
		}
		if old.Fingerprint() == now[i].Fingerprint() {
			continue
		}
		diff := append(engine.FactDiff(old, now[i]), newlyInTheWay(old, now[i])...)
		if len(diff) == 0 {
			diff = []engine.Change{{Field: now[i].Target, Before: engine.Counted(len(old.Steps()), "step"), After: engine.Counted(len(now[i].Steps()), "step") + ", not the same"}}
		}
		out = append(out, diff...)
	}
	return out
}

// movedOn adds what moved since to what moved before: each fact from where it was first to
// where it is now, and none that is back where it was.
func movedOn(before, since []engine.Change) []engine.Change {
	out := slices.Clone(before)
	for _, c := range since {
		i := slices.IndexFunc(out, func(old engine.Change) bool { return old.Seat == c.Seat && old.Field == c.Field })
		if i < 0 {
			out = append(out, c)
			continue
		}
		if out[i].After = c.After; out[i].Before == c.After {
			out = slices.Delete(out, i, i+1)
		}
	}
	return out
}

// newlyInTheWay lists the blockers that a plan has and the one before it had not.
func newlyInTheWay(shown, now *engine.Plan) []engine.Change {
	var out []engine.Change
	for _, b := range now.Blockers {
		if !slices.ContainsFunc(shown.Blockers, func(old engine.Blocker) bool { return old.Code == b.Code && old.Seat == b.Seat }) {
			out = append(out, engine.Change{Seat: b.Seat, Field: "in the way", Before: "nothing", After: b.Message})
		}
	}
	return out
}
