package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"rig/engine"
)

func TestRecordHoldsWhatIsShown(t *testing.T) {
	db := fresh(t)
	fleet(t, db, 60) // rigs r000, r001, r002
	write(t, db, func(tx engine.Tx) error {
		archived, err := tx.Rig("r001")
		if err != nil {
			return err
		}
		archived.ArchivedAt = epoch
		lingering, err := tx.Session("s0005a")
		if err != nil {
			return err
		}
		lingering.Status = engine.SessionUnknown // an older occupant that may still run
		running := engine.Operation{ID: "op1", State: engine.OpRunning, StartedAt: epoch}
		ended := engine.Operation{ID: "op2", State: engine.OpDone, StartedAt: epoch}
		unfinished := engine.Operation{ID: "op3", State: engine.OpUnfinished, StartedAt: epoch.Add(time.Second)}
		work := func(id, state string) func() error {
			return func() error {
				return tx.InsertWork(engine.WorkItem{ID: id, SeatID: "s0005", State: state, CreatedAt: epoch, UpdatedAt: epoch})
			}
		}
		return must(
			func() error { return tx.UpdateRig(&archived) },
			func() error { return tx.UpdateSession(&lingering) },
			func() error { return tx.InsertOperation(running) },
			func() error { return tx.InsertOperation(ended) },
			func() error { return tx.InsertOperation(unfinished) },
			work("w1", "pending"), work("w2", "claimed"), work("w3", "done"), work("w4", "blocked"),
			func() error {
				return tx.PutLease(engine.Lease{Key: "seat:s0005", OpID: "op1", Fence: 1, GrantedAt: epoch, ExpiresAt: epoch})
			},
			func() error { return tx.PutAck(engine.Ack{Key: "k", By: "ada", At: epoch}) },
		)
	})
	var rec *engine.Record
	read(t, db, func(r engine.Reader) (err error) { rec, err = r.Record(); return err })
	got := fmt.Sprintf("rigs %d pods %d seats %d edges %d sessions %d bindings %d usage %d open %d leases %d work %d acks %d verdicts %d seq %d",
		len(rec.Rigs), len(rec.Pods), len(rec.Seats), len(rec.Edges), len(rec.Sessions), len(rec.Bindings), len(rec.Usage), len(rec.Open),
		len(rec.Leases), len(rec.Work), len(rec.Acks), len(rec.Verdicts), rec.LastSeq)
	want := "rigs 2 pods 4 seats 40 edges 38 sessions 41 bindings 40 usage 40 open 2 leases 1 work 40 acks 1 verdicts 40 seq 60"
	if got != want {
		t.Errorf("the record holds\n%s\nwant\n%s", got, want)
	}
	if rec.Open[0].ID != "op3" || rec.Open[1].ID != "op1" {
		t.Errorf("open operations: %v", rec.Open)
	}
	for i, w := range rec.Work {
		if want := (engine.WorkCount{SeatID: "s0005", Pending: 2, Claimed: 1, Blocked: 1}); w.SeatID == "s0005" && w != want {
			t.Errorf("work %+v, want %+v", w, want)
		}
		if i > 0 && rec.Work[i-1].SeatID >= w.SeatID {
			t.Errorf("work is out of order at %d", i)
		}
	}
	for i, s := range rec.Seats {
		if i > 0 && s.RigID < rec.Seats[i-1].RigID {
			t.Errorf("seats are out of order at %d", i)
		}
		if s.RigID == "r001" {
			t.Errorf("a seat of an archived rig: %s", s.ID)
		}
	}
	var five []int64
	for _, s := range rec.Sessions {
		if s.SeatID == "s0005" {
			five = append(five, s.Generation)
		}
	}
	if !reflect.DeepEqual(five, []int64{2, 1}) {
		t.Errorf("sessions of the seat with a lingering occupant: %v", five)
	}
}

func TestRecordIsOneView(t *testing.T) {
	path := recordPath(t)
	a, b := open1(t, path), open1(t, path)
	write(t, a, oneSeat)
	read(t, a, func(r engine.Reader) error {
		if _, err := r.Rig("r1"); err != nil {
			return err
		}
		write(t, b, func(tx engine.Tx) error { return tx.DeleteRig("r1") })
		rec, err := r.Record()
		if len(rec.Rigs) != 1 || len(rec.Seats) != 1 {
			t.Errorf("another connection's commit shows inside a view: %+v", rec)
		}
		return err
	})
}

func TestSeatsMatchingAgreesWithTheReference(t *testing.T) {
	db := fresh(t)
	fleet(t, db, 40)
	write(t, db, func(tx engine.Tx) error {
		dashed := testPod("px", "r000", "a-b")
		archived := testRig("rx", "gone")
		archived.ArchivedAt = epoch
		lost := testPod("py", "rx", "pod0")
		return must(
			func() error { return tx.InsertPod(dashed) },
			func() error { return tx.InsertSeat(testSeat("sx", dashed, "c-d")) },
			func() error { return tx.InsertRig(archived) },
			func() error { return tx.InsertPod(lost) },
			func() error { return tx.InsertSeat(testSeat("sy", lost, "m0")) },
		)
	})
	refs := []string{
		"pod0-m0@rigr000", "pod0.m0@rigr000", "pod0.m0", "pod0-m0", "pod1.m0", "pod0.m0@rigr001", "a-b-c-d@rigr000", "a-b.c-d", "a.b-c-d",
		"pod0.m0@gone", "pod0-m0@gone", "x'y\"z.%@rigr000", "a@b@c", ".", "pod0.m0.x", "%.%", "pod3.m33",
	}
	for _, text := range refs {
		ref, err := engine.ParseSeatRef(text)
		if err != nil {
			t.Fatal(err)
		}
		var got, want []string
		read(t, db, func(r engine.Reader) error {
			seats, err := r.SeatsMatching(ref)
			for _, s := range seats {
				got = append(got, s.ID)
			}
			if err != nil {
				return err
			}
			rec, err := r.Record()
			for _, rig := range rec.Rigs {
				for _, s := range rec.Seats {
					if s.RigID == rig.ID && ref.Matches(rig.Name, s) {
						want = append(want, s.ID)
					}
				}
			}
			return err
		})
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q finds %v, the engine would match %v", text, got, want)
		}
	}
}

func TestOpenStatesAreTheEnginesOwn(t *testing.T) {
	for _, s := range []engine.OpState{
		engine.OpPlanned, engine.OpRunning, engine.OpDone, engine.OpPartial, engine.OpFailed, engine.OpRolledBack, engine.OpUndone, engine.OpUnfinished,
	} {
		if ended := strings.Contains(openStates, "'"+string(s)+"'"); ended != s.Ended() {
			t.Errorf("state %q: the record thinks ended=%v", s, ended)
		}
	}
	for _, s := range []engine.SessionStatus{
		engine.SessionRunning, engine.SessionUnknown, engine.SessionDetached, engine.SessionExited, engine.SessionSuperseded,
	} {
		if live := strings.Contains(lingeringSession, "'"+string(s)+"'"); live == s.Terminal() {
			t.Errorf("status %q: the record thinks live=%v", s, live)
		}
	}
}

func TestUsageHistoryIsBounded(t *testing.T) {
	db := fresh(t)
	write(t, db, func(tx engine.Tx) error {
		if err := oneSeat(tx); err != nil {
			return err
		}
		for i := range maxSamples + 40 {
			u := engine.StoredUsage{SeatID: "s1", SessionID: "o1", Usage: engine.Usage{Tokens: int64(i), SampledAt: epoch.Add(time.Duration(i) * time.Second)}}
			if err := tx.PutUsage(u); err != nil {
				return err
			}
		}
		late := engine.StoredUsage{SeatID: "s1", SessionID: "o1", Usage: engine.Usage{Tokens: -1, SampledAt: epoch.Add(100*time.Second + time.Millisecond)}}
		return tx.PutUsage(late)
	})
	read(t, db, func(r engine.Reader) error {
		all, err := r.UsageSamples("s1", 10*maxSamples)
		if len(all) != maxSamples || all[0].Tokens != maxSamples+39 {
			t.Errorf("%d samples are kept, the newest has %d", len(all), all[0].Tokens)
		}
		few, err2 := r.UsageSamples("s1", 3)
		if len(few) != 3 || few[2].Tokens != maxSamples+37 {
			t.Errorf("the newest three: %v", few)
		}
		rec, err3 := r.Record()
		if len(rec.Usage) != 1 || rec.Usage[0].Tokens != maxSamples+39 {
			t.Errorf("current usage: %+v", rec.Usage)
		}
		return errors.Join(err, err2, err3)
	})
}

func TestEventFilters(t *testing.T) {
	db := fresh(t)
	write(t, db, func(tx engine.Tx) error {
		for i := range 10 {
			seq, err := tx.AppendEvent(engine.Event{
				Seq: 999, At: epoch.Add(time.Duration(i) * time.Second), Type: []string{"a", "b", "c"}[i%3],
				RigID: []string{"r1", "r2"}[i%2], SeatID: []string{"s1", ""}[i%2], OpID: []string{"", "op1"}[i%2], Payload: json.RawMessage(`{}`),
			})
			if err != nil || seq != int64(i+1) {
				return errors.Join(err, fmt.Errorf("event %d got number %d", i+1, seq))
			}
		}
		return nil
	})
	for want, f := range map[string]engine.EventFilter{
		"[1 2 3 4 5 6 7 8 9 10]": {},
		"[9 10]":                 {After: 8},
		"[10 9 8]":               {Newest: true, Limit: 3},
		"[1 2]":                  {Limit: 2},
		"[8 9 10]":               {Since: epoch.Add(7 * time.Second)},
		"[1 3 5 7 9]":            {RigID: "r1"},
		"[5 7 9]":                {SeatID: "s1", After: 3},
		"[2 4 6 8 10]":           {OpID: "op1"},
		"[2 3 5 6 8 9]":          {Types: []string{"b", "c"}},
		"[9 3]":                  {Types: []string{"c"}, RigID: "r1", Newest: true},
		"[]":                     {Types: []string{"' OR 1=1 --"}},
	} {
		read(t, db, func(r engine.Reader) error {
			evs, err := r.Events(f)
			seqs := []int64{}
			for _, e := range evs {
				seqs = append(seqs, e.Seq)
			}
			if got := fmt.Sprint(seqs); got != want {
				t.Errorf("filter %+v gives %s, want %s", f, got, want)
			}
			return err
		})
	}
}

// No list may walk a whole table of history: the plans of the filtered queries
// use an index.
func TestFilteredListsUseIndexes(t *testing.T) {
	db := fresh(t)
	fleet(t, db, 40)
	for query, index := range map[string]string{
		"SELECT seq FROM events WHERE rig_id = 'x' ORDER BY seq LIMIT 9":                               "events_rig",
		"SELECT seq FROM events WHERE seat_id = 'x' AND seq > 3 ORDER BY seq DESC LIMIT 9":             "events_seat",
		"SELECT seq FROM events WHERE op_id = 'x' ORDER BY seq LIMIT 9":                                "events_op",
		"SELECT seq FROM events WHERE type IN ('x', 'y') ORDER BY seq LIMIT 9":                         "events_type",
		"SELECT id FROM operations WHERE rig_id = 'x' ORDER BY started_at DESC, id DESC LIMIT 9":       "operations_rig",
		"SELECT id FROM operations WHERE seat_id = 'x' ORDER BY started_at DESC, id DESC LIMIT 9":      "operations_seat",
		"SELECT id FROM operations WHERE " + openStates + " ORDER BY started_at DESC, id DESC":         "operations_open",
		"SELECT id FROM operations WHERE " + undoStates + " ORDER BY started_at DESC, id DESC LIMIT 9": "operations_undo",
		"SELECT id FROM operations ORDER BY started_at DESC, id DESC LIMIT 9":                          "operations_started",
		"SELECT id FROM snapshots WHERE rig_id = 'x' ORDER BY created_at DESC":                         "snapshots_rig",
		"SELECT * FROM sessions WHERE seat_id = 'x' ORDER BY generation DESC":                          "sqlite_autoindex_sessions_2",
		"SELECT x.seat_id" + latestSessions + " AND x.seat_id IN ('x', 'y')":                           "sqlite_autoindex_sessions_2",
		"SELECT kind" + edgesOfSeat:                                   "SEARCH edges USING",
		"SELECT x.id" + only{"'x'"}.rows("sessions") + presentSession: "SEARCH x USING INDEX sqlite_autoindex_sessions_2",
		"SELECT x.id" + lingeringSession:                              "sessions_live",
		"SELECT s.id FROM rigs r JOIN seats s ON s.rig_id = r.id WHERE r.archived_at IS NULL AND s.pod = 'x'": "seats_logical",
	} {
		plan := column(t, db.readers, "EXPLAIN QUERY PLAN "+strings.ReplaceAll(query, "?", "'x'"))
		if !strings.Contains(strings.Join(plan, "\n"), index) {
			t.Errorf("%s\ndoes not use %s:\n%s", query, index, strings.Join(plan, "\n"))
		}
	}
}
