package store

import (
	"strings"

	"rig/engine"
)

const (
	// What identifies a seat never changes, so an update does not write it.
	seatIdentity = "id, rig_id, pod_id, pod, member, created_at, version"
	seatState    = "label, runtime, agent_ref, profile, role, model, effort, codex_profile, permission_policy, restore_policy, " +
		"cwd, env, readiness_timeout_ms, ordinal, generation, lifecycle, continuity, binding, context_delivered, previous, " +
		"handover_at, handover_by, forked_from, last_error, updated_at"
	seatCols = seatIdentity + ", " + seatState

	listSeats = "`rig ps --seats` lists the seats"
)

func seatArgs(s *engine.Seat) []any {
	return []any{
		s.Label, s.Runtime, s.AgentRef, s.Profile, s.Role, s.Model, s.Effort, s.CodexProfile, s.PermissionPolicy,
		s.RestorePolicy, s.Cwd, asJSON(&s.Env), s.ReadinessMS, s.Ordinal, s.Generation, s.Lifecycle, s.Continuity, s.Binding,
		s.ContextDelivered, s.Previous, stamp(s.HandoverAt), s.HandoverBy, s.ForkedFrom, s.LastError, stamp(s.UpdatedAt),
	}
}

func scanSeat(row row) (s engine.Seat, err error) {
	err = row.Scan(&s.ID, &s.RigID, &s.PodID, &s.Pod, &s.Member, (*stamp)(&s.CreatedAt), &s.Version,
		&s.Label, &s.Runtime, &s.AgentRef, &s.Profile, &s.Role, &s.Model, &s.Effort, &s.CodexProfile, &s.PermissionPolicy,
		&s.RestorePolicy, &s.Cwd, asJSON(&s.Env), &s.ReadinessMS, &s.Ordinal, &s.Generation, &s.Lifecycle, &s.Continuity,
		&s.Binding, &s.ContextDelivered, &s.Previous, (*stamp)(&s.HandoverAt), &s.HandoverBy, &s.ForkedFrom, &s.LastError,
		(*stamp)(&s.UpdatedAt))
	return s, err
}

// Seat reads a seat.
func (v *view) Seat(id string) (engine.Seat, error) {
	return one(v, scanSeat, absent("seat", id, listSeats), "SELECT "+seatCols+" FROM seats WHERE id = ?", id)
}

// Seats lists the seats of a rig in spec order.
func (v *view) Seats(rigID string) ([]engine.Seat, error) {
	return many(v, scanSeat, "SELECT "+prefixed("s", seatCols)+` FROM seats s JOIN pods p ON p.id = s.pod_id
		WHERE s.rig_id = ? ORDER BY p.ordinal, s.ordinal, s.member`, rigID)
}

// SeatsMatching finds the seats of active rigs that a reference means: by the
// logical id pod.member or, when it names a rig, by the address too.
func (v *view) SeatsMatching(ref engine.SeatRef) ([]engine.SeatName, error) {
	q := "SELECT s.id, r.name, s.pod, s.member, r.spec_path FROM rigs r JOIN seats s ON s.rig_id = r.id WHERE r.archived_at IS NULL"
	var args []any
	// A name holds no dot, so the first one ends the pod's.
	pod, member, logical := strings.Cut(ref.Member, ".")
	switch {
	case ref.Rig == "" && !logical:
		return nil, nil
	case ref.Rig == "":
		q += " AND s.pod = ? AND s.member = ?"
		args = []any{pod, member}
	case logical:
		q += " AND r.name = ? AND s.pod = ? AND s.member = ?"
		args = []any{ref.Rig, pod, member}
	default:
		q += " AND r.name = ? AND s.pod || '-' || s.member = ?"
		args = []any{ref.Rig, ref.Member}
	}
	scan := func(row row) (n engine.SeatName, err error) {
		return n, row.Scan(&n.ID, &n.Rig, &n.Pod, &n.Member, &n.SpecPath)
	}
	return many(v, scan, q+" ORDER BY r.name, r.id, s.id", args...)
}

// InsertSeat stores a new seat with the version that it carries. Its pod must be
// one of its rig, of the name that the seat gives it.
func (t *txn) InsertSeat(s engine.Seat) error {
	return t.insert("seats", seatCols, append(
		[]any{s.ID, s.RigID, s.PodID, s.Pod, s.Member, stamp(s.CreatedAt), s.Version}, seatArgs(&s)...))
}

// UpdateSeat writes everything but the seat's identity (id, rig, pod, member,
// creation time). It bumps s.Version, also when the transaction is undone later.
func (t *txn) UpdateSeat(s *engine.Seat) error {
	return t.update("seats", "seat", s.ID, &s.Version, seatState, seatArgs(s))
}

// DeleteSeat removes a seat with its edges, sessions, binding, samples and work.
// Its tenures and events stay.
func (t *txn) DeleteSeat(id string) error { return t.remove("seats", "seat", id) }

const bindingCols = "seat_id, socket, epoch, session_name, pane, pane_pid, updated_at, version"

func scanBinding(row row) (b engine.Binding, err error) {
	return b, row.Scan(&b.SeatID, &b.Socket, &b.Epoch, &b.SessionName, &b.Pane, &b.PanePID, (*stamp)(&b.UpdatedAt), &b.Version)
}

// Binding reads where a seat's occupant is.
func (v *view) Binding(seatID string) (engine.Binding, error) {
	return one(v, scanBinding, absent("binding", seatID, "the seat has no occupant in tmux"),
		"SELECT "+bindingCols+" FROM bindings WHERE seat_id = ?", seatID)
}

// PutBinding stores a seat's binding in place of the one it had. The version is
// counted by the record; the given one is not looked at.
func (t *txn) PutBinding(b engine.Binding) error {
	_, err := t.exec("INSERT INTO bindings ("+bindingCols+") VALUES ("+marks(7)+`, 1)
		ON CONFLICT (seat_id) DO UPDATE SET socket = excluded.socket, epoch = excluded.epoch, session_name = excluded.session_name,
			pane = excluded.pane, pane_pid = excluded.pane_pid, updated_at = excluded.updated_at, version = version + 1`,
		b.SeatID, b.Socket, b.Epoch, b.SessionName, b.Pane, b.PanePID, stamp(b.UpdatedAt))
	return err
}

// DeleteBinding removes a seat's binding; none is fine.
func (t *txn) DeleteBinding(seatID string) error {
	_, err := t.exec("DELETE FROM bindings WHERE seat_id = ?", seatID)
	return err
}

// StartupContext reads what a fresh launch of a seat replays.
func (v *view) StartupContext(seatID string) (engine.StartupContext, error) {
	scan := func(row row) (c engine.StartupContext, err error) {
		return c, row.Scan(&c.SeatID, &c.Runtime, (*raw)(&c.Files), (*raw)(&c.Actions), &c.Version)
	}
	return one(v, scan, absent("startup context", seatID, "the seat was never launched by rig"),
		"SELECT seat_id, runtime, files, actions, version FROM startup_context WHERE seat_id = ?", seatID)
}

// PutStartupContext stores a seat's startup context in place of the one it had.
// The version is counted by the record.
func (t *txn) PutStartupContext(c engine.StartupContext) error {
	_, err := t.exec(`INSERT INTO startup_context (seat_id, runtime, files, actions, version) VALUES (?, ?, ?, ?, 1)
		ON CONFLICT (seat_id) DO UPDATE SET runtime = excluded.runtime, files = excluded.files, actions = excluded.actions,
			version = version + 1`,
		c.SeatID, c.Runtime, raw(c.Files), raw(c.Actions))
	return err
}

// Verdict reads the newest identity verdict of a seat.
func (v *view) Verdict(seatID string) (engine.Verdict, error) {
	return one(v, scanVerdict, absent("verdict", seatID, "the seat's identity was not checked yet"),
		"SELECT "+verdictCols+" FROM seat_verdicts WHERE seat_id = ?", seatID)
}

const verdictCols = "seat_id, session_id, pane, verdict, reason, at"

func scanVerdict(row row) (x engine.Verdict, err error) {
	return x, row.Scan(&x.SeatID, &x.SessionID, &x.Pane, &x.Verdict, &x.Reason, (*stamp)(&x.At))
}

// PutVerdict stores a seat's identity verdict in place of the one it had.
func (t *txn) PutVerdict(x engine.Verdict) error {
	return t.put("seat_verdicts", "seat_id", verdictCols,
		[]any{x.SeatID, x.SessionID, x.Pane, x.Verdict, x.Reason, stamp(x.At)})
}
