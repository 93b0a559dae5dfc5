package specs

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rig/engine"
)

// same compares two results of parsing but for where they came from.
func same(t interface{ Errorf(string, ...any) }, a, b engine.RigSpec, text []byte) {
	for _, s := range []*engine.RigSpec{&a, &b} {
		s.Digest, s.Advisories = "", nil
	}
	if !reflect.DeepEqual(a, b) {
		t.Errorf("printing changed the spec\nbefore %#v\nafter  %#v\ntext\n%s", a, b, text)
	}
}

// TestPrintKeepsEverySpec makes specs of every shape, prints and reads them.
func TestPrintKeepsEverySpec(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		spec := genRig(rt)
		text, err := printSpec(spec)
		if err != nil {
			rt.Fatal(err)
		}
		res := ParseRig(text, Options{Root: "/srv/shop"})
		if len(res.Problems) > 0 {
			rt.Fatalf("the printed spec has faults: %v\n%s", res.Problems, text)
		}
		same(rt, spec, res.Spec, text)
	})
}

// TestPrintKeepsWrittenSpecs does the same with texts that people wrote.
func TestPrintKeepsWrittenSpecs(t *testing.T) {
	texts := map[string]string{"two pods": twoPods("[{kind: can_observe, from: a, to: b}]", "[{kind: spawned_by, from: dev.a, to: qa.c}]")}
	for _, s := range List() {
		data, _ := Open(s.Name)
		texts[s.Name] = string(data)
	}
	for name, text := range texts {
		first := parse(text)
		expect(t, first.Problems, nil)
		printed, err := printSpec(first.Spec)
		if err != nil {
			t.Fatal(name, err)
		}
		again := parse(string(printed))
		expect(t, again.Problems, nil)
		same(t, first.Spec, again.Spec, printed)
		twice, err := printSpec(again.Spec)
		if err != nil || string(twice) != string(printed) {
			t.Errorf("%s: printing twice gives another text, %v", name, err)
		}
	}
}

var (
	genName = rapid.OneOf(
		rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9_-]{0,12}`),
		rapid.SampledFrom([]string{"no", "on", "007", "1e5", "0x1F", "null", "true", "y", "2026-03-03", "12", "1_0"}),
	)
	genText = rapid.OneOf(
		rapid.StringMatching(`[A-Za-z #:{}\[\],&*!|>'"%@-]{0,20}[a-z]`),
		rapid.SampledFrom([]string{"~", "é 漢字 👩‍💻", "- a", "a: b", "# c", "0.2", "null", `"`, `\`, "yes", ".inf"}),
	)
	genLines = rapid.OneOf(genText, rapid.Map(rapid.SliceOfN(genText, 1, 4), func(l []string) string { return strings.Join(l, "\n") }))
	genPath  = rapid.StringMatching(`[a-z0-9]{1,6}(/[a-z0-9. -]{1,5}[a-z]){0,2}`)
	genWord  = rapid.StringMatching(`[A-Za-z0-9_.-]{1,10}`)
)

func maybe[T any](t *rapid.T, g *rapid.Generator[T], label string) T {
	var zero T
	if rapid.Bool().Draw(t, label+"?") {
		return g.Draw(t, label)
	}
	return zero
}

func ptr[T any](t *rapid.T, g *rapid.Generator[T], label string) *T {
	if !rapid.Bool().Draw(t, label+"?") {
		return nil
	}
	v := g.Draw(t, label)
	return &v
}

func genStartup(t *rapid.T) engine.StartupSpec {
	var s engine.StartupSpec
	moments := rapid.SampledFrom([][]engine.Moment{engine.Moments, {engine.MomentFresh}, {engine.MomentRestore}})
	for range rapid.IntRange(0, 2).Draw(t, "files") {
		s.Files = append(s.Files, engine.StartupFile{
			Path: genPath.Draw(t, "path"), Hint: rapid.SampledFrom([]string{"auto", "send_text"}).Draw(t, "hint"),
			Required: rapid.Bool().Draw(t, "required"), AppliesOn: moments.Draw(t, "on"),
		})
	}
	for range rapid.IntRange(0, 2).Draw(t, "actions") {
		s.Actions = append(s.Actions, engine.StartupAction{
			Type:  rapid.SampledFrom([]string{"slash_command", "send_text"}).Draw(t, "type"),
			Value: genLines.Draw(t, "value"), Phase: rapid.SampledFrom([]string{"after_files", "after_ready"}).Draw(t, "phase"),
			AppliesOn: moments.Draw(t, "on"), Idempotent: true,
		})
	}
	return s
}

func genSource(t *rapid.T) engine.SessionSource {
	uuid := rapid.StringMatching(`[0-9a-fA-F]{8}-[0-9]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	switch rapid.IntRange(0, 3).Draw(t, "source") {
	case 1:
		return engine.ForkSource{Parent: engine.NewParentToken(uuid.Draw(t, "parent"))}
	case 2:
		return engine.RebuildSource{Artifacts: rapid.SliceOfN(genText, 1, 3).Draw(t, "artifacts")}
	case 3:
		return engine.ImageSource{
			Name: rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9._-]{0,8}`).Draw(t, "image"), Version: maybe(t, genWord, "version"),
		}
	}
	return nil
}

func genMember(t *rapid.T, id string) engine.MemberSpec {
	m := engine.MemberSpec{ID: id, Label: maybe(t, genText, "label"), CwdWritten: genPath.Draw(t, "cwd"), Startup: genStartup(t)}
	m.Cwd = resolve("/srv/shop", m.CwdWritten)
	m.Env = maybe(t, rapid.MapOfN(rapid.StringMatching(`[A-Z_][A-Z0-9_]{0,5}X`), rapid.OneOf(genLines, rapid.Just("")), 1, 3), "env")
	m.RestorePolicy = maybe(t, rapid.SampledFrom([]engine.RestorePolicy{engine.RestoreResume, engine.RestoreFresh}), "restore")
	m.ReadinessMS = maybe(t, rapid.IntRange(5000, 600_000), "ready")
	if rapid.Bool().Draw(t, "terminal") {
		m.Runtime, m.AgentRef, m.Profile = engine.RuntimeTerminal, terminalBuiltin, noProfile
		return m
	}
	m.Runtime = rapid.SampledFrom([]engine.RuntimeName{engine.RuntimeClaude, engine.RuntimeCodex}).Draw(t, "runtime")
	m.AgentRef, m.Profile = agentBuiltin, "default"
	if rapid.Bool().Draw(t, "own agent") {
		m.AgentRef = rapid.SampledFrom([]string{"local:", "path:/"}).Draw(t, "scheme") + genPath.Draw(t, "agent")
		m.Profile = "p" + genWord.Draw(t, "profile")
	}
	m.Model = maybe(t, rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9._:/@\[\]-]{0,8}`), "model")
	m.Effort = maybe(t, rapid.SampledFrom([]string{"low", "high"}), "effort")
	m.Role = maybe(t, genWord, "role")
	m.PermissionPolicy = maybe(t, rapid.SampledFrom(permissionPolicies), "policy")
	if m.Runtime == engine.RuntimeCodex {
		m.CodexProfile = maybe(t, genWord, "codex profile")
	}
	m.Source = genSource(t)
	return m
}

func genPod(t *rapid.T, i int) engine.PodSpec {
	// The ordinal at the end keeps addresses apart.
	p := engine.PodSpec{ID: genName.Draw(t, "pod") + "_" + strconv.Itoa(i), Label: genText.Draw(t, "label"), Summary: maybe(t, genLines, "summary"), Startup: genStartup(t)}
	for j := range rapid.IntRange(1, 3).Draw(t, "members") {
		// No hyphen, so that two pods cannot share an address.
		id := strings.ReplaceAll(genName.Draw(t, "member"), "-", "")
		if slices.ContainsFunc(p.Members, func(m engine.MemberSpec) bool { return m.ID == id }) {
			id += "_" + strconv.Itoa(j)
		}
		p.Members = append(p.Members, genMember(t, id))
	}
	if n := len(p.Members); n > 1 && rapid.Bool().Draw(t, "edge") {
		p.Edges = []engine.EdgeSpec{{
			Kind: rapid.SampledFrom(engine.EdgeKinds).Draw(t, "kind"),
			From: engine.Logical(p.ID, p.Members[0].ID), To: engine.Logical(p.ID, p.Members[1].ID),
		}}
	}
	if rapid.Bool().Draw(t, "continuity") {
		b := rapid.Bool()
		p.Continuity = &engine.ContinuityPolicy{
			Enabled:         b.Draw(t, "enabled"),
			SyncTriggers:    maybe(t, rapid.Just([]string{"manual", "pre_shutdown"}), "triggers"),
			Artifacts:       engine.ContinuityArtifacts{SessionLog: ptr(t, b, "log"), Quiz: ptr(t, b, "quiz")},
			RestoreProtocol: engine.ContinuityProtocol{PeerDriven: ptr(t, b, "peer")},
		}
	}
	return p
}

func genRig(t *rapid.T) engine.RigSpec {
	s := engine.RigSpec{
		Version: "0.2", Name: genName.Draw(t, "rig"), Root: "/srv/shop", Summary: maybe(t, genLines, "summary"),
		CultureFile: maybe(t, genPath, "culture"), Docs: maybe(t, rapid.SliceOfN(genPath, 1, 2), "docs"),
		PermissionPolicy: maybe(t, rapid.SampledFrom(permissionPolicies), "policy"), Startup: genStartup(t),
	}
	for i := range rapid.IntRange(1, 3).Draw(t, "pods") {
		s.Pods = append(s.Pods, genPod(t, i))
	}
	if len(s.Pods) > 1 {
		s.Edges = []engine.EdgeSpec{{
			Kind: engine.EdgeDelegatesTo,
			From: engine.Logical(s.Pods[0].ID, s.Pods[0].Members[0].ID), To: engine.Logical(s.Pods[1].ID, s.Pods[1].Members[0].ID),
		}}
	}
	if rapid.Bool().Draw(t, "workspace") {
		s.Workspace = &engine.WorkspaceSpec{
			Root: "/w", KnowledgeRoot: maybe(t, genText, "knowledge"), DefaultRepo: "r",
			Repos: []engine.RepoSpec{{Name: "r", Path: genText.Draw(t, "repo"), Kind: "lab"}},
		}
	}
	if rapid.Bool().Draw(t, "compaction") {
		s.Policies.ClaudeCompaction = &engine.ClaudeCompaction{
			Enabled: rapid.Bool().Draw(t, "on"), ThresholdPercent: ptr(t, rapid.IntRange(1, 100), "percent"),
			ThresholdTokens: ptr(t, rapid.Int64Range(1, 1_000_000), "tokens"), MessageInline: maybe(t, genLines, "inline"),
			PostRestoreAudit: maybe(t, genLines, "audit"), MessageFilePath: maybe(t, genText, "file"),
		}
	}
	return s
}
