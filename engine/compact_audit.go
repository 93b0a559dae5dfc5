package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// commitCompacted records a proven compaction. From here on nothing is unwound:
// the conversation is compacted, whatever becomes of its restore.
func commitCompacted(_ context.Context, r *run, s Step, tx Tx) (Evidence, error) {
	seat, err := unchangedSeat(tx, s)
	if err != nil {
		return nil, err
	}
	proof := r.saw(s.Seat + "/prove")
	ev := Evidence{
		"attempt": r.plan.ID, "generation": seat.Generation, "trigger": proof["trigger"], "source": proof["source"],
		"pre_tokens": proof["pre_tokens"], "post_tokens": proof["post_tokens"], "packet": r.saw(s.Seat + "/packet")["dir"],
	}
	now := r.e.d.Clock.Now()
	seat.Lifecycle, seat.LastError, seat.UpdatedAt = LifecycleCompacted, "", now
	if err := tx.UpdateSeat(&seat); err != nil {
		return nil, err
	}
	if session, err := currentSession(tx, seat.ID); err == nil {
		if err := errors.Join(tx.SetMeta(compactionSeenKey(session.ID), stampOf(now)), oweAudit(tx, seat.ID, session.Token)); err != nil {
			return nil, err
		}
	}
	r.settle(compactReceipt(s.Seat, ev, false))
	return ev, r.event(tx, EventCompacted, seat, s.Seat, ev)
}

// Events and codes of the end of a compaction.
const (
	EventCompacted           = "seat.compacted"
	EventCompactAudited      = "seat.compaction_audited"
	CodeNotAudited      Code = "not_audited"
)

// doCompactRestore starts the restore with one typed line. The directive came
// through the hook; the line names the same files, so that a seat whose hook was
// lost is not left with nothing.
func doCompactRestore(ctx context.Context, r *run, s Step) (Evidence, error) {
	c := r.compaction(ctx, s)
	ev := Evidence{"directive": string(c.directive(ctx))}
	files := r.saw(s.Seat + "/packet").Str("dir")
	if prep := r.saw(s.Seat + "/prep"); prep["whole"] == true {
		files = prep.Str("map") + " and " + files
	}
	marker := c.tag + " restore"
	text := oneLine(fmt.Sprintf("%s: restore now, as your restore directive says (%s). %s Reply: restored from packet at <path>; resumed at step <X>.",
		marker, files, c.text.MessageInline))
	got, d, err := c.answer(ctx, text, marker, r.e.d.Config.CompactWait)
	ev["delivery"], ev["acknowledged"] = d.Outcome, err == nil && strings.Contains(strings.ToLower(got), "restored from packet")
	if state := c.directive(ctx); state != DirectiveNone {
		ev["directive"] = string(state)
	}
	return ev, err
}

func (c compaction) directive(ctx context.Context) DirectiveState {
	k, err := c.r.e.directives()
	if err != nil {
		return DirectiveNone
	}
	t, err := c.target(ctx)
	if err != nil {
		return DirectiveNone
	}
	state, err := k.DirectiveOf(t.session.ID, c.r.plan.ID)
	if err != nil {
		c.r.warn(err.Error())
	}
	return state
}

// doCompactAudit asks what the seat knows now. A seat that answers without naming
// its work and the next owner has not passed; that is a finding, not a failure.
func doCompactAudit(ctx context.Context, r *run, s Step) (Evidence, error) {
	c := r.compaction(ctx, s)
	marker := c.tag + " audit"
	text := oneLine(marker + ": before any other work list what you were asked to read with FULL, PARTIAL or NOT_READ, and read the rest. " + c.text.PostRestoreAudit +
		" End with two lines: 'Current work:' and what it is; 'Next owner:' and who.")
	got, d, err := c.answer(ctx, text, marker, r.e.d.Config.CompactWait)
	if err != nil {
		return Evidence{"delivery": d.Outcome}, err
	}
	work, owner := auditLine(got, "current work"), auditLine(got, "next owner")
	clean := func(text string) string {
		if r.e.d.Redact != nil {
			text = r.e.d.Redact(text)
		}
		return clip(text, 400)
	}
	return Evidence{"delivery": d.Outcome, "current_work": clean(work), "next_owner": clean(owner), "passed": work != "" && owner != ""}, nil
}

// auditLine finds what an answer says after a heading; "" when it says nothing, or
// that it does not know.
func auditLine(answer, heading string) string {
	found := ""
	for _, line := range strings.Split(answer, "\n") {
		low := strings.ToLower(line)
		at := strings.LastIndex(low, heading+":")
		if at < 0 || len(low) != len(line) { // a text whose lower case has another length cannot be cut by it
			continue
		}
		rest := line[at+len(heading)+1:]
		if next := strings.Index(strings.ToLower(rest), "next owner:"); next >= 0 {
			rest = rest[:next]
		}
		found = strings.Trim(rest, " \t*_`|.;")
	}
	switch strings.ToLower(found) {
	case "unknown", "none", "n/a", "?", "-", "not known", "i do not know", "i don't know":
		return ""
	}
	if strings.IndexFunc(found, unicode.IsLetter) < 0 {
		return ""
	}
	return found
}

// clip shortens a text to n runes.
func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}

// commitVerdict records the audit. A seat that has not passed stays "compacted,
// not audited" and needs a person.
func commitVerdict(_ context.Context, r *run, s Step, tx Tx) (Evidence, error) {
	seat, err := unchangedSeat(tx, s)
	if err != nil {
		return nil, err
	}
	audit := r.saw(s.Seat + "/audit")
	passed := audit["passed"] == true
	ev := Evidence{
		"attempt": r.plan.ID, "generation": seat.Generation, "packet": r.saw(s.Seat + "/packet")["dir"], "passed": passed, "current_work": audit["current_work"], "next_owner": audit["next_owner"],
		"directive": r.saw(s.Seat + "/restore")["directive"], "acknowledged": r.saw(s.Seat + "/restore")["acknowledged"],
	}
	if passed {
		seat.Lifecycle = LifecycleActive
		if err := errors.Join(tx.UpdateSeat(&seat), tx.SetMeta(unauditedKey(seat.ID), "")); err != nil {
			return nil, err
		}
	}
	r.settle(compactReceipt(s.Seat, ev, true))
	return ev, r.event(tx, EventCompactAudited, seat, s.Seat, ev)
}

func lacks(audit Evidence) string {
	switch {
	case audit.Str("current_work") == "" && audit.Str("next_owner") == "":
		return "neither its current work nor the next owner"
	case audit.Str("current_work") == "":
		return "no current work"
	}
	return "no next owner"
}
