package specs

import "rig/engine"

const (
	wordPattern  = `^[A-Za-z0-9_.-]+$`
	wordSays     = "letters, digits, . _ and -"
	modelPattern = `^[A-Za-z0-9][A-Za-z0-9._:/@\[\]-]{0,127}$`
	modelSays    = "letters, digits and . _ : / @ [ ] -, a letter or digit first"
)

// permissionPolicies are the built-in postures of a launch.
var permissionPolicies = []string{"builtin:locked", "builtin:standard", "builtin:open", "builtin:yolo", "builtin:operator"}

func permissionField() field {
	return text("permission_policy", "how much the agent may do without asking: builtin:locked, standard, open, yolo or operator")
}

func (t *tables) rigTable(startup field, edge *object) *object {
	docs := &object{name: "an entry of docs", doc: "A document of the rig.", fields: []field{
		need(pathText("path", "file, relative to the folder of this spec")),
	}}
	cross := listOf("edges", "relations between members of different pods", elem(edge))
	return &object{
		name: "the rig", doc: "A rig: a team of agents and shells that comes up in tmux.",
		before: notLegacy,
		fields: []field{
			need(text("version", `dialect of the spec, "0.2" (quoted)`)),
			{name: "name", doc: "name of the rig, the part of every address after @", kind: kText, id: true, required: true},
			prose("summary", "what the rig is for"),
			pathText("culture_file", "a text given to every agent at its start, before the rig's own startup files"),
			listOf("docs", "documents that belong to the rig", elem(docs)).
				inert("it stays with the rig for people to read"),
			startup,
			anything("services", "services that the rig needs beside its agents", notBuilt,
				"start services yourself before the rig, for example from a terminal seat"),
			sub("workspace", "the repositories the rig works on", workspaceTable()),
			{name: "pods", doc: "the groups of members", kind: kList, required: true, least: 1, of: &field{kind: kObject, object: t.pod}},
			cross,
			permissionField(),
			sub("policies", "rules for all seats of the rig", policiesTable()),
			anything("managed_blocks", "where managed blocks go", inert, "nothing is ever written into your project"),
			anything("guidance", "how tracked guidance files are treated", inert, "nothing is ever written into your project"),
		},
	}
}

func podTable(startup field, member, edge *object) *object {
	return &object{
		name: "a pod", doc: "A group of members.",
		fields: []field{
			idText("name of the pod, the first part of every address in it"),
			need(text("label", "name of the pod for people")),
			prose("summary", "what the pod is for"),
			sub("continuity_policy", "what the pod wants to keep for its continuity", continuityTable()).
				inert("it is kept with the pod; nothing acts on it yet"),
			startup,
			need(listOf("members", "the seats of the pod", elem(member))),
			listOf("edges", "relations between members of this pod", elem(edge)),
		},
	}
}

func memberTable(startup, source field) *object {
	env := field{
		name: "env", doc: "variables added to the seat's environment", kind: kMap,
		of: &field{kind: kVersion, lines: true, blank: true},
	}
	ready := field{
		name: "readiness_timeout_ms", doc: "how long the start may take, in milliseconds",
		kind: kInt, min: 5000, max: 600_000, def: 30_000,
	}
	return &object{
		name: "a member", doc: "A seat: a durable place for an agent or a shell.",
		rules: terminalRules(),
		fields: []field{
			idText("name of the member, the second part of its address"),
			text("label", "name of the member for people"),
			need(text("agent_ref", "builtin:agent, builtin:terminal, local:FOLDER (relative to this file) or path:/FOLDER; a bare relative path means local:")),
			need(text("profile", "a profile of the agent; default for builtin:agent, none for a terminal").fits(wordPattern, wordSays)),
			need(text("runtime", "claude-code, codex or terminal")),
			need(text("cwd", "working directory, absolute or relative to the folder of this file")),
			text("model", "model of the agent").fits(modelPattern, modelSays),
			text("effort", "reasoning effort of the agent"),
			text("codex_config_profile", "profile of the Codex configuration; codex only").fits(wordPattern, wordSays),
			text("role", "what the member does in the team").fits(wordPattern, wordSays),
			restoreField(),
			startup,
			source,
			sub("starter_ref", "a named starting point", &object{
				name: "starter_ref", doc: "A named starting point.",
				fields: []field{need(text("name", "name of the starting point").fits(`^[A-Za-z0-9][A-Za-z0-9_-]*$`, "letters, digits, - and _"))},
			}),
			env,
			anything("fallback_runtimes", "runtimes to try when the first cannot start", notBuilt,
				"a seat keeps the runtime it names; change runtime instead"),
			ready,
			text("compaction_strategy", "how the conversation is compacted; only default-compaction"),
			anything("mechanic", "the seat that tends this one", notBuilt, "it is used by apprentice-handover only, which this version cannot do"),
			permissionField(),
		},
	}
}

func restoreField() field {
	f := oneText("restore_policy", "what a restore may do with the seat; a member may only narrow what its agent allows",
		string(engine.RestoreResume), string(engine.RestoreFresh))
	f.later = []string{string(engine.RestoreCheckpoint)}
	f.note = "write relaunch_fresh or leave it out: there are no checkpoints to restore a seat from"
	f.def = string(engine.RestoreResume)
	return f
}

// terminalRules tell an editor what goes together with a terminal.
func terminalRules() []map[string]any {
	is := func(key, value string) map[string]any {
		return map[string]any{"properties": map[string]any{key: map[string]any{"const": value}}, "required": []string{key}}
	}
	absent := map[string]any{}
	for _, key := range []string{"session_source", "role", "starter_ref", "permission_policy"} {
		absent[key] = false
	}
	terminal := map[string]any{
		"agent_ref": map[string]any{"const": "builtin:terminal"},
		"profile":   map[string]any{"const": "none"},
	}
	for k, v := range absent {
		terminal[k] = v
	}
	not := func(value string) map[string]any { return map[string]any{"not": map[string]any{"const": value}} }
	return []map[string]any{{
		"if":   is("runtime", "terminal"),
		"then": map[string]any{"properties": terminal},
		"else": map[string]any{"properties": map[string]any{"agent_ref": not("builtin:terminal"), "profile": not("none")}},
	}}
}

func edgeTable() *object {
	kinds := make([]string, len(engine.EdgeKinds))
	for i, k := range engine.EdgeKinds {
		kinds[i] = string(k)
	}
	return &object{
		name: "an edge", doc: "A directed relation between two members. delegates_to and spawned_by order the launch.",
		fields: []field{
			need(oneText("kind", "kind of the relation", kinds...)),
			need(text("from", "member id; pod.member in edges between pods")),
			need(text("to", "member id; pod.member in edges between pods")),
		},
	}
}

func (t *tables) fragmentTables(edge *object) {
	pod := *t.pod
	pod.fields = append([]field(nil), t.pod.fields...)
	for i := range pod.fields {
		if pod.fields[i].name == "label" {
			pod.fields[i].required = false // the pod may exist already
		}
	}
	pod.name = "the pod of a fragment"
	t.barePod = &pod
	t.fragment = &object{
		name: "a fragment", doc: "A pod, or members for a pod, that joins a running rig.",
		fields: []field{
			need(sub("pod", "the pod, with its new members", t.barePod)),
			listOf("crossPodEdges", "relations with members of other pods", elem(edge)),
		},
	}
}
