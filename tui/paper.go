package tui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rig/engine"
)

// papersMsg and paperMsg bring what a seat has to read.
type (
	papersMsg struct {
		id     int
		seat   string
		title  string
		papers []engine.Paper
		err    error
	}
	paperMsg struct {
		id   int
		ask  engine.PaperAsk
		page engine.PaperPage
		err  error
	}
)

// paper is a dialog that shows one page of a paper at a time, so that it holds
// little however long the paper is. Pages come from commands; what is shown
// meanwhile stays.
type paper struct {
	seatID, title, address string

	page    engine.PaperPage
	shown   bool // a page has come
	trouble string
	id      int                // of the request under way, 0 = none
	stop    context.CancelFunc // ends it
	inside  struct{ w, h int } // of the dialog's inside
	lines   []paperLine
	top     int

	find  *input // being typed, nil = not
	words string // what was looked for last
	hit   int    // line of the current find, -1 = none
	round bool   // the search goes on from the other end
	news  string // where a find was made, when that is not plain
}

// paperLine is one drawn line: a heading or text.
type paperLine struct {
	text string
	head bool
}

func (p *paper) scope(*Model) scope {
	if p.find != nil {
		return scopeFind
	}
	return scopePaper
}

func (p *paper) typing() bool { return p.find != nil }

func (p *paper) key(_ *Model, k tea.KeyPressMsg) tea.Cmd {
	if p.find != nil {
		p.find.key(k)
	}
	return nil
}

func (p *paper) paste(_ *Model, text string) tea.Cmd {
	if p.find != nil {
		p.find.insert(text)
	}
	return nil
}

// openPapers asks what there is to read of the seat.
func (m *Model) openPapers() tea.Cmd {
	s := m.here().seat
	if s == nil {
		return nil
	}
	m.papersAsked = m.next()
	c, ctx, id, seat, title := m.c, m.ctx, m.papersAsked, s.ID, clean(s.Address)
	return func() tea.Msg {
		list, err := c.Papers(ctx, seat)
		return papersMsg{id, seat, title, list, err}
	}
}

// onPapers offers what there is.
func (m *Model) onPapers(msg papersMsg) tea.Cmd {
	if msg.id != m.papersAsked {
		return nil
	}
	m.papersAsked = 0
	if m.top() != nil { // something else was opened meanwhile, and has the keys
		return nil
	}
	if msg.err != nil {
		return m.say(toneBad, false, errorText(msg.err))
	}
	var items []pickItem
	for _, x := range msg.papers {
		items = append(items, pickItem{text: clean(x.Label), note: clean(x.Note), why: clean(x.Trouble), run: func(m *Model) tea.Cmd {
			return m.openPaper(msg.seat, msg.title+": "+clean(x.Label), x.Address)
		}})
	}
	m.push(newPicker("What to read of "+msg.title, false, items))
	return nil
}

// openPaper shows a paper: a conversation from its end, anything else from its
// beginning.
func (m *Model) openPaper(seatID, title, address string) tea.Cmd {
	p := &paper{seatID: seatID, title: title, address: address, hit: -1}
	m.push(p)
	p.layout(m)
	if p.paged() {
		return p.ask(m, engine.PaperAsk{At: -1, Back: true})
	}
	return p.ask(m, engine.PaperAsk{})
}

// paged tells papers that may have several pages.
func (p *paper) paged() bool { return strings.HasPrefix(p.address, engine.PaperTranscript) }

// ask requests a page; one that is under way is given up.
func (p *paper) ask(m *Model, ask engine.PaperAsk) tea.Cmd {
	p.giveUp()
	p.id, p.trouble = m.next(), ""
	ask.Address = p.address
	ctx, stop := context.WithCancel(m.ctx)
	p.stop = stop
	c, id, seat := m.c, p.id, p.seatID
	return func() tea.Msg {
		page, err := c.ReadPaper(ctx, seat, ask)
		return paperMsg{id, ask, page, err}
	}
}

func (p *paper) giveUp() {
	if p.stop != nil {
		p.stop()
	}
	p.id, p.stop = 0, nil
}

func (p *paper) update(m *Model, msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		p.layout(m)
	case paperMsg:
		if msg.id == p.id && p.id != 0 {
			p.giveUp()
			return p.take(m, msg)
		}
	}
	return nil
}

// take shows a page that came.
func (p *paper) take(m *Model, msg paperMsg) tea.Cmd {
	switch {
	case msg.err != nil:
		p.trouble = errorText(msg.err)
		return nil
	case msg.page.Missing && !p.round:
		return p.around(m, msg.ask.Back)
	case msg.page.Missing:
		p.trouble = quote(p.words) + " is nowhere in it"
		return nil
	}
	p.page, p.shown, p.hit, p.top = msg.page, true, -1, 0
	p.layout(m)
	switch {
	case msg.ask.Find != "":
		p.hit = p.match(0, 1)
		p.reveal()
	case msg.ask.Back:
		p.top = p.last()
	}
	return nil
}

// around goes on with a search from the other end.
func (p *paper) around(m *Model, back bool) tea.Cmd {
	p.round, p.news = true, "found from the beginning"
	by, from, ask := 1, 0, engine.PaperAsk{Find: p.words}
	if back {
		by, from, ask = -1, len(p.lines)-1, engine.PaperAsk{At: p.page.Size, Back: true, Find: p.words}
		p.news = "found from the end"
	}
	if p.paged() {
		return p.ask(m, ask)
	}
	if p.hit = p.match(from, by); p.hit < 0 {
		p.trouble = quote(p.words) + " is nowhere in it"
	}
	p.reveal()
	return nil
}

func quote(s string) string { return "“" + s + "”" }

// layout breaks the page into lines for the dialog's width.
func (p *paper) layout(m *Model) {
	w, h := p.size(m.w, m.h-1)
	p.inside.w, p.inside.h = w-4, h-3
	p.lines = p.lines[:0]
	for i, part := range p.page.Parts {
		if i > 0 {
			p.lines = append(p.lines, paperLine{})
		}
		if part.Head != "" {
			p.lines = append(p.lines, paperLine{clean(part.Head), true})
		}
		for line := range strings.SplitSeq(strings.TrimRight(part.Text, "\n"), "\n") {
			for _, piece := range wrap(clean(strings.ReplaceAll(line, "\t", "    ")), max(p.inside.w, 8)) {
				p.lines = append(p.lines, paperLine{text: piece})
			}
		}
	}
	p.top = max(min(p.top, p.last()), 0)
	if p.hit >= len(p.lines) {
		p.hit = -1
	}
}

// last is the first line of the last screenful.
func (p *paper) last() int { return max(len(p.lines)-p.inside.h, 0) }

func (p *paper) moving(*Model) string {
	if p.last() == 0 && (!p.paged() || p.page.From == 0 && p.page.To >= p.page.Size) {
		return ""
	}
	return moveText
}

func (p *paper) move(m *Model, d move) tea.Cmd {
	by := d.by
	switch {
	case d.to < 0 && p.paged() && p.page.From > 0:
		return p.ask(m, engine.PaperAsk{})
	case d.to > 0 && p.paged() && p.page.To < p.page.Size:
		return p.ask(m, engine.PaperAsk{At: -1, Back: true})
	case d.to != 0:
		by = d.to * len(p.lines)
	case d.page != 0:
		by = d.page * max(p.inside.h/2, 1)
	}
	switch {
	case p.id != 0 || !p.shown:
	case by < 0 && p.top == 0 && p.paged() && p.page.From > 0:
		return p.ask(m, engine.PaperAsk{At: p.page.From, Back: true})
	case by > 0 && p.top == p.last() && p.paged() && p.page.To < p.page.Size:
		return p.ask(m, engine.PaperAsk{At: p.page.To})
	}
	p.top = max(min(p.top+by, p.last()), 0)
	return nil
}

// match finds the next line, from one on, that holds what is looked for; -1 when
// the page has none.
func (p *paper) match(from, by int) int {
	words := strings.ToLower(p.words)
	for i := from; i >= 0 && i < len(p.lines) && words != ""; i += by {
		if strings.Contains(strings.ToLower(p.lines[i].text), words) {
			return i
		}
	}
	return -1
}

// reveal scrolls to the current find.
func (p *paper) reveal() {
	if p.hit >= 0 && (p.hit < p.top || p.hit >= p.top+p.inside.h) {
		p.top = max(min(p.hit-p.inside.h/3, p.last()), 0)
	}
}

// paperFind opens the field of the search.
func (m *Model) paperFind() tea.Cmd {
	if p := m.paper(); p != nil {
		p.find = newInput("")
	}
	return nil
}

func (m *Model) paperFindNow() tea.Cmd {
	p := m.paper()
	if p == nil || p.find == nil {
		return nil
	}
	if text := strings.TrimSpace(p.find.text()); text != "" {
		p.words, p.hit = text, -1
	}
	p.find = nil
	return p.seek(m, 1)
}

func (m *Model) paperFindCancel() tea.Cmd {
	if p := m.paper(); p != nil {
		p.find = nil
	}
	return nil
}

func (m *Model) paperNext(by int) tea.Cmd {
	if p := m.paper(); p != nil {
		return p.seek(m, by)
	}
	return nil
}

// seek goes to the next find in a direction.
func (p *paper) seek(m *Model, by int) tea.Cmd {
	if p.words == "" {
		return nil
	}
	from := p.hit + by
	if p.hit < 0 {
		if from = p.top; by < 0 {
			from = p.top - 1
		}
	}
	p.trouble, p.news, p.round = "", "", false
	if at := p.match(from, by); at >= 0 {
		p.hit = at
		p.reveal()
		return nil
	}
	switch {
	case by > 0 && p.paged() && p.page.To < p.page.Size:
		return p.ask(m, engine.PaperAsk{At: p.page.To, Find: p.words})
	case by < 0 && p.paged() && p.page.From > 0:
		return p.ask(m, engine.PaperAsk{At: p.page.From, Back: true, Find: p.words})
	}
	return p.around(m, by < 0)
}

// paper is the paper in front, nil when it is something else.
func (m *Model) paper() *paper {
	p, _ := m.top().(*paper)
	return p
}

func (m *Model) closePaper() tea.Cmd {
	if p := m.paper(); p != nil {
		p.giveUp()
	}
	return m.closeTop()
}

func (m *Model) whyNoFind() string {
	if p := m.paper(); p == nil || p.words == "" {
		return "nothing was looked for yet: " + m.reg.hint("paper-find") + " looks for a text"
	}
	return ""
}
