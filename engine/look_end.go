package engine

import "time"

// endings are the reported ends of clients whose panes are gone: what a lost seat knows of
// its age. The zero value is ready.
type endings struct {
	at    map[string]time.Time // by session
	asked map[string]time.Time // when a session's report said nothing of an end
}

// endEvery is how often a report that says nothing of an end is read again: a supervisor
// writes it a moment after its pane has gone, and one that was killed too never does.
const endEvery = 5 * time.Second

// readEnds reads the ends of the clients of lost seats; true when it found one.
func (o *observer) readEnds(now time.Time) bool {
	if o.e.d.Occupants == nil || !o.live {
		return false
	}
	found := false
	w := o.world(now)
	for _, b := range o.rec.Bindings {
		last, had := w.latest[b.SeatID]
		if !had || o.only != "" && o.only != b.SeatID || !o.ends.due(last.ID, now) || w.locate(b.SeatID).presence != Absent {
			continue
		}
		found = o.ends.note(last.ID, o.e.endOf(last.ID), now) || found
	}
	return found
}

// endOf is when the client of a session ended, as its supervisor reported; zero when
// nobody did.
func (e *Engine) endOf(sessionID string) time.Time {
	st, known, err := e.d.Occupants.RunState(sessionID)
	if err != nil || !known || !st.Exited {
		return time.Time{}
	}
	return st.ExitedAt
}

func (x *endings) due(sessionID string, now time.Time) bool {
	if _, known := x.at[sessionID]; known {
		return false
	}
	return !x.asked[sessionID].After(now.Add(-endEvery))
}

func (x *endings) note(sessionID string, end, now time.Time) bool {
	if x.at == nil {
		x.at, x.asked = map[string]time.Time{}, map[string]time.Time{}
	}
	if x.asked[sessionID] = now; end.IsZero() {
		return false
	}
	x.at[sessionID] = end
	return true
}
