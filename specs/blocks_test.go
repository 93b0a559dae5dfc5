package specs

import (
	"reflect"
	"testing"

	"rig/engine"
)

func TestStartupRules(t *testing.T) {
	block := func(yaml string) string { return head + agent + keys("startup:\n  "+yaml) }
	const file, act = "pods[0].members[0].startup.files[0]", "pods[0].members[0].startup.actions[0]"
	runRules(t, []rule{
		{"valid", block("files: [{path: a.md}]\n  actions: [{type: send_text, value: hi, idempotent: true}]"), nil},
		{"unsafe", block("files: [{path: ../a.md}]"), []fault{{"13:26 unsafe_path " + file + ".path", ".."}}},
		{"hint", block("files: [{path: a.md, delivery_hint: paste}]"), []fault{{"13:47 bad_value " + file + ".delivery_hint", "auto, send_text"}}},
		{"writes a project", block("files: [{path: a.md, delivery_hint: guidance_merge}]"), []fault{{"13:47 not_supported " + file + ".delivery_hint", "never does"}}},
		{"required as a word", block("files: [{path: a.md, required: no}]"), []fault{{"13:42 wrong_type " + file + ".required", "true or false"}}},
		{"occasions", block("files: [{path: a.md, applies_on: [restart]}]"), []fault{{"13:45 bad_value " + file + ".applies_on[0]", "fresh_start, restore"}}},
		{"no occasion", block("files: [{path: a.md, applies_on: []}]"), []fault{{"13:44 missing " + file + ".applies_on", "at least one"}}},
		{"context pack", block("files: [{kind: context_pack, name: x, version: 2}]"), []fault{{"13:26 not_supported " + file + ".kind", "compose the pack"}}},
		{"shell", block("actions: [{type: shell, value: ls}]"), []fault{{"13:28 not_supported " + act + ".type", "not supported"}}},
		{"proof", block("actions: [{type: startup_proof, value: none, idempotent: true}]"), []fault{{"13:28 not_supported " + act + ".type", "startup_proof"}}},
		{"type", block("actions: [{type: key, value: x, idempotent: true}]"), []fault{{"13:28 bad_value " + act + ".type", "slash_command"}}},
		{"missing idempotent is two faults", block("actions: [{type: send_text, value: hi}]"), []fault{
			{"13:21 missing " + act + ".idempotent", ""}, {"13:21 bad_value " + act + ".applies_on", "must not apply on restore"},
		}},
		{"not idempotent on restore", block("actions: [{type: send_text, value: hi, idempotent: false, applies_on: [restore]}]"), []fault{
			{"13:81 bad_value " + act + ".applies_on", "must not apply on restore"},
		}},
		{"not idempotent at a fresh start", block("actions: [{type: send_text, value: hi, idempotent: false, applies_on: [fresh_start]}]"), nil},
		{"idempotent ill-typed is one fault", block("actions: [{type: send_text, value: hi, idempotent: maybe}]"), []fault{{"13:62 wrong_type " + act + ".idempotent", ""}}},
		{"phase", block("actions: [{type: send_text, value: hi, idempotent: true, phase: later}]"), []fault{{"13:75 bad_value " + act + ".phase", ""}}},
		{"blank value", block("actions: [{type: send_text, value: ' ', idempotent: true}]"), []fault{{"13:46 missing " + act + ".value", "blank"}}},
	})
	s := parse(block("files: [{path: a.md, required: false, applies_on: [restore]}]\n  actions: [{type: slash_command, value: /x, idempotent: true}]")).Spec.Pods[0].Members[0].Startup
	want := engine.StartupSpec{
		Files:   []engine.StartupFile{{Path: "a.md", Hint: "auto", AppliesOn: []engine.Moment{engine.MomentRestore}}},
		Actions: []engine.StartupAction{{Type: "slash_command", Value: "/x", Phase: "after_files", AppliesOn: engine.Moments, Idempotent: true}},
	}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("%+v, want %+v", s, want)
	}
}

func TestPolicyRules(t *testing.T) {
	block := func(yaml string) string { return "policies: {claude_compaction: " + yaml + "}\n" + head + agent }
	const at = "policies.claude_compaction"
	runRules(t, []rule{
		{"valid", block("{enabled: true, threshold_percent: 80}"), nil},
		{"tokens", block("{enabled: true, threshold_tokens: 120000}"), nil},
		{"no enabled", block("{threshold_percent: 80}"), []fault{{"1:31 missing " + at + ".enabled", ""}}},
		{"enabled as text", block(`{enabled: "false"}`), []fault{{"1:41 wrong_type " + at + ".enabled", "true or false"}}},
		{"percent 0", block("{enabled: true, threshold_percent: 0}"), []fault{{"1:66 bad_value " + at + ".threshold_percent", "1 to 100"}}},
		{"percent 101", block("{enabled: true, threshold_percent: 101}"), []fault{{"1:66 bad_value " + at + ".threshold_percent", ""}}},
		{"percent with a unit", block("{enabled: true, threshold_percent: 80%}"), []fault{{"1:66 wrong_type " + at + ".threshold_percent", ""}}},
		{"percent 80.5", block("{enabled: true, threshold_percent: 80.5}"), []fault{{"1:66 wrong_type " + at + ".threshold_percent", ""}}},
		{"tokens 0", block("{enabled: true, threshold_tokens: 0}"), []fault{{"1:65 bad_value " + at + ".threshold_tokens", ""}}},
		{"typo", block("{enabled: true, treshold_percent: 50}"), []fault{{"1:47 unknown_key " + at + ".treshold_percent", "threshold_percent"}}},
	})
	cc := parse(block("{enabled: true, threshold_percent: 70, compact_instruction: \"keep\\nthis\"}")).Spec.Policies.ClaudeCompaction
	if on, _ := cc.Active(); !on || *cc.ThresholdPercent != 70 || cc.CompactInstruction != "keep\nthis" {
		t.Errorf("%+v", cc)
	}
}

func TestContinuityAndWorkspaceRules(t *testing.T) {
	pod := func(yaml string) string {
		return "version: \"0.2\"\nname: shop\npods:\n  - id: dev\n    label: D\n    continuity_policy: " + yaml + "\n    members:\n" + agent
	}
	ws := func(yaml string) string { return "workspace: " + yaml + "\n" + head + agent }
	const cp = "pods[0].continuity_policy"
	runRules(t, []rule{
		{"policy", pod("{enabled: true, sync_triggers: [manual, milestone], artifacts: {quiz: true}, restore_protocol: {peer_driven: false}}"), nil},
		{"policy faults", pod("{sync_triggers: [daily], artifacts: {quiz: yes, log: true}, restore_protocol: [x]}"), []fault{
			{"6:24 missing " + cp + ".enabled", ""},
			{"6:41 bad_value " + cp + ".sync_triggers[0]", "pre_compaction"},
			{"6:67 wrong_type " + cp + ".artifacts.quiz", ""},
			{"6:72 unknown_key " + cp + ".artifacts.log", "known here"},
			{"6:102 wrong_type " + cp + ".restore_protocol", ""},
		}},
		{"workspace", ws("{workspace_root: /w, repos: [{name: a, path: a, kind: project}], default_repo: a, knowledge_root: k}"), nil},
		{"workspace faults", ws("{repos: [{name: a, path: a, kind: toy}, {name: a, path: b, kind: lab}], default_repo: c}"), []fault{
			{"1:12 missing workspace.workspace_root", ""},
			{"1:46 bad_value workspace.repos[0].kind", "user, project"},
			{"1:59 duplicate workspace.repos[1].name", "repo"},
			{"1:98 bad_value workspace.default_repo", "one of: a"},
		}},
	})
}
