package tui

import (
	"strings"

	"rig/engine"
)

// about is all that is known of the row under the cursor: what the side shows
// and what Enter opens.
func (s *restoreScreen) about(m *Model) (title string, lines []readLine) {
	if r, ok := s.row(); ok {
		if r.seat == nil {
			return clean(r.rig.Rig), s.aboutRig(m, r.rig)
		}
		return clean(r.seat.Seat), s.aboutSeat(m, *r.seat)
	}
	if v, ok := s.snapshot(); ok {
		return "snapshot of " + clean(v.Rig), aboutSnapshot(m, v)
	}
	if v, ok := s.attempt(); ok {
		return "restore of " + clean(v.Rig), aboutAttempt(m, v)
	}
	return "", nil
}

// said adds a labelled line when there is something to say.
func said(lines []readLine, label, text string, k tone) []readLine {
	if text == "" {
		return lines
	}
	return append(lines, readLine{label, text, k})
}

func (s *restoreScreen) aboutSeat(m *Model, seat engine.RestoreCheckSeat) []readLine {
	l := rebootLook(seat)
	out := []readLine{{"would be", l.text(m.brush.g), l.tone}}
	out = said(out, "why", whyText(seat.Why), toneText)
	out = said(out, "to do", clean(seat.Remedy), toneAccent)
	now := clean(seat.Live)
	if v := m.seats[seat.SeatID]; v != nil {
		now = lookOf(v).word
	}
	out = said(out, "now", now+" (shown, not judged)", toneDim)
	out = append(out, readLine{}, readLine{"checks", "", toneText})
	for _, it := range s.report.Checks {
		if it.Seat == seat.Seat {
			out = append(out, checkLines(it, "seat."+seat.Seat+".", m.brush.g)...)
		}
	}
	return out
}

func (s *restoreScreen) aboutRig(m *Model, r engine.RestoreCheckRig) []readLine {
	out := []readLine{{"verdict", verdictWord(r.Verdict), verdictTone(r.Verdict)}}
	out = append(out, selectionLines(r.Snapshot)...)
	out = append(out, readLine{}, readLine{"checks", "", toneText})
	for _, it := range s.report.Checks {
		if it.Seat != "" || it.Rig != "" && it.Rig != r.Rig {
			continue
		}
		out = append(out, checkLines(it, "rig."+r.Rig+".", m.brush.g)...)
	}
	return out
}

// checkLines is one check: what it saw, where, and what repairs it.
func checkLines(it engine.RestoreCheckItem, prefix string, g *glyphs) []readLine {
	word, k := "yes", toneBusy
	switch it.Status {
	case engine.CheckYellow:
		word, k = "caveat", toneNeed
	case engine.CheckRed:
		word, k = "no", toneBad
	case engine.CheckUnknown:
		word, k = "unknown", toneUnknown
	case engine.CheckGreen:
	}
	text := word + ": " + whyText(it.Evidence)
	if it.Source != "" && it.Source != it.Evidence {
		text += " (" + clean(it.Source) + ")"
	}
	out := []readLine{{strings.TrimPrefix(clean(it.Check), clean(prefix)), text, k}}
	if it.Status != engine.CheckGreen && it.Remedy != "" {
		out = said(out, "", g.arrow+" "+clean(it.Remedy), toneAccent)
	}
	return out
}

func selectionLines(v engine.SnapshotSelection) []readLine {
	out := []readLine{{"stands on", selectionText(v), toneText}}
	out = said(out, "", clean(v.ID), toneDim)
	out = said(out, "because", clean(v.Rationale), toneDim)
	if v.Newer != "" {
		out = append(out, readLine{"newer", clean(v.Newer) + " is usable too", toneNeed})
	}
	return out
}

func aboutSnapshot(m *Model, v engine.SnapshotView) []readLine {
	use, k := snapshotUse(v)
	out := []readLine{
		{"a restore", use, k},
		{"made", v.CreatedAt.In(m.opt.zone()).Format("2 Jan 15:04:05") + ", " + clean(v.Kind), toneText},
		{"id", clean(v.ID), toneDim},
		{"state", joinWords(": ", clean(v.Status), clean(v.Note)), toneText},
		{"roster", joinWords(", ", engine.Counted(v.Seats, "seat"), strings.ReplaceAll(clean(v.Roster), "_", " ")), toneText},
	}
	out = said(out, "intended", clean(strings.Join(v.Intended, ", ")), toneText)
	return append(out, readLine{}, readLine{"", m.reg.hint("restore") + " restores from it; " + m.reg.hint("open-restore") + " shows its seats", toneDim})
}

// snapshotLines are the seats of a snapshot.
func snapshotLines(d engine.SnapshotDetail) []readLine {
	out := []readLine{{}, {"seats", "", toneText}}
	for _, s := range d.Detail {
		words := []string{runtimeWord(s.Runtime), "generation " + itoa(int(s.Generation)), clean(s.Status)}
		if s.Pane != "" {
			words = append(words, "pane "+clean(s.Pane))
		}
		if s.Token != "" {
			words = append(words, "token "+clean(s.Token))
		}
		k := toneText
		if !s.Intended {
			words, k = append(words, "not intended"), toneDim
		}
		out = append(out, readLine{clean(s.Seat), joinWords(", ", words...), k})
	}
	return out
}

// aboutAttempt is a past restore: the frozen verdict, the one that holds now,
// and each seat then and now.
func aboutAttempt(m *Model, v engine.RestoreStatus) []readLine {
	then, now := lookResult(v.Original), lookResult(v.Current)
	out := []readLine{
		{"then", then.text(m.brush.g), then.tone},
		{"now", now.text(m.brush.g), now.tone},
		{"when", v.StartedAt.In(m.opt.zone()).Format("2 Jan 15:04:05"), toneText},
		{"attempt", clean(v.Attempt), toneDim},
	}
	out = append(out, selectionLines(v.Selection)...)
	out = append(out, readLine{}, readLine{"seats", "", toneText})
	for _, s := range v.Seats {
		word, k := outcomeWord(s.Current)
		if s.Current == engine.ContinuityNone {
			word = whyText(orNothing(s.Action))
		}
		if s.Current != s.Original {
			before, _ := outcomeWord(s.Original)
			word = before + " " + m.brush.g.arrow + " " + word
		}
		out = append(out, readLine{"", clean(s.Seat) + "  " + word, k})
		out = said(out, "", whyText(s.Why), toneDim)
		if s.Remedy != "" && k != toneBusy {
			out = append(out, readLine{"", m.brush.g.arrow + " " + clean(s.Remedy), toneAccent})
		}
	}
	for _, x := range v.Excluded {
		out = append(out, readLine{"", clean(x.Seat) + "  left out: " + whyText(x.Reason), toneDim})
	}
	for _, r := range v.Reconciliations {
		out = append(out, readLine{"", r.At.In(m.opt.zone()).Format("15:04") + " " + clean(r.Seat) + " put in order by " + clean(r.By), toneDim})
	}
	return out
}
