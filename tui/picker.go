package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/sahilm/fuzzy"
)

// pickItem is one line of a picker.
type pickItem struct {
	group string // heading, drawn while nothing is searched
	text  string
	note  string
	key   string
	why   string                  // not empty: cannot be chosen, and why
	again func(m *Model) string   // asks that once more when it is chosen; nil = why stands
	fresh func(m *Model) pickItem // makes the item anew from the present picture; nil = it says nothing of that
	run   func(m *Model) tea.Cmd
}

// picker is a list to choose from; with a search field above it when search is
// set.
type picker struct {
	title  string
	search *input // nil = no search
	all    []pickItem
	found  []pickItem
	list   list
	empty  string
}

func newPicker(title string, search bool, items []pickItem) *picker {
	p := &picker{title: title, all: items, empty: "nothing by that name"}
	if search {
		p.search = newInput("")
	}
	p.find()
	return p
}

func (p *picker) scope(*Model) scope {
	if p.search != nil {
		return scopePick
	}
	return scopeChoose
}

func (p *picker) typing() bool { return p.search != nil }

func (p *picker) key(_ *Model, k tea.KeyPressMsg) tea.Cmd {
	if p.search != nil && p.search.key(k) {
		p.find()
	}
	return nil
}

func (p *picker) paste(_ *Model, text string) tea.Cmd {
	if p.search != nil {
		p.search.insert(text)
		p.find()
	}
	return nil
}

func (p *picker) update(*Model, tea.Msg) tea.Cmd { return nil }

// renew lets the items say what is true now. Their order and the cursor stay: what one
// is about to choose does not move.
func (p *picker) renew(m *Model) {
	for _, items := range [][]pickItem{p.all, p.found} {
		for i := range items {
			it := &items[i]
			if it.again != nil {
				it.why = it.again(m)
			}
			if it.fresh != nil {
				now := it.fresh(m)
				it.note, it.key, it.why = now.note, now.key, now.why
			}
		}
	}
}

func (p *picker) move(m *Model, d move) tea.Cmd {
	p.list.settle(p.rows(p.size(m.w, m.h-1)))
	p.list.move(d)
	return nil
}

func (p *picker) moving(*Model) string {
	if len(p.found) < 2 {
		return ""
	}
	return moveList
}

// source lets the fuzzy finder read the names of items.
type source []pickItem

func (s source) String(i int) string { return s[i].text }
func (s source) Len() int            { return len(s) }

// rank orders what fits a search: names that hold it as typed, names that hold
// its letters in order, then descriptions that hold its words, also those of why an
// item cannot be chosen.
func rank(all []pickItem, q string) []pickItem {
	var out []pickItem
	taken := map[int]bool{}
	add := func(i int) {
		if !taken[i] {
			taken[i] = true
			out = append(out, all[i])
		}
	}
	for i, it := range all {
		if strings.HasPrefix(strings.ToLower(it.text), strings.ToLower(q)) {
			add(i)
		}
	}
	for i, it := range all {
		if matches(q, it.text) {
			add(i)
		}
	}
	for _, hit := range fuzzy.FindFrom(q, source(all)) {
		add(hit.Index)
	}
	for i, it := range all {
		if matches(q, it.text, it.note, it.key, it.why) {
			add(i)
		}
	}
	return out
}

// find narrows the list to what matches the search, best first.
func (p *picker) find() {
	p.found = p.all
	if p.search != nil {
		if q := strings.TrimSpace(p.search.text()); q != "" {
			p.found = rank(p.all, q)
		}
	}
	keys := make([]string, len(p.found))
	for i := range keys {
		keys[i] = itoa(i)
	}
	p.list = list{keys: keys, height: p.list.height}
}

// pickWidth and pickHeight are what a picker grows to at most.
const (
	pickWidth  = 150
	pickHeight = 60
)

func (p *picker) size(cols, rows int) (int, int) {
	around := 2
	if p.search != nil {
		around = 5
	}
	text, note := p.widths()
	w, _ := dialogSize(min(max(4+2+p.keyWidth(pickWidth)+text+2+note, 86), pickWidth), rows, cols, rows)
	return dialogSize(w, min(len(p.all)+p.heads()+around+p.below(w-4), pickHeight), cols, rows)
}

// widths are the widest name and the widest note.
func (p *picker) widths() (text, note int) {
	for _, it := range p.all {
		text, note = max(text, width(it.text)), max(note, width(it.remark()))
	}
	return text, note
}

// textWidth is the width of the column of names in w cells.
func (p *picker) textWidth(w int) int {
	text, _ := p.widths()
	return min(text, max(w*2/5, 18), max(w-p.keyWidth(w)-4, 1))
}

// below is the number of lines under the list, in which what is selected stands
// whole: none where all that is known of each has room in its line.
func (p *picker) below(w int) int {
	room, n, cut := w-4-p.keyWidth(w)-p.textWidth(w), 1, false
	for _, it := range p.all {
		cut = cut || width(it.remark()) > room || width(it.text) > p.textWidth(w) || it.why != "" && it.note != ""
		if whole := it.whole(); width(whole) > w {
			n = max(n, len(wrap(whole, w)))
		}
	}
	if !cut {
		return 0
	}
	return min(n, 3) + 1
}

// remark is what stands behind a name: why it cannot be chosen, else what it is.
func (it pickItem) remark() string {
	if it.why != "" {
		return "not now: " + it.why
	}
	return it.note
}

// whole is all that is known of an item.
func (it pickItem) whole() string {
	text := joinWords(": ", it.text, it.note)
	if it.why != "" {
		text += " (not now: " + it.why + ")"
	}
	return text
}

// heads counts the headings that are drawn while nothing is searched.
func (p *picker) heads() int {
	n, last := 0, ""
	for _, it := range p.all {
		if it.group != last && it.group != "" {
			n++
			last = it.group
		}
	}
	return n
}

// rows is the number of lines that the list has in a dialog of height h.
// w is its width.
func (p *picker) rows(w, h int) int {
	h -= p.below(w - 4)
	if p.search != nil {
		return max(h-4, 1)
	}
	return max(h-2, 1)
}

func (p *picker) view(m *Model, cols, rows int) []string {
	w, h := p.size(cols, rows)
	inner := w - 4
	var lines []string
	if p.search != nil {
		lines = append(lines, m.brush.line(2, false, seg{toneAccent, m.brush.g.prompt})+p.search.view(m.brush, inner-2, true, ""))
		lines = append(lines, m.brush.rule(inner, "", toneBorder))
	}
	if len(p.found) < len(p.all) { // an empty box says nothing
		h = min(h, max(len(p.found)+5+p.below(inner), 12))
	}
	room := p.rows(w, h)
	var whole []string
	if n := p.below(inner); n > 0 && p.list.cursor < len(p.found) {
		whole = wrap(p.found[p.list.cursor].whole(), inner)
		room = max(room-max(len(whole)+1-n, 0), 1)
		n = max(n, len(whole)+1)
		lines = append(m.brush.fill(append(lines, p.drawn(m, inner, room)...), inner, h-2-n), m.brush.rule(inner, "", toneBorder))
	} else {
		lines = append(lines, p.drawn(m, inner, room)...)
	}
	for _, l := range whole {
		lines = append(lines, m.brush.text(inner, toneText, l))
	}
	return m.brush.box(w, h, toneAccent, []seg{{toneStrong, p.title}}, p.list.more(room), inset(m.brush.fill(lines, inner, h-2)))
}

// drawn gives the visible lines, headings between them, with the cursor among
// them.
func (p *picker) drawn(m *Model, w, h int) []string {
	if len(p.found) == 0 {
		return []string{m.brush.text(w, toneDim, p.empty)}
	}
	searching := p.search != nil && strings.TrimSpace(p.search.text()) != ""
	var lines []string
	at, last := 0, ""
	for i, it := range p.found {
		if !searching && it.group != last {
			last = it.group
			lines = append(lines, m.brush.text(w, toneStrong, last))
		}
		if i == p.list.cursor {
			at = len(lines)
		}
		lines = append(lines, p.line(m, it, w, i == p.list.cursor))
	}
	from := max(min(at-h/2, len(lines)-h), 0)
	return lines[from:min(from+h, len(lines))]
}

func (p *picker) line(m *Model, it pickItem, w int, on bool) string {
	lead := seg{toneText, "  "}
	if on {
		lead = seg{toneAccent, m.brush.g.cursor + " "}
	}
	keyW := p.keyWidth(w)
	textW := p.textWidth(w)
	text := toneText
	if it.why != "" {
		text = toneDim
	}
	return m.brush.line(w, on, lead, seg{toneAccent, pad(it.key, keyW)},
		seg{text, pad(cutMiddle(it.text, textW), textW) + "  "}, seg{toneDim, it.remark()})
}

// keyWidth is the width of the column of keys, with the gap after it; 0 when no
// item has one.
func (p *picker) keyWidth(w int) int {
	n := 0
	for _, it := range p.all {
		n = max(n, width(it.key))
	}
	if n == 0 {
		return 0
	}
	return min(n, w/6) + 2
}

// pick does what is selected in the topmost list.
func (m *Model) pick() tea.Cmd {
	p, ok := m.top().(*picker)
	if !ok || p.list.cursor >= len(p.found) {
		return nil
	}
	it := p.found[p.list.cursor]
	m.drop(p)
	if it.again != nil { // the world went on while the list was open
		it.why = it.again(m)
	}
	if it.why != "" {
		m.overlays = append(m.overlays, p)
		return m.say(toneNeed, false, it.why)
	}
	if it.run == nil {
		return nil
	}
	return it.run(m)
}
