package transcript

import (
	"io"
	"time"
)

// Recent is what the end of a file says about its conversation's present.
type Recent struct {
	Runtime Runtime `json:"runtime"`
	// SessionID is the id on the latest record (Claude only; a rollout has it
	// in its first line, see [ReadHead]). It is a native token: redact it.
	SessionID string `json:"session_id,omitempty"`
	// Usage is the latest context size; nil when none was found. Usage.Stale
	// says that a compaction came after it.
	Usage *Usage `json:"usage,omitempty"`
	// Turn is the state of the latest turn.
	Turn Turn `json:"turn"`
	// Compaction is the latest compaction among what was looked at; nil when
	// there was none.
	Compaction *Compaction `json:"compaction,omitempty"`
	// AwaitingReply is set when no reply came since that compaction: every
	// context figure from before it, however freshly stamped, is void.
	AwaitingReply bool `json:"awaiting_reply,omitempty"`
	// LastReplyAt is the time of the latest answer by the model, LastAt that of
	// the latest record that has a time; zero when not found.
	LastReplyAt time.Time `json:"last_reply_at"`
	LastAt      time.Time `json:"last_at"`
	// Cwd and Model are the latest on record among what was looked at.
	Cwd   string `json:"cwd,omitempty"`
	Model string `json:"model,omitempty"`
	// RateLimits are the latest account limits (Codex).
	RateLimits []RateLimit `json:"rate_limits,omitempty"`
	// Size is the file's length, Scanned how many bytes of its end were read,
	// Complete whether that was all of it: only then does a missing value mean
	// that the file has none.
	Size     int64 `json:"size"`
	Scanned  int64 `json:"scanned"`
	Complete bool  `json:"complete"`
	// Unreadable counts lines that could not be used.
	Unreadable int `json:"unreadable,omitempty"`

	replied bool
}

// ReadRecent reads the end of a file. Its cost does not depend on the file's
// size. It fails like [ReadFile].
func ReadRecent(path string, rt Runtime) (Recent, error) {
	src, err := open(path)
	if err != nil {
		return Recent{}, err
	}
	defer src.close()
	return RecentFrom(src.f, src.size, rt)
}

// RecentFrom is [ReadRecent] over an open source of the given size.
func RecentFrom(r io.ReaderAt, size int64, rt Runtime) (Recent, error) {
	rc := Recent{Runtime: rt, Size: size}
	rc.Turn.State = TurnUnknown
	b := newBackward(r, size)
	looked := 0
	complete, err := b.walk(func(l line) bool {
		sums, err := lineSummaries(l, rt, nil, nil)
		if err != nil || len(sums) == 0 {
			rc.Unreadable++
			return true
		}
		for i := len(sums) - 1; i >= 0; i-- {
			rc.take(sums[i])
		}
		looked++
		return looked < tailLines && !rc.enough()
	})
	rc.Scanned = b.scanned
	rc.Complete = complete
	return rc, err
}

// enough tells when older records can add nothing that is asked for.
func (rc *Recent) enough() bool {
	return rc.Usage != nil && rc.Turn.State != TurnUnknown && rc.replied
}

// effect is what one record alone says.
type effect struct {
	sum     Summary
	limits  []RateLimit
	replied bool // the record shows that the model answered
	at      time.Time
	known   int // distinct messages in the record
}

// take adds the effect of one record; newer records were taken before.
func (rc *Recent) take(e effect) {
	if rc.SessionID == "" && rc.Runtime == RuntimeClaude {
		rc.SessionID = e.sum.SessionID
	}
	if rc.Cwd == "" {
		rc.Cwd = e.sum.LastCwd
	}
	if rc.Model == "" {
		rc.Model = e.sum.Model
	}
	if e.sum.LastAt.After(rc.LastAt) {
		rc.LastAt = e.sum.LastAt
	}
	if rc.RateLimits == nil {
		rc.RateLimits = e.limits
	}
	if n := len(e.sum.Compactions); n > 0 && rc.Compaction == nil {
		c := e.sum.Compactions[n-1]
		rc.Compaction = &c
		rc.AwaitingReply = !rc.replied
	}
	if rc.Turn.State == TurnUnknown && e.sum.Turn.State != TurnUnknown {
		rc.Turn = e.sum.Turn
	}
	if !rc.replied && e.replied {
		rc.replied, rc.LastReplyAt = true, e.at
	}
	if rc.Usage == nil && e.sum.Usage != nil {
		u := *e.sum.Usage
		u.Stale = rc.Compaction != nil
		rc.Usage = &u
	}
}

// lineSummaries reads each record of one line by itself. For Codex, ps pairs
// the two shapes of a message across lines.
func lineSummaries(l line, rt Runtime, ps *pairs, emit func(Message)) ([]effect, error) {
	var out []effect
	trimLine(&l)
	if l.tooLong || len(l.data) == 0 {
		return nil, nil
	}
	var broken Summary
	switch rt {
	case RuntimeClaude:
		eachRecord(&broken, l, func(b []byte) ([]byte, bool) {
			rec := claudeRecord{line: l}
			rest, ok := rec.parse(b)
			if !ok || !rec.plausible() {
				return nil, false
			}
			out = append(out, claudeEffect(&rec, emit))
			return rest, true
		})
	case RuntimeCodex:
		eachRecord(&broken, l, func(b []byte) ([]byte, bool) {
			rec := codexRecord{line: l}
			rest, ok := rec.parse(b)
			if !ok {
				return nil, false
			}
			out = append(out, codexEffect(&rec, ps, emit))
			return rest, true
		})
	default:
		return nil, ErrRuntime
	}
	return out, nil
}

func claudeEffect(rec *claudeRecord, emit func(Message)) effect {
	cr := claudeReader{emit: emit, boundary: true}
	cr.sum.Turn.State = TurnUnknown
	cr.record(rec)
	replied := string(rec.typ) == "assistant" && !rec.sidechain && !rec.synthetic(rec.msg)
	return effect{sum: cr.sum, known: cr.sum.Messages, replied: replied, at: rec.at}
}

func codexEffect(rec *codexRecord, ps *pairs, emit func(Message)) effect {
	cr := codexReader{emit: emit}
	cr.sum.Turn.State = TurnUnknown
	if ps != nil {
		cr.pairs = *ps
	}
	cr.record(rec)
	e := effect{sum: cr.sum, limits: cr.limits, known: cr.sum.Messages, at: rec.at}
	// The count after a compaction is an estimate without output.
	e.replied = cr.held != nil || cr.sum.Usage != nil && cr.sum.Usage.OutputTokens > 0
	cr.release()
	if ps != nil {
		*ps = cr.pairs
	}
	return e
}

// CompactionsSince lists the compactions recorded at or after a byte offset,
// oldest first: the proof that a compaction happened after that moment. At most
// MaxCompactions are listed.
func CompactionsSince(path string, rt Runtime, offset int64) ([]Compaction, error) {
	sum, _, err := ReadFrom(path, rt, offset, Options{}, nil)
	return sum.Compactions, err
}

// LastMessages returns the latest n messages, oldest first, and whether the
// file begins with the first of them. It looks back a bounded distance, so
// there can be fewer than n. Messages carry no line numbers. It fails like
// [ReadFile].
func LastMessages(path string, rt Runtime, n int, o Options) (msgs []Message, complete bool, err error) {
	src, err := open(path)
	if err != nil {
		return nil, false, err
	}
	defer src.close()
	b := newBackward(src.f, src.size)
	ps := &pairs{}
	found, looked, from := 0, 0, src.size
	complete, err = b.walk(func(l line) bool {
		sums, _ := lineSummaries(l, rt, ps, nil)
		for _, e := range sums {
			found += e.known
		}
		from = l.off
		// One more than asked for, so that a message in two shapes at the
		// edge is not read in its second shape only.
		looked++
		return found <= n && looked < tailLines
	})
	if err != nil || n <= 0 {
		return nil, complete, err
	}
	ring := make([]Message, 0, n)
	_, err = readRange(src.f, from, src.size, rt, o, func(m Message) {
		m.Line = 0
		if len(ring) == n {
			copy(ring, ring[1:])
			ring = ring[:n-1]
			complete = false
		}
		ring = append(ring, m)
	})
	return ring, complete, err
}
