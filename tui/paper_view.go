package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

func (p *paper) size(cols, rows int) (int, int) { return dialogSize(112, 60, cols, rows) }

func (p *paper) view(m *Model, cols, rows int) []string {
	w, h := p.size(cols, rows)
	inner := w - 4
	var lines []string
	for i := p.top; i < min(p.top+h-3, len(p.lines)); i++ {
		lines = append(lines, p.line(m.brush, i, inner))
	}
	if len(p.lines) == 0 {
		word := "nothing was said here"
		if !p.shown {
			word = "reading"
		}
		lines = append(lines, m.brush.text(inner, toneDim, word))
	}
	lines = append(m.brush.fill(lines, inner, h-3), p.foot(m, inner))
	return m.brush.box(w, h, toneAccent, []seg{{toneStrong, p.title}}, p.where(), inset(lines))
}

// line draws one line; what was looked for stands out.
func (p *paper) line(b brush, i, w int) string {
	l := p.lines[i]
	k := toneText
	if l.head {
		k = toneStrong
	}
	at := -1
	if low := strings.ToLower(l.text); p.words != "" && len(low) == len(l.text) {
		at = strings.Index(low, strings.ToLower(p.words))
	}
	if at < 0 || at+len(p.words) > len(l.text) {
		return b.line(w, i == p.hit, seg{k, l.text})
	}
	end := at + len(p.words)
	return b.line(w, i == p.hit, seg{k, l.text[:at]}, seg{toneNeed, l.text[at:end]}, seg{k, l.text[end:]})
}

// foot is the line for the search, for what is under way and for trouble.
func (p *paper) foot(m *Model, w int) string {
	switch {
	case p.find != nil:
		return m.brush.line(2, false, seg{toneAccent, "/ "}) + p.find.view(m.brush, w-2, true, "")
	case p.trouble != "":
		return m.brush.text(w, toneNeed, p.trouble)
	case p.id != 0:
		return m.brush.text(w, toneDim, "reading")
	case p.news != "":
		return m.brush.text(w, toneDim, quote(p.words)+" "+p.news)
	case p.words != "":
		return m.brush.line(w, false, seg{toneDim, "looking for "}, seg{toneText, p.words})
	}
	return m.brush.text(w, toneDim, "")
}

// where says how far into the paper the page is.
func (p *paper) where() string {
	if !p.shown {
		return ""
	}
	lines := itoa(min(p.top+1, len(p.lines))) + "-" + itoa(min(p.top+p.inside.h, len(p.lines))) + " of " + itoa(len(p.lines))
	switch {
	case !p.paged() || p.page.From == 0 && p.page.To >= p.page.Size || p.page.Size == 0:
		return lines
	case p.page.To >= p.page.Size:
		return lines + ", the end"
	case p.page.From == 0:
		return lines + ", the beginning"
	}
	return lines + ", " + itoa(int(p.page.From*100/p.page.Size)) + "% in"
}

// paperActions are the keys of a paper.
func paperActions() []*action {
	return []*action{
		{
			id: "papers", keys: []string{"p"}, label: "papers", help: "read what the seat has said and kept: transcript, recap, packets, work", group: groupView,
			in: scopeSeats, foot: 45, disabled: (*Model).whyNoSeat, run: (*Model).openPapers,
		},
		{
			id: "paper-find", keys: []string{"/"}, label: "find", help: "look for a text in the whole paper", group: groupDialog,
			in: scopePaper, foot: 10, run: (*Model).paperFind,
		},
		{
			id: "paper-next", keys: []string{"n"}, label: "next", help: "the next place that holds the text", group: groupDialog,
			in: scopePaper, foot: 12, disabled: (*Model).whyNoFind, run: func(m *Model) tea.Cmd { return m.paperNext(1) },
		},
		{
			id: "paper-previous", keys: []string{"N"}, label: "previous", help: "the place before that holds the text", group: groupDialog,
			in: scopePaper, foot: 13, disabled: (*Model).whyNoFind, run: func(m *Model) tea.Cmd { return m.paperNext(-1) },
		},
		{
			id: "paper-close", keys: []string{"esc", "q"}, label: "close", help: "close the paper", group: groupDialog,
			in: scopePaper, foot: 80, run: (*Model).closePaper,
		},
		{
			id: "find-now", keys: []string{"enter"}, label: "find", help: "look for what is typed", group: groupDialog,
			in: scopeFind, foot: 10, run: (*Model).paperFindNow,
		},
		{
			id: "find-cancel", keys: []string{"esc"}, label: "cancel", help: "leave the search field", group: groupDialog,
			in: scopeFind, foot: 80, run: (*Model).paperFindCancel,
		},
	}
}
