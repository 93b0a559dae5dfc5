package tui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"rig/engine"
	"rig/tui/tuitest"
)

// edges finds the upper border of the topmost dialog: its line, its first column
// and its width in cells.
func (d *driver) edges() (top, left, wide int) {
	d.t.Helper()
	drawn := d.m.top().view(d.m, d.m.w, d.m.h-1)
	border := ansi.Strip(drawn[0])
	for y, l := range strings.Split(d.text(), "\n") {
		if before, _, found := strings.Cut(l, border); found {
			return y, width(before), width(border)
		}
	}
	d.t.Fatalf("the dialog is not on screen:\n%s", d.text())
	return 0, 0, 0
}

// keepsPlace does steps in turn and fails when one of them moves the dialog.
func (d *driver) keepsPlace(steps ...func()) {
	d.t.Helper()
	top, left, wide := d.edges()
	for i, do := range steps {
		do()
		if y, x, w := d.edges(); y != top || x != left || w != wide {
			d.t.Errorf("step %d: the dialog went from line %d, column %d, width %d to %d, %d, %d:\n%s", i, top, left, wide, y, x, w, d.text())
			return
		}
	}
}

func TestAWizardKeepsItsPlaceFromItsQuestionsToTheReceipt(t *testing.T) {
	for _, s := range sizes {
		t.Run(fmt.Sprintf("%dx%d", s.w, s.h), func(t *testing.T) {
			d := scene(t, tuitest.Fleet(7), s.w, s.h, options())
			press := func(names ...string) func() { return func() { d.keys(names...) } }
			d.keys("D")
			d.keepsPlace(
				press("zzz"), press("ctrl+u"), press("tab"), press("tab"), press("shift+tab"), press("shift+tab"), press("enter"), press("a"),
				func() { d.fire(guardTime) }, press("shop"), func() { d.fire(typePause) },
				func() { d.hold = true; d.keys("enter") },
				func() {
					d.hold = false
					for _, c := range d.held {
						d.run(c)
					}
				},
			)
			if w := d.m.wizard(); w == nil || w.phase != phaseReceipt {
				t.Errorf("the wizard did not come to its receipt:\n%s", d.text())
			}
		})
	}
}

func TestADialogKeepsItsPlaceWhileItsContentChanges(t *testing.T) {
	for _, s := range sizes {
		t.Run(fmt.Sprintf("%dx%d", s.w, s.h), func(t *testing.T) {
			d := scene(t, tuitest.Fleet(7), s.w, s.h, options())
			press := func(names ...string) func() { return func() { d.keys(names...) } }
			d.keys("U")
			d.keepsPlace(press("te"), press("nothing"), press("ctrl+u"), press("down"), press("tab"), press("/srv"), press("tab", "A"))
			d.keys("esc", "esc", ":")
			d.keepsPlace(press("q"), press("zzzzz"), press("ctrl+u"))
			d.keys("esc", "j")
			d.hold = true
			d.keys("e")
			d.keepsPlace(func() { // the answer is longer than what stands there until it comes
				d.hold = false
				for _, c := range d.held {
					d.run(c)
				}
			})
		})
	}
}

// While its questions are answered and the plan is made, a wizard only grows.
func TestTheQuestionsOfAWizardOnlyGrow(t *testing.T) {
	for _, s := range sizes {
		d := scene(t, tuitest.Fleet(7), s.w, s.h, options())
		tall := func() int { return len(d.m.top().view(d.m, d.m.w, d.m.h-1)) }
		for _, open := range []string{"U", "H", "W"} {
			d.keys(open)
			was := tall()
			for _, k := range []string{"dev", "zzz", "ctrl+u", "tab", "tab", "shift+tab", "down"} {
				d.keys(k)
				if now := tall(); now < was {
					t.Errorf("%dx%d, %s: %q made it %d lines high after %d:\n%s", s.w, s.h, open, k, now, was, d.text())
				}
				was = tall()
			}
			d.hold = true
			d.m.wizard().plan(d.m)
			if now := tall(); now < was {
				t.Errorf("%dx%d, %s: planning made it %d lines high after %d:\n%s", s.w, s.h, open, now, was, d.text())
			}
			d.hold = false
			d.m.overlays = nil
		}
		d.keys("U")
		d.size(200, 50)
		d.size(s.w, s.h)
		fresh := scene(t, tuitest.Fleet(7), s.w, s.h, options())
		fresh.keys("U")
		if d.text() != fresh.text() {
			t.Errorf("%dx%d: after a resize it is not as when it is opened:\n%s", s.w, s.h, d.text())
		}
	}
}

// Who puts a refusal away has the questions back as they were.
func TestARefusalLeavesNoRoomBehind(t *testing.T) {
	d := scene(t, tuitest.Fleet(7), 120, 40, options())
	d.keys("D")
	before := d.text()
	d.c.Fail["Plan"] = engine.Errorf(engine.CodeTmuxProbeFailed, "tmux did not answer within 2 s").WithHint("%s", strings.Repeat("rig doctor says what is wrong with it. ", 20))
	d.keys("enter")
	d.has("there is no plan")
	d.keys("esc")
	if after := d.text(); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

// A dialog has one place for each size of the terminal, however that came about.
func TestAResizeBringsADialogBackToItsPlace(t *testing.T) {
	d := scene(t, tuitest.Fleet(7), 120, 40, options())
	d.keys("D")
	d.keepsPlace(func() { d.keys("enter"); d.size(60, 20); d.size(120, 40) }, func() { d.size(200, 50); d.size(120, 40) })
}

// The frame of a dialog never stands beside or upon a frame of what is below it.
func TestTheFrameOfADialogIsClearOfWhatIsBelow(t *testing.T) {
	for _, st := range states {
		for _, s := range append(sizes, struct{ w, h int }{90, 22}) {
			d := scene(t, tuitest.Fleet(7), s.w, s.h, options())
			st.go_(d)
			if d.m.top() == nil {
				continue
			}
			top, left, wide := d.edges()
			tall := len(d.m.top().view(d.m, s.w, s.h-1))
			for y, l := range strings.Split(d.text(), "\n")[:s.h-1] {
				l = pad(l, s.w)
				around := ansi.Cut(l, left-1, left) + ansi.Cut(l, left+wide, left+wide+1)
				if left == 0 {
					around = ansi.Cut(l, wide, wide+1)
				}
				if y == top+tall || y == top-1 && y >= d.m.headRows() {
					around += ansi.Cut(l, left, left+wide)
				}
				if y < top-1 || y > top+tall || y < top && y < d.m.headRows() || strings.TrimSpace(around) == "" {
					continue
				}
				t.Errorf("%s/%dx%d, line %d: %q touches the dialog:\n%s", st.name, s.w, s.h, y, around, d.text())
				break
			}
			if left > 0 && left < sideCols {
				t.Errorf("%s/%dx%d: %d columns beside the dialog cannot be read:\n%s", st.name, s.w, s.h, left, d.text())
			}
		}
	}
}
