package specs

import "rig/engine"

func moments() field {
	return field{
		name: "applies_on", doc: "when it applies; both by default", kind: kList, least: 1,
		of: &field{kind: kText, enum: []string{string(engine.MomentFresh), string(engine.MomentRestore)}},
	}
}

// startupTables build the startup block, which is the same at every level.
func (t *tables) startupTables() field {
	hint := oneText("delivery_hint", "how the text reaches the agent", "auto", "send_text", "guidance_merge", "skill_install")
	hint.def = "auto"
	required := yesNo("required", "whether a missing file stops the launch")
	required.def = true
	t.startupFile = &object{
		name: "a startup file", doc: "A text given to the agent at its start.",
		before: notContextPack,
		fields: []field{
			need(pathText("path", "file, relative to the folder of this file")),
			hint, required, moments(), oneText("kind", "kind of the entry", "file"),
		},
	}
	phase := oneText("phase", "when it is sent", "after_files", "after_ready")
	phase.def = "after_files"
	t.startupAction = &object{
		name: "a startup action", doc: "A line typed into the agent at its start.",
		before: actionType,
		fields: []field{
			need(oneText("type", "kind of the action", "slash_command", "send_text")),
			need(prose("value", "the line")),
			phase, moments(),
			need(yesNo("idempotent", "whether it may be sent again on a restore")),
		},
	}
	return sub("startup", "what the agent is given at its start", &object{
		name: "startup", doc: "What the agent is given at its start.",
		fields: []field{
			listOf("files", "texts, in order", elem(t.startupFile)),
			listOf("actions", "lines, in order", elem(t.startupAction)),
		},
	})
}

// sourceTables build session_source: three alternatives that the mode selects.
func (t *tables) sourceTables() field {
	ref := func(name, kind, doc string, value field, more ...field) *object {
		o := &object{name: "ref of " + name, doc: doc, fields: append([]field{
			need(oneText("kind", "kind of the reference", kind)), value,
		}, more...)}
		return &object{name: "session_source of mode " + name, doc: doc, fields: []field{
			need(oneText("mode", "how the first conversation comes about", name)),
			need(sub("ref", "what it is taken from", o)),
		}}
	}
	id := need(text("value", "id of the conversation, as its runtime writes it")).
		fits(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`, "a UUID")
	id.secret = true
	files := need(listOf("value", "files in trust order, the most trusted first", text("", "a file")))
	files.least = 1
	image := need(text("value", "name of the image")).fits(`^[A-Za-z0-9][A-Za-z0-9._-]*$`, wordSays)
	t.fork = ref("fork", "native_id", "Starts a new conversation from a copy of another one.", id)
	t.rebuild = ref("rebuild", "artifact_set", "Primes a fresh conversation with files.", files)
	t.image = ref("agent_image", "image_name", "Starts from a stored agent image.", image,
		field{name: "version", doc: `version of the image, "1" by default`, kind: kVersion})
	return field{
		name: "session_source", doc: "from where the seat takes its first conversation", kind: kObject,
		object: &object{name: "session_source", doc: "From where the seat takes its first conversation.", before: later},
		oneOf:  []*object{t.fork, t.rebuild, t.image},
	}
}

func workspaceTable() *object {
	kind := need(oneText("kind", "what the repository is for", "user", "project", "knowledge", "lab", "delivery"))
	repo := &object{name: "a repo", doc: "A repository of the workspace.", fields: []field{
		need(text("name", "name of the repository").fits(wordPattern, wordSays)),
		need(text("path", "folder, absolute or relative to workspace_root")),
		kind,
	}}
	return &object{name: "workspace", doc: "The repositories the rig works on.", fields: []field{
		need(text("workspace_root", "folder that holds them")),
		listOf("repos", "the repositories", elem(repo)),
		text("default_repo", "name of the repository that counts when none is named"),
		text("knowledge_root", "folder of shared knowledge"),
	}}
}

func continuityTable() *object {
	return &object{name: "continuity_policy", doc: "What the pod wants to keep for its continuity.", fields: []field{
		need(yesNo("enabled", "whether the policy counts")),
		listOf("sync_triggers", "occasions to write the artifacts",
			oneText("", "an occasion", "pre_compaction", "pre_shutdown", "manual", "milestone")),
		sub("artifacts", "files that are kept", &object{name: "artifacts", doc: "Files that are kept.", fields: []field{
			yesNo("session_log", "a log of the session"), yesNo("restore_brief", "a brief for a restore"), yesNo("quiz", "questions that test a restore"),
		}}),
		sub("restore_protocol", "how the pod is brought back", &object{name: "restore_protocol", doc: "How the pod is brought back.", fields: []field{
			yesNo("peer_driven", "a peer leads"), yesNo("verify_via_quiz", "the quiz is asked"),
		}}),
	}}
}

func policiesTable() *object {
	percent := field{name: "threshold_percent", doc: "share of the context window, in percent", kind: kInt, min: 1, max: 100, def: engine.DefaultCompactPercent}
	tokens := field{name: "threshold_tokens", doc: "size of the conversation, in tokens", kind: kInt, min: 1, max: 100_000_000}
	return &object{name: "policies", doc: "Rules for all seats of the rig.", fields: []field{
		sub("claude_compaction", "managed compaction of Claude seats", &object{
			name: "claude_compaction", doc: "Managed compaction of Claude seats. Whichever threshold is reached first counts.",
			fields: []field{
				need(yesNo("enabled", "whether seats are compacted by us")),
				percent, tokens,
				prose("pre_compact_instruction", "what a seat is told before it is compacted"),
				prose("compact_instruction", "what the summary should keep"),
				prose("message_inline", "what a seat is told after it was compacted"),
				text("message_file_path", "a file with more to tell it then"),
				prose("post_restore_audit_instruction", "how a seat proves that it knows its work"),
				yesNo("tell_neighbours", "whether the agents on a seat's edges are told when it was compacted, whoever did it"),
			},
		}),
	}}
}
