package tui

import (
	"strings"

	"rig/engine"
)

// Columns of a seat, in the order they stand.
const (
	colSeat = iota
	colState
	colSince
	colShare
	colGauge
	colRuntime
	colOutcome
	colNote
)

func seatColumns() []column {
	return []column{
		colSeat:    {head: "SEAT", w: 15, most: 26},
		colState:   {head: "STATE", w: 11},
		colSince:   {head: "FOR", w: 3, rank: 2, tail: true},
		colShare:   {head: "CTX", w: 4, rank: 1, tail: true},
		colGauge:   {head: "", w: 6, most: 12, rank: 5},
		colRuntime: {head: "RUNS", w: 6, rank: 3},
		colOutcome: {head: "CONTINUITY", w: 12, most: 18, rank: 4},
		colNote:    {head: "NOTE", w: 14, most: 200, rank: 6},
	}
}

// rowIndent is the cursor, the mark and the depth of the tree before a seat.
const rowIndent = 2

func (s *fleetScreen) view(m *Model, w, h int) []string {
	if len(m.fleet.Rigs) == 0 {
		return m.noRigs(w, h)
	}
	a := m.divide(len(s.rows), true)
	lines := s.table(m, a)
	var recent []string
	if a.recent > 0 {
		recent = m.recentLines(a.listW, a.recent)
	}
	var beyond []string
	if a.sideW > 0 {
		r, _ := s.row()
		if r.seat == nil && r.rig != nil {
			beyond = m.rigBox(r, a.sideW, a.sideH)
		} else {
			beyond = m.needBox(r.seat, a.sideW, a.sideH)
		}
	}
	return m.join(a, lines, recent, beyond)
}

func (s *fleetScreen) table(m *Model, a areas) []string {
	if len(s.rows) == 0 {
		return m.nothingMatches(a.listW, a.listH)
	}
	t := m.brush.table(seatColumns(), a.listW, rowIndent)
	lines := append([]string{t.head()}, s.list.lines(a.listH-1, func(i int, on bool) string { return m.fleetLine(s, s.rows[i], on, t) })...)
	if used := len(s.rows) + 1; used < a.listH && a.shape == shapeSplit && t.f[colNote] == 0 {
		lines = append(lines[:used], m.needLines(a.listW, a.listH-used)...)
	}
	return lines
}

// nothingMatches says that the filter hides everything, and the way out.
func (m *Model) nothingMatches(w, h int) []string {
	return m.notice(w, h, "Nothing matches \""+clean(m.filters[m.cur])+"\"", m.reg.hint("back")+" clears the filter, "+m.reg.hint("filter")+" changes it.")
}

func (m *Model) fleetLine(s *fleetScreen, r fleetRow, on bool, t table) string {
	g, lead := m.brush.g, m.brush.lead(on)
	switch r.kind {
	case rowRig:
		return m.brush.line(t.w, on, append([]seg{lead}, m.rigCells(r.rig, s.folded["rig/"+r.rig.ID], t.w-width(lead.text))...)...)
	case rowPod:
		fold := g.open
		if s.folded[r.key] {
			fold = g.folded
		}
		label := clean(r.pod.Label)
		if label == "" || label == r.pod.Name {
			label = ""
		}
		return m.brush.line(t.w, on, lead, seg{toneDim, "  " + fold + " "}, seg{toneText, clean(r.pod.Name)}, seg{toneDim, "  " + label}, seg{toneDim, m.foldedCount(s, r)})
	case rowSeat:
	}
	return t.row(on, m.seatCells(r.seat, t.f, 4), m.markCell(r.seat))
}

// markCell shows whether a seat is marked.
func (m *Model) markCell(s *engine.SeatView) seg {
	if m.marks[s.ID] {
		return seg{toneNeed, m.brush.g.mark}
	}
	return seg{toneText, " "}
}

func (m *Model) foldedCount(s *fleetScreen, r fleetRow) string {
	if !s.folded[r.key] {
		return ""
	}
	return "  " + engine.Counted(r.n, "seat")
}

// rigCells is the line of a rig in w cells. Its reason gives way where it would
// be cut and the numbers before it say the same.
func (m *Model) rigCells(r *engine.RigView, folded bool, w int) []seg {
	g := m.brush.g
	fold := g.open
	if folded {
		fold = g.folded
	}
	l := lookRig(r.Life)
	out := []seg{
		{toneDim, fold + " "},
		{toneStrong, cutMiddle(clean(r.Name), 32)},
		{toneText, "  "},
		{l.tone, l.text(g)},
		{toneDim, "  " + engine.Untold(r.Running, r.Unknown) + "/" + itoa(len(r.Seats))},
	}
	needs, n := "", m.rigNeeds(r)
	if m.w >= stackCols {
		out = append(out, seg{toneDim, " running"})
		needs = needYou(n)
	}
	if n > 0 {
		out = append(out, seg{toneNeed, "  " + lookWaiting.mark(g) + " " + itoa(n) + needs})
	}
	if why := "  " + clean(r.Why); r.Why != "" && (r.Life == engine.RigUnknown || segsWidth(out)+width(why) <= w) {
		out = append(out, seg{toneDim, why})
	}
	return out
}

// rigNeeds counts what waits for a person in a rig: also its cut-off operations, which
// name what they were done to and not the rig.
func (m *Model) rigNeeds(r *engine.RigView) int {
	n := r.Attention
	for i := range m.fleet.Attention {
		it := &m.fleet.Attention[i]
		if it.Acked == "" && it.Rig == "" && it.OpID != "" && (it.Target == r.Name || strings.HasSuffix(it.Target, "@"+r.Name)) {
			n++
		}
	}
	return n
}

// seatCells gives the cells of a seat's row. indent is what the name gives up to
// the tree.
func (m *Model) seatCells(s *engine.SeatView, f fitted, indent int) [][]seg {
	l := lookOf(s)
	name := strings.Repeat(" ", indent) + cutMiddle(clean(s.Member), max(f[colSeat]-indent, 4))
	word, k := outcomeWord(s.Continuity)
	if s.Life == engine.LifeNever {
		word, k = "", toneDim
	}
	share, shareTone := m.shareCell(s)
	return [][]seg{
		colSeat:    {{toneText, name}},
		colState:   {{l.tone, l.text(m.brush.g)}},
		colSince:   {{toneDim, m.sinceWord(s)}},
		colShare:   {{shareTone, share}},
		colGauge:   {{shareTone, m.gaugeCell(s, f[colGauge])}},
		colRuntime: {{toneDim, runtimeWord(s.Runtime)}},
		colOutcome: {{k, word}},
		colNote:    m.noteCell(s),
	}
}

func (m *Model) sinceWord(s *engine.SeatView) string {
	if s.Since.IsZero() {
		return ""
	}
	return age(m.now, s.Since)
}

// shareSoon is how many points of a share before the threshold a gauge begins to
// warn.
const shareSoon = 10

// shareCell gives the share of the context window; "?" when nobody knows, "~"
// before it when the sample is doubtful.
func (m *Model) shareCell(s *engine.SeatView) (string, tone) {
	u := s.Usage
	switch {
	case s.Runtime == engine.RuntimeTerminal:
		return "", toneDim
	case !u.Known && s.Life == engine.LifeNever:
		return "", toneDim
	case !u.Known || u.Window == 0:
		return "?", toneUnknown
	}
	text := u.Share()
	if u.Confidence != engine.ConfidenceHigh {
		text = "~" + text
	}
	return text, shareTone(u)
}

// shareTone warns from the thresholds of the compact plan on.
func shareTone(u engine.Usage) tone {
	near := engine.NearWall(u.Window)
	switch {
	case u.Percent >= near:
		return toneBad
	case u.Percent >= near-shareSoon:
		return toneNeed
	}
	return toneIdle
}

func (m *Model) gaugeCell(s *engine.SeatView, w int) string {
	if !s.Usage.Known || s.Usage.Window == 0 {
		return ""
	}
	return m.brush.gauge(s.Usage.Percent, engine.NearWall(s.Usage.Window), w)
}

// noteCell says what matters most about a seat in a few words.
func (m *Model) noteCell(s *engine.SeatView) []seg {
	g := m.brush.g
	why, waits := m.needSeg(s.ID)
	switch {
	case waits && (s.OpID == "" || s.Gate != nil) && s.Life != engine.LifeDead && s.Life != engine.LifeLost:
		return []seg{why}
	case s.OpID != "":
		return []seg{{toneStart, lookStarting.mark(g) + " " + string(s.OpVerb) + " is running"}}
	case s.Activity.Draft != "":
		return []seg{{toneNeed, "draft: "}, {toneText, clean(s.Activity.Draft)}}
	case s.Life != engine.LifeRunning:
		return []seg{{toneDim, clean(s.LifeWhy)}}
	case s.Compaction.Verdict != "" && s.Activity.State != engine.ActivityWaiting:
		return []seg{{toneNeed, clean(s.Compaction.Verdict)}}
	case s.Activity.State == engine.ActivityWaiting || s.Activity.State == engine.ActivityLimit:
		return []seg{{lookOf(s).tone, clean(s.Activity.Why)}}
	case s.Activity.State == engine.ActivityUnknown:
		return []seg{{toneUnknown, clean(s.Activity.Why)}}
	case s.Work.Pending > 0:
		return []seg{{toneDim, itoa(s.Work.Pending) + " waiting work"}}
	}
	return []seg{{toneDim, clean(s.Activity.Why)}}
}

// rigBox is what stands beside the list when the cursor is on a rig or pod.
func (m *Model) rigBox(r fleetRow, w, h int) []string {
	l := lookRig(r.rig.Life)
	inner := w - 2
	var lines []string
	put := func(label, value string, k tone) {
		if value != "" {
			lines = append(lines, m.brush.line(inner, false, seg{toneDim, " " + pad(label, 10)}, seg{k, value}))
		}
	}
	lines = append(lines, m.brush.blank(inner, 1)...)
	put("state", l.text(m.brush.g), l.tone)
	put("why", clean(r.rig.Why), toneText)
	put("spec", cutMiddle(clean(r.rig.SpecPath), inner-12), toneText)
	put("created", ago(m.now, r.rig.CreatedAt), toneText)
	put("seats", itoa(len(r.rig.Seats))+", "+engine.Untold(r.rig.Running, r.rig.Unknown)+" running, "+engine.Untold(r.rig.Busy, r.rig.Unknown)+" busy", toneText)
	lines = append(lines, m.brush.blank(inner, 1)...)
	for _, id := range []string{"launch", "down", "mark"} {
		if a := m.reg.byID(id); a != nil {
			lines = append(lines, m.brush.line(inner, false, seg{toneAccent, " " + pad(a.key(), 10)}, seg{toneDim, a.help}))
		}
	}
	name := r.rig.Name
	if r.kind == rowPod {
		name += " " + m.brush.g.dot + " " + r.pod.Name
	}
	return m.brush.box(w, h, toneBorder, []seg{{toneStrong, clean(name)}}, "", m.brush.fill(lines, inner, h-2))
}

// noRigs is the first screen of all.
func (m *Model) noRigs(w, h int) []string {
	texts := []string{}
	if m.opt.ReadOnly {
		texts = append(texts, "This console is read-only: it shows a rig as soon as there is one.")
	} else {
		texts = append(texts,
			m.reg.hint("up")+"  brings up a rig from a spec or a built-in starter",
			"Then "+m.reg.hint("adopt")+" takes over a session that you started yourself.",
		)
	}
	texts = append(texts, "In a shell: rig demo shows seven simulated seats, rig spec list the starters, rig doctor what is missing here.",
		m.reg.hint("help")+" lists every key, "+m.reg.hint("quit")+" quits.")
	return m.notice(w, h, "No rigs yet", texts...)
}
