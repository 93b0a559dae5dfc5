package tui

import (
	"cmp"
	"sort"
	"strings"
	"time"

	"rig/engine"
)

// fact is one thing that is known of a seat: a line of the Seat screen. A fact
// without a label is a heading.
type fact struct {
	key   string
	label string
	value string
	tone  tone
	note  string // source and age, dimmed
	topic string // what `e` explains it by
}

func heading(text string) fact { return fact{key: "h/" + text, value: text, tone: toneStrong} }

// seatFacts lists what is known of a seat, grouped. History comes from the
// record and is added by the Seat screen.
func (m *Model) seatFacts(s *engine.SeatView) []fact {
	out := []fact{heading("Status")}
	out = append(out, m.statusFacts(s)...)
	out = append(out, heading("Context"))
	out = append(out, m.contextFacts(s)...)
	out = append(out, heading("Identity"))
	out = append(out, m.identityFacts(s)...)
	if len(s.Edges) > 0 || s.Work != (engine.WorkCount{SeatID: s.Work.SeatID}) {
		out = append(out, heading("Edges and work"))
		out = append(out, edgeFacts(s)...)
	}
	return out
}

func (m *Model) statusFacts(s *engine.SeatView) []fact {
	l := lookOf(s)
	a := s.Activity
	out := []fact{{"state", "state", l.text(m.brush.g), l.tone, m.sourceNote(a.Source, a.At, a.Confidence), "status"}}
	add := func(key, label, value string, k tone, note string) {
		if value != "" {
			out = append(out, fact{key, label, clean(value), k, note, "status"})
		}
	}
	add("why", "because", a.Why, toneText, clean(a.Rule))
	add("life", "process", string(s.Life)+dashed(s.LifeWhy), toneText, "")
	if !s.Since.IsZero() {
		add("since", "since", s.Since.In(m.opt.zone()).Format("15:04")+", "+ago(m.now, s.Since), toneText, "")
	}
	add("startup", "start", string(s.Startup), toneText, "")
	if s.ExitCode != nil {
		add("exit", "exit code", itoa(*s.ExitCode), toneBad, "")
	}
	add("draft", "draft", a.Draft, toneNeed, "stands in its input box; never typed over")
	for _, other := range a.Competing {
		word := "but"
		if other.State == a.State {
			word = "also"
		}
		add("also/"+other.Source, word, string(other.State)+dashed(other.Why), toneDim, m.sourceNote(other.Source, other.At, other.Confidence))
	}
	if s.OpID != "" {
		add("op", "operation", string(s.OpVerb)+" is running", toneStart, s.OpID)
	}
	return out
}

func (m *Model) contextFacts(s *engine.SeatView) []fact {
	u := s.Usage
	if !u.Known {
		why := "no sample yet"
		if u.Note != "" {
			why = u.Note
		}
		if s.Runtime == engine.RuntimeTerminal {
			return []fact{{"usage", "used", "none", toneDim, "a terminal has no context window", "context"}}
		}
		return []fact{{"usage", "used", "?", toneUnknown, clean(why), "context"}}
	}
	note := m.sourceNote(u.Source, u.SampledAt, u.Confidence)
	tokens := tokenWord(u.Tokens)
	out := []fact{}
	if u.Window > 0 {
		share, k := m.shareCell(s)
		out = append(out, fact{"usage", "used", m.brush.gauge(u.Percent, engine.NearWall(u.Window), 12) + " " + share, k, note, "context"})
		tokens += " of " + tokenWord(u.Window)
	}
	out = append(out, fact{"tokens", "tokens", tokens, toneText, note, "context"})
	if u.Note != "" {
		out = append(out, fact{"usage-note", "note", clean(u.Note), toneDim, "", "context"})
	}
	return append(out, compactionFacts(s.Compaction)...)
}

// compactionFacts says how the seat's compaction is managed, and whether a
// compaction still has to be audited.
func compactionFacts(c engine.SeatCompaction) []fact {
	var out []fact
	if c.Verdict != "" {
		out = append(out, fact{"verdict", "compaction", clean(c.Verdict), toneNeed, "", "context"})
	}
	if c.Managed {
		out = append(out, fact{"managed", "managed", "by the rig's policy, " + policyAt(c), toneText, "", "context"})
		if c.Why != "" {
			out = append(out, fact{"managed-why", "", clean(c.Why), toneNeed, "", "context"})
		}
	}
	if c.IdleOff {
		out = append(out, fact{"idle-off", "idle", "its own idle compaction is off since this launch", toneDim, "", "context"})
	}
	if c.NextLaunch != "" {
		out = append(out, fact{"next-launch", "next launch", clean(c.NextLaunch), toneDim, "", "context"})
	}
	return out
}

func tokenWord(n int64) string {
	switch {
	case n >= 1_000_000:
		return itoa(int(n/1_000_000)) + "." + itoa(int(n/100_000)%10) + "M"
	case n >= 1000:
		return itoa(int(n/1000)) + "k"
	}
	return itoa(int(n))
}

// aboutTokens writes the size of a conversation that is an estimate; "?" is not known.
func aboutTokens(n int64) string {
	if n == 0 {
		return "?"
	}
	return "~" + tokenWord(n)
}

func (m *Model) identityFacts(s *engine.SeatView) []fact {
	word, k := outcomeWord(s.Continuity)
	if s.ContextDelivered {
		word += ", context delivered"
	}
	out := []fact{{"outcome", "continuity", word, k, byNote(s.OutcomeBy, m.now, s.OutcomeAt), "identity"}}
	add := func(key, label, value string) {
		if strings.TrimSpace(value) != "" {
			out = append(out, fact{key, label, clean(value), toneText, "", "identity"})
		}
	}
	add("binding", "binding", string(s.Binding))
	add("generation", "occupant", "generation "+itoa(int(s.Generation))+dashed(string(s.Origin)))
	add("previous", "before it", s.Previous)
	add("parent", "forked from", s.ForkedFrom)
	model := s.Model
	if model != "" { // nothing tells which one runs: it may have been set since
		model = "next launch: " + model
	}
	add("runtime", "runtime", string(s.Runtime)+dashed(model))
	add("role", "role", s.Role)
	add("cwd", "directory", s.Cwd)
	if s.Pane != "" {
		add("pane", "pane", string(s.Pane)+" in "+s.SessionName+", pid "+itoa(s.PanePID))
	}
	if s.PaneSize[0] > 0 { // of a pane that is not there nobody knows it
		add("size", "size", itoa(s.PaneSize[0])+"x"+itoa(s.PaneSize[1]))
	}
	add("title", "title", s.Title)
	if s.TokenPresent {
		add("token", "resumable", "yes, its conversation id is on record"+dashed(string(s.TokenRank)))
	} else if s.Runtime != engine.RuntimeTerminal {
		add("token", "resumable", "not yet: no conversation id on record")
	}
	return out
}

func edgeFacts(s *engine.SeatView) []fact {
	var out []fact
	if w := s.Work; w.Pending+w.Claimed+w.Blocked > 0 {
		out = append(out, fact{"work", "inbound", itoa(w.Pending) + " pending, " + itoa(w.Claimed) + " claimed, " + itoa(w.Blocked) + " blocked", toneText, "", "identity"})
	}
	edges := append([]engine.EdgeView(nil), s.Edges...)
	sort.SliceStable(edges, func(i, j int) bool { return edges[i].Out && !edges[j].Out })
	for i, e := range edges {
		kind := strings.ReplaceAll(string(e.Kind), "_", " ")
		value := kind + " " + clean(e.Seat)
		if !e.Out {
			value = clean(e.Seat) + " " + kind + " it"
		}
		out = append(out, fact{"edge/" + itoa(i), "edge", value, toneText, "", "identity"})
	}
	return out
}

// withLineage adds to the seat it was forked from when that was, and who did it.
// The seat may have been resumed since, so only its history can tell.
func (m *Model) withLineage(facts []fact, tenures []engine.Tenure) []fact {
	for _, t := range tenures { // newest first
		if t.Kind != "fork" && (t.Kind != "handover" || t.Continuity != engine.ContinuityForked) {
			continue
		}
		for i := range facts {
			if facts[i].key == "parent" {
				facts[i].note = ago(m.now, t.StartedAt) + byWord(t.Operator)
			}
		}
		break
	}
	return facts
}

// driftFacts lists in what a seat differs from the spec of its rig; where it does not,
// nothing has to be told.
func driftFacts(d engine.SpecDrift) []fact {
	if d.State != engine.DriftDiffers && d.State != engine.DriftGone && d.Code == "" {
		return nil
	}
	out := []fact{heading("Spec"), {"spec", string(d.State), clean(d.Why), toneText, clean(d.Spec), "identity"}}
	for _, f := range d.Fields {
		out = append(out, fact{"spec/" + f.Field, f.Field, clean(cmp.Or(f.Seat, "nothing")), toneNeed, "the spec says " + clean(cmp.Or(f.Spec, "nothing")), "identity"})
	}
	return out
}

// historyFacts lists a seat's occupants through time, newest first.
func (m *Model) historyFacts(seat *engine.SeatView, sessions []engine.Session, tenures []engine.Tenure) []fact {
	status := func(s engine.Session) string {
		if s.Status == engine.SessionRunning && seat.Life != engine.LifeRunning { // the record has not been told
			return "running, on record"
		}
		return string(s.Status)
	}
	if len(sessions)+len(tenures) == 0 {
		return nil
	}
	out := []fact{heading("Occupants")}
	by := map[int64]engine.Session{}
	for _, s := range sessions {
		by[s.Generation] = s
	}
	seen := map[int64]bool{}
	for _, t := range tenures {
		seen[t.Generation] = true
		word, k := outcomeWord(t.Continuity)
		value := t.Kind + ", " + word
		if t.Source != "" {
			value += " from " + t.Source
		}
		if s, ok := by[t.Generation]; ok {
			value += dashed(status(s))
		}
		out = append(out, fact{"tenure/" + itoa(int(t.Generation)), "generation " + itoa(int(t.Generation)), clean(value), k, spanNote(m, t), "identity"})
		if t.Reason != "" {
			out = append(out, fact{"reason/" + itoa(int(t.Generation)), "", "\"" + clean(t.Reason) + "\"", toneDim, "", "identity"})
		}
	}
	for _, s := range sessions {
		if !seen[s.Generation] {
			out = append(out, fact{"session/" + s.ID, "generation " + itoa(int(s.Generation)), status(s), toneText, "started " + ago(m.now, s.CreatedAt), "identity"})
		}
	}
	return out
}

func spanNote(m *Model, t engine.Tenure) string {
	note := t.StartedAt.In(m.opt.zone()).Format("2 Jan 15:04")
	if !t.EndedAt.IsZero() {
		note += " to " + t.EndedAt.In(m.opt.zone()).Format("2 Jan 15:04")
	}
	if t.Operator != "" {
		note += " by " + clean(t.Operator)
	}
	return note
}

func dashed(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

func byNote(who string, now, at time.Time) string {
	if who == "" && at.IsZero() {
		return ""
	}
	if who == "" {
		return ago(now, at)
	}
	return "by " + clean(who) + ", " + ago(now, at)
}

// sourceNote says where a reading comes from, how old and how sure it is.
func (m *Model) sourceNote(source string, at time.Time, c engine.Confidence) string {
	if source == "" {
		return ""
	}
	note := clean(source)
	if !at.IsZero() {
		note += ", " + ago(m.now, at)
	}
	if c == engine.ConfidenceLow {
		note += ", not sure"
	}
	return note
}

// factLine draws a fact in w cells.
func (m *Model) factLine(f fact, w int, on bool) string {
	if strings.HasPrefix(f.key, "h/") {
		return m.brush.line(w, on, m.brush.lead(on), seg{f.tone, f.value})
	}
	label := 12
	if w < minCols {
		label = 10
	}
	value := f.value
	segs := []seg{m.brush.lead(on), {toneDim, pad(f.label, label) + " "}}
	room := w - label - 2
	if f.note != "" && width(value)+2+8 <= room {
		segs = append(segs, seg{f.tone, value}, seg{toneDim, "  " + f.note})
	} else {
		segs = append(segs, seg{f.tone, cutMiddle(value, max(room, 1))})
	}
	return m.brush.line(w, on, segs...)
}

// factLines draws the facts of a seat without a cursor, for the box beside a
// list.
func (m *Model) factLines(s *engine.SeatView, w int) []string {
	var out []string
	for i, f := range m.seatFacts(s) {
		if i > 0 && strings.HasPrefix(f.key, "h/") {
			out = append(out, m.brush.blank(w, 1)...)
		}
		out = append(out, m.factLine(f, w, false))
	}
	return out
}
