package packet

import (
	"maps"
	"strings"
	"sync"
)

// PolicyID names the redaction rules of this package in a packet.
const PolicyID = "rig-v1"

// Marker stands where a secret was. Redacting a redacted text changes nothing.
const Marker = "[REDACTED]"

// Counts says how many secrets of each kind were replaced.
type Counts map[string]int

// Total is the number of replaced secrets of all kinds.
func (c Counts) Total() int {
	n := 0
	for _, k := range c {
		n += k
	}
	return n
}

// Add adds the counts of other to c.
func (c Counts) Add(other Counts) {
	for kind, n := range other {
		c[kind] += n
	}
}

// Redact replaces what looks like a credential by [Marker] and counts it by
// kind. Git hashes, UUIDs, checksums and paths survive, and so do the words
// around a secret. The counts are nil when nothing was found; the text then
// comes back as it is. Cut a text after redacting it, never before.
func Redact(text string) (string, Counts) { return redact(text, false) }

// span is one find: the bytes [start, end) are replaced.
type span struct {
	start, end int
	kind       string
}

// redact is Redact. cut says that the text's end was cut off: a secret that runs
// into it is recognised by its beginning, however little is left of it.
func redact(text string, cut bool) (string, Counts) {
	s := scanner{text: text, cut: cut, screen: theScreen()}
	var out strings.Builder
	var counts Counts
	last := 0
	for {
		hit, ok := s.next()
		if !ok {
			break
		}
		if counts == nil {
			counts = Counts{}
			out.Grow(len(text))
		}
		out.WriteString(text[last:hit.start])
		out.WriteString(Marker)
		counts[hit.kind]++
		last = hit.end
	}
	if counts == nil {
		return text, nil
	}
	out.WriteString(text[last:])
	return out.String(), counts
}

// residual reports the first thing in text that redaction would still replace.
func residual(text string) (kind string, found bool) {
	s := scanner{text: text, screen: theScreen()}
	hit, ok := s.next()
	return hit.kind, ok
}

// screen decides in about a nanosecond per byte where a rule could begin: a
// bitmap over hashes of three bytes, and behind it the rules by those bytes.
type screen struct {
	bits  [1 << 10]uint64
	rules map[uint32][]*rule
	class [256]uint8
}

// Character classes of a byte, as bits.
const (
	isLower uint8 = 1 << iota
	isUpper
	isDigit
	isUnder   // _
	isDash    // -
	isBase64  // + and /
	isDot     // .
	isOpaque  // ~ and =
	isWord    = isLower | isUpper | isDigit | isUnder
	isToken   = isWord | isDash
	isB64Run  = isLower | isUpper | isDigit | isBase64
	isBearer  = isToken | isBase64 | isDot | isOpaque
	isDotted  = isToken | isDot
	isDecimal = isDigit
)

// theScreen is built at first use, so that programs that never redact anything
// do not pay for it.
var theScreen = sync.OnceValue(func() *screen {
	sc := &screen{rules: map[uint32][]*rule{}}
	for i := range 256 {
		ch := byte(i)
		switch {
		case ch >= 'a' && ch <= 'z':
			sc.class[i] = isLower
		case ch >= 'A' && ch <= 'Z':
			sc.class[i] = isUpper
		case ch >= '0' && ch <= '9':
			sc.class[i] = isDigit
		}
	}
	for ch, class := range map[byte]uint8{'_': isUnder, '-': isDash, '+': isBase64, '/': isBase64, '.': isDot, '~': isOpaque, '=': isOpaque} {
		sc.class[ch] = class
	}
	for _, r := range allRules() {
		for _, first := range spellings(r.lead[:3], r.fold) {
			key := uint32(first[0])<<16 | uint32(first[1])<<8 | uint32(first[2])
			sc.rules[key] = append(sc.rules[key], &r)
			h := hash3(key)
			sc.bits[h>>6] |= 1 << (h & 63)
		}
	}
	return sc
})

func hash3(key uint32) uint32 { return key * 0x9e3779b1 >> 16 }

// spellings are the upper and lower case forms of s if fold is set.
func spellings(s string, fold bool) []string {
	if !fold {
		return []string{s}
	}
	out := map[string]bool{}
	for mask := range 1 << len(s) {
		b := []byte(strings.ToLower(s))
		for i := range b {
			if mask>>i&1 == 1 {
				b[i] = strings.ToUpper(string(b[i]))[0]
			}
		}
		out[string(b)] = true
	}
	list := make([]string, 0, len(out))
	for k := range maps.Keys(out) {
		list = append(list, k)
	}
	return list
}

// scanner walks a text from find to find.
type scanner struct {
	text   string
	cut    bool
	screen *screen
	at     int
}

// next returns the next find, in order and without overlap.
func (s *scanner) next() (span, bool) {
	text, sc := s.text, s.screen
	run := s.at // start of the current base64 run
	var key uint32
	for i := s.at; i < len(text); i++ {
		ch := text[i]
		if sc.class[ch]&isB64Run == 0 {
			if i-run >= minOpaque {
				if hit, ok := s.opaque(run, i); ok {
					return s.take(hit)
				}
			}
			run = i + 1
		}
		key = key<<8&0xffffff | uint32(ch)
		h := hash3(key)
		if sc.bits[h>>6]>>(h&63)&1 == 0 || i < s.at+2 {
			continue
		}
		for _, r := range sc.rules[key] {
			if hit, ok := s.try(r, i-2); ok {
				return s.take(hit)
			}
		}
	}
	if len(text)-run >= minOpaque {
		if hit, ok := s.opaque(run, len(text)); ok {
			return s.take(hit)
		}
	}
	s.at = len(text)
	return span{}, false
}

func (s *scanner) take(hit span) (span, bool) {
	s.at = hit.end
	return hit, true
}

// try matches one rule whose first three bytes stand at start.
func (s *scanner) try(r *rule, start int) (span, bool) {
	if len(s.text)-start < len(r.lead) || !sameLead(s.text[start:start+len(r.lead)], r.lead, r.fold) {
		return span{}, false
	}
	if r.word && !s.begins(start) {
		return span{}, false
	}
	from, end, ok := r.match(s, r, start, start+len(r.lead))
	if !ok || from < s.at || s.text[from:end] == Marker {
		return span{}, false
	}
	return span{start: from, end: end, kind: r.kind}, true
}

func sameLead(have, lead string, fold bool) bool {
	if fold {
		return strings.EqualFold(have, lead)
	}
	return have == lead
}

// begins reports whether a word begins at i. An escaped line end or tab written
// out as \n counts as a blank: text within text looks like that.
func (s *scanner) begins(i int) bool {
	if i == 0 || s.screen.class[s.text[i-1]]&isWord == 0 {
		return true
	}
	return i >= 2 && s.text[i-2] == '\\' && strings.IndexByte("nrt", s.text[i-1]) >= 0
}

// run returns the end of the stretch of the given classes that begins at i.
func (s *scanner) run(i int, classes uint8) int {
	for i < len(s.text) && s.screen.class[s.text[i]]&classes != 0 {
		i++
	}
	return i
}

// runTo is run, but looks no further than limit bytes. A rule that can still
// refuse after a run uses it: otherwise a text made for the purpose would have
// the same bytes walked again and again.
func (s *scanner) runTo(i int, classes uint8, limit int) int {
	end := min(len(s.text), i+limit)
	for i < end && s.screen.class[s.text[i]]&classes != 0 {
		i++
	}
	return i
}

// enough reports whether a stretch is long enough, or runs into the cut.
func (s *scanner) enough(from, end, least int) bool {
	return end-from >= least || s.cut && end == len(s.text)
}
