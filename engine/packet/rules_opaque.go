package packet

import (
	"math"
	"strings"
)

const (
	minOpaque = 40
	maxOpaque = 4096 // longer runs are data, and cost time
)

// opaque judges a long run of base64 characters by what generated keys have and
// hashes, paths, identifiers and public checksums do not.
func (s *scanner) opaque(from, end int) (span, bool) {
	run := s.text[from:end]
	if end-from > maxOpaque || publicBefore(s.text[:from]) || strings.HasPrefix(run, "AAAA") {
		return span{}, false
	}
	if !isPath(run) {
		return s.generated(from, end)
	}
	for seg := range strings.SplitSeq(run, "/") {
		if len(seg) >= minOpaque {
			if hit, ok := s.generated(from, from+len(seg)); ok {
				return hit, true
			}
		}
		from += len(seg) + 1
	}
	return span{}, false
}

// isPath tells a run of path segments from a key that has slashes in it: two of
// the segments are plain words, and words, hashes and ULIDs make a fifth of the
// run; or hardly anything is left beside them.
func isPath(run string) bool {
	if strings.IndexByte(run, '/') < 0 {
		return false
	}
	words, known := 0, 0
	for seg := range strings.SplitSeq(run, "/") {
		switch {
		case isWordSegment(seg):
			words++
			known += len(seg)
		case isULID(seg) || isHash(seg):
			known += len(seg)
		}
	}
	return words >= 2 && known*5 >= len(run) || len(run)-known < minOpaque/2
}

// isWordSegment accepts letters of one case, with or without a capital in front.
func isWordSegment(seg string) bool {
	if len(seg) < 3 {
		return false
	}
	rest := seg[1:]
	return onlyOf(seg, isLower|isUpper) && (onlyOf(rest, isLower) || onlyOf(seg, isUpper))
}

// isULID accepts the 26 characters of a ULID, as this product names its
// operations with.
func isULID(seg string) bool {
	return len(seg) == 26 && seg[0] <= '7' && onlyOf(seg, isUpper|isDigit)
}

// isHash accepts hexadecimal digits of one case.
func isHash(seg string) bool {
	if len(seg) < 7 {
		return false
	}
	return strings.Trim(seg, "0123456789abcdef") == "" || strings.Trim(seg, "0123456789ABCDEF") == ""
}

func onlyOf(seg string, classes uint8) bool {
	sc := theScreen()
	for i := range len(seg) {
		if sc.class[seg[i]]&classes == 0 {
			return false
		}
	}
	return true
}

// generated judges one run by the mixture of its characters.
func (s *scanner) generated(from, end int) (span, bool) {
	run := s.text[from:end]
	var count [256]int
	var lower, upper, digit, turns int
	var before uint8
	for i := range len(run) {
		ch := run[i]
		count[ch]++
		class := s.screen.class[ch]
		if class != before {
			turns++
			before = class
		}
		switch class {
		case isLower:
			lower++
		case isUpper:
			upper++
		case isDigit:
			digit++
		}
	}
	n := len(run)
	if digit*100 < n*6 || upper*100 < n*15 || lower*100 < n*15 || count['/']*8 > n {
		return span{}, false
	}
	if turns*100 < n*46 { // words in camel case keep to one class for longer
		return span{}, false
	}
	entropy := 0.0
	for _, c := range count {
		if c > 0 {
			p := float64(c) / float64(n)
			entropy -= p * math.Log2(p)
		}
	}
	if entropy < 4.2 {
		return span{}, false
	}
	for end < len(s.text) && s.text[end] == '=' && end-from-n < 2 {
		end++
	}
	return span{start: from, end: end, kind: "opaque_key"}, true
}
