package transcript

import (
	"bytes"
	"strings"
)

// item handles a response item: a message, a tool call or its result.
func (cr *codexReader) item(rec *codexRecord) {
	switch kind := string(inner(rec.payload.get("type"))); kind {
	case "message":
		cr.itemMessage(rec)
	case "reasoning":
		cr.sum.Omitted.Reasoning++
	case "function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call":
		cr.sum.Omitted.ToolCalls++
		if cr.opts.Tools {
			cr.hand(rec, callMessage(kind, rec.payload, &cr.scratch))
		}
	default:
		if strings.HasSuffix(kind, "_output") {
			cr.sum.Omitted.ToolResults++
			return
		}
		cr.sum.Omitted.Other++
	}
}

// callMessage reads the call in the member its kind keeps the input in.
func callMessage(kind string, payload members, scratch *[]byte) Message {
	name := short(payload.get("name"), 200)
	if name == "" {
		name = strings.TrimSuffix(kind, "_call")
	}
	for _, member := range []string{"arguments", "input", "action"} {
		if v := payload.get(member); v != nil {
			return toolMessage(name, v, scratch)
		}
	}
	return Message{Role: RoleTool, ToolName: name}
}

// itemMessage handles a message item. Recent releases say for each part where
// it came from; without that the text decides.
func (cr *codexReader) itemMessage(rec *codexRecord) {
	id := short(rec.payload.get("id"), 200)
	content := rec.payload.get("content")
	switch string(inner(rec.payload.get("role"))) {
	case "assistant":
		if s := cr.plainText(content); s != "" {
			cr.message(rec, shapeItem, Message{Role: RoleAssistant, Text: s, UUID: id})
		}
	case "user":
		kinds := field(rec.payload.get("internal_chat_message_metadata_passthrough"), "content_item_kinds")
		cr.userItem(rec, content, kindList(kinds), id)
	default: // developer, system: instructions of the harness
		if s := cr.plainText(content); s != "" {
			cr.hand(rec, Message{Role: RoleInjected, Label: labelDeveloper, Text: s, UUID: id})
		}
	}
}

// kindList reads the list of part kinds, nil when there is none.
func kindList(raw []byte) [][]byte {
	var out [][]byte
	c := arrayCursor(raw)
	for c.element() {
		v := c.value()
		if v == nil {
			return nil
		}
		out = append(out, inner(v))
	}
	return out
}

// userItem separates a person's words from what the harness filed as user.
func (cr *codexReader) userItem(rec *codexRecord, content []byte, kinds [][]byte, id string) {
	var typed, added []string
	label, index := labelContext, 0
	eachPart(content, func(p part) {
		at := index
		index++
		if p.text == nil {
			if bytes.Contains(p.kind, []byte("image")) {
				cr.sum.Omitted.Images++
			}
			return
		}
		s := text(p.text, &cr.scratch)
		ours := injectedLabel(s)
		if at < len(kinds) && len(kinds[at]) > 0 && !bytes.HasPrefix(kinds[at], []byte("user.")) && string(kinds[at]) != "unknown" {
			ours = labelContext
		}
		if ours != "" {
			label = ours
			added = append(added, s)
			return
		}
		typed = append(typed, s)
	})
	if joined := strings.TrimSpace(strings.Join(added, "\n")); joined != "" {
		cr.hand(rec, Message{Role: RoleInjected, Label: label, Text: joined, UUID: id})
	}
	if joined := strings.TrimSpace(strings.Join(typed, "\n")); joined != "" {
		cr.message(rec, shapeItem, Message{Role: RoleOperator, Text: joined, UUID: id})
	}
}

// plainText joins the text parts of a message.
func (cr *codexReader) plainText(content []byte) string {
	var parts []string
	eachPart(content, func(p part) {
		if p.text != nil {
			parts = append(parts, text(p.text, &cr.scratch))
		}
	})
	return strings.TrimSpace(strings.Join(parts, "\n"))
}

// message hands out a message unless it is the other shape of one that was
// handed out already.
func (cr *codexReader) message(rec *codexRecord, shape uint8, m Message) {
	if cr.pairs.known(m.Role, m.Text, shape, rec.at) {
		cr.sum.Omitted.Duplicates++
		return
	}
	cr.sum.Messages++
	cr.hand(rec, m)
}

// event handles an event record.
func (cr *codexReader) event(rec *codexRecord) {
	kind := string(inner(rec.payload.get("type")))
	if t, ok := turnEvent(kind, rec.payload); ok {
		cr.release()
		t.Since, t.Offset = rec.at, rec.off
		cr.sum.Turn = t
		cr.sum.Omitted.Other++
		return
	}
	switch kind {
	case "user_message", "agent_message":
		s := strings.TrimSpace(text(rec.payload.get("message"), &cr.scratch))
		cr.eventMessage(rec, kind == "user_message", shapeEvent, s)
	case "item_completed":
		cr.completed(rec)
	case "token_count":
		u, ok := tokenCount(rec.payload)
		if u.RateLimits != nil {
			cr.limits = u.RateLimits
		}
		if ok {
			u.At, u.Offset, u.Model, u.Inherited = rec.at, rec.off, cr.sum.Model, cr.inherited()
			cr.sum.Usage = &u
		}
	case "agent_reasoning", "agent_reasoning_raw_content":
		cr.sum.Omitted.Reasoning++
	default:
		cr.sum.Omitted.Other++
	}
}

// eventMessage hands out a message that was written as an event.
func (cr *codexReader) eventMessage(rec *codexRecord, user bool, shape uint8, s string) {
	if s == "" {
		return
	}
	m := Message{Role: RoleAssistant, Text: s}
	if user {
		m.Role = RoleOperator
		if label := injectedLabel(s); label != "" {
			cr.hand(rec, Message{Role: RoleInjected, Label: label, Text: s})
			return
		}
	}
	cr.message(rec, shape, m)
}

// completed handles the completed items of recent releases, which repeat the
// messages and add what commands and patches touched.
func (cr *codexReader) completed(rec *codexRecord) {
	it := rec.payload.get("item")
	switch string(inner(field(it, "type"))) {
	case "UserMessage":
		cr.eventMessage(rec, true, shapeCompleted, cr.plainText(field(it, "content")))
	case "AgentMessage":
		cr.eventMessage(rec, false, shapeCompleted, cr.plainText(field(it, "content")))
	case "FileChange":
		if !cr.opts.Tools {
			return
		}
		m := Message{Role: RoleTool, ToolName: "file_change"}
		ps := pathSet{}
		c := objectCursor(field(it, "changes"))
		for c.member() {
			quoted := append(append([]byte{'"'}, c.key...), '"')
			ps.add(text(quoted, &cr.scratch))
			if c.value() == nil {
				break
			}
		}
		m.Paths = ps.list
		cr.hand(rec, m)
	default:
		cr.sum.Omitted.Other++
	}
}

// turnEvent reads the events that open and close a turn.
func turnEvent(kind string, payload members) (Turn, bool) {
	t := Turn{ID: short(payload.get("turn_id"), 200)}
	switch kind {
	case "task_started":
		t.State = TurnOpen
	case "turn_aborted":
		t.State = TurnInterrupted
	case "task_complete":
		t.State = TurnDone
		t.LastText = clip(short(payload.get("last_agent_message"), 16<<10), 16<<10)
		if e := payload.get("error"); len(e) > 0 && e[0] == '{' {
			t.State = TurnFailed
			t.ErrorText = firstLine(short(field(e, "message"), 400), 300)
			t.ErrorCode = errorInfo(field(e, "codex_error_info"))
			t.Limit = t.ErrorCode == "usage_limit_exceeded"
		}
	default:
		return Turn{}, false
	}
	return t, true
}

// errorInfo reads the client's error code: a word, or an object whose only
// member is the word.
func errorInfo(raw []byte) string {
	if isString(raw) {
		return short(raw, 100)
	}
	c := objectCursor(raw)
	if c.member() {
		return clip(string(c.key), 100)
	}
	return ""
}

// tokenCount reads a usage event. Occupancy comes from the last call; the
// lifetime total only grows and is kept beside it.
func tokenCount(payload members) (Usage, bool) {
	u := Usage{RateLimits: rateLimits(payload.get("rate_limits"))}
	info := payload.get("info")
	last := field(info, "last_token_usage")
	if len(last) == 0 || last[0] != '{' {
		return u, false
	}
	u.Window = integer(field(info, "model_context_window"))
	u.LifetimeTokens = integer(field(field(info, "total_token_usage"), "total_tokens"))
	u.OutputTokens = integer(field(last, "output_tokens"))
	if total := field(last, "total_tokens"); total != nil && string(total) != "null" {
		u.Tokens = integer(total)
	} else {
		u.Tokens = integer(field(last, "input_tokens")) + u.OutputTokens
	}
	return u, true
}

// rateLimits reads the account limits that come with a usage event.
func rateLimits(raw []byte) []RateLimit {
	var out []RateLimit
	for _, name := range []string{"primary", "secondary"} {
		l := field(raw, name)
		if len(l) == 0 || l[0] != '{' {
			continue
		}
		out = append(out, RateLimit{
			Name:          name,
			UsedPercent:   min(max(number(field(l, "used_percent")), 0), 100),
			WindowMinutes: integer(field(l, "window_minutes")),
			ResetsAt:      moment(field(l, "resets_at")),
		})
	}
	return out
}
