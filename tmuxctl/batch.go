package tmuxctl

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"rig/engine"
)

// answer is what one command of a batch printed, or why it failed.
type answer struct {
	out string
	err error // *tmuxError or *engine.Error
}

// ask runs reading commands in one exchange: over the control client when there is
// one, else in one process. Each answers for itself. The path taken is returned.
func (m *Mux) ask(ctx context.Context, commands [][]string) ([]answer, string, error) {
	lines := make([]string, len(commands))
	for i, c := range commands {
		line, err := commandLine(c...)
		if err != nil {
			return nil, PathBatch, err
		}
		lines[i] = line
	}
	if c := m.hub.client(); c != nil {
		answers, err := c.do(ctx, lines)
		m.heard(err)
		if err == nil {
			return answers, PathControl, nil
		}
		if ctx.Err() != nil || m.hung.Load() {
			return nil, PathControl, asEngine(err)
		}
		// The client died under the question; one process asks it again.
	}
	if m.hung.Load() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, hungTimeout)
		defer cancel()
	}
	answers, err := m.batch(ctx, commands, lines)
	m.heard(err)
	return answers, PathBatch, err
}

// heard keeps in mind whether the server let the last question wait for too long.
func (m *Mux) heard(err error) {
	var te *tmuxError
	switch {
	case err == nil:
		m.hung.Store(false)
	case errors.As(err, &te) && errors.Is(te.ctx, context.DeadlineExceeded):
		m.hung.Store(true)
	}
}

// batch asks in one go: directly, or in one process where that is not possible. Each
// command is framed by two printed marks in a list of its own: one that fails ends its
// list, so its second mark is missing, and the next one runs all the same.
func (m *Mux) batch(ctx context.Context, commands [][]string, lines []string) ([]answer, error) {
	nonce := newNonce()
	lists := make([][]string, len(commands))
	for i, c := range commands {
		before, after := markWords(nonce, "a", i), markWords(nonce, "b", i)
		lists[i] = slices.Concat(before, []string{separator}, c, []string{separator}, after)
	}
	out, err := m.run.direct(ctx, lists)
	if !errors.Is(err, errNotAsked) && allThere(out, err, nonce, len(lines)) {
		return readBatch(out, err, nonce, len(lines), m.run.socket)
	}
	var in strings.Builder
	for i, l := range lines {
		before, after := markWords(nonce, "a", i), markWords(nonce, "b", i)
		in.WriteString(strings.Join(before, " ") + " ; " + l + " ; " + strings.Join(after, " ") + "\n")
	}
	out, err = m.run.run(ctx, runSpec{words: []string{"source-file", "-"}, stdin: []byte(in.String()), again: true})
	return readBatch(out, err, nonce, len(lines), m.run.socket)
}

// markWords print a mark of a batch.
func markWords(nonce, which string, n int) []string {
	return []string{"display-message", "-p", nonce + which + strconv.Itoa(n)}
}

// allThere reports whether every command of a batch that was asked directly has
// answered or failed with a line of its own, or time is over.
func allThere(out string, err error, nonce string, n int) bool {
	_, failed := splitBatch(out, nonce, n)
	var te *tmuxError
	if !errors.As(err, &te) {
		return failed == 0
	}
	return te.ctx != nil || te.stderr != "" && failed == strings.Count(te.stderr, "\n")+1
}

// readBatch reads what a batch printed and how it ended.
func readBatch(out string, err error, nonce string, n int, socket string) ([]answer, error) {
	answers, failed := splitBatch(out, nonce, n)
	var te *tmuxError
	switch {
	case err == nil && failed == 0:
		return answers, nil
	case !errors.As(err, &te) || te.ctx != nil || !strings.Contains(out, nonce+"a0\n"):
		if err == nil {
			err = &tmuxError{verb: "source-file", err: errors.New("the answer is incomplete"), socket: socket}
		}
		return nil, err // nothing was answered: no server, no permission, no time
	}
	spreadErrors(answers, te, failed)
	return answers, nil
}

// splitBatch cuts the output of a batch at the marks. An answer without its second
// mark has failed.
func splitBatch(out, nonce string, n int) (answers []answer, failed int) {
	answers = make([]answer, n)
	for i := range answers {
		num := strconv.Itoa(i)
		_, rest, ok := strings.Cut(out, nonce+"a"+num+"\n")
		if !ok {
			answers[i].err, failed = errNoAnswer, failed+1
			continue
		}
		body, after, ok := strings.Cut(rest, nonce+"b"+num+"\n")
		if !ok {
			answers[i].err, failed = errNoAnswer, failed+1
			out = rest
			continue
		}
		answers[i].out, out = body, after
	}
	return answers, failed
}

var errNoAnswer = errors.New("no answer")

// spreadErrors gives each failed command its line of stderr. tmux prints one per
// failure, in order; when the numbers differ each gets the whole text.
func spreadErrors(answers []answer, te *tmuxError, failed int) {
	lines := strings.Split(te.stderr, "\n")
	next := 0
	for i := range answers {
		if answers[i].err == nil {
			continue
		}
		e := *te
		if len(lines) == failed {
			e.stderr = lines[next]
			next++
		}
		answers[i].err = &e
	}
}

// Inventory lists every pane of the server in one exchange. It never fails: no
// server is Absent, trouble is Unknown with its cause in Err, a row that cannot be
// read is a fault beside the others.
func (m *Mux) Inventory(ctx context.Context) engine.Inventory {
	rows, inv, _ := m.rowsAnd(ctx, nil, allPanes)
	return withPanes(inv, rows)
}

// allPanes is the flag of list-panes for every pane of the server.
const allPanes = "-a"

// patternBytes is what a pattern may hold: nothing that a format would act upon.
const patternBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_@*"

// InventoryOf is Inventory of the sessions whose names match a pattern. One that
// holds anything but the bytes of our names, '@' and '*' lists every pane. What tmux
// tells of a pane costs it several looks at /proc, and all of them are left out for
// those that do not match.
func (m *Mux) InventoryOf(ctx context.Context, sessions string) engine.Inventory {
	if strings.Trim(sessions, patternBytes) != "" {
		return m.Inventory(ctx)
	}
	of := []string{allPanes, "-f", "#{m:" + sessions + ",#{session_name}}"}
	if t, err := Session(sessions); err == nil && !strings.Contains(sessions, "*") {
		of = []string{"-s", "-t", t.String()} // even a filter costs something for every pane
	}
	rows, inv, _ := m.rowsAnd(ctx, nil, of...)
	return withPanes(inv, rows)
}

func withPanes(inv engine.Inventory, rows []Row) engine.Inventory {
	inv.Panes = make([]engine.Pane, len(rows))
	for i := range rows {
		inv.Panes[i] = rows[i].Pane
	}
	return inv
}

// Capture reads screens in one exchange and fails as a whole only when tmux cannot
// be asked; a pane that is gone is CodeNotFound in its own result. Lines hold no
// control characters but TAB (since 3.6), and SGR sequences when Colours asks.
func (m *Mux) Capture(ctx context.Context, reqs []engine.CaptureRequest) ([]engine.CaptureResult, error) {
	results, commands, index := captures(reqs)
	if len(commands) == 0 {
		return results, nil
	}
	answers, _, err := m.ask(ctx, commands)
	if err != nil {
		return nil, on(asEngine(err), "capture", "")
	}
	fillScreens(results, reqs, index, answers)
	return results, nil
}

// Look gives the inventory and screens of one exchange, as Inventory and Capture
// do. There are no screens unless the server is Present.
func (m *Mux) Look(ctx context.Context, reqs []engine.CaptureRequest) (engine.Inventory, []engine.CaptureResult) {
	results, commands, index := captures(reqs)
	rows, inv, answers := m.rowsAnd(ctx, commands, allPanes)
	if inv.Server != engine.Present {
		return withPanes(inv, rows), nil
	}
	fillScreens(results, reqs, index, answers)
	return withPanes(inv, rows), results
}

// captures makes the commands that answer requests; index names the request of
// each. A request that cannot be asked has its error already.
func captures(reqs []engine.CaptureRequest) (results []engine.CaptureResult, commands [][]string, index []int) {
	results = make([]engine.CaptureResult, len(reqs))
	for i, r := range reqs {
		results[i].Pane = r.Pane
		if _, err := Pane(r.Pane); err != nil {
			results[i].Err = on(err, "capture", string(r.Pane))
			continue
		}
		commands, index = append(commands, captureWords(r)), append(index, i)
	}
	return results, commands, index
}

func fillScreens(results []engine.CaptureResult, reqs []engine.CaptureRequest, index []int, answers []answer) {
	for n, a := range answers {
		r := &results[index[n]]
		if a.err != nil {
			r.Err = on(asEngine(a.err), "capture", string(r.Pane))
			continue
		}
		if req := reqs[index[n]]; req.Faint && !req.Colours {
			r.Screen = screenOf(a.out)
		} else {
			r.Lines = screenLines(a.out, req.Colours)
		}
	}
}

// maxHistory bounds the lines above the screen that one capture may ask for.
const maxHistory = 100_000

func captureWords(r engine.CaptureRequest) []string {
	words := []string{"capture-pane", "-p"}
	if r.Colours || r.Faint {
		words = append(words, "-e")
	}
	if r.History > 0 {
		words = append(words, "-S", "-"+strconv.Itoa(min(r.History, maxHistory)))
	}
	return append(words, "-t", string(r.Pane))
}
