package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rig/engine"
	"rig/store"
)

// lineageDoc is what these tests read of a seat's status beside seatDoc.
type lineageDoc struct {
	seatDoc
	ForkedFrom string `json:"forked_from"`
	Cwd        string `json:"cwd"`
	Model      string `json:"model"`
	Role       string `json:"role"`
	Tenures    []struct {
		Kind, Source, Operator, Reason string
		StartedAt                      string `json:"started_at"`
	} `json:"tenures"`
}

func (w *world) lineage(ref string) lineageDoc {
	w.t.Helper()
	var d lineageDoc
	w.into(&d, "seat", "status", ref)
	return d
}

// token reads the raw id of a seat's current occupant from the record, as only a
// test may.
func (w *world) token(ref string) string {
	w.t.Helper()
	s := w.seat(ref)
	db, err := store.OpenReadOnly(filepath.Join(w.dir, "rig", "rig.db"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer db.Close()
	token := ""
	err = db.Read(context.Background(), func(r engine.Reader) error {
		all, err := r.Sessions(s.ID)
		for _, x := range all {
			if x.Generation == s.Generation {
				token = x.Token.Reveal()
			}
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return token
}

// sessionOf finds our id of the occupant whose conversation an id is.
func (w *world) sessionOf(id string) string {
	w.t.Helper()
	db, err := store.OpenReadOnly(filepath.Join(w.dir, "rig", "rig.db"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer db.Close()
	found := "none"
	err = db.Read(context.Background(), func(r engine.Reader) error {
		rec, err := r.Record()
		if err != nil {
			return err
		}
		for _, s := range rec.Sessions {
			if s.Token.Reveal() == id {
				found = s.ID
			}
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}

// knows asks a seat for something and waits for the answer.
func (w *world) knows(ref, subject, fact string) {
	w.t.Helper()
	w.must("send", ref, "what do you remember about "+subject+"?", "--verify")
	w.eventually(ref+" answers with the fact", func() (bool, string) {
		out := w.must("capture", ref)
		_, answer, ok := strings.Cut(out, "I remember about "+subject+": ")
		return ok && strings.Contains(answer, fact), out
	})
	w.must("wait", ref, "--until", "idle", "--timeout", "20s")
}

// teach tells a seat something and waits until it is at rest again.
func (w *world) teach(ref, fact string) {
	w.t.Helper()
	w.must("send", ref, "remember "+fact, "--verify")
	w.eventually(ref+" takes note", func() (bool, string) {
		out := w.must("capture", ref)
		return strings.Contains(out, "Noted: "+fact), out
	})
	w.must("wait", ref, "--until", "idle", "--timeout", "20s")
}

// forkSpec writes a rig whose members are forked: "id:runtime:parent".
func (w *world) forkSpec(name string, members ...string) string {
	w.t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "version: \"0.2\"\nname: %s\npods:\n  - id: kid\n    label: Kids\n    members:\n", name)
	b.WriteString(w.forkMembers(6, members...))
	return w.write(name+".yaml", b.String())
}

func (w *world) forkMembers(indent int, members ...string) string {
	var b strings.Builder
	pad := strings.Repeat(" ", indent)
	for _, m := range members {
		part := strings.SplitN(m, ":", 3)
		fmt.Fprintf(&b, "%s- id: %s\n%s  runtime: %s\n%s  agent_ref: \"builtin:agent\"\n%s  profile: default\n%s  cwd: %q\n", pad, part[0], pad, part[1], pad, pad, pad, w.project)
		if part[2] != "" {
			fmt.Fprintf(&b, "%s  session_source: {mode: fork, ref: {kind: native_id, value: %q}}\n", pad, part[2])
		}
	}
	return b.String()
}

// leaks lists where a parent's id stands that must not be: the record but for the
// column of resume tokens, and every file below RIG_HOME but the record itself and
// what the parent's own client reports of itself.
func (w *world) leaks(id string) []string {
	w.t.Helper()
	var out []string
	own := w.sessionOf(id)
	db, err := store.OpenReadOnly(filepath.Join(w.dir, "rig", "rig.db"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer db.Close()
	dump, err := db.Dump(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, line := range strings.Split(dump, "\n") {
		if strings.Contains(line, id) {
			out = append(out, "record: "+line)
		}
	}
	err = filepath.WalkDir(filepath.Join(w.dir, "rig"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), "rig.db") || strings.Contains(path, "/spool/"+own+"/") {
			return err
		}
		b, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(b), id) {
			out = append(out, path)
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// TestForkOfASpec forks a seat of each client from a spec: the child knows what
// the parent knew, has an id of its own, and comes back as itself; the parent
// goes on untouched, and its id stands nowhere but on its own row.
func TestForkOfASpec(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("src", "a:claude-code", "b:codex"))
	w.teach("dev.a", "the word is SALAMANDER")
	w.teach("dev.b", "the word is AXOLOTL")
	parents := map[string]string{"a": w.token("dev.a"), "b": w.token("dev.b")}
	before := map[string]seatDoc{"a": w.seat("dev.a"), "b": w.seat("dev.b")}
	outputs := w.must("up", w.forkSpec("kids", "a:claude-code:"+parents["a"], "b:codex:"+parents["b"]), "--json")
	children := map[string]string{}
	for _, id := range []string{"a", "b"} {
		s := w.lineage("kid." + id)
		children[id] = w.token("kid." + id)
		if s.Continuity != "forked" || s.Life != "running" || !s.Token || s.Generation != 1 {
			t.Errorf("child %s: %+v", id, s)
		}
		if want := "dev-" + id + "@src (generation 1)"; s.ForkedFrom != want || s.Tenures[0].Source != want || s.Tenures[0].Kind != "fork" || s.Tenures[0].Operator == "" {
			t.Errorf("lineage of %s: %q %+v", id, s.ForkedFrom, s.Tenures)
		}
		if children[id] == "" || engine.SameNativeID(children[id], parents[id]) {
			t.Errorf("the child %s holds %q, the parent %q", id, children[id], parents[id])
		}
		if now := w.seat("dev." + id); now.Pane != before[id].Pane || now.PanePID != before[id].PanePID || now.Generation != 1 || w.token("dev."+id) != parents[id] {
			t.Errorf("the parent %s was touched: %+v", id, now)
		}
	}
	w.knows("kid.a", "the word", "the word is SALAMANDER")
	w.knows("kid.b", "the word", "the word is AXOLOTL")
	w.teach("kid.a", "the colour is teal")
	w.knows("dev.a", "the word", "the word is SALAMANDER")
	w.must("down", "kids")
	outputs += w.must("up", "kids", "--json")
	for _, id := range []string{"a", "b"} {
		if s := w.lineage("kid." + id); s.Continuity != "resumed" || w.token("kid."+id) != children[id] || s.ForkedFrom == "" {
			t.Errorf("the child %s came back as %+v", id, s)
		}
	}
	w.knows("kid.a", "the colour", "the colour is teal")
	outputs += w.must("events", "--json") + w.must("ps", "--json") + w.must("seat", "status", "kid.a", "--json") + w.must("op", "list", "--json")
	for _, id := range parents {
		if strings.Contains(outputs, id) {
			t.Error("an output names a parent's id")
		}
		if found := w.leaks(id); len(found) > 0 {
			t.Errorf("a parent's id stands in %v", found)
		}
	}
}

// TestExpandWithAFork adds a forked and a plain seat to a running rig, into a pod
// that is there and into a new one, all in one directory.
func TestExpandWithAFork(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("grow", "a:claude-code", "b:claude-code"))
	w.teach("dev.a", "the word is SALAMANDER")
	w.teach("dev.b", "the word is NEWT")
	a, b := w.token("dev.a"), w.token("dev.b")
	more := w.write("more.yaml", "pod:\n  id: dev\n  members:\n"+w.forkMembers(4, "a2:claude-code:"+a, "b2:claude-code:"+b)+"  edges: [{kind: delegates_to, from: a, to: a2}]\n")
	w.must("expand", "grow", more)
	w.knows("dev.a2", "the word", "the word is SALAMANDER")
	w.knows("dev.b2", "the word", "the word is NEWT")
	if s := w.lineage("dev.a2"); s.Continuity != "forked" || s.ForkedFrom != "dev-a@grow (generation 1)" {
		t.Errorf("%+v", s)
	}
	before := w.trace()
	w.refuse("validation_failed", 1, "expand", "grow", more)
	if after := w.trace(); after != before {
		t.Error("a fragment with a member that is there left a trace")
	}
	w.must("expand", "grow", w.write("pod.yaml", "id: lab\nlabel: Lab\nmembers:\n"+w.forkMembers(2, "x:claude-code:")))
	if s := w.lineage("lab.x"); s.Continuity != "fresh" || s.ForkedFrom != "" {
		t.Errorf("%+v", s)
	}
	ids := map[string]bool{}
	for _, ref := range []string{"dev.a", "dev.b", "dev.a2", "dev.b2", "lab.x"} {
		ids[w.token(ref)] = true
	}
	if len(ids) != 5 {
		t.Errorf("five seats in one directory hold %d ids", len(ids))
	}
}

// TestForkVerb forks a seat that is busy and one that was cleared; both children
// start from what their parents write now.
func TestForkVerb(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.write("f.yaml", strings.ReplaceAll(`version: "0.2"
name: f
pods:
  - id: dev
    label: Development
    members:
      - {id: a, label: First, runtime: claude-code, agent_ref: "builtin:agent", profile: default, cwd: "CWD", model: opus, role: writer, restore_policy: relaunch_fresh, env: {WORD: one}}
      - {id: b, runtime: codex, agent_ref: "builtin:agent", profile: default, cwd: "CWD"}
`, "CWD", w.project)))
	w.teach("dev.a", "the word is SALAMANDER")
	w.must("send", "dev.a", "[[slow:30]] work", "--verify")
	w.must("wait", "dev.a", "--until", "busy", "--timeout", "20s")
	// What an earlier client of the child's name left behind does not count.
	const stale = "5e550038-0000-4000-8000-00000000a038"
	w.write("home/.claude/sessions/99999.json", `{"pid":99999,"sessionId":"`+stale+`","name":"dev-a2@f","cwd":"`+w.project+`","procStart":"1","status":"idle"}`)
	w.must("fork", "dev-a@f", "--rig", "f", "--pod", "dev", "--member", "a2", "--reason", "a second pair of eyes")
	if child := w.token("dev.a2"); child == stale || child == "" {
		t.Errorf("the child holds %q", child)
	}
	s := w.lineage("dev.a2")
	if s.Continuity != "forked" || s.Model != "opus" || s.Role != "writer" || s.Cwd != w.project || s.Tenures[0].Reason != "a second pair of eyes" {
		t.Errorf("%+v", s)
	}
	if now := w.seat("dev.a"); now.Activity.State != "busy" || now.Generation != 1 {
		t.Errorf("the busy parent: %+v", now)
	}
	w.knows("dev.a2", "the word", "the word is SALAMANDER")
	w.refuse("member_conflict", 1, "fork", "dev.a", "--pod", "dev", "--member", "b")
	w.refuse("pod_not_found", 1, "fork", "dev.a", "--pod", "none", "--member", "c")
	w.refuse("seat_not_found", 1, "fork", "dev.none", "--pod", "dev", "--member", "c")
	w.refuse("invalid", 2, "fork", "dev.a", "--pod", "dev")
}

func TestForkOfAClearedParentTakesWhatItWritesNow(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("c", "a:claude-code"))
	w.teach("dev.a", "the word is SALAMANDER")
	old := w.token("dev.a")
	w.must("send", "dev.a", "/clear")
	w.eventually("the screen is clear", func() (bool, string) {
		out := w.must("capture", "dev.a")
		return !strings.Contains(out, "SALAMANDER"), out
	})
	w.teach("dev.a", "the word is NEWT")
	w.must("fork", "dev.a", "--pod", "dev", "--member", "a2")
	w.knows("dev.a2", "the word", "the word is NEWT")
	if child := w.token("dev.a2"); child == "" || engine.SameNativeID(child, old) {
		t.Errorf("the child holds %q", child)
	}
	// The id on record is still a conversation that can be forked by its own name.
	w.must("up", w.forkSpec("kids", "old:claude-code:"+old))
	w.knows("kid.old", "the word", "the word is SALAMANDER")
}

// TestForkByAnOlderClient forks with a client whose start hook names the parent:
// the child's own registry decides.
func TestForkByAnOlderClient(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("o", "a:claude-code"))
	w.teach("dev.a", "the word is SALAMANDER")
	parent := w.token("dev.a")
	w.setenv("AGENTSIM_FAIL", "parent-id-hook")
	w.must("fork", "dev.a", "--pod", "dev", "--member", "a2")
	if s, child := w.lineage("dev.a2"), w.token("dev.a2"); s.Continuity != "forked" || child == "" || engine.SameNativeID(child, parent) {
		t.Errorf("the child holds %q: %+v", child, s)
	}
	w.knows("dev.a2", "the word", "the word is SALAMANDER")
	w.must("snapshot", "o")
	if found := w.leaks(parent); len(found) > 0 {
		t.Errorf("the parent's id stands in %v", found)
	}
}

// TestForkRefusals: what cannot be forked is refused before anything starts, with
// its own reason.
func TestForkRefusals(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("r", "a:claude-code", "b:codex", "sh:terminal"))
	w.teach("dev.a", "the word is SALAMANDER")
	w.teach("dev.b", "the word is AXOLOTL")
	const nobody = "5e550037-0000-4000-8000-00000000a037"
	before := w.trace()
	for _, rt := range []string{"claude-code", "codex"} {
		doc := w.refuse("fork_source_not_found", 1, "up", w.forkSpec("n-"+rt[:2], "x:"+rt+":"+nobody))
		if msg, _ := doc["message"].(string); !strings.Contains(msg, rt) || !strings.Contains(msg, nobody) {
			t.Errorf("the refusal does not name runtime and id: %v", msg)
		}
	}
	other := filepath.Join(w.dir, "other")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{"a:claude-code", "b:codex"} {
		id, rt, _ := strings.Cut(ref, ":")
		spec := w.forkSpec("cwd", "x:"+rt+":"+w.token("dev."+id))
		b, err := os.ReadFile(spec)
		if err != nil {
			t.Fatal(err)
		}
		spec = w.write("cwd.yaml", strings.Replace(string(b), w.project, other, 1))
		doc := w.refuse("fork_cwd_mismatch", 1, "up", spec)
		if msg, _ := doc["message"].(string); !strings.Contains(msg, other) || !strings.Contains(msg, w.project) {
			t.Errorf("the refusal does not name both directories: %v", msg)
		}
	}
	w.refuse("runtime_unsupported", 1, "fork", "dev.sh", "--pod", "dev", "--member", "x")
	for _, f := range []string{"n-cl.yaml", "n-co.yaml", "cwd.yaml"} {
		if err := os.Remove(filepath.Join(w.dir, f)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	if after := w.trace(); after != before {
		t.Errorf("refusals left a trace:\n%s\n---\n%s", before, after)
	}
}

// TestForkThatFails: a client that ends, and one that hangs. The words of the
// client are kept, the seat has no occupant, the parent's id is nowhere, and a
// later launch tries the fork again instead of a fresh start.
func TestForkThatFails(t *testing.T) {
	w := newWorld(t)
	w.write("config.yaml", "launch: {ready_timeout: 3s}\n")
	w.must("up", w.spec("p", "a:claude-code", "b:codex"))
	w.teach("dev.a", "the word is SALAMANDER")
	w.teach("dev.b", "the word is AXOLOTL")
	a, b := w.token("dev.a"), w.token("dev.b")
	w.setenv("AGENTSIM_FAIL", "exit:7:the client says "+a)
	r := w.run("up", w.forkSpec("kids", "a:claude-code:"+a, "b:codex:"+b), "--json")
	if r.code != 1 || !strings.Contains(r.out, "the client says tok_") || strings.Contains(r.out, a) {
		t.Fatalf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	w.setenv("AGENTSIM_FAIL", "hang")
	if r := w.run("launch", "kids", "kid.b", "--json"); r.code != 1 || !strings.Contains(r.out, "not_ready") {
		t.Fatalf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	for _, ref := range []string{"kid.a", "kid.b"} {
		if s := w.lineage(ref); s.Generation != 0 || s.Token || s.Life == "running" || s.ForkedFrom != "" || len(s.Tenures) != 0 {
			t.Errorf("%s counts as launched: %+v", ref, s)
		}
	}
	if out := w.tmux("list-sessions", "-F", "#{session_name}"); strings.Contains(out, "kid-") {
		t.Errorf("a session is left:\n%s", out)
	}
	if out := w.must("events", "--json"); strings.Count(out, "operation.step_failed") != 3 || !strings.Contains(out, "the client says tok_") {
		t.Errorf("the failures are not on record:\n%s", out)
	}
	w.setenv("AGENTSIM_FAIL", "")
	w.must("launch", "kids")
	w.knows("kid.a", "the word", "the word is SALAMANDER")
	if s := w.lineage("kid.b"); s.Continuity != "forked" || s.ForkedFrom != "dev-b@p (generation 1)" {
		t.Errorf("%+v", s)
	}
	for _, id := range []string{a, b} {
		if found := w.leaks(id); len(found) > 0 {
			t.Errorf("a parent's id stands in %v", found)
		}
	}
}

// TestForkAtAGate: a fork that waits for a person claims nothing; when the person
// has answered, the child's own id is taken, and never the parent's.
func TestForkAtAGate(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("g", "a:claude-code"))
	w.teach("dev.a", "the word is SALAMANDER")
	parent := w.token("dev.a")
	w.setenv("AGENTSIM_FAIL", "trust")
	if r := w.run("up", w.forkSpec("kids", "a:claude-code:"+parent), "--json"); r.code != 1 || !strings.Contains(r.out, "attention_required") || strings.Contains(r.out, parent) {
		t.Fatalf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	if s := w.lineage("kid.a"); s.Continuity != "" || s.Token || s.Startup != "attention_required" {
		t.Errorf("%+v", s)
	}
	if r := w.runIn(w.project, []byte(parent+"\n"), "seat", "set-resume-token", "kid.a", "--token-stdin", "--reason", "r", "--json"); r.code == 0 || !strings.Contains(r.out, "token_of_another_seat") || strings.Contains(r.out, parent) {
		t.Errorf("the parent's id was taken: %s", r.out)
	}
	w.tmux("send-keys", "-t", "=kid-a@kids:", "Down", "Enter") // the person answers
	w.eventually("the child is at its prompt", func() (bool, string) {
		s := w.seat("kid.a")
		return s.Activity.State == "idle", s.Activity.Why + "\n" + w.must("capture", "kid.a")
	})
	w.must("seat", "clear-attention", "kid.a")
	if s, child := w.lineage("kid.a"), w.token("kid.a"); s.Continuity != "forked" || child == "" || engine.SameNativeID(child, parent) {
		t.Errorf("%q %+v", child, s)
	}
	w.knows("kid.a", "the word", "SALAMANDER")
	if found := w.leaks(parent); len(found) > 0 {
		t.Errorf("a parent's id stands in %v", found)
	}
}
