package tui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rig/engine"
)

// recapDef writes a seat's recap: from a file, or from a text that begins as the
// recap that is there.
func recapDef() wizardDef {
	return wizardDef{
		verb: engine.VerbRecap, keys: []string{"W"}, title: "Write a seat's recap", in: scopeScreens, ofSeat: true,
		about: "write down what a seat's next occupant must know; the recap before it is kept",
		disabled: func(m *Model) string {
			if len(m.marks) > 1 {
				return "one seat at a time: each has a recap of its own"
			}
			return whyNoRigs(m)
		},
		fields: recapFields,
		target: seatTarget,
		request: func(a answers, target string) engine.Request {
			draft := engine.RecapArgs{File: a.text("file")}
			if draft.File == "" {
				draft.Text = a.text("text")
			}
			return engine.Request{Target: target, Args: args(draft)}
		},
	}
}

func recapFields(m *Model, s subject) []*field {
	file := &field{
		id: "file", label: "Draft file", empty: "none: the text below is the recap",
		help: "path of a Markdown file, taken in place of the text below, which begins as the present recap",
	}
	note := &field{id: "text", label: "Text", kind: fieldLines, help: "Markdown; the sections are addressed by their headings, so no two may have the same"}
	file.check = func(string) string {
		if note.pad != nil && note.pad.touched {
			return "the text below was changed as well: only one of the two can be the draft"
		}
		return ""
	}
	note.void = func() string {
		if file.value() != "" {
			return "the file is the draft"
		}
		return ""
	}
	if s.seat != nil {
		note.load = recapText(m, s.seat.Address)
		return []*field{file, note, reasonField(false)}
	}
	note.follows = []string{"seat"}
	note.reads = func(a answers) func(context.Context) ([]Choice, error) { return recapText(m, a.text("seat")) }
	return []*field{seatField(m, s, func(*engine.SeatView) string { return "" }), file, note, reasonField(false)}
}

// recapText reads the present recap of a seat as the text to begin with: its value
// is the text, its label what may be shown of it.
func recapText(m *Model, seat string) func(context.Context) ([]Choice, error) {
	if seat == "" {
		return nil
	}
	c := m.c
	return func(ctx context.Context) ([]Choice, error) {
		now, err := c.SeatRecap(ctx, seat)
		switch {
		case err != nil:
			return nil, err
		case now.Text == "":
			return []Choice{{Note: "nothing was written yet"}}, nil
		case len(now.Text) > maxNotepad:
			return []Choice{{Note: "the present one is too long to be edited here (" + now.Note + "): give a file"}}, nil
		}
		note := "begins as the present one: " + now.Note
		if now.Shown != now.Text {
			note += "; what looks like a secret is not shown, and stays unless its line is edited"
		}
		return []Choice{{Value: now.Text, Label: now.Shown, Note: note}}, nil
	}
}

// textActions are the keys of a text of many lines in a wizard.
func textActions() []*action {
	pad := func(f func(n *notepad)) func(m *Model) tea.Cmd {
		return with(func(w *wizard, _ *Model) tea.Cmd {
			if fl := w.field(); fl != nil && fl.pad != nil {
				f(fl.pad)
				w.answering()
			}
			return nil
		})
	}
	const page = 10
	return []*action{
		{
			id: "text-break", keys: []string{"enter"}, label: "new line", help: "begin a new line of the text", group: groupDialog,
			in: scopeText, foot: 20, run: pad(func(n *notepad) { n.insert("\n") }),
		},
		{
			id: "text-down", keys: []string{"down", "ctrl+n"}, label: "line", help: "next line of the text", group: groupDialog,
			in: scopeText, foot: footMove, pair: "text-up", run: pad(func(n *notepad) { n.walk(1) }),
		},
		{
			id: "text-up", keys: []string{"up", "ctrl+p"}, help: "previous line of the text", group: groupDialog,
			in: scopeText, run: pad(func(n *notepad) { n.walk(-1) }),
		},
		{
			id: "text-page-down", keys: []string{"pgdown"}, label: "page", help: "ten lines down in the text", group: groupDialog,
			in: scopeText, foot: footPage, pair: "text-page-up", run: pad(func(n *notepad) { n.walk(page) }),
		},
		{
			id: "text-page-up", keys: []string{"pgup"}, help: "ten lines up in the text", group: groupDialog,
			in: scopeText, run: pad(func(n *notepad) { n.walk(-page) }),
		},
		{
			id: "text-plan", keys: []string{"ctrl+s"}, label: "plan", help: "make the plan from a text of many lines; nothing is changed", group: groupDialog,
			in: scopeText, foot: 10, run: with((*wizard).answered),
		},
	}
}

// padView draws a text of many lines while it has the keys: what it begins as, where
// the cursor is, and the lines around it.
func (f *field) padView(b brush, w, room int) []string {
	var out []string
	if f.pad.full {
		out = append(out, b.line(w, false, seg{toneText, "  "}, seg{toneNeed, "there is no room for that: give a file instead"}))
	}
	if f.note != "" && room > choicesShown {
		for _, l := range wrap(clean(f.note), w-2) {
			out = append(out, b.line(w, false, seg{toneText, "  "}, seg{toneDim, l}))
		}
	}
	out = append(out, b.rule(w, "line "+itoa(f.pad.at+1)+" of "+itoa(max(f.pad.lines(), f.pad.at+1)), toneDim))
	out = append(out, f.pad.view(b, w, max(min(room-len(out)-padAround, padShown), 2))...)
	return append(out, b.rule(w, "", toneDim))
}

// Bounds of a text of many lines in a wizard: rows shown, and rows left to the
// questions around it.
const (
	padShown  = 20
	padAround = 5
)

// begin takes the text that a field of many lines begins with, unless somebody wrote
// in it already.
func (f *field) begin(choices []Choice) {
	f.note = ""
	for _, c := range choices {
		f.note = c.Note
		if !f.pad.touched {
			f.pad = newNotepad(c.Value, c.Label)
		}
	}
}

// unsaved reports whether something was written that leaving would lose.
func (w *wizard) unsaved() bool {
	for _, f := range w.fields {
		if f.pad != nil && f.pad.touched && strings.TrimSpace(f.pad.text()) != "" {
			return true
		}
	}
	return false
}
