package store

import (
	"time"

	"rig/engine"
)

const (
	sessionIdentity = "id, seat_id, generation, created_at, version"
	sessionState    = "name, runtime, status, origin, startup, startup_note, continuity, resume_token, resume_provenance, " +
		"last_verified, pid, pid_start, build, homes, settings, ended_at, exit_code, last_seen"
	sessionCols = sessionIdentity + ", " + sessionState

	tenureCols = "seat_id, generation, session_id, kind, continuity, source, reason, operator, started_at, ended_at"
)

// sessionArgs reveals the token: this is the one column that may hold it.
func sessionArgs(s *engine.Session) []any {
	return []any{
		s.Name, s.Runtime, s.Status, s.Origin, s.Startup, s.StartupNote, s.Continuity, s.Token.Reveal(), s.Provenance,
		stamp(s.LastVerified), s.PID, s.PIDStart, s.Build, asJSON(&s.Homes), s.Settings, stamp(s.EndedAt), s.ExitCode,
		stamp(s.LastSeen),
	}
}

func scanSession(row row) (s engine.Session, err error) {
	var token string
	err = row.Scan(&s.ID, &s.SeatID, &s.Generation, (*stamp)(&s.CreatedAt), &s.Version,
		&s.Name, &s.Runtime, &s.Status, &s.Origin, &s.Startup, &s.StartupNote, &s.Continuity, &token, &s.Provenance,
		(*stamp)(&s.LastVerified), &s.PID, &s.PIDStart, &s.Build, asJSON(&s.Homes), &s.Settings, (*stamp)(&s.EndedAt),
		&s.ExitCode, (*stamp)(&s.LastSeen))
	s.Token = engine.NewResumeToken(token)
	return s, err
}

// Session reads a registration.
func (v *view) Session(id string) (engine.Session, error) {
	return one(v, scanSession, absent("session", id, listSeats), "SELECT "+sessionCols+" FROM sessions WHERE id = ?", id)
}

// Sessions lists a seat's registrations, highest generation first.
func (v *view) Sessions(seatID string) ([]engine.Session, error) {
	return many(v, scanSession, "SELECT "+sessionCols+" FROM sessions WHERE seat_id = ? ORDER BY generation DESC", seatID)
}

// InsertSession stores a new registration. A seat has one of each generation.
func (t *txn) InsertSession(s engine.Session) error {
	return t.insert("sessions", sessionCols, append(
		[]any{s.ID, s.SeatID, s.Generation, stamp(s.CreatedAt), s.Version}, sessionArgs(&s)...))
}

// UpdateSession writes everything but id, seat, generation and creation time. It
// bumps s.Version, also when the transaction is undone later.
func (t *txn) UpdateSession(s *engine.Session) error {
	return t.update("sessions", "session", s.ID, &s.Version, sessionState, sessionArgs(s))
}

func scanTenure(row row) (x engine.Tenure, err error) {
	return x, row.Scan(&x.SeatID, &x.Generation, &x.SessionID, &x.Kind, &x.Continuity, &x.Source, &x.Reason, &x.Operator,
		(*stamp)(&x.StartedAt), (*stamp)(&x.EndedAt))
}

// Tenures lists who sat in a seat, highest generation first, also of a seat that
// was deleted.
func (v *view) Tenures(seatID string) ([]engine.Tenure, error) {
	return many(v, scanTenure, "SELECT "+tenureCols+" FROM tenures WHERE seat_id = ? ORDER BY generation DESC", seatID)
}

// InsertTenure adds an occupant's tenure. A seat has one of each generation.
func (t *txn) InsertTenure(x engine.Tenure) error {
	return t.insert("tenures", tenureCols, []any{
		x.SeatID, x.Generation, x.SessionID, x.Kind, x.Continuity, x.Source, x.Reason,
		x.Operator, stamp(x.StartedAt), stamp(x.EndedAt),
	})
}

// EndTenure says when a tenure ended; a missing one is CodeNotFound.
func (t *txn) EndTenure(seatID string, generation int64, at time.Time) error {
	return t.setTenureEnd(seatID, generation, stamp(at))
}

// ReopenTenure takes the end of a tenure back: its occupant sits there again.
func (t *txn) ReopenTenure(seatID string, generation int64) error {
	return t.setTenureEnd(seatID, generation, stamp{})
}

func (t *txn) setTenureEnd(seatID string, generation int64, at stamp) error {
	n, err := t.exec("UPDATE tenures SET ended_at = ? WHERE seat_id = ? AND generation = ?", at, seatID, generation)
	if err == nil && n == 0 {
		return absent("tenure", seatID, "the seat never had an occupant of that generation")()
	}
	return err
}
