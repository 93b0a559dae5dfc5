package tmuxctl

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"rig/engine"
)

// Row is one pane with everything the inventory asks for. The part that decides is
// also in engine.Pane.
type Row struct {
	engine.Pane
	SessionID string // such as $3
	Signal    string // what ended a dead pane, as tmux names it; "" before 3.3 and for an exit
}

// Every field costs the server some microseconds for each pane: only what somebody
// uses is asked for.
//
// A row begins with a mark made for this call. The fixed fields follow, TAB between
// them: ids and numbers only, so that no value can hold a TAB. The free ones come
// last, each ended by the nonce of the call, which nobody can have put into a title
// or a path beforehand. A line break in one continues the row on the next line.
var (
	fixedFields = []string{
		"pane_id", "pane_pid", "session_id", "window_index", "pane_width", "pane_height", "window_activity", "pane_dead",
		"?pane_dead,#{pane_dead_status}\t#{pane_dead_signal}\t#{pane_dead_time},\t\t", // three, of a pane that is dead
	}
	freeFields = []string{
		"@rig_seat", "@rig_gen", "@rig_op", "session_name", "pane_title", "pane_current_command",
		"?@rig_seat,,#{pane_current_path}", // a look at /proc that only a pane without a seat is worth
	}
)

// fixedValues is how many values the fixed fields give.
var fixedValues = len(fixedFields) + 2

// rowFormat is the -F text of list-panes for one call.
func rowFormat(nonce string) string { return fieldFormat(nonce, fixedFields, freeFields) }

// rowStart is what a row begins with: as unknown to others as the nonce and different
// from it, so that no free field can make the end of another look like a row.
func rowStart(nonce string) string { return "y" + nonce[1:] }

// fieldFormat builds the format of a row: its start, fixed fields, free fields.
func fieldFormat(nonce string, fixed, free []string) string {
	var b strings.Builder
	b.WriteString(rowStart(nonce))
	for _, f := range fixed {
		b.WriteString("\t#{" + f + "}")
	}
	b.WriteString("\t" + nonce)
	for _, f := range free {
		b.WriteString("#{" + f + "}" + nonce)
	}
	return b.String()
}

// splitRows cuts the output of one call into rows: a row runs to the line before the
// next one that begins like one. What precedes the first row is returned as a fault.
func splitRows(out, nonce string) (rows, faults []string) {
	start := rowStart(nonce)
	for _, line := range strings.Split(strings.TrimSuffix(out, "\n"), "\n") {
		switch {
		case strings.HasPrefix(line, start):
			rows = append(rows, line)
		case len(rows) > 0:
			rows[len(rows)-1] += "\n" + line
		case line != "":
			faults = append(faults, fmt.Sprintf("line outside a row: %q", clip(line, 60)))
		}
	}
	return rows, faults
}

// splitFields takes one row apart. It fails on a wrong number of fields, which is
// then an error of that row alone.
func splitFields(row, nonce string, fixed, free int) (head, tail []string, err error) {
	body, ok := strings.CutPrefix(row, rowStart(nonce))
	parts := strings.Split(body, nonce)
	// The fixed part, one part per free field, an empty one after the last.
	if !ok || len(parts) != free+2 || parts[len(parts)-1] != "" {
		return nil, nil, fmt.Errorf("a row has %d free fields, not %d", len(parts)-2, free)
	}
	h := parts[0]
	// -u keeps TABs on every version seen; these are the two other ways in which
	// tmux shows a control character. No fixed value holds either.
	if !strings.Contains(h, "\t") {
		h = strings.ReplaceAll(h, `\011`, "\t")
		if !strings.Contains(h, "\t") {
			h = strings.ReplaceAll(h, "_", "\t")
		}
	}
	head = strings.Split(strings.TrimSuffix(strings.TrimPrefix(h, "\t"), "\t"), "\t")
	if len(head) != fixed {
		return nil, nil, fmt.Errorf("a row has %d fixed fields, not %d", len(head), fixed)
	}
	return head, parts[1 : len(parts)-1], nil
}

// parseRows reads the answer to one list-panes call. A row that cannot be read is a
// fault; it never hides another row. Sessions of control clients are left out.
func parseRows(out, nonce string, caps Caps) (rows []Row, faults []string) {
	lines, faults := splitRows(out, nonce)
	rows = make([]Row, 0, len(lines))
	for _, line := range lines {
		row, err := parseRow(line, nonce, caps)
		switch {
		case err != nil:
			faults = append(faults, err.Error())
		case !strings.HasPrefix(row.Session, controlPrefix):
			rows = append(rows, row)
		}
	}
	return rows, faults
}

// parseRow reads one row.
func parseRow(line, nonce string, caps Caps) (Row, error) {
	head, tail, err := splitFields(line, nonce, fixedValues, len(freeFields))
	if err != nil {
		return Row{}, err
	}
	f := fieldReader{values: head}
	var r Row
	r.ID = engine.PaneID(f.next())
	pid := f.next()
	r.SessionID = f.next()
	r.Window = f.number("window_index")
	r.Width, r.Height = f.number("pane_width"), f.number("pane_height")
	r.Activity = f.time()
	r.Dead = f.flag()
	// A newer tmux (seen: 3.8) forgets the process of a dead pane.
	if r.PID, err = strconv.Atoi(pid); err != nil && !(r.Dead && pid == "") {
		f.fail("pane_pid", pid)
	}
	status, signal := f.next(), f.next()
	r.DeadAt = f.time()
	if !isID(string(r.ID), "%") {
		f.fail("pane id", string(r.ID))
	}
	if f.err != nil {
		return Row{}, fmt.Errorf("row of pane %q: %w", clip(string(r.ID), 20), f.err)
	}
	r.DeadCode = -1
	if r.Dead {
		r.Signal = signal
		r.DeadCode = deadCode(status, signal)
	}
	for i, v := range tail {
		tail[i] = freeText(v, caps)
	}
	r.Seat, r.Gen, r.Op, r.Session = tail[0], tail[1], tail[2], tail[3]
	r.Title, r.Command, r.Path = tail[4], tail[5], tail[6]
	return r, nil
}

// freeText undoes what one version does to a value.
func freeText(v string, caps Caps) string {
	if caps.DollarEscaped {
		v = strings.ReplaceAll(v, `\$`, "$")
	}
	return v
}

// deadCode is the exit status of a dead pane, 128+n for signal n, -1 when tmux does
// not say (before 3.3 it says nothing about signals).
func deadCode(status, signal string) int {
	if n, err := strconv.Atoi(status); err == nil && signal == "" {
		return n
	}
	if n, err := strconv.Atoi(signal); err == nil && n > 0 && n < 128 {
		return 128 + n
	}
	if n, ok := signalNumbers[strings.TrimPrefix(strings.ToUpper(signal), "SIG")]; ok {
		return 128 + n
	}
	return -1
}

// signalNumbers covers the names tmux prints; these numbers are the same on Linux
// and macOS.
var signalNumbers = map[string]int{
	"HUP": 1, "INT": 2, "QUIT": 3, "ILL": 4, "TRAP": 5, "ABRT": 6, "FPE": 8, "KILL": 9,
	"SEGV": 11, "PIPE": 13, "ALRM": 14, "TERM": 15,
}

// epochOf joins what identifies one life of a server.
func epochOf(pid, start string) engine.Epoch { return engine.Epoch(pid + "-" + start) }

// fieldReader walks over the fixed fields and remembers the first fault.
type fieldReader struct {
	values []string
	i      int
	err    error
}

func (f *fieldReader) next() string {
	if f.i >= len(f.values) {
		f.fail("missing field", "")
		return ""
	}
	f.i++
	return f.values[f.i-1]
}

func (f *fieldReader) fail(name, value string) {
	if f.err == nil {
		f.err = fmt.Errorf("%s %q", name, clip(value, 20))
	}
}

// number reads a required number.
func (f *fieldReader) number(name string) int {
	s := f.next()
	n, err := strconv.Atoi(s)
	if err != nil {
		f.fail(name, s)
	}
	return n
}

// digits reads a required number and keeps its text.
func (f *fieldReader) digits(name string) string {
	s := f.next()
	if _, err := strconv.ParseUint(s, 10, 63); err != nil {
		f.fail(name, s)
	}
	return s
}

// optional reads a number that may be empty.
func (f *fieldReader) optional() int {
	n, err := strconv.Atoi(f.next())
	if err != nil {
		return 0
	}
	return n
}

// flag reads 1 as true; anything else is false.
func (f *fieldReader) flag() bool { return f.next() == "1" }

// time reads Unix seconds; the zero time when empty.
func (f *fieldReader) time() time.Time {
	n, err := strconv.ParseInt(f.next(), 10, 64)
	if err != nil || n <= 0 {
		return time.Time{}
	}
	return time.Unix(n, 0).UTC()
}
