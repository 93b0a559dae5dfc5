package specs

import (
	"strings"
	"testing"

	"rig/engine"
)

const agentText = `name: reviewer
version: "1.0"
description: Reads what others wrote.
defaults:
  model: claude-sonnet-5
  runtime: claude-code
  lifecycle: {execution_mode: interactive_resident, restore_policy: resume_if_possible}
startup:
  files: [{path: role.md}]
profiles:
  default: {}
  reviewer:
    summary: Strict.
    preferences: {model: claude-opus-5}
    uses: {skills: []}
    startup:
      files: [{path: strict.md, required: false}]
      actions: [{type: slash_command, value: /status, idempotent: true}]
    lifecycle: {restore_policy: relaunch_fresh}
  porter:
    preferences: {runtime: codex, model: gpt-5.2-codex}
`

func TestAgentRules(t *testing.T) {
	change := func(from, to string) string {
		if !strings.Contains(agentText, from) {
			t.Fatalf("%q is not in the agent", from)
		}
		return strings.Replace(agentText, from, to, 1)
	}
	for _, tc := range []rule{
		{"valid", agentText, nil},
		{"not a map", "[]\n", []fault{{"1:1 wrong_type", "the agent must be a map"}}},
		{"required", "summary: x\n", []fault{{"1:1 missing name", ""}, {"1:1 missing version", ""}}},
		{"version as a number", change(`"1.0"`, "1.0"), []fault{{"2:10 quote_it version", ""}}},
		{"session_source", change("startup:\n  files: [{path: role.md}]", "session_source: {mode: fork}"), []fault{{"8:1 unknown_key session_source", "an input of one launch"}}},
		{"session_source in a profile", change("    summary: Strict.", "    session_source: {mode: fork}"), []fault{{"13:5 unknown_key profiles.reviewer.session_source", "belongs to a member"}}},
		{"profiles as a list", "name: a\nversion: \"1\"\nprofiles: [default]\n", []fault{{"3:11 wrong_type profiles", "must be a map"}}},
		{"profile twice", change("  porter:", "  default: {}\n  porter:"), []fault{{"20:3 duplicate profiles.default", "first at line 11"}}},
		{"uses", change("skills: []", "skills: [a]"), []fault{{"15:12 not_supported profiles.reviewer.uses.skills", "startup file"}}},
		{"wake_on_demand", change("interactive_resident", "wake_on_demand"), []fault{{"7:31 not_supported defaults.lifecycle.execution_mode", ""}}},
		{"mode", change("interactive_resident", "batch"), []fault{{"7:31 bad_value defaults.lifecycle.execution_mode", ""}}},
		{"strategy", change("restore_policy: relaunch_fresh", "compaction_strategy: pod_continuity"), []fault{{"19:38 not_supported profiles.reviewer.lifecycle.compaction_strategy", ""}}},
		{"wider than the default", strings.NewReplacer("restore_policy: resume_if_possible", "restore_policy: relaunch_fresh", "restore_policy: relaunch_fresh", "restore_policy: resume_if_possible").Replace(agentText), []fault{{"19:33 policy_wider profiles.reviewer.lifecycle.restore_policy", "write relaunch_fresh"}}},
		{"checkpoints", change("restore_policy: relaunch_fresh", "restore_policy: checkpoint_only"), []fault{{"19:33 not_supported profiles.reviewer.lifecycle.restore_policy", "relaunch_fresh"}}},
		{"runtime", change("runtime: codex", "runtime: codecs"), []fault{{"21:28 bad_value profiles.porter.preferences.runtime", "did you mean codex"}}},
		{"import range", agentText + "imports: [{ref: \"local:../x\", version: \"^1.0\"}, {ref: \"builtin:agent\"}]\n", []fault{
			{"22:40 bad_value imports[0].version", "no range"}, {"22:55 bad_value imports[1].ref", "nothing to import"},
		}},
		{"alias", change("description: Reads what others wrote.", "description: &d x\nsummary: *d"), []fault{{"3:14 yaml_feature", ""}, {"4:10 yaml_feature", ""}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			res := ParseAgent([]byte(tc.text), "agent.yaml")
			expect(t, res.Problems, tc.want)
		})
	}
	res := ParseAgent([]byte(agentText+"resources: {skills: [{id: a, path: b}]}\nimports: []\n"), "agent.yaml")
	expect(t, res.Problems, nil)
	expect(t, res.Advisories, []fault{{"22:1 inert resources", "startup file"}, {"23:1 inert imports", ""}})
}

func TestAgentIsRead(t *testing.T) {
	a := ParseAgent([]byte(agentText), "/a/agent.yaml").Agent
	if a.Name != "reviewer" || a.Summary != "Reads what others wrote." || len(a.Profiles) != 3 || a.dir() != "/a" {
		t.Errorf("%+v", a)
	}
	p := a.Profiles["reviewer"]
	if p.Prefers.RestorePolicy != engine.RestoreFresh || p.Prefers.Model != "claude-opus-5" || len(p.Startup.Files) != 1 || p.Startup.Files[0].Required {
		t.Errorf("%+v", p)
	}
}
