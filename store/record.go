package store

import "rig/engine"

// The tables of a picture are read whole, joined to the rigs that are shown.
const (
	shownSeat = " JOIN seats s ON s.id = x.seat_id JOIN rigs r ON r.id = s.rig_id AND r.archived_at IS NULL"

	recordPods = " FROM pods x JOIN rigs r ON r.id = x.rig_id AND r.archived_at IS NULL ORDER BY x.rig_id, x.ordinal, x.name"

	recordSeats = ` FROM seats x JOIN rigs r ON r.id = x.rig_id AND r.archived_at IS NULL JOIN pods p ON p.id = x.pod_id
		ORDER BY x.rig_id, p.ordinal, x.ordinal, x.member`

	recordEdges = " FROM edges x JOIN rigs r ON r.id = x.rig_id AND r.archived_at IS NULL ORDER BY x.rig_id, x.from_seat, x.to_seat, x.kind"

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
	for _, load := range []func(*engine.Record) error{v.loadRigs, v.loadOccupants, v.loadWork} {
		if err := load(rec); err != nil {
			return nil, err
		}
	}
	return rec, nil
}

func (v *view) loadRigs(rec *engine.Record) (err error) {
	if rec.Rigs, err = v.AllRigs(false); err != nil {
		return err
	}
	if rec.Pods, err = many(v, scanPod, "SELECT "+prefixed("x", podCols)+recordPods); err != nil {
		return err
	}
	if rec.Seats, err = many(v, scanSeat, "SELECT "+prefixed("x", seatCols)+recordSeats); err != nil {
		return err
	}
	rec.Edges, err = many(v, scanEdge, "SELECT "+prefixed("x", edgeCols)+recordEdges)
	return err
}

func (v *view) loadOccupants(rec *engine.Record) (err error) {
	sessions := "SELECT " + prefixed("x", sessionCols)
	rec.Sessions, err = many(v, scanSession, sessions+latestSessions+" UNION ALL "+sessions+lingeringSession+
		" ORDER BY 2, 3 DESC") // seat, generation: a union knows its columns by number
	if err != nil {
		return err
	}
	if rec.Bindings, err = many(v, scanBinding, "SELECT "+prefixed("x", bindingCols)+" FROM bindings x"+shownSeat+
		" ORDER BY x.seat_id"); err != nil {
		return err
	}
	if rec.Usage, err = many(v, scanUsage, "SELECT "+prefixed("x", usageCols)+" FROM context_usage x"+shownSeat+
		" ORDER BY x.seat_id"); err != nil {
		return err
	}
	rec.Verdicts, err = many(v, scanVerdict, "SELECT "+prefixed("x", verdictCols)+" FROM seat_verdicts x"+shownSeat+
		" ORDER BY x.seat_id")
	return err
}

func (v *view) loadWork(rec *engine.Record) (err error) {
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
		FROM work_items x`+shownSeat+" WHERE x.state <> 'done' GROUP BY x.seat_id ORDER BY x.seat_id")
	if err != nil {
		return err
	}
	if rec.Acks, err = v.Acks(); err != nil {
		return err
	}
	rec.LastSeq, err = one(v, scanInt, absent("event", "", "none was written yet"), "SELECT coalesce(max(seq), 0) FROM events")
	return err
}
