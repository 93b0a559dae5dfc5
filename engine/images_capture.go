package engine

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
)

// captureTail is how much is read of a transcript's last record, from its end.
const captureTail = 1 << 20

// captureEnd says how long a transcript is and which record ends it. A line that
// is still being written does not count. The file is only read.
func captureEnd(path string) (ImageCapture, error) {
	f, err := os.Open(path)
	if err != nil {
		return ImageCapture{}, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	info, err := f.Stat()
	if err != nil {
		return ImageCapture{}, err
	}
	return captureAt(f, info.Size())
}

// captureAt reads the last record that ends at or before a length. What it reads
// of it is counted from the record's own end, so that it is the same however much
// of the next one stands behind.
func captureAt(r io.ReaderAt, length int64) (ImageCapture, error) {
	end, err := lastLineBreak(r, length)
	if err != nil || end < 0 {
		return ImageCapture{}, err
	}
	from := max(0, end-captureTail)
	buf := make([]byte, end-from)
	if _, err := r.ReadAt(buf, from); err != nil && err != io.EOF {
		return ImageCapture{}, err
	}
	line := bytes.TrimSpace(buf[bytes.LastIndexByte(buf, '\n')+1:])
	return ImageCapture{Length: end + 1, LastUUID: recordMark(line)}, nil
}

// lastLineBreak finds the last line break before a length, -1 when there is none.
func lastLineBreak(r io.ReaderAt, length int64) (int64, error) {
	buf := make([]byte, 64<<10)
	for to := length; to > 0; {
		from := max(0, to-int64(len(buf)))
		part := buf[:to-from]
		if _, err := r.ReadAt(part, from); err != nil && err != io.EOF {
			return -1, err
		}
		if n := bytes.LastIndexByte(part, '\n'); n >= 0 {
			return from + int64(n), nil
		}
		to = from
	}
	return -1, nil
}

// recordMark names a record: by its own id where it has one, by its ordinal, or
// by a digest of its text.
func recordMark(line []byte) string {
	var rec struct {
		UUID    string       `json:"uuid"`
		Ordinal *json.Number `json:"ordinal"`
	}
	if json.Unmarshal(line, &rec) == nil {
		switch {
		case rec.UUID != "" && len(rec.UUID) <= 64:
			return rec.UUID
		case rec.Ordinal != nil:
			return "ordinal " + rec.Ordinal.String()
		}
	}
	sum := sha256.Sum256(line)
	return "sha256 " + hex.EncodeToString(sum[:8])
}

// Since says what became of a source since it was captured.
type Since struct {
	State string `json:"state"` // unchanged, moved_on, rewritten, gone or unknown
	Why   string `json:"why"`
	Grown int64  `json:"grown_bytes,omitempty"`
}

// sinceCapture compares a transcript with how far it had come.
func sinceCapture(path string, then ImageCapture) Since {
	f, err := os.Open(path)
	if err != nil {
		return Since{State: "unknown", Why: "its conversation cannot be read"}
	}
	defer f.Close() //nolint:errcheck // nothing was written
	now, err := captureEnd(path)
	if err != nil {
		return Since{State: "unknown", Why: "its conversation cannot be read"}
	}
	switch {
	case then.Length == 0:
		return Since{State: "unknown", Why: "the image does not say how far its source had come"}
	case now == then:
		return Since{State: "unchanged", Why: "the source stands where it stood"}
	case now.Length < then.Length:
		return Since{State: "rewritten", Why: "the source is shorter than it was: it was rewritten"}
	}
	if old, err := captureAt(f, then.Length); err != nil || old != then {
		return Since{State: "rewritten", Why: "the source no longer holds the record that ended it then"}
	}
	grown := now.Length - then.Length
	return Since{State: "moved_on", Grown: grown, Why: "the source has moved on by " + itoa(grown) + " bytes; a fork starts from where it is now"}
}
