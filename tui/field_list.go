package tui

import (
	"slices"
	"strings"
)

// matching gives the choices that hold what was typed.
func (f *field) matching() []Choice {
	all := f.all()
	if f.kind == fieldMany || f.input == nil || f.input.text() == "" {
		return all
	}
	var out []Choice
	for _, c := range all {
		if matches(f.input.text(), c.Value, c.Label, c.Note) {
			out = append(out, c)
		}
	}
	return out
}

// named finds the choice that is called as what was typed; -1 when none is.
func (f *field) named() int {
	text := strings.TrimSpace(f.input.text())
	return slices.IndexFunc(f.matching(), func(c Choice) bool { return c.Value == text || c.Label == text })
}

// edited puts the cursor where an edit most likely meant: on the choice of that name, else
// on the first match, or on the text itself when that is a path or matches nothing.
func (f *field) edited() {
	if f.kind == fieldLines {
		return
	}
	text := f.input.text()
	switch {
	case f.kind == fieldFree && (strings.ContainsAny(text, "/~") || strings.HasSuffix(text, ".yaml") || len(f.matching()) == 0):
		f.at = -1
	default:
		f.at = max(f.named(), 0)
	}
}

// list draws the choices around the cursor. Where a note has no room, that of the
// choice under the cursor is told whole below the list.
func (f *field) list(b brush, w, most int, indent string) []string {
	if f.kind == fieldText || f.kind == fieldToggle || f.kind == fieldLines {
		return nil
	}
	m := f.matching()
	labelW, noteW := f.choiceWidths(m, w-width(indent)-2)
	var out []string
	draw := func(c Choice, on bool) { out = append(out, f.choice(b, w, indent, labelW, c, on)) }
	if f.kind == fieldFree && f.input.text() != "" {
		draw(Choice{Value: f.input.text(), Note: "as typed"}, f.at == -1)
	}
	cut := slices.ContainsFunc(m, func(c Choice) bool { n, _ := f.choiceNote(c); return width(n) > noteW })
	if cut && most > noteRows+2 {
		most -= noteRows
	}
	from := max(min(f.at-most/2, len(m)-most), 0)
	for i := from; i < min(from+most, len(m)); i++ {
		draw(m[i], i == f.at)
	}
	if len(m) > most {
		out = append(out, b.line(w, false, seg{toneText, indent}, seg{toneDim, itoa(max(f.at, 0)+1) + "/" + itoa(len(m))}))
	}
	if cut && most > 2 {
		note := ""
		if f.at >= 0 && f.at < len(m) {
			note, _ = f.choiceNote(m[f.at])
		}
		lines := wrap(note, w-width(indent)-2)
		for i := range noteRows {
			out = append(out, b.line(w, false, seg{toneText, indent + "  "}, seg{toneText, lineOf(lines, i)}))
		}
	}
	return out
}

// noteRows is the room for the whole note of a choice.
const noteRows = 2

// choiceWidths divides the room of a choice between its name and its note.
func (f *field) choiceWidths(all []Choice, room int) (labelW, noteW int) {
	labelW = 12
	for _, c := range all {
		labelW = max(labelW, width(f.choiceLabel(c)))
	}
	labelW = min(labelW, max(room/2, 12), 32)
	return labelW, room - labelW - 2
}

func (f *field) choiceLabel(c Choice) string {
	label := clean(c.Label)
	if label == "" {
		label = clean(c.Value)
	}
	switch {
	case f.kind != fieldMany:
		return label
	case f.picked[c.Value]:
		return "[x] " + label
	}
	return "[ ] " + label
}

func (f *field) choiceNote(c Choice) (string, tone) {
	switch {
	case c.Reason != "":
		return "cannot: " + clean(c.Reason), toneDim
	case f.kind == fieldMany && f.picked[c.Value] && c.Picked != "":
		return clean(c.Picked), toneAccent
	case c.Tone != toneText:
		return clean(c.Note), c.Tone
	}
	return clean(c.Note), toneDim
}

func (f *field) choice(b brush, w int, indent string, labelW int, c Choice, on bool) string {
	k, lead := toneText, "  "
	if c.Reason != "" {
		k = toneDim
	}
	if on {
		lead = b.g.cursor + " "
	}
	note, noteTone := f.choiceNote(c)
	label := cutMiddle(f.choiceLabel(c), labelW)
	return b.line(width(indent), false, seg{toneText, indent}) +
		b.line(w-width(indent), on, seg{toneAccent, lead}, seg{k, pad(label, labelW) + "  "}, seg{noteTone, note})
}
