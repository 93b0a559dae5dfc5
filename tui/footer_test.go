package tui

import (
	"strings"
	"testing"

	"rig/engine"
	"rig/tui/tuitest"
)

// foot is the last line of the screen.
func (d *driver) foot() string {
	d.t.Helper()
	lines := strings.Split(strings.TrimRight(d.text(), "\n"), "\n")
	return lines[len(lines)-1]
}

func TestTheFooterNamesTheKeysThatMove(t *testing.T) {
	for _, c := range []struct {
		name string
		open []string
		want []string
		not  []string
	}{
		{"operations", []string{"8"}, []string{"j/k move", "^d/^u page"}, []string{"fold"}},
		{"restore", []string{"6"}, []string{"h/l fold"}, nil},
		{"snapshots", []string{"6", "tab"}, []string{"j/k move"}, []string{"fold"}},
		{"a filter", []string{"9", "/", "seat", "enter"}, []string{"n/N match"}, nil},
		{"no filter", []string{"9"}, []string{"j/k move"}, []string{"match"}},
		{"palette", []string{":"}, []string{"Down/Up move"}, []string{"next", "previous"}},
		{"one found", []string{":", "dev-qa@"}, []string{"Esc close"}, []string{"move"}},
		{"a short list", []string{"2", "z"}, []string{"j/k move"}, []string{"page"}},
		{"questions", []string{"H"}, []string{"Tab next field", "Down/Up choice"}, nil},
		{"no choices", []string{"H", "tab"}, []string{"Tab next field"}, []string{"choice"}},
		{"a text of many lines", []string{"W", "tab"}, []string{"Down/Up line"}, nil},
		{"a preview", []string{"D", "enter"}, []string{"j/k scroll", "^d/^u page"}, nil},
		{"moments", []string{"j", "t"}, []string{"j/k move"}, []string{"page"}},
		{"a paper", []string{"5", "p", "enter"}, []string{"j/k scroll", "^d/^u page"}, nil},
		{"an event", []string{"9", "enter"}, []string{"Esc close"}, []string{"scroll", "page"}},
	} {
		d := drive(t, tuitest.Fleet(7), options())
		d.size(200, 24)
		d.keys(c.open...)
		for _, w := range c.want {
			if !strings.Contains(d.foot(), w) {
				t.Errorf("%s: the footer lacks %q: %s", c.name, w, d.foot())
			}
		}
		for _, w := range c.not {
			if strings.Contains(d.foot(), w) {
				t.Errorf("%s: the footer has %q: %s", c.name, w, d.foot())
			}
		}
	}
}

// The first screen of all offers no key that has a use only once there is a seat.
func TestTheFooterOfTheFirstScreenNamesWhatBegins(t *testing.T) {
	d := drive(t, tuitest.Fleet(0), options())
	d.size(80, 24)
	if foot := d.foot(); !strings.Contains(foot, "U up") || strings.Contains(foot, "filter") || strings.Contains(foot, "pane/facts") {
		t.Error(foot)
	}
}

func TestTheFooterOfNothingNamesNoKeyThatMoves(t *testing.T) {
	for _, f := range []*engine.Fleet{nil, tuitest.Fleet(0)} {
		d := drive(t, f, options())
		d.size(200, 24)
		if foot := d.foot(); strings.Contains(foot, "move") || strings.Contains(foot, "fold") || strings.Contains(foot, "page") {
			t.Errorf("%s", foot)
		}
	}
}

// The keys that move are the first to go, and take the place of none.
func TestTheKeysThatMoveTakeNoPlaceOfOthers(t *testing.T) {
	for _, st := range states {
		for _, s := range sizes {
			d := scene(t, tuitest.Fleet(7), s.w, s.h, options())
			st.go_(d)
			with := d.foot()
			for _, a := range d.m.reg.actions {
				if a.foot > footMoves {
					a.foot = 0
				}
			}
			if without := d.foot(); !strings.HasPrefix(with, without) && d.m.footRight() == nil {
				t.Errorf("%s/%dx%d:\n%s\nwithout them\n%s", st.name, s.w, s.h, with, without)
			}
		}
	}
}

// Both keys of a pair are the operator's own; one that has no key is left out.
func TestAPairInTheFooterHasTheOperatorsKeys(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), Options{Keys: map[string][]string{"line-down": {"ctrl+x"}, "line-up": {}}})
	d.keys("8")
	d.size(200, 50)
	if f := d.foot(); !strings.Contains(f, "^x move") || strings.Contains(f, "^x/") {
		t.Errorf("%s", f)
	}
}

func TestWhatIsMarkedStandsApartFromTheKeys(t *testing.T) {
	for _, s := range sizes {
		d := drive(t, tuitest.Fleet(7), options())
		d.size(s.w, s.h)
		d.keys("space", "space")
		if f := d.foot(); !strings.Contains(f, " 2 marked") {
			t.Errorf("%dx%d: %q", s.w, s.h, f)
		}
	}
}
