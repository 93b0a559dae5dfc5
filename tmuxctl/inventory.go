package tmuxctl

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"
	"syscall"
	"time"

	"rig/engine"
)

// serverFields come first in every exchange: the version decides how the rest is
// read, the epoch whether ids of before still mean anything. All of an exchange is
// of one connection, and so of one life of the server.
var serverFields = []string{"pid", "start_time"}

// rowsAnd reads the inventory, which has no Panes yet, and asks more in the same exchange. When tmux could
// not be asked at all there are no answers. flags are those of list-panes.
func (m *Mux) rowsAnd(ctx context.Context, more [][]string, flags ...string) ([]Row, engine.Inventory, []answer) {
	rows, inv, answers := m.readRows(ctx, more, flags)
	if m.reap(inv.Epoch, rows) {
		rows, inv, answers = m.readRows(ctx, more, flags)
	}
	return rows, inv, answers
}

// reapTry counts what reap did for one pane.
type reapTry struct {
	times int
	last  time.Time
}

const (
	maxReaps = 5 // before 3.3 a pane ended by a signal never gets a status
	reapGap  = 100 * time.Millisecond
)

// reap asks the server to collect children whose end it has missed: now and then a
// pane of 3.3a shows as dead while its process stays a zombie, and its status is
// known only when some other child ends. A SIGCHLD makes the server look, and does
// nothing to any other process. Each pane is tried a few times; true means: read
// again.
func (m *Mux) reap(epoch engine.Epoch, rows []Row) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	tried, again, now := map[string]reapTry{}, false, time.Now()
	for _, r := range rows {
		if !r.Dead || r.DeadCode != -1 || !r.DeadAt.IsZero() {
			continue
		}
		key := string(epoch) + string(r.ID) + strconv.Itoa(r.PID)
		t := m.reaped[key]
		tried[key] = t
		if t.times == maxReaps || now.Sub(t.last) < reapGap {
			continue
		}
		tried[key] = reapTry{times: t.times + 1, last: now}
		server, _, _ := strings.Cut(string(epoch), "-")
		pid, err := strconv.Atoi(server)
		again = err == nil && pid > 1 && syscall.Kill(pid, syscall.SIGCHLD) == nil || again
	}
	m.reaped = tried
	return again
}

func (m *Mux) readRows(ctx context.Context, more [][]string, flags []string) ([]Row, engine.Inventory, []answer) {
	nonce := newNonce()
	answers, path, err := m.ask(ctx, append([][]string{
		{"display-message", "-p", fieldFormat(nonce, serverFields, []string{"version"})},
		append([]string{"list-panes", "-F", rowFormat(nonce)}, flags...),
	}, more...))
	inv := engine.Inventory{Socket: m.run.socket, Path: path, At: time.Now()}
	if err == nil && answers[0].err == nil && nothingToList(answers[1].err) {
		answers[1].err = nil
	}
	if err == nil {
		err = firstError(answers[:2])
	}
	if err != nil {
		inv.Server, inv.Err = m.serverState(err)
		return nil, inv, nil
	}
	caps, epoch, err := parseServer(answers[0].out, nonce)
	if err != nil {
		inv.Err = on(err, "inventory", m.run.socket)
		return nil, inv, nil
	}
	m.keepCaps(caps)
	inv.Server, inv.Epoch = engine.Present, epoch
	rows, faults := parseRows(answers[1].out, nonce, caps)
	inv.Faults = faults
	return onePerPane(rows), inv, answers[2:]
}

// onePerPane keeps one row of a pane that is in several sessions, as it is when an
// operator groups a session with a seat's or links its window. The oldest session
// is kept, for the seat's is there first.
func onePerPane(rows []Row) []Row {
	at := make(map[engine.PaneID]int, len(rows))
	kept := rows[:0]
	for _, r := range rows {
		i, seen := at[r.ID]
		if !seen {
			at[r.ID] = len(kept)
			kept = append(kept, r)
			continue
		}
		if sessionAge(r) < sessionAge(kept[i]) {
			kept[i] = r
		}
	}
	return kept
}

// sessionAge orders sessions by creation: their ids count up.
func sessionAge(r Row) int {
	n, err := strconv.Atoi(strings.TrimPrefix(r.SessionID, "$"))
	if err != nil {
		return math.MaxInt
	}
	return n
}

// nothingToList recognises how list-panes fails on a server that holds no session, or
// not the one that was asked for.
func nothingToList(err error) bool {
	var te *tmuxError
	return errors.As(err, &te) && te.ctx == nil && (te.stderr == noCurrentTarget || noTarget(te.stderr))
}

// firstError gives the error of the first answer that has one.
func firstError(answers []answer) error {
	for _, a := range answers {
		if a.err != nil {
			return a.err
		}
	}
	return nil
}

// serverState says what a failed inventory proves: that there is no server, which
// is an answer and no error, or nothing.
func (m *Mux) serverState(err error) (engine.Presence, error) {
	var te *tmuxError
	if errors.As(err, &te) && te.ctx == nil && noServer(te.stderr) {
		return engine.Absent, nil
	}
	return engine.Unknown, on(asEngine(err), "inventory", m.run.socket)
}

// parseServer reads the first answer of an inventory.
func parseServer(out, nonce string) (Caps, engine.Epoch, error) {
	rows, _ := splitRows(out, nonce)
	if len(rows) == 1 {
		head, tail, err := splitFields(rows[0], nonce, len(serverFields), 1)
		if err == nil {
			f := fieldReader{values: head}
			epoch := epochOf(f.digits("pid"), f.digits("start_time"))
			if f.err != nil {
				return Caps{}, "", engine.Errorf(engine.CodeTmuxProbeFailed, "the server's identity cannot be read").
					WithHint("run `rig doctor`").Wrap(f.err)
			}
			caps, err := parseCaps(tail[0])
			return caps, epoch, err
		}
	}
	return Caps{}, "", engine.Errorf(engine.CodeTmuxProbeFailed, "the server's identity is missing: %q", clip(strings.TrimSpace(out), 60)).
		WithHint("run `rig doctor`")
}

// Epoch asks the server who it is. CodeNotFound means that there is provably none.
func (m *Mux) Epoch(ctx context.Context) (engine.Epoch, error) {
	nonce := newNonce()
	answers, _, err := m.ask(ctx, [][]string{
		{"display-message", "-p", fieldFormat(nonce, serverFields, []string{"version"})},
	})
	if err == nil {
		err = firstError(answers)
	}
	if err != nil {
		return "", on(asEngine(err), "epoch", m.run.socket)
	}
	_, epoch, err := parseServer(answers[0].out, nonce)
	return epoch, on(err, "epoch", m.run.socket)
}

// otherTimeout bounds the question to a server that is not ours: one that hangs
// must not hold up what is asked of ours.
const otherTimeout = 2 * time.Second

// InventoryAt lists the panes of the server on another socket, in one process and
// never through a control client. A socket that is not to be trusted is not asked.
func (m *Mux) InventoryAt(ctx context.Context, socket string) engine.Inventory {
	fail := func(err error) engine.Inventory {
		return engine.Inventory{Socket: socket, Path: PathBatch, At: time.Now(), Err: err}
	}
	if m.trust != nil {
		if err := m.trust(socket); err != nil {
			return fail(err)
		}
	}
	other, err := New(Options{Socket: socket, Program: m.run.bin, OneShot: true})
	if err != nil {
		return fail(err)
	}
	ctx, cancel := context.WithTimeout(ctx, otherTimeout)
	defer cancel()
	return other.Inventory(ctx)
}
