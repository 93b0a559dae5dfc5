package main

import (
	"path/filepath"
	"strings"
	"testing"

	"rig/tmuxctl/tmuxtest"
)

type socketsDoc struct {
	Sockets []struct {
		Socket string `json:"socket"`
		Ours   bool   `json:"ours"`
		State  string `json:"state"`
		Seats  []struct {
			Seat    string `json:"seat"`
			State   string `json:"state"`
			Adopted bool   `json:"adopted"`
		} `json:"seats"`
	} `json:"sockets"`
}

// onServer is the world as another RIG_TMUX_SOCKET shows it: the same record, and
// a tmux server of its own.
func (w *world) onServer(name string) *world {
	other := *w
	other.env = append([]string{}, w.env...)
	other.socket = filepath.Join(w.dir, name)
	other.setenv("RIG_TMUX_SOCKET", other.socket)
	w.t.Cleanup(func() { _, _ = other.tryTmux("kill-server") })
	return &other
}

// wants reads the map of servers and compares the line of the far seat.
func (w *world) wants(socket, state, seatState string) {
	w.t.Helper()
	const seat = "dev-far@west"
	var doc socketsDoc
	w.into(&doc, "ps")
	for _, v := range doc.Sockets {
		if v.Socket != socket {
			continue
		}
		for _, s := range v.Seats {
			if s.Seat == seat && s.State == seatState && v.State == state {
				return
			}
		}
	}
	w.t.Fatalf("want %s on %s, %s, which is %s: %+v", seat, socket, seatState, state, doc)
}

// TestSeatsOnTwoServers has a rig on each of two tmux servers, and looks from one
// at the other while that runs, hangs, and is gone.
func TestSeatsOnTwoServers(t *testing.T) {
	a := newWorld(t)
	b := a.onServer("b")
	specA, specB := a.spec("east", "near:terminal"), a.spec("west", "far:terminal")
	a.must("up", specA)
	b.must("up", specB)
	b.tmux("new-session", "-d", "-s", "mine", "cat")

	a.wants(b.socket, "present", "present")
	if s := a.seat("dev-far@west"); s.Life != "unknown" {
		t.Errorf("a seat that runs on another server reads %s", s.Life)
	}
	for _, args := range [][]string{{"down", "west"}, {"up", "west"}} {
		a.refuse("seat_elsewhere", 1, args...)
	}
	if out := a.must("ps"); !strings.Contains(out, "1 on another tmux server") {
		t.Error(out)
	}
	if r := a.run("doctor"); !strings.Contains(r.out, "answers on "+b.socket+" too, and holds 1 of the seats") {
		t.Error(r.out)
	}

	s := a.outside(120, 40)
	s.on("fleet")
	s.keys("G")
	s.shows("not known: it runs on", "M shows where the seats are")
	s.keys("M")
	s.shows("Where the seats are", "● up", b.socket, "dev-far %", "go there", "another server", "1 of no seat", "this console runs in it")

	resume := tmuxtest.Hang(t, b.socket)
	a.wants(b.socket, "unknown", "unknown")
	s.shows("? unknown", "not known: dev-far", "did not answer")
	resume()
	b.tmux("kill-server")
	a.wants(b.socket, "absent", "absent")
	s.shows("∅ no server", "lost: dev-far", "1, all lost")
	s.keys("Escape")
	s.lacks("Where the seats are")
	s.keys("q")
	s.left(0)

	a.must("up", "west") // proven gone: it comes back here
	a.wants(a.socket, "present", "present")
}
