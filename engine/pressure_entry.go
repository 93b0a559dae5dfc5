package engine

import (
	"fmt"
	"strings"
)

// blockers lists why nothing can be said about compacting a seat.
func (e *CompactEntry) blockers(s *SeatView) []string {
	var out []string
	if e.Session == nil {
		out = append(out, "missing_canonical_session")
		e.Missing = append(e.Missing, "canonical_session_name")
	}
	if s.Life != LifeRunning || s.Startup != StartupReady {
		out = append(out, "seat_not_running_or_ready")
	}
	if !s.Usage.Known {
		out = append(out, "context_unknown")
		e.Missing = append(e.Missing, "context_usage")
		if strings.HasPrefix(s.Usage.Note, NoteAwaitingReply) {
			out = append(out, ReasonAwaiting)
		}
	}
	return out
}

// stuck lists why a seat that is near its wall must not be compacted now: a
// compaction is no way out of a prompt, a usage limit or a state nobody can read.
func stuck(s *SeatView) []string {
	var out []string
	switch s.Activity.State {
	case ActivityWaiting:
		out = append(out, string(CodeNeedsInput))
	case ActivityLimit:
		out = append(out, "usage_limit")
	case ActivityUnknown:
		out = append(out, string(CodeActivityUnknown))
	case ActivityExited:
		out = append(out, string(CodeSessionMissing))
	case ActivityIdle, ActivityBusy:
	}
	if s.OpID != "" {
		out = append(out, string(CodeAlreadyCompacting))
	}
	return out
}

// compactRequirements stand before every compaction, in this order.
var compactRequirements = []string{
	"fresh_context_sample", MissingPacket, "explicit_operator_authorization",
	"one_seat_at_a_time_only", "post_compaction_restore_audit",
}

// explain fills in what a candidate and a blocked seat carry beside the numbers.
func (e *CompactEntry) explain(hit, blockers []string) {
	e.Required = compactRequirements
	e.SeatPolicy = &SeatRules{OneSeatAtATime: true, ExplicitAuthorization: true}
	if len(blockers) > 0 {
		e.Status = entryBlocked
		e.Reasons = append(append([]string{}, hit...), blockers...)
		e.Next = e.unblock(blockers)
	} else {
		e.Status = entryCandidate
		e.Reasons = append(append([]string{}, hit...), ReasonAuthorization)
		e.Missing = append([]string{MissingPacket}, e.Missing...)
		if e.Window == nil {
			e.Missing = append(e.Missing, "context_window_size")
		}
		if e.Freshness == "stale" {
			e.Reasons, e.Missing = append(e.Reasons, "context_stale"), append(e.Missing, "fresh_context_sample")
		}
		e.Next = "rig compact " + e.Seat
	}
	e.Notify = e.notification()
}

// unblock says what resolves the first blocker.
func (e *CompactEntry) unblock(blockers []string) string {
	switch blockers[0] {
	case "missing_canonical_session", "seat_not_running_or_ready", string(CodeSessionMissing):
		return "bring the seat up first: rig seat status " + e.Seat
	case "context_unknown":
		if len(blockers) > 1 && blockers[1] == ReasonAwaiting {
			return "nothing: the first answer after the compaction brings a new sample"
		}
		return "wait for an answer of the seat, or look at rig explain " + e.Seat + " context"
	case string(CodeAlreadyCompacting):
		return "wait until its operation has ended: rig op list --open"
	}
	return "a compaction does not unblock a seat: look at it with rig attach " + e.Seat
}

func (e *CompactEntry) notification() *NotifyText {
	return &NotifyText{
		Recipient: e.Seat, Subject: "context pressure of " + e.Seat,
		Text: fmt.Sprintf("This is a read-only plan (%s: %s). Before a compaction of %s: take a fresh context sample, verify a restore packet, "+
			"get an operator's word, and do one seat at a time; audit the seat afterwards. Nothing was compacted.",
			e.Status, strings.Join(e.Reasons, ", "), e.Seat),
	}
}

// Amount renders a seat's use of its window for a line of text: tokens, share and
// what is wrong with them.
func (e *CompactEntry) Amount() string {
	var parts []string
	if e.Tokens != nil {
		parts = append(parts, itoa(*e.Tokens)+" tokens")
	} else {
		parts = append(parts, "unknown tokens")
	}
	switch {
	case e.Percent != nil && e.Window != nil:
		parts = append(parts, fmt.Sprintf("%g %% of %d", *e.Percent, *e.Window))
	case e.Percent != nil:
		parts = append(parts, fmt.Sprintf("%g %% of an unknown window", *e.Percent))
	}
	return strings.Join(parts, ", ")
}
