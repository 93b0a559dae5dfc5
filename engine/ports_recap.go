package engine

import "time"

// Recaps keeps what the occupant of a seat writes down for the next one: one recap,
// and every earlier one byte for byte. Addresses are canonical, and errors are
// *Error.
type Recaps interface {
	// ReadDraft reads a draft from a plain file, bounded. CodeInvalid when there is
	// none that can be read.
	ReadDraft(path string) ([]byte, error)
	// Recap gives the seat's present recap. One that was never written has no digest;
	// one that cannot be read, or that is no plain file, is CodeUnavailable.
	Recap(address string) (Recap, error)
	// CheckRecap judges a draft and writes nothing: advice, and every reason why it
	// cannot be a recap.
	CheckRecap(address string, draft []byte) ([]RecapFinding, []error)
	// WriteRecap makes a draft the recap by one rename, and keeps the one before it.
	WriteRecap(address string, draft []byte, now time.Time) (RecapWritten, error)
	// TakeBackRecap undoes a WriteRecap, also one that was cut off. was and wrote are
	// the digests of the recap before ("" = none) and of the draft. A recap that is
	// neither is somebody else's and stays.
	TakeBackRecap(address, was, wrote string) error
}

// Recap is a seat's recap as it stands on disk.
type Recap struct {
	Path     string // where it is, or would be
	Text     string // raw: what is shown of it passes redaction first
	Digest   string // short; "" = never written
	Modified time.Time
	Earlier  int // how many earlier ones are kept
}

// RecapWritten is what writing a recap did.
type RecapWritten struct {
	Path string `json:"path"`
	// Superseded lists the earlier recaps, the oldest first.
	Superseded []string `json:"superseded"`
	// Findings are advice about the text; none of them keeps it from counting.
	Findings []RecapFinding `json:"findings"`
	Digest   string         `json:"digest"`
}

// RecapFinding is one piece of advice. Line is 1-based, 0 for the whole text.
type RecapFinding struct {
	Code    string `json:"code"`
	Line    int    `json:"line,omitempty"`
	Message string `json:"message"`
}
