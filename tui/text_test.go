package tui

import (
	"slices"
	"testing"
)

// TestWrapBreaksNoAddressThatFits: a command that stands on several lines is copied as it
// stands, so that a line never ends inside an address, a flag or a path.
func TestWrapBreaksNoAddressThatFits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		w    int
		want []string
	}{
		{"in a shell rig compact qa-review@demo --reason why", 24, []string{"in a shell rig compact", "qa-review@demo --reason", "why"}},
		{"it lies in /home/me/project/a/b", 24, []string{"it lies in", "/home/me/project/a/b"}},
		{"see /home/me/project", 12, []string{"see /home/", "me/project"}},
		{"a very-long-hyphened-name", 12, []string{"a very-long-", "hyphened-", "name"}},
		{"exactly-six", 11, []string{"exactly-six"}},
	} {
		if got := wrap(c.text, c.w); !slices.Equal(got, c.want) {
			t.Errorf("%q in %d: %q; want %q", c.text, c.w, got, c.want)
		}
		for _, l := range wrap(c.text, c.w) {
			if width(l) > c.w {
				t.Errorf("%q is wider than %d", l, c.w)
			}
		}
	}
}
