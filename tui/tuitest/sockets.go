package tuitest

import "rig/engine"

// Sockets makes the map of a picture in which all seats are on one server, and the
// console runs in another one.
func Sockets(f *engine.Fleet) []engine.SocketView {
	ours := engine.SocketView{Socket: f.Server.Socket, Ours: true, State: f.Server.State, Epoch: f.Server.Epoch, Free: 2, Seats: []engine.SocketSeat{}}
	for _, s := range f.Seats() {
		if s.Pane == "" {
			continue
		}
		seat := engine.SocketSeat{
			SeatID: s.ID, Seat: s.Address, Session: s.SessionName, Pane: s.Pane, Adopted: s.Origin == engine.OriginClaimed,
			State: engine.Present, Why: "its pane is there",
		}
		if s.Life == engine.LifeLost {
			seat.State, seat.Why = engine.Absent, s.LifeWhy
		}
		ours.Seats = append(ours.Seats, seat)
	}
	ours.Panes = len(ours.Seats) + ours.Free
	return []engine.SocketView{ours, {Socket: "/tmp/tmux-1000/default", Console: true, State: engine.Present, Why: "this console runs in it", Found: 3, Seats: []engine.SocketSeat{}}}
}

// Scattered makes a picture whose seats are on several servers: one that runs, one
// that does not answer, and one that is gone. The first seats of Fleet(n) move.
func Scattered(n int) *engine.Fleet {
	f := Fleet(n)
	ours := &f.Sockets[0]
	others := []engine.SocketView{
		{Socket: "/tmp/tmux-1000/work", State: engine.Present, Epoch: "5120-1773400000", Panes: 5, Free: 3},
		{Socket: "/run/user/1000/night/tmux.sock", State: engine.Unknown, Why: "tmux source-file did not answer within 2s"},
		{Socket: "/tmp/old", State: engine.Absent},
	}
	for i := range others {
		v := &others[i]
		for _, s := range ours.Seats[:min(2, len(ours.Seats))] {
			s.State, s.Why = v.State, "it is on another tmux server ("+v.Socket+")"
			v.Seats = append(v.Seats, s)
		}
		ours.Seats = ours.Seats[min(2, len(ours.Seats)):]
	}
	ours.Panes = len(ours.Seats) + ours.Free
	f.Sockets = append(append([]engine.SocketView{}, *ours), append(others, f.Sockets[1:]...)...)
	return f
}
