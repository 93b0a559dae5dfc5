package transcript

import (
	"bytes"
	"io"
	"time"
)

// claudeRecord holds the raw members of one transcript line that matter.
type claudeRecord struct {
	line
	typ, subtype, uuid, session, cwd, stamp, version []byte
	parent                                           []byte // raw: a quoted id or null
	message, attachment, compact, origin, source     []byte
	msg                                              reply
	at                                               time.Time
	errCode, apiError, quota, title, errStatus       []byte
	sidechain, meta, isSummary, hidden, isAPIError   bool
}

// parse reads the record at the start of b. It returns the bytes behind
// the record, which are non-empty when a writer lost the newline between two.
func (rec *claudeRecord) parse(b []byte) (rest []byte, ok bool) {
	c := objectCursor(b)
	for c.member() {
		if string(c.key) == "message" {
			rec.readMessage(&c)
			continue
		}
		key := c.key
		if v := c.value(); v != nil {
			rec.set(key, v)
		}
	}
	if c.bad {
		return nil, false
	}
	rec.at = moment(rec.stamp)
	return bytes.TrimLeft(b[c.i:], " \t\r\x00"), true
}

// set stores one member. Members of an unexpected type are harmless: the
// accessors used on them later yield nothing.
func (rec *claudeRecord) set(key, v []byte) {
	switch string(key) {
	case "type":
		rec.typ = inner(v)
	case "subtype":
		rec.subtype = inner(v)
	case "uuid":
		rec.uuid = inner(v)
	case "parentUuid":
		rec.parent = v
	case "sessionId":
		rec.session = inner(v)
	case "cwd":
		rec.cwd = v
	case "timestamp":
		rec.stamp = v
	case "version":
		rec.version = v
	case "attachment":
		rec.attachment = v
	case "compactMetadata":
		rec.compact = v
	case "origin":
		rec.origin = v
	case "promptSource":
		rec.source = inner(v)
	case "isSidechain":
		rec.sidechain = isTrue(v)
	case "isMeta":
		rec.meta = isTrue(v)
	case "isCompactSummary":
		rec.isSummary = isTrue(v)
	case "isVisibleInTranscriptOnly":
		rec.hidden = isTrue(v)
	default:
		rec.setError(key, v)
	}
}

func (rec *claudeRecord) setError(key, v []byte) {
	switch string(key) {
	case "isApiErrorMessage":
		rec.isAPIError = isTrue(v)
	case "error":
		rec.errCode = v
	case "apiError":
		rec.apiError = inner(v)
	case "apiErrorStatus":
		rec.errStatus = v
	case "quotaLimits":
		rec.quota = v
	case "customTitle":
		rec.title = v
	}
}

// plausible tells a whole record from a piece of one that happens to be an
// object: every record of the client has a type.
func (rec *claudeRecord) plausible() bool { return len(rec.typ) > 0 }

// claudeReader carries the state of one pass.
type claudeReader struct {
	opts    Options
	emit    func(Message)
	sum     Summary
	seen    *seenSet
	hung    *branches
	scratch []byte
	// boundary is set between a compaction's boundary record and the summary
	// that follows it, so that the pair counts as one event.
	boundary bool
}

// Claude streams a Claude Code transcript and calls emit for each message in
// the order of the file. The returned error is only ever a read error of r; the
// Summary is valid up to that point. Damage in the file is never an error: it
// is in Summary.Skipped. emit may be nil.
func Claude(r io.Reader, o Options, emit func(Message)) (Summary, error) {
	cr := &claudeReader{opts: o, emit: emit, seen: newSeenSet(), hung: newBranches(), boundary: o.middle}
	cr.sum.Runtime = RuntimeClaude
	cr.sum.Turn.State = TurnUnknown
	lr := newLineReader(r, o)
	for {
		l, ok := lr.next()
		if !ok {
			break
		}
		cr.line(l)
	}
	cr.sum.Bytes = lr.off
	return cr.sum, lr.failure()
}

func (cr *claudeReader) line(l line) {
	trimLine(&l)
	if !openLine(&cr.sum, l) {
		return
	}
	eachRecord(&cr.sum, l, func(b []byte) ([]byte, bool) {
		rec := claudeRecord{line: l}
		rest, ok := rec.parse(b)
		if !ok || !rec.plausible() {
			return nil, false
		}
		cr.sum.Records++
		cr.record(&rec)
		return rest, true
	})
}

// record dispatches one readable record.
func (cr *claudeReader) record(rec *claudeRecord) {
	if rec.sidechain {
		cr.sum.Omitted.Sidechain++
		return
	}
	cr.identity(rec)
	switch string(rec.typ) {
	case "user":
		cr.user(rec)
	case "assistant":
		cr.assistant(rec)
	case "attachment":
		cr.attachmentRecord(rec)
	case "system":
		if string(rec.subtype) == "compact_boundary" {
			cr.compactBoundary(rec)
			return
		}
		cr.sum.Omitted.Other++
	case "custom-title":
		if t := short(rec.title, 200); t != "" {
			cr.sum.Title = t
		}
		cr.sum.Omitted.Other++
	default:
		cr.sum.Omitted.Other++
	}
}

// identity keeps what tells which conversation this is. The first session id
// and directory win: that is where the conversation is filed.
func (cr *claudeReader) identity(rec *claudeRecord) {
	if cr.sum.SessionID == "" && len(rec.session) > 0 {
		cr.sum.SessionID = clip(string(rec.session), 200)
	}
	if isString(rec.cwd) && len(rec.cwd) > 2 {
		if string(inner(rec.cwd)) != cr.sum.LastCwd {
			cr.sum.LastCwd = short(rec.cwd, 4096)
		}
		if cr.sum.StartCwd == "" {
			cr.sum.StartCwd = cr.sum.LastCwd
		}
	}
	if v := inner(rec.version); len(v) > 0 && string(v) != cr.sum.Version {
		cr.sum.Version = short(rec.version, 64)
	}
	cr.sum.seen(rec.at)
}

func (cr *claudeReader) compactBoundary(rec *claudeRecord) {
	if len(rec.uuid) > 0 && cr.seen.repeated(rec.uuid, rec.compact) {
		cr.sum.Omitted.Duplicates++
		return
	}
	cr.sum.compaction(rec.compaction())
	cr.hung.forget()
	cr.boundary = true
}

// compaction reads the event from its boundary record.
func (rec *claudeRecord) compaction() Compaction {
	return Compaction{
		At:         rec.at,
		Trigger:    short(field(rec.compact, "trigger"), 40),
		Offset:     rec.off,
		Line:       rec.no,
		PreTokens:  integer(field(rec.compact, "preTokens")),
		PostTokens: integer(field(rec.compact, "postTokens")),
	}
}

// hand gives one message to the caller if the options ask for its role.
func (cr *claudeReader) hand(rec *claudeRecord, m Message) {
	switch m.Role {
	case RoleInjected:
		cr.sum.Omitted.Injected++
		if !cr.opts.Injected {
			return
		}
	case RoleTool:
		if !cr.opts.Tools {
			return
		}
	default:
		cr.sum.Messages++
	}
	if cr.emit == nil {
		return
	}
	m.Time = rec.at
	m.UUID = clip(string(rec.uuid), 200)
	m.Line, m.Offset = rec.no, rec.off
	cr.emit(m)
}
