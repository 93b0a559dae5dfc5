package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// nextID counts the ids handed out; it starts at the clock so that ids of two runs of the mock do not collide in one transcript.
var nextID = func() *atomic.Int64 {
	var n atomic.Int64
	n.Store(time.Now().UnixNano())
	return &n
}()

// request is what a Responses request says about the turn that it asks to continue.
type request struct {
	typed     string // the newest user text
	afterTool bool
	earlier   []string          // every text before that, in order, instructions and tool outputs included
	said      []string          // the part of it that the user and the model said
	tools     map[string]string // the tools on offer, name to type
}

// readRequest takes a Responses request apart.
func readRequest(body object) request {
	q := request{tools: map[string]string{}}
	input := body.list("input")
	if s, ok := body["input"].(string); ok {
		input = []any{map[string]any{"role": "user", "content": s}}
	}
	q.earlier = append(q.earlier, body.text("instructions"))
	for i, item := range input {
		o := asObject(item)
		kind := o.text("type")
		text := strings.Join(blockTexts(o["content"], true), "\n")
		switch {
		case o.text("role") == "user" && (kind == "" || kind == "message"):
			q.keep(q.typed, true)
			q.typed = text
		case strings.HasSuffix(kind, "_call_output"):
			q.afterTool = i == len(input)-1
			q.keep(o.text("output"), false)
		default:
			q.keep(text, o.text("role") == "assistant")
		}
	}
	for _, tool := range body.list("tools") {
		o := asObject(tool)
		name := o.text("name")
		if name == "" {
			name = o.text("type")
		}
		q.tools[name] = o.text("type")
	}
	return q
}

// keep remembers an earlier text of the request.
func (q *request) keep(text string, said bool) {
	if text == "" {
		return
	}
	q.earlier = append(q.earlier, text)
	if said {
		q.said = append(q.said, text)
	}
}

// compaction tells whether the request asks for the summary that the client compacts a conversation into.
func (q request) compaction() bool {
	return strings.Contains(q.typed, "CONTEXT CHECKPOINT COMPACTION") || strings.Contains(q.typed, "handoff summary")
}

// responses answers the OpenAI Responses API, which its client always streams.
func (m *mock) responses(w http.ResponseWriter, r *http.Request, n int, body object) {
	q := readRequest(body)
	s := script{}
	if !q.afterTool && !q.compaction() {
		s = parse(q.typed)
	}
	m.begin(r, s)
	if m.refuseResponses(w, s) {
		return
	}
	out := &responseStream{stream: open(w, r), id: newID("resp_"), model: body["model"]}
	out.event("response.created", object{"response": out.response("in_progress", nil, nil)})
	var done []object
	for i, b := range q.blocks(n, body, s) {
		done = append(done, out.item(i, b, m.span(s)))
	}
	state := m.snapshot()
	usage := object{
		"input_tokens": state.InputTokens, "input_tokens_details": object{"cached_tokens": max(state.InputTokens-500, 0)},
		"output_tokens": state.OutputTokens, "output_tokens_details": object{"reasoning_tokens": 0},
		"total_tokens": state.InputTokens + state.OutputTokens,
	}
	out.event("response.completed", object{"response": out.response("completed", done, usage)})
}

// refuseResponses answers with the failure that the state or the script asks for, and tells whether it did.
func (m *mock) refuseResponses(w http.ResponseWriter, s script) bool {
	status := s.status()
	failure := object{"message": "mock error " + s["err"], "type": "server_error", "code": nil}
	if forced := m.snapshot(); forced.Status != 0 {
		if len(forced.Body) > 0 {
			writeJSON(w, forced.Status, forced.Body)
			return true
		}
		status = forced.Status
	}
	if s.has("limit") {
		status = http.StatusTooManyRequests
		failure = object{
			"type": "usage_limit_reached", "message": "The usage limit has been reached", "plan_type": "pro",
			"resets_at": time.Now().Add(time.Hour).Unix(), "resets_in_seconds": 3600,
		}
	}
	if status == 0 {
		return false
	}
	writeJSON(w, status, object{"error": failure})
	return true
}

// blocks is the content of the answer.
func (q request) blocks(n int, body object, s script) []block {
	switch {
	case q.compaction():
		return []block{{text: summarize(q.said)}}
	case body.obj("text")["format"] != nil:
		return []block{{text: `{"title":"Mock title"}`}}
	case s.has("sh"):
		return []block{q.shell(s["sh"], false)}
	case s.has("esc"):
		return []block{q.shell(s["esc"], true)}
	case s.has("write"):
		return []block{q.patch(s["write"])}
	default:
		return []block{{text: s.reply(n, q.afterTool, q.typed, q.earlier)}}
	}
}

// shell is a call of the shell tool that the client offers; versions of it name the tool and its argument differently.
func (q request) shell(command string, escalate bool) block {
	b := block{text: "No shell tool was offered."}
	words := []string{"bash", "-lc", command}
	for _, form := range []struct {
		tool, key string
		value     any
	}{{"exec_command", "cmd", command}, {"shell_command", "command", command}, {"shell", "command", words}, {"local_shell", "command", words}} {
		if _, ok := q.tools[form.tool]; ok {
			b = block{tool: form.tool, input: object{form.key: form.value}}
			break
		}
	}
	if escalate && b.tool != "" {
		b.input["sandbox_permissions"] = "require_escalated"
		b.input["justification"] = "the mock was asked to leave the sandbox"
	}
	return b
}

// patch is a call that adds a file, through the patch tool if there is one, else through the shell.
func (q request) patch(path string) block {
	text := "*** Begin Patch\n*** Add File: " + path + "\n+mock content\n*** End Patch\n"
	switch kind, ok := q.tools["apply_patch"]; {
	case ok && kind == "custom":
		return block{tool: "apply_patch", raw: text}
	case ok:
		return block{tool: "apply_patch", input: object{"input": text}}
	default:
		return q.shell("apply_patch <<'EOF'\n"+text+"EOF", false)
	}
}

// responseStream is a streamed response: its events are numbered.
type responseStream struct {
	*stream
	id    string
	model any
	seq   int
}

// event sends one numbered event.
func (o *responseStream) event(kind string, event object) {
	event["sequence_number"] = o.seq
	o.seq++
	o.send(kind, event)
}

// response is the response document in the given state.
func (o *responseStream) response(status string, output []object, usage any) object {
	if output == nil {
		output = []object{}
	}
	doc := object{
		"id": o.id, "object": "response", "created_at": time.Now().Unix(), "status": status,
		"model": o.model, "output": output,
	}
	if usage != nil {
		doc["usage"] = usage
	}
	return doc
}

// item streams one output item and returns it complete.
func (o *responseStream) item(i int, b block, over time.Duration) object {
	var item object
	switch {
	case b.tool == "":
		return o.message(i, b.text, over)
	case b.raw != "":
		item = object{"type": "custom_tool_call", "id": newID("ctc_"), "call_id": newID("call_"), "name": b.tool, "input": b.raw}
	default:
		raw, err := json.Marshal(b.input)
		if err != nil {
			o.err = err
			return object{}
		}
		item = object{"type": "function_call", "id": newID("fc_"), "call_id": newID("call_"), "name": b.tool, "arguments": string(raw)}
	}
	item["status"] = "in_progress"
	o.event("response.output_item.added", object{"output_index": i, "item": item})
	item["status"] = "completed"
	o.event("response.output_item.done", object{"output_index": i, "item": item})
	return item
}

// message streams a text as an output item.
func (o *responseStream) message(i int, text string, over time.Duration) object {
	id := newID("msg_")
	part := func(text string) object {
		return object{"type": "output_text", "text": text, "annotations": []any{}}
	}
	item := object{"type": "message", "id": id, "role": "assistant", "status": "in_progress", "content": []object{}}
	o.event("response.output_item.added", object{"output_index": i, "item": item})
	place := func(more object) object {
		more["output_index"], more["content_index"], more["item_id"] = i, 0, id
		return more
	}
	o.event("response.content_part.added", place(object{"part": part("")}))
	var full strings.Builder
	o.words(text, over, func(piece string) {
		full.WriteString(piece)
		o.event("response.output_text.delta", place(object{"delta": piece}))
	})
	o.event("response.output_text.done", place(object{"text": full.String()}))
	item["status"], item["content"] = "completed", []object{part(full.String())}
	o.event("response.output_item.done", object{"output_index": i, "item": item})
	return item
}
