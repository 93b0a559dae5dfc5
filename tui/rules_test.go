package tui

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"rig/engine"
	"rig/tui/tuitest"
)

// Neither Update nor View ever calls the engine: only commands do. Here no
// command is run, so the count stays where it was.
func TestUpdateAndViewNeverCallTheEngine(t *testing.T) {
	t.Parallel()
	for _, st := range states {
		d := drive(t, tuitest.Fleet(13), options())
		st.go_(d)
		d.hold = true
		before := d.c.Calls()
		var keys []string
		for _, a := range allActions() {
			keys = append(keys, a.keys...)
		}
		for _, k := range keys {
			if k == "ctrl+c" {
				continue
			}
			d.keys(k)
		}
		d.m.View()
		d.panes(3)
		d.send(fleetMsg{acked()})
		d.send(tea.PasteMsg{Content: "x"})
		d.size(80, 24)
		d.send(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
		d.send(tea.MouseClickMsg{Button: tea.MouseLeft, X: 4, Y: 6})
		d.send(nowMsg{at: tuitest.Start().Add(time.Hour)})
		d.m.View()
		if got := d.c.Calls(); got != before {
			t.Errorf("%s: %d calls of the engine from Update or View", st.name, got-before)
		}
	}
}

// View writes nothing: the whole model prints the same before and after.
func TestViewWritesNoField(t *testing.T) {
	t.Parallel()
	for _, st := range states {
		for _, s := range sizes {
			d := drive(t, tuitest.Fleet(13), options())
			st.go_(d)
			d.size(s.w, s.h)
			before := fmt.Sprintf("%+v %+v", *d.m, d.m.screens)
			parts := dump(d)
			d.m.View()
			if after := fmt.Sprintf("%+v %+v", *d.m, d.m.screens); after != before || dump(d) != parts {
				t.Errorf("%s at %dx%d: View changed the model", st.name, s.w, s.h)
			}
		}
	}
}

// dump prints what the pointers of the model lead to.
func dump(d *driver) string {
	var b strings.Builder
	for _, s := range screenList() {
		fmt.Fprintf(&b, "%+v\n", reflect.ValueOf(d.m.screens[s.id]).Elem())
	}
	for _, o := range d.m.overlays {
		fmt.Fprintf(&b, "%+v\n", reflect.ValueOf(o).Elem())
	}
	return b.String()
}

// An hour in which nothing happens changes the frame only where an age steps on,
// and a minute in which none does changes nothing.
func TestIdleFramesStayTheSame(t *testing.T) {
	f := tuitest.Fleet(7)
	for i := range f.Rigs[0].Seats {
		f.Rigs[0].Seats[i].Since = tuitest.Start().Add(-61 * time.Minute)
	}
	d := drive(t, f, options())
	first := d.text()
	changed := 0
	for i := range 58 {
		d.send(nowMsg{at: tuitest.Start().Add(time.Duration(i) * time.Minute)})
		if next := d.text(); next != first {
			changed++
			first = next
		}
	}
	if changed != 0 {
		t.Errorf("%d of 58 idle minutes changed the frame", changed)
	}
}

// How long a thing took says something below a second too.
func TestElapsed(t *testing.T) {
	for _, c := range []struct {
		d    time.Duration
		want string
	}{
		{-time.Second, "0s"},
		{0, "0s"},
		{38*time.Millisecond + 700*time.Microsecond, "38ms"},
		{time.Second, "1.0s"},
		{9990 * time.Millisecond, "9.9s"},
		{59 * time.Second, "59s"},
		{61 * time.Second, "1m1s"},
		{2*time.Hour + 3*time.Minute, "2h3m"},
	} {
		if got := elapsed(c.d); got != c.want {
			t.Errorf("%s reads %q, want %q", c.d, got, c.want)
		}
	}
}

func TestAges(t *testing.T) {
	now := tuitest.Start()
	cases := []struct {
		ago  time.Duration
		want string
	}{
		{-time.Minute, "now"},
		{0, "now"},
		{59 * time.Second, "now"},
		{time.Minute, "1m"},
		{299 * time.Second, "4m"},
		{5 * time.Minute, "5m"},
		{29 * time.Minute, "29m"},
		{60*time.Minute - time.Second, "59m"},
		{time.Hour, "1h"},
		{23*time.Hour + 59*time.Minute, "23h"},
		{24 * time.Hour, "1d"},
		{13 * 24 * time.Hour, "13d"},
		{14 * 24 * time.Hour, "2w"},
		{800 * 24 * time.Hour, "2y"},
	}
	for _, c := range cases {
		if got := age(now, now.Add(-c.ago)); got != c.want {
			t.Errorf("%v ago is %q, want %q", c.ago, got, c.want)
		}
	}
	if age(now, time.Time{}) != "?" {
		t.Error("a time that is not known is guessed")
	}
}

func TestStatesHaveShapesAndWordsOfTheirOwn(t *testing.T) {
	for name, part := range map[string]func(look) string{
		"shape": func(l look) string { return l.shape }, "ASCII shape": func(l look) string { return l.ascii }, "word": func(l look) string { return l.word },
	} {
		seen := map[string]string{}
		for _, l := range seatLooks() {
			p := part(l)
			if other, ok := seen[p]; ok {
				t.Errorf("%s and %s have the %s %q", other, l.word, name, p)
			}
			seen[p] = l.word
			if name != "word" && width(p) != 1 {
				t.Errorf("the %s of %s is %d wide", name, l.word, width(p))
			}
		}
	}
	lives := []engine.SeatLife{"running", "starting", "dead", "lost", "stopped", "never_run", "attention_required", "unknown", "something new"}
	for _, l := range lives {
		s := &engine.SeatView{Life: l, Activity: engine.Activity{Reading: engine.Reading{State: "unheard-of"}}}
		if got := lookOf(s).word; (l == "running" || l == "unknown" || l == "something new") != (got == "unknown") {
			t.Errorf("%s with an activity nobody knows reads %q", l, got)
		}
	}
}

// rgb gives a colour of the 256-colour table as xterm shows it.
func rgb(c int) [3]float64 {
	base := [16][3]float64{
		{0, 0, 0},
		{205, 0, 0},
		{0, 205, 0},
		{205, 205, 0},
		{0, 0, 238},
		{205, 0, 205},
		{0, 205, 205},
		{229, 229, 229},
		{127, 127, 127},
		{255, 0, 0},
		{0, 255, 0},
		{255, 255, 0},
		{92, 92, 255},
		{255, 0, 255},
		{0, 255, 255},
		{255, 255, 255},
	}
	switch {
	case c < 16:
		return base[c]
	case c < 232:
		c -= 16
		level := func(n int) float64 {
			if n == 0 {
				return 0
			}
			return float64(55 + 40*n)
		}
		return [3]float64{level(c / 36), level(c / 6 % 6), level(c % 6)}
	}
	g := float64(8 + 10*(c-232))
	return [3]float64{g, g, g}
}

func luminance(c [3]float64) float64 {
	lin := func(v float64) float64 {
		v /= 255
		if v <= 0.03928 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*lin(c[0]) + 0.7152*lin(c[1]) + 0.0722*lin(c[2])
}

func contrast(a, b [3]float64) float64 {
	x, y := luminance(a), luminance(b)
	if x < y {
		x, y = y, x
	}
	return (x + 0.05) / (y + 0.05)
}

// Every tone that carries text has at least 3:1, on each background its theme is
// for and on the selection.
func TestContrast(t *testing.T) {
	black, white := [3]float64{0, 0, 0}, [3]float64{255, 255, 255}
	dark := [][3]float64{black, {30, 30, 30}, {0, 43, 54}}
	light := [][3]float64{white, {253, 246, 227}}
	cases := []struct {
		theme *theme
		on    [][3]float64
	}{
		{darkTheme(), dark},
		{lightTheme(), light},
		{anyTheme(), append(append([][3]float64{}, dark...), light...)},
		{dark16Theme(), [][3]float64{black}},
		{light16Theme(), [][3]float64{white}},
		{any16Theme(), [][3]float64{black, white}},
	}
	for _, c := range cases {
		for k := tone(0); k < toneCount; k++ {
			if k == toneBorder {
				continue
			}
			in := c.theme.inks[k]
			if in.colour != noColour {
				for _, bg := range c.on {
					if r := contrast(rgb(in.colour), bg); r < 3 {
						t.Errorf("%s: tone %d has %.2f on %v", c.theme.name, k, r, bg)
					}
				}
			}
			fg := in.colour
			if c.theme.uniform || fg == noColour && c.theme.bar != noColour {
				fg = c.theme.barText
			}
			if c.theme.uniform || in.colour != noColour {
				if r := contrast(rgb(fg), rgb(c.theme.bar)); r < 3 {
					t.Errorf("%s: tone %d has %.2f on the selection", c.theme.name, k, r)
				}
			}
		}
	}
}

func TestThemeFollowsTheTerminal(t *testing.T) {
	cases := []struct {
		name    string
		profile colorprofile.Profile
		bg      background
		want    string
	}{
		{"", colorprofile.TrueColor, backgroundUnknown, "any"},
		{"", colorprofile.ANSI256, backgroundDark, "dark"},
		{"", colorprofile.ANSI256, backgroundLight, "light"},
		{"", colorprofile.ANSI, backgroundUnknown, "any16"},
		{"", colorprofile.ANSI, backgroundDark, "dark16"},
		{"16", colorprofile.TrueColor, backgroundLight, "light16"},
		{"", colorprofile.ASCII, backgroundDark, "mono"},
		{"", colorprofile.NoTTY, backgroundDark, "mono"},
		{"light", colorprofile.ANSI256, backgroundDark, "light"},
		{"mono", colorprofile.TrueColor, backgroundDark, "mono"},
	}
	for _, c := range cases {
		if got := pickTheme(c.name, c.profile, c.bg).name; got != c.want {
			t.Errorf("%q with profile %v on %v: %s, want %s", c.name, c.profile, c.bg, got, c.want)
		}
	}
	d := drive(t, tuitest.Fleet(7), options())
	d.send(tea.ColorProfileMsg{Profile: colorprofile.ASCII})
	d.m.frames = map[string]frameOf{}
	for _, l := range d.frame() {
		for _, sgr := range regexp.MustCompile(`\x1b\[([0-9;]*)m`).FindAllStringSubmatch(l, -1) {
			for _, p := range strings.Split(sgr[1], ";") {
				if n, err := strconv.Atoi(p); err == nil && n >= 30 {
					t.Fatalf("a colour on a terminal without colours: %q", l)
				}
			}
		}
	}
}

// The tmux around is asked for 24-bit colours once, and only for a terminal that
// shows colours at all.
func TestColoursAreAskedForOnce(t *testing.T) {
	for profile, want := range map[colorprofile.Profile]int{
		colorprofile.ANSI256: 1, colorprofile.ANSI: 1, colorprofile.ASCII: 0, colorprofile.NoTTY: 0, colorprofile.TrueColor: 0,
	} {
		asked := 0
		o := options()
		o.TrueColour = func(context.Context) bool { asked++; return true }
		d := drive(t, tuitest.Fleet(7), o)
		d.send(tea.ColorProfileMsg{Profile: profile})
		for range 3 {
			f := *tuitest.Fleet(7)
			f.Revision = d.m.fleet.Revision + 1
			d.send(fleetMsg{&f})
		}
		if asked != want {
			t.Errorf("with profile %v it was asked %d times, want %d", profile, asked, want)
		}
	}
}

// The selected line differs in every theme, also without colours.
func TestSelectionIsSeenInEveryTheme(t *testing.T) {
	for _, name := range []string{"dark", "light", "any", "16", "mono"} {
		opt := options()
		opt.Theme = name
		d := drive(t, tuitest.Fleet(7), opt)
		line := ""
		for _, l := range d.frame() {
			if strings.Contains(l, "▌") {
				line = l
			}
		}
		if !strings.Contains(line, "48;5;") && !strings.Contains(line, ";44m") && !strings.Contains(line, "[44m") && !strings.Contains(line, "7m") {
			t.Errorf("%s: %q has no bar", name, line)
		}
	}
}

// A picture is never changed by the console: it is shared with other readers.
func TestPicturesAreNotChanged(t *testing.T) {
	f := tuitest.Fleet(13)
	shown := fmt.Sprintf("%+v", f)
	for _, st := range states {
		d := drive(t, f, options())
		st.go_(d)
		d.frame()
	}
	if fmt.Sprintf("%+v", f) != shown {
		t.Error("a screen wrote into the picture")
	}
}
