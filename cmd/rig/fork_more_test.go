package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"rig/engine"
)

// TestExpandTakesEveryMode adds to a running rig, by one fragment, a fork of a
// Codex seat, a seat from an image and one that is rebuilt; then an image is
// forked by the verb. Nothing that any verb prints, and nothing on record or in a
// file, names a parent's conversation.
func TestExpandTakesEveryMode(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("src", "a:claude-code", "b:codex"))
	w.teach("dev.a", "the word is SALAMANDER")
	w.teach("dev.b", "the word is AXOLOTL")
	w.must("agent-image", "create", "dev.a", "--name", "expert")
	w.write("project/notes.md", "the number is 42\n")
	parents := []string{w.token("dev.a"), w.token("dev.b")}
	member := func(id, rt, source string) string {
		return fmt.Sprintf("    - {id: %s, runtime: %s, agent_ref: \"builtin:agent\", profile: default, cwd: %q, session_source: %s}\n", id, rt, w.project, source)
	}
	outputs := w.must("expand", "src", w.write("more.yaml", "pod:\n  id: lab\n  label: Lab\n  members:\n"+
		member("fork", "codex", fmt.Sprintf("{mode: fork, ref: {kind: native_id, value: %q}}", parents[1]))+
		member("image", "claude-code", "{mode: agent_image, ref: {kind: image_name, value: expert}}")+
		member("built", "codex", "{mode: rebuild, ref: {kind: artifact_set, value: [project/notes.md]}}")), "--json")
	outputs += w.must("fork", "agent-image:expert", "--rig", "src", "--pod", "dev", "--member", "again")
	w.knows("lab.fork", "the word", "AXOLOTL")
	w.knows("lab.image", "the word", "SALAMANDER")
	w.knows("lab.built", "the number", "42")
	w.knows("dev.again", "the word", "SALAMANDER")
	for ref, want := range map[string]string{
		"lab.fork": "forked dev-b@src (generation 1)", "lab.image": "forked dev-a@src (generation 1), by agent image expert v1",
		"lab.built": "rebuilt ", "dev.again": "forked dev-a@src (generation 1), by agent image expert v1",
	} {
		if s := w.lineage(ref); s.Continuity+" "+s.ForkedFrom != want || s.Tenures[0].Operator == "" || s.Tenures[0].StartedAt == "" {
			t.Errorf("%s: %+v, want %s", ref, s, want)
		}
	}
	if d := w.image("show", "expert"); d.Image.Stats.Forks != 2 {
		t.Errorf("%+v", d.Image.Stats)
	}
	w.refuse("pod_not_found", 1, "fork", "agent-image:expert", "--rig", "src", "--pod", "none", "--member", "x")
	w.refuse("invalid", 2, "fork", "agent-image:expert", "--pod", "dev", "--member", "x")
	w.refuse("image_not_found", 1, "fork", "agent-image:none", "--rig", "src", "--pod", "dev", "--member", "x")
	for _, args := range [][]string{
		{"ps"},
		{"seat", "status", "lab.fork"},
		{"seat", "status", "lab.image"},
		{"events"},
		{"op", "list"},
		{"capture", "lab.fork"},
		{"capture", "lab.image"},
		{"restore-check"},
		{"agent-image", "list"},
		{"explain", "lab.image", "identity"},
		{"snapshot", "list", "src"},
		{"fork", "lab.fork", "--pod", "lab", "--member", "y", "--dry-run"},
		{"fork", "agent-image:expert", "--rig", "src", "--pod", "dev", "--member", "y", "--dry-run"},
		{"remove", "src", "lab.fork", "--dry-run"},
		{"down", "src", "--dry-run"},
	} {
		outputs += w.run(args...).out + w.run(append(args, "--json")...).out
	}
	w.must("snapshot", "src")
	for _, id := range parents {
		if i := strings.Index(outputs, id); i >= 0 {
			t.Errorf("an output names a parent's id: …%s…", outputs[max(i-200, 0):min(i+100, len(outputs))])
		}
		for _, found := range w.leaks(id) {
			if !strings.HasSuffix(found, "/manifest.yaml") {
				t.Error(found)
			}
		}
	}
}

// TestSyncReadsTheRootsAnew: a spec that is written later, and one that nobody can
// read, protect from the next look on; nothing is kept from the last one.
func TestSyncReadsTheRootsAnew(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("src", "a:claude-code"))
	w.teach("dev.a", "the word is SALAMANDER")
	w.must("agent-image", "create", "dev.a", "--name", "expert")
	sync := func() (doc struct {
		Count      int `json:"count"`
		References int `json:"references"`
		Unread     []struct{ File, Why string }
		Entries    []struct {
			Protected []engine.ImageProtection `json:"protected"`
		} `json:"entries"`
		Roots     []engine.ImageRoot `json:"roots"`
		SpecRoots []string           `json:"spec_roots"`
	},
	) {
		if err := json.Unmarshal([]byte(w.must("agent-image", "sync", "--json")), &doc); err != nil {
			t.Fatal(err)
		}
		return doc
	}
	d := sync()
	if d.Count != 1 || d.References != 0 || len(d.Entries[0].Protected) != 0 || len(d.Roots) != 2 || len(d.SpecRoots) == 0 {
		t.Fatalf("%+v", d)
	}
	w.write("project/new.yaml", "x: {session_source: {mode: agent_image, ref: {kind: image_name, value: expert}}}\n")
	w.write("project/odd.yaml", "a: [expert\n")
	d = sync()
	codes := []string{}
	for _, p := range d.Entries[0].Protected {
		codes = append(codes, p.Code)
	}
	if d.References != 1 || strings.Join(codes, " ") != "referenced_by_rig_spec unreadable_spec" {
		t.Errorf("%+v", d)
	}
	w.refuse("image_referenced", 1, "agent-image", "delete", "expert")
}

// TestPacketsOfAForkNameNoParent: what is written for the successor of a forked
// seat tells of the child's conversation alone. One child came from a client that
// names the parent in its start event.
func TestPacketsOfAForkNameNoParent(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("src", "a:claude-code", "b:codex"))
	w.teach("dev.a", "the word is SALAMANDER")
	w.teach("dev.b", "the word is AXOLOTL")
	parents := []string{w.token("dev.a"), w.token("dev.b")}
	w.setenv("AGENTSIM_FAIL", "parent-id-hook")
	w.must("fork", "dev.a", "--pod", "dev", "--member", "a2")
	w.setenv("AGENTSIM_FAIL", "")
	w.must("fork", "dev.b", "--pod", "dev", "--member", "b2")
	w.teach("dev.a2", "the colour is teal")
	w.teach("dev.b2", "the colour is ochre")
	outputs := ""
	for _, ref := range []string{"dev.a2", "dev.b2"} {
		outputs += w.must("handover", ref, "--source", "fresh", "--reason", "its context is full", "--json")
	}
	for _, id := range parents {
		if strings.Contains(outputs, id) {
			t.Error("an output names a parent's id")
		}
		for _, found := range w.leaks(id) {
			t.Error(found)
		}
	}
}
