package tui

import (
	"strings"
	"testing"
	"time"

	"rig/engine"
	"rig/tui/tuitest"
)

// imageStates are the situations of the library and of the fork wizard.
var imageStates = []state{
	{"images", func(d *driver) { d.keys("7") }},
	{"images-inside", func(d *driver) { d.keys("7", "enter", "G") }},
	{"images-broken", func(d *driver) { d.keys("7", "G") }},
	{"images-link", func(d *driver) { d.keys("7", "j", "j", "j", "j") }},
	{"images-filter", func(d *driver) { d.keys("7", "/", "codex") }},
	{"images-empty", func(d *driver) { d.c.NoImages = true; d.keys("7") }},
	{"images-error", func(d *driver) {
		d.c.Fail["Images"] = engine.Errorf(engine.CodeUnavailable, "the library of agent images cannot be read").WithHint("correct the permissions of /home/ana/.rig/agent-images")
		d.keys("7")
	}},
	{"images-sync", func(d *driver) { d.keys("7", "r") }},
	{"image-create-ask", func(d *driver) { d.keys("I") }},
	{"image-create-taken", func(d *driver) { d.keys("7", "I", "tab", "payments-expert") }},
	{"image-create-preview", func(d *driver) { d.keys("I", "tab", "ledger", "enter") }},
	{"image-create-confirm", func(d *driver) { d.keys("I", "tab", "ledger", "enter", "a"); d.fire(guardTime) }},
	{"image-create-receipt", func(d *driver) { d.keys("I", "tab", "ledger", "enter", "a"); d.fire(guardTime); d.keys("y") }},
	{"image-pin-preview", func(d *driver) { d.keys("7", "j", "p") }},
	{"image-pin-receipt", func(d *driver) { d.keys("7", "j", "p", "a"); d.fire(guardTime); d.keys("y") }},
	{"image-unpin-preview", func(d *driver) { d.keys("7", "P") }},
	{"image-delete-preview", func(d *driver) { d.keys("7", "j", "j", "x") }},
	{"image-delete-confirm", func(d *driver) { d.keys("7", "j", "j", "x", "a"); d.fire(guardTime); d.keys("agent") }},
	{"image-delete-blocked", func(d *driver) { d.keys("7", "x") }},
	{"image-delete-forced", func(d *driver) { d.keys("7", "x", "f") }},
	{"image-delete-force-confirm", func(d *driver) { d.keys("7", "x", "f", "a"); d.fire(guardTime); d.keys("forc") }},
	{"image-prune-preview", func(d *driver) { d.keys("7", "X") }},
	{"image-prune-confirm", func(d *driver) { d.keys("7", "X", "a"); d.fire(guardTime); d.keys("agent im") }},
	{"image-prune-receipt", func(d *driver) { pruneConfirmed(d) }},
	{"fork-ask", func(d *driver) { d.keys("F") }},
	{"fork-cannot", func(d *driver) { forkFrom(d, "ops-deploy") }},
	{"fork-taken", func(d *driver) { d.keys("F", "tab", "tab", "tab", "qa") }},
	{"fork-preview", func(d *driver) { forkPlanned(d) }},
	{"fork-confirm", func(d *driver) { forkPlanned(d); d.keys("a"); d.fire(guardTime) }},
	{"fork-receipt", func(d *driver) { forkPlanned(d); d.keys("a"); d.fire(guardTime); d.keys("y") }},
	{"fork-image", func(d *driver) { d.keys("7", "F") }},
}

func forkFrom(d *driver, search string) { d.keys("F", search) }

func forkPlanned(d *driver) {
	d.c.Outcome = engine.ContinuityForked
	d.keys("F", "tab", "tab", "tab", "qa2", "enter")
}

func pruneConfirmed(d *driver) {
	d.keys("7", "X", "a")
	d.fire(guardTime)
	d.keys("agent images")
	d.fire(typePause)
	d.keys("enter")
}

// request gives what the wizard on top would ask the engine for.
func request(d *driver) engine.Request {
	d.t.Helper()
	w := d.m.wizard()
	if w == nil {
		d.t.Fatalf("no wizard is open:\n%s", d.text())
	}
	return w.requests(d.m)[0]
}

func TestForkWizardMakesTheRequestThatItShows(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("F", "tab", "tab", "tab", "qa2", "tab", "space")
	got := request(d)
	a, err := engine.DecodeArgs[engine.ForkArgs](got)
	if err != nil || got.Verb != engine.VerbFork || got.Target != "dev-impl@shop" || a.Rig != "shop" || a.Pod != "dev" || a.Member != "qa2" || !a.KeepImage {
		t.Errorf("%+v %+v %v", got, a, err)
	}
	// An image is a source too; it is kept already.
	d = drive(t, tuitest.Fleet(7), options())
	d.keys("7", "F", "tab", "tab", "down", "tab", "kid", "tab", "space")
	got = request(d)
	a, err = engine.DecodeArgs[engine.ForkArgs](got)
	if err != nil || got.Target != "agent-image:payments-expert:2" || a.Rig != "shop" || a.Pod != "plan" || a.Member != "kid" || a.KeepImage {
		t.Errorf("%+v %+v %v", got, a, err)
	}
}

// What cannot be forked says why, and is not taken: the plan is not even made.
func TestForkWizardRefusesWhatCannotBeForked(t *testing.T) {
	for search, why := range map[string]string{
		"ops-deploy": "once, then try again", "ops-shell": "a terminal has no conversation to fork", "reviewer": "nothing can start from this image",
	} {
		d := drive(t, tuitest.Fleet(7), options())
		d.keys("F", search)
		d.has(why)
		d.keys("tab", "tab", "tab", "kid", "enter")
		if d.c.Called("Plan") != 0 || d.m.wizard().phase != phaseAsk {
			t.Errorf("%s: a plan was asked for", search)
		}
	}
}

// The name is judged while it is typed, also against the seats that are there.
func TestForkWizardChecksTheNameWhileItIsTyped(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("F", "tab", "tab", "tab")
	for _, c := range []struct{ typed, says string }{
		{"q", ""}, {"a", "dev-qa@shop is the address of dev.qa already"}, {"2", ""}, {"!", "letters, digits"}, {"backspace", ""}, {"/", "letters, digits"},
	} {
		if d.keys(c.typed); c.says == "" {
			d.hasNot("already", "letters, digits")
			continue
		}
		d.has(c.says)
	}
}

// Pods follow the rig that was chosen.
func TestForkWizardOffersThePodsOfTheRig(t *testing.T) {
	f := tuitest.Fleet(26)
	f.Rigs[1].Pods = f.Rigs[1].Pods[:1]
	f.Rigs[1].Pods[0].Name = "other"
	for i := range f.Rigs[1].Seats {
		f.Rigs[1].Seats[i].Pod = "other"
	}
	d := drive(t, f, options())
	d.keys("F", "tab", "tab", "down", "down")
	d.has("plan")
	d.keys("shift+tab", "down", "tab")
	d.has("other")
	if got := d.m.wizard().answers().text("pod"); got != "other" {
		t.Errorf("the pod is %q", got)
	}
}

func TestImageVerbsTakeTheImageUnderTheCursor(t *testing.T) {
	for keys, want := range map[string]string{
		"j p": "agent-image pin agent-image:payments-expert:1", "P": "agent-image unpin agent-image:payments-expert:2",
		"j j x": "agent-image delete agent-image:release-notes:1", "j j j j x": "agent-image delete outside", "X": "agent-image prune agent images",
	} {
		d := drive(t, tuitest.Fleet(7), options())
		d.keys("7")
		d.keys(strings.Fields(keys)...)
		if r := request(d); string(r.Verb)+" "+r.Target != want {
			t.Errorf("%s: %s %s, want %s", keys, r.Verb, r.Target, want)
		}
	}
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("7", "p")
	if d.m.wizard() != nil || !strings.Contains(d.m.toast.text, "pinned already") {
		t.Errorf("it says %q", d.m.toast.text)
	}
	d.keys("j", "P")
	if d.m.wizard() != nil || !strings.Contains(d.m.toast.text, "is not pinned") {
		t.Errorf("it says %q", d.m.toast.text)
	}
}

// One key never prunes: the name of what goes must be typed.
func TestPruneAsksForItsName(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("7", "X", "a")
	d.fire(guardTime)
	d.keys("y", "X", "enter", "enter")
	if len(applied(d)) != 0 {
		t.Fatal("it was pruned")
	}
	d = drive(t, tuitest.Fleet(7), options())
	pruneConfirmed(d)
	if got := applied(d); len(got) != 1 || got[0] != "agent-image prune agent images" {
		t.Errorf("%v", got)
	}
	d.has("deleted agent-image:release-notes:1", "kept agent-image:payments-expert:2: protected by a pin")
}

// A copy in the list is the id; inside, the spec, which keeps its indentation.
func TestCopyOfAnImage(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("7", "y")
	d.fire(toastTime)
	d.keys("enter")
	if text := d.text(); !strings.Contains(text, "▌agent-image:payments-expert:2") || !strings.Contains(d.foot(), "Enter to the list") {
		t.Errorf("nothing but a colour tells where the keys are\n%s", text)
	}
	d.keys("y")
	if len(d.copied) != 2 || d.copied[0] != "agent-image:payments-expert:2" || !strings.Contains(d.copied[1], "\n      - id: \"payments-expert\"\n") {
		t.Errorf("%q", d.copied)
	}
	d.keys("esc")
	if d.m.cur != screenImages || d.m.images().inside {
		t.Error("Esc does not go back to the list")
	}
}

// The library is read when it is shown, when it is asked for, and when something
// was done to it; not with every picture.
func TestTheLibraryIsReadSeldom(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	if d.c.Called("Images") != 0 {
		t.Error("it is read before it is shown")
	}
	d.keys("7")
	for i := range 5 {
		f := *tuitest.Fleet(7)
		f.Revision = uint64(2 + i)
		d.send(fleetMsg{&f})
	}
	if n := d.c.Called("Images"); n != 1 {
		t.Errorf("read %d times, want once", n)
	}
	if n := d.c.Called("LookAtImage"); n != 1 {
		t.Errorf("its source was looked at %d times, want once", n)
	}
	f := *tuitest.Fleet(7)
	f.Revision, f.Recent = 9, append([]engine.Event{{Seq: 999, Type: "image.pinned"}}, f.Recent...)
	d.send(fleetMsg{&f})
	d.keys("r")
	if n := d.c.Called("Images"); n != 3 {
		t.Errorf("read %d times, want three", n)
	}
	d.keys("1", ":", "agent image sync", "enter")
	if d.m.cur != screenImages || d.c.Called("Images") != 4 {
		t.Errorf("%s, read %d times", d.m.Screen(), d.c.Called("Images"))
	}
	d.has("read: 5 images, 3 references in 12 specs")
}

// No frame and no copy holds the id of a conversation.
func TestImagesNeverShowAConversationsID(t *testing.T) {
	for _, st := range imageStates {
		d := drive(t, tuitest.Fleet(7), options())
		d.size(200, 50)
		st.go_(d)
		if text := d.text() + strings.Join(d.copied, ""); strings.Contains(text, "5e550041") {
			t.Errorf("%s shows an id", st.name)
		}
	}
}

// The Seat screen says from whom a seat was forked, when, and who did it, also
// after it was resumed.
func TestSeatScreenShowsTheLineage(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.c.Tenures = []engine.Tenure{
		{Generation: 2, Kind: "relaunch", Continuity: engine.ContinuityResumed, Operator: "bob", StartedAt: tuitest.Start().Add(-2 * time.Hour)},
		{Generation: 1, Kind: "fork", Source: "dev-impl@shop (generation 1)", Continuity: engine.ContinuityForked, Operator: "ana", StartedAt: tuitest.Start().Add(-30 * time.Hour)},
	}
	d.keys("j", "j", "i", "tab")
	d.has("forked from  dev-impl@shop (generation 1)  1d ago, by ana")
}

// The guard of the library is overruled only by a key of its own, after the plan
// said what is protected, and the last question asks for a word of its own.
func TestForceHasAQuestionOfItsOwn(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	force := func() bool {
		a, err := engine.DecodeArgs[engine.ImageArgs](request(d))
		if err != nil {
			t.Fatal(err)
		}
		return a.Force
	}
	d.keys("7", "x", "a")
	if d.m.wizard().phase != phasePreview || force() {
		t.Fatal("a protected image is to be deleted")
	}
	d.keys("f")
	d.has("FORCED", "--force")
	if !force() {
		t.Error("the request is not forced")
	}
	d.keys("a")
	d.fire(guardTime)
	d.keys("agent-image:payments-expert:2")
	d.fire(typePause)
	d.keys("enter")
	if _, _, done := d.c.Did(); len(done) > 0 {
		t.Fatalf("the usual word applied it: %v", done)
	}
	d.keys("esc", "f")
	if force() {
		t.Error("force stays")
	}
	d.keys("f", "a")
	d.fire(guardTime)
	d.keys("force")
	d.fire(typePause)
	d.keys("enter")
	if _, _, done := d.c.Did(); len(done) != 1 {
		t.Errorf("applied: %v", done)
	}
	// Other verbs have no such key.
	d = drive(t, tuitest.Fleet(7), options())
	d.keys("D", "enter", "f")
	d.has("nothing guards this verb")
}
