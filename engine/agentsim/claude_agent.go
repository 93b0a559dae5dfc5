package agentsim

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// agentTool starts a subagent, which runs in the background: the turn ends, and
// a notification from the client itself starts the next one.
func (c *claude) agentTool(t *claudeTool, prompt string) {
	t.name, t.intro, t.free = "Agent", "I will start a subagent.", true
	t.input = obj("description", "Mock subagent", "prompt", prompt, "subagent_type", "general-purpose")
	agent := "a" + c.env.hex(16)
	out := filepath.Join(fmt.Sprintf("/tmp/claude-%d", os.Getuid()), claudeSlug(c.cwd), c.file.session, "tasks", agent+".output")
	t.run = func(ctx context.Context, c *claude, t *claudeTool, _ int) toolDone {
		c.mu.Lock()
		in := obj("session_id", c.shownID(), "transcript_path", c.file.path, "cwd", c.cwd, "prompt_id", c.promptID, "agent_id", agent, "agent_type", "general-purpose", "hook_event_name", "SubagentStart")
		c.mu.Unlock()
		c.fire(ctx, "SubagentStart", "general-purpose", in)
		c.mu.Lock()
		c.bg = append(c.bg, obj("id", agent, "type", "subagent", "status", "running", "description", "Mock subagent", "agent_type", "general-purpose"))
		c.mu.Unlock()
		go c.subagent(t.id, agent, prompt, out)
		return toolDone{
			content: []rec{obj("type", "text", "text", "Async agent launched successfully.\nagentId: "+agent+"\noutput_file: "+out)},
			response: obj("isAsync", true, "status", "async_launched", "agentId", agent, "description", "Mock subagent", "resolvedModel", c.model, "prompt", prompt,
				"outputFile", out, "canReadOutputFile", true, "canContinueAgent", true),
		}
	}
}

// subagent writes the sidechain and reports back.
func (c *claude) subagent(toolID, agent, prompt, out string) {
	s := parseScript(prompt)
	pause(context.Background(), max(s.seconds("wait"), 200*time.Millisecond))
	c.mu.Lock()
	c.answers++
	text := cmp.Or(s["say"], answer(nil, prompt, c.answers))
	path := filepath.Join(strings.TrimSuffix(c.file.path, ".jsonl"), "subagents", "agent-"+agent+".jsonl")
	c.sidechain(path, toolID, agent, prompt, text)
	in := c.agentStop(agent, "general-purpose", path, text)
	c.mu.Unlock()
	c.fire(context.Background(), "SubagentStop", "general-purpose", in)
	note := "<task-notification>\n<task-id>" + agent + "</task-id>\n<tool-use-id>" + toolID + "</tool-use-id>\n<output-file>" + out +
		"</output-file>\n<status>completed</status>\n<summary>Agent \"Mock subagent\" finished</summary>\n<note>STAND-IN</note>\n<result>" + text +
		" </result>\n<usage><subagent_tokens>1240</subagent_tokens><tool_uses>0</tool_uses><duration_ms>100</duration_ms></usage>\n</task-notification>"
	c.do(func() {
		if c.file.closed {
			return
		}
		c.bg, c.tasks = nil, c.tasks+1
		c.lastTask = obj("type", "task_status", "taskId", agent, "taskType", "local_agent", "description", "Mock subagent", "status", "completed",
			"deltaSummary", nil, "outputFilePath", out, "canContinueAgent", true)
		c.file.write(line(obj("type", "queue-operation", "operation", "enqueue", "timestamp", stamp(c.env.Now()), "sessionId", c.file.session, "content", note)))
		c.queue = append(c.queue, queued{text: note, typed: note, promptID: c.env.uuid4(), sent: c.env.Now().UnixMilli(), system: true})
		c.show(item{mark: "● ", text: `Agent "Mock subagent" finished · 0s`})
		c.next()
	})
}

func (c *claude) agentStop(agent, kind, path, last string) rec {
	r := obj("session_id", c.shownID(), "transcript_path", c.file.path, "cwd", c.cwd, "prompt_id", c.promptID, "permission_mode", c.wireMode(),
		"agent_id", agent, "agent_type", kind, "effort", obj("level", c.effort), "hook_event_name", "SubagentStop", "stop_hook_active", false,
		"agent_transcript_path", path, "last_assistant_message", last, "background_tasks", orEmpty(c.bg), "session_crons", []any{})
	return r
}

// sidechain writes the transcript of a subagent and its description.
func (c *claude) sidechain(path, toolID, agent, prompt, text string) {
	f := &claudeFile{path: path, created: true, session: c.file.session, entry: c.file.entry, cwd: c.cwd, branch: c.file.branch}
	head := func() rec { return obj("parentUuid", orNull(f.leaf), "isSidechain", true) }
	u, now := c.env.uuid4(), stamp(c.env.Now())
	f.putHead(head(), u, false, obj("promptId", c.promptID, "agentId", agent, "type", "user", "message", obj("role", "user", "content", prompt),
		"rowSource", "recorded", "uuid", u, "timestamp", now))
	u = c.env.uuid4()
	f.putHead(head(), u, false, obj("agentId", agent, "message", obj("id", "msg_"+c.env.hex(24), "type", "message", "role", "assistant", "model", c.model,
		"content", []rec{obj("type", "text", "text", text+" ")}, "stop_reason", "end_turn", "stop_sequence", nil, "usage", c.usage(), "stop_details", nil),
		"apiBlockIndex", 0, "requestId", "req_standin", "requestRef", c.env.uuid4(), "requestedModel", c.model, "promptCacheRequested", "5m",
		"attributionAgent", "general-purpose", "type", "assistant", "uuid", u, "timestamp", now, "effort", c.effort, "perTurnEffort", c.effort, "madeBy", "model"))
	meta, err := plainJSON(obj("agentType", "general-purpose", "isBuiltIn", true, "launchedWithDefaults", true, "description", "Mock subagent", "toolUseId", toolID,
		"spawnDepth", 1, "requestShape", "background", "requestNonInteractive", true, "model", c.model, "modelNotNamed", true, "pickedEffortModel", c.model, "finished", true))
	if err == nil {
		writeWhole(strings.TrimSuffix(path, ".jsonl")+".meta.json", meta)
	}
}
