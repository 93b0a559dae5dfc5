package store

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"rig/engine"
)

// What is read of one seat is what the whole record says of it, of whoever holds
// its conversation, and of the names at the ends of its edges.
func TestRecordOfASeatIsItsPartOfTheRecord(t *testing.T) {
	db := fresh(t)
	fleet(t, db, 60)
	write(t, db, func(tx engine.Tx) error {
		archived, err := tx.Rig("r001")
		if err != nil {
			return err
		}
		archived.ArchivedAt = epoch
		share := func(id, with string) func() error {
			return func() error {
				x, err := tx.Session(id)
				if err != nil {
					return err
				}
				y, err := tx.Session(with)
				if err != nil {
					return err
				}
				x.Token = y.Token
				return tx.UpdateSession(&x)
			}
		}
		linger := func(id string) func() error {
			return func() error {
				x, err := tx.Session(id)
				if err != nil {
					return err
				}
				x.Status = engine.SessionUnknown
				return tx.UpdateSession(&x)
			}
		}
		return must(
			func() error { return tx.UpdateRig(&archived) },
			share("s0003b", "s0007b"), share("s0045b", "s0007b"), // two rigs
			share("s0009a", "s0011b"), linger("s0009a"), // an older occupant that may still run
			share("s0012a", "s0013b"), // one that was superseded
			share("s0022b", "s0014b"), // an archived rig
			func() error {
				return tx.InsertOperation(engine.Operation{ID: "op1", State: engine.OpRunning, StartedAt: epoch})
			},
			func() error {
				return tx.PutLease(engine.Lease{Key: "seat:s0005", OpID: "op1", Fence: 1, GrantedAt: epoch, ExpiresAt: epoch})
			},
			func() error { return tx.PutAck(engine.Ack{Key: "k", By: "ada", At: epoch}) },
		)
	})
	holders := map[string][]string{
		"s0003": {"s0007", "s0045"}, "s0007": {"s0003", "s0045"}, "s0045": {"s0003", "s0007"}, "s0009": {"s0011"}, "s0011": {"s0009"},
	}
	read(t, db, func(r engine.Reader) error {
		whole, err := r.Record()
		if err != nil {
			return err
		}
		for i := range 60 {
			id := fmt.Sprintf("s%04d", i)
			got, err := r.RecordOf(id)
			if err != nil {
				return err
			}
			if want := partOf(whole, id, holders[id]); !reflect.DeepEqual(got, want) {
				t.Errorf("%s:\n%+v\nwant\n%+v", id, got, want)
			}
		}
		return nil
	})
}

func partOf(rec *engine.Record, id string, holders []string) *engine.Record {
	own := map[string]bool{}
	for _, s := range rec.Seats {
		own[s.ID] = s.ID == id || slices.Contains(holders, s.ID)
	}
	named, rigs := map[string]bool{}, map[string]bool{}
	out := &engine.Record{Open: rec.Open, Leases: rec.Leases, Acks: rec.Acks}
	out.Edges = kept(rec.Edges, func(e engine.Edge) bool { return e.From == id || e.To == id })
	for _, e := range out.Edges {
		named[e.From], named[e.To] = true, true
	}
	out.Seats = kept(rec.Seats, func(s engine.Seat) bool { return own[s.ID] || named[s.ID] })
	for _, s := range out.Seats {
		rigs[s.RigID] = true
	}
	out.Rigs = kept(rec.Rigs, func(r engine.Rig) bool { return rigs[r.ID] })
	out.Pods = kept(rec.Pods, func(p engine.Pod) bool { return rigs[p.RigID] })
	out.Sessions = kept(rec.Sessions, func(s engine.Session) bool { return own[s.SeatID] })
	out.Bindings = kept(rec.Bindings, func(b engine.Binding) bool { return own[b.SeatID] })
	out.Usage = kept(rec.Usage, func(u engine.StoredUsage) bool { return own[u.SeatID] })
	out.Verdicts = kept(rec.Verdicts, func(x engine.Verdict) bool { return own[x.SeatID] })
	out.Work = kept(rec.Work, func(w engine.WorkCount) bool { return own[w.SeatID] })
	return out
}

func kept[T any](list []T, keep func(T) bool) (out []T) {
	for _, x := range list {
		if keep(x) {
			out = append(out, x)
		}
	}
	return out
}
