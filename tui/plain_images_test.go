package tui

import (
	"strings"
	"testing"

	"rig/tui/tuitest"
)

func TestPlainTellsOfImages(t *testing.T) {
	c := tuitest.New(tuitest.Fleet(7))
	out := plainly(t, c, options(), "images", "images release-notes", "images nothing")
	for _, want := range []string{
		"agent-image:payments-expert:2: claude, about 84k tokens, 3 forks, protected by a pin, a rig spec, a seat",
		"agent-image:release-notes:1: codex, about 18k tokens, 0 forks, protected by nothing, prune removes it",
		"outside: a link, not followed", "manifest.yaml: cannot be read: it has no runtime", "it counts as a reference",
		"since then: the source stands where it stood", `        - id: "release-notes"`, `There is no agent image "nothing"`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not said:\n%s", want, out)
		}
	}
	if strings.Contains(out, "5e550041") {
		t.Error("an id is said")
	}
}

// The same wizards, as questions: a seat or an image that was named is not asked
// for again.
func TestPlainForksAndPrunes(t *testing.T) {
	c := tuitest.New(tuitest.Fleet(7))
	out := plainly(t, c, options(),
		"fork dev-impl", "", "", "qa", "qa2", "", "yes",
		"fork agent-image:payments-expert:2", "shop", "plan", "kid", "", "yes",
		"agent-image pin agent-image:release-notes:1", "yes",
		"agent-image prune", "agent images",
		"agent-image create dev-impl", "ledger", "", "", "", "", "yes")
	_, _, done := c.Did()
	want := "fork dev-qa2@shop | fork plan-kid@shop | agent-image pin agent-image:release-notes:1 | agent-image prune agent images | agent-image create dev-impl@shop"
	if got := strings.Join(done, " | "); got != want {
		t.Errorf("applied %s\nwant    %s\n%s", got, want, out)
	}
	for _, want := range []string{
		"Source: dev-impl@shop", "dev-qa@shop is the address of dev.qa already",
		"Image: agent-image:release-notes:1", "deleted agent-image:release-notes:1", "kept agent-image:payments-expert:2: protected by a pin",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not said:\n%s", want, out)
		}
	}
}

func TestPlainForcesOnlyWhenAskedTwice(t *testing.T) {
	c := tuitest.New(tuitest.Fleet(7))
	out := plainly(t, c, options(),
		"agent-image delete agent-image:payments-expert:2", "force",
		"agent-image delete agent-image:payments-expert:2", "over the guard", "agent-image:payments-expert:2",
		"agent-image delete agent-image:payments-expert:2", "over the guard", "force")
	if _, _, done := c.Did(); len(done) != 1 || !strings.Contains(out, "FORCED") {
		t.Errorf("applied %v\n%s", done, out)
	}
}
