package store

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"rig/engine"
)

// anyText is text as hostile names, titles and notes hold it: quotes, NUL bytes,
// broken UTF-8, control sequences.
var anyText = rapid.OneOf(
	rapid.String(),
	rapid.SampledFrom([]string{"", "'; DROP TABLE seats; --", "a\x00b", "\xff\xfe", "\x1b[2J", "%_\\", "null", "007", "1e5"}),
)

// draw fills a row with random values of every field.
func draw[T any](t *rapid.T, label string) T {
	var x T
	fill(t, reflect.ValueOf(&x).Elem(), label, false)
	return x
}

// fill sets a value by its type. Inside JSON columns only valid UTF-8 survives.
func fill(t *rapid.T, v reflect.Value, label string, inJSON bool) {
	switch v.Interface().(type) {
	case time.Time:
		ms := rapid.Int64Range(-62135596800000+1, 253402300799999).Draw(t, label)
		v.Set(reflect.ValueOf(time.UnixMilli(ms).UTC()))
		return
	case engine.ResumeToken:
		v.Set(reflect.ValueOf(engine.NewResumeToken(anyText.Draw(t, label))))
		return
	case json.RawMessage:
		v.Set(reflect.ValueOf(rapid.SampledFrom([]json.RawMessage{nil, []byte("null"), []byte(`{"a":[1,"\u0000"]}`)}).Draw(t, label)))
		return
	case map[string]string:
		v.Set(reflect.ValueOf(rapid.SampledFrom([]map[string]string{nil, {}, {"A": "", "": "ü\x00"}}).Draw(t, label)))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			fill(t, v.Field(i), label+"."+f.Name, inJSON || f.Type == reflect.TypeFor[engine.Homes]() || f.Type == reflect.TypeFor[engine.Owner]())
		}
	case reflect.String:
		if inJSON {
			v.SetString(rapid.String().Draw(t, label))
			return
		}
		v.SetString(anyText.Draw(t, label))
	case reflect.Int:
		v.SetInt(int64(rapid.Int32().Draw(t, label)))
	case reflect.Int64: // a version must still grow
		v.SetInt(rapid.Int64Max(math.MaxInt64-1).Draw(t, label))
	case reflect.Float64:
		v.SetFloat(rapid.SampledFrom([]float64{0, 0.1, -7.25, 100, math.MaxFloat64}).Draw(t, label))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, label))
	case reflect.Pointer:
		if rapid.Bool().Draw(t, label+" set") {
			v.Set(reflect.New(v.Type().Elem()))
			fill(t, v.Elem(), label, inJSON)
		}
	case reflect.Slice:
		v.SetBytes(rapid.SliceOf(rapid.Byte()).Draw(t, label))
	default:
		t.Fatalf("%s: no generator for %s", label, v.Type())
	}
}

// same compares what was read with what was written.
func same(t *rapid.T, got any, err error, want any) {
	t.Helper()
	if err != nil {
		t.Fatalf("%T: %v", want, err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%T\nread    %#v\nwritten %#v", want, got, want)
	}
}

func jsonText(t *rapid.T) string {
	return rapid.SampledFrom([]string{"", "{}", `["x"]`}).Draw(t, "json")
}

// owned writes a rig, a pod and a seat with random contents.
func owned(t *rapid.T, tx engine.Tx, n int) (engine.Rig, engine.Pod, engine.Seat) {
	rig, pod, seat := draw[engine.Rig](t, "rig"), draw[engine.Pod](t, "pod"), draw[engine.Seat](t, "seat")
	rig.ID, rig.Name, rig.Policies = fmt.Sprint("r", n), fmt.Sprint("rig", n), jsonText(t)
	pod.ID, pod.RigID, pod.Name, pod.Continuity = fmt.Sprint("p", n), rig.ID, "pod"+pod.Name, jsonText(t)
	seat.ID, seat.RigID, seat.PodID, seat.Pod = fmt.Sprint("s", n), rig.ID, pod.ID, pod.Name
	seat.Member, seat.Generation = "m"+seat.Member, int64(n)
	if err := must(
		func() error { return tx.InsertRig(rig) },
		func() error { return tx.InsertPod(pod) },
		func() error { return tx.InsertSeat(seat) },
	); err != nil {
		t.Fatal(err)
	}
	return rig, pod, seat
}

// Every field of every row comes back as it was written, and an update writes
// every field that may change.
func TestRoundTripOfSeats(t *testing.T) {
	db, n := fresh(t), 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		err := db.Write(context.Background(), func(tx engine.Tx) error {
			rig, pod, seat := owned(rt, tx, n)
			gotRig, err := tx.Rig(rig.ID)
			same(rt, gotRig, err, rig)
			pods, err := tx.Pods(rig.ID)
			same(rt, pods, err, []engine.Pod{pod})
			gotSeat, err := tx.Seat(seat.ID)
			same(rt, gotSeat, err, seat)

			newRig := draw[engine.Rig](rt, "new rig")
			newRig.ID, newRig.CreatedAt, newRig.Version, newRig.Policies = rig.ID, rig.CreatedAt, rig.Version, jsonText(rt)
			newRig.Name = "new" + rig.Name
			same(rt, nil, tx.UpdateRig(&newRig), nil)
			gotRig, err = tx.Rig(rig.ID)
			same(rt, gotRig, err, newRig)

			newSeat := draw[engine.Seat](rt, "new seat")
			newSeat.ID, newSeat.RigID, newSeat.PodID, newSeat.Pod, newSeat.Member = seat.ID, seat.RigID, seat.PodID, seat.Pod, seat.Member
			newSeat.CreatedAt, newSeat.Version, newSeat.Generation = seat.CreatedAt, seat.Version, 7
			same(rt, nil, tx.UpdateSeat(&newSeat), nil)
			gotSeat, err = tx.Seat(seat.ID)
			same(rt, gotSeat, err, newSeat)
			if newSeat.Version != seat.Version+1 || newRig.Version != rig.Version+1 {
				rt.Fatalf("versions %d and %d were not bumped by one", newSeat.Version, newRig.Version)
			}
			return nil
		})
		same(rt, nil, err, nil)
	})
}

func TestRoundTripOfOccupants(t *testing.T) {
	db, n := fresh(t), 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		err := db.Write(context.Background(), func(tx engine.Tx) error {
			_, _, seat := owned(rt, tx, n)
			draws := func(id string) engine.Session {
				s := draw[engine.Session](rt, "session")
				s.ID, s.SeatID, s.Generation, s.Settings = id, seat.ID, int64(n), jsonText(rt)
				s.Status = rapid.SampledFrom([]engine.SessionStatus{
					engine.SessionRunning, engine.SessionUnknown, engine.SessionDetached, engine.SessionExited, engine.SessionSuperseded,
				}).Draw(rt, "status")
				s.Origin = rapid.SampledFrom([]engine.Origin{engine.OriginLaunched, engine.OriginClaimed}).Draw(rt, "origin")
				return s
			}
			s := draws(fmt.Sprint("o", n))
			same(rt, nil, tx.InsertSession(s), nil)
			got, err := tx.Session(s.ID)
			same(rt, got, err, s)
			next := draws(s.ID)
			next.CreatedAt, next.Version = s.CreatedAt, s.Version
			same(rt, nil, tx.UpdateSession(&next), nil)
			all, err := tx.Sessions(seat.ID)
			same(rt, all, err, []engine.Session{next})

			x := draw[engine.Tenure](rt, "tenure")
			x.SeatID, x.Generation = seat.ID, int64(n)
			same(rt, nil, tx.InsertTenure(x), nil)
			tenures, err := tx.Tenures(seat.ID)
			same(rt, tenures, err, []engine.Tenure{x})

			b := draw[engine.Binding](rt, "binding")
			b.SeatID, b.Version = seat.ID, 1
			same(rt, nil, tx.PutBinding(b), nil)
			gotB, err := tx.Binding(seat.ID)
			same(rt, gotB, err, b)

			c := draw[engine.StartupContext](rt, "context")
			c.SeatID, c.Version = seat.ID, 1
			same(rt, nil, tx.PutStartupContext(c), nil)
			gotC, err := tx.StartupContext(seat.ID)
			same(rt, gotC, err, c)

			v := draw[engine.Verdict](rt, "verdict")
			v.SeatID, v.Verdict = seat.ID, rapid.SampledFrom([]string{"verified", "mismatch", "pane_missing"}).Draw(rt, "verdict")
			same(rt, nil, tx.PutVerdict(v), nil)
			gotV, err := tx.Verdict(seat.ID)
			same(rt, gotV, err, v)

			u := draw[engine.StoredUsage](rt, "usage")
			u.SeatID, u.Stale = seat.ID, false // staleness is judged when it is read, not kept
			same(rt, nil, tx.PutUsage(u), nil)
			gotU, err := tx.UsageSamples(seat.ID, 0)
			same(rt, gotU, err, []engine.StoredUsage{u})
			return nil
		})
		same(rt, nil, err, nil)
	})
}

func TestRoundTripOfOperations(t *testing.T) {
	db, n := fresh(t), 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		err := db.Write(context.Background(), func(tx engine.Tx) error {
			o := draw[engine.Operation](rt, "operation")
			o.ID, o.State = fmt.Sprint("op", n), "s"+o.State
			same(rt, nil, tx.InsertOperation(o), nil)
			got, err := tx.Operation(o.ID)
			same(rt, got, err, o)
			next := draw[engine.Operation](rt, "new operation")
			next.ID, next.Version, next.State = o.ID, o.Version, "s"+next.State
			same(rt, nil, tx.UpdateOperation(&next), nil)
			got, err = tx.Operation(o.ID)
			same(rt, got, err, next)

			for range 2 { // the second replaces the first
				st := draw[engine.OperationStep](rt, "step")
				st.OpID, st.Seq, st.State = o.ID, n, "s"+st.State
				same(rt, nil, tx.PutStep(st), nil)
				steps, err := tx.Steps(o.ID)
				same(rt, steps, err, []engine.OperationStep{st})
			}

			l := draw[engine.Lease](rt, "lease")
			l.Key = fmt.Sprint("seat:", n)
			same(rt, nil, tx.PutLease(l), nil)
			gotL, err := tx.Lease(l.Key)
			same(rt, gotL, err, l)

			e := draw[engine.Event](rt, "event")
			e.Type = "t" + e.Type
			e.Seq, err = tx.AppendEvent(e)
			same(rt, nil, err, nil)
			evs, err := tx.Events(engine.EventFilter{After: e.Seq - 1})
			same(rt, evs, err, []engine.Event{e})
			return nil
		})
		same(rt, nil, err, nil)
	})
}

func TestRoundTripOfTheRest(t *testing.T) {
	db, n := fresh(t), 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		err := db.Write(context.Background(), func(tx engine.Tx) error {
			rig, _, seat := owned(rt, tx, n)
			d := draw[engine.DiscoveredSession](rt, "discovered")
			d.ID, d.Pane, d.Status = fmt.Sprint("d", n), engine.PaneID(fmt.Sprint("%", n)), rapid.SampledFrom([]string{"active", "claimed", "vanished"}).Draw(rt, "status")
			same(rt, nil, tx.PutDiscovered(d), nil)
			gotD, err := tx.Discovered(d.ID)
			same(rt, gotD, err, d)

			s := draw[engine.SnapshotRow](rt, "snapshot")
			s.ID, s.RigID, s.Kind, s.Status = fmt.Sprint("n", n), rig.ID, "k"+s.Kind, rapid.SampledFrom([]string{"complete", "partial", "failed"}).Draw(rt, "status")
			same(rt, nil, tx.InsertSnapshot(s), nil)
			gotS, err := tx.Snapshot(s.ID)
			if len(s.Data) == 0 { // no bytes are no bytes
				gotS.Data, s.Data = nil, nil
			}
			same(rt, gotS, err, s)
			list, err := tx.Snapshots(rig.ID)
			s.Data = nil
			same(rt, list, err, []engine.SnapshotRow{s})

			w := draw[engine.WorkItem](rt, "work")
			w.ID, w.SeatID, w.State = fmt.Sprint("w", n), seat.ID, "pending"
			same(rt, nil, tx.InsertWork(w), nil)
			gotW, err := tx.WorkItem(w.ID)
			same(rt, gotW, err, w)
			next := draw[engine.WorkItem](rt, "new work")
			next.ID, next.SeatID, next.CreatedAt, next.Version, next.State = w.ID, w.SeatID, w.CreatedAt, w.Version, "blocked"
			same(rt, nil, tx.UpdateWork(&next), nil)
			work, err := tx.Work(seat.ID)
			same(rt, work, err, []engine.WorkItem{next})

			a := draw[engine.Ack](rt, "ack")
			a.Key = "k" + a.Key
			same(rt, nil, tx.PutAck(a), nil)
			acks, err := tx.Acks()
			same(rt, acks, err, []engine.Ack{a})
			same(rt, nil, tx.DeleteAck(a.Key), nil)

			key, value := "k"+anyText.Draw(rt, "key"), anyText.Draw(rt, "value")
			same(rt, nil, tx.SetMeta(key, value), nil)
			gotM, err := tx.Meta(key)
			same(rt, gotM, err, value)
			return nil
		})
		same(rt, nil, err, nil)
	})
}
