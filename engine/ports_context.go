package engine

import (
	"context"
	"time"
)

// Contexts makes what a successor is told, and reads what a seat has kept. Its
// files live under RIG_HOME; targets must not exist and are written atomically.
type Contexts interface {
	// WritePacket writes a restore packet of an occupant and gives the opening
	// prompt that points to it. It reads the occupant's transcript; it never
	// modifies it.
	WritePacket(ctx context.Context, in PacketInput) (Handoff, error)
	// Chain lists what a seat has kept, most trusted first: RECAP.md, LEARNED.md,
	// the latest restore packet, older recaps. Missing files are gaps, not errors.
	Chain(ctx context.Context, seat Seat, address string) (Chain, error)
	// Priming makes the opening prompt of a rebuilt occupant from its chain.
	Priming(in PacketInput, c Chain) Handoff
	// Remove deletes a packet that was written for an operation that was undone.
	Remove(h Handoff) error
}

// PacketInput is what a packet is made from.
type PacketInput struct {
	OpID        string // names the packet's folder
	Seat        Seat
	Address     string
	Session     Session  // the departing occupant
	Screen      []string // its last screen, without colours
	Gaps        []string // what the operation knows to be missing, in words
	Reason      string
	Operator    string
	Peers       []Peer
	Edges       []EdgeView
	Work        []WorkItem
	Startup     []string // files that the seat's startup names
	FromRecord  bool     // edges, work and startup were read from the record
	Transcript  string   // path of its native transcript, "" = not found
	TranscriptW string   // why it was not found
	Now         time.Time
}

// Handoff is what a successor is told, and where the long form is.
type Handoff struct {
	Prompt  string   `json:"-"`              // ≤ 8 KB, redacted
	Marker  string   `json:"marker"`         // stands in the prompt once; proves its arrival
	Dir     string   `json:"dir,omitempty"`  // the packet's folder, "" when none was written
	Digest  string   `json:"digest"`         // of the prompt
	Gaps    []string `json:"gaps,omitempty"` // what could not be gathered, with why
	Sources []string `json:"sources,omitempty"`
}

// SeatScheme begins the address of a seat's own file, such as seat:RECAP.md: also
// where a startup block names its files.
const SeatScheme = "seat:"

// seatFiles is what Contexts offers when it knows where a seat's own files are.
type seatFiles interface {
	SeatFile(address, ref string) (string, error)
}

// Chain is what a seat has kept.
type Chain struct {
	Artifacts []Artifact `json:"artifacts"`
	Gaps      []string   `json:"gaps,omitempty"`
	Empty     string     `json:"empty_reason,omitempty"` // why there is nothing at all
}

// Artifact is one kept file.
type Artifact struct {
	Label    string    `json:"label"`   // recap, learned, restore packet, older recap
	Address  string    `json:"address"` // such as seat:RECAP.md
	Path     string    `json:"path"`
	Modified time.Time `json:"modified"`
	Digest   string    `json:"digest"`
}

// arrivalProver is what a runtime offers when it can find a prompt in the
// occupant's own record: a user turn that holds the marker.
type arrivalProver interface {
	Arrived(ctx context.Context, p Probe, marker string) (bool, string)
}

// transcriptFinder is what a runtime offers when it knows where an occupant's
// conversation is kept.
type transcriptFinder interface {
	Transcript(ctx context.Context, s Session, cwd string) (path, why string)
}
