package transcript

import (
	"bytes"
	"io"
	"strings"
	"time"
)

// codexRecord holds the raw members of one rollout line. Old releases wrote the
// items bare, without the payload around them; those are read as their own
// payload.
type codexRecord struct {
	line
	typ, stamp []byte
	payload    members
	at         time.Time
}

func (rec *codexRecord) parse(b []byte) (rest []byte, ok bool) {
	c := objectCursor(b)
	wrapped, hasID := false, false
	for c.member() {
		switch string(c.key) {
		case "type":
			rec.typ = inner(c.value())
		case "timestamp":
			rec.stamp = c.value()
		case "payload":
			wrapped = true
			if c.peek() != '{' {
				c.value()
				break
			}
			inside := c.object()
			rec.payload = readMembers(&inside, rec.payload)
			c.leave(inside)
		case "id":
			hasID = c.value() != nil
		default:
			c.value()
		}
	}
	if c.bad {
		return nil, false
	}
	if !wrapped {
		rec.bare(b[:c.i], hasID)
	}
	rec.at = moment(rec.stamp)
	return bytes.TrimLeft(b[c.i:], " \t\r\x00"), true
}

// bare fits a record of an old release into the present shape.
func (rec *codexRecord) bare(whole []byte, hasID bool) {
	c := objectCursor(whole)
	rec.payload = readMembers(&c, rec.payload)
	switch string(rec.typ) {
	case "":
		if hasID && rec.stamp != nil {
			rec.typ = []byte("session_meta")
		}
	case "message", "function_call", "function_call_output", "reasoning",
		"local_shell_call", "custom_tool_call", "custom_tool_call_output", "web_search_call":
		rec.typ = []byte("response_item")
	}
}

// codexReader carries the state of one pass.
type codexReader struct {
	opts    Options
	emit    func(Message)
	sum     Summary
	pairs   pairs
	scratch []byte
	members members // reused between records
	headers int
	// replayAt follows the burst of copied history behind a second header;
	// zero outside one.
	replayStart, replayAt time.Time
	// held is the latest assistant message, kept back until the next one: when
	// a compaction follows, the text may have been its summary. heldResponse
	// is the API response that produced it, as far as it is on record.
	held         *Message
	heldResponse string
	// limits are the latest account limits, which also come without usage.
	limits []RateLimit
}

// Codex streams a Codex rollout; see [Claude] for the contract.
func Codex(r io.Reader, o Options, emit func(Message)) (Summary, error) {
	cr := &codexReader{opts: o, emit: emit}
	cr.sum.Runtime = RuntimeCodex
	cr.sum.Turn.State = TurnUnknown
	lr := newLineReader(r, o)
	for {
		l, ok := lr.next()
		if !ok {
			break
		}
		cr.line(l)
	}
	cr.release()
	cr.sum.Bytes = lr.off
	return cr.sum, lr.failure()
}

func (cr *codexReader) line(l line) {
	trimLine(&l)
	if !openLine(&cr.sum, l) {
		return
	}
	eachRecord(&cr.sum, l, func(b []byte) ([]byte, bool) {
		rec := codexRecord{line: l, payload: cr.members[:0]}
		rest, ok := rec.parse(b)
		if !ok {
			return nil, false
		}
		cr.members = rec.payload
		cr.sum.Records++
		cr.record(&rec)
		return rest, true
	})
}

func (cr *codexReader) record(rec *codexRecord) {
	cr.sum.seen(rec.at)
	cr.replay(rec.at)
	switch string(rec.typ) {
	case "session_meta":
		cr.header(rec)
	case "turn_context":
		cr.turnContext(rec)
	case "response_item":
		cr.item(rec)
	case "event_msg":
		cr.event(rec)
	case "compacted":
		cr.compacted(rec)
	case "token_usage_record":
		cr.heldResponse = short(rec.payload.get("response_id"), 200)
		cr.sum.Omitted.Other++
	default:
		cr.sum.Omitted.Other++
	}
}

// replayGap and replayMax bound the burst in which a client copies a parent's
// history behind the fork's header. A prompt of the fork's own cannot come that
// soon: the client needs longer to start.
const (
	replayGap = 50 * time.Millisecond
	replayMax = 2 * time.Second
)

// replay ends the inherited stretch when the records' times leave the burst.
func (cr *codexReader) replay(at time.Time) {
	if cr.replayAt.IsZero() || at.IsZero() {
		return
	}
	if at.Sub(cr.replayAt) > replayGap || at.Sub(cr.replayStart) > replayMax {
		cr.release()
		cr.replayAt = time.Time{}
		return
	}
	if at.After(cr.replayAt) {
		cr.replayAt = at
	}
}

func (cr *codexReader) inherited() bool { return !cr.replayAt.IsZero() }

// header reads a session header. The first one is the thread's own; any later
// one belongs to a parent whose history was copied in, and is provenance only.
func (cr *codexReader) header(rec *codexRecord) {
	cr.headers++
	h := parseHeader(rec.payload)
	if cr.headers > 1 {
		if h.id != "" && h.id != cr.sum.SessionID {
			if cr.sum.ParentID == "" {
				cr.sum.ParentID = h.id
			}
			if !rec.at.IsZero() {
				cr.replayStart, cr.replayAt = rec.at, rec.at
			}
		}
		return
	}
	cr.sum.SessionID, cr.sum.ParentID, cr.sum.BaseID, cr.sum.BaseEnd = h.id, h.parent, h.base, h.baseEnd
	cr.sum.StartCwd, cr.sum.LastCwd, cr.sum.Version = h.cwd, h.cwd, h.version
}

// sessionHeader is what a rollout says about itself.
type sessionHeader struct {
	id, parent, base, cwd, version string
	baseEnd                        int64
}

func parseHeader(payload members) sessionHeader {
	h := sessionHeader{
		id:      short(payload.get("id"), 200),
		parent:  short(payload.get("forked_from_id"), 200),
		base:    short(field(payload.get("history_base"), "thread_id"), 200),
		baseEnd: integer(field(payload.get("history_base"), "end_byte_offset")),
		cwd:     short(payload.get("cwd"), 4096),
		version: short(payload.get("cli_version"), 64),
	}
	if h.id == "" {
		h.id = short(payload.get("session_id"), 200)
	}
	return h
}

func (cr *codexReader) turnContext(rec *codexRecord) {
	cr.sum.Omitted.Other++
	if cr.inherited() {
		return
	}
	if cwd := short(rec.payload.get("cwd"), 4096); cwd != "" {
		cr.sum.LastCwd = cwd
		if cr.sum.StartCwd == "" {
			cr.sum.StartCwd = cwd
		}
	}
	if model := short(rec.payload.get("model"), 200); model != "" {
		cr.sum.Model = model
	}
}

// compacted records a compaction. The assistant message before it may be the
// summary that the model was asked for; then the two are handed out as one.
func (cr *codexReader) compacted(rec *codexRecord) {
	s := strings.TrimSpace(text(rec.payload.get("message"), &cr.scratch))
	if cr.held != nil && cr.heldIsSummary(rec, s) {
		if s == "" {
			s = cr.held.Text
		}
		cr.held = nil
		cr.sum.Messages--
		cr.sum.Omitted.Duplicates++
	}
	cr.sum.compaction(Compaction{At: rec.at, Offset: rec.off, Line: rec.no})
	if s != "" {
		cr.sum.Messages++
		cr.hand(rec, Message{Role: RoleSummary, Text: s})
	}
}

// heldIsSummary tells by the response's id, or by the text itself, that the
// held message is the summary s. Without either it stays the model's answer.
func (cr *codexReader) heldIsSummary(rec *codexRecord, s string) bool {
	if id := short(rec.payload.get("compaction_response_id"), 200); id != "" && id == cr.heldResponse {
		return true
	}
	return strings.HasSuffix(s, cr.held.Text)
}

// hand gives one message to the caller, holding assistant text back until the
// next record shows what it was.
func (cr *codexReader) hand(rec *codexRecord, m Message) {
	cr.release()
	m.Time, m.Line, m.Offset = rec.at, rec.no, rec.off
	m.Inherited = cr.inherited()
	switch m.Role {
	case RoleAssistant:
		cr.held, cr.heldResponse = &m, ""
		return
	case RoleInjected:
		cr.sum.Omitted.Injected++
		if !cr.opts.Injected {
			return
		}
	case RoleTool:
		if !cr.opts.Tools {
			return
		}
	default: // operator and summary are always handed out
	}
	if cr.emit != nil {
		cr.emit(m)
	}
}

// release hands out the held message.
func (cr *codexReader) release() {
	if cr.held == nil {
		return
	}
	m := *cr.held
	cr.held = nil
	if cr.emit != nil {
		cr.emit(m)
	}
}
