package engine_test

import (
	"testing"
	"unicode"
	"unicode/utf8"

	"rig/engine"
)

func TestSanitise(t *testing.T) {
	tests := map[string]string{
		"plain":                      "plain",
		"a\tb\nc":                    "a\tb\nc",
		"a\r\nb\rc":                  "a\nbc",
		"x\x1b[201~rm -rf\n":         "xrm -rf\n",
		"\x1b\x1b[201~":              "",
		"\x1b[20\x1b[201~1~y":        "201~y", // text without its ESC is only text
		"\u009b201~z":                "z",
		"\x1b[31mred\x1b[0m":         "red",
		"\x1b]0;title\x07after":      "after",
		"\x1b]8;;http://x\x1b\\link": "link",
		"\x1b]never ends\nkept":      "never ends\nkept",
		"\x1bPq\x1b\\s":              "s",
		"\x00\x07\x08\x7f\u0085":     "",
		"bad \xff utf":               "bad \uFFFD utf",
		"\x9b201~raw C1":             "\uFFFD201~raw C1",
		"設計 🚀 é":                     "設計 🚀 é",
	}
	for in, want := range tests {
		if got := engine.Sanitise(in); got != want {
			t.Errorf("Sanitise(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzSanitise(f *testing.F) {
	for _, s := range []string{"x\x1b[201~y", "\x1b\x1b[[201~201~", "\u009b", "\xff\x1b]", "a\tb\n", "\x1b[\x1b[201~201~"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := engine.Sanitise(s)
		for _, r := range got {
			if r != '\n' && r != '\t' && unicode.IsControl(r) {
				t.Fatalf("control %q is left in %q", r, got)
			}
		}
		if !utf8.ValidString(got) {
			t.Fatalf("invalid UTF-8: %q", got)
		}
		if again := engine.Sanitise(got); again != got {
			t.Fatalf("not stable: %q became %q", got, again)
		}
		if len(got) > len(s)*3 {
			t.Fatalf("%q grew to %q", s, got)
		}
	})
}
