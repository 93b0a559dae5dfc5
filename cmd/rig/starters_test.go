package main

import (
	"strings"
	"testing"
)

// On a machine without the clients, the first starter is one that comes up there.
func TestStartersThatComeUpAreFirst(t *testing.T) {
	for env, first := range map[string]string{"/nonexistent/client": "shells", "/bin/true": "demo"} {
		t.Setenv("RIG_CLAUDE_COMMAND", `["`+env+`"]`)
		t.Setenv("RIG_CODEX_COMMAND", `["`+env+`"]`)
		list, err := (&app{}).starterChoices(t.Context())
		if err != nil || len(list) < 3 || list[0].Value != first {
			t.Errorf("%s: %v %+v", env, err, list)
		}
		for _, ch := range list {
			if missing := strings.Contains(ch.Note, "not on this machine"); missing != (first == "shells" && ch.Value != "shells") {
				t.Errorf("%s: %s: %s", env, ch.Value, ch.Note)
			}
		}
	}
}
