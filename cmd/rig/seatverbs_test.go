package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// eventDoc is what the tests read of the audit log.
type eventDoc struct {
	Type     string         `json:"type"`
	Seat     string         `json:"seat"`
	OpID     string         `json:"op_id"`
	Operator string         `json:"operator"`
	Payload  map[string]any `json:"payload"`
}

func (w *world) events(types ...string) []eventDoc {
	w.t.Helper()
	var d struct {
		Events []eventDoc `json:"events"`
	}
	args := []string{"events"}
	for _, kind := range types {
		args = append(args, "--type", kind)
	}
	w.into(&d, args...)
	return d.Events
}

// act runs a seat verb that has to end well and gives its receipt.
func (w *world) act(args ...string) receiptDoc {
	w.t.Helper()
	var rec receiptDoc
	if r := w.into(&rec, append([]string{"seat"}, args...)...); r.code != 0 || !rec.OK {
		w.t.Fatalf("rig seat %v: exit %d\n%s%s", args, r.code, r.out, r.err)
	}
	return rec
}

// sessions lists the tmux sessions that are not staging or our own.
func (w *world) sessions() string {
	out, err := w.tryTmux("list-sessions", "-F", "#{session_name}")
	if err != nil {
		return ""
	}
	return strings.ReplaceAll(out, "\n", " ")
}

// TestSeatVerbsNeedTheirFlags: usage errors exit 2 before anything is contacted.
func TestSeatVerbsNeedTheirFlags(t *testing.T) {
	w := newWorld(t)
	for _, args := range [][]string{
		{"stop", "dev.a"},
		{"clean", "dev.a", "--reason", " "},
		{"launch", "dev.a", "--fresh"},
		{"set-model", "dev.a", "--model", "m"},
		{"set-resume-token", "dev.a", "--token-stdin"},
	} {
		w.refuse("missing_reason", 2, append([]string{"seat"}, args...)...)
	}
	w.refuse("invalid", 2, "seat", "set-resume-token", "dev.a", "--reason", "r")
	if exists(filepath.Join(w.dir, "rig")) || exists(w.socket) {
		t.Error("a usage error touched the record or tmux")
	}
	w.must("up", w.spec("flags", "a:terminal"))
	w.refuse("fresh_required", 2, "seat", "launch", "dev.a", "--reason", "r")
	w.refuse("missing_model", 2, "seat", "set-model", "dev.a", "--reason", "r")
	w.refuse("seat_ref_required", 2, "seat", "stop", "", "--reason", "r")
	w.refuse("seat_not_found", 1, "seat", "stop", "dev.nobody", "--reason", "r")
}

func TestSeatStopAndClean(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("sc", "a:claude-code", "b:terminal", "ab:terminal"))
	a := w.seat("dev.a")
	rec := w.act("stop", "dev-a@sc", "--reason", "done for today", "--operator", "ann")
	if got := w.sessions(); got != "dev-ab@sc dev-b@sc" {
		t.Fatalf("sessions: %s", got)
	}
	if s := w.seat("dev.a"); s.Life != "stopped" || s.Pane != "" || !s.Token || s.Generation != 1 {
		t.Errorf("%+v", s)
	}
	pid := int(rec.Seats[0].Evidence["pid"].(float64))
	if exists(fmt.Sprintf("/proc/%d", pid)) && exists("/proc/self") {
		t.Errorf("the client, process %d, still runs (pane was %d)", pid, a.PanePID)
	}
	ev := w.events("session.stopped")
	if len(ev) != 1 || ev[0].Operator != "ann" || ev[0].Payload["reason"] != "done for today" || ev[0].OpID != rec.Operation.ID {
		t.Errorf("%+v", ev)
	}
	w.refuse("session_not_live", 1, "seat", "stop", "dev.a", "--reason", "r")
	w.refuse("nothing_to_clean", 1, "seat", "clean", "dev.a", "--reason", "r")
	w.refuse("session_live", 1, "seat", "clean", "dev.b", "--reason", "r")

	w.must("send", "dev.b", "echo last-$((40+2)); exit 3")
	pane := w.seat("dev.b").Pane
	w.eventually("the dead pane is seen", func() (bool, string) {
		s := w.seat("dev.b")
		// The supervisor stays a moment after its client, so that its words are read.
		dead := w.tmux("display-message", "-p", "-t", pane, "#{pane_dead}")
		return s.Life == "dead" && dead == "1", s.Life + ", pane dead: " + dead
	})
	w.refuse("session_not_live", 1, "seat", "stop", "dev.b", "--reason", "r")
	if out := w.must("capture", "dev.b"); !strings.Contains(out, "last-42") {
		t.Errorf("its last output is lost:\n%s", out)
	}
	w.act("clean", "dev.b", "--reason", "it died")
	if got := w.sessions(); got != "dev-ab@sc" {
		t.Errorf("the kept pane is left: %s", got)
	}
	var d struct {
		Occupants []struct {
			Status string `json:"status"`
			Exit   int    `json:"exit_code"`
		} `json:"occupants"`
	}
	w.into(&d, "seat", "status", "dev.b")
	if len(d.Occupants) != 1 || d.Occupants[0].Status != "exited" || d.Occupants[0].Exit != 3 {
		t.Errorf("%+v", d)
	}
	w.act("launch", "dev.b", "--fresh", "--reason", "again")
	if s := w.seat("dev.b"); s.Life != "running" || s.Generation != 2 {
		t.Errorf("%+v", s)
	}
}

// TestCleanSeesAClientThatOutlivedItsPane: the pane is gone, and a client that
// nobody sees still works in the directory.
func TestCleanSeesAClientThatOutlivedItsPane(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("out", "a:terminal", "b:terminal"))
	w.must("send", "dev.a", `exec sh -c 'trap "" HUP TERM; echo deaf-$((40+2)); while :; do sleep 0.05; done'`, "--verify")
	w.screenHas("dev.a", "deaf-42")
	pane := w.seat("dev.a").Pane
	w.tmux("kill-pane", "-t", pane)
	refused := w.run("seat", "clean", "dev.a", "--reason", "r", "--json")
	if !strings.Contains(refused.out, `"session_live"`) {
		t.Errorf("%s%s", refused.out, refused.err)
	}
	w.eventually("it is gone and can be cleaned", func() (bool, string) {
		r := w.run("seat", "clean", "dev.a", "--reason", "r", "--json")
		// The first try above may have come after its end, and cleaned already.
		return r.code == 0 || strings.Contains(r.out, "nothing_to_clean"), r.out + r.err
	})
}

// TestFreshLaunchOfTheLastSession: ending it ends the tmux server, and a new one
// is started.
func TestFreshLaunchOfTheLastSession(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("last", "a:claude-code"))
	w.must("send", "dev.a", "remember the codeword is HERON", "--verify")
	w.must("wait", "dev.a", "--until", "idle")
	w.refuse("session_live", 1, "seat", "launch", "dev.a", "--fresh", "--reason", "r")
	w.act("set-model", "dev.a", "--model", "claude-next-1", "--reason", "try it")
	server := w.tmux("display-message", "-p", "#{pid}")
	plan := w.must("seat", "launch", "dev.a", "--fresh", "--stop", "--reason", "start over", "--dry-run")
	if !strings.Contains(plan, "end tmux session dev-a@last  — cannot be undone") || !strings.Contains(plan, "generation: 1 → 2") {
		t.Errorf("the plan does not say so:\n%s", plan)
	}
	rec := w.act("launch", "dev.a", "--fresh", "--stop", "--reason", "start over")
	if w.tmux("display-message", "-p", "#{pid}") == server {
		t.Error("the server was to be a new one")
	}
	s := w.seat("dev.a")
	if s.Life != "running" || s.Generation != 2 || s.Continuity != "fresh" || s.Previous != "dev-a@last (generation 1)" || s.Binding != "" {
		t.Errorf("%+v", s)
	}
	argv, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", int(rec.Seats[0].Evidence["pid"].(float64))))
	if err == nil && !strings.Contains(string(argv), "--model\x00claude-next-1\x00") {
		t.Errorf("the launch does not use the model: %q", argv)
	}
	w.must("send", "dev.a", "what do you remember about codeword", "--verify")
	w.must("wait", "dev.a", "--until", "idle")
	if out := w.must("capture", "dev.a", "--lines", "200"); strings.Contains(out, "HERON") {
		t.Errorf("a blank occupant knows:\n%s", out)
	}
	var kinds []string
	for _, e := range w.events() {
		if e.OpID == rec.Operation.ID {
			kinds = append(kinds, e.Type)
		}
	}
	if strings.Join(kinds, " ") != "seat.fresh_launched session.stopped" { // newest first
		t.Errorf("events: %v", kinds)
	}
	w.must("down", "last")
	w.must("up", "last")
	if s := w.seat("dev.a"); s.Generation != 3 || s.Continuity == "failed" {
		t.Errorf("after down and up: %+v", s)
	}
}

// TestSetResumeToken feeds what was once stored, resumes from a token that was
// set, and looks for the token in everything the product wrote.
func TestSetResumeToken(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("tok", "a:claude-code", "b:terminal"))
	w.must("send", "dev.a", "remember the codeword is HERON", "--verify")
	w.must("wait", "dev.a", "--until", "idle")
	old := w.liveToken()
	w.act("launch", "dev.a", "--fresh", "--stop", "--reason", "r")
	said := ""
	set := func(input string, args ...string) result {
		r := w.runIn(w.project, []byte(input), append([]string{"seat", "set-resume-token", "dev.a", "--token-stdin", "--reason", "r"}, args...)...)
		said += r.out + r.err
		return r
	}
	table, err := os.ReadFile("../../testdata/cases/B41-token-inputs.tsv")
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for _, line := range strings.Split(strings.TrimSuffix(string(table), "\n"), "\n")[1:] {
		input, expected, _ := strings.Cut(line, "\t")
		input = strings.ReplaceAll(input, `\n`, "\n")
		r := set(input, "--json")
		want := 1
		switch {
		case strings.HasPrefix(expected, "accept"):
			want = 0
		case strings.TrimSpace(input) == "":
			want = 2
		}
		if want > 0 {
			refused++
		}
		if r.code != want {
			t.Errorf("%q: exit %d, want %d\n%s%s", input, r.code, want, r.out, r.err)
		}
	}
	if exists("/tmp/pwned") {
		t.Error("a token was executed")
	}
	if ev := w.events("session.resume_token_refused"); len(ev) != refused || ev[0].Seat != "dev-a@tok" {
		t.Errorf("%d refusals are on record, want %d", len(ev), refused)
	}
	if r := set("nonsense", "--dry-run"); r.code != 1 || len(w.events("session.resume_token_refused")) != refused {
		t.Errorf("a dry run that is refused: exit %d, or it left an event", r.code)
	}
	if r := set(old + "\n"); r.code != 0 {
		t.Fatalf("%s%s", r.out, r.err)
	}
	w.act("stop", "dev.a", "--reason", "r")
	w.must("launch", "tok", "dev.a")
	if s := w.seat("dev.a"); s.Continuity != "resumed" || s.Life != "running" {
		t.Fatalf("%+v", s)
	}
	w.must("send", "dev.a", "what do you remember about codeword", "--verify")
	w.screenHas("dev.a", "HERON")
	said += fmt.Sprint(w.events(), w.ops()) + w.must("op", "list") + w.must("ps", "--json") + w.must("explain", "dev.a") + w.must("seat", "status", "dev.a", "--json")
	if strings.Contains(said, old) || strings.Contains(said, "5e550041-0000") {
		t.Error("an output quotes a token")
	}
	for _, f := range w.ownFiles() {
		b, err := os.ReadFile(f)
		if err == nil && strings.Contains(string(b), old) && !strings.HasPrefix(filepath.Base(f), "rig.db") && !strings.Contains(f, "/spool/") {
			t.Errorf("%s holds the token", f)
		}
	}
}

// liveToken gives the conversation id of the one client that runs.
func (w *world) liveToken() string {
	w.t.Helper()
	list, err := filepath.Glob(filepath.Join(w.home, ".claude", "sessions", "*.json"))
	if err != nil || len(list) != 1 {
		w.t.Fatalf("%v %v", list, err)
	}
	b, err := os.ReadFile(list[0])
	if err != nil {
		w.t.Fatal(err)
	}
	m := regexp.MustCompile(`"sessionId":\s*"([0-9a-f-]{36})"`).FindSubmatch(b)
	if m == nil {
		w.t.Fatalf("no id in %s", b)
	}
	return string(m[1])
}

// ownFiles lists the files that the product keeps.
func (w *world) ownFiles() []string {
	w.t.Helper()
	var out []string
	err := filepath.WalkDir(filepath.Join(w.dir, "rig"), func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// TestClearAttentionAfterAGate: the client asks for trust, a person answers it in
// the pane, and the evidence clears the attention.
func TestClearAttentionAfterAGate(t *testing.T) {
	w := newWorld(t)
	w.write("home/.claude.json", `{"hasCompletedOnboarding":true,"projects":{}}`)
	if r := w.run("up", w.spec("gate", "a:claude-code")); r.code != 1 {
		t.Fatalf("a start at a gate: exit %d\n%s%s", r.code, r.out, r.err)
	}
	w.refuse("not_demonstrably_responsive", 1, "seat", "clear-attention", "dev.a")
	before := w.must("capture", "dev.a")
	s := w.seat("dev.a")
	if s.Life != "attention_required" || s.Token {
		t.Errorf("%+v", s)
	}
	w.tmux("send-keys", "-t", s.Pane, "Down", "Enter")
	w.must("wait", "dev.a", "--until", "idle", "--timeout", "30s")
	rec := w.act("clear-attention", "dev-a@gate")
	ev := rec.Seats[0].Evidence
	if ev["cleared_by"] != "evidence" || ev["from"] != "attention_required" || ev["to"] != "ready" || !strings.HasPrefix(fmt.Sprint(ev["previous_error"]), "trust_gate") {
		t.Errorf("%+v", ev)
	}
	if s := w.seat("dev.a"); s.Startup != "ready" || s.Life != "running" || !s.Token || len(s.Attention) != 0 {
		t.Errorf("%+v\nwas at\n%s", s, before)
	}
	w.refuse("not_in_attention", 1, "seat", "clear-attention", "dev.a", "--reason", "again")
	w.must("seat", "stop", "dev.a", "--reason", "r")
}

// TestWrongProcessInThePane: somebody respawns the seat's pane. It is attention,
// no word clears it, and only the seat's own conversation does.
func TestWrongProcessInThePane(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("id", "a:claude-code"))
	w.must("send", "dev.a", "remember the codeword is HERON", "--verify")
	w.must("wait", "dev.a", "--until", "idle")
	token, pane := w.liveToken(), w.seat("dev.a").Pane
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w.tmux("respawn-pane", "-k", "-t", pane, "sleep 1000")
	s := w.seat("dev.a")
	if s.Life != "attention_required" || s.Activity.State != "unknown" || len(s.Attention) != 1 || !strings.HasPrefix(s.Attention[0], "identity/") {
		t.Fatalf("%+v", s)
	}
	w.refuse("not_demonstrably_responsive", 1, "seat", "clear-attention", "dev.a", "--reason", "I vouch for it")
	w.refuse("session_live", 1, "seat", "clean", "dev.a", "--reason", "r")
	// No verb takes the stranger for the occupant.
	var rec struct {
		OK    bool `json:"ok"`
		Seats []struct {
			Outcome string `json:"outcome"`
			Action  string
			Error   struct{ Code, Hint string }
		} `json:"seats"`
	}
	if r := w.into(&rec, "up", "id"); r.code != 1 || rec.OK || len(rec.Seats) != 1 || rec.Seats[0].Outcome != "attention_required" ||
		rec.Seats[0].Error.Code != "process_identity_mismatch" || !strings.Contains(rec.Seats[0].Error.Hint, "clear-attention dev-a@id") {
		t.Errorf("up: exit %d %+v", r.code, rec)
	}
	for _, verb := range [][]string{{"down", "id", "--reason", "r"}, {"handover", "dev.a", "--reason", "r"}, {"seat", "stop", "dev.a", "--reason", "r"}} {
		if r := w.run(append(verb, "--dry-run")...); !strings.Contains(r.out+r.err, "dev-a@id is not what runs in its pane: its pane was started anew") {
			t.Errorf("%v does not say whom it meets:\n%s%s", verb, r.out, r.err)
		}
	}
	w.tmux("respawn-pane", "-k", "-c", w.project, "-t", pane, "env RIG_TEST_MAIN=1 "+self+" agentsim claude --resume "+token)
	w.eventually("the resumed conversation is proven", func() (bool, string) {
		r := w.run("seat", "clear-attention", "dev.a")
		return r.code == 0, r.out + r.err
	})
	if s := w.seat("dev.a"); s.Life != "running" || s.Activity.State != "idle" || len(s.Attention) != 0 || s.Generation != 1 {
		t.Errorf("%+v", s)
	}
	w.act("launch", "dev.a", "--fresh", "--stop", "--reason", "r")
}

// TestConversationInTwoPanes: the seat's conversation is opened once more, by hand,
// in a session that nobody manages.
func TestConversationInTwoPanes(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("two", "a:claude-code"))
	w.must("send", "dev.a", "remember the codeword is HERON", "--verify")
	w.must("wait", "dev.a", "--until", "idle")
	token := w.liveToken()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w.eventually("the client has written it", func() (bool, string) {
		files, err := filepath.Glob(filepath.Join(w.home, ".claude", "projects", "*", token+".jsonl"))
		return len(files) == 1, fmt.Sprint(files, err)
	})
	w.tmux("new-session", "-d", "-s", "mine", "-c", w.project, "env RIG_TEST_MAIN=1 HOME="+w.home+" "+self+" agentsim claude --resume "+token)
	w.eventually("it is noticed", func() (bool, string) {
		s := w.seat("dev.a")
		return len(s.Attention) == 1 && strings.HasPrefix(s.Attention[0], "shared_conversation/"), fmt.Sprint(s.Attention)
	})
	w.tmux("kill-session", "-t", "=mine:")
	w.eventually("it is forgotten", func() (bool, string) {
		s := w.seat("dev.a")
		return len(s.Attention) == 0, fmt.Sprint(s.Attention)
	})
}

func TestSeatDryRunsLeaveNoTrace(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("dry", "a:claude-code", "b:terminal"))
	w.must("send", "dev.b", "exit 3")
	w.eventually("b is dead", func() (bool, string) { s := w.seat("dev.b"); return s.Life == "dead", s.Life })
	w.eventually("its pane too, a moment later", func() (bool, string) {
		out := w.tmux("list-panes", "-t", "=dev-b@dry:", "-F", "#{pane_dead}")
		return strings.TrimSpace(out) == "1", out
	})
	before := w.trace()
	for _, args := range [][]string{
		{"stop", "dev.a"},
		{"stop", "dev.b"},
		{"clean", "dev.a"},
		{"clean", "dev.b"},
		{"launch", "dev.a", "--fresh"},
		{"launch", "dev.a", "--fresh", "--stop"},
		{"launch", "dev.b", "--fresh"},
		{"set-model", "dev.a", "--model", "m"},
		{"set-resume-token", "dev.a", "--token-stdin"},
		{"clear-attention", "dev.a"},
	} {
		r := w.runIn(w.project, []byte("5e550041-0000-4000-8000-00000000a041"), append(append([]string{"seat"}, args...), "--reason", "r", "--dry-run", "--json")...)
		var doc struct {
			DryRun bool `json:"dry_run"`
			Plan   struct {
				Fingerprint string `json:"fingerprint"`
				Command     string `json:"command"`
				Basis       []any  `json:"basis"`
			} `json:"plan"`
		}
		if err := json.Unmarshal([]byte(r.out), &doc); err != nil || !doc.DryRun || doc.Plan.Fingerprint == "" || len(doc.Plan.Basis) == 0 || doc.Plan.Command == "" {
			t.Errorf("%v: exit %d\n%s%s", args, r.code, r.out, r.err)
		}
		if after := w.trace(); after != before {
			t.Fatalf("%v left a trace:\n%s\n---\n%s", args, before, after)
		}
	}
}

// TestManyStopsOfOneSeat: processes that plan and apply at once; one stops it, the
// others are refused, and nothing is left.
func TestManyStopsOfOneSeat(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("many", "a:terminal", "b:terminal"))
	const n = 12
	won, refused := w.race(n, "seat", "stop", "dev.a", "--reason", "race")
	if won != 1 || refused["operation_in_progress"]+refused["plan_stale"]+refused["session_not_live"] != n-1 {
		t.Fatalf("%d succeeded, refusals %v", won, refused)
	}
	if got := w.sessions(); got != "dev-b@many" {
		t.Errorf("sessions: %s", got)
	}
}

// TestFreshLaunchKilledAtEveryStep kills the process of a launch right before and
// right after each step; then the operation is rolled back or finished, and the
// seat can be launched.
func TestFreshLaunchKilledAtEveryStep(t *testing.T) {
	for _, step := range []string{"stop", "stopped", "mark", "create", "ready", "identify", "commit"} {
		for _, when := range []string{"before", "after"} {
			t.Run(when+"-"+step, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.must("up", w.spec("fk", "a:claude-code", "b:terminal"))
				w.setenv("TEST_KILL_AT", when+":dev-a@fk/"+step)
				r := w.run("seat", "launch", "dev.a", "--fresh", "--stop", "--reason", "r")
				w.setenv("TEST_KILL_AT", "")
				op := w.ops()[0]
				if r.code == 0 || op.State != "unfinished" {
					t.Fatalf("exit %d, the operation reads %s\n%s%s", r.code, op.State, r.out, r.err)
				}
				w.refuse("operation_unfinished", 1, "seat", "set-model", "dev.a", "--model", "m", "--reason", "r")
				verb, generation := "rollback", int64(1)
				if when == "after" && step == "commit" {
					verb, generation = "finish", 2
				}
				w.must("op", verb, op.ID)
				s := w.seat("dev.a")
				panes := strings.Count(" "+w.sessions()+" ", " dev-a@fk ")
				bound := 0
				if s.Life == "running" {
					bound = 1
				}
				if s.Generation != generation || panes != bound {
					t.Errorf("%+v, %d sessions", s, panes)
				}
				w.act("launch", "dev.a", "--fresh", "--stop", "--reason", "again")
				if s := w.seat("dev.a"); s.Life != "running" || s.Generation != generation+1 || w.sessions() != "dev-a@fk dev-b@fk" {
					t.Errorf("%+v, %s", s, w.sessions())
				}
			})
		}
	}
}
