package transcript

import (
	"io"
	"time"
)

// Head is what the first records of a file say about its conversation.
type Head struct {
	Runtime Runtime `json:"runtime"`
	// SessionID is the conversation's own id and ParentID the one it was forked
	// from (Codex). Both are native tokens: redact them.
	SessionID string `json:"session_id,omitempty"`
	ParentID  string `json:"parent_id,omitempty"`
	// BaseID is the file that this one builds on, up to the byte offset BaseEnd
	// (Codex): without that file this one cannot be continued. It belongs to the
	// parent of a fork, or to the same thread, which was taken back to an earlier
	// prompt. Empty for a file that holds all of its own history, also that of a
	// fork. It is a native token too.
	BaseID  string `json:"base_id,omitempty"`
	BaseEnd int64  `json:"base_end,omitempty"`
	// StartCwd is the directory in which it began, StartedAt when; zero when
	// the looked-at part does not say.
	StartCwd  string    `json:"start_cwd,omitempty"`
	StartedAt time.Time `json:"started_at"`
	Version   string    `json:"version,omitempty"`
}

// headBudget is how much of a file's beginning ReadHead looks at. A Claude
// transcript can open with a few hundred KB of request records before the
// first one with a directory.
const headBudget = 8 << 20

// ReadHead reads the beginning of a file, at most a few megabytes. Fields that
// were not found there stay empty. It fails like [ReadFile].
func ReadHead(path string, rt Runtime) (Head, error) {
	src, err := open(path)
	if err != nil {
		return Head{}, err
	}
	defer src.close()
	return HeadFrom(src.f, rt)
}

// HeadFrom is [ReadHead] over a stream.
func HeadFrom(r io.Reader, rt Runtime) (Head, error) {
	h := Head{Runtime: rt}
	lr := newLineReader(io.LimitReader(r, headBudget), Options{})
	for {
		l, ok := lr.next()
		if !ok {
			break
		}
		effects, err := lineSummaries(l, rt, nil, nil)
		if err != nil {
			return h, err
		}
		for _, e := range effects {
			h.take(e.sum)
		}
		if h.SessionID != "" && h.StartCwd != "" && !h.StartedAt.IsZero() {
			break
		}
	}
	return h, lr.failure()
}

// take fills what is still missing from one record.
func (h *Head) take(s Summary) {
	if h.SessionID == "" {
		h.SessionID, h.ParentID, h.BaseID, h.BaseEnd = s.SessionID, s.ParentID, s.BaseID, s.BaseEnd
	}
	if h.StartCwd == "" {
		h.StartCwd = s.StartCwd
	}
	if h.StartedAt.IsZero() {
		h.StartedAt = s.StartedAt
	}
	if h.Version == "" {
		h.Version = s.Version
	}
}

// DetectFile is [Detect] over a file. It fails like [ReadFile].
func DetectFile(path string) (rt Runtime, ok bool, err error) {
	src, err := open(path)
	if err != nil {
		return "", false, err
	}
	defer src.close()
	return Detect(src.f)
}

// detectLines is how many records Detect looks at.
const detectLines = 2000

// Detect tells from the content, never from a name, which client wrote a file.
// ok is false when nothing in its first records decides it.
func Detect(r io.Reader) (rt Runtime, ok bool, err error) {
	lr := newLineReader(io.LimitReader(r, headBudget), Options{})
	for range detectLines {
		l, more := lr.next()
		if !more {
			break
		}
		trimLine(&l)
		if len(l.data) == 0 {
			continue
		}
		var rec codexRecord
		if _, whole := rec.parse(l.data); !whole {
			continue
		}
		switch string(rec.typ) {
		case "session_meta", "response_item", "compacted", "event_msg", "turn_context":
			return RuntimeCodex, true, nil
		case "user", "assistant":
			return RuntimeClaude, true, nil
		}
	}
	return "", false, lr.failure()
}
