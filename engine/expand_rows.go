package engine

import "context"

// commitExpandRows writes new seats into a rig: the pod when it is new, the
// seats, their edges and what a fresh launch of each replays. The operation takes
// the lease of every new seat in the same transaction.
func commitExpandRows(_ context.Context, r *run, s Step, tx Tx) (Evidence, error) {
	v, _ := r.plan.Input("addition")
	add, ok := v.(addition)
	if !ok {
		return nil, Errorf(CodeInternal, "the plan has no addition")
	}
	rig, err := tx.Rig(s.Args["rig_id"])
	if err != nil {
		return nil, err
	}
	there, err := tx.Seats(rig.ID)
	if err != nil {
		return nil, err
	}
	pod, err := r.podFor(tx, rig, add)
	if err != nil {
		return nil, err
	}
	ids := map[string]string{}
	ordinal := 0
	for _, seat := range there {
		ids[seat.Logical()] = seat.ID
		ordinal = max(ordinal, seat.Ordinal+1)
	}
	keys, names := []string{}, []string{}
	for _, m := range add.Pod.Members {
		seat, err := r.insertMember(tx, rig, pod, m, ordinal)
		if err != nil {
			return nil, err
		}
		ordinal++
		ids[seat.Logical()] = seat.ID
		keys, names = append(keys, "seat:"+seat.ID), append(names, seat.Logical())
	}
	for _, e := range add.Edges {
		if err := tx.InsertEdge(Edge{RigID: rig.ID, From: ids[e.From], To: ids[e.To], Kind: e.Kind}); err != nil {
			return nil, err
		}
	}
	if err := r.lease.add(tx, keys...); err != nil {
		return nil, err
	}
	return r.rigEvent(tx, "rig.expanded", rig, Evidence{"pod": pod.Name, "new_pod": add.PodID == "", "seats": names, "edges": len(add.Edges)})
}

// podFor gives the pod that the new seats join, made when it is new.
func (r *run) podFor(tx Tx, rig Rig, add addition) (Pod, error) {
	pods, err := tx.Pods(rig.ID)
	if err != nil {
		return Pod{}, err
	}
	next := 0
	for _, p := range pods {
		if p.Name == add.Pod.ID {
			return p, nil
		}
		next = max(next, p.Ordinal+1)
	}
	pod := podOf(r.e.d.IDs.New(), rig.ID, add.Pod, next)
	return pod, tx.InsertPod(pod)
}
