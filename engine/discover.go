package engine

import (
	"context"
	"fmt"
	"strings"
)

// Discover looks for sessions that nobody manages. With rescan it looks at tmux
// and updates the record; without it gives what an earlier scan saw. Claims
// survive a rescan.
func (e *Engine) Discover(ctx context.Context, rescan bool) ([]DiscoveredSession, error) {
	var known []DiscoveredSession
	err := e.d.Store.Read(ctx, func(r Reader) error {
		var err error
		if known, err = r.AllDiscovered(); err != nil {
			return err
		}
		for i := range known {
			if known[i], err = letGo(r, known[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !rescan && len(known) > 0 {
		return known, nil
	}
	inv := e.d.Mux.Inventory(ctx)
	if inv.Server == Unknown {
		return nil, e.noAnswer(inv)
	}
	found := e.scan(ctx, &inv, known)
	err = e.d.Store.Write(ctx, func(tx Tx) error {
		for _, d := range found {
			if err := tx.PutDiscovered(d); err != nil {
				return err
			}
		}
		return nil
	})
	return found, err
}

// letGo takes the claim off a session whose seat has let go of it since the scan.
func letGo(r Reader, d DiscoveredSession) (DiscoveredSession, error) {
	if d.Status != discoveredClaimed {
		return d, nil
	}
	b, err := r.Binding(d.ClaimedBy)
	switch {
	case err != nil && CodeOf(err) != CodeNotFound:
		return d, err
	case err != nil, b.Pane != d.Pane, b.Epoch != d.Epoch:
		d.Status, d.ClaimedBy = "active", ""
	}
	return d, nil
}

// discovered reads a session that a scan saw.
func (e *Engine) discovered(ctx context.Context, id string) (DiscoveredSession, error) {
	var d DiscoveredSession
	err := e.d.Store.Read(ctx, func(r Reader) error {
		var err error
		if d, err = r.Discovered(id); err != nil {
			return err
		}
		d, err = letGo(r, d)
		return err
	})
	if CodeOf(err) == CodeNotFound {
		err = Errorf(CodeDiscoveredNotFound, "no discovered session %q", id).WithHint("`rig discover --rescan` lists what is there")
	}
	return d, err
}

// scan compares the inventory with what was seen before.
func (e *Engine) scan(ctx context.Context, inv *Inventory, known []DiscoveredSession) []DiscoveredSession {
	now := e.d.Clock.Now()
	place := func(epoch Epoch, pane PaneID, pid int) string { return fmt.Sprintf("%s %s %d", epoch, pane, pid) }
	byPlace := map[string]DiscoveredSession{}
	for _, d := range known {
		byPlace[place(d.Epoch, d.Pane, d.PID)] = d
	}
	var free []Pane
	var reqs []CaptureRequest
	for _, p := range inv.Panes {
		if p.Seat == "" && !p.Dead && !strings.HasPrefix(p.Session, "_rig") {
			free = append(free, p)
			reqs = append(reqs, CaptureRequest{Pane: p.ID})
		}
	}
	screens := map[PaneID][]string{}
	if shots, err := e.d.Mux.Capture(ctx, reqs); err == nil {
		for _, s := range shots {
			screens[s.Pane] = s.Lines
		}
	}
	var out []DiscoveredSession
	seen := map[string]bool{}
	for _, p := range free {
		key := place(inv.Epoch, p.ID, p.PID)
		d, had := byPlace[key]
		if !had {
			d = DiscoveredSession{ID: e.d.IDs.New(), FirstSeen: now}
		}
		d.Socket, d.Epoch, d.SessionName, d.Pane, d.PID = e.d.Mux.Socket(), inv.Epoch, p.Session, p.ID, p.PID
		d.Cwd, d.Command, d.Status, d.ClaimedBy, d.LastSeen = p.Path, p.Command, "active", "", now
		d.RuntimeHint, d.Confidence, d.Evidence = e.hint(p, screens[p.ID])
		seen[key] = true
		out = append(out, d)
	}
	for _, d := range known {
		if key := place(d.Epoch, d.Pane, d.PID); !seen[key] {
			if d.Socket != "" && d.Socket != e.d.Mux.Socket() && d.Epoch != inv.Epoch {
				out = append(out, d) // another server's: nothing was learned of it here
				continue
			}
			pane, ok := inv.Pane(d.Pane)
			unread := !ok && d.Epoch == inv.Epoch && len(inv.Faults) > 0 // it may be one of the rows that cannot be read
			if !unread && (!ok || d.Epoch != inv.Epoch || pane.PID != d.PID) {
				d.Status = "vanished"
			}
			out = append(out, d)
		}
	}
	return out
}

// hint asks every runtime whether a pane looks like its client.
func (e *Engine) hint(p Pane, screen []string) (RuntimeName, Confidence, string) {
	for _, name := range []RuntimeName{RuntimeClaude, RuntimeCodex, RuntimeTerminal} {
		rt, ok := e.d.Runtimes[name]
		if !ok {
			continue
		}
		if c, why := rt.Hint(p, screen, []string{p.Command}); c == ConfidenceHigh || c == ConfidenceLow {
			return name, c, why
		}
	}
	return "", ConfidenceNone, "nothing tells what runs there"
}

// Captured is a seat's screen as `rig capture` prints it.
type Captured struct {
	Seat  string   `json:"seat"`
	Pane  PaneID   `json:"pane"`
	Lines []string `json:"lines"`
}

// Capture reads a seat's own pane, whichever pane of its session is active.
// Native ids on it are printed in their short form: a forked client shows its
// parent's.
func (e *Engine) Capture(ctx context.Context, ref string, history int) (Captured, error) {
	t, err := e.target(ctx, ref)
	if err != nil {
		return Captured{}, err
	}
	got, err := e.d.Mux.Capture(ctx, []CaptureRequest{{Pane: t.pane.ID, History: history}})
	if err == nil && len(got) == 1 {
		err = got[0].Err
	}
	if err != nil {
		return Captured{}, Errorf("capture_failed", "the pane cannot be read").On("capture", t.address).Wrap(err).WithHint("`rig doctor`")
	}
	return Captured{Seat: t.address, Pane: t.pane.ID, Lines: hideIDs(got[0].Lines)}, nil
}
