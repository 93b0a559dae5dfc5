package tui

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// fieldKind is how a question of a wizard is answered.
type fieldKind int

const (
	fieldText   fieldKind = iota // a line of text
	fieldPick                    // one of the choices
	fieldFree                    // one of the choices, or any text
	fieldToggle                  // yes or no
	fieldMany                    // any number of the choices
	fieldLines                   // a text of many lines
)

// field is one question of a wizard: data, with the state of its answer.
type field struct {
	id       string
	label    string
	help     string
	kind     fieldKind
	required bool
	secret   bool   // the answer is never drawn
	empty    string // what an empty text means
	choices  []Choice
	load     func(ctx context.Context) ([]Choice, error) // live choices, read when the wizard opens
	prefer   string                                      // the live choice that the cursor goes to
	from     func() []Choice                             // choices that follow from other answers, in place of the list
	check    func(value string) string                   // says what is wrong with an answer, "" when nothing is

	// follows names questions whose answers the choices depend on; reads makes the
	// load for them, nil when there is nothing to choose among. The choices that
	// the field began with stay.
	follows []string
	reads   func(a answers) func(ctx context.Context) ([]Choice, error)
	want    string // the choice to stand on when it comes
	none    string // what an empty answer means while there is nothing to choose among
	first   bool   // the wizard begins here
	stays   string // with from: the choice that was made, which stays while it is there

	// void, where set, says why the question is not asked now, "" when it is.
	void func() string
	pad  *notepad // the answer of many lines
	note string   // what there is to know of the text that it began with

	input   *input
	on      bool            // toggle
	picked  map[string]bool // many
	at      int             // cursor among the choices that match, -1 = the text as typed
	asked   int             // number of the request for live choices
	loading bool
	trouble string
	base    []Choice // what a field that follows began with
	behind  string   // the answers that the choices were read for
	primed  bool
}

// make gives a field what its answer is kept in.
func (f *field) make() {
	if f.input == nil {
		f.input = newInput("")
	}
	if f.picked == nil {
		f.picked = map[string]bool{}
	}
	if f.kind == fieldLines && f.pad == nil {
		f.pad = newNotepad("", "")
	}
	f.choose()
}

// choose remembers the choice under the cursor, where the list around it can become
// another one.
func (f *field) choose() {
	if f.from != nil {
		f.stays = f.value()
	}
}

// under is the choice under the cursor; the zero value when there is none.
func (f *field) under() Choice {
	if m := f.matching(); f.at >= 0 && f.at < len(m) {
		return m[f.at]
	}
	return Choice{}
}

// restart takes back what was offered and picked for other answers than these. What
// somebody wrote stays.
func (f *field) restart(answers string) {
	f.primed, f.behind, f.asked, f.loading, f.trouble = true, answers, 0, false, ""
	f.choices, f.picked, f.at = append([]Choice(nil), f.base...), map[string]bool{}, 0
	if f.kind == fieldLines && !f.pad.touched {
		f.pad, f.note = newNotepad("", ""), ""
	}
}

// takesText reports whether printable keys are text in this field.
func (f *field) takesText() bool {
	return f.kind == fieldText || f.kind == fieldPick || f.kind == fieldFree || f.kind == fieldLines
}

// all gives every choice.
func (f *field) all() []Choice {
	if f.from != nil {
		return f.from()
	}
	return f.choices
}

// offer adds live choices; one that was offered already is replaced, with what is
// known of it now. What was typed or chosen stays chosen.
func (f *field) offer(choices []Choice) {
	if f.kind == fieldLines {
		f.begin(choices)
		return
	}
	was := f.value()
	if was == "" {
		was = f.prefer
	}
	for _, c := range choices {
		at := slices.IndexFunc(f.choices, func(old Choice) bool { return old.Value == c.Value })
		if at >= 0 {
			f.choices[at] = c
		} else {
			f.choices = append(f.choices, c)
		}
	}
	if f.takesText() && f.input.text() != "" {
		f.edited()
		return
	}
	for i, c := range f.choices {
		if f.takesText() && c.Value == was {
			f.at = i
		}
	}
}

// settle puts the cursor of a list that other answers may have changed back onto the
// choice that was made, or else onto the first that can be.
func (f *field) settle() {
	if f.from == nil {
		return
	}
	f.at = 0
	for i, c := range f.matching() {
		if c.Value == f.stays && c.Reason == "" {
			f.at = i
		}
	}
}

// stand puts the cursor on the choice that was wanted, once it is there.
func (f *field) stand() {
	for i, c := range f.choices {
		if f.want != "" && c.Value == f.want && c.Reason == "" {
			f.at, f.want = i, ""
		}
	}
}

// walk moves among the choices; false when the field has none to move among.
func (f *field) walk(by int) bool {
	n := len(f.matching())
	low := 0
	if f.kind == fieldFree && f.input.text() != "" {
		low = -1
	}
	if f.kind == fieldText || f.kind == fieldToggle || f.kind == fieldLines || n == 0 {
		return false
	}
	next := f.at + by
	if next < low || next >= n {
		return false
	}
	f.at = next
	return true
}

// value is the answer as a text; many answers are joined by commas.
func (f *field) value() string {
	switch f.kind {
	case fieldText:
		return strings.TrimSpace(f.input.text())
	case fieldToggle:
		if f.on {
			return "yes"
		}
		return ""
	case fieldMany:
		return strings.Join(f.values(), ",")
	case fieldLines:
		return f.pad.text()
	case fieldPick, fieldFree:
	}
	if m := f.matching(); f.at >= 0 && f.at < len(m) {
		return m[f.at].Value
	}
	if f.kind == fieldFree {
		return strings.TrimSpace(f.input.text())
	}
	return ""
}

// values are the picked choices, in the order they are listed.
func (f *field) values() []string {
	var out []string
	for _, c := range f.choices {
		if f.picked[c.Value] {
			out = append(out, c.Value)
		}
	}
	return out
}

// wrong says what is wrong with the answer, "" when nothing is.
func (f *field) wrong() string {
	v := f.value()
	if m := f.matching(); f.takesText() && f.kind != fieldText && f.at >= 0 && f.at < len(m) && m[f.at].Reason != "" {
		return m[f.at].Reason
	}
	if v == "" {
		if f.kind == fieldPick && f.input != nil && f.input.text() != "" {
			return "nothing here matches that"
		}
		if f.required {
			return "needed"
		}
		return ""
	}
	if f.check != nil {
		return f.check(v)
	}
	return ""
}

// key takes a key of a text field.
func (f *field) key(k tea.KeyPressMsg) {
	if f.kind == fieldLines {
		f.pad.key(k)
		return
	}
	if !f.takesText() {
		return
	}
	was := f.input.text()
	f.input.key(k)
	if f.kind == fieldPick && strings.TrimSpace(f.input.text()) == "" {
		f.input.set("") // a space looks for nothing
	}
	if f.input.text() != was { // a key that changes no text changes no choice
		f.edited()
	}
}

// toggle switches a yes-or-no, or the choice under the cursor.
func (f *field) toggle() {
	switch f.kind {
	case fieldToggle:
		f.on = !f.on
	case fieldMany:
		if f.at >= 0 && f.at < len(f.choices) && f.choices[f.at].Reason == "" {
			v := f.choices[f.at].Value
			f.picked[v] = !f.picked[v]
		}
	case fieldText, fieldPick, fieldFree, fieldLines:
	}
}

// choicesShown bounds the list of choices under a field.
const choicesShown = 8

// view draws the field in w cells: label and answer, and below it, while it has
// the keys, its choices and what it is for.
func (f *field) view(b brush, w, room int, active bool) []string {
	label := min(14, w/3)
	lead := seg{toneText, "  "}
	k := toneDim
	if active {
		lead, k = seg{toneAccent, b.g.cursor + " "}, toneStrong
	}
	head := b.line(2+label, false, lead, seg{k, pad(f.label, label)})
	out := []string{head + f.answer(b, w-2-label, active)}
	if !active {
		return out
	}
	indent := strings.Repeat(" ", 2+label)
	if wrong := f.wrong(); wrong != "" {
		for _, l := range wrap(clean(wrong), w-2-label) {
			out = append(out, b.line(w, false, seg{toneText, indent}, seg{toneNeed, l}))
		}
	}
	if f.help != "" && room > choicesShown {
		for _, l := range wrap(f.help, w-2-label) {
			out = append(out, b.line(w, false, seg{toneText, indent}, seg{toneDim, l}))
		}
	}
	switch {
	case f.loading:
		out = append(out, b.line(w, false, seg{toneText, indent}, seg{toneStart, "reading what there is"}))
	case f.trouble != "":
		for _, l := range wrap(clean(f.trouble), w-2-label) {
			out = append(out, b.line(w, false, seg{toneText, indent}, seg{toneBad, l}))
		}
	case f.kind == fieldFree && f.none != "" && len(f.choices) == 0 && f.input.text() == "":
		out = append(out, b.line(w, false, seg{toneText, indent}, seg{toneNeed, f.none}))
	}
	if f.kind == fieldLines {
		return append(out, f.padView(b, w, room-len(out))...)
	}
	return append(out, f.list(b, w, max(min(choicesShown, room-len(out)-1), 2), indent)...)
}

func (f *field) answer(b brush, w int, active bool) string {
	if f.void != nil && f.void() != "" {
		return b.line(w, false, seg{toneDim, f.void()})
	}
	switch f.kind {
	case fieldLines:
		size := f.pad.size()
		if f.pad.touched {
			size += ", changed here"
		}
		return b.line(w, false, seg{toneText, size})
	case fieldToggle:
		if f.on {
			return b.line(w, false, seg{toneText, "[x] yes"})
		}
		return b.line(w, false, seg{toneText, "[ ] no"})
	case fieldMany:
		v := f.values()
		if len(v) == 0 {
			empty := f.empty
			if f.none != "" && f.primed && f.load == nil {
				empty = f.none
			}
			return b.line(w, false, seg{toneDim, empty})
		}
		return b.line(w, false, seg{toneText, itoa(len(v)) + ": " + strings.Join(v, ", ")})
	case fieldPick, fieldFree:
		if !active {
			return b.line(w, false, seg{toneText, clean(f.shown())})
		}
		if shown := clean(f.shown()); shown != "" { // what Enter would take stands where one types
			return f.input.view(b, w, active, shown+" ("+f.empty+")")
		}
	case fieldText:
		if f.secret {
			return f.input.masked(b.g).view(b, w, active, f.empty)
		}
	}
	return f.input.view(b, w, active, f.empty)
}

// shown is the answer as a person reads it.
func (f *field) shown() string {
	if m := f.matching(); f.at >= 0 && f.at < len(m) && m[f.at].Label != "" {
		return m[f.at].Label
	}
	return f.value()
}
