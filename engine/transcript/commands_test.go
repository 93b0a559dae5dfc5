package transcript

import (
	"os"
	"path/filepath"
	"testing"
)

// The record of a /compact that the client gave up, as Claude Code 2.1.332 writes
// it, and records that only look like one.
func TestFailedCommandsSince(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.jsonl")
	before := `{"type":"user","message":{"role":"user","content":"say \"commandOutcome\": {\"kind\":\"failed\"}"}}` + "\n"
	record := func(kind, args string) string {
		return `{"type":"system","subtype":"local_command","content":"<local-command-stderr>Compaction failed · conversation could not be reduced below the context limit</local-command-stderr>",` +
			`"timestamp":"2026-03-03T10:00:00.253Z","commandRun":{"command":"compact","args":"` + args + `"},"commandOutcome":{"kind":"` + kind + `"}}` + "\n"
	}
	all := before + record("failed", "[c1] keep") + record("completed", "[c2]") + record("failed", "[c3]")
	if err := os.WriteFile(path, []byte(all+`{"type":"system","subtype":"local_command","commandOutcome":{"kind":"fai`), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := FailedCommandsSince(path, 0)
	if err != nil || len(got) != 2 {
		t.Fatalf("%v %+v", err, got)
	}
	c := got[0]
	if c.Name != "compact" || c.Args != "[c1] keep" || c.Text != "Compaction failed · conversation could not be reduced below the context limit" || c.At.IsZero() {
		t.Errorf("%+v", c)
	}
	if got, err = FailedCommandsSince(path, int64(len(before)+len(record("failed", "[c1] keep")))); err != nil || len(got) != 1 || got[0].Args != "[c3]" {
		t.Errorf("%v %+v", err, got)
	}
	if got, err = FailedCommandsSince(path, 1<<30); err != nil || got != nil {
		t.Errorf("%v %+v", err, got)
	}
	if _, err = FailedCommandsSince(path+"x", 0); err == nil {
		t.Error("a file that is not there has an answer")
	}
}
