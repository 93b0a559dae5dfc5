package transcript

import (
	"bytes"
	"io"
	"strings"
	"time"
)

// FailedCommand is a command of Claude Code's own, such as /compact, that the
// client has recorded as failed: a system record of subtype local_command whose
// commandOutcome is of kind "failed". Seen from 2.1.332 on; older clients write
// no such record.
type FailedCommand struct {
	Name string // without the slash
	Args string
	Text string // what the client said of it, its tags taken off
	At   time.Time
}

// maxFailed bounds the commands that are listed.
const maxFailed = 50

// FailedCommandsSince lists the commands recorded as failed at or after a byte
// offset of a Claude Code transcript, oldest first, at most the first 50. An
// offset past the end gives none. It fails like [ReadFile].
func FailedCommandsSince(path string, offset int64) ([]FailedCommand, error) {
	src, err := open(path)
	if err != nil {
		return nil, err
	}
	defer src.close()
	if offset > src.size {
		return nil, nil
	}
	from, err := lineStart(src.f, offset, src.size)
	if err != nil {
		return nil, err
	}
	lines := newLineReader(io.NewSectionReader(src.f, from, src.size-from), Options{})
	var out []FailedCommand
	for l, ok := lines.next(); ok && len(out) < maxFailed; l, ok = lines.next() {
		if !l.ended || !bytes.Contains(l.data, []byte(`"commandOutcome"`)) {
			continue
		}
		if c, ok := failedCommand(l.data); ok {
			out = append(out, c)
		}
	}
	return out, nil
}

func failedCommand(data []byte) (FailedCommand, bool) {
	if string(inner(field(data, "subtype"))) != "local_command" || string(inner(field(field(data, "commandOutcome"), "kind"))) != "failed" {
		return FailedCommand{}, false
	}
	var scratch []byte
	run := field(data, "commandRun")
	c := FailedCommand{
		Name: text(field(run, "command"), &scratch), Args: text(field(run, "args"), &scratch),
		Text: text(field(data, "content"), &scratch), At: moment(field(data, "timestamp")),
	}
	for _, tag := range []string{"<local-command-stderr>", "</local-command-stderr>", "<local-command-stdout>", "</local-command-stdout>"} {
		c.Text = strings.ReplaceAll(c.Text, tag, "")
	}
	return c, c.Name != ""
}
