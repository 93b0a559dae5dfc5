package tui

import (
	"rig/engine"
)

// restoreHead is the number of lines above the rows: the tabs and the heading.
const restoreHead = 2

// rebootLook is what would become of a seat if the machine rebooted now.
func rebootLook(s engine.RestoreCheckSeat) look {
	switch s.Action {
	case "resume-original":
		if s.Status == engine.CheckYellow {
			return look{"◐", "/", "resumed", toneNeed}
		}
		return look{"●", "*", "resumed", toneBusy}
	case string(engine.ContinuityFreshPrimed):
		return look{"○", "o", "primed", toneText}
	case "launch":
		return look{"·", ".", "launched", toneText}
	case string(engine.ContinuityAwaiting):
		if s.Code == engine.CodeLost {
			return look{"∅", "%", "lost", toneBad}
		}
		return look{"◆", "+", "decision", toneNeed}
	case string(engine.ContinuityFailed):
		return look{"✗", "X", "broken", toneBad}
	}
	return lookUnknown
}

// verdictWord says a verdict as a person does.
func verdictWord(v string) string {
	switch v {
	case engine.VerdictRestorable:
		return "comes back"
	case engine.VerdictCaveats:
		return "comes back, with caveats"
	case engine.VerdictNotRestorable:
		return "not all of it comes back"
	}
	return "cannot be told"
}

func verdictTone(v string) tone {
	switch v {
	case engine.VerdictRestorable:
		return toneBusy
	case engine.VerdictCaveats:
		return toneNeed
	case engine.VerdictNotRestorable:
		return toneBad
	}
	return toneUnknown
}

// lookResult is how a restore ended.
func lookResult(r engine.RestoreResult) look {
	switch r {
	case engine.RestoreFull:
		return look{"✓", "v", "fully restored", toneBusy}
	case engine.RestorePartial:
		return look{"◐", "/", "partially restored", toneNeed}
	case engine.RestoreFailed:
		return look{"✗", "x", "failed", toneBad}
	case engine.RestoreNotAttempted:
		return look{"·", ".", "not attempted", toneBad}
	case engine.RestoreNothingDown:
		return look{"●", "*", "ran already", toneText}
	}
	return look{"?", "?", clean(string(r)), toneUnknown}
}

func (s *restoreScreen) sizes(m *Model) areas {
	return m.divide(max(len(s.part().list.keys), 3)+restoreHead, false)
}

func (s *restoreScreen) view(m *Model, w, h int) []string {
	p := s.part()
	head := s.tabs(m, w)
	switch {
	case p.err != "":
		return append([]string{head}, m.notice(w, h-1, "This cannot be read", p.err, m.reg.hint("reload")+" tries again.")...)
	case !p.loaded:
		return append([]string{head}, m.notice(w, h-1, s.asking())...)
	case len(p.list.keys) == 0 && m.filters[screenRestore] != "":
		return append([]string{head}, m.nothingMatches(w, h-1)...)
	case len(p.list.keys) == 0:
		return append([]string{head}, s.nothing(m, w, h-1)...)
	}
	a := s.sizes(m)
	lines := append([]string{s.tabs(m, a.listW)}, s.table(m, a)...)
	var beyond []string
	if a.sideW > 0 {
		title, text := s.about(m)
		inner, note := a.sideW-4, ""
		lines := wrapped(text, m.brush, inner)
		if len(lines) > a.sideH-2 {
			note = m.reg.hint("open-restore") + " shows the rest"
		}
		body := inset(m.brush.fill(lines, inner, a.sideH-2))
		beyond = m.brush.box(a.sideW, a.sideH, toneBorder, []seg{{toneStrong, cutMiddle(title, max(a.sideW-8, 8))}}, note, body)
	}
	return m.join(a, lines, nil, beyond)
}

func (s *restoreScreen) asking() string {
	switch s.tab {
	case tabSnapshots:
		return "Reading the snapshots"
	case tabPast:
		return "Reading the receipts of past restores"
	case tabReboot, restoreTabs:
	}
	return "Looking what would come back if this machine rebooted now"
}

func (s *restoreScreen) nothing(m *Model, w, h int) []string {
	switch s.tab {
	case tabSnapshots:
		return m.notice(w, h, "No snapshot is on record", "Running rigs are saved periodically while a console or rig watch runs, and before they are taken down.",
			m.reg.hint("snapshot")+" saves one now.")
	case tabPast:
		return m.notice(w, h, "No restore has ended yet", "What "+m.reg.hint("restore")+" and "+m.reg.hint("up")+" bring back leaves its receipt here: the verdict of that moment, and what became of it since.")
	case tabReboot, restoreTabs:
	}
	return m.notice(w, h, "There is no rig that could come back", m.reg.hint("up")+" brings one up.")
}

// tabs is the first line: which list is shown, and the sum of it.
func (s *restoreScreen) tabs(m *Model, w int) string {
	segs := s.tabRow("if rebooted now", "snapshots", "past restores")
	if segsWidth(segs) > w {
		segs = s.tabRow("reboot", "snapshots", "past")
	}
	used := segsWidth(segs)
	if at := s.part().at; !at.IsZero() && w-used >= len(" as of 15:04") {
		segs = append(segs, seg{toneDim, " as of " + at.In(m.opt.zone()).Format("15:04")})
	}
	return m.brush.line(w, false, segs...)
}

// tabRow names the lists, the one that is shown in brackets, and the sum of it.
func (s *restoreScreen) tabRow(names ...string) []seg {
	segs := []seg{{toneText, " "}}
	for i, name := range names {
		k := toneDim
		if restoreTab(i) == s.tab {
			name, k = "["+name+"]", toneAccent
		}
		segs = append(segs, seg{k, name}, seg{toneText, " "})
	}
	if s.tab == tabReboot && s.part().loaded && s.part().err == "" {
		segs = append(segs, s.sum()...)
	}
	return segs
}

// sum counts what would become of all seats, the worst first.
func (s *restoreScreen) sum() []seg {
	counts := map[string]int{}
	looks, back := map[string]look{}, 0
	for _, r := range s.report.Rigs {
		for _, seat := range r.Seats {
			l := rebootLook(seat)
			counts[l.word]++
			looks[l.word] = l
		}
	}
	out := []seg{{toneText, " "}}
	for _, word := range []string{"lost", "broken", "decision", "unknown"} {
		if counts[word] > 0 {
			out = append(out, seg{looks[word].tone, itoa(counts[word]) + " " + word}, seg{toneText, " "})
		}
	}
	for _, word := range []string{"resumed", "primed", "launched"} {
		back += counts[word]
	}
	return append(out, seg{toneBusy, itoa(back) + " back"})
}

func (s *restoreScreen) columns() []column {
	switch s.tab {
	case tabSnapshots:
		return []column{
			{head: "RIG", w: 8, most: 20},
			{head: "KIND", w: 13, most: 14},
			{head: "AGE", w: 3, tail: true},
			{head: "SEATS", w: 8, rank: 2},
			{head: "A RESTORE", w: 15, most: 80, rank: 1},
			{head: "SNAPSHOT", w: 12, most: 26, rank: 3},
		}
	case tabPast:
		return []column{
			{head: "RIG", w: 8, most: 20},
			{head: "THEN", w: 20},
			{head: "AGE", w: 3, tail: true},
			{head: "NOW", w: 20, rank: 1},
			{head: "OPEN", w: 4, rank: 2, tail: true},
			{head: "ATTEMPT", w: 12, most: 26, rank: 3},
		}
	case tabReboot, restoreTabs:
	}
	name := 18
	for _, r := range s.rows {
		if r.seat != nil {
			name = max(name, width(clean(r.seat.Seat))+2)
		}
	}
	return []column{
		{head: "SEAT", w: 18, most: min(name, 30)}, {head: "WOULD BE", w: 10}, {head: "WHY", w: 14, most: 200, rank: 1},
	}
}

// table draws the heading and the rows in sight.
func (s *restoreScreen) table(m *Model, a areas) []string {
	t := m.brush.table(s.columns(), a.listW, 1)
	return append([]string{t.head()}, s.part().list.lines(a.listH-restoreHead, func(i int, on bool) string {
		if s.tab == tabReboot && s.rows[i].seat == nil {
			return m.brush.line(a.listW, on, append([]seg{m.brush.lead(on)}, s.rigCells(m, s.rows[i].rig)...)...)
		}
		return t.row(on, s.cells(m, i, t.f))
	})...)
}

// rigCells is the line of a rig: its verdict, and what a restore would stand on.
func (s *restoreScreen) rigCells(m *Model, r engine.RestoreCheckRig) []seg {
	mark := m.brush.g.open
	if s.folded[r.RigID] {
		mark = m.brush.g.folded
	}
	return []seg{
		{toneDim, mark + " "},
		{toneStrong, clean(r.Rig)},
		{toneText, "  "},
		{verdictTone(r.Verdict), verdictWord(r.Verdict)},
		{toneDim, "  from " + selectionText(r.Snapshot)},
	}
}

// selectionText says what a restore would stand on, or stood on.
func selectionText(v engine.SnapshotSelection) string {
	if v.ID == "" {
		return "the record"
	}
	if v.Age == "now" {
		return "a snapshot made just now, " + clean(v.Kind)
	}
	return joinWords(" ", "a snapshot", clean(v.Age), "old, "+clean(v.Kind))
}

func (s *restoreScreen) cells(m *Model, i int, f fitted) [][]seg {
	switch s.tab {
	case tabSnapshots:
		v := s.snapRows[i]
		use, k := snapshotUse(v)
		return [][]seg{
			{{toneText, cutMiddle(clean(v.Rig), f[0])}},
			{{toneText, clean(v.Kind)}},
			{{toneDim, age(m.now, v.CreatedAt)}},
			{{toneDim, itoa(len(v.Intended)) + " of " + itoa(v.Seats)}},
			{{k, use}},
			{{toneDim, clean(v.ID)}},
		}
	case tabPast:
		v := s.pastRows[i]
		then, now := lookResult(v.Original), lookResult(v.Current)
		open := seg{toneDim, "0"}
		if n := len(v.Unresolved); n > 0 {
			open = seg{toneNeed, itoa(n)}
		}
		return [][]seg{
			{{toneText, cutMiddle(clean(v.Rig), f[0])}},
			{{then.tone, then.text(m.brush.g)}},
			{{toneDim, age(m.now, v.StartedAt)}},
			{{now.tone, now.text(m.brush.g)}},
			{open},
			{{toneDim, clean(v.Attempt)}},
		}
	case tabReboot, restoreTabs:
	}
	seat := s.rows[i].seat
	l := rebootLook(*seat)
	return [][]seg{
		{{toneText, "  " + cutMiddle(clean(seat.Seat), max(f[0]-2, 4))}}, {{l.tone, l.text(m.brush.g)}}, {{toneDim, whyText(seat.Why)}},
	}
}

// whyText takes the underscores out of reasons that are codes.
func whyText(s string) string { return clean(engine.InWords(s)) }

func snapshotUse(v engine.SnapshotView) (string, tone) {
	switch {
	case v.Chosen:
		return "would choose it", toneBusy
	case v.Usable:
		return "could use it", toneText
	}
	return "cannot: " + clean(v.Why), toneBad
}
