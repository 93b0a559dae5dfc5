package runtimes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
)

// plainJSON turns a hand-written settings file into strict JSON: a byte order
// mark, comments and commas before a closing bracket are taken out. Everything
// else stays, also what is wrong.
func plainJSON(b []byte) []byte {
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); {
		switch {
		case b[i] == '"':
			end := stringEnd(b, i)
			out = append(out, b[i:end]...)
			i = end
		case bytes.HasPrefix(b[i:], []byte("//")):
			for i < len(b) && b[i] != '\n' {
				i++
			}
		case bytes.HasPrefix(b[i:], []byte("/*")):
			end := bytes.Index(b[i+2:], []byte("*/"))
			if end < 0 {
				return append(out, b[i:]...)
			}
			i += end + 4
		case b[i] == '}' || b[i] == ']':
			trimmed := bytes.TrimRight(out, " \t\r\n")
			if n := len(trimmed); n > 0 && trimmed[n-1] == ',' {
				out = trimmed[:n-1]
			}
			out = append(out, b[i])
			i++
		default:
			out = append(out, b[i])
			i++
		}
	}
	return out
}

// stringEnd gives the index behind the string that starts at i.
func stringEnd(b []byte, i int) int {
	for j := i + 1; j < len(b); j++ {
		switch b[j] {
		case '\\':
			j++
		case '"':
			return j + 1
		}
	}
	return len(b)
}

// claudeSettings are the keys of the client's settings files that we read. None
// of those files is ever written.
type claudeSettings struct {
	CleanupDays *float64        `json:"cleanupPeriodDays"`
	StatusLine  json.RawMessage `json:"statusLine"`
}

const maxSettings = 4 << 20

// readClaudeSettings reads one settings file. A missing file is no settings and
// no error; an error names the file and the line, never the content.
func readClaudeSettings(path string) (claudeSettings, error) {
	var s claudeSettings
	b, err := slurp(path, maxSettings)
	if os.IsNotExist(err) {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("%s: %s", path, reason(err))
	}
	plain := plainJSON(b)
	if len(bytes.TrimSpace(plain)) == 0 {
		return s, nil
	}
	if err := json.Unmarshal(plain, &s); err != nil {
		return claudeSettings{}, fmt.Errorf("%s: %s", path, jsonFault(err))
	}
	return s, nil
}
