package store

import (
	"slices"

	"rig/engine"
)

// The tables of a picture are read whole, joined to the rigs that are shown.
const (
	shownSeat = " JOIN seats s ON s.id = x.seat_id JOIN rigs r ON r.id = s.rig_id AND r.archived_at IS NULL"

	recordPods = " FROM pods x JOIN rigs r ON r.id = x.rig_id AND r.archived_at IS NULL"
	podOrder   = " ORDER BY x.rig_id, x.ordinal, x.name"

	recordSeats = " FROM seats x JOIN rigs r ON r.id = x.rig_id AND r.archived_at IS NULL JOIN pods p ON p.id = x.pod_id"
	seatOrder   = " ORDER BY x.rig_id, p.ordinal, x.ordinal, x.member"

	recordEdges = " FROM edges x JOIN rigs r ON r.id = x.rig_id AND r.archived_at IS NULL" + edgeOrder
	edgesOfSeat = ` FROM seats s JOIN edges x ON x.rig_id = s.rig_id AND (x.from_seat = ? OR x.to_seat = ?)
		JOIN rigs r ON r.id = x.rig_id AND r.archived_at IS NULL WHERE s.id = ?` + edgeOrder
	edgeOrder = " ORDER BY x.rig_id, x.from_seat, x.to_seat, x.kind"

	// The one of each seat's own generation, which after an undo is not the newest,
	// and every other that is not terminal. Each half is driven by an index, so that
	// the history of old seats costs nothing.
	latestSession    = " x.generation = s.generation"
	latestSessions   = " FROM rigs r JOIN seats s ON s.rig_id = r.id JOIN sessions x ON x.seat_id = s.id AND" + latestSession + " WHERE r.archived_at IS NULL"
	lingeringSession = " FROM sessions x" + shownSeat + " WHERE x.status IN ('running', 'unknown') AND NOT" + latestSession
)

// Record reads everything that a picture of the fleet is made of: thirteen
// queries on one view, whatever the number of seats.
func (v *view) Record() (*engine.Record, error) {
	rec := &engine.Record{}
	for _, load := range []func(*engine.Record) error{v.loadRigs, v.loadOccupants, v.loadWork, v.loadSeq} {
		if err := load(rec); err != nil {
			return nil, err
		}
	}
	return rec, nil
}

// RecordOf reads what is shown of one seat: as much of Record as concerns the seat
// itself and those that hold its conversation too, and of those at the other ends
// of its edges who they are. There is no LastSeq. A seat that is not shown, of an
// archived rig or none, gives an empty record.
func (v *view) RecordOf(seatID string) (*engine.Record, error) {
	rec, own := &engine.Record{}, only{seatID}
	sharers, err := v.sharers(seatID)
	if err != nil {
		return nil, err
	}
	own = append(own, sharers...)
	if rec.Edges, err = many(v, scanEdge, "SELECT "+prefixed("x", edgeCols)+edgesOfSeat, seatID, seatID, seatID); err != nil {
		return nil, err
	}
	shown := slices.Clone(own)
	for _, e := range rec.Edges {
		shown = append(shown, e.From, e.To)
	}
	rigs := "SELECT rig_id FROM seats x WHERE 1" + shown.and("x.id")
	if rec.Rigs, err = many(v, scanRig, "SELECT "+rigCols+" FROM rigs WHERE archived_at IS NULL AND id IN ("+rigs+") ORDER BY name",
		shown.args(1)...); err != nil {
		return nil, err
	}
	if rec.Pods, err = many(v, scanPod, "SELECT "+prefixed("x", podCols)+recordPods+" AND x.rig_id IN ("+rigs+")"+podOrder, shown.args(1)...); err != nil {
		return nil, err
	}
	if rec.Seats, err = many(v, scanSeat, "SELECT "+prefixed("x", seatCols)+recordSeats+shown.and("x.id")+seatOrder, shown.args(1)...); err != nil {
		return nil, err
	}
	if err := v.occupants(rec, own); err != nil {
		return nil, err
	}
	return rec, v.work(rec, own)
}

// sharers lists the other seats whose present or lingering occupant has a
// conversation that the seat's own has.
func (v *view) sharers(seatID string) ([]string, error) {
	const mine = " AND x.seat_id = ? AND x.resume_token <> ''"
	found, err := many(v, scanString, "SELECT x.resume_token"+latestSessions+mine+" UNION SELECT x.resume_token"+lingeringSession+mine, seatID, seatID)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	tokens := only(found)
	same := tokens.and("x.resume_token")
	return many(v, scanString, "SELECT x.seat_id"+latestSessions+same+" UNION SELECT x.seat_id"+lingeringSession+same, tokens.args(2)...)
}

// only limits a query to rows with one of these ids; nil does not.
type only []string

// and is the condition on a column.
func (o only) and(col string) string {
	if o == nil {
		return ""
	}
	return " AND " + col + " IN (" + marks(len(o)) + ")"
}

// args are the arguments of a query that has the condition n times.
func (o only) args(n int) (out []any) {
	for range n {
		for _, id := range o {
			out = append(out, id)
		}
	}
	return out
}

func (v *view) loadRigs(rec *engine.Record) (err error) {
	if rec.Rigs, err = v.AllRigs(false); err != nil {
		return err
	}
	if rec.Pods, err = many(v, scanPod, "SELECT "+prefixed("x", podCols)+recordPods+podOrder); err != nil {
		return err
	}
	if rec.Seats, err = many(v, scanSeat, "SELECT "+prefixed("x", seatCols)+recordSeats+seatOrder); err != nil {
		return err
	}
	rec.Edges, err = many(v, scanEdge, "SELECT "+prefixed("x", edgeCols)+recordEdges)
	return err
}

func (v *view) loadOccupants(rec *engine.Record) error { return v.occupants(rec, nil) }

func (v *view) occupants(rec *engine.Record, o only) (err error) {
	sessions := "SELECT " + prefixed("x", sessionCols)
	rec.Sessions, err = many(v, scanSession, sessions+latestSessions+o.and("x.seat_id")+" UNION ALL "+sessions+lingeringSession+o.and("x.seat_id")+
		" ORDER BY 2, 3 DESC", o.args(2)...) // seat, generation: a union knows its columns by number
	if err != nil {
		return err
	}
	tail := shownSeat + o.and("x.seat_id") + " ORDER BY x.seat_id"
	if rec.Bindings, err = many(v, scanBinding, "SELECT "+prefixed("x", bindingCols)+" FROM bindings x"+tail, o.args(1)...); err != nil {
		return err
	}
	if rec.Usage, err = many(v, scanUsage, "SELECT "+prefixed("x", usageCols)+" FROM context_usage x"+tail, o.args(1)...); err != nil {
		return err
	}
	rec.Verdicts, err = many(v, scanVerdict, "SELECT "+prefixed("x", verdictCols)+" FROM seat_verdicts x"+tail, o.args(1)...)
	return err
}

func (v *view) loadWork(rec *engine.Record) error { return v.work(rec, nil) }

func (v *view) work(rec *engine.Record, o only) (err error) {
	if rec.Open, err = many(v, scanOperation, "SELECT "+operationCols+" FROM operations WHERE "+openStates+
		" ORDER BY started_at DESC, id DESC"); err != nil {
		return err
	}
	if rec.Leases, err = v.Leases(); err != nil {
		return err
	}
	count := func(row row) (c engine.WorkCount, err error) {
		return c, row.Scan(&c.SeatID, &c.Pending, &c.Claimed, &c.Blocked)
	}
	rec.Work, err = many(v, count, `SELECT x.seat_id, sum(x.state = 'pending'), sum(x.state = 'claimed'), sum(x.state = 'blocked')
		FROM work_items x`+shownSeat+o.and("x.seat_id")+" WHERE x.state <> 'done' GROUP BY x.seat_id ORDER BY x.seat_id", o.args(1)...)
	if err != nil {
		return err
	}
	rec.Acks, err = v.Acks()
	return err
}

func (v *view) loadSeq(rec *engine.Record) (err error) {
	rec.LastSeq, err = one(v, scanInt, absent("event", "", "none was written yet"), "SELECT coalesce(max(seq), 0) FROM events")
	return err
}
