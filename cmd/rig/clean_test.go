package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestNothingPrintedDrivesATerminal(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain äöü → ✓ 日本\n\tx":                  "plain äöü → ✓ 日本\n\tx",
		"a\x1b[2Jb\x1b]0;t\x07c":                 "a[2Jb]0;tc",
		"a\u009b31mb":                            "a31mb",
		"a\x9b31mb":                              "a\uFFFD31mb",
		"a\u202egpj.exe\u2066\u200fb":            "agpj.exeb",
		"a\rb\x00c\x7f":                          "abc",
		"ro\u200bo\u2060t\ufeff\u00ad\U000e0041": "root",
		"\u06dd5":                                "\u06dd5",
	} {
		var b bytes.Buffer
		if n, err := (cleanWriter{&b, nil}).Write([]byte(in)); err != nil || n != len(in) || b.String() != want {
			t.Errorf("%q: %q, %d, %v", in, b.String(), n, err)
		}
	}
}

// FuzzClean: what is printed drives nothing, and a JSON document stays the one it
// was.
func FuzzClean(f *testing.F) {
	f.Add("a\x1b[2J\u009b\u202e\u200b\U000e0041")
	f.Fuzz(func(t *testing.T, s string) {
		var b bytes.Buffer
		if _, err := (cleanWriter{&b, nil}).Write([]byte(s)); err != nil || strings.ContainsFunc(b.String(), drives) || !utf8.ValidString(b.String()) {
			t.Errorf("%q: %q, %v", s, b.String(), err)
		}
		doc, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		b.Reset()
		asJSON := true
		var back string
		if _, err := (cleanWriter{&b, &asJSON}).Write(doc); err != nil || strings.ContainsFunc(b.String(), drives) {
			t.Errorf("%q: %q, %v", doc, b.String(), err)
		}
		if err := json.Unmarshal(b.Bytes(), &back); err != nil || back != strings.ToValidUTF8(s, "\uFFFD") && utf8.ValidString(s) {
			t.Errorf("%q became %q, %v", s, back, err)
		}
	})
}
