package engine

import "context"

// Identification answers `rig whoami`.
type Identification struct {
	Seat       string     `json:"seat,omitempty"`
	SeatID     string     `json:"seat_id,omitempty"`
	Rig        string     `json:"rig,omitempty"`
	Logical    string     `json:"logical_id,omitempty"`
	Pod        string     `json:"pod,omitempty"`
	Member     string     `json:"member,omitempty"`
	Role       string     `json:"role,omitempty"`
	Runtime    string     `json:"runtime,omitempty"`
	Generation int64      `json:"generation,omitempty"`
	Session    string     `json:"session_name,omitempty"`
	Cwd        string     `json:"cwd,omitempty"`
	Peers      []Peer     `json:"peers,omitempty"`
	Edges      []EdgeView `json:"edges,omitempty"`
	Work       *WorkCount `json:"work,omitempty"`
	Inside     bool       `json:"inside"`  // asked from inside a seat
	Partial    bool       `json:"partial"` // something could not be read or proven
	Why        string     `json:"why,omitempty"`
}

// Peer is another seat of the same rig.
type Peer struct {
	Seat    string `json:"seat"`
	Role    string `json:"role,omitempty"`
	Runtime string `json:"runtime"`
	Life    string `json:"lifecycle,omitempty"`
}

// Whoami says which seat the caller sits in. It trusts the pane's own tags, which
// the tmux server holds; an environment variable alone is a hint, and the answer
// then says partial. Outside a seat ref must name one.
func (e *Engine) Whoami(ctx context.Context, ref string) (Identification, error) {
	w, err := e.look(ctx)
	if err != nil {
		return Identification{Partial: true, Seat: e.d.Self.Seat, Inside: e.d.Self.Seat != "", Why: "the record cannot be read: " + err.Error()}, err
	}
	if ref != "" {
		seat, err := w.seat(ref)
		if err != nil {
			return Identification{}, err
		}
		return e.identify(w, seat), nil
	}
	for _, p := range w.inv.Panes {
		if e.sitsIn(p) && p.Seat != "" {
			if seat, ok := w.seats[p.Seat]; ok {
				id := e.identify(w, seat)
				id.Inside = true
				return id, nil
			}
		}
	}
	if e.d.Self.Seat == "" {
		return Identification{}, Errorf(CodeNotInASeat, "this shell is not inside a seat").WithHint("rig whoami --seat <seat> asks about another")
	}
	seat, err := w.seat(e.d.Self.Seat)
	if err != nil {
		return Identification{Partial: true, Seat: e.d.Self.Seat, Inside: true, Why: "RIG_SEAT names a seat that is not on record"}, err
	}
	id := e.identify(w, seat)
	id.Inside, id.Partial, id.Why = true, true, "from RIG_SEAT alone: the pane carries no tag of the seat"
	return id, nil
}

// sitsIn reports whether the caller runs in this pane: its supervisor named the
// pane, or the caller is a client of this very server.
func (e *Engine) sitsIn(p Pane) bool {
	self := e.d.Self
	if self.SeatPane != "" {
		return string(p.ID) == self.SeatPane
	}
	return string(p.ID) == self.Pane && self.Socket == e.d.Mux.Socket()
}

func (e *Engine) identify(w *world, seat Seat) Identification {
	id := Identification{
		Seat: w.address(seat), SeatID: seat.ID, Rig: w.rigs[seat.RigID].Name, Logical: seat.Logical(), Pod: seat.Pod, Member: seat.Member,
		Role: seat.Role, Runtime: string(seat.Runtime), Generation: seat.Generation, Session: w.bindings[seat.ID].SessionName, Cwd: seat.Cwd,
	}
	for _, s := range w.seatsOf(seat.RigID) {
		if s.ID != seat.ID {
			id.Peers = append(id.Peers, Peer{Seat: w.address(s), Role: s.Role, Runtime: string(s.Runtime), Life: w.locate(s.ID).presence.String()})
		}
	}
	for _, ed := range w.rec.Edges {
		switch seat.ID {
		case ed.From:
			id.Edges = append(id.Edges, EdgeView{ed.Kind, w.address(w.seats[ed.To]), true})
		case ed.To:
			id.Edges = append(id.Edges, EdgeView{ed.Kind, w.address(w.seats[ed.From]), false})
		}
	}
	for i := range w.rec.Work {
		if w.rec.Work[i].SeatID == seat.ID {
			id.Work = &w.rec.Work[i]
		}
	}
	if w.inv.Server == Unknown {
		id.Partial, id.Why = true, "tmux does not answer"
	}
	return id
}
