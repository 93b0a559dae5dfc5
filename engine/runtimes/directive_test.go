package runtimes

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"rig/engine"
)

// seatOf is an occupant with a spool, as a launch makes one.
type seatOf struct {
	files *Files
	dir   string
	env   []string
	id    string // native
}

func newSeat(t testing.TB, session string) seatOf {
	t.Helper()
	f := NewFiles(t.TempDir(), self(t), self(t))
	if _, err := f.WriteLaunch(session, launchFile()); err != nil {
		t.Fatal(err)
	}
	return seatOf{f, f.SpoolDir(session), []string{
		SpoolEnv + "=" + f.SpoolDir(session), "RIG_SESSION=" + session, "RIG_GENERATION=3", "RIG_SEAT=dev-impl@shop",
		"RIG_HOME=" + t.TempDir(), "CLAUDE_PROJECT_DIR=" + t.TempDir(), "PATH=" + os.Getenv("PATH"),
	}, id1}
}

func (s seatOf) directive(attempt string) engine.Directive {
	return engine.Directive{
		Attempt: attempt, Seat: "dev-impl@shop", Session: "S1", Generation: 3, Conversation: engine.ConversationDigest(s.id),
		Text: "restore " + attempt, By: "operation", CreatedAt: time.Now(),
	}
}

func (s seatOf) event(name, more string) string {
	return fmt.Sprintf(`{"session_id":%q,"hook_event_name":%q,"cwd":"/"%s}`, s.id, name, more)
}

const afterCompact = `,"source":"compact"`

// hook runs the body of a hook in this process and gives what it printed.
func (s seatOf) hook(t testing.TB, event, stdin string, pack PacketWriter) string {
	t.Helper()
	var out bytes.Buffer
	if code := Hook(strings.NewReader(stdin), &out, s.env, []string{event}, pack); code != 0 {
		t.Errorf("%s: status %d", event, code)
	}
	return out.String()
}

// process starts a hook process.
func (s seatOf) process(t testing.TB, event, stdin string, more ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	cmd := exec.Command(self(t), HookVerb, event)
	out := &bytes.Buffer{}
	cmd.Env, cmd.Stdin, cmd.Stdout = append(append([]string{}, s.env...), more...), strings.NewReader(stdin), out
	return cmd, out
}

func contextOf(t testing.TB, out string) string {
	t.Helper()
	if out == "" {
		return ""
	}
	var doc struct {
		Specific struct {
			Event   string `json:"hookEventName"`
			Context string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || doc.Specific.Event == "" {
		t.Fatalf("no hook output: %v %q", err, out)
	}
	return doc.Specific.Context
}

func TestDirectiveIsGivenOnceAfterACompaction(t *testing.T) {
	s := newSeat(t, "S1")
	if err := s.files.ArmDirective(s.directive("a1")); err != nil {
		t.Fatal(err)
	}
	for _, silent := range [][2]string{
		{"SessionStart", s.event("SessionStart", `,"source":"startup"`)},
		{"SessionStart", s.event("SessionStart", `,"source":"resume"`)},
		{"UserPromptSubmit", s.event("UserPromptSubmit", "")},
		{"PostCompact", s.event("PostCompact", "")},
		{"SessionStart", s.event("SessionStart", afterCompact+`,"agent_id":"a7"`)},
	} {
		if out := s.hook(t, silent[0], silent[1], nil); out != "" {
			t.Errorf("%s printed %s", silent[1], out)
		}
	}
	if st, err := s.files.DirectiveOf("S1", "a1"); err != nil || st != engine.DirectiveArmed {
		t.Errorf("%s %v", st, err)
	}
	if got := contextOf(t, s.hook(t, "SessionStart", s.event("SessionStart", afterCompact), nil)); got != "restore a1" {
		t.Errorf("got %q", got)
	}
	if st, err := s.files.DirectiveOf("S1", "a1"); err != nil || st != engine.DirectiveDelivered {
		t.Errorf("%s %v", st, err)
	}
	for range 3 {
		if out := s.hook(t, "SessionStart", s.event("SessionStart", afterCompact), nil); out != "" {
			t.Errorf("again: %s", out)
		}
	}
	if ok, err := s.files.DisarmDirective("S1", "a1"); ok || err != nil {
		t.Errorf("disarmed after delivery: %v %v", ok, err)
	}
}

// A directive that is bound to another seat, generation, session or conversation
// is never printed, whoever put it there.
func TestDirectiveIsForItsOwnSeatOnly(t *testing.T) {
	for name, change := range map[string]func(*engine.Directive){
		"seat":         func(d *engine.Directive) { d.Seat = "dev-qa@shop" },
		"session":      func(d *engine.Directive) { d.Session = "S2" },
		"generation":   func(d *engine.Directive) { d.Generation = 4 },
		"conversation": func(d *engine.Directive) { d.Conversation = engine.ConversationDigest(id2) },
		"empty":        func(d *engine.Directive) { d.Text = "" },
	} {
		s := newSeat(t, "S1")
		d := s.directive("a1")
		change(&d)
		if err := armDirective(s.dir, d); err != nil {
			t.Fatal(err)
		}
		if out := s.hook(t, "SessionStart", s.event("SessionStart", afterCompact), nil); out != "" {
			t.Errorf("%s: printed %s", name, out)
		}
	}
	s := newSeat(t, "S1")
	outside := seatOf{s.files, s.dir, []string{"PATH=/bin"}, id1}
	if err := s.files.ArmDirective(s.directive("a1")); err != nil {
		t.Fatal(err)
	}
	if out := outside.hook(t, "SessionStart", s.event("SessionStart", afterCompact), nil); out != "" {
		t.Errorf("a session that is not ours got %s", out)
	}
	if err := os.WriteFile(filepath.Join(s.dir, armedName), []byte("{half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := s.hook(t, "SessionStart", s.event("SessionStart", afterCompact), nil); out != "" {
		t.Errorf("half a file: %s", out)
	}
}

// Two hook processes race for each of a thousand directives.
func TestDirectiveRace(t *testing.T) {
	rounds := 1000
	if testing.Short() || underRace {
		rounds = 50
	}
	s := newSeat(t, "S1")
	in := s.event("SessionStart", afterCompact)
	for i := range rounds {
		attempt := fmt.Sprintf("a%d", i)
		if err := s.files.ArmDirective(s.directive(attempt)); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		var outs [2]string
		for k := range outs {
			cmd, out := s.process(t, "SessionStart", in)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			wg.Go(func() {
				if err := cmd.Wait(); err != nil {
					t.Error(err)
				}
				outs[k] = out.String()
			})
		}
		wg.Wait()
		got := contextOf(t, outs[0]) + contextOf(t, outs[1])
		if got != "restore "+attempt {
			t.Fatalf("round %d: %q and %q", i, outs[0], outs[1])
		}
	}
}

// A hook that is killed between its claim and its print has given the client
// nothing; the next one, or the next prompt, gives it, once.
func TestDirectiveSurvivesAKillBetweenClaimAndPrint(t *testing.T) {
	rounds := 40
	if testing.Short() {
		rounds = 5
	}
	s := newSeat(t, "S1")
	for i := range rounds {
		attempt := fmt.Sprintf("k%d", i)
		if err := s.files.ArmDirective(s.directive(attempt)); err != nil {
			t.Fatal(err)
		}
		cmd, out := s.process(t, "SessionStart", s.event("SessionStart", afterCompact), "TEST_DIE_CLAIMED=1")
		var exit *exec.ExitError
		if err := cmd.Run(); !errors.As(err, &exit) || out.Len() != 0 {
			t.Fatalf("%v %q", err, out)
		}
		if st, err := s.files.DirectiveOf("S1", attempt); err != nil || st != engine.DirectiveClaimed {
			t.Fatalf("%s %v", st, err)
		}
		event, in := "UserPromptSubmit", s.event("UserPromptSubmit", "")
		if i%2 == 0 {
			event, in = "SessionStart", s.event("SessionStart", afterCompact)
		}
		a, outA := s.process(t, event, in)
		b, outB := s.process(t, event, in)
		for _, c := range []*exec.Cmd{a, b} {
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range []*exec.Cmd{a, b} {
			if err := c.Wait(); err != nil {
				t.Fatal(err)
			}
		}
		if got := contextOf(t, outA.String()) + contextOf(t, outB.String()); got != "restore "+attempt {
			t.Fatalf("round %d: %q and %q", i, outA, outB)
		}
	}
}

// Before a compaction of any origin the packet is written and its directive armed.
func TestPreCompactWritesThePacket(t *testing.T) {
	s := newSeat(t, "S1")
	path := filepath.Join(t.TempDir(), "projects", "-p", s.id+".jsonl")
	in := s.event("PreCompact", fmt.Sprintf(`,"trigger":"auto","transcript_path":%q`, path))
	var asked []Compaction
	pack := func(c Compaction) (string, []string, error) {
		asked = append(asked, c)
		return "/p/packet", []string{"a gap"}, nil
	}
	if out := s.hook(t, "PreCompact", in, pack); out != "" {
		t.Errorf("PreCompact printed %s", out)
	}
	if len(asked) != 1 || asked[0].Seat != "dev-impl@shop" || asked[0].Generation != 3 || asked[0].Transcript != path || asked[0].Trigger != "auto" {
		t.Fatalf("%+v", asked)
	}
	got := contextOf(t, s.hook(t, "SessionStart", s.event("SessionStart", afterCompact), nil))
	for _, want := range []string{"dev-impl@shop", "/p/packet", "a gap", "next owner", asked[0].Attempt} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
	// A path that is not this conversation's own is not followed.
	s.hook(t, "PreCompact", s.event("PreCompact", `,"transcript_path":"/etc/passwd"`), pack)
	if asked[1].Transcript != "" {
		t.Errorf("followed %s", asked[1].Transcript)
	}
	// A packet that cannot be written holds nothing up, and the directive says so.
	s.hook(t, "PreCompact", in, func(Compaction) (string, []string, error) { return "", nil, errors.New("disk full") })
	if got := contextOf(t, s.hook(t, "SessionStart", s.event("SessionStart", afterCompact), nil)); !strings.Contains(got, "disk full") {
		t.Errorf("got %q", got)
	}
	// What an operation has armed stands; what a hook has armed goes when the compaction fails.
	if err := s.files.ArmDirective(s.directive("op")); err != nil {
		t.Fatal(err)
	}
	n := len(asked)
	s.hook(t, "PreCompact", in, pack)
	s.hook(t, "StopFailure", s.event("StopFailure", ""), nil)
	if st, err := s.files.DirectiveOf("S1", "op"); err != nil || len(asked) != n || st != engine.DirectiveArmed {
		t.Errorf("%s %v, %d packets", st, err, len(asked)-n)
	}
	if ok, err := s.files.DisarmDirective("S1", "other"); ok || err != nil {
		t.Errorf("another attempt's was disarmed: %v %v", ok, err)
	}
	if ok, err := s.files.DisarmDirective("S1", "op"); !ok || err != nil {
		t.Errorf("not disarmed: %v %v", ok, err)
	}
	s.hook(t, "PreCompact", in, pack)
	s.hook(t, "StopFailure", s.event("StopFailure", ""), nil)
	if out := s.hook(t, "SessionStart", s.event("SessionStart", afterCompact), nil); out != "" {
		t.Errorf("after the failure: %s", out)
	}
}
