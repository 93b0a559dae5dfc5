package tui

import (
	"cmp"
	"regexp"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"

	"rig/engine"
)

// attentionScreen lists what waits for a person, heaviest first, with what
// resolves it. Acknowledged items stand below the others.
type attentionScreen struct {
	list   list
	items  []engine.AttentionItem
	chosen bool // somebody moved the cursor: it stays on its item
}

func (s *attentionScreen) info() screenInfo { return infoOf(screenAttention) }

func (s *attentionScreen) refresh(m *Model) tea.Cmd {
	s.items = s.items[:0]
	keys := []string{}
	filter := m.filters[screenAttention]
	for _, it := range m.fleet.Attention {
		if filter != "" && !matches(filter, it.Class, attentionLook(it.Class).word, it.Seat, it.Rig, it.Target, it.Reason, it.Remedy) {
			continue
		}
		s.items = append(s.items, it)
		keys = append(keys, it.Key)
	}
	s.list.set(keys)
	if !s.chosen && m.cur != screenAttention { // whoever comes finds the heaviest
		s.list.cursor, s.list.top = 0, 0
	}
	return nil
}

func (s *attentionScreen) update(*Model, tea.Msg) tea.Cmd { return nil }

func (s *attentionScreen) settle(m *Model) { s.list.settle(s.listHeight(m) - 1) }

// detailRows is the height of the text about the selected item.
const detailRows = 8

func (s *attentionScreen) listHeight(m *Model) int {
	a := m.divide(len(s.items), false)
	if it := s.item(); a.shape == shapeSplit && a.listH > 2*detailRows && m.seatOf(it) != nil {
		return a.listH - detailRows
	}
	return a.listH
}

func (s *attentionScreen) move(_ *Model, d move) tea.Cmd {
	s.chosen = true
	s.list.move(d)
	return nil
}

func (s *attentionScreen) item() *engine.AttentionItem {
	if s.list.cursor < len(s.items) {
		return &s.items[s.list.cursor]
	}
	return nil
}

func (s *attentionScreen) subject(m *Model) subject {
	it := s.item()
	if it == nil {
		return subject{}
	}
	out := subject{item: it, copy: cmp.Or(commandIn(it.Remedy), it.Seat, it.Remedy), topic: "status", seat: m.seats[it.SeatID], op: it.OpID}
	if out.seat != nil {
		out.seats = []string{it.SeatID}
		out.rig = m.rig(out.seat.RigID)
	}
	return out
}

// openFlag is a flag whose value a person has to think of. It is compiled at its first
// use: starting the program must stay cheap.
var openFlag = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(` --[a-z-]+ …`) })

// commandIn is the first command line in a remedy, which is prose: what can be run as it
// is, without the flags whose values a person gives. "" = there is none.
func commandIn(remedy string) string {
	var cmd string
	if rest, ok := strings.CutPrefix(remedy, "`kill "); ok { // to a client that was stopped
		rest, _, _ = strings.Cut(rest, "`")
		return "kill " + rest
	}
	if _, rest, ok := strings.Cut(remedy, "`rig "); ok {
		rest, _, _ = strings.Cut(rest, "`")
		cmd = "rig " + rest
	} else {
		rest, ok := strings.CutPrefix(remedy, "rig ")
		if !ok {
			if _, rest, ok = strings.Cut(remedy, ": rig "); !ok {
				return ""
			}
		}
		for _, end := range []string{", ", "; ", ". ", " and ", " or ", " to "} {
			rest, _, _ = strings.Cut(rest, end)
		}
		cmd = "rig " + strings.TrimSuffix(rest, ".")
	}
	if cmd = openFlag().ReplaceAllString(cmd, ""); strings.Contains(cmd, "…") {
		return ""
	}
	return cmd
}

func (s *attentionScreen) panes(m *Model) []string {
	it := s.item()
	if it == nil || it.SeatID == "" || m.side() == sideFacts || m.divide(len(s.items), false).sideW == 0 {
		return nil
	}
	return []string{it.SeatID}
}

func (s *attentionScreen) columns() []column {
	return []column{
		{head: "WAITS FOR", w: 13, most: 15},
		{head: "SEAT", w: 16, most: widest(16, 26, len(s.items), func(i int) string { return waits(s.items[i]) })},
		{head: "FOR", w: 3, rank: 1, tail: true},
		{head: "REASON", w: 14, most: 200, rank: 2},
	}
}

// attentionLook gives the shape, the words and the tone of a class.
func attentionLook(class string) look {
	switch class {
	case engine.AttnWaiting:
		return look{"▲", "^", "an answer", toneNeed}
	case engine.AttnSuspended:
		return look{"▲", "^", "a SIGCONT", toneNeed}
	case engine.AttnNotAudited:
		return look{"◆", "+", "an audit", toneNeed}
	case engine.AttnCompaction:
		return look{"◆", "+", "a compaction", toneNeed}
	case engine.AttnGate:
		return look{"◈", "!", "a gate", toneNeed}
	case engine.AttnLimit:
		return look{"■", "#", "a limit", toneLimit}
	case engine.AttnStartup:
		return look{"◈", "!", "its start", toneNeed}
	case engine.AttnOutcome:
		return look{"◆", "+", "a decision", toneNeed}
	case engine.AttnDead:
		return look{"✗", "X", "a dead pane", toneBad}
	case engine.AttnLost:
		return look{"∅", "%", "a lost seat", toneBad}
	case engine.AttnIdentity:
		return look{"≠", "=", "wrong process", toneBad}
	case engine.AttnShared:
		return look{"∞", "8", "shared talk", toneBad}
	case engine.AttnUnfinished:
		return look{"◐", "/", "a cut-off op", toneNeed}
	case engine.AttnServer:
		return look{"?", "?", "tmux", toneBad}
	}
	return look{"▲", "^", clean(class), toneNeed}
}

func (s *attentionScreen) view(m *Model, w, h int) []string {
	if len(m.fleet.Attention) == 0 {
		return s.calm(m, w, h)
	}
	a := m.divide(len(s.items), false)
	if len(s.items) == 0 {
		return m.nothingMatches(w, h)
	}
	t := m.brush.table(s.columns(), a.listW, 1)
	height := s.listHeight(m)
	lines := append([]string{t.head()}, s.list.lines(height-1, func(i int, on bool) string { return s.line(m, s.items[i], on, t) })...)
	if height < a.listH {
		lines = append(m.brush.fill(lines, a.listW, height), s.detail(m, a.listW, a.listH-height)...)
	}
	var beyond []string
	if a.sideW > 0 {
		beyond = s.beyond(m, a.sideW, a.sideH)
	}
	return m.join(a, lines, nil, beyond)
}

// calm is what stands there when nobody waits.
func (s *attentionScreen) calm(m *Model, w, h int) []string {
	title, why, known := calmWords(m.fleet)
	if !known {
		return m.notice(w, h, title, why)
	}
	return m.notice(w, h, title, why, m.reg.hint("screen-fleet")+" goes back to the Fleet.")
}

// calmWords say that no item is there, and why. With known false that is only all
// that is known.
func calmWords(f *engine.Fleet) (title, why string, known bool) {
	switch {
	case !f.Live:
		return "Nothing on record waits for a person", "tmux has not been asked yet; what seats do now is not known.", false
	case f.Server.State != engine.Present && f.Totals.Seats > 0:
		return "Nothing is known to wait", strings.TrimSpace("tmux is " + f.Server.State.String() + ": what seats do is not known. " + clean(f.Server.Why)), false
	}
	return "Nobody waits for you", engine.Untold(f.Totals.Running, f.Totals.Unknown) + " of " + engine.Counted(f.Totals.Seats, "seat") + " running, " + engine.Untold(f.Totals.Busy, f.Totals.Unknown) + " busy.", true
}

// beyond shows what the item is about: the seat's pane, or the item's own text
// when there is no seat.
func (s *attentionScreen) beyond(m *Model, w, h int) []string {
	it := s.item()
	if it == nil || m.seats[it.SeatID] != nil && m.divide(len(s.items), false).shape == shapeSplit {
		return m.seatBox(m.seatOf(it), w, h)
	}
	if seat := m.seatOf(it); seat != nil && h > detailRows+4 {
		lines := s.detail(m, w, detailRows-1)
		return append(lines, m.seatBox(seat, w, h-len(lines))...)
	}
	return s.detail(m, w, h)
}

func (m *Model) seatOf(it *engine.AttentionItem) *engine.SeatView {
	if it == nil {
		return nil
	}
	return m.seats[it.SeatID]
}

// waits names who waits for a person.
func waits(it engine.AttentionItem) string {
	switch {
	case it.Seat != "":
		return it.Seat
	case it.Rig != "":
		return it.Rig
	}
	return cmp.Or(it.Target, it.OpID)
}

func (s *attentionScreen) line(m *Model, it engine.AttentionItem, on bool, t table) string {
	l := attentionLook(it.Class)
	target := waits(it)
	if it.Acked != "" {
		l.tone = toneOff
	}
	cells := [][]seg{
		{{l.tone, l.text(m.brush.g)}},
		{{toneText, cutMiddle(clean(target), t.f[1])}},
		{{toneDim, age(m.now, it.Since)}},
		{{toneText, clean(it.Reason)}},
	}
	if it.Acked != "" {
		cells[3] = []seg{{toneDim, m.ackWord(it) + "  " + clean(it.Reason)}}
	}
	return t.row(on, cells)
}

func (m *Model) ackWord(it engine.AttentionItem) string {
	if it.Until.IsZero() {
		return "seen by " + clean(it.Acked)
	}
	return "snoozed until " + it.Until.In(m.opt.zone()).Format("15:04") + " by " + clean(it.Acked)
}

// detail says what the selected item stands on and what resolves it.
func (s *attentionScreen) detail(m *Model, w, h int) []string {
	it := s.item()
	if it == nil || h <= 0 {
		return m.brush.fill(nil, w, h)
	}
	out := []string{m.brush.rule(w, "what to do", toneDim)}
	put := func(label, text string, k tone) {
		for i, l := range wrap(clean(text), max(w-12, 8)) {
			if i > 0 {
				label = ""
			}
			out = append(out, m.brush.line(w, false, seg{toneDim, " " + pad(label, 10)}, seg{k, l}))
		}
	}
	put("reason", it.Reason, toneText)
	put("remedy", it.Remedy, toneAccent)
	if word := m.resolveWord(it); word != "" {
		put("press", m.reg.hint("resolve")+" "+word, toneAccent)
	}
	label := "evidence"
	for _, r := range evidenceRows(it.Evidence) {
		if r.label != "" {
			r.text = r.label + ": " + r.text
		}
		put(label, r.text, toneDim)
		label = ""
	}
	if it.Acked != "" {
		put("seen", m.ackWord(*it), toneDim)
	}
	return m.brush.fill(out, w, h)
}

func (s *attentionScreen) at(m *Model, x, y int) click {
	a := m.divide(len(s.items), false)
	row := s.list.top + y - 1
	if x >= a.listW || y < 1 || y >= s.listHeight(m) || row >= len(s.items) {
		return clickNone
	}
	return s.list.click(row)
}

// rig finds a rig by id; nil when it is not in the picture.
func (m *Model) rig(id string) *engine.RigView {
	for i := range m.fleet.Rigs {
		if m.fleet.Rigs[i].ID == id {
			return &m.fleet.Rigs[i]
		}
	}
	return nil
}
