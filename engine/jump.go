package engine

import (
	"cmp"
	"context"
	"fmt"
)

const popupInPopup = "this console is a popup itself, and tmux shows one at a time"

// jump says how this process gets its terminal into a seat's pane. Inside the
// same tmux server our own client is switched, and only if it can be told which
// one it is; elsewhere the terminal attaches and comes back on detach.
func (e *Engine) jump(ctx context.Context, s *SeatView) (Jump, error) {
	if s == nil {
		return Jump{}, Errorf(CodeSeatNotFound, "no such seat in the picture").WithHint("it may have been removed")
	}
	if s.SessionName == "" || (s.Life != LifeRunning && s.Life != LifeAttention && s.Life != LifeDead && s.Life != LifeStarting) {
		return Jump{}, Errorf(CodeSessionMissing, "the seat has no live pane: %s", cmp.Or(s.LifeWhy, string(s.Life))).On("jump", s.Address).
			WithHint("`rig launch %s %s` starts it", s.Rig, s.Logical)
	}
	to := s.ToSee()
	j := Jump{Session: to.Session, Argv: e.d.Mux.AttachArgv(to)}
	if e.d.Self.Socket == "" {
		j.NoPopup = "this console does not run inside tmux, which draws popups"
		return j, nil
	}
	if e.d.Self.Socket != e.d.Mux.Socket() {
		j.Popup = e.d.Mux.PopupArgv(e.d.Self.Socket, "", e.d.Self.Pane, to)
		if e.d.Self.Client != "" {
			j.Popup, j.NoPopup = nil, popupInPopup
		}
		return j, nil
	}
	clients, err := e.d.Mux.Clients(ctx)
	if err != nil {
		return j, err
	}
	inv := e.d.Mux.Inventory(ctx)
	ours, ok := inv.Pane(PaneID(e.d.Self.Pane))
	for _, c := range clients {
		if c.Control {
			continue
		}
		j.Clients = append(j.Clients, c)
		if ok && c.Session == ours.Session {
			j.Client = c.Name
		}
	}
	viewing := 0
	for _, c := range j.Clients {
		if ok && c.Session == ours.Session {
			viewing++
		}
	}
	j.Inside = len(j.Clients) > 0
	if viewing != 1 { // none or several look at us: a person says which
		j.Client = ""
	}
	for _, c := range j.Clients {
		if c.Name == e.d.Self.Client { // told by whoever opened this console in a popup
			j.Client = c.Name
		}
	}
	switch {
	case e.d.Self.Client != "":
		j.NoPopup = popupInPopup
	case j.Client == "":
		j.NoPopup = "it cannot be told which of the terminals shows this console"
	default:
		j.Popup = e.d.Mux.PopupArgv(e.d.Mux.Socket(), j.Client, "", to)
	}
	return j, nil
}

// SwitchArgs are the flags of `rig seat switch-client`.
type SwitchArgs struct {
	Client string // "" = the only one there is
	Window int    // -1 = that of the seat's pane
}

// Switched says what a switch did. Nothing recorded changes.
type Switched struct {
	Seat       string `json:"seat_ref"`
	Session    string `json:"session"`
	Window     int    `json:"window"`
	Target     string `json:"target"`
	Client     string `json:"client"`
	Mutated    bool   `json:"mutated"`
	Retargeted bool   `json:"retargeted"`
}

// SwitchClient points an attached client at a seat's session. It never picks one
// of several clients.
func (e *Engine) SwitchClient(ctx context.Context, ref string, a SwitchArgs) (Switched, error) {
	w, err := e.look(ctx)
	if err != nil {
		return Switched{}, err
	}
	seat, err := w.seat(ref)
	if err != nil {
		return Switched{}, err
	}
	address := w.address(seat)
	at := w.locate(seat.ID)
	switch {
	case at.presence == Unknown:
		return Switched{}, Errorf(CodeTmuxProbeFailed, "%s", at.why).On("switch-client", address).WithHint("`rig doctor` says what is wrong with tmux")
	case at.presence == Absent:
		return Switched{}, Errorf("session_not_found", "the seat has no session: %s", at.why).On("switch-client", address).
			WithHint("`rig launch %s %s` starts it", w.rigs[seat.RigID].Name, seat.Logical())
	}
	session, err := e.sessionToSee(ctx, w, seat, at.pane.Session)
	if err != nil {
		return Switched{}, err
	}
	to := Place{Session: session, Window: a.Window}
	switch {
	case a.Window >= 0:
		err = checkWindow(&w.inv, session, a.Window)
	case session == at.pane.Session:
		to = at.pane.Place()
	default:
		to.Window = firstWindow(&w.inv, session)
	}
	if err != nil {
		return Switched{}, err
	}
	attach := CommandLine(e.d.Mux.AttachArgv(to)...)
	client, err := e.pickClient(ctx, a.Client, attach)
	if err != nil {
		return Switched{}, err
	}
	if err := e.d.Mux.SwitchClient(ctx, client, to); err != nil {
		return Switched{}, Errorf("switch_failed", "tmux did not switch the client").On("switch-client", address).Wrap(err).
			WithHint("attach instead: %s", attach)
	}
	return Switched{
		Seat: address, Session: session, Window: to.Window, Client: client, Retargeted: true,
		Target: fmt.Sprintf("%s:%d", session, to.Window),
	}, nil
}

// firstWindow is window 0, or the lowest one of a session that has none: tmux can be
// told to count from another number.
func firstWindow(inv *Inventory, session string) int {
	first := -1
	for _, p := range inv.Panes {
		if p.Session == session && (first < 0 || p.Window < first) {
			first = p.Window
		}
	}
	return max(first, 0)
}

// sessionToSee is a seat's session, or that of its successor at a gate.
func (e *Engine) sessionToSee(ctx context.Context, w *world, seat Seat, session string) (string, error) {
	held, is := w.leases["seat:"+seat.ID]
	if !is {
		return session, nil
	}
	op, steps, err := e.Operation(ctx, held.OpID)
	if CodeOf(err) == CodeNotFound || err == nil && op.State != OpRunning {
		return session, nil
	}
	if g := gateOf(steps); g != nil {
		session = g.Session
	}
	return session, err
}

func checkWindow(inv *Inventory, session string, window int) error {
	var have []int
	for _, p := range inv.Panes {
		if p.Session == session {
			if p.Window == window {
				return nil
			}
			have = append(have, p.Window)
		}
	}
	return Errorf("window_not_found", "session %s has no window %d", session, window).WithHint("it has %v", have).With("windows", have)
}

// pickClient chooses the client to switch: the named one, or the only one.
func (e *Engine) pickClient(ctx context.Context, name, attach string) (string, error) {
	all, err := e.d.Mux.Clients(ctx)
	if err != nil {
		return "", err
	}
	var clients []Client
	for _, c := range all {
		if !c.Control {
			clients = append(clients, c)
		}
	}
	if len(clients) == 0 {
		err := Errorf("no_client", "no client is attached to this tmux server").WithHint("attach first: %s", attach)
		if s := e.d.Self.Socket; s != "" && s != e.d.Mux.Socket() {
			err = Errorf("client_elsewhere", "your client is on another tmux server (%s)", s).WithHint("attach instead: TMUX= %s", attach)
		}
		return "", err
	}
	for _, c := range clients {
		if c.Name == name {
			return name, nil
		}
	}
	switch {
	case name != "":
		return "", Errorf("client_not_found", "no client %q", name).WithHint("name one of those listed").With("clients", clients)
	case len(clients) > 1:
		return "", Errorf("ambiguous_client", "%d clients are attached", len(clients)).
			WithHint("name one with --client").With("clients", clients)
	}
	return clients[0].Name, nil
}
