package engine

import (
	"context"
	"strings"
)

// hideIDs replaces native ids in the lines of a pane by their short form, also
// one that the pane's edge has cut in two. A client's last words go into receipts
// and events; the id of a fork's parent does not go with them.
func hideIDs(lines []string) []string {
	out := append([]string(nil), lines...)
	for i := range out {
		out[i] = hideInLine(out[i])
		if i+1 < len(out) {
			out[i], out[i+1] = hideAcross(out[i], out[i+1])
		}
	}
	return out
}

// hideInLine replaces every id inside one line.
func hideInLine(line string) string {
	for at := 0; at+uuidLen <= len(line); at++ {
		if id := line[at : at+uuidLen]; isUUID(id) {
			line = line[:at] + redact(id) + line[at+uuidLen:]
		}
	}
	return line
}

// hideAcross replaces an id that begins at the end of one line and ends at the
// beginning of the next.
func hideAcross(line, next string) (head, rest string) {
	line = strings.TrimRight(line, " ")
	for left := 1; left < uuidLen; left++ {
		if left > len(line) || uuidLen-left > len(next) {
			continue
		}
		if id := line[len(line)-left:] + next[:uuidLen-left]; isUUID(id) {
			return line[:len(line)-left] + redact(id), next[uuidLen-left:]
		}
	}
	return line, next
}

// forkUnproven is the failure of a fork whose own id was not seen in time. What
// the client showed last is kept with it.
func forkUnproven(s Step, id Identity, shown []string) error {
	return Errorf(CodeRuntime, "the fork's own id was not proven: %s", orNone(id.Why)).On("fork", s.Seat).
		WithHint("nothing was recorded and nothing was started in its place; look at the client's words and try again").
		With("pane_tail", shown)
}

// namesParent reports whether an id is that of the conversation that a seat was
// to be forked from. The record keeps no such id, only its digest. What cannot be
// read counts as the parent's: nothing is stored on a guess.
func (e *Engine) namesParent(ctx context.Context, seat Seat, id string) bool {
	declared, err := e.declaredSources(ctx, []Seat{seat})
	d := declared[seat.ID]
	return err != nil || d.Parent != "" && d.Parent == tokenDigest(NewParentToken(id))
}

// settleFork gives a fork that had to wait for a person its outcome, once the
// client has proven an id that is not the parent's.
func settleFork(tx Tx, seat *Seat, session *Session) error {
	all, err := tx.Tenures(seat.ID)
	if err != nil {
		return err
	}
	for _, t := range all {
		if t.Generation == session.Generation && t.Kind == "fork" && seat.Continuity == ContinuityNone && session.Continuity == ContinuityNone {
			seat.Continuity, session.Continuity = ContinuityForked, ContinuityForked
		}
	}
	return nil
}
