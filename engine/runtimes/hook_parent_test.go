package runtimes

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rig/engine"
)

// TestHooksKeepNothingOfAForksSource: an older client names the source in the
// event of the fork's own start (B37), a status line could; neither leaves it in
// a file of the new seat, and both stay readable.
func TestHooksKeepNothingOfAForksSource(t *testing.T) {
	const parent, other = "5e550037-0000-4000-8000-00000000a037", "5e550097-0000-4000-8000-00000000a097"
	f := NewFiles(t.TempDir(), self(t), self(t))
	if _, err := f.WriteLaunch("S1", launchFile()); err != nil {
		t.Fatal(err)
	}
	start := engine.StartFork{Parent: engine.NewParentToken(parent), NewID: other}
	line, err := NewClaude(testConfig(t)).Line(engine.LaunchRequest{Address: "a-b@c", Seat: engine.Seat{Runtime: engine.RuntimeClaude, Cwd: t.TempDir()}, Start: start})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(strings.Join(line.Env, "\n"), parent) {
		t.Error("the environment names the source")
	}
	env := append(line.Env, SpoolEnv+"="+f.SpoolDir("S1"), "HOME="+t.TempDir())
	payload := readFile(t, filepath.Join(cases, "B37-hook-parent-id.json"))
	for _, in := range []string{payload, strings.ReplaceAll(payload, parent, strings.ToUpper(parent))} {
		if code := Hook(strings.NewReader(in), nil, env, []string{"SessionStart"}, nil); code != 0 {
			t.Fatal(code)
		}
	}
	Hook(strings.NewReader(`{"session_id":"`+other+`","prompt":"`+parent+`,`+parent+other+`"}`), nil, env, []string{"UserPromptSubmit"}, nil)
	StatusLine(strings.NewReader(`{"session_id":"`+parent+`","transcript_path":"/x/`+parent+`.jsonl"}`), &strings.Builder{}, env)
	entries, err := os.ReadDir(f.SpoolDir("S1"))
	if err != nil || len(entries) != 4 {
		t.Fatalf("%v %v", entries, err)
	}
	all := ""
	for _, e := range entries {
		text := readFile(t, filepath.Join(f.SpoolDir("S1"), e.Name()))
		all += text
		if !json.Valid([]byte(text)) {
			t.Errorf("%s is no JSON: %s", e.Name(), text)
		}
	}
	if strings.Contains(strings.ToLower(all), parent) || strings.Count(all, other) != 2 {
		t.Errorf("the source is kept, or something else is gone:\n%s", all)
	}
	// A source that is struck out is no identity either.
	p := claudeProbe(t, t.TempDir())
	p.Parent = start.Parent
	if p.Signals, err = f.Signals("S1"); err != nil {
		t.Fatal(err)
	}
	p.Signals.Hooks = p.Signals.Hooks[:2]
	if id := NewClaude(testConfig(t)).Identify(t.Context(), p); !id.Token.Empty() || id.Proven {
		t.Errorf("%+v", id)
	}
}

// TestHooksOfOthersAreKeptWhole: without a fork nothing is struck out.
func TestHooksOfOthersAreKeptWhole(t *testing.T) {
	in := []byte(`{"session_id":"5e550037-0000-4000-8000-00000000a037"}`)
	for _, env := range [][]string{nil, {parentEnv + "="}, {parentEnv + "=" + engine.ConversationDigest("5e550097-0000-4000-8000-00000000a097")}} {
		if got := withoutParent(in, env); string(got) != string(in) {
			t.Errorf("%v: %s", env, got)
		}
	}
	if forkEnv(engine.StartFresh{SessionID: "x"}) != nil || forkEnv(engine.StartResume{}) != nil {
		t.Error("a start that is no fork has a source")
	}
}
