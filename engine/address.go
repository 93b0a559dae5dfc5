package engine

import "strings"

// MaxNameLen is the longest rig, pod or member name, in bytes.
const MaxNameLen = 64

// ValidName reports whether s may name a rig, a pod or a member: ASCII letters and
// digits, and from the second place on '-' and '_'. That is what tmux, the shell
// and the address syntax all carry unchanged.
func ValidName(s string) bool {
	for i := range len(s) {
		c := s[i]
		word := c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
		if !word && (i == 0 || c != '-' && c != '_') {
			return false
		}
	}
	return s != "" && len(s) <= MaxNameLen
}

// Address is the canonical address of a seat, pod-member@rig. It is also the
// name of the seat's tmux session. It is derived, never split: both names may
// hold hyphens.
func Address(pod, member, rig string) string { return pod + "-" + member + "@" + rig }

// Logical is the logical id of a seat inside its rig, pod.member.
func Logical(pod, member string) string { return pod + "." + member }

// SeatRef is a reference to a seat as somebody typed it: pod-member@rig,
// pod.member@rig or pod.member.
type SeatRef struct {
	Member string // before the first '@', or the whole text
	Rig    string // after it; "" when the reference names no rig
}

// SeatName is what a seat is called, beside its id, and the spec of its rig.
type SeatName struct{ ID, Rig, Pod, Member, SpecPath string }

// ParseSeatRef takes a reference apart. The rig is everything after the first
// '@'. It refuses an empty reference and an empty side.
func ParseSeatRef(s string) (SeatRef, error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return SeatRef{}, Errorf(CodeSeatRefRequired, "a seat is required").
			WithHint("name it as pod-member@rig or pod.member; `rig ps --seats` lists them")
	}
	member, rig, at := strings.Cut(s, "@")
	if at && (member == "" || rig == "") {
		return SeatRef{}, Errorf(CodeInvalid, "%q is not a seat address", s).
			WithHint("write pod-member@rig, pod.member@rig or pod.member")
	}
	return SeatRef{Member: member, Rig: rig}, nil
}

// Matches reports whether the reference means this seat of this rig.
func (r SeatRef) Matches(rig string, s Seat) bool {
	if r.Rig != "" && r.Rig != rig {
		return false
	}
	if r.Member == Logical(s.Pod, s.Member) {
		return true
	}
	return r.Rig != "" && r.Member+"@"+r.Rig == Address(s.Pod, s.Member, rig)
}

// String gives the reference back as it would be typed.
func (r SeatRef) String() string {
	if r.Rig == "" {
		return r.Member
	}
	return r.Member + "@" + r.Rig
}
