package packet

import (
	"strings"

	"rig/engine"
)

// roleRig is the role, in the files of a packet, of what this product said to the
// occupant by itself. No such message is an instruction of the operator.
const roleRig = "rig"

// The labels of what an opening prompt hands on. A packet of a successor to whom
// nobody spoke reads them back.
const (
	labelWhy       = "Why the work matters: "
	labelWork      = "Current work: "
	labelOwner     = "Next owner: "
	labelCaveat    = "Caveat: "
	labelAuthority = "Authority: "
	labelPacket    = "The restore packet is "
)

// handedOn is what the opening prompt of the present occupant said.
type handedOn struct{ why, work, owner, authority string }

// own takes a message of this product: of an opening prompt it keeps what was
// handed on. It reports whether the message is one.
func (b *builder) own(text string) bool {
	switch engine.OwnMessage(text) {
	case "":
		return false
	case "opening":
		b.given = readOpening(text)
		b.firstAsked, b.lastAsked = entry{}, entry{} // said to another occupant
	}
	return true
}

// readOpening finds the labelled values in an opening prompt.
func readOpening(text string) handedOn {
	var h handedOn
	var into *string
	for line := range strings.SplitSeq(text, "\n") {
		label, value := openingLabel(line)
		switch label {
		case labelWhy:
			into = &h.why
		case labelWork:
			into = &h.work
		case labelOwner:
			into = &h.owner
		case labelAuthority:
			into = &h.authority
		case labelCaveat, labelPacket:
			into = nil
		default:
			value = "\n" + line
		}
		if into != nil {
			*into += value
		}
	}
	for _, v := range []*string{&h.why, &h.work, &h.owner, &h.authority} {
		*v = strings.Clone(clip(strings.TrimSpace(*v), maxStatement))
	}
	return h
}

func openingLabel(line string) (label, value string) {
	for _, l := range []string{labelWhy, labelWork, labelOwner, labelCaveat, labelAuthority, labelPacket} {
		if rest, ok := strings.CutPrefix(line, l); ok {
			return l, rest
		}
	}
	return "", ""
}
