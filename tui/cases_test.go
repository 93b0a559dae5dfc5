package tui

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"rig/engine"
	"rig/tui/tuitest"
)

// Case B84: letters typed into a field are text, never keys.
func TestB84LettersInAFieldAreText(t *testing.T) {
	const typed = "quick reset: jq, swap my key /x ?"
	fields := []struct {
		name string
		open []string
		text func(d *driver) string
	}{
		{"reason of a handover", []string{"H", "tab"}, func(d *driver) string { return d.m.wizard().fields[1].input.text() }},
		{"spec of up", []string{"U"}, func(d *driver) string { return d.m.wizard().fields[0].input.text() }},
		{"filter", []string{"/"}, func(d *driver) string { return d.m.typing.text() }},
		{"palette", []string{":"}, func(d *driver) string { return d.m.top().(*picker).search.text() }},
		{"help", []string{"?"}, func(d *driver) string { return d.m.top().(*picker).search.text() }},
		{"message", []string{"s"}, func(d *driver) string { return d.m.top().(*sender).text.text() }},
		{"name of a confirmation", []string{"D", "enter", "a", "!"}, func(d *driver) string { return d.m.wizard().name.text() }},
	}
	for _, f := range fields {
		d := drive(t, tuitest.Fleet(7), options())
		for _, k := range f.open {
			if k == "!" {
				d.fire(guardTime)
				continue
			}
			d.keys(k)
		}
		d.keys(typed)
		if got := f.text(d); got != typed {
			t.Errorf("%s holds %q", f.name, got)
		}
		sent, jumped, done := d.c.Did()
		if d.quit || len(d.copied)+len(sent)+len(jumped)+len(done) != 0 || d.m.cur != screenFleet {
			t.Errorf("%s: typing did something", f.name)
		}
		d.send(tea.PasteMsg{Content: " q\r\nD\x1b[201~\ty\n"})
		as := typed + " q  D y"
		if f.name == "message" { // it keeps its lines
			as = typed + " q\nD\ty\n"
		}
		if got := f.text(d); got != as {
			t.Errorf("%s after a paste holds %q", f.name, got)
		}
		d.keys("ctrl+c")
		if !d.quit {
			t.Errorf("%s: ctrl+c does not leave", f.name)
		}
	}
}

// Case B86: any size, in any situation, back and forth.
func TestB86AnySize(t *testing.T) {
	t.Parallel()
	odd := [][2]int{{120, 40}, {0, 0}, {1, 1}, {10, 3}, {19, 5}, {80, 1}, {1, 80}, {300, 100}, {39, 12}, {40, 11}, {40, 12}, {60, 17}, {110, 12}, {59, 40}, {120, 40}}
	for _, n := range []int{0, 60} {
		for _, st := range states {
			d := drive(t, tuitest.Fleet(n), options())
			if n > 0 {
				st.go_(d)
			} else {
				d.keys("U")
			}
			before := d.m.screens[d.m.cur].subject(d.m).copy
			d.keys("G")
			bottom := d.m.screens[d.m.cur].subject(d.m).copy
			for _, s := range odd {
				d.size(s[0], s[1])
				d.frame()
			}
			after := d.m.screens[d.m.cur].subject(d.m).copy
			if after != before && after != bottom {
				t.Errorf("%s with %d seats: the selection went from %q to %q", st.name, n, before, after)
			}
		}
	}
}

// A storm of resizes with keys between them.
func TestB86ResizeStorm(t *testing.T) {
	t.Parallel()
	d := drive(t, tuitest.Fleet(60), options())
	keys := []string{"j", "G", "4", "l", "j", "2", "D", "enter", "a", "esc", "esc", "esc", "/", "x", "esc", "9", "enter", "esc", "1", "tab", ":", "esc", "5", "tab", "G", "8", "enter", "j", "?", "esc"}
	for i := range 500 {
		d.size((i*37)%160, (i*23)%60)
		d.keys(keys[i%len(keys)])
		d.frame()
	}
}

// hostile are titles, names and pane lines that shift borders elsewhere.
var hostile = []string{
	"設計-実装", "🚀🚀", "👩‍💻 dev", strings.Repeat("é", 40), strings.Repeat("e\u0301", 40), "ﾉ｀Д´", "🇩🇪🇯🇵", "שלום עולם", "\u202eabc\u202c", "a\u200bb\u00adc", "1\ufe0f\u20e3 ❤️ ☎️",
	"\x1b]0;title\x07x", "\x1b[2J\x1b[H", "\x1bPq#0\x1b\\y", "\x9b31mred", "a\tb\nc\rd", "\xff\xfe", "\x1b[38;5;196mred to the end", "\x1b[38;2;1;2", "\x1b[4:3mcurly\x1b[58:2::1:2:3m", "👨‍👩‍👧‍👦", "ก็็็็็็็็็็", "\x00\x07\x08",
	"𝕬𝖇𝖈", "﷽", "\U000e0041tag",
}

// Case B87: wide, combining and ambiguous characters, and escapes, in everything
// that comes from outside. The driver checks the width of every line by both
// ways of counting.
func TestB87ForeignTextNeverMovesABorder(t *testing.T) {
	t.Parallel()
	f := tuitest.Fleet(13)
	for i := range f.Rigs[0].Seats {
		s := &f.Rigs[0].Seats[i]
		h := hostile[i%len(hostile)]
		s.Address, s.Member, s.Title, s.Activity.Why, s.Activity.Draft, s.LifeWhy, s.Cwd = h+"@shop", h, h, h, hostile[(i+7)%len(hostile)], h, h
	}
	for i := range f.Attention {
		f.Attention[i].Reason, f.Attention[i].Remedy, f.Attention[i].Seat = hostile[(i+3)%len(hostile)], hostile[i], hostile[i+4]
	}
	for i := range f.Recent {
		f.Recent[i].Type, f.Recent[i].Operator, f.Recent[i].Seat = hostile[i%len(hostile)], hostile[(i+1)%len(hostile)], hostile[(i+2)%len(hostile)]
		f.Recent[i].Payload = []byte(fmt.Sprintf("{%q:%q}", "k", hostile[i%len(hostile)]))
	}
	for _, ascii := range []bool{false, true} {
		opt := options()
		opt.ASCII = ascii
		for _, st := range states {
			d := drive(t, f, opt)
			var frames []engine.PaneFrame
			for i := range f.Rigs[0].Seats {
				frames = append(frames, engine.PaneFrame{SeatID: f.Rigs[0].Seats[i].ID, Lines: append(hostile[i:], hostile[:i]...), Cols: 20, Rows: 25})
			}
			d.send(framesMsg{frames})
			st.go_(d)
			for _, w := range []int{41, 60, 81, 111, 200} {
				d.size(w, 40)
				for _, l := range d.frame() {
					if bad := foreign(l); bad != "" {
						t.Fatalf("%s at %d: %q reaches the terminal in %q", st.name, w, bad, l)
					}
				}
			}
		}
	}
}

// foreign finds what may not reach the terminal in a line: any escape but
// colours, any control character, colours that are still on at the end.
func foreign(line string) string {
	var state byte
	on := false
	for line != "" {
		seq, w, n, next := ansi.DecodeSequence(line, state, nil)
		if n <= 0 {
			return "undecodable"
		}
		switch {
		case w > 0:
		case strings.HasPrefix(seq, "\x1b[") && strings.HasSuffix(seq, "m"):
			on = seq != "\x1b[m"
			if seq == "\x1b[0m" {
				on = false
			}
		case strings.IndexFunc(seq, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 || direction(r) }) >= 0:
			return seq
		}
		state, line = next, line[n:]
	}
	if on {
		return "colour without end"
	}
	return ""
}

func TestCutsKeepClustersAndWidths(t *testing.T) {
	for _, h := range hostile {
		c := clean(h)
		if strings.ContainsAny(c, "\x1b\n\r\t\x00\u202e") {
			t.Errorf("clean(%q) = %q", h, c)
		}
		for w := range 24 {
			for name, got := range map[string]string{"cut": cut(c, w), "middle": cutMiddle(c, w)} {
				if n := ansi.StringWidth(got); n > w || n != ansi.StringWidthWc(got) {
					t.Errorf("%s(%q, %d) = %q, %d wide", name, c, w, got, n)
				}
			}
			if n := ansi.StringWidth(pad(c, w)); n != w {
				t.Errorf("pad(%q, %d) is %d wide", c, w, n)
			}
		}
	}
}

func TestPaneKeepsColoursAndNothingElse(t *testing.T) {
	cases := []struct{ in, want string }{
		{"plain", "plain"},
		{"\x1b[31mred\x1b[0m x", "\x1b[31mred\x1b[m x\x1b[m"},
		{"\x1b[38;5;196;1mx", "\x1b[38;5;196;1mx\x1b[m"},
		{"\x1b[5;31mx", "\x1b[31mx\x1b[m"},
		{"\x1b[8mhidden", "hidden\x1b[m"},
		{"\x1b[38;5mx", "x\x1b[m"},
		{"\x1b[38;2;1;2;3mx", "\x1b[38;2;1;2;3mx\x1b[m"},
		{"\x1b[>4;1mx\x1b[?25lx", "xx\x1b[m"},
		{"\x1b]8;;http://a\x07link\x1b]8;;\x07", "link\x1b[m"},
		{"\x1b[2Jx\x1b[1;1H", "x\x1b[m"},
	}
	for _, c := range cases {
		if got := paneText([]string{c.in})[0]; got != c.want {
			t.Errorf("%q becomes %q, want %q", c.in, got, c.want)
		}
	}
	got := paneText([]string{"\x1b[32mgreen", "still", "\x1b[0mplain", "plain"})
	if !strings.HasPrefix(got[1], "\x1b[32m") || strings.Contains(got[3], "32m") {
		t.Errorf("colours over lines: %q", got)
	}
}

func TestCropKeepsWhatIsSaidAndTheEnd(t *testing.T) {
	cases := []struct {
		in   []string
		h    int
		want string
	}{
		{[]string{"a", "b"}, 3, "a|b|"},
		{[]string{"a", "", "", "", "b", "", ""}, 7, "a||||b||"},
		{[]string{"a", "", "", "", "b", "", ""}, 4, "a|||b"},
		{[]string{"a", "", "\x1b[31m \x1b[m", "", "b", "", ""}, 3, "a||b"},
		{[]string{"", "", "a", "b", "c"}, 3, "a|b|c"},
		{[]string{"a", "b", "", "c", "d"}, 3, "|c|d"},
		{[]string{"", "", ""}, 2, "|"},
		{nil, 2, "|"},
	}
	for _, c := range cases {
		var got []string
		for _, l := range crop(paneText(c.in), 4, c.h) {
			got = append(got, strings.TrimRight(ansi.Strip(l), " "))
		}
		if s := strings.Join(got, "|"); s != c.want {
			t.Errorf("%q in %d rows: %q, want %q", c.in, c.h, s, c.want)
		}
	}
}

func FuzzPaneText(f *testing.F) {
	for _, h := range hostile {
		f.Add(h, "x")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, l := range crop(paneText([]string{a, b}), 20, 3) {
			if w := ansi.StringWidth(l); w != 20 {
				t.Errorf("%q is %d wide", l, w)
			}
			if bad := foreign(l); bad != "" {
				t.Errorf("%q holds %q", l, bad)
			}
		}
	})
}
