package runtimes

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestTyped(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "hello": "hello", "hello!": "hello!", "a! b": "a! b", " !x": " !x", "/compact now": "/compact now",
		"!make": " !make", "!": " !", "look at @a/b.go": "look at @a/b.go ", "@a": "@a ", "me@host": "me@host", "a\n$skill": "a\n$skill ",
		"US$5": "US$5", "it is :smi": "it is :smi ", "10:30": "10:30", `C:\dir\`: `C:\dir\ `, "!run @x": " !run @x ", "@x and": "@x and",
	} {
		if got := typed(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Whatever the text: only spaces around it are added, once, and never is the first character
// one that makes a command of it.
func TestTypedAddsOnlySpaces(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("!@$:\\ \n\tab/é")), 0, 12, -1).Draw(t, "text")
		got := typed(text)
		if strings.HasPrefix(got, "!") || strings.Trim(got, " ") != strings.Trim(text, " ") || typed(got) != got {
			t.Fatalf("%q: %q", text, got)
		}
	})
}
