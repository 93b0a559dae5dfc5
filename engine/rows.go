package engine

import (
	"context"
	"encoding/json"
	"strings"
)

// commitRigRows writes a new rig: its row, pods, seats, edges and what a fresh
// launch of each seat replays. The operation takes the lease of every new seat
// in the same transaction.
func commitRigRows(_ context.Context, r *run, _ Step, tx Tx) (Evidence, error) {
	v, _ := r.plan.Input("spec")
	spec, ok := v.(RigSpec)
	if !ok {
		return nil, Errorf(CodeInternal, "the plan has no spec")
	}
	now, ids := r.e.d.Clock.Now(), r.e.d.IDs
	rig := Rig{
		ID: ids.New(), Name: spec.Name, Summary: spec.Summary, SpecPath: spec.Path, SpecDigest: spec.Digest,
		Root: spec.Root, Policies: string(mustJSON(spec.Policies)), CreatedAt: now, UpdatedAt: now, Version: 1,
	}
	if err := tx.InsertRig(rig); err != nil {
		return nil, err
	}
	seats, err := r.insertMembers(tx, rig, spec.Pods, 0)
	if err != nil {
		return nil, err
	}
	for _, e := range spec.AllEdges() {
		if err := tx.InsertEdge(Edge{RigID: rig.ID, From: seats[e.From], To: seats[e.To], Kind: e.Kind}); err != nil {
			return nil, err
		}
	}
	keys := []string{"rig:" + rig.ID}
	for _, id := range seats {
		keys = append(keys, "seat:"+id)
	}
	if err := r.lease.add(tx, keys...); err != nil {
		return nil, err
	}
	ev := Evidence{"rig_id": rig.ID, "seats": len(seats), "edges": len(spec.AllEdges()), "spec": spec.Path}
	seq, err := tx.AppendEvent(Event{
		At: now, Type: "rig.created", RigID: rig.ID, Rig: rig.Name, OpID: r.plan.ID,
		Operator: r.plan.Operator.String(), Payload: mustJSON(ev),
	})
	if err != nil {
		return ev, err
	}
	r.mu.Lock()
	r.eventSeq = max(r.eventSeq, seq)
	r.mu.Unlock()
	op, err := tx.Operation(r.plan.ID)
	if err != nil {
		return ev, err
	}
	op.RigID = rig.ID
	return ev, tx.UpdateOperation(&op)
}

// insertMembers writes pods and seats and gives the seat ids by logical id.
func (r *run) insertMembers(tx Tx, rig Rig, pods []PodSpec, ordinal int) (map[string]string, error) {
	ids := r.e.d.IDs
	seats := map[string]string{}
	for i, ps := range pods {
		pod := podOf(ids.New(), rig.ID, ps, i)
		if err := tx.InsertPod(pod); err != nil {
			return nil, err
		}
		for _, m := range ps.Members {
			seat, err := r.insertMember(tx, rig, pod, m, ordinal)
			if err != nil {
				return nil, err
			}
			ordinal++
			seats[seat.Logical()] = seat.ID
		}
	}
	return seats, nil
}

func podOf(id, rigID string, ps PodSpec, ordinal int) Pod {
	pod := Pod{ID: id, RigID: rigID, Name: ps.ID, Label: ps.Label, Summary: ps.Summary, Ordinal: ordinal}
	if ps.Continuity != nil {
		pod.Continuity = string(mustJSON(ps.Continuity))
	}
	return pod
}

// insertMember writes one seat with what a fresh launch of it replays and what
// was declared as the source of its first conversation.
func (r *run) insertMember(tx Tx, rig Rig, pod Pod, m MemberSpec, ordinal int) (Seat, error) {
	now := r.e.d.Clock.Now()
	seat := seatOfMember(pod.Name, m)
	seat.ID, seat.RigID, seat.PodID, seat.Ordinal = r.e.d.IDs.New(), rig.ID, pod.ID, ordinal
	seat.CreatedAt, seat.UpdatedAt, seat.Version = now, now, 1
	address := Address(pod.Name, m.ID, rig.Name)
	if err := tx.InsertSeat(seat); err != nil {
		return seat, err
	}
	if err := tx.PutStartupContext(startupOf(seat, m)); err != nil {
		return seat, err
	}
	r.memory.Store("seatid/"+address, seat.ID)
	return seat, r.putDeclared(tx, seat.ID, address)
}

func startupOf(seat Seat, m MemberSpec) StartupContext {
	files, actions := m.Launch.Files, m.Launch.Actions
	if files == nil {
		files = []StartupFile{}
	}
	if actions == nil {
		actions = []StartupAction{}
	}
	return StartupContext{SeatID: seat.ID, Runtime: seat.Runtime, Files: mustJSON(files), Actions: mustJSON(actions), Version: 1}
}

// memberOf rebuilds what a launch of a stored seat replays.
func memberOf(seat Seat, c StartupContext) (MemberSpec, error) {
	m := MemberSpec{ID: seat.Member, Runtime: seat.Runtime}
	if err := json.Unmarshal(c.Files, &m.Launch.Files); err != nil {
		return m, malformedStartup(seat, err)
	}
	if err := json.Unmarshal(c.Actions, &m.Launch.Actions); err != nil {
		return m, malformedStartup(seat, err)
	}
	if c.Runtime != seat.Runtime {
		return m, Errorf("startup_context_runtime_mismatch", "the startup of %s was made for %s", seat.Logical(), c.Runtime).
			WithHint("bring the rig up from its spec again")
	}
	return m, nil
}

func malformedStartup(seat Seat, err error) error {
	return Errorf(CodeStartupBroken, "the stored startup of %s cannot be read", seat.Logical()).Wrap(err).
		WithHint("bring the rig up from its spec again")
}

// commitRigStopped marks a rig as stopped, once nothing of it runs.
func commitRigStopped(_ context.Context, r *run, s Step, tx Tx) (Evidence, error) {
	rig, err := tx.Rig(s.Args["rig_id"])
	if err != nil {
		return nil, err
	}
	rig.StoppedAt = r.e.d.Clock.Now()
	if err := tx.UpdateRig(&rig); err != nil {
		return nil, err
	}
	return r.rigEvent(tx, "rig.stopped", rig, Evidence{"snapshot": r.saw("rig/snapshot").Str("snapshot_id")})
}

// commitRigDeleted forgets a rig: its rows go, its history stays.
func commitRigDeleted(_ context.Context, r *run, s Step, tx Tx) (Evidence, error) {
	rig, err := tx.Rig(s.Args["rig_id"])
	if err != nil {
		return nil, err
	}
	names := []string{}
	seats, err := tx.Seats(rig.ID)
	if err != nil {
		return nil, err
	}
	for _, seat := range seats {
		if _, bound, err := lookup(tx.Binding(seat.ID)); err != nil {
			return nil, err
		} else if bound {
			return nil, Errorf(CodeConflict, "%s still has an occupant", Address(seat.Pod, seat.Member, rig.Name)).
				WithHint("`rig down %s` again, then delete", rig.Name)
		}
		if err := keepWork(tx, s, seat, Address(seat.Pod, seat.Member, rig.Name)); err != nil {
			return nil, err
		}
		if err := forgetNotes(tx, seat.ID); err != nil {
			return nil, err
		}
		names = append(names, seat.Logical())
	}
	if err := tx.DeleteRig(rig.ID); err != nil {
		return nil, err
	}
	r.addExtra("note", "the rig is forgotten; its history and its snapshots stay")
	return r.rigEvent(tx, "rig.deleted", rig, Evidence{"seats": strings.Join(names, " ")})
}

func (r *run) rigEvent(tx Tx, kind string, rig Rig, ev Evidence) (Evidence, error) {
	seq, err := tx.AppendEvent(Event{
		At: r.e.d.Clock.Now(), Type: kind, RigID: rig.ID, Rig: rig.Name, OpID: r.plan.ID,
		Operator: r.plan.Operator.String(), Payload: mustJSON(ev),
	})
	r.mu.Lock()
	r.eventSeq = max(r.eventSeq, seq)
	r.mu.Unlock()
	return ev, err
}
