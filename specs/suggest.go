package specs

import (
	"strings"
)

// hint says what an unknown key may have been meant to be: a near key of the same
// object, or the object to which the key belongs.
func (t *tables) hint(o *object, key string) string {
	names := make([]string, 0, len(o.fields))
	for _, f := range o.fields {
		names = append(names, f.name)
	}
	if near := nearest(key, names); near != "" {
		return "did you mean " + near + "?"
	}
	var owners []string
	for _, other := range t.all {
		if other != o && other.field(key) != nil {
			owners = append(owners, other.name)
		}
	}
	if n := len(owners); n == 1 || n == 2 {
		return "it belongs to " + strings.Join(owners, " or ")
	}
	return "known here: " + strings.Join(names, ", ")
}

// nearest finds the closest candidate by edit distance, "" when none is close.
// Case, hyphens and underscores are not counted.
func nearest(s string, candidates []string) string {
	const longest, most = 48, 400
	if s == "" || len(s) > longest || len(candidates) > most {
		return ""
	}
	fold := func(s string) string { return strings.ReplaceAll(strings.ToLower(s), "-", "_") }
	folded := fold(s)
	best, bestDist := "", 1+max(1, len(s)/3)
	for _, c := range candidates {
		if d := distance(folded, fold(c)); d < bestDist {
			best, bestDist = c, d
		}
	}
	return best
}

// distance is the number of single-byte edits, a swap of neighbours counting as
// one, between two short texts.
func distance(a, b string) int {
	prev2, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}
