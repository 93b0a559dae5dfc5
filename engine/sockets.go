package engine

import (
	"cmp"
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
)

// SocketView is one tmux server in the map of where the seats are.
type SocketView struct {
	Socket  string       `json:"socket"`
	Ours    bool         `json:"ours"`    // the one that this process works with
	Console bool         `json:"console"` // this process runs inside it
	State   Presence     `json:"state"`
	Epoch   Epoch        `json:"epoch,omitempty"`
	Why     string       `json:"why,omitempty"` // why it cannot be told, or is taken for what it is
	Panes   int          `json:"panes"`         // all that it holds
	Free    int          `json:"free"`          // living panes that belong to no seat
	Found   int          `json:"found"`         // sessions that a discovery saw there and nobody adopted
	Seats   []SocketSeat `json:"seats"`         // bound there, in display order
}

// SocketSeat is a seat whose occupant is bound on a server.
type SocketSeat struct {
	SeatID  string   `json:"seat_id"`
	Seat    string   `json:"seat"`
	Session string   `json:"session_name"`
	Pane    PaneID   `json:"pane"`
	Adopted bool     `json:"adopted"` // it was running before it was a seat's
	State   Presence `json:"state"`   // of its pane, on that server
	Why     string   `json:"why"`
}

// Count counts the seats of a state.
func (v *SocketView) Count(p Presence) int {
	n := 0
	for _, s := range v.Seats {
		if s.State == p {
			n++
		}
	}
	return n
}

// Pid is the process id of the server, "" when it is not known.
func (v *SocketView) Pid() string {
	pid, _, _ := strings.Cut(string(v.Epoch), "-")
	return pid
}

// otherSockets lists the sockets of bindings that are not ours.
func otherSockets(bindings []Binding, ours string) []string {
	set := map[string]bool{}
	for _, b := range bindings {
		if b.Socket != "" && b.Socket != ours {
			set[b.Socket] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// askElsewhere asks the other servers on which seats are bound, at the same time.
func (e *Engine) askElsewhere(ctx context.Context, bindings []Binding) map[string]Inventory {
	sockets := otherSockets(bindings, e.d.Mux.Socket())
	if len(sockets) == 0 {
		return nil
	}
	invs := make([]Inventory, len(sockets))
	var wg sync.WaitGroup
	for i, s := range sockets {
		wg.Go(func() { invs[i] = e.d.Mux.InventoryAt(ctx, s) })
	}
	wg.Wait()
	out := make(map[string]Inventory, len(sockets))
	for i, s := range sockets {
		out[s] = invs[i]
	}
	return out
}

// elsewhere judges a binding on another server. A pane that is there is no pane
// of ours to act on: for every verb the seat's state stays unknown, never absent,
// so that nothing starts a second occupant beside it.
func elsewhere(b Binding, inv *Inventory) where {
	other, asked := inv.Elsewhere[b.Socket]
	if !asked {
		return where{presence: Unknown, elsewhere: b.Socket, why: "it is on another tmux server (" + b.Socket + "), which was not asked yet"}
	}
	if other.Server == Unknown {
		return where{presence: Unknown, elsewhere: b.Socket, why: "it is on another tmux server (" + b.Socket + "), which did not answer"}
	}
	at := there(b, other)
	if at.presence == Absent {
		at.why += " (" + b.Socket + ")"
		return at
	}
	return where{presence: Unknown, elsewhere: b.Socket, why: "it runs on another tmux server (" + b.Socket + ")"}
}

// blockUnseen refuses a verb on a seat that another tmux server holds, or may hold,
// and on one whose row cannot be read. A server that does not answer at all blocks by
// itself.
func blockUnseen(p *Plan, address string, at where) {
	if at.unread {
		p.BlockSeat(address, Errorf(CodeTmuxProbeFailed, "%s", at.why).WithHint("`rig doctor` says what is wrong with tmux"))
	}
	if at.elsewhere != "" {
		p.BlockSeat(address, Errorf(CodeOtherServer, "%s", at.why).
			WithHint("RIG_TMUX_SOCKET=%s rig … works there; `rig doctor` shows every server with seats", at.elsewhere))
	}
}

// there judges a binding by the inventory of its own server.
func there(b Binding, inv Inventory) where {
	inv.Socket, inv.Elsewhere = b.Socket, nil
	return locate(b, &inv)
}

// elsewherePolls is how many of the observer's polls pass between two looks at
// other servers; each look costs a process.
const elsewherePolls = 2

// others keeps what other servers said. They are asked beside the loop, so that
// one that hangs holds nothing up.
type others struct {
	mu    sync.Mutex
	busy  sync.WaitGroup
	asked time.Time
	key   string // the sockets that were asked
	invs  map[string]Inventory
}

// read takes over what the others said, and asks them again when it is time; true
// when it differs from what the inventory holds.
func (t *others) read(ctx context.Context, o *observer) bool {
	sockets := otherSockets(o.rec.Bindings, o.e.d.Mux.Socket())
	key, now := strings.Join(sockets, "\n"), o.e.d.Clock.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(sockets) == 0 {
		t.invs, t.key = nil, ""
	} else if key != t.key || Passed(t.asked, now, elsewherePolls*o.e.d.Config.PollEvery) {
		t.key, t.asked = key, now
		bindings := o.rec.Bindings
		t.busy.Go(func() {
			got := o.e.askElsewhere(ctx, bindings)
			t.mu.Lock()
			defer t.mu.Unlock()
			if t.key == key && ctx.Err() == nil {
				t.invs = got
			}
		})
	}
	if sameServers(o.inv.Elsewhere, t.invs) {
		return false
	}
	o.inv.Elsewhere = t.invs
	return true
}

// sameServers compares what two looks at other servers show.
func sameServers(a, b map[string]Inventory) bool {
	return maps.EqualFunc(a, b, func(x, y Inventory) bool {
		return x.Server == y.Server && x.Epoch == y.Epoch && len(x.Panes) == len(y.Panes) && reflect.DeepEqual(placesOf(x), placesOf(y))
	})
}

// placesOf gives what the map needs of each pane.
func placesOf(inv Inventory) []Pane {
	out := make([]Pane, len(inv.Panes))
	for i, p := range inv.Panes {
		out[i] = Pane{ID: p.ID, PID: p.PID, Session: p.Session, Dead: p.Dead, Seat: p.Seat}
	}
	return out
}

// sockets makes the map of where the seats are: our server first, then the others
// by path.
func (b *builder) sockets(f *Fleet) []SocketView {
	at := map[string]*SocketView{}
	server := func(socket string) *SocketView {
		if at[socket] == nil {
			at[socket] = &SocketView{Socket: socket, Ours: socket == b.in.Socket, Seats: []SocketSeat{}}
		}
		return at[socket]
	}
	b.readServer(server(b.in.Socket), b.in.Inv, b.in.Live)
	for _, s := range f.Seats() {
		bind, bound := b.w.bindings[s.ID]
		if !bound {
			continue
		}
		socket, inv, asked := b.home(bind)
		v := server(socket)
		if !v.Ours {
			b.readServer(v, inv, asked)
		}
		seat := SocketSeat{SeatID: s.ID, Seat: s.Address, Session: bind.SessionName, Pane: bind.Pane, Adopted: s.Origin == OriginClaimed, Why: "not asked yet"}
		if asked {
			w := b.at(bind, inv)
			seat.State, seat.Why = w.presence, w.why
		}
		v.Seats = append(v.Seats, seat)
	}
	for _, d := range b.in.Found {
		if d.Status == "active" {
			server(cmp.Or(d.Socket, b.in.Socket)).Found++
		}
	}
	if b.in.Console != "" {
		v := server(b.in.Console)
		v.Console = true
		if !v.Ours && len(v.Seats) == 0 {
			v.State, v.Why = Present, "this console runs in it"
		}
	}
	out := []SocketView{*at[b.in.Socket]}
	for _, socket := range slices.Sorted(maps.Keys(at)) {
		if v := at[socket]; !v.Ours {
			if v.State == Unknown && v.Why == "" {
				v.Why = "not asked: it holds no seat"
			}
			out = append(out, *v)
		}
	}
	return out
}

// home finds the server of a binding: ours also under another path, which its
// epoch tells.
func (b *builder) home(bind Binding) (socket string, inv Inventory, asked bool) {
	if bind.Socket == "" || bind.Socket == b.in.Socket || b.in.Live && bind.Epoch == b.in.Inv.Epoch {
		return b.in.Socket, b.in.Inv, b.in.Live
	}
	inv, asked = b.in.Inv.Elsewhere[bind.Socket]
	return bind.Socket, inv, asked
}

// at judges a binding by its own server, with the pane index where it is ours.
func (b *builder) at(bind Binding, inv Inventory) where {
	if socket, _, _ := b.home(bind); socket == b.in.Socket {
		return b.locate(bind)
	}
	return there(bind, inv)
}

// readServer fills in what a server said of itself.
func (b *builder) readServer(v *SocketView, inv Inventory, asked bool) {
	v.State, v.Epoch, v.Panes, v.Free, v.Why = inv.Server, inv.Epoch, len(inv.Panes), 0, ""
	for _, p := range inv.Panes {
		if p.Seat == "" && !p.Dead && !strings.HasPrefix(p.Session, "_rig") {
			v.Free++
		}
	}
	switch {
	case !asked:
		v.State, v.Why = Unknown, "not asked yet"
	case inv.Err != nil:
		v.Why = inv.Err.Error()
	}
}
