package runtimes

import (
	"regexp"
	"strings"
	"sync"
)

// secretForms are texts that must not leave a pane: native ids, and keys of the
// kinds that end up on screens. Compiled on first use, since a hook that never
// redacts should not pay for it.
var secretForms = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(strings.Join([]string{
		`[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`,
		`\bsk-[A-Za-z0-9_-]{8,}`,
		`\b(?:ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[abprs])[-_][A-Za-z0-9_-]{10,}`,
		`\b(?:AKIA|ASIA)[A-Z0-9]{12,}`,
		`\bAIza[A-Za-z0-9_-]{20,}`,
		`\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]*)?`,
		`(?i)\bbearer\s+[A-Za-z0-9._~+/-]{8,}=*`,
		`(?i)\b[a-z0-9_-]*(?:api[_-]?key|secret|passw(?:or)?d|token)["']?\s*[=:]\s*["']?[^\s"',;]{6,}`,
	}, "|"))
})

// redactText replaces native ids by their short form and secrets by a mark.
func redactText(s string) string {
	return secretForms().ReplaceAllStringFunc(s, func(m string) string {
		if len(m) == 36 && strings.Count(m, "-") == 4 && m[8] == '-' {
			return "tok_…" + m[32:]
		}
		return "[redacted]"
	})
}

// tailLines is how much of a pane goes into evidence.
const tailLines = 12

// tail gives the last lines of a screen as evidence: redacted, printable, blank
// lines dropped. Ids that the right edge cut in two are glued before redaction
// would miss them: a line that ends in hex and a dash or digit is joined.
func tail(lines []string) []string {
	var out []string
	for _, l := range lastLines(unwrapIDs(tidy(lines)), tailLines) {
		out = append(out, printable(redactText(l), 240))
	}
	return out
}

var (
	cutHead = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[0-9a-fA-F]{4,}-?[0-9a-fA-F-]*$`) })
	cutTail = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-fA-F-]{4,}`) })
)

// unwrapIDs joins a line with the next one when an id may run over the edge.
func unwrapIDs(lines []string) []string {
	var out []string
	for _, l := range lines {
		if n := len(out); n > 0 && len(out[n-1]) >= 40 && len(out[n-1]) < 2000 &&
			cutHead().MatchString(out[n-1]) && cutTail().MatchString(l) {
			out[n-1] += l
			continue
		}
		out = append(out, l)
	}
	return out
}
