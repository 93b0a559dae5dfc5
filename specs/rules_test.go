package specs

import (
	"strings"
	"testing"
)

type rule struct {
	name string
	text string
	want []fault
}

func runRules(t *testing.T, rules []rule) {
	t.Helper()
	for _, tc := range rules {
		t.Run(tc.name, func(t *testing.T) {
			res := parse(tc.text)
			expect(t, res.Problems, tc.want)
			if (res.Err() == nil) != (len(tc.want) == 0) {
				t.Errorf("Err() = %v", res.Err())
			}
		})
	}
}

func TestTopLevelRules(t *testing.T) {
	ok := head + agent
	runRules(t, []rule{
		{"valid", ok, nil},
		{"a list", "- a\n", []fault{{"1:1 wrong_type", "must be a map"}}},
		{"a word", "hello\n", []fault{{"1:1 wrong_type", `not "hello"`}}},
		{"version as a number", strings.Replace(ok, `"0.2"`, "0.2", 1), []fault{{"1:10 quote_it version", `write "0.2"`}}},
		{"version missing", strings.Replace(ok, "version: \"0.2\"\n", "", 1), []fault{{"1:1 missing version", "needs version"}}},
		{"name empty", strings.Replace(ok, "shop", "", 1), []fault{{"2:6 missing name", "required"}}},
		{"name blank", strings.Replace(ok, "shop", `" "`, 1), []fault{{"2:7 missing name", "blank"}}},
		{"no pods", "version: \"0.2\"\nname: shop\n", []fault{{"1:1 missing pods", "needs pods"}}},
		{"empty pods", "version: \"0.2\"\nname: shop\npods: []\n", []fault{{"3:7 missing pods", "at least one"}}},
		{"pods as a map", "version: \"0.2\"\nname: shop\npods: {dev: 1}\n", []fault{{"3:7 wrong_type pods", "must be a list"}}},
		{"edges left empty", ok + "edges:\n", []fault{{"12:7 wrong_type edges", "edges is empty"}}},
		{"culture file absolute", "culture_file: /etc/passwd\n" + ok, []fault{{"1:15 unsafe_path culture_file", "absolute"}}},
		{"culture file upwards", "culture_file: a/../../b\n" + ok, []fault{{"1:15 unsafe_path culture_file", ".."}}},
		{"docs", "docs: [{path: a.md}, {path: 'C:\\x'}, {}]\n" + ok, []fault{
			{"1:29 unsafe_path docs[1].path", "backslash"}, {"1:38 missing docs[2].path", "needs path"},
		}},
		{"services", "services: {kind: compose, compose_file: x.yml}\n" + ok, []fault{{"1:1 not_supported services", "start services yourself"}}},
		{"services, asking for nothing", "services: {}\n" + ok, nil},
		{"legacy", "name: old\nnodes: []\n", []fault{{"2:8 not_supported nodes", "flat spec"}}},
		{"policy file", "permission_policy: my.policy.md\n" + ok, []fault{{"1:20 not_supported permission_policy", "policy files"}}},
		{"policy null", "permission_policy: null\n" + ok, []fault{{"1:20 wrong_type permission_policy", "empty"}}},
		{"policy typo", "permission_policy: builtin:lokced\n" + ok, []fault{{"1:20 bad_value permission_policy", "did you mean builtin:locked"}}},
		{"key of another object", "cwd: .\n" + ok, []fault{{"1:1 unknown_key cwd", "it belongs to a member"}}},
		{"key that is no word", "? [a]\n: b\n" + ok, []fault{{"1:3 wrong_type", "must be a word"}}},
		{"hostile key", "\"a\\e[31m\": b\n" + ok, []fault{{`1:1 unknown_key "a\x1b[31m"`, "unknown key"}}},
	})
}

func TestAdvisories(t *testing.T) {
	text := `version: "0.3"
name: shop
docs: [{path: a.md}]
managed_blocks: {claude-code: CLAUDE.md}
guidance: {tracked_file: skip}
pods:
  - id: dev
    label: Development
    continuity_policy: {enabled: true}
    members:
` + strings.Replace(agent, "id: impl", "id: Sh", 1) + keys("model: Opus\ncompaction_strategy: harness_native") +
		shell + keys("model: gpt-5.2\neffort: high") + `  - id: empty
    label: Nobody
    members: []
`
	res := parse(text)
	expect(t, res.Problems, nil)
	expect(t, res.Advisories, []fault{
		{"1:10 inert version", "0.2"},
		{"3:1 inert docs", "no effect"},
		{"4:1 inert managed_blocks", "nothing is ever written"},
		{"5:1 inert guidance", "nothing is ever written"},
		{"9:5 inert pods[0].continuity_policy", "kept with the pod"},
		{"16:16 model_alias pods[0].members[0].model", "alias"},
		{"17:30 inert pods[0].members[0].compaction_strategy", "claude_compaction"},
		{"18:13 case_only pods[0].members[1].id", "dev-sh@shop and dev-Sh@shop"},
		{"23:16 inert pods[0].members[1].model", "terminal"},
		{"24:17 inert pods[0].members[1].effort", "terminal"},
		{"27:14 inert pods[1].members", "no members"},
	})
	if got := len(res.Spec.Advisories); got != len(res.Advisories) {
		t.Errorf("the spec carries %d advisories of %d", got, len(res.Advisories))
	}
}

func TestMemberRules(t *testing.T) {
	with := func(lines string) string { return head + agent + keys(lines) }
	change := func(from, to string) string { return head + strings.Replace(agent, from, to, 1) }
	runRules(t, []rule{
		{"empty member", head + "      - {}\n", []fault{
			{"7:9 missing pods[0].members[0].id", ""},
			{"7:9 missing pods[0].members[0].agent_ref", ""},
			{"7:9 missing pods[0].members[0].profile", ""},
			{"7:9 missing pods[0].members[0].runtime", ""},
			{"7:9 missing pods[0].members[0].cwd", ""},
		}},
		{"member as a word", head + "      - impl\n", []fault{{"7:9 wrong_type pods[0].members[0]", "must be a map"}}},
		{"twice", head + agent + agent, []fault{{"12:13 duplicate pods[0].members[1].id", "first at line 7"}}},
		{"id in two lines", change("id: impl", "id: |\n          im\n          pl"), []fault{{"7:13 bad_name pods[0].members[0].id", `\n`}}},
		{"id with a control", change("id: impl", `id: "im\u001bpl"`), []fault{{"7:13 bad_name pods[0].members[0].id", "may not hold"}}},
		{"id of 65", change("id: impl", "id: "+strings.Repeat("a", 65)), []fault{{"7:13 bad_name pods[0].members[0].id", "65 characters"}}},
		{"id of 64", change("id: impl", "id: "+strings.Repeat("a", 64)), nil},
		{"label with direction override", with(`label: "a\u202eb"`), []fault{{"12:16 bad_value pods[0].members[0].label", "U+202E"}}},
		{"runtime unknown", change("claude-code", "claud-code"), []fault{{"8:18 bad_value pods[0].members[0].runtime", "did you mean claude-code"}}},
		{"runtime of others", change("claude-code", "gemini"), []fault{{"8:18 not_supported pods[0].members[0].runtime", "this version runs"}}},
		{"agent_ref builtin", change("builtin:agent", "builtin:wizard"), []fault{{"9:20 bad_value pods[0].members[0].agent_ref", "no built-in agent"}}},
		{"agent_ref local absolute", change("builtin:agent", "local:/a"), []fault{{"9:20 bad_value pods[0].members[0].agent_ref", "relative"}}},
		{"agent_ref local empty", change("builtin:agent", `"local:"`), []fault{{"9:20 bad_value pods[0].members[0].agent_ref", "relative"}}},
		{"agent_ref path relative", change("builtin:agent", "path:a/b"), []fault{{"9:20 bad_value pods[0].members[0].agent_ref", "absolute"}}},
		{"agent_ref bare absolute", change("builtin:agent", "/a/b"), []fault{{"9:20 bad_value pods[0].members[0].agent_ref", "relative"}}},
		{"agent_ref scheme", change("builtin:agent", "git:a/b"), []fault{{"9:20 bad_value pods[0].members[0].agent_ref", "unknown form"}}},
		{"profile of builtin", change("default", "fast"), []fault{{"10:18 bad_value pods[0].members[0].profile", "one profile"}}},
		{"cwd home", change("cwd: .", "cwd: ~/src"), []fault{{"11:14 bad_value pods[0].members[0].cwd", "not expanded"}}},
		{"cwd null", change("cwd: .", "cwd: ~"), []fault{{"11:14 missing pods[0].members[0].cwd", "required"}}},
		{"codex profile on claude", with("codex_config_profile: x"), []fault{{"12:31 bad_value pods[0].members[0].codex_config_profile", "runtime: codex"}}},
		{"codex profile with a slash", with("codex_config_profile: a/b"), []fault{{"12:31 bad_value pods[0].members[0].codex_config_profile", "does not fit"}}},
		{"model as an option", with("model: --dangerously"), []fault{{"12:16 bad_value pods[0].members[0].model", "does not fit"}}},
		{"model with brackets", with("model: claude-opus-4-1[1m]"), nil},
		{"effort", with("effort: minimal"), []fault{{"12:17 bad_value pods[0].members[0].effort", "low, medium"}}},
		{"restore policy", with("restore_policy: resume"), []fault{{"12:25 bad_value pods[0].members[0].restore_policy", "resume_if_possible"}}},
		{"restore from a checkpoint", with("restore_policy: checkpoint_only"), []fault{{"12:25 not_supported pods[0].members[0].restore_policy", "relaunch_fresh"}}},
		{"timeout low", with("readiness_timeout_ms: 4999"), []fault{{"12:31 bad_value pods[0].members[0].readiness_timeout_ms", "5000 to 600000"}}},
		{"timeout high", with("readiness_timeout_ms: 600001"), []fault{{"12:31 bad_value pods[0].members[0].readiness_timeout_ms", ""}}},
		{"timeout as text", with(`readiness_timeout_ms: "5000"`), []fault{{"12:31 wrong_type pods[0].members[0].readiness_timeout_ms", "plain digits"}}},
		{"timeout octal", with("readiness_timeout_ms: 05000"), []fault{{"12:31 wrong_type pods[0].members[0].readiness_timeout_ms", ""}}},
		{"fallback", with("fallback_runtimes: [codex]"), []fault{{"12:9 not_supported pods[0].members[0].fallback_runtimes", ""}}},
		{"mechanic", with("mechanic: a@b"), []fault{{"12:9 not_supported pods[0].members[0].mechanic", "apprentice"}}},
		{"strategy", with("compaction_strategy: handover"), []fault{{"12:30 not_supported pods[0].members[0].compaction_strategy", ""}}},
		{"strategy unknown", with("compaction_strategy: magic"), []fault{{"12:30 bad_value pods[0].members[0].compaction_strategy", ""}}},
		{"starter_ref", with("starter_ref: {name: x}"), []fault{{"12:22 not_supported pods[0].members[0].starter_ref", "startup"}}},
		{"starter_ref name", with("starter_ref: {name: -x}"), []fault{
			{"12:22 not_supported pods[0].members[0].starter_ref", ""}, {"12:29 bad_value pods[0].members[0].starter_ref.name", ""},
		}},
	})
}

func TestTerminalRules(t *testing.T) {
	change := func(from, to string) string { return head + strings.Replace(shell, from, to, 1) }
	runRules(t, []rule{
		{"valid", head + shell, nil},
		{"another agent", change(`"builtin:terminal"`, "local:a"), []fault{{"9:20 bad_value pods[0].members[0].agent_ref", "needs agent_ref: builtin:terminal"}}},
		{"another profile", change("none", "default"), []fault{{"10:18 bad_value pods[0].members[0].profile", "needs profile: none"}}},
		{"terminal agent elsewhere", change("runtime: terminal", "runtime: codex"), []fault{
			{"9:20 bad_value pods[0].members[0].agent_ref", "belongs to runtime: terminal"},
			{"10:18 bad_value pods[0].members[0].profile", "belongs to runtime: terminal"},
		}},
		{"agent's keys", head + shell + keys("role: x\npermission_policy: builtin:open\nstarter_ref: {name: a}"), []fault{
			{"12:15 bad_value pods[0].members[0].role", "terminal"},
			{"13:28 bad_value pods[0].members[0].permission_policy", "terminal"},
			{"14:22 bad_value pods[0].members[0].starter_ref", "terminal"},
		}},
	})
}

func TestEnvRules(t *testing.T) {
	runRules(t, []rule{{"all", head + agent + keys(`env:
  PORT: 8080
  RATIO: 1.5
  EMPTY: ""
  TEXT: "a\nb"
  DEBUG: true
  MASK: 0777
  RIG_HOME: /x
  TMUX: x
  CLAUDECODE: x
  9LIVES: x
  A-B: x
  PORT: 1
  NUL: "a\0b"
  GONE: ~
  MAP: {a: b}
  no: x`), []fault{
		{"17:18 quote_it pods[0].members[0].env.DEBUG", `write "true"`},
		{"18:17 quote_it pods[0].members[0].env.MASK", `write "0777"`},
		{"19:11 bad_name pods[0].members[0].env.RIG_HOME", "product itself"},
		{"20:11 bad_name pods[0].members[0].env.TMUX", ""},
		{"21:11 bad_name pods[0].members[0].env.CLAUDECODE", ""},
		{"22:11 bad_name pods[0].members[0].env.9LIVES", "no digit first"},
		{"23:11 bad_name pods[0].members[0].env.A-B", ""},
		{"24:11 duplicate pods[0].members[0].env.PORT", "first at line 13"},
		{"25:16 bad_value pods[0].members[0].env.NUL", "U+0000"},
		{"26:17 wrong_type pods[0].members[0].env.GONE", "empty"},
		{"27:16 wrong_type pods[0].members[0].env.MAP", "must be a text"},
		{"28:11 quote_it pods[0].members[0].env", "quote it"},
	}}})
	env := parse(head + agent + keys("env: {PORT: 8080, RATIO: 1.10, A: \"x y\"}")).Spec.Pods[0].Members[0].Env
	if env["PORT"] != "8080" || env["RATIO"] != "1.10" || env["A"] != "x y" {
		t.Errorf("env is not as written: %v", env)
	}
}
