package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"rig/engine"
)

const otherSocket = "/tmp/other.sock"

// moveAway binds dev.m0 on another server, which says inv when it is asked. Its
// pane is no longer on ours.
func (b *seatBench) moveAway(t *testing.T, inv engine.Inventory) {
	t.Helper()
	p := b.pane(t, "dev.m0")
	b.mux.Drop(p.ID)
	if inv.Server == engine.Present {
		inv.Panes = append(inv.Panes, p)
	}
	b.mux.Others = map[string]engine.Inventory{otherSocket: inv}
	id := b.seat(t, "dev.m0").ID
	err := b.db.Write(context.Background(), func(tx engine.Tx) error {
		bind, err := tx.Binding(id)
		if err != nil {
			return err
		}
		bind.Socket, bind.Epoch = otherSocket, "900-7"
		return tx.PutBinding(bind)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A seat on another server is neither dead nor lost while that server holds it or
// does not answer; it is lost when that server is provably gone.
func TestSeatsOnAnotherServer(t *testing.T) {
	t.Parallel()
	alive := engine.Inventory{Server: engine.Present, Epoch: "900-7"}
	for name, c := range map[string]struct {
		inv  engine.Inventory
		life engine.SeatLife
		at   engine.Presence // in the map
		why  string
	}{
		"runs there":         {alive, engine.LifeUnknown, engine.Present, "runs on another tmux server (" + otherSocket},
		"no answer":          {engine.Inventory{Server: engine.Unknown, Err: errors.New("hung")}, engine.LifeUnknown, engine.Unknown, "did not answer"},
		"server gone":        {engine.Inventory{Server: engine.Absent}, engine.LifeLost, engine.Absent, "no tmux server"},
		"another life of it": {engine.Inventory{Server: engine.Present, Epoch: "901-8"}, engine.LifeLost, engine.Absent, "is gone (" + otherSocket},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newSeatBench(t)
			b.moveAway(t, c.inv)
			f, err := b.e.Fleet(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			s := b.seat(t, "dev.m0")
			if s.Life != c.life || !strings.Contains(s.LifeWhy, c.why) {
				t.Errorf("%s: %s", s.Life, s.LifeWhy)
			}
			if len(f.Sockets) != 2 || !f.Sockets[0].Ours || len(f.Sockets[0].Seats) != 1 {
				t.Fatalf("%+v", f.Sockets)
			}
			v := f.Sockets[1]
			if v.Socket != otherSocket || v.State != c.inv.Server || v.Epoch != c.inv.Epoch || len(v.Seats) != 1 || v.Count(c.at) != 1 {
				t.Errorf("%+v", v)
			}
			if c.inv.Err != nil && v.Why != c.inv.Err.Error() {
				t.Errorf("why: %q", v.Why)
			}
		})
	}
}

// No verb acts on a seat that another server holds or may hold: a second occupant
// beside it would continue the same conversation.
func TestVerbsLeaveSeatsOfAnotherServerAlone(t *testing.T) {
	t.Parallel()
	for _, inv := range []engine.Inventory{{Server: engine.Present, Epoch: "900-7"}, {Server: engine.Unknown}} {
		b := newSeatBench(t)
		b.moveAway(t, inv)
		for _, req := range []engine.Request{
			stopRequest("dev.m0"), cleanRequest("dev.m0"), freshRequest("dev.m0", true), freshRequest("dev.m0", false),
			request(engine.VerbDown, "team", engine.DownArgs{}), request(engine.VerbUp, "team", engine.UpArgs{}),
			request(engine.VerbShrink, "team", engine.ShrinkArgs{Pod: "dev"}), seatRequest(engine.VerbHandover, "dev.m0", engine.HandoverArgs{}),
		} {
			p, err := b.e.Plan(context.Background(), req)
			if err != nil {
				t.Errorf("%s: %v", req.Verb, err)
				continue
			}
			found := false
			for _, bl := range p.Blockers {
				found = found || bl.Code == engine.CodeOtherServer
			}
			if !found {
				t.Errorf("%s with the other server %s: %+v", req.Verb, inv.Server, p.Blockers)
			}
		}
	}
}

// The server is the same one when its pid and start time are, whatever path led
// to it.
func TestOneServerUnderTwoPaths(t *testing.T) {
	t.Parallel()
	in := bigRecord(2)
	in.Socket, in.Inv.Socket = "/tmp/a", "/tmp/a"
	in.Record.Bindings[0].Socket = "/tmp/link-to-a"
	f := engine.BuildFleet(in)
	if f.Seats()[0].Life != engine.LifeRunning || len(f.Sockets) != 1 || len(f.Sockets[0].Seats) != 2 {
		t.Errorf("%s: %+v", f.Seats()[0].Life, f.Sockets)
	}
}

func TestMapShowsWhereTheConsoleRunsAndWhatWasFound(t *testing.T) {
	t.Parallel()
	in := bigRecord(1)
	in.Socket, in.Console = "/tmp/a", "/tmp/mine"
	in.Found = []engine.DiscoveredSession{
		{ID: "d1", Socket: "/tmp/b", Status: "active"}, {ID: "d2", Socket: "/tmp/b", Status: "vanished"}, {ID: "d3", Socket: "/tmp/a", Status: "active"},
	}
	in.Inv.Panes = append(in.Inv.Panes, engine.Pane{ID: "%90", Session: "work"}, engine.Pane{ID: "%91", Session: "_rig-hold"})
	f := engine.BuildFleet(in)
	if len(f.Sockets) != 3 {
		t.Fatalf("%+v", f.Sockets)
	}
	ours, b, mine := f.Sockets[0], f.Sockets[1], f.Sockets[2]
	if ours.Socket != "/tmp/a" || ours.Console || ours.Free != 1 || ours.Panes != 3 || ours.Found != 1 || ours.Pid() != "1:1" {
		t.Errorf("ours: %+v", ours)
	}
	if b.Found != 1 || b.State != engine.Unknown || b.Why == "" {
		t.Errorf("found elsewhere: %+v", b)
	}
	if !mine.Console || mine.State != engine.Present {
		t.Errorf("the console's: %+v", mine)
	}
}
