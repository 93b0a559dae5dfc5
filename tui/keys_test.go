package tui

import (
	"errors"
	"strings"
	"testing"

	"rig/engine"
	"rig/tui/tuitest"
)

func TestRegistryHasNoCollision(t *testing.T) {
	if _, err := newRegistry(nil); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, a := range allActions() {
		if seen[a.id] {
			t.Errorf("two actions are called %q", a.id)
		}
		seen[a.id] = true
		if a.help == "" || a.group == "" || a.in == 0 || a.run == nil {
			t.Errorf("%s lacks a help text, a group, a scope or a deed", a.id)
		}
		if a.foot > 0 && a.label == "" {
			t.Errorf("%s is in the footer without a label", a.id)
		}
	}
}

func TestOwnKeysAreRefusedWhenTheyMeanTwoThings(t *testing.T) {
	cases := []struct {
		name  string
		keys  map[string][]string
		words []string
	}{
		{"unknown action", map[string][]string{"fly": {"x"}}, []string{`"fly"`}},
		{"two on one screen", map[string][]string{"help": {"j"}}, []string{`"line-down"`, `"help"`, "j"}},
		{"confirm with Enter", map[string][]string{"confirm": {"enter"}}, []string{"Enter"}},
		{"confirm opens a wizard", map[string][]string{"confirm": {"D"}}, []string{`"down"`, `"confirm"`}},
		{"confirm leads to itself", map[string][]string{"confirm": {"a"}}, []string{`"confirm"`}},
	}
	for _, c := range cases {
		_, err := newRegistry(c.keys)
		var e *engine.Error
		if !errors.As(err, &e) || e.Hint == "" {
			t.Errorf("%s: got %v, want a refusal with a hint", c.name, err)
			continue
		}
		for _, w := range c.words {
			if !strings.Contains(e.Msg, w) {
				t.Errorf("%s: %q does not name %s", c.name, e.Msg, w)
			}
		}
	}
	if _, err := New(t.Context(), tuitest.New(nil), Options{Keys: map[string][]string{"help": {"j"}}}); err == nil {
		t.Error("a console starts with keys that collide")
	}
}

func TestOwnKeysReachFooterHelpAndDispatch(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), Options{Keys: map[string][]string{"filter": {"ctrl+f"}, "send": {"ctrl+s"}}})
	d.has("^f filter", "^s send")
	d.keys("/")
	if d.m.typing != nil {
		t.Error("the old key still opens the filter")
	}
	d.keys("ctrl+f")
	if d.m.typing == nil {
		t.Error("the new key does not open the filter")
	}
	d.keys("esc", "?", "filter")
	d.has("^f")
}

// A key of other screens says of which.
func TestAKeyOfAnotherScreenSaysSo(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("9", "H")
	d.has("H (handover) is a key of Fleet, Attention, Pressure, Wall, Seat")
	d.keys("j")
	d.hasNot("is a key of")
	d.keys("esc", "esc")
	d.has("this is the first screen")
	d.keys("A")
	d.hasNot("this is the first screen")
	d.keys("esc", "9", "ctrl+y")
	d.hasNot("is a key of")
}

// The palette lists what is not for this screen, and says for which it is.
func TestThePaletteNamesTheScreensOfACommand(t *testing.T) {
	for cmd, want := range map[string]string{"follow": "not now: only on Events", "fold": "not now: only on Fleet, Wall, Restore", "acknow": "not now: only on Attention"} {
		d := drive(t, tuitest.Fleet(7), options())
		d.keys("8", ":", cmd)
		d.has(want)
		d.hasNot("not on this screen")
		d.keys("enter")
		if want := strings.TrimPrefix(want, "not now: "); !strings.Contains(d.m.toast.text, want) {
			t.Errorf("Enter on %s says %q, want %q", cmd, d.m.toast.text, want)
		}
	}
}

// A motion pressed while nothing is drawn yet is made in the first picture.
func TestMotionsAheadOfTheFirstPicture(t *testing.T) {
	d := drive(t, nil, options())
	for range 2 * maxAhead {
		d.keys("k")
	}
	if n := len(d.m.ahead); n != maxAhead {
		t.Errorf("%d motions are kept, want %d", n, maxAhead)
	}
	d.m.ahead = nil
	d.keys("G", "k")
	f := tuitest.Fleet(7)
	d.send(fleetMsg{f})
	seats := f.Seats()
	if got, want := d.m.screens[d.m.cur].subject(d.m).copy, seats[len(seats)-2].Address; got != want {
		t.Errorf("the cursor is on %q, want %q", got, want)
	}
	d.send(fleetMsg{f})
	if got, want := d.m.screens[d.m.cur].subject(d.m).copy, seats[len(seats)-2].Address; got != want {
		t.Errorf("moved once more, to %q from %q", got, want)
	}
}

// A size that changed while the console started was missed: it is asked for again,
// in the first picture and in the first of what runs.
func TestTheSizeIsAskedForOnceMore(t *testing.T) {
	d := drive(t, nil, options())
	for i, c := range []struct {
		live bool
		want int
	}{{false, 1}, {false, 1}, {true, 2}, {true, 2}} {
		f := tuitest.Fleet(7)
		f.Live = c.live
		d.send(fleetMsg{f})
		if d.sized != c.want {
			t.Errorf("picture %d: asked %d times, want %d", i, d.sized, c.want)
		}
	}
}

// Help and palette are made from the registry: every action of a screen is in
// its help, and every action of any screen in the palette.
func TestHelpAndPaletteHoldEveryAction(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	for _, s := range screenList() {
		d.m.overlays = nil
		d.m.cur = s.id
		d.keys("?")
		p, ok := d.m.top().(*picker)
		if !ok {
			t.Fatalf("%s: ? opens %T", s.name, d.m.top())
		}
		for _, a := range d.m.reg.in(s.in) {
			if !hasItem(p.all, a) {
				t.Errorf("%s: the help lacks %s", s.name, a.id)
			}
		}
		d.m.overlays = nil
		d.keys(":")
		p, ok = d.m.top().(*picker)
		if !ok {
			t.Fatalf("%s: : opens %T", s.name, d.m.top())
		}
		for _, a := range d.m.reg.in(scopeScreens) {
			if !hasItem(p.all, a) {
				t.Errorf("%s: the palette lacks %s", s.name, a.id)
			}
		}
	}
}

func hasItem(items []pickItem, a *action) bool {
	for _, it := range items {
		if it.note == a.help {
			return true
		}
	}
	return false
}

// Every action that the footer shows works when its key is pressed, and every
// action can be asked on every screen without a fault.
func TestEveryKeyOnEveryScreen(t *testing.T) {
	t.Parallel()
	for _, f := range []*engine.Fleet{nil, tuitest.Fleet(0), tuitest.Fleet(7)} {
		for _, s := range screenList() {
			if f == nil && s.id != screenFleet {
				continue
			}
			for _, a := range allActions() {
				if a.in&s.in == 0 {
					continue
				}
				for _, k := range a.keys {
					d := drive(t, f, options())
					d.m.cur = s.id
					d.run(d.m.renew(s.id))
					d.keys(k)
					d.frame()
					d.keys("esc")
					d.frame()
				}
			}
		}
	}
}

func TestPaletteRunsWhatIsChosen(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.keys(":", "operations", "enter")
	if d.m.cur != screenOps {
		t.Errorf("the palette went to %s", d.m.Screen())
	}
	d.keys(":", "plan-arch", "enter")
	if s := d.m.here().seat; d.m.cur != screenFleet || s == nil || s.Member != "architect" {
		t.Errorf("the palette went to %s, %v", d.m.Screen(), s)
	}
}

func TestDisabledActionsSayWhy(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	cases := []struct {
		keys []string
		want string
	}{
		{[]string{"n"}, "no filter is set"},
		{[]string{"u"}, "no operation can be undone"},
		{[]string{"X"}, "was not adopted"},
		{[]string{"g", "s"}, "put the cursor on a seat"},
		{[]string{"2", "j", "s"}, "dead"},
	}
	for _, c := range cases {
		d.keys(c.keys...)
		if !strings.Contains(d.m.toast.text, c.want) {
			t.Errorf("%v says %q, want %q", c.keys, d.m.toast.text, c.want)
		}
		d.m.overlays = nil
	}
}

func TestReadOnlyOpensNoWizard(t *testing.T) {
	t.Parallel()
	opt := options()
	opt.ReadOnly = true
	for _, a := range allActions() {
		if !a.write {
			continue
		}
		for _, s := range screenList() {
			d := drive(t, tuitest.Fleet(7), opt)
			d.m.cur = s.id
			d.run(d.m.renew(s.id))
			if a.in&s.in == 0 || len(a.keys) == 0 {
				continue
			}
			d.keys(a.keys[0])
			if len(d.m.overlays) != 0 || !strings.Contains(d.m.toast.text, "read-only") {
				t.Errorf("%s: %s opens %v, says %q", s.name, a.id, d.m.overlays, d.m.toast.text)
			}
			d.has("read-only")
		}
	}
	d := drive(t, tuitest.Fleet(0), opt)
	d.has("read-only")
}

func TestEscNeverQuitsAndQLeavesFromTheRoot(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("2", "9", "3", "/", "dev", "enter")
	for range 10 {
		d.keys("esc")
	}
	if d.quit || d.m.cur != screenFleet {
		t.Errorf("Esc led to %s, quit %v", d.m.Screen(), d.quit)
	}
	d.keys("8", "q")
	if d.quit || d.m.cur != screenFleet {
		t.Error("q away from the root does not go to the root")
	}
	d.keys("q")
	if !d.quit {
		t.Error("q at the root does not quit")
	}
}

// The seat under the cursor stays under it from one list of seats to the next; the way
// back finds each screen as it was left.
func TestTheCursorStaysOnItsSeat(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	at := func() string {
		if s := d.m.here().seat; s != nil {
			return s.Address
		}
		return ""
	}
	first := at()
	d.keys("j", "j")
	chosen := at()
	if chosen == "" || chosen == first {
		t.Fatalf("from %q to %q", first, chosen)
	}
	for _, key := range []string{"4", "1", "5", "4", "1"} {
		d.keys(key)
		if got := at(); got != chosen {
			t.Errorf("after %s the cursor is on %q, not on %q", key, got, chosen)
		}
	}
	d.keys("3", "j")
	chosen = at()
	d.keys("1")
	if got := at(); got != chosen {
		t.Errorf("from Pressure the cursor comes to %q, not to %q", got, chosen)
	}
	d.keys("2")
	if it := d.m.here().item; it == nil || it != &d.m.fleet.Attention[0] && it.Key != d.m.fleet.Attention[0].Key {
		t.Errorf("attention begins with %+v", it)
	}
}
