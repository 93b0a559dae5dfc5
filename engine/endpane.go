package engine

import (
	"cmp"
	"context"
	"time"
)

// beside lists the other panes of a pane's session.
func beside(inv *Inventory, p Pane) []Pane {
	var out []Pane
	for _, other := range inv.Panes {
		if other.Session == p.Session && other.ID != p.ID {
			out = append(out, other)
		}
	}
	return out
}

// ownSession reports whether the session of a seat's pane may end with the pane: it
// has the seat's name or one of ours, and no other seat's pane is in it. A person may
// have moved the pane into a session of theirs, or put another seat beside it.
func ownSession(inv *Inventory, p Pane, address string) bool {
	if p.Session != address && !staged(p) {
		return false
	}
	for _, other := range beside(inv, p) {
		if other.Seat != "" {
			return false
		}
	}
	return true
}

// endTitle says what the end of a seat's pane takes with it.
func endTitle(inv *Inventory, p Pane, address string) string {
	if p.ID == "" || ownSession(inv, p, address) {
		return "end tmux session " + cmp.Or(p.Session, address)
	}
	return "end pane " + string(p.ID) + ", alone, in tmux session " + p.Session
}

// kill ends a seat's pane through the guard, with its session where that is the
// seat's own.
func (e *Engine) kill(ctx context.Context, inv *Inventory, p Pane, address string, g Guard) error {
	if ownSession(inv, p, address) {
		return e.d.Mux.KillSession(ctx, g)
	}
	return e.d.Mux.KillPane(ctx, g)
}

// endPane ends a tagged pane and waits until the client in it is gone; what ignores
// the hang-up is killed. Where the client cannot be told, the pane is ended all the
// same, and the error says that its client may be left.
func (e *Engine) endPane(ctx context.Context, inv *Inventory, p Pane, address, sessionID string) error {
	client, unknown := e.clientOf(sessionID)
	err := e.kill(ctx, inv, p, address, Guard{Pane: p.ID, Epoch: inv.Epoch, Seat: p.Seat, Gen: p.Gen, PID: p.PID, DeadOK: true, Session: p.Session})
	if err != nil && CodeOf(err) != CodeNotFound && !e.paneGone(ctx, inv.Epoch, p) {
		return err
	}
	if client == 0 || e.gone(ctx, client, 3*time.Second) {
		return unknown
	}
	return e.d.Procs.Kill(ctx, client)
}

// endFrozen ends a stopped tree: SIGKILL first, because a stopped process hears
// nothing else, then its pane. A client that cannot be told keeps its pane: without it
// nobody would find the stopped tree again.
func (e *Engine) endFrozen(ctx context.Context, inv *Inventory, p Pane, address, sessionID string) error {
	root, err := e.clientOf(sessionID)
	if err == nil && root != 0 {
		err = e.d.Procs.Kill(ctx, root)
	}
	if err != nil {
		return err
	}
	err = e.kill(ctx, inv, p, address, Guard{Pane: p.ID, Epoch: inv.Epoch, Seat: p.Seat, Gen: p.Gen, DeadOK: true})
	if CodeOf(err) == CodeNotFound || (err != nil && e.paneGone(ctx, inv.Epoch, p)) {
		return nil
	}
	return err
}

// paneGone asks again, after a kill without a usable answer: a server whose last
// session is ended exits in the middle of its reply. Only positive absence counts.
func (e *Engine) paneGone(ctx context.Context, epoch Epoch, p Pane) bool {
	inv := e.d.Mux.Inventory(ctx)
	switch {
	case inv.Server == Absent:
		return true
	case inv.Server == Unknown:
		return false
	}
	now, ok := inv.Pane(p.ID)
	return inv.Epoch != epoch || !ok && len(inv.Faults) == 0 || ok && now.PID != p.PID && now.PID != 0
}
