package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// script is what the directives in a user text ask for. A directive is written [[name]] or [[name:value]]; of the same name
// the last one counts. The names are:
//
//	say:TEXT     answer TEXT
//	sh:CMD       call the shell tool with CMD
//	esc:CMD      Codex: call the shell tool with CMD and ask to leave the sandbox
//	write:PATH   write a file
//	map          Claude: write the file that the text names, ending in the last line that it prescribes
//	task:PROMPT  Claude: start a subagent with PROMPT
//	ask          Claude: put a question to the user
//	tokens:N     report a context of N tokens from now on
//	wait:SECS    be silent for SECS seconds before the first byte
//	slow:SECS    stream the answer over SECS seconds
//	err:STATUS   fail with that HTTP status
//	limit        fail as an account does that has used up its allowance
type script map[string]string

var directive = regexp.MustCompile(`(?s)\[\[([a-z]+)(?::(.*?))?\]\]`)

// parse finds the directives in text.
func parse(text string) script {
	s := script{}
	for _, found := range directive.FindAllStringSubmatch(text, -1) {
		s[found[1]] = found[2]
	}
	s.readMap(text)
	return s
}

// readMap turns the directive map into the file to write: the text names it with the ending .tmp, and ends with the line that must
// end the file.
func (s script) readMap(text string) {
	head, last, ok := strings.Cut(text, "last line must be exactly: ")
	if !s.has("map") || !ok {
		return
	}
	for _, word := range strings.Fields(head) {
		if strings.HasSuffix(word, ".tmp") {
			s["write"], s["content"] = word, "# Restore map\n\n1. notes.md\n\n"+strings.TrimSpace(last)+"\n"
		}
	}
}

// has tells whether the directive was given.
func (s script) has(name string) bool {
	_, ok := s[name]
	return ok
}

// seconds is the directive's value as a time, or 0 if it is absent or no number.
func (s script) seconds(name string) time.Duration {
	n, err := strconv.ParseFloat(s[name], 64)
	if err != nil || n < 0 {
		return 0
	}
	return time.Duration(n * float64(time.Second))
}

// status is the HTTP status that err asks for, or 0.
func (s script) status() int {
	n, err := strconv.Atoi(s["err"])
	if err != nil || n < 400 || n > 599 {
		return 0
	}
	return n
}

// question matches what an operator asks about something said before.
var question = regexp.MustCompile(`(?i)\b(?:what is|what's|recall) (?:the |your )?([a-z][a-z _-]{0,40}?)\s*(?:\?|$|\n)`)

// fact matches what was said: a name, then "is" or a colon, then the value up to the end of its sentence or line.
func fact(name string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(name) + `(?:\*\*)?(?: is |\s*:\s*|\s*=\s*)["'` + "`" + `]?([^\n"'` + "`" + `]{1,200})`)
}

// recall answers the question in asked from the earlier texts of the same request; the newest mention wins. The second result
// is false if asked is no such question. What the request does not carry, the mock does not know, and says so.
func recall(asked string, earlier []string) (string, bool) {
	found := question.FindStringSubmatch(asked)
	if found == nil {
		return "", false
	}
	name := strings.TrimSpace(found[1])
	for i := len(earlier) - 1; i >= 0; i-- {
		said := fact(name).FindAllStringSubmatch(earlier[i], -1)
		if len(said) == 0 {
			continue
		}
		return fmt.Sprintf("The %s is %s.", name, sentence(said[len(said)-1][1])), true
	}
	return fmt.Sprintf("I was not told the %s.", name), true
}

// sentence cuts a value where its sentence ends.
func sentence(value string) string {
	if end := strings.Index(value, ". "); end >= 0 {
		value = value[:end]
	}
	return strings.TrimRight(strings.TrimSpace(value), ".!,;")
}

// statement matches the facts that a summary must keep.
var statement = regexp.MustCompile(`(?i)\bthe [a-z][a-z _-]{0,40} is [^\n."'\\<\[]{1,120}`)

// summarize answers a compaction request: the facts stated in the conversation that it carries, oldest first, each once.
func summarize(texts []string) string {
	var facts []string
	seen := map[string]bool{}
	for _, text := range texts {
		for _, found := range statement.FindAllString(text, 40) {
			if found = strings.TrimSpace(found); !seen[found] && len(facts) < 40 {
				seen[found] = true
				facts = append(facts, "- "+found)
			}
		}
	}
	if len(facts) == 0 {
		return "Summary: nothing was stated that needs keeping. Next step: continue."
	}
	return "Summary of what was stated:\n" + strings.Join(facts, "\n") + "\nNext step: continue."
}

// suggestionMode stands in the request of Claude Code for what its user may type next, which it then shows in the empty input box
// (with CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION=true).
const suggestionMode = "[SUGGESTION MODE"

// reply is the plain answer to a user text: what it was told to say, what it was asked about, or a sign of life.
func (s script) reply(n int, afterTool bool, asked string, earlier []string) string {
	if s.has("say") {
		return s["say"]
	}
	if strings.Contains(asked, suggestionMode) {
		return "run the tests"
	}
	if afterTool {
		return "Done after the tool."
	}
	if answer, ok := recall(asked, earlier); ok {
		return answer
	}
	return fmt.Sprintf("Canned answer %d.", n)
}
