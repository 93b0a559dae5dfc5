package agentsim

import "strings"

// dialog is a choice that the client waits for.
type dialog struct {
	head   []string // rows above the choices, drawn as they are
	tail   []string // rows below
	choice []string // the choices as drawn, number included
	under  map[int][]string
	mark   string // before the selected choice, "❯ " or "› "
	blank  string // before the others
	at     int
	digits bool           // a digit chooses
	letter map[string]int // a letter chooses
	cancel int            // what Esc chooses; -1: Esc does nothing
	answer chan int       // gets the index of the choice
}

// press handles a key and reports whether the dialog has its answer.
func (d *dialog) press(k key) bool {
	switch k.kind {
	case keyUp:
		d.at = (d.at + len(d.choice) - 1) % len(d.choice)
	case keyDown, keyTab:
		d.at = (d.at + 1) % len(d.choice)
	case keyEnter:
		return d.give(d.at)
	case keyEsc:
		return d.cancel >= 0 && d.give(d.cancel)
	case keyCtrl:
		return k.text == "c" && d.cancel >= 0 && d.give(d.cancel)
	case keyText:
		for _, r := range k.text {
			if d.digits && r >= '1' && int(r-'1') < len(d.choice) {
				return d.give(int(r - '1'))
			}
			if i, ok := d.letter[string(r)]; ok {
				return d.give(i)
			}
		}
	default: // no other key means anything to a choice
	}
	return false
}

func (d *dialog) give(i int) bool {
	select {
	case d.answer <- i:
	default:
	}
	return true
}

// rows draws the dialog for a width.
func (d *dialog) rows(width int) []string {
	var out []string
	for _, r := range d.head {
		out = append(out, wrapKeep(r, width)...)
	}
	for i, c := range d.choice {
		lead := d.blank
		if i == d.at {
			lead = d.mark
		}
		pad := strings.Repeat(" ", textWidth(lead)+digitLead(c))
		out = append(out, wrap(c, lead, pad, width-1)...)
		out = append(out, d.under[i]...)
	}
	for _, r := range d.tail {
		out = append(out, wrapKeep(r, width)...)
	}
	return out
}

// wrapKeep wraps a row at its own indentation; rules are cut, not wrapped.
func wrapKeep(r string, width int) []string {
	body := strings.TrimLeft(r, " ")
	if body == "" || strings.HasPrefix(body, "──") || strings.HasPrefix(body, "╌╌") || textWidth(r) < width {
		return []string{cutHard(r, width)}
	}
	pad := r[:len(r)-len(body)]
	return wrap(body, pad, pad, width-1)
}

// cutHard cuts without an ellipsis.
func cutHard(s string, width int) string {
	w := 0
	for i, r := range s {
		if w += runeWidth(r); w > width {
			return s[:i]
		}
	}
	return s
}

// digitLead is the width of "1. " at the start of a choice.
func digitLead(c string) int {
	if len(c) > 3 && c[0] >= '0' && c[0] <= '9' && c[1] == '.' {
		return 3
	}
	return 0
}
