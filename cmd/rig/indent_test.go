package main

import (
	"bytes"
	"encoding/json"
	"testing"
)

// FuzzIndent compares with the library's own, on whatever is valid JSON.
func FuzzIndent(f *testing.F) {
	for _, s := range []string{
		`{}`, `[]`, `null`, `"a,{:}[\"\\"`, `{"a":{},"b":[],"c":[1,2,{"d":"\\"}],"é\u2028":"<&>"}`, `[[[]],[{}],{"x":[[1]]}]`, "\"\x7f\"", `-1.5e+3`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		var flat, want, got bytes.Buffer
		if json.Compact(&flat, doc) != nil {
			return
		}
		flat.WriteByte('\n')
		if err := json.Indent(&want, flat.Bytes(), "", "  "); err != nil {
			t.Fatal(err)
		}
		n, err := (&indenter{w: &got}).Write(flat.Bytes())
		if err != nil || n != flat.Len() || got.String() != want.String() {
			t.Errorf("%d %v\n%q\n%q", n, err, got.String(), want.String())
		}
	})
}
