package store

import (
	"cmp"
	"slices"
	"strings"

	"rig/engine"
)

// The tables of a picture are read whole, joined to the rigs that are shown. What a
// fleet has many of is put in order here: SQLite would pack every row of it for its
// sorter and unpack it again.
const (
	shownSeat = " JOIN seats s ON s.id = x.seat_id JOIN rigs r ON r.id = s.rig_id AND r.archived_at IS NULL"

	recordPods  = " FROM pods x JOIN rigs r ON r.id = x.rig_id AND r.archived_at IS NULL"
	recordSeats = " FROM seats x JOIN rigs r ON r.id = x.rig_id AND r.archived_at IS NULL"
	recordEdges = " FROM edges x JOIN rigs r ON r.id = x.rig_id AND r.archived_at IS NULL"

	edgesOfSeat = " FROM edges WHERE rig_id = (SELECT rig_id FROM seats WHERE id = ?) AND (from_seat = ? OR to_seat = ?)"

	// The one of each seat's own generation, which after an undo is not the newest,
	// and every other that is not terminal. Each half is driven by an index, so that
	// the history of old seats costs nothing.
	latestSession    = " x.generation = s.generation"
	latestSessions   = " FROM rigs r JOIN seats s ON s.rig_id = r.id JOIN sessions x ON x.seat_id = s.id AND" + latestSession + " WHERE r.archived_at IS NULL"
	lingeringSession = " FROM sessions x" + shownSeat + " WHERE x.status IN ('running', 'unknown') AND NOT" + latestSession

	// Both of them, where the seats are given.
	presentSession = " AND (x.status IN ('running', 'unknown') OR x.generation = (SELECT generation FROM seats WHERE id = x.seat_id))"
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
	arrange(rec)
	return rec, nil
}

// RecordOf reads what is shown of one seat: as much of Record as concerns the seat
// itself and those that hold its conversation too, and of those at the other ends
// of its edges who they are. There is no LastSeq. A seat that is not shown, of an
// archived rig or none, gives an empty record. Its statements are short ones: to
// parse them takes longer than to run them.
func (v *view) RecordOf(seatID string) (*engine.Record, error) {
	rec := &engine.Record{}
	own, err := v.sharers(seatID)
	if err != nil {
		return nil, err
	}
	own = append(own, seatID)
	if rec.Edges, err = many(v, scanEdge, "SELECT "+edgeCols+edgesOfSeat, seatID, seatID, seatID); err != nil {
		return nil, err
	}
	named := slices.Clone(own)
	for _, e := range rec.Edges {
		named = append(named, e.From, e.To)
	}
	if rec.Seats, err = many(v, scanSeat, "SELECT "+seatCols+" FROM seats WHERE id IN "+named.list(), named.args()...); err != nil {
		return nil, err
	}
	if err := v.shown(rec); err != nil {
		return nil, err
	}
	is := func(id string) bool {
		return slices.ContainsFunc(rec.Seats, func(s engine.Seat) bool { return s.ID == id })
	}
	if !is(seatID) {
		rec, own = &engine.Record{}, only{}
	}
	own = slices.DeleteFunc(own, func(id string) bool { return !is(id) })
	if err := v.occupants(rec, own); err != nil {
		return nil, err
	}
	if err := v.work(rec, own); err != nil {
		return nil, err
	}
	arrange(rec)
	return rec, nil
}

// shown reads the rigs and pods of the seats that were read, and drops the seats of
// archived rigs.
func (v *view) shown(rec *engine.Record) (err error) {
	ids := only{}
	for _, s := range rec.Seats {
		if !slices.Contains(ids, s.RigID) {
			ids = append(ids, s.RigID)
		}
	}
	if rec.Rigs, err = many(v, scanRig, "SELECT "+rigCols+" FROM rigs WHERE id IN "+ids.list()+" AND archived_at IS NULL ORDER BY name",
		ids.args()...); err != nil {
		return err
	}
	ids = only{}
	for _, r := range rec.Rigs {
		ids = append(ids, r.ID)
	}
	rec.Seats = slices.DeleteFunc(rec.Seats, func(s engine.Seat) bool { return !slices.Contains(ids, s.RigID) })
	rec.Pods, err = many(v, scanPod, "SELECT "+podCols+" FROM pods WHERE rig_id IN "+ids.list(), ids.args()...)
	return err
}

// sharers lists the other seats whose present or lingering occupant has a
// conversation that the seat's own has.
func (v *view) sharers(seatID string) (only, error) {
	found, err := many(v, scanString, "SELECT x.resume_token FROM sessions x WHERE x.seat_id = ? AND x.resume_token <> ''"+presentSession, seatID)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	tokens := only(found)
	same := " AND x.seat_id <> ? AND x.resume_token IN " + tokens.list()
	args := append([]any{seatID}, tokens.args()...)
	return many(v, scanString, "SELECT x.seat_id"+latestSessions+same+" UNION SELECT x.seat_id"+lingeringSession+same, append(args, args...)...)
}

// only names rows by their ids. As a limit, nil means every seat that is shown.
type only []string

// list is what an id is IN.
func (o only) list() string { return "(" + marks(len(o)) + ")" }

// args are the arguments of a list.
func (o only) args() []any {
	out := make([]any, len(o))
	for i, id := range o {
		out[i] = id
	}
	return out
}

// rows is where the rows about these seats come from, up to and with a condition.
func (o only) rows(table string) string {
	if o == nil {
		return " FROM " + table + " x" + shownSeat + " WHERE 1"
	}
	return " FROM " + table + " x WHERE x.seat_id IN " + o.list()
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

func (v *view) loadOccupants(rec *engine.Record) error { return v.occupants(rec, nil) }

func (v *view) occupants(rec *engine.Record, o only) (err error) {
	cols := prefixed("x", sessionCols)
	sessions := "SELECT " + cols + latestSessions + " UNION ALL SELECT " + cols + lingeringSession
	if o != nil {
		sessions = "SELECT " + cols + o.rows("sessions") + presentSession
	}
	if rec.Sessions, err = many(v, scanSession, sessions, o.args()...); err != nil {
		return err
	}
	if rec.Bindings, err = many(v, scanBinding, "SELECT "+prefixed("x", bindingCols)+o.rows("bindings"), o.args()...); err != nil {
		return err
	}
	if rec.Usage, err = many(v, scanUsage, "SELECT "+prefixed("x", usageCols)+o.rows("context_usage"), o.args()...); err != nil {
		return err
	}
	rec.Verdicts, err = many(v, scanVerdict, "SELECT "+prefixed("x", verdictCols)+o.rows("seat_verdicts"), o.args()...)
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
	rec.Work, err = many(v, count, "SELECT x.seat_id, sum(x.state = 'pending'), sum(x.state = 'claimed'), sum(x.state = 'blocked')"+
		o.rows("work_items")+" AND x.state <> 'done' GROUP BY x.seat_id ORDER BY x.seat_id", o.args()...)
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

// arrange puts pods and seats into the order of their rigs and specs, and what is
// on record about seats into the order of their ids, the newest registration first.
func arrange(rec *engine.Record) {
	slices.SortFunc(rec.Pods, func(a, b engine.Pod) int {
		return cmp.Or(strings.Compare(a.RigID, b.RigID), cmp.Compare(a.Ordinal, b.Ordinal), strings.Compare(a.Name, b.Name))
	})
	pods := make(map[string]int, len(rec.Pods))
	for i, p := range rec.Pods {
		pods[p.ID] = i
	}
	slices.SortFunc(rec.Seats, func(a, b engine.Seat) int {
		return cmp.Or(cmp.Compare(pods[a.PodID], pods[b.PodID]), cmp.Compare(a.Ordinal, b.Ordinal), strings.Compare(a.Member, b.Member))
	})
	slices.SortFunc(rec.Edges, func(a, b engine.Edge) int {
		return cmp.Or(strings.Compare(a.RigID, b.RigID), strings.Compare(a.From, b.From), strings.Compare(a.To, b.To), strings.Compare(string(a.Kind), string(b.Kind)))
	})
	slices.SortFunc(rec.Sessions, func(a, b engine.Session) int {
		return cmp.Or(strings.Compare(a.SeatID, b.SeatID), cmp.Compare(b.Generation, a.Generation))
	})
	slices.SortFunc(rec.Bindings, func(a, b engine.Binding) int { return strings.Compare(a.SeatID, b.SeatID) })
	slices.SortFunc(rec.Usage, func(a, b engine.StoredUsage) int { return strings.Compare(a.SeatID, b.SeatID) })
	slices.SortFunc(rec.Verdicts, func(a, b engine.Verdict) int { return strings.Compare(a.SeatID, b.SeatID) })
}
