package tui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"rig/engine"
)

// The heights of the box below the list: what a long list leaves it, and what it takes
// where the list leaves more.
const (
	pressureBox  = 12
	pressureTall = 16
)

// Columns of the Pressure screen, in the order they stand.
const (
	pressTurn = iota
	pressSeat
	pressGauge
	pressShare
	pressTokens
	pressTrend
	pressWall
	pressPlan
	pressAge
	pressSample
)

func (s *pressureScreen) columns() []column {
	return []column{
		pressTurn:   {head: "", w: 2, rank: 2, tail: true},
		pressSeat:   {head: "SEAT", w: 18, most: widest(18, 28, len(s.rows), func(i int) string { return s.rows[i].Address })},
		pressGauge:  {head: "USED", w: 10, most: 40},
		pressShare:  {head: "", w: 4, tail: true},
		pressTokens: {head: "TOKENS", w: 13, rank: 4, tail: true},
		pressTrend:  {head: "TREND", w: 8, most: 10, rank: 6},
		pressWall:   {head: "WALL IN", w: 13, rank: 3},
		pressPlan:   {head: "PLAN", w: 18, most: widest(18, 28, len(s.rows), func(i int) string { word, _ := s.planCell(s.rows[i]); return word }), rank: 5, words: true},
		pressAge:    {head: "AGE", w: 3, rank: 3, tail: true},
		pressSample: {head: "SAMPLE", w: 16, most: 30, rank: 8},
	}
}

func (s *pressureScreen) view(m *Model, w, h int) []string {
	if len(s.rows) == 0 {
		if m.filters[screenPressure] != "" {
			return m.nothingMatches(w, h)
		}
		return m.notice(w, h, "No agent has a context window here", "Agents appear as soon as a rig with claude-code or codex seats is up.")
	}
	listH, boxH := s.split(m)
	t := m.brush.table(s.columns(), w, rowIndent)
	lines := append([]string{s.summary(m, w), t.head()}, s.list.lines(listH-2, func(i int, on bool) string { return s.line(m, s.rows[i], on, t) })...)
	lines = m.brush.fill(lines, w, listH)
	if boxH == 0 {
		return lines
	}
	if w < 110 {
		return append(lines, s.detail(m, w, boxH)...)
	}
	half := w * 3 / 5
	return append(lines, beside(s.detail(m, half, boxH), s.schedule(m, w-half, boxH))...)
}

// summary counts what the plan says, and names its thresholds.
func (s *pressureScreen) summary(m *Model, w int) string {
	if s.trouble != "" {
		what := "  no plan: "
		if s.plan != nil {
			what = "  no newer plan than that of " + ago(m.now, s.plan.At) + ": "
		}
		return m.brush.line(w, false, seg{toneBad, what + clean(s.trouble)})
	}
	if s.plan == nil {
		return m.brush.line(w, false, seg{toneDim, "  the compact plan is being made"})
	}
	unknown := 0
	for _, seat := range s.rows {
		if !seat.Usage.Known {
			unknown++
		}
	}
	n, r := s.plan.Summary, s.plan.Policy
	gap := seg{toneDim, "   "}
	segs := []seg{
		{some(n.CandidateCount, toneNeed), "  " + itoa(n.CandidateCount) + " to compact"},
		gap,
		{some(s.blockedHigh(), toneBad), itoa(s.blockedHigh()) + " blocked"},
		gap,
		{some(unknown, toneUnknown), itoa(unknown) + " not known"},
		gap,
	}
	wall := fmt.Sprintf("near the wall is %g%% of the window or %s tokens", r.Percent, tokenWord(r.Tokens))
	if segsWidth(segs)+width(wall) > w {
		wall = fmt.Sprintf("wall %g%% or %s", r.Percent, tokenWord(r.Tokens))
	}
	if segsWidth(segs)+width(wall) <= w {
		segs = append(segs, seg{toneDim, wall})
	}
	return m.brush.line(w, false, segs...)
}

// some is a tone for a count: none of something is nothing to look at.
func some(n int, k tone) tone {
	if n == 0 {
		return toneDim
	}
	return k
}

// blockedHigh counts the seats that are near their wall and cannot be compacted.
func (s *pressureScreen) blockedHigh() int {
	n := 0
	for i := range s.plan.Blocked {
		if s.plan.Blocked[i].Threshold != "" {
			n++
		}
	}
	return n
}

func (s *pressureScreen) line(m *Model, seat *engine.SeatView, on bool, t table) string {
	share, k := m.shareCell(seat)
	turn, old, sample := "", "", clean(seat.Usage.Note)
	if n := s.turns[seat.Address]; n > 0 {
		turn = itoa(n)
	}
	if u := seat.Usage; u.Known {
		old = age(m.now, u.SampledAt)
		sample = joinWords(", ", m.sourceNote(u.Source, time.Time{}, u.Confidence), sample)
	}
	wall, wallTone := s.wallCell(seat)
	plan, planTone := s.planCell(seat)
	cells := [][]seg{
		pressTurn:   {{toneNeed, turn}},
		pressSeat:   {{toneText, cutMiddle(clean(seat.Address), t.f[pressSeat])}},
		pressGauge:  {{k, m.gaugeCell(seat, t.f[pressGauge])}},
		pressShare:  {{k, share}},
		pressTokens: {{toneDim, tokensOf(seat.Usage)}},
		pressTrend:  {{toneDim, m.trendCell(s.entries[seat.ID], seat, t.f[pressTrend])}},
		pressWall:   {{wallTone, wall}},
		pressPlan:   {{planTone, plan}},
		pressAge:    {{toneDim, old}},
		pressSample: {{toneDim, sample}},
	}
	return t.row(on, cells, m.markCell(seat))
}

// tokensOf gives the tokens in use, and of how many where that is known.
func tokensOf(u engine.Usage) string {
	if !u.Known {
		return ""
	}
	if u.Window > 0 {
		return tokenWord(u.Tokens) + " of " + tokenWord(u.Window)
	}
	return tokenWord(u.Tokens)
}

// steadyWord stands for a trend that nowhere leaves the bottom line, which drawn would
// look like one without samples.
const steadyWord = "steady"

// trendCell draws the samples over time in w cells.
func (m *Model) trendCell(e *engine.CompactEntry, seat *engine.SeatView, w int) string {
	if e == nil {
		return ""
	}
	line := m.brush.spark(e.Trend, seat.Usage.Window/trendLeast, w)
	if lowest := string([]rune(m.brush.g.spark)[:1]); line != "" && strings.Trim(line, lowest) == "" {
		return cut(steadyWord, w)
	}
	return line
}

// trendLeast is the part of a window, a twentieth, under which growth is not drawn
// as a climb from the bottom to the top.
const trendLeast = 20

// spark draws samples over time, scaled to their own range, which is least tokens
// at least. A cell without a sample keeps the height before it; cells before the
// first are empty.
func (b brush) spark(points []engine.TrendPoint, least int64, w int) string {
	if len(points) < 2 || w <= 0 {
		return ""
	}
	low, high := points[0].Tokens, points[0].Tokens
	for _, p := range points {
		low, high = min(low, p.Tokens), max(high, p.Tokens)
	}
	high = max(high, low+least)
	steps := []rune(b.g.spark)
	first, last := points[0].At, points[len(points)-1].At
	span := last.Sub(first)
	out := make([]rune, w)
	at := 0
	for i := range out {
		until := first.Add(span * time.Duration(i) / time.Duration(max(w-1, 1)))
		for at+1 < len(points) && !points[at+1].At.After(until) {
			at++
		}
		level := 0
		if high > low {
			level = int((points[at].Tokens - low) * int64(len(steps)-1) / (high - low))
		}
		out[i] = steps[level]
	}
	return string(out)
}

// wallCell is the forecast as a range in a few cells.
func (s *pressureScreen) wallCell(seat *engine.SeatView) (string, tone) {
	e := s.entries[seat.ID]
	if e == nil || !seat.Usage.Known {
		return "", toneDim
	}
	f := e.Forecast
	switch {
	case !f.Known && f.Why == "the context does not grow":
		return "does not grow", toneDim
	case !f.Known:
		return "?", toneUnknown
	case f.Why != "" && seat.Usage.Window > 0:
		return "full", toneBad
	case f.Why != "":
		return "? at " + rateWord(f) + "/h", toneUnknown
	}
	k := toneText
	if f.WallEarly < 30 {
		k = toneNeed
	}
	return rangeWord(f), k
}

// rangeWord gives the time to the wall as a range in one unit.
func rangeWord(f engine.Forecast) string {
	n, unit, digits := 1.0, "m", 0
	switch late := max(f.WallEarly, f.WallLate); {
	case late >= 48*60:
		n, unit, digits = 60*24, "d", 1
	case late >= 120:
		n, unit, digits = 60, "h", 1
	}
	word := func(v float64) string { return strconv.FormatFloat(v/n, 'f', digits, 64) }
	early, late := word(f.WallEarly), word(f.WallLate)
	switch {
	case f.Open:
		return early + unit + " or more"
	case f.WallEarly == 0 && f.WallLate == 0:
		return "now"
	case early == late:
		return "~" + early + unit
	}
	return early + " to " + late + unit
}

// rateWord gives tokens an hour, as a range where it is one.
func rateWord(f engine.Forecast) string {
	low, high := tokenWord(int64(f.RateLow)), tokenWord(int64(f.RateHigh))
	if low == high {
		return high
	}
	return low + " to " + high
}

// planCell says what the plan makes of a seat, and why.
func (s *pressureScreen) planCell(seat *engine.SeatView) (string, tone) {
	e := s.entries[seat.ID]
	switch {
	case e == nil:
		return "", toneDim
	case seat.OpVerb == engine.VerbCompact:
		return "compacting now", toneStart
	case s.turns[seat.Address] > 0:
		return "compact, round " + itoa(s.rounds[seat.Address]), toneNeed
	case e.Reason != "":
		return codeWords(e.Reason), toneDim
	}
	why := codeWords(firstBlocker(e))
	if e.Threshold == "" { // nothing is due, so that nothing is held up; the line above counts it so
		return why, toneDim
	}
	return "blocked: " + why, toneBad
}

// firstBlocker is the first reason of a blocked seat that is not a threshold.
func firstBlocker(e *engine.CompactEntry) string {
	for _, r := range e.Reasons {
		if !strings.HasPrefix(r, "above_") {
			return r
		}
	}
	return ""
}

// codeWords turns a code of the engine into words.
func codeWords(code string) string {
	switch code {
	case engine.ReasonCodex:
		return "codex keeps its own context"
	case engine.ReasonBelow:
		return "below the threshold"
	case engine.ReasonNotClaude:
		return "not a claude seat"
	case engine.ReasonAuthorization:
		return "needs your word"
	case engine.MissingPacket:
		return "a checked restore packet: a compaction writes one first"
	}
	return clean(strings.ReplaceAll(code, "_", " "))
}
