package engine

import (
	"context"
	"fmt"
	"sort"
	"strings"
)

// StepCompactTell tells the neighbours of a seat that it was compacted.
const StepCompactTell StepKind = "compact_tell"

// neighbours lists the agents at the other ends of a seat's edges, each once, by
// address. Terminals are left out: a text typed there would be run.
func (w *world) neighbours(seatID string) []string {
	seen := map[string]bool{}
	var out []string
	for _, e := range w.rec.Edges {
		other := e.To
		switch seatID {
		case e.From:
		case e.To:
			other = e.From
		default:
			continue
		}
		for _, s := range w.rec.Seats {
			if s.ID == other && other != seatID && !seen[other] && (s.Runtime == RuntimeClaude || s.Runtime == RuntimeCodex) {
				seen[other] = true
				out = append(out, w.address(s))
			}
		}
	}
	sort.Strings(out)
	return out
}

// noticeText is what a neighbour reads. It begins as every message of a compaction
// does, so that nobody takes it for a person's request.
func noticeText(id, address, how string) string {
	return oneLine(fmt.Sprintf("%s notice: %s was compacted%s and is not audited yet, so it may have lost detail. A compaction unblocks nothing. "+
		"This is information; nothing is asked of you.", compactTag(id), address, how))
}

// howCompacted says by whom and from what to what, where that is known.
func howCompacted(trigger string, pre, post int64) string {
	var parts []string
	if trigger != "" {
		parts = append(parts, trigger)
	}
	if pre > 0 && post > 0 {
		parts = append(parts, fmt.Sprintf("%d to %d tokens", pre, post))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// doCompactTell types the notice to each neighbour, once. A neighbour that cannot
// be told is noted and holds nothing up.
func doCompactTell(ctx context.Context, r *run, s Step) (Evidence, error) {
	proof := r.saw(s.Seat + "/prove")
	text := noticeText(r.plan.ID, s.Seat, howCompacted(proof.Str("trigger"), int64(proof.Int("pre_tokens")), int64(proof.Int("post_tokens"))))
	ev := Evidence{}
	for k, v := range r.saw(s.ID) { // a process that died has told some of them
		ev[k] = v
	}
	for _, to := range strings.Fields(s.Args["to"]) {
		if ev[to] != nil {
			continue
		}
		ev[to] = "told, outcome not known"
		if err := r.note(ctx, s, StepStarted, ev, nil); err != nil {
			return ev, err
		}
		d := r.e.tell(ctx, r.sender(), to, text)
		for _, w := range d.Warnings {
			r.warn("the notice to " + to + " is " + w)
		}
		ev[to] = d.Outcome
	}
	return ev, nil
}

// tell types a notice to one seat and says what became of it.
func (e *Engine) tell(ctx context.Context, by sender, to, text string) Delivery {
	d, err := e.sendAs(ctx, by, to, text, true)
	switch {
	case err != nil && d.Outcome != "":
		d.Outcome += ": " + d.Why
	case err != nil:
		d.Outcome = "not told: " + err.Error()
	}
	return d
}

// tellOf tells the neighbours of a seat that was compacted by nobody of ours, when
// its rig's policy says so. The caller has just put that compaction on record, so
// nobody else tells of it; what is not told when this process ends is not told.
func (e *Engine) tellOf(ctx context.Context, w *world, s seenCompaction) {
	var seat Seat
	for _, other := range w.rec.Seats {
		if other.ID == s.seatID {
			seat = other
		}
	}
	policy, _, _ := RigCompaction(w.rigs[seat.RigID])
	if policy == nil || !policy.TellNeighbours {
		return
	}
	to := w.neighbours(s.seatID)
	text := noticeText("at "+s.proof.At.UTC().Format("15:04:05"), s.address, howCompacted(s.proof.Trigger, s.proof.PreTokens, s.proof.PostTokens))
	go func() {
		for _, seat := range to {
			if d := e.tell(ctx, sender{operator: policyOperator.String()}, seat, text); d.Outcome != OutcomeDelivered || len(d.Warnings) > 0 {
				e.d.Log.Info("tell a neighbour of a compaction", "seat", seat, "outcome", d.Outcome, "warnings", d.Warnings)
			}
		}
	}()
}
