package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// block is one piece of an answer: a text, or a call of a tool.
type block struct {
	text  string
	tool  string
	input object
	raw   string // input of a tool that takes plain text in place of an object
}

// blockTexts is the text pieces of a message content, which is a string or a list of typed blocks. Text inside tool results
// counts when deep is set.
func blockTexts(content any, deep bool) []string {
	if s, ok := content.(string); ok {
		return []string{s}
	}
	var texts []string
	items, _ := content.([]any)
	for _, item := range items {
		piece := asObject(item)
		switch piece.text("type") {
		case "text", "input_text", "output_text":
			texts = append(texts, piece.text("text"))
		case "tool_result":
			if deep {
				texts = append(texts, blockTexts(piece["content"], deep)...)
			}
		}
	}
	return texts
}

// turn is what a Messages request says about the turn that it asks to continue.
type turn struct {
	typed     string   // what the user typed last, without what the client added around it
	all       string   // the whole text of the newest user message
	afterTool bool     // the request hands over a tool's result
	earlier   []string // every text before that, in order: system prompt, messages and tool results
	said      []string // the part of it that people and the model said: no system prompt, no reminders
	tools     []string // names of the tools on offer
}

// readTurn takes a Messages request apart.
func readTurn(body object) turn {
	var t turn
	messages := body.list("messages")
	last := -1
	for i, m := range messages {
		if asObject(m).text("role") == "user" {
			last = i
		}
	}
	t.earlier = blockTexts(body["system"], false)
	for i, m := range messages {
		texts := blockTexts(asObject(m)["content"], true)
		if i != last {
			t.earlier = append(t.earlier, texts...)
			t.said = append(t.said, withoutReminders(texts)...)
			continue
		}
		// A failed prompt and its repetition share one message, and clients put reminders beside what was typed.
		t.all = strings.Join(texts, "\n")
		typed := withoutReminders(blockTexts(asObject(m)["content"], false))
		if len(typed) > 0 {
			t.typed = typed[len(typed)-1]
			t.said = append(t.said, typed[:len(typed)-1]...)
		}
		for _, text := range texts {
			if text != t.typed {
				t.earlier = append(t.earlier, text)
			}
		}
		for _, item := range asObject(m).list("content") {
			t.afterTool = t.afterTool || asObject(item).text("type") == "tool_result"
		}
	}
	// A prompt typed after a refused tool call shares its message with the refusal: then the prompt counts.
	t.afterTool = t.afterTool && len(parse(t.typed)) == 0
	for _, tool := range body.list("tools") {
		t.tools = append(t.tools, asObject(tool).text("name"))
	}
	return t
}

// withoutReminders drops empty texts and those that the client itself put in.
func withoutReminders(texts []string) []string {
	return slices.DeleteFunc(slices.Clone(texts), func(text string) bool {
		text = strings.TrimSpace(text)
		return text == "" || strings.HasPrefix(text, "<system-reminder>")
	})
}

// compaction tells whether the request asks for the summary that a client compacts a conversation into.
func (t turn) compaction() bool {
	tail := t.all[max(0, len(t.all)-6000):]
	return strings.Contains(t.all, "create a detailed summary") ||
		strings.Contains(t.all, "CRITICAL: Respond with TEXT ONLY") ||
		strings.Contains(tail, "summary of the conversation") && strings.Contains(tail, "<summary>")
}

// messages answers the Anthropic Messages API.
func (m *mock) messages(w http.ResponseWriter, r *http.Request, n int, body object) {
	t := readTurn(body)
	s := script{}
	if !t.afterTool && !t.compaction() {
		s = parse(t.typed)
	}
	m.begin(r, s)
	if m.refuseMessages(w, s) {
		return
	}
	blocks := t.blocks(n, body, s)
	if stream, _ := body["stream"].(bool); stream {
		m.streamMessages(w, r, body, blocks, s)
		return
	}
	var content []object
	for _, b := range blocks {
		content = append(content, b.content())
	}
	writeJSON(w, http.StatusOK, m.envelope(body, content, stopReason(blocks), m.snapshot().OutputTokens))
}

// begin carries out the directives that act before the answer: the reported size and the silence.
func (m *mock) begin(r *http.Request, s script) {
	if tokens, err := strconv.Atoi(s["tokens"]); err == nil && tokens >= 0 {
		m.setInputTokens(tokens)
	}
	if d := s.seconds("wait"); d > 0 {
		pause(r, d)
	}
}

// errorTypes are the names that the Messages API gives to the statuses a client tells apart.
var errorTypes = map[int]string{
	http.StatusBadRequest:      "invalid_request_error",
	http.StatusUnauthorized:    "authentication_error",
	http.StatusTooManyRequests: "rate_limit_error",
	529:                        "overloaded_error",
}

// refuseMessages answers with the failure that the state or the script asks for, and tells whether it did.
func (m *mock) refuseMessages(w http.ResponseWriter, s script) bool {
	status, message := s.status(), "mock error "+s["err"]
	if forced := m.snapshot(); forced.Status != 0 {
		if len(forced.Body) > 0 {
			writeJSON(w, forced.Status, forced.Body)
			return true
		}
		status, message = forced.Status, "mock"
	}
	if s.has("limit") {
		status, message = http.StatusTooManyRequests, "This request would exceed your account's rate limit."
		w.Header().Set("Anthropic-Ratelimit-Unified-Status", "rejected")
		w.Header().Set("Anthropic-Ratelimit-Unified-Reset", strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10))
		w.Header().Set("Anthropic-Ratelimit-Unified-Representative-Claim", "five_hour")
		w.Header().Set("X-Should-Retry", "false")
	}
	if status == 0 {
		return false
	}
	kind := errorTypes[status]
	if kind == "" {
		kind = "api_error"
	}
	writeJSON(w, status, object{"type": "error", "error": object{"type": kind, "message": message}})
	return true
}

// blocks is the content of the answer.
func (t turn) blocks(n int, body object, s script) []block {
	offered := func(name string) bool { return slices.Contains(t.tools, name) }
	system := strings.ToLower(strings.Join(blockTexts(body["system"], false), "\n"))
	titling := len(t.tools) == 0 && strings.Contains(system[:min(len(system), 4000)], "title")
	switch {
	case t.compaction():
		return []block{{text: "<analysis>Facts of the conversation, in order.</analysis>\n<summary>\n" + summarize(t.said) + "\n</summary>"}}
	case body.obj("output_config")["format"] != nil || titling:
		return []block{{text: `{"title":"Mock title"}`}}
	case s.has("sh") && offered("Bash"):
		return []block{{text: "I will run a command."}, {tool: "Bash", input: object{"command": s["sh"], "description": "Mock command"}}}
	case s.has("write") && offered("Write"):
		content := "mock content\n"
		if s.has("content") {
			content = s["content"]
		}
		return []block{{text: "I will write a file."}, {tool: "Write", input: object{"file_path": s["write"], "content": content}}}
	case s.has("task") && (offered("Agent") || offered("Task")):
		name := "Task"
		if offered("Agent") {
			name = "Agent"
		}
		input := object{"description": "Mock subagent", "prompt": s["task"], "subagent_type": "general-purpose"}
		return []block{{text: "I will start a subagent."}, {tool: name, input: input}}
	case s.has("ask") && offered("AskUserQuestion"):
		options := []object{{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}}
		asked := object{"question": "Which colour?", "header": "Colour", "multiSelect": false, "options": options}
		return []block{{tool: "AskUserQuestion", input: object{"questions": []object{asked}}}}
	default:
		return []block{{text: s.reply(n, t.afterTool, t.typed, t.earlier)}}
	}
}

// content is the block as it stands in a complete message.
func (b block) content() object {
	if b.tool == "" {
		return object{"type": "text", "text": b.text}
	}
	return object{"type": "tool_use", "id": newID("toolu_"), "name": b.tool, "input": b.input}
}

// stopReason is why the model would have stopped after these blocks.
func stopReason(blocks []block) string {
	if slices.ContainsFunc(blocks, func(b block) bool { return b.tool != "" }) {
		return "tool_use"
	}
	return "end_turn"
}

// envelope is a message with the usage of this answer; content and stop may be nil while it is being streamed.
func (m *mock) envelope(body object, content []object, stop any, output int) object {
	if content == nil {
		content = []object{}
	}
	return object{
		"id": newID("msg_"), "type": "message", "role": "assistant", "model": body["model"], "content": content,
		"stop_reason": stop, "stop_sequence": nil, "usage": m.usage(output),
	}
}

// usage splits the reported context size as a client with a warm prompt cache sees it.
func (m *mock) usage(output int) object {
	const fresh, written = 3, 500
	return object{
		"input_tokens": fresh, "cache_creation_input_tokens": written, "output_tokens": output,
		"cache_read_input_tokens": max(m.snapshot().InputTokens-fresh-written, 0), "service_tier": "standard",
	}
}

// streamMessages sends the answer as the events of a streamed message.
func (m *mock) streamMessages(w http.ResponseWriter, r *http.Request, body object, blocks []block, s script) {
	out := open(w, r)
	out.send("message_start", object{"message": m.envelope(body, nil, nil, 1)})
	out.send("ping", object{})
	for i, b := range blocks {
		start := b.content()
		if b.tool == "" {
			start["text"] = ""
		} else {
			start["input"] = object{}
		}
		out.send("content_block_start", object{"index": i, "content_block": start})
		delta := func(d object) { out.send("content_block_delta", object{"index": i, "delta": d}) }
		if b.tool == "" {
			out.words(b.text, m.span(s), func(piece string) { delta(object{"type": "text_delta", "text": piece}) })
		} else if raw, err := json.Marshal(b.input); err == nil {
			delta(object{"type": "input_json_delta", "partial_json": string(raw)})
		}
		out.send("content_block_stop", object{"index": i})
	}
	stop := object{"stop_reason": stopReason(blocks), "stop_sequence": nil}
	out.send("message_delta", object{"delta": stop, "usage": m.usage(m.snapshot().OutputTokens)})
	out.send("message_stop", object{})
}

// span is how long a streamed text takes.
func (m *mock) span(s script) time.Duration {
	if s.has("slow") {
		return s.seconds("slow")
	}
	return time.Duration(m.snapshot().Delay * float64(time.Second))
}

// newID is a fresh id with the prefix that the API gives to its kind.
func newID(prefix string) string { return fmt.Sprintf("%s%016x", prefix, nextID.Add(1)) }
