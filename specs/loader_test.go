package specs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"rig/engine"
)

// reviewRig has one member with an agent of its own.
const reviewRig = head + `      - id: review
        runtime: claude-code
        agent_ref: agents/reviewer
        profile: reviewer
        cwd: src
        startup: {files: [{path: own.md}]}
`

func reviewFiles() map[string]string {
	return map[string]string{
		"rig.yaml": "culture_file: culture.md\nstartup: {files: [{path: rig.md}]}\n" + reviewRig,
		"own.md":   "o", "rig.md": "r", "culture.md": "c", "src/x": "",
		"agents/reviewer/agent.yaml": agentText, "agents/reviewer/role.md": "role", "agents/reviewer/strict.md": "strict",
	}
}

func load(t *testing.T, dir, ref string) (engine.RigSpec, error) {
	t.Helper()
	return Loader{Dir: dir}.Load(t.Context(), ref, engine.SpecOptions{})
}

func TestLoadResolves(t *testing.T) {
	dir := write(t, reviewFiles())
	spec, err := load(t, dir, "rig.yaml")
	if err != nil {
		t.Fatal(err)
	}
	m := spec.Pods[0].Members[0]
	if m.Cwd != filepath.Join(dir, "src") || m.Model != "claude-opus-5" || m.RestorePolicy != engine.RestoreFresh {
		t.Errorf("member %+v", m)
	}
	var layers []string
	for _, f := range m.Launch.Files {
		rel, err := filepath.Rel(dir, f.Abs)
		if err != nil {
			t.Fatal(err)
		}
		layers = append(layers, rel)
	}
	want := []string{"agents/reviewer/role.md", "agents/reviewer/strict.md", "culture.md", "rig.md", "own.md"}
	if !reflect.DeepEqual(layers, want) || len(m.Launch.Actions) != 1 {
		t.Errorf("layers %v, want %v; %d actions", layers, want, len(m.Launch.Actions))
	}
	if spec.Root != dir || spec.Path != filepath.Join(dir, "rig.yaml") || len(spec.Digest) != 64 {
		t.Errorf("root %s, path %s, digest %s", spec.Root, spec.Path, spec.Digest)
	}
}

func TestLoadPreferences(t *testing.T) {
	files := reviewFiles()
	member := func(change ...string) engine.MemberSpec {
		t.Helper()
		files["rig.yaml"] = strings.NewReplacer(change...).Replace("permission_policy: builtin:open\n" + reviewRig)
		spec, err := load(t, write(t, files), "rig.yaml")
		if err != nil {
			t.Fatal(err)
		}
		return spec.Pods[0].Members[0]
	}
	if m := member(); m.PermissionPolicy != "builtin:open" {
		t.Errorf("the rig's policy does not reach the member: %+v", m)
	}
	if m := member("cwd: src", "cwd: src\n        model: mine\n        permission_policy: builtin:locked"); m.Model != "mine" || m.PermissionPolicy != "builtin:locked" {
		t.Errorf("the member's own word must count: %+v", m)
	}
	if m := member("profile: reviewer", "profile: default"); m.Model != "claude-sonnet-5" || m.RestorePolicy != engine.RestoreResume {
		t.Errorf("the agent's defaults must count: %+v", m)
	}
	// A model meant for Codex is not given to Claude Code.
	if m := member("profile: reviewer", "profile: porter"); m.Model != "claude-sonnet-5" {
		t.Errorf("a model of another runtime was taken over: %+v", m)
	}
	if m := member("profile: reviewer", "profile: porter", "claude-code", "codex"); m.Model != "gpt-5.2-codex" {
		t.Errorf("the profile's model must count: %+v", m)
	}
	if m := member("agents/reviewer", "agents/reviewer/agent.yaml"); m.Model != "claude-opus-5" {
		t.Errorf("a file is an agent too: %+v", m)
	}
}

func TestLoadReportsWhatDoesNotResolve(t *testing.T) {
	files := reviewFiles()
	files["rig.yaml"] = "culture_file: gone.md\n" + reviewRig + keys("restore_policy: resume_if_possible") + strings.Replace(agent, "cwd: .", "cwd: nowhere", 1) +
		keys("session_source: {mode: rebuild, ref: {kind: artifact_set, value: [own.md, lost.md]}}") +
		"      - {id: a, runtime: codex, agent_ref: agents/none, profile: p, cwd: .}\n" +
		"      - {id: b, runtime: codex, agent_ref: agents/reviewer, profile: reviwer, cwd: own.md}\n" +
		"      - {id: c, runtime: codex, agent_ref: agents/broken, profile: p, cwd: .}\n" +
		"      - {id: d, runtime: codex, agent_ref: agents/broken, profile: p, cwd: .}\n" +
		"      - {id: e, runtime: claude-code, agent_ref: agents/reviewer, profile: reviewer, cwd: .}\n"
	files["agents/broken/agent.yaml"] = "name: x\nversion: 1\nprofiles: {p: {session_source: {}}}\n"
	delete(files, "own.md")
	delete(files, "agents/reviewer/role.md")
	files["own.md/keep"] = ""
	dir := write(t, files)
	_, err := load(t, dir, "rig.yaml")
	e := codeOf(t, err, engine.CodeValidationFailed)
	var got []string
	for _, p := range e.Err.(*Problems).List() {
		got = append(got, strings.ReplaceAll(p.Error(), dir+"/", ""))
	}
	golden(t, "unresolved.golden", strings.Join(got, "\n")+"\n")
}

func TestLoadRefuses(t *testing.T) {
	dir := write(t, map[string]string{"plain": head + agent, "rig.yaml": head + agent, "bad.yaml": "name: 7\n", "folder/x": ""})
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	for ref, want := range map[string]struct {
		code engine.Code
		hint string
	}{
		"":            {engine.CodeInvalid, "rig spec list"},
		"gone.yaml":   {engine.CodeNotFound, "check the path"},
		"./folder":    {engine.CodeInvalid, "YAML file in it"},
		"pipe.yaml":   {engine.CodeInvalid, "YAML file"},
		"shell":       {engine.CodeNotFound, "did you mean shells"},
		"plain":       {engine.CodeNotFound, "./plain"},
		"../../etc":   {engine.CodeNotFound, "check the path"},
		"bad.yaml":    {engine.CodeValidationFailed, "rig spec validate bad.yaml"},
		"builtin:xyz": {engine.CodeNotFound, "shells"},
	} {
		_, err := load(t, dir, ref)
		if e := codeOf(t, err, want.code); !strings.Contains(e.Hint, want.hint) {
			t.Errorf("%q: hint %q, want %q", ref, e.Hint, want.hint)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (Loader{Dir: dir}).Load(ctx, "rig.yaml", engine.SpecOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled load: %v", err)
	}
	if _, err := (Loader{Dir: dir}).Load(t.Context(), "rig.yaml", engine.SpecOptions{Env: map[string]string{"RIG_X": "1"}}); engine.CodeOf(err) != engine.CodeInvalid {
		t.Errorf("a reserved variable: %v", err)
	}
	if spec, err := load(t, dir, "./plain"); err != nil || spec.Name != "shop" {
		t.Errorf("a file without an ending: %v", err)
	}
	huge := filepath.Join(dir, "huge.yaml")
	if err := os.WriteFile(huge, make([]byte, 10<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := load(t, dir, "huge.yaml")
	if e := codeOf(t, err, engine.CodeValidationFailed); !strings.Contains(e.Error(), "more than 1048576 bytes") {
		t.Errorf("ten megabytes: %v", e)
	}
}

func TestValidateDoesNotResolve(t *testing.T) {
	dir := write(t, map[string]string{
		"rig.yaml": head + strings.Replace(agent, "builtin:agent", "local:agents/none", 1), "a/agent.yaml": "name: x\n", "bad.yaml": "name: 7\n",
	})
	l := Loader{Dir: dir}
	for ref, faults := range map[string]int{"rig.yaml": 0, "a/agent.yaml": 1, "bad.yaml": 3, "demo": 0} {
		res, err := l.Validate(ref)
		if err != nil || len(res.Problems) != faults || (res.Err() == nil) != (faults == 0) {
			t.Errorf("%s: %v, %v", ref, res.Problems, err)
		}
	}
	_, err := l.Validate("none.yaml")
	codeOf(t, err, engine.CodeNotFound)
}

func TestLoadOptions(t *testing.T) {
	dir := write(t, map[string]string{"specs/rig.yaml": head + agent + keys("env: {A: \"1\", B: \"2\"}") + strings.Replace(shell, "cwd: .", "cwd: "+os.TempDir(), 1), "work/x": ""})
	spec, err := Loader{Dir: dir}.Load(t.Context(), "specs/rig.yaml", engine.SpecOptions{Cwd: "work", Env: map[string]string{"B": "3", "C": "4"}})
	if err != nil {
		t.Fatal(err)
	}
	m := spec.Pods[0].Members
	if m[0].Cwd != filepath.Join(dir, "work") || m[1].Cwd != filepath.Clean(os.TempDir()) || spec.Root != filepath.Join(dir, "specs") {
		t.Errorf("cwd %s and %s, root %s", m[0].Cwd, m[1].Cwd, spec.Root)
	}
	if want := map[string]string{"A": "1", "B": "3", "C": "4"}; !reflect.DeepEqual(m[0].Env, want) {
		t.Errorf("env %v, want %v", m[0].Env, want)
	}
}

func TestStarters(t *testing.T) {
	dir := t.TempDir()
	l := Loader{Dir: dir}
	list := List()
	if len(list) < 3 {
		t.Fatalf("only %d starters", len(list))
	}
	noAgents := 0
	for _, s := range list {
		spec, err := load(t, dir, s.Name)
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		if spec.Name != s.Name || s.Summary == "" || s.Seats != len(spec.Logicals()) || spec.Path != "builtin:"+s.Name || len(spec.Advisories) > 0 {
			t.Errorf("%+v is not %s with %d seats", s, spec.Name, len(spec.Logicals()))
		}
		if spec.Pods[0].Members[0].Cwd != dir {
			t.Errorf("%s works in %s", s.Name, spec.Pods[0].Members[0].Cwd)
		}
		if _, err := engine.LaunchOrder(spec); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
		if reflect.DeepEqual(s.Runtimes, []engine.RuntimeName{engine.RuntimeTerminal}) {
			noAgents++
		}
		if !l.IsStarter(s.Name) {
			t.Errorf("%s is no starter", s.Name)
		}
	}
	if noAgents == 0 {
		t.Error("no starter runs without an agent")
	}
	if l.IsStarter("../starters/demo") || l.IsStarter("nope") || l.IsStarter("") {
		t.Error("only names in the list are starters")
	}
}
