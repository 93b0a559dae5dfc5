package store

import (
	"strconv"
	"strings"

	"rig/engine"
)

const (
	eventCols = "at, type, rig_id, seat_id, rig, seat, op_id, operator, payload"

	defaultEvents = 1000
)

// Events lists audit events in the order they were written, or newest first.
func (v *view) Events(f engine.EventFilter) ([]engine.Event, error) {
	scan := func(row row) (e engine.Event, err error) {
		return e, row.Scan(&e.Seq, (*stamp)(&e.At), &e.Type, &e.RigID, &e.SeatID, &e.Rig, &e.Seat, &e.OpID, &e.Operator,
			(*raw)(&e.Payload))
	}
	var w where
	if f.After != 0 {
		w.and("seq > ?", f.After)
	}
	if !f.Since.IsZero() {
		w.and("at >= ?", stamp(f.Since))
	}
	w.equal("rig_id", f.RigID)
	w.equal("seat_id", f.SeatID)
	w.equal("op_id", f.OpID)
	if len(f.Types) > 0 {
		types := make([]any, len(f.Types))
		for i, name := range f.Types {
			types[i] = name
		}
		w.and("type IN ("+marks(len(types))+")", types...)
	}
	w.limit(f.Limit, defaultEvents)
	order := "seq"
	if f.Newest {
		order = "seq DESC"
	}
	return many(v, scan, "SELECT seq, "+eventCols+" FROM events"+w.sql(order), w.args...)
}

// AppendEvent adds an audit event and gives its number; a number in e is not
// looked at. Events are never changed or deleted: the table refuses it.
func (t *txn) AppendEvent(e engine.Event) (int64, error) {
	return one(&t.view, scanInt, absent("event", e.Type, "the record is damaged"),
		"INSERT INTO events ("+eventCols+") VALUES ("+marks(9)+") RETURNING seq",
		stamp(e.At), e.Type, e.RigID, e.SeatID, e.Rig, e.Seat, e.OpID, e.Operator, raw(e.Payload))
}

// where collects the conditions of a filtered list.
type where struct {
	conds []string
	args  []any
	max   int
}

func (w *where) and(cond string, args ...any) {
	w.conds = append(w.conds, cond)
	w.args = append(w.args, args...)
}

// equal adds a condition unless the filter leaves the field open.
func (w *where) equal(col, value string) {
	if value != "" {
		w.and(col+" = ?", value)
	}
}

func (w *where) limit(n, standard int) {
	w.max = n
	if n <= 0 {
		w.max = standard
	}
}

func (w *where) sql(order string) string {
	var b strings.Builder
	for i, c := range w.conds {
		b.WriteString([]string{" WHERE ", " AND "}[min(i, 1)] + c)
	}
	b.WriteString(" ORDER BY " + order + " LIMIT " + strconv.Itoa(w.max))
	return b.String()
}
