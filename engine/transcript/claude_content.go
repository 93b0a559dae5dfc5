package transcript

import (
	"bytes"
	"strings"
	"time"
)

// part is one piece of a record's content, its texts still raw.
type part struct {
	kind []byte
	text []byte // raw JSON string, or nil
	raw  []byte // the whole part
}

// eachPart walks content in every shape that was seen: a string, a list of
// strings and blocks, a single block, or nothing usable.
func eachPart(content []byte, fn func(part)) {
	switch {
	case isString(content):
		fn(part{kind: []byte("text"), text: content, raw: content})
	case len(content) > 0 && content[0] == '{':
		c := objectCursor(content)
		fn(readPart(&c))
	case len(content) > 0 && content[0] == '[':
		c := arrayCursor(content)
		for c.element() {
			switch c.peek() {
			case '{':
				inside := c.object()
				p := readPart(&inside)
				c.leave(inside)
				fn(p)
			case '"':
				v := c.value()
				fn(part{kind: []byte("text"), text: v, raw: v})
			default:
				c.value()
			}
		}
	}
}

// readPart walks one block to its end.
func readPart(c *cursor) part {
	var p part
	start := c.i - 1
	for c.member() {
		key := c.key
		v := c.value()
		switch string(key) {
		case "type":
			p.kind = inner(v)
		case "text":
			if isString(v) {
				p.text = v
			}
		}
	}
	if len(p.kind) == 0 && p.text != nil {
		p.kind = []byte("text")
	}
	p.raw = c.b[start:c.i]
	return p
}

// readMessage takes the members of a record's message, which may also be bare
// content. It walks the message once: most of a transcript's bytes are here.
func (rec *claudeRecord) readMessage(c *cursor) {
	if c.peek() != '{' {
		v := c.value()
		rec.message, rec.msg = v, reply{content: v}
		return
	}
	inside := c.object()
	start := inside.i - 1
	rec.msg = reply{}
	for inside.member() {
		key := inside.key
		v := inside.value()
		switch string(key) {
		case "content":
			rec.msg.content = v
		case "model":
			rec.msg.model = v
		case "usage":
			rec.msg.usage = v
		case "stop_reason":
			rec.msg.stop = inner(v)
		}
	}
	c.leave(inside)
	rec.message = inside.b[start:inside.i]
}

// user handles a record filed under "user": what a person typed, tool results,
// compaction summaries and a lot of text from the client itself.
func (cr *claudeReader) user(rec *claudeRecord) {
	if len(rec.uuid) > 0 && cr.seen.repeated(rec.uuid, rec.message) {
		cr.sum.Omitted.Duplicates++
		return
	}
	var typed []string
	results := 0
	eachPart(rec.msg.content, func(p part) {
		switch kind := string(p.kind); {
		case kind == "text":
			typed = cr.userText(rec, typed, text(p.text, &cr.scratch))
		case kind == "image" || kind == "document":
			cr.sum.Omitted.Images++
		case strings.HasSuffix(kind, "tool_result"):
			results++
		}
	})
	cr.sum.Omitted.ToolResults += results
	if joined := strings.TrimSpace(strings.Join(typed, "\n")); joined != "" {
		m := Message{Role: RoleOperator, Text: joined}
		switch {
		case rec.isSummary:
			m.Role = RoleSummary
			cr.summaryOf(rec)
		case results == 0:
			if m.RewoundTo, m.Rewound = cr.hung.hang(rec); m.Rewound {
				cr.sum.Rewinds++
			}
		}
		cr.hand(rec, m)
	}
	cr.userTurn(rec, len(typed) > 0, results > 0)
}

// userText sorts one text: kept words are appended to typed, everything that
// the client wrote is handed out as injected.
func (cr *claudeReader) userText(rec *claudeRecord, typed []string, s string) []string {
	if rec.isSummary {
		return append(typed, s)
	}
	if label := rec.injected(); label != "" {
		cr.hand(rec, Message{Role: RoleInjected, Label: label, Text: s})
		return typed
	}
	s = stripReminders(s)
	if strings.TrimSpace(s) == "" {
		return typed
	}
	if label := injectedLabel(s); label != "" {
		if label == labelInterrupt {
			cr.sum.Turn = Turn{State: TurnInterrupted, Since: rec.at, Offset: rec.off}
		}
		cr.hand(rec, Message{Role: RoleInjected, Label: label, Text: s})
		return typed
	}
	return append(typed, s)
}

// injected says by the record's own flags that no person wrote its text.
func (rec *claudeRecord) injected() string {
	if rec.meta || rec.hidden {
		return labelMeta
	}
	if kind := inner(field(rec.origin, "kind")); len(kind) > 0 && string(kind) != "human" {
		if bytes.Contains(kind, []byte("notification")) {
			return labelTask
		}
		return labelMeta
	}
	if string(rec.source) == "system" {
		return labelMeta
	}
	return ""
}

// summaryOf counts a compaction whose boundary record is missing, as in files
// of releases that wrote only the summary.
func (cr *claudeReader) summaryOf(rec *claudeRecord) {
	if !cr.boundary {
		cr.sum.compaction(Compaction{At: rec.at, Offset: rec.off, Line: rec.no})
	}
	cr.boundary = false
}

// userTurn notes that a prompt or a tool result leaves the turn open.
func (cr *claudeReader) userTurn(rec *claudeRecord, typed, results bool) {
	if rec.isSummary || (!typed && !results) {
		return
	}
	if cr.sum.Turn.State == TurnInterrupted && cr.sum.Turn.Offset == rec.off {
		return
	}
	cr.sum.Turn = Turn{State: TurnOpen, Since: rec.at, Offset: rec.off}
}

// assistant handles one reply record: text, tool calls, reasoning, usage.
func (cr *claudeReader) assistant(rec *claudeRecord) {
	if len(rec.uuid) > 0 && cr.seen.repeated(rec.uuid, rec.message) {
		cr.sum.Omitted.Duplicates++
		return
	}
	msg := rec.msg
	cr.sum.Turn = rec.replyTurn(msg)
	if rec.synthetic(msg) {
		cr.syntheticReply(rec, msg)
		return
	}
	if model := inner(msg.model); len(model) > 0 && string(model) != cr.sum.Model {
		cr.sum.Model = short(msg.model, 200)
	}
	if u, ok := rec.usage(msg); ok {
		cr.sum.Usage = &u
	}
	var texts []string
	var calls []part
	eachPart(msg.content, func(p part) {
		switch kind := string(p.kind); {
		case kind == "text":
			texts = append(texts, text(p.text, &cr.scratch))
		case kind == "thinking" || kind == "redacted_thinking":
			cr.sum.Omitted.Reasoning++
		case strings.HasSuffix(kind, "tool_use"):
			cr.sum.Omitted.ToolCalls++
			calls = append(calls, p)
		case strings.HasSuffix(kind, "tool_result"):
			cr.sum.Omitted.ToolResults++
		case kind == "image" || kind == "document":
			cr.sum.Omitted.Images++
		}
	})
	if joined := strings.TrimSpace(strings.Join(texts, "\n")); joined != "" {
		cr.hand(rec, Message{Role: RoleAssistant, Text: joined})
	}
	if cr.opts.Tools {
		for _, p := range calls {
			cr.hand(rec, toolMessage(short(field(p.raw, "name"), 200), field(p.raw, "input"), &cr.scratch))
		}
	}
}

// syntheticReply hands out text that the client wrote in the model's place.
func (cr *claudeReader) syntheticReply(rec *claudeRecord, msg reply) {
	label := labelNoAnswer
	if rec.isAPIError {
		label = labelAPIError
	}
	eachPart(msg.content, func(p part) {
		if p.text != nil {
			cr.hand(rec, Message{Role: RoleInjected, Label: label, Text: text(p.text, &cr.scratch)})
		}
	})
}

// attachmentRecord handles context the client attached. Only a prompt that was
// typed while the model was working is a person's.
func (cr *claudeReader) attachmentRecord(rec *claudeRecord) {
	if string(inner(field(rec.attachment, "type"))) != "queued_command" {
		cr.sum.Omitted.Attachments++
		return
	}
	if len(rec.uuid) > 0 && cr.seen.repeated(rec.uuid, rec.attachment) {
		cr.sum.Omitted.Duplicates++
		return
	}
	if kind := inner(field(field(rec.attachment, "origin"), "kind")); len(kind) > 0 && string(kind) != "human" {
		rec.meta = true
	}
	if mode := inner(field(rec.attachment, "commandMode")); len(mode) > 0 && string(mode) != "prompt" {
		rec.meta = true
	}
	var typed []string
	eachPart(field(rec.attachment, "prompt"), func(p part) {
		if p.text != nil {
			typed = cr.userText(rec, typed, text(p.text, &cr.scratch))
		}
	})
	if joined := strings.TrimSpace(strings.Join(typed, "\n")); joined != "" {
		cr.hand(rec, Message{Role: RoleOperator, Text: joined})
	}
}

// reply holds the raw members of an assistant record's message.
type reply struct {
	content, model, usage []byte
	stop                  []byte
}

// synthetic tells replies that no model produced.
func (rec *claudeRecord) synthetic(msg reply) bool {
	return rec.isAPIError || string(inner(msg.model)) == "<synthetic>"
}

// usage reads the context size of a reply. A reply without a usage object, or
// one whose counts are all zero, says nothing.
func (rec *claudeRecord) usage(msg reply) (Usage, bool) {
	if len(msg.usage) == 0 || msg.usage[0] != '{' {
		return Usage{}, false
	}
	u := Usage{At: rec.at, Offset: rec.off, Model: short(msg.model, 200)}
	c := objectCursor(msg.usage)
	for c.member() {
		key := c.key
		v := c.value()
		switch string(key) {
		case "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens":
			u.Tokens += integer(v)
		case "output_tokens":
			u.OutputTokens = integer(v)
		}
	}
	return u, u.Tokens > 0
}

// replyTurn derives the turn's state from a reply. A stop reason of tool_use,
// or none yet, means that more will come.
func (rec *claudeRecord) replyTurn(msg reply) Turn {
	t := Turn{State: TurnDone, Since: rec.at, Offset: rec.off}
	if rec.isAPIError {
		t.State = TurnFailed
		t.ErrorCode = short(rec.errCode, 100)
		eachPart(msg.content, func(p part) {
			if t.ErrorText == "" && p.text != nil {
				t.ErrorText = firstLine(short(p.text, 400), 300)
			}
		})
		if string(rec.apiError) == "usage_limit_reached" || string(inner(field(rec.quota, "status"))) == "rejected" {
			t.Limit = true
			t.LimitName = short(field(rec.quota, "rateLimitType"), 100)
			t.ResetsAt = resetTime(field(rec.quota, "resetsAt"))
		}
		return t
	}
	if string(msg.stop) == "tool_use" || (len(msg.stop) == 0 && !rec.synthetic(msg)) {
		t.State = TurnOpen
	}
	return t
}

// resetTime reads a reset moment, in seconds or milliseconds or as text.
func resetTime(raw []byte) time.Time { return moment(raw) }
