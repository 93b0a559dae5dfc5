package tui

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"rig/engine"
	"rig/tui/tuitest"
)

// surface is a terminal as the console meets it: what it can show, and every
// background on which that must be read.
type surface struct {
	name    string
	profile colorprofile.Profile
	bg      background
	on      [][3]float64
}

func surfaces() []surface {
	black, white := [3]float64{0, 0, 0}, [3]float64{255, 255, 255}
	dark := [][3]float64{black, {30, 30, 30}, {0, 43, 54}}
	light := [][3]float64{white, {253, 246, 227}}
	return []surface{
		{"dark", colorprofile.TrueColor, backgroundDark, dark},
		{"light", colorprofile.ANSI256, backgroundLight, light},
		{"unknown", colorprofile.TrueColor, backgroundUnknown, append(append([][3]float64{}, dark...), light...)},
		{"16 dark", colorprofile.ANSI, backgroundDark, [][3]float64{black}},
		{"16 light", colorprofile.ANSI, backgroundLight, [][3]float64{white}},
		{"16 unknown", colorprofile.ANSI, backgroundUnknown, [][3]float64{black, white}},
		{"NO_COLOR", colorprofile.ASCII, backgroundDark, nil},
	}
}

// everywhere is every situation of the golden frames, and, from the registries
// themselves, every screen and the first step of every wizard: what is added there
// is looked at without being named here.
func everywhere() []state {
	out := append([]state{}, states...)
	for _, s := range screenList() {
		out = append(out, state{"screen " + s.slug, func(d *driver) { d.keys(itoa(s.place)) }})
	}
	for _, w := range wizardDefs() {
		out = append(out,
			state{"wizard " + string(w.verb), func(d *driver) { d.run(d.m.openWizard(w)) }},
			state{"answered " + string(w.verb), func(d *driver) { d.run(d.m.openWizard(w)); d.keys("enter") }})
	}
	return out
}

// Every screen, every step of every wizard and every dialog, over names that shift
// borders elsewhere, on every kind of terminal: lines of the right width, contrast
// that can be read, no colour where there is none, ASCII alone where that was asked.
func TestEveryScreenOnEveryTerminal(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, st := range everywhere() {
		for _, size := range [][2]int{{120, 40}, {60, 20}} {
			d := drive(t, tuitest.Fleet(7), options())
			d.c.JumpAnswer = engine.Jump{Inside: true, Clients: []engine.Client{{Name: "/dev/pts/3"}, {Name: "/dev/pts/9"}}}
			d.size(size[0], size[1])
			st.go_(d)
			seen["screen "+d.m.Screen()] = true
			for _, o := range d.m.overlays {
				seen[typeName(o)] = true
			}
			shift(d.m.fleet)
			d.m.frames = map[string]frameOf{} // panes are the clients' own
			for _, on := range surfaces() {
				d.m.profile, d.m.bg, d.m.brush.g = on.profile, on.bg, unicodeGlyphs()
				d.m.restyle()
				if why := readable(d.frame(), on, st.name); why != "" {
					t.Errorf("%s at %dx%d on %s: %s", st.name, size[0], size[1], on.name, why)
				}
			}
			if d.m.brush.g = asciiGlyphs(); st.name == "look-back" { // a recorded screen is the client's own
				continue
			}
			for i, l := range d.frame() {
				if at := strings.IndexFunc(l, func(r rune) bool { return r > '~' }); at >= 0 {
					t.Errorf("%s at %dx%d in ASCII, line %d: %q", st.name, size[0], size[1], i, l)
					break
				}
			}
		}
	}
	for _, want := range []string{"*tui.wizard", "*tui.picker", "*tui.reader", "*tui.sender", "*tui.tape", "*tui.paper"} {
		if !seen[want] {
			t.Errorf("no %s was looked at: %v", want, seen)
		}
	}
	for _, s := range screenList() {
		if !seen["screen "+s.slug] {
			t.Errorf("the screen %s was not looked at", s.slug)
		}
	}
}

// shift puts what shifts borders elsewhere into what a picture says in words. The
// addresses stay: they are what wizards ask for.
func shift(f *engine.Fleet) {
	if f == nil {
		return
	}
	next := 0
	odd := func() string { next++; return hostile[next%len(hostile)] }
	for i := range f.Rigs {
		for j := range f.Rigs[i].Pods {
			f.Rigs[i].Pods[j].Label = odd()
		}
		for j := range f.Rigs[i].Seats {
			s := &f.Rigs[i].Seats[j]
			s.Title, s.Activity.Why, s.LifeWhy, s.Role, s.Cwd, s.OutcomeBy = odd(), odd(), odd(), odd(), odd(), odd()
		}
	}
	for i := range f.Attention {
		f.Attention[i].Reason, f.Attention[i].Remedy = odd(), odd()
	}
	for i := range f.Recent {
		f.Recent[i].Operator = odd()
	}
	for i := range f.Sockets {
		f.Sockets[i].Socket, f.Sockets[i].Why = odd(), odd()
	}
}

// inked is a piece of a drawn line in one style; -1 is the terminal's own colour.
type inked struct {
	text           string
	fg, bg         int
	reverse, faint bool
}

var sgrPattern = regexp.MustCompile(`\x1b\[([0-9;]*)m`)

// runsOf takes a drawn line apart.
func runsOf(line string) []inked {
	var out []inked
	cur := inked{fg: -1, bg: -1}
	from := 0
	for _, at := range append(sgrPattern.FindAllStringSubmatchIndex(line, -1), []int{len(line), len(line), len(line), len(line)}) {
		if at[0] > from {
			cur.text = line[from:at[0]]
			out = append(out, cur)
		}
		from = at[1]
		params := strings.Split(line[at[2]:at[3]], ";")
		for i := 0; i < len(params); i++ {
			n, _ := strconv.Atoi(params[i])
			switch {
			case n == 0:
				cur = inked{fg: -1, bg: -1}
			case n == 2:
				cur.faint = true
			case n == 7:
				cur.reverse = true
			case n >= 30 && n < 38:
				cur.fg = n - 30
			case n >= 90 && n < 98:
				cur.fg = n - 90 + 8
			case n >= 40 && n < 48:
				cur.bg = n - 40
			case n >= 100 && n < 108:
				cur.bg = n - 100 + 8
			case (n == 38 || n == 48) && i+2 < len(params):
				c, _ := strconv.Atoi(params[i+2])
				if n == 38 {
					cur.fg = c
				} else {
					cur.bg = c
				}
				i += 2
			}
		}
	}
	return out
}

// readable says what is wrong with a frame on a terminal, "" when nothing is. The
// driver has measured its lines already.
func readable(frame []string, on surface, name string) string {
	for i, l := range frame {
		if left := ansi.Strip(sgrPattern.ReplaceAllString(l, "")); strings.ContainsRune(sgrPattern.ReplaceAllString(l, ""), 0x1b) {
			return fmt.Sprintf("line %d holds an escape that is no colour: %q", i, left)
		}
		for _, r := range runsOf(l) {
			words := strings.IndexFunc(r.text, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }) >= 0
			switch {
			case on.on == nil && (r.fg >= 0 || r.bg >= 0):
				return fmt.Sprintf("line %d has a colour: %q", i, l)
			case !words || r.fg < 0 && r.bg < 0 || strings.HasPrefix(name, "look-back"):
			case r.fg < 0 || r.reverse:
				return fmt.Sprintf("line %d: the colour of %q on %d is not known", i, r.text, r.bg)
			default:
				backs := on.on
				if r.bg >= 0 {
					backs = [][3]float64{rgb(r.bg)}
				}
				for _, bg := range backs {
					if c := contrast(rgb(r.fg), bg); c < 3 {
						return fmt.Sprintf("line %d: %q has a contrast of %.2f on %v", i, r.text, c, bg)
					}
				}
			}
		}
	}
	return ""
}
