package tui

import (
	"fmt"
	"strings"

	"rig/engine"
)

// detail says everything about the seat under the cursor.
func (s *pressureScreen) detail(m *Model, w, h int) []string {
	inner := w - 2
	seat := s.seat()
	if seat == nil {
		return m.brush.box(w, h, toneBorder, nil, "", m.brush.fill(nil, inner, h-2))
	}
	var lines []string
	put := func(label, value string, k tone, note string) {
		if value != "" {
			lines = append(lines, m.factLine(fact{label: label, value: value, tone: k, note: note}, inner, false))
		}
	}
	u := seat.Usage
	share, k := m.shareCell(seat)
	if u.Known {
		put("used", joinWords(", ", m.tokensWord(u), share), k, m.sourceNote(u.Source, u.SampledAt, u.Confidence))
	} else {
		put("used", "?", toneUnknown, clean(u.Note))
	}
	if u.Known && u.Note != "" {
		put("note", clean(u.Note), toneDim, "")
	}
	if u.Window > 0 {
		near := engine.NearWall(u.Window)
		put("threshold", fmt.Sprintf("%s, %g%% of its window", tokenWord(int64(near/100*float64(u.Window))), near), toneText, "")
	}
	if e := s.entries[seat.ID]; e != nil {
		s.trendLines(m, seat, e, inner, put)
		if !e.Forecast.Known {
			lines = append(lines, m.labelled("wall in", "? "+e.Forecast.Text(), toneUnknown, inner)...)
		}
		word, k := s.planCell(seat)
		put("plan", word, k, "")
	}
	lines = append(lines, s.whyLines(m, seat, inner)...)
	for _, f := range compactionFacts(seat.Compaction) {
		put(f.label, f.value, f.tone, f.note)
	}
	note := m.reg.hint("explain") + " explains the numbers"
	return m.brush.box(w, h, toneBorder, m.seatTitle(seat, w), note, m.brush.fill(lines, inner, h-2))
}

// trendLines says how the use of a seat's window goes.
func (s *pressureScreen) trendLines(m *Model, seat *engine.SeatView, e *engine.CompactEntry, w int, put func(label, value string, k tone, note string)) {
	f := e.Forecast
	if line := m.trendCell(e, seat, min(24, w/3)); line != "" {
		put("trend", line, toneText, engine.Counted(len(e.Trend), "sample")+" since "+ago(m.now, e.Trend[0].At))
	}
	if f.Known {
		put("rate", rateWord(f)+" tokens an hour", toneText, "from "+engine.Counted(f.Samples, "sample"))
	}
	if wall, k := s.wallCell(seat); f.Known {
		put("wall in", wall, k, joinWords(", ", "if it goes on at that rate", clean(f.Why)))
	}
}

// whyLines says why the plan makes of a seat what it does, and what to do next.
func (s *pressureScreen) whyLines(m *Model, seat *engine.SeatView, w int) []string {
	e := s.entries[seat.ID]
	if e == nil {
		return nil
	}
	words := func(codes []string) string {
		var out []string
		for _, c := range codes {
			if c == engine.ReasonAuthorization && policyActs(seat) {
				continue // who acts without a person stands below
			}
			out = append(out, codeWords(c))
		}
		return joinWords(", ", out...)
	}
	var out []string
	say := func(label, text string, k tone) {
		if text != "" {
			out = append(out, m.labelled(label, text, k, w)...)
		}
	}
	say("because", words(e.Reasons), toneDim)
	say("missing", words(e.Missing), toneDim)
	next, line := e.Next, ""
	if s.turns[seat.Address] > 0 {
		next, line = m.reg.hint("compact")+" opens the compaction", e.Next
		if policyActs(seat) {
			next = "the rig's policy compacts it without you, " + policyAt(seat.Compaction) + "; before that, " + next
		} else if seat.Compaction.Failed != "" {
			say("policy", clean(seat.Compaction.Why), toneNeed)
		}
	}
	say("next", next, toneAccent)
	say("in a shell", line, toneAccent) // a line of its own, to be copied whole
	return out
}

// policyActs says that the rig's own policy compacts a seat, without a person.
func policyActs(seat *engine.SeatView) bool {
	return seat != nil && seat.Compaction.Managed && seat.Compaction.Why == ""
}

// policyAt says where the policy of a seat's rig compacts it.
func policyAt(c engine.SeatCompaction) string {
	var at []string
	if c.AtPercent > 0 {
		at = append(at, itoa(c.AtPercent)+"%")
	}
	if c.AtTokens > 0 {
		at = append(at, tokenWord(c.AtTokens)+" tokens")
	}
	if len(at) == 0 {
		return "at its own threshold"
	}
	return "at " + strings.Join(at, " or ")
}

// whoCompacts says on whose word the seats of the schedule are compacted.
func (s *pressureScreen) whoCompacts(m *Model) string {
	alone, all := 0, 0
	for _, e := range s.plan.Candidates {
		all++
		if policyActs(m.seats[e.SeatID]) {
			alone++
		}
	}
	how := m.reg.hint("compact") + " on a seat, or on marked seats, one after the other"
	switch alone {
	case 0:
		return "each needs your word: " + how
	case all:
		return "their rigs' policies compact them without you, each at its own threshold; before that: " + how
	}
	return engine.Counted(alone, "seat") + " of these the rig's policy compacts without you, at its own threshold; the others need your word: " + how
}

// tokensWord gives the tokens in use as they are, digit for digit.
func (m *Model) tokensWord(u engine.Usage) string {
	text := grouped(u.Tokens) + " tokens"
	if u.Window > 0 {
		text = grouped(u.Tokens) + " of " + grouped(u.Window) + " tokens"
	}
	return text
}

// grouped writes a number with a comma after each three digits.
func grouped(n int64) string {
	s := itoa(int(n))
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// schedule shows the rounds in which the candidates are to be compacted: within
// one round no two seats are of one rig.
func (s *pressureScreen) schedule(m *Model, w, h int) []string {
	inner := w - 2
	var lines []string
	say := func(k tone, lead, text string) {
		lines = append(lines, m.paragraph(k, lead, text, inner)...)
	}
	switch {
	case s.plan == nil:
	case len(s.plan.Schedule) == 0:
		say(toneDim, " ", "nobody is to be compacted now")
	default:
		for _, slot := range s.plan.Schedule {
			lead := " round " + itoa(slot.Slot) + "  "
			say(toneText, lead, joinWords(", ", slot.Seats...))
		}
		say(toneDim, " ", "one seat of a rig at a time; "+s.whoCompacts(m))
	}
	return m.brush.box(w, h, toneBorder, []seg{{toneStrong, "order in which to compact"}}, "", m.brush.fill(lines, inner, h-2))
}
