package engine

import "strings"

// The fixed words of what this product types into a pane by itself. Whoever reads
// a conversation tells it by them from what a person asked for: [OwnMessage].
const (
	// OpeningWords begin the opening prompt of a successor; the seat follows.
	OpeningWords = "You now sit in the seat "
	// HandoverTag opens the bracket with the operation's id in it.
	HandoverTag = "[handover "

	compactionTag = "[compaction "
	goWords       = "The handover of "
	goCommitted   = " is committed: the seat is yours."
	// startupWords stand behind "You are <seat>" where a spec's startup begins.
	startupWords = ". `rig whoami` tells your role, peers and edges."
)

// OwnMessage tells whether a user turn of a client is a message of this product
// and which: "opening" (the prompt of a handover's successor), "go" (its seat is
// its own now), "compaction" (a request for a restore map, a restore or an audit),
// "startup" (the prompt that a spec gives), or "" for what somebody else said.
// Only the first line of the text is looked at.
func OwnMessage(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	switch {
	case tagged(strings.TrimPrefix(line, "/compact "), compactionTag):
		return "compaction"
	case strings.HasPrefix(line, OpeningWords):
		if n := strings.Index(line, HandoverTag); n >= 0 && tagged(line[n:], HandoverTag) {
			return "opening"
		}
	case strings.HasPrefix(line, goWords):
		seat, _, found := strings.Cut(line[len(goWords):], goCommitted)
		if found && !strings.ContainsAny(seat, " \t") {
			return "go"
		}
	case strings.HasPrefix(line, "You are "):
		seat, _, found := strings.Cut(line[len("You are "):], startupWords)
		if found && !strings.ContainsAny(seat, " \t") {
			return "startup"
		}
	}
	return ""
}

// tagged reports whether a text begins with a bracket that names an operation.
func tagged(text, tag string) bool {
	rest, ok := strings.CutPrefix(text, tag)
	if !ok {
		return false
	}
	id, _, found := strings.Cut(rest, "]")
	return found && id != "" && len(id) <= 64 && !strings.ContainsAny(id, " \t[")
}
