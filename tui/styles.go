package tui

import (
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
)

// tone is what a piece of text means. Screens say tones; only this file knows
// what they look like.
type tone int

const (
	toneText    tone = iota // ordinary text
	toneDim                 // labels, units, what is secondary
	toneStrong              // headings
	toneAccent              // keys, the brand, what can be acted upon
	toneBusy                // works
	toneIdle                // ready for work
	toneNeed                // waits for a person
	toneBad                 // dead, lost, failed
	toneLimit               // held up by a limit
	toneUnknown             // not known
	toneStart               // on its way
	toneOff                 // stopped, never run
	toneBorder              // frames and rules
	toneCount
)

// ink is how a tone is written: a colour of the 256-colour table, or noColour,
// and weights.
type ink struct {
	colour int
	bold   bool
	faint  bool
}

const noColour = -1

// theme is one set of inks. A selected row is written on the colour bar; with
// uniform set, all of its text has the ink barText, because the tones would not
// stand out on it.
type theme struct {
	name    string
	inks    [toneCount]ink
	bar     int // background of the selection, noColour = reversed video
	barText int
	uniform bool

	on    [toneCount]string // escape sequences, made by build
	onBar [toneCount]string
}

// plainInk writes without a colour.
var plainInk = ink{colour: noColour}

func (t theme) build() *theme {
	for i, k := range t.inks {
		t.on[i] = sgr(k, noColour, false)
		if t.uniform {
			k.colour, k.faint = t.barText, false
		}
		if k.colour == noColour { // the terminal's own ink is not known to stand out on our bar
			k.colour = t.barText
		}
		t.onBar[i] = sgr(k, t.bar, t.bar == noColour)
	}
	return &t
}

// sgr gives the escape sequence that begins an ink on a background: what Lip Gloss
// writes before a text of that style. Rows are painted with it by the thousand, and a
// style is asked once.
func sgr(k ink, background int, reverse bool) string {
	style := lipgloss.NewStyle().Bold(k.bold).Faint(k.faint).Reverse(reverse)
	if k.colour != noColour {
		style = style.Foreground(lipgloss.Color(strconv.Itoa(k.colour)))
	}
	if background != noColour {
		style = style.Background(lipgloss.Color(strconv.Itoa(background)))
	}
	begin, _, _ := strings.Cut(style.Render("x"), "x")
	return begin
}

// paint writes a text in a tone.
func (t *theme) paint(k tone, s string) string {
	if s == "" || t.on[k] == "" {
		return s
	}
	return t.on[k] + s + sgrReset
}

// paintBar writes a text of a selected row.
func (t *theme) paintBar(k tone, s string) string {
	if s == "" {
		return ""
	}
	return t.onBar[k] + s + sgrReset
}

func inks(dim, accent, busy, idle, need, bad, limit, unknown, start, off, border int) [toneCount]ink {
	return [toneCount]ink{
		toneText: plainInk, toneDim: {colour: dim}, toneStrong: {colour: noColour, bold: true}, toneAccent: {colour: accent},
		toneBusy: {colour: busy}, toneIdle: {colour: idle}, toneNeed: {colour: need, bold: true}, toneBad: {colour: bad, bold: true},
		toneLimit: {colour: limit, bold: true}, toneUnknown: {colour: unknown}, toneStart: {colour: start},
		toneOff: {colour: off}, toneBorder: {colour: border},
	}
}

// The themes. The numbers were chosen by contrast: every tone has at least 3:1
// on the backgrounds its theme is for and on the selection; a test computes it.
// "any" is for terminals that do not say what their background is, as tmux
// before 3.4: its colours are of middle lightness and read on both.
func darkTheme() *theme {
	return theme{name: "dark", inks: inks(247, 75, 114, 109, 221, 210, 176, 111, 80, 247, 240), bar: 236, barText: 255}.build()
}

func lightTheme() *theme {
	return theme{name: "light", inks: inks(241, 25, 28, 24, 130, 160, 127, 61, 25, 241, 248), bar: 254, barText: 234}.build()
}

func anyTheme() *theme {
	return theme{name: "any", inks: inks(244, 32, 28, 30, 136, 167, 133, 68, 31, 244, 244), bar: 24, barText: 255, uniform: true}.build()
}

// The themes of 16 colours name the terminal's own colours. Where no colour of
// the table is readable for sure, the text has none and the shape speaks.
func dark16Theme() *theme {
	t := theme{name: "dark16", inks: inks(noColour, 14, 10, 6, 11, 9, 13, 12, 14, noColour, noColour), bar: 4, barText: 15, uniform: true}
	return t.dimmed().build()
}

func light16Theme() *theme {
	t := theme{name: "light16", inks: inks(noColour, 4, noColour, noColour, 5, 1, 5, 4, 4, noColour, noColour), bar: 4, barText: 15, uniform: true}
	return t.dimmed().build()
}

func any16Theme() *theme {
	t := theme{name: "any16", inks: inks(noColour, noColour, noColour, noColour, 5, 1, 5, noColour, noColour, noColour, noColour), bar: 4, barText: 15, uniform: true}
	return t.dimmed().build()
}

func monoTheme() *theme {
	n := noColour
	t := theme{name: "mono", inks: inks(n, n, n, n, n, n, n, n, n, n, n), bar: noColour, barText: noColour, uniform: true}
	t.inks[toneAccent].bold = true
	return t.build()
}

// dimmed marks the secondary tones by weight, for want of a safe grey.
func (t theme) dimmed() theme {
	for _, k := range []tone{toneDim, toneOff, toneBorder} {
		t.inks[k].faint = true
	}
	return t
}

// background is what is known of the terminal's background.
type background int

const (
	backgroundUnknown background = iota
	backgroundDark
	backgroundLight
)

// pickTheme chooses a theme: by name when the operator named one, else by what
// the terminal can show.
func pickTheme(name string, profile colorprofile.Profile, bg background) *theme {
	switch name {
	case "dark":
		bg = backgroundDark
	case "light":
		bg = backgroundLight
	case "any":
		bg = backgroundUnknown
	case "mono":
		return monoTheme()
	}
	if profile <= colorprofile.ASCII {
		return monoTheme()
	}
	few := profile <= colorprofile.ANSI || name == "16"
	switch bg {
	case backgroundDark:
		if few {
			return dark16Theme()
		}
		return darkTheme()
	case backgroundLight:
		if few {
			return light16Theme()
		}
		return lightTheme()
	case backgroundUnknown:
	}
	if few {
		return any16Theme()
	}
	return anyTheme()
}
