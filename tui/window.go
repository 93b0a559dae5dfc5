package tui

import "charm.land/bubbles/v2/viewport"

// window is the place in a text that is longer than its room: the viewport of
// Bubbles, which keeps it inside of the text. What is drawn stays ours, because rows
// are painted in their full width already.
type window struct{ at viewport.Model }

// top goes back to the beginning.
func (v *window) top() { v.at = viewport.Model{} }

func (v *window) fit(lines []string, w, h int) {
	v.at.SetWidth(w)
	v.at.SetHeight(max(h, 0))
	v.at.SetContentLines(lines)
}

// move scrolls a text of which h lines are in sight.
func (v *window) move(d move, lines []string, w, h int) {
	v.fit(lines, w, h)
	switch {
	case d.to < 0:
		v.at.GotoTop()
	case d.to > 0:
		v.at.GotoBottom()
	case d.page < 0:
		v.at.HalfPageUp()
	case d.page > 0:
		v.at.HalfPageDown()
	case d.by < 0:
		v.at.ScrollUp(-d.by)
	default:
		v.at.ScrollDown(d.by)
	}
}

// show gives the lines that are in sight of h, and a note of where they stand, "" when
// that is all of them. It changes nothing.
func (v window) show(lines []string, w, h int) (seen []string, note string) {
	v.fit(lines, w, h)
	from := v.at.YOffset()
	seen = append(seen, lines[from:min(from+h, len(lines))]...)
	if len(lines) > h {
		note = itoa(from+1) + "-" + itoa(from+len(seen)) + " of " + itoa(len(lines))
	}
	return seen, note
}
