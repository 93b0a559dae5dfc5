package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestShrinkAndRemove end the seats' own sessions and no others: an adopted
// session keeps running, and so does a stranger of a name that looks alike.
func TestShrinkAndRemove(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("s", "a:terminal", "b:terminal", "c:terminal"))
	w.must("expand", "s", w.write("lab.yaml", strings.ReplaceAll(`pod:
  id: lab
  label: Lab
  members:
    - {id: x, runtime: terminal, agent_ref: "builtin:terminal", profile: none, cwd: "CWD"}
    - {id: z, runtime: terminal, agent_ref: "builtin:terminal", profile: none, cwd: "CWD"}
  edges: [{kind: collaborates_with, from: x, to: z}]
crossPodEdges: [{kind: can_observe, from: lab.x, to: dev.a}]
`, "CWD", w.project)))
	w.tmux("new-session", "-d", "-s", "mine", "-c", w.project)
	w.tmux("new-session", "-d", "-s", "dev-a@s2", "-c", w.project)
	w.must("down", "s")
	var found struct {
		Sessions []struct {
			ID      string `json:"id"`
			Session string `json:"session"`
		} `json:"sessions"`
	}
	w.into(&found, "discover", "--rescan")
	for _, d := range found.Sessions {
		if d.Session == "mine" {
			w.must("adopt", d.ID, "lab.z")
		}
	}
	w.must("launch", "s")
	sessions := func() string { return w.tmux("list-sessions", "-F", "#{session_name}") }
	if got := sessions(); !strings.Contains(got, "lab-x@s") || !strings.Contains(got, "dev-a@s\n") {
		t.Fatalf("%s", got)
	}
	before := w.trace()
	r := w.run("shrink", "s", "lab", "--dry-run")
	if r.code != 0 || !strings.Contains(r.out, "release the adopted session mine") || !strings.Contains(r.out, "lab.x can_observe dev.a → removed") {
		t.Errorf("%s%s", r.out, r.err)
	}
	w.run("remove", "s", "dev.a", "--dry-run")
	if after := w.trace(); after != before {
		t.Error("a dry run left a trace")
	}
	w.must("shrink", "s", "lab")
	if got := sessions(); strings.Contains(got, "lab-x@s") || !strings.Contains(got, "mine") || !strings.Contains(got, "dev-a@s\n") {
		t.Errorf("%s", got)
	}
	w.refuse("seat_not_found", 1, "seat", "status", "lab.x")
	w.refuse("pod_not_found", 1, "shrink", "s", "lab")
	if out := w.must("remove", "s", "dev-a@s", "--reason", "not needed", "--dry-run"); !strings.Contains(out, "rig remove s dev.a --reason 'not needed'") {
		t.Errorf("the same in a shell is not the same: %s", out)
	}
	w.must("remove", "s", "dev-a@s", "--reason", "not needed")
	if got := sessions(); strings.Contains(got, "dev-a@s\n") || !strings.Contains(got, "dev-a@s2") {
		t.Errorf("%s", got)
	}
	w.must("remove", "s", "dev.b")
	w.refuse("last_seat", 1, "remove", "s", "dev.c")
	w.refuse("last_seat", 1, "shrink", "s", "dev")
	if s := w.seat("dev.c"); s.Life != "running" {
		t.Errorf("%+v", s)
	}
	if out := w.must("events", "--json"); strings.Count(out, `"seat.removed"`) != 4 || !strings.Contains(out, `"pod.removed"`) || !strings.Contains(out, "not needed") {
		t.Errorf("%s", out)
	}
}

// TestRebuild primes a fresh conversation with artifacts: it knows what stands in
// them, in their order, and a missing one stops the launch.
func TestRebuild(t *testing.T) {
	w := newWorld(t)
	w.write("culture.md", "the word is SALAMANDER\n")
	secret := "ghp_" + strings.Repeat("aB3dE5", 6)
	w.write("log.md", "the number is 42\nmy key is "+secret+"\n")
	spec := func(files string) string {
		return w.write("re.yaml", fmt.Sprintf(`version: "0.2"
name: re
pods:
  - id: dev
    label: Development
    members:
      - {id: a, runtime: claude-code, agent_ref: "builtin:agent", profile: default, cwd: %q, session_source: {mode: rebuild, ref: {kind: artifact_set, value: [%s]}}}
      - {id: b, runtime: codex, agent_ref: "builtin:agent", profile: default, cwd: %q, session_source: {mode: rebuild, ref: {kind: artifact_set, value: [%s]}}}
`, w.project, files, w.project, files))
	}
	w.refuse("validation_failed", 1, "up", spec("culture.md, none.md"))
	w.must("up", spec("culture.md, log.md"))
	for _, ref := range []string{"dev.a", "dev.b"} {
		s := w.lineage(ref)
		if s.Continuity != "rebuilt" || !s.Delivered || s.ForkedFrom != "" || s.Tenures[0].Kind != "rebuild" || s.Tenures[0].Source != "artifacts culture.md, log.md" {
			t.Errorf("%+v", s)
		}
		w.knows(ref, "the word", "SALAMANDER")
		w.knows(ref, "the number", "42")
	}
	var all strings.Builder
	for _, dir := range []string{".claude/projects", ".codex/sessions"} {
		err := filepath.WalkDir(filepath.Join(w.home, dir), func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := os.ReadFile(path)
			all.Write(b)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	text := all.String()
	if i, j := strings.Index(text, "culture.md"), strings.Index(text, "log.md"); i < 0 || j < i {
		t.Errorf("the artifacts do not stand in order of trust: %d %d", i, j)
	}
	if strings.Contains(text, secret) {
		t.Error("a secret went into a prompt")
	}
}
