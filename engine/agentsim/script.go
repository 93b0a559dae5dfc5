package agentsim

import (
	"strconv"
	"strings"
	"time"

	"rig/engine"
)

// script is what the directives in a prompt ask for. A directive is written
// [[name]] or [[name:argument]]; of two with one name the later wins.
//
//	say:TEXT   answer TEXT              sh:CMD     run a shell command (asks first)
//	esc:CMD    Codex: leave the sandbox write:PATH write a small file (asks first)
//	task:TEXT  Claude: a subagent       ask        Claude: a question with choices
//	tokens:N   report N input tokens from now on
//	slow:S     stream the answer for S seconds     wait:S  think for S seconds first
//	err:STATUS fail as the API would    limit      meet the usage limit
//	die:CODE   end at once, like a crash           hang    never answer again
//	title:TEXT set the pane title       child:CMD  leave a process running
//	compactfail:TEXT  the next compaction fails with TEXT
//	map        write the file that the prompt names, ending in the last line that it prescribes
type script map[string]string

// parseScript finds the directives of a prompt. The opening prompt of a handover
// asks for nothing: those in it were said to the predecessor and are quoted.
func parseScript(text string) script {
	s := script{}
	if engine.OwnMessage(text) == "opening" {
		return s
	}
	defer s.readMap(text)
	for {
		_, after, ok := strings.Cut(text, "[[")
		if !ok {
			return s
		}
		body, rest, ok := strings.Cut(after, "]]")
		if !ok {
			return s
		}
		name, arg, _ := strings.Cut(body, ":")
		if !isDirective(name) {
			text = after
			continue
		}
		s[name] = arg
		text = rest
	}
}

// readMap turns the directive map into the file to write: a prompt names it before
// a lone colon and ends with the line that must end it.
func (s script) readMap(prompt string) {
	if !s.has("map") {
		return
	}
	head, last, ok := strings.Cut(prompt, "last line must be exactly: ")
	if !ok {
		return
	}
	for _, word := range strings.Fields(head) {
		if strings.HasSuffix(word, ".tmp") {
			s["write"], s["content"] = word, "# Restore map\n\n1. notes.md\n\n"+strings.TrimSpace(last)+"\n"
		}
	}
}

func isDirective(name string) bool {
	if name == "" {
		return false
	}
	for _, c := range name {
		if c < 'a' || c > 'z' {
			return false
		}
	}
	return true
}

func (s script) has(name string) bool { _, ok := s[name]; return ok }

// seconds reads a directive's argument as a duration, at most an hour.
func (s script) seconds(name string) time.Duration {
	f, err := strconv.ParseFloat(s[name], 64)
	if err != nil || f <= 0 || f != f {
		return 0
	}
	return time.Duration(min(f, 3600) * float64(time.Second))
}

// number reads a directive's argument as a number.
func (s script) number(name string, fallback int) int {
	if n, err := strconv.Atoi(s[name]); err == nil && n >= 0 {
		return n
	}
	return fallback
}
