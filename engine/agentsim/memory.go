package agentsim

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// said is one text that the model would see: a prompt, an answer, what a hook
// added, or the summary of a compaction.
type said struct {
	role string // user, assistant, hook or summary
	text string
}

// question recognises what a prompt wants to know: "what do you remember about
// K", "what do you know about K", "what is K".
var question = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\bwhat (?:do you (?:remember|know|recall) about|is|was) (.+?)\s*[?.!]*\s*$`)
})

// unknownPrefix begins the answer to a question that the conversation cannot answer.
const unknownPrefix = "I do not know anything about "

// answer is the reply to a prompt without a directive for it. It is made only
// from the conversation held, so it proves what the process was given; n counts
// the answers of the process.
func answer(held []said, prompt string, n int) string {
	if k := asked(prompt); k != "" {
		if l := recall(held, k); l != "" {
			return "I remember about " + k + ": " + l
		}
		return unknownPrefix + k + "."
	}
	for _, l := range strings.Split(prompt, "\n") {
		if fact, ok := cutFold(strings.TrimSpace(l), "remember "); ok {
			return "Noted: " + strings.TrimSpace(fact)
		}
	}
	return fmt.Sprintf("Canned answer %d.", n)
}

// asked gives the subject of a question in the prompt's last lines.
func asked(prompt string) string {
	lines := strings.Split(strings.TrimSpace(prompt), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if m := question().FindStringSubmatch(lines[i]); m != nil {
			return strings.Trim(m[1], " \t\"'`")
		}
	}
	return ""
}

// recall finds the newest line that names the subject. Questions, and answers
// that say nothing is known, are not knowledge.
func recall(held []said, subject string) string {
	want := strings.ToLower(subject)
	for i := len(held) - 1; i >= 0; i-- {
		lines := strings.Split(held[i].text, "\n")
		for j := len(lines) - 1; j >= 0; j-- {
			l := strings.TrimSpace(lines[j])
			if !strings.Contains(strings.ToLower(l), want) || strings.HasPrefix(l, unknownPrefix) || question().MatchString(l) {
				continue
			}
			if rest, ok := strings.CutPrefix(l, "I remember about "); ok {
				if _, fact, found := strings.Cut(rest, ": "); found {
					l = fact
				}
			}
			return clipText(l, 400)
		}
	}
	return ""
}

// summarize is the text a compaction leaves: how much there was, and the lines
// that the instructions ask to keep. Everything else is lost, as it should be:
// what a seat knows after a compaction must have come from somewhere else.
func summarize(held []said, instructions string) string {
	prompts := 0
	for _, s := range held {
		if s.role == "user" {
			prompts++
		}
	}
	out := fmt.Sprintf("STAND-IN SUMMARY: %d prompts were answered; nothing is pending. Next step: continue.", prompts)
	words := strings.FieldsFunc(strings.ToLower(instructions), func(r rune) bool { return r == ' ' || r == ',' || r == '.' })
	for _, s := range held {
		for _, l := range strings.Split(s.text, "\n") {
			if mentions(l, words) && !question().MatchString(l) {
				out += "\nKept: " + clipText(strings.TrimSpace(l), 400)
			}
		}
	}
	return out
}

func mentions(l string, words []string) bool {
	l = strings.ToLower(l)
	for _, w := range words {
		if len(w) > 4 && strings.Contains(l, w) {
			return true
		}
	}
	return false
}

func cutFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

func clipText(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n]) + "…"
}
