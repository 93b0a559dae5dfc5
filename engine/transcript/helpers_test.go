package transcript

import (
	"bytes"
	"crypto/sha256"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	caseDir    = "../../testdata/cases"
	fixtureDir = "../../testdata/fixtures"
)

// readAll reads a file through the public entry and checks on the way that its
// bytes stay as they were.
func readAll(t *testing.T, path string, rt Runtime, o Options) ([]Message, Summary) {
	t.Helper()
	before := fileSum(t, path)
	var msgs []Message
	sum, err := ReadFile(path, rt, o, func(m Message) { msgs = append(msgs, m) })
	if err != nil {
		t.Fatalf("read %s: %v", path, err)
	}
	if fileSum(t, path) != before {
		t.Fatalf("%s changed while it was read", path)
	}
	return msgs, sum
}

func fileSum(t *testing.T, path string) [32]byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return sha256.Sum256(b)
}

func casePath(name string) string { return filepath.Join(caseDir, name) }

func fixture(name string) string { return filepath.Join(fixtureDir, name) }

// lines renders messages as "role: text" for comparison.
func lines(msgs []Message) string {
	var b strings.Builder
	for _, m := range msgs {
		b.WriteString(string(m.Role) + ": " + m.Text + "\n")
	}
	return b.String()
}

func wantLines(t *testing.T, msgs []Message, want ...string) {
	t.Helper()
	if got := lines(msgs); got != strings.Join(want, "\n")+"\n" {
		t.Errorf("messages:\n%s\nwant:\n%s", got, strings.Join(want, "\n"))
	}
}

// writeFile puts content into a new file and returns its path.
func writeFile(t *testing.T, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// claudeString reads a transcript given as text.
func claudeString(t *testing.T, s string, o Options) ([]Message, Summary) {
	t.Helper()
	var msgs []Message
	sum, err := Claude(strings.NewReader(s), o, func(m Message) { msgs = append(msgs, m) })
	if err != nil {
		t.Fatal(err)
	}
	return msgs, sum
}

// codexString reads a rollout given as text.
func codexString(t *testing.T, s string, o Options) ([]Message, Summary) {
	t.Helper()
	var msgs []Message
	sum, err := Codex(bytes.NewReader([]byte(s)), o, func(m Message) { msgs = append(msgs, m) })
	if err != nil {
		t.Fatal(err)
	}
	return msgs, sum
}

// synthSecrets finds the planted secrets that stand whole in a text.
func synthSecrets(s string) []string {
	_, rest, found := strings.Cut(s, "use the key ")
	if !found {
		return nil
	}
	var out []string
	for word := range strings.FieldsSeq(rest) {
		if len(word) > 18 {
			out = append(out, word)
		}
	}
	return out
}

var errEnd = io.EOF
