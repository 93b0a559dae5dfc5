package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// VerbExpand adds members to a rig.
const VerbExpand Verb = "expand"

// StepExpandRows writes the rows of new seats.
const StepExpandRows StepKind = "commit_new_seats"

// ExpandArgs are the arguments of `rig expand`.
type ExpandArgs struct {
	Fragment string `json:"fragment"` // a file: a pod, or more members for a pod
}

// addition is what joins a rig: the members of one pod, which is new or there
// already.
type addition struct {
	Rig   Rig
	Pod   PodSpec
	PodID string // of the pod on record, "" = new
	Edges []EdgeSpec
}

// planExpand adds the members of a fragment to a rig and launches them, by the
// same path as `rig up`: what a fragment says of a session_source is honoured or
// refused, never dropped.
func planExpand(ctx context.Context, e *Engine, w *world, p *Plan) error {
	args, err := DecodeArgs[ExpandArgs](p.Request)
	if err != nil {
		return err
	}
	rig, err := w.rig(p.Request.Target)
	if err != nil {
		return err
	}
	if args.Fragment == "" {
		return Errorf(CodeInvalid, "a fragment is required").WithHint("name a YAML file that holds a pod with its new members")
	}
	pod, edges, err := e.d.Specs.LoadFragment(ctx, args.Fragment, w.specOf(rig))
	if err != nil {
		return err
	}
	p.Target, p.Detached, p.Command = rig.Name, true, CommandLine("rig", "expand", rig.Name, args.Fragment)
	p.AddFact("fragment/"+rig.Name+"/digest", fragmentDigest(pod, edges))
	add := addition{Rig: rig, Pod: pod, Edges: append(slices.Clone(pod.Edges), edges...)}
	graph, err := e.planRows(w, p, &add)
	if err != nil {
		return err
	}
	spec := RigSpec{Name: rig.Name, Pods: []PodSpec{pod}}
	for _, logical := range graph.Order {
		if m, ok := spec.Member(logical); ok {
			e.planMember(ctx, w, p, spec, logical, m, graph)
		}
	}
	return nil
}

// planRows adds the unit that records new seats, with every reason why they
// cannot join. It gives the launch order of the new seats among themselves.
func (e *Engine) planRows(w *world, p *Plan, add *addition) (LaunchGraph, error) {
	rig := add.Rig
	p.Leases = append(p.Leases, "rig:"+rig.ID)
	p.AddFact("rig/"+rig.Name, rig.ID)
	e.serverFact(w, p)
	word := "a new pod "
	for _, pod := range w.rec.Pods {
		if pod.RigID == rig.ID && pod.Name == add.Pod.ID {
			add.PodID, word = pod.ID, "pod "
		}
	}
	taken := map[string]string{}
	var ids []string
	for _, s := range w.seatsOf(rig.ID) {
		taken[w.address(s)] = s.Logical()
	}
	for _, m := range add.Pod.Members {
		logical, address := Logical(add.Pod.ID, m.ID), Address(add.Pod.ID, m.ID, rig.Name)
		ids = append(ids, logical)
		if other := taken[address]; other != "" {
			p.BlockSeat(address, Errorf("member_conflict", "%s would have the address of %s, which the rig has already", logical, other).
				WithHint("choose another id; `rig launch %s %s` starts a seat that is down", rig.Name, other))
		}
		taken[address] = logical
	}
	if len(ids) == 0 {
		p.Block(Errorf(CodeInvalid, "the fragment has no members").WithHint("list at least one under members"))
	}
	p.AddFact("rig/"+rig.Name+"/seats", strings.Join(logicals(w.seatsOf(rig.ID)), " "))
	graph, err := OrderMembers(append(logicals(w.seatsOf(rig.ID)), ids...), append(w.edgeSpecs(rig.ID), add.Edges...))
	if err != nil {
		return graph, err
	}
	graph = graph.only(ids)
	p.SetInput("addition", *add)
	needs := []string{}
	if len(p.Phases) > 0 {
		needs = append(needs, p.Phases[0].Unit)
	}
	p.Phases = append(p.Phases, Phase{
		ID: "rig", Unit: "rig", Needs: needs, Title: "Add to rig " + rig.Name + ", " + word + add.Pod.ID,
		Steps: []Step{{
			ID: "rig/rows", Kind: StepExpandRows, Effect: EffectCommit, Args: map[string]string{"rig_id": rig.ID},
			Title: "write " + Counted(len(ids), "seat") + " and " + Counted(len(add.Edges), "edge"),
		}},
	})
	p.Changes = append(p.Changes, Change{Field: "seats of " + rig.Name, Before: itoa(int64(len(w.seatsOf(rig.ID)))), After: itoa(int64(len(w.seatsOf(rig.ID)) + len(ids)))})
	p.Unchanged = append(p.Unchanged, "the seats that "+rig.Name+" has")
	return graph, nil
}

// only keeps a graph's order of some members.
func (g LaunchGraph) only(ids []string) LaunchGraph {
	out := LaunchGraph{After: map[string][]string{}}
	for _, id := range g.Order {
		if !slices.Contains(ids, id) {
			continue
		}
		out.Order = append(out.Order, id)
		for _, pre := range g.After[id] {
			if slices.Contains(ids, pre) {
				out.After[id] = append(out.After[id], pre)
			}
		}
	}
	return out
}

func unitsAfter(g LaunchGraph, logical, rig string) []string {
	after := []string{}
	for _, pre := range g.After[logical] {
		after = append(after, unitOf(pre, rig))
	}
	return after
}

// fragmentDigest stands for a fragment in a plan's basis. Parents of forks are
// in it as digests.
func fragmentDigest(pod PodSpec, edges []EdgeSpec) string {
	h := sha256.New()
	h.Write(mustJSON(pod))
	h.Write(mustJSON(edges))
	for _, m := range pod.Members {
		if src, ok := m.Source.(ForkSource); ok {
			h.Write([]byte(tokenDigest(src.Parent)))
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// podNames lists a rig's pods in the order of its spec.
func (w *world) podNames(rigID string) []string {
	var out []string
	for _, p := range w.rec.Pods {
		if p.RigID == rigID {
			out = append(out, p.Name)
		}
	}
	return out
}

// specOf is a rig on record as a fragment is judged against it: its pods,
// members and edges.
func (w *world) specOf(rig Rig) RigSpec {
	spec := RigSpec{Version: "0.2", Name: rig.Name, Root: rig.Root, Path: rig.SpecPath}
	for _, pod := range w.rec.Pods {
		if pod.RigID != rig.ID {
			continue
		}
		ps := PodSpec{ID: pod.Name, Label: pod.Label}
		for _, s := range w.seatsOf(rig.ID) {
			if s.PodID == pod.ID {
				ps.Members = append(ps.Members, MemberSpec{ID: s.Member, Runtime: s.Runtime, AgentRef: s.AgentRef, Profile: s.Profile, Cwd: s.Cwd})
			}
		}
		spec.Pods = append(spec.Pods, ps)
	}
	spec.Edges = w.edgeSpecs(rig.ID)
	return spec
}
