package specs

const (
	inertResources = "nothing is ever written into your project; give the text as a startup file"
	noSource       = "session_source belongs to a member of a rig, never to an agent: it is an input of one launch"
)

// agentTables build agent.yaml.
func (t *tables) agentTables(startup field) {
	lifecycle := sub("lifecycle", "how the agent is kept", &object{
		name: "lifecycle", doc: "How the agent is kept.", fields: []field{
			text("execution_mode", "only interactive_resident"),
			text("compaction_strategy", "how the conversation is compacted; only default-compaction"),
			restoreField(),
		},
	})
	runtime := text("runtime", "runtime the agent prefers; the member's own counts")
	model := text("model", "model the agent prefers; the member's own counts").fits(modelPattern, modelSays)
	source := anything("session_source", "not allowed here", wrong, noSource)

	profile := &object{name: "a profile", doc: "One way to use the agent.", fields: []field{
		prose("summary", "what the profile is for"),
		sub("preferences", "what the profile prefers", &object{
			name: "preferences", doc: "What the profile prefers.", fields: []field{runtime, model},
		}),
		sub("uses", "resources that the profile installs", usesTable()),
		startup, lifecycle,
		sub("activity", "how its activity is judged", &object{name: "activity", doc: "How its activity is judged.", fields: []field{
			{name: "silence_window_seconds", doc: "seconds of silence that count as idle", kind: kInt, min: 1, max: 3600},
		}}).inert("activity is judged by the evidence of the runtime"),
		source,
	}}
	importing := &object{name: "an import", doc: "Another agent whose resources are used.", fields: []field{
		need(text("ref", "local:FOLDER or path:/FOLDER")),
		text("version", "exact version").fits(`^[0-9A-Za-z][0-9A-Za-z.+-]*$`, "one exact version, no range"),
	}}
	t.agent = &object{
		name: "the agent", doc: "An agent: how one kind of member is started.",
		fields: []field{
			need(text("name", "name of the agent").fits(`^[A-Za-z0-9][A-Za-z0-9 ._-]*$`, "letters, digits, spaces, . _ and -")),
			need(text("version", `version of the agent, such as "1.0" (quoted)`)),
			prose("description", "what the agent is for"),
			prose("summary", "what the agent is for"),
			sub("defaults", "what holds for every profile", &object{
				name: "defaults", doc: "What holds for every profile.", fields: []field{runtime, model, lifecycle},
			}),
			listOf("imports", "other agents whose resources are used", elem(importing)).inert(inertResources),
			{name: "profiles", doc: "ways to use the agent, by name", kind: kMap, of: &field{kind: kObject, object: profile}},
			anything("resources", "files that other builds install into a project", inert, inertResources),
			startup, source,
		},
	}
}

// usesTable lists what a profile may install elsewhere. A list with entries would
// change what the agent knows, so only empty ones pass.
func usesTable() *object {
	o := &object{name: "uses", doc: "Resources that the profile installs."}
	for _, name := range []string{"skills", "guidance", "subagents", "plugins", "runtime_resources"} {
		o.fields = append(o.fields, anything(name, "resources to install", notBuilt, inertResources))
	}
	return o
}
