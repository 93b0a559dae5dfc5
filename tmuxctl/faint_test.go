package tmuxctl

import (
	"slices"
	"strings"
	"testing"

	"rig/engine"
)

func TestFaint(t *testing.T) {
	for _, c := range []struct{ in, plain, faint string }{
		{"plain", "plain", ""},
		{"❯\u00a0\x1b[7mr\x1b[0;2m\x1b[39m\x1b[49mun the tests\x1b[0m end", "❯\u00a0run the tests end", "un the tests"},
		{"\x1b[2;31mdim\x1b[22m bright", "dim bright", "dim"},
		{"\x1b[38;2;2;2;2mcolour\x1b[48;5;2m too\x1b[4:2m under", "colour too under", ""},
		{"\x1b[38;5;2;2mboth\x1b[m none", "both none", "both"},
		{"\x1b[58:2::1:2:3mline\x1b[1;2mx", "linex", "x"},
		{"\x1b[2mover\nto the next\x1b[0m\nend", "over|to the next|end", "over|to the next|"},
	} {
		got := screenOf(c.in)
		if p, f := strings.Join(got.Lines, "|"), strings.Join(got.Faint, "|"); p != c.plain || f != c.faint {
			t.Errorf("%q: %q, faint %q", c.in, p, f)
		}
	}
}

func FuzzFaint(f *testing.F) {
	for _, s := range []string{"\x1b[2mx\x1b[22my", "\x1b[38;2m", "\x1b[;;2;m", "a\x1b[38;5", "\x1b[2m\n\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := screenOf(s)
		if !slices.Equal(got.Lines, screenLines(s, false)) || len(got.Faint) != len(got.Lines) {
			t.Fatalf("%q: %q, without colours %q", s, got.Lines, screenLines(s, false))
		}
		for i, l := range got.Lines {
			if len(got.Faint[i]) > len(l) {
				t.Fatalf("%q: %q of %q", s, got.Faint[i], l)
			}
		}
	})
}

// What a program draws faint is told from what it draws otherwise, by a real tmux.
func TestFaintOfAPane(t *testing.T) {
	inLocales(t, func(t *testing.T) {
		f := newFixture(t)
		ref, _ := f.create("dim", "/bin/sh", "-c", `printf '\033[7mr\033[0m\033[2mun the tests\033[0m and more\n'; exec sleep 600`)
		f.shows(ref.Pane, "and more")
		got, err := f.Capture(f.ctx, []engine.CaptureRequest{{Pane: ref.Pane, Faint: true}})
		if err != nil || got[0].Err != nil || got[0].Lines[0] != "run the tests and more" || got[0].Faint[0] != "un the tests" {
			t.Errorf("%+v %v", got, err)
		}
	})
}
