package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Verbs that take seats out of a rig.
const (
	VerbRemove Verb = "remove"
	VerbShrink Verb = "shrink"
)

// Step kinds of taking seats out of a rig.
const (
	StepEndKept    StepKind = "end_kept_incumbent"
	StepSeatDelete StepKind = "commit_seat_removed"
	StepPodDelete  StepKind = "commit_pod_removed"
)

// ShrinkArgs are the arguments of `rig remove` and `rig shrink`.
type ShrinkArgs struct {
	Seat     string `json:"seat,omitempty"` // remove: one seat
	Pod      string `json:"pod,omitempty"`  // shrink: a pod with all its seats
	DropWork bool   `json:"drop_work,omitempty"`
}

// planRemove takes one seat out of a rig. Only a session that carries this
// seat's own tags is ended; an adopted one is released.
func planRemove(ctx context.Context, e *Engine, w *world, p *Plan) error {
	args, err := DecodeArgs[ShrinkArgs](p.Request)
	if err != nil {
		return err
	}
	rig, err := w.rig(p.Request.Target)
	if err != nil {
		return err
	}
	seats := w.seatsOf(rig.ID)
	picked, err := pickSeats(rig, seats, []string{args.Seat})
	if err != nil {
		return err
	}
	for _, s := range seats {
		if s.Logical() == picked[0] {
			e.startShrink(w, p, rig, []string{"rig", "remove", rig.Name, picked[0]}, args)
			p.Target = w.address(s)
			e.planSeatRemoval(ctx, w, p, rig, s, args.DropWork)
			e.blockEmptyRig(p, rig, len(seats)-1)
		}
	}
	return nil
}

// planShrink takes a pod with all its seats out of a rig. A seat that cannot be
// stopped stays, and the pod with it; the others go.
func planShrink(ctx context.Context, e *Engine, w *world, p *Plan) error {
	args, err := DecodeArgs[ShrinkArgs](p.Request)
	if err != nil {
		return err
	}
	rig, err := w.rig(p.Request.Target)
	if err != nil {
		return err
	}
	var pod Pod
	for _, x := range w.rec.Pods {
		if x.RigID == rig.ID && x.Name == args.Pod {
			pod = x
		}
	}
	if pod.ID == "" {
		return Errorf(CodePodNotFound, "rig %s has no pod %q", rig.Name, args.Pod).On("shrink", rig.Name).
			WithHint("its pods: %s", strings.Join(w.podNames(rig.ID), ", "))
	}
	e.startShrink(w, p, rig, []string{"rig", "shrink", rig.Name, pod.Name}, args)
	left := 0
	var units []string
	for _, s := range w.seatsOf(rig.ID) {
		if s.PodID != pod.ID {
			left++
			continue
		}
		e.planSeatRemoval(ctx, w, p, rig, s, args.DropWork)
		units = append(units, w.address(s))
	}
	e.blockEmptyRig(p, rig, left)
	p.Phases = append(p.Phases, Phase{ID: "pod", Unit: "pod", Needs: units, Title: "Close the pod", Steps: []Step{{
		ID: "pod/removed", Kind: StepPodDelete, Effect: EffectCommit, Args: map[string]string{"rig_id": rig.ID, "pod_id": pod.ID, "pod": pod.Name},
		Title: "forget the pod " + pod.Name + " (history stays)",
	}}})
	p.Changes = append(p.Changes, Change{Field: "pod " + pod.Name, Before: Counted(len(units), "seat"), After: "removed"})
	return nil
}

func (e *Engine) startShrink(w *world, p *Plan, rig Rig, words []string, args ShrinkArgs) {
	if args.DropWork {
		words = append(words, "--drop-work")
	}
	p.Target, p.Detached, p.Command = rig.Name, true, CommandLine(words...)
	p.Leases = []string{"rig:" + rig.ID}
	p.AddFact("rig/"+rig.Name, rig.ID)
	e.serverFact(w, p)
	p.Unchanged = append(p.Unchanged, "every other seat of "+rig.Name, "history, snapshots, and the conversations on disk")
}

func (e *Engine) blockEmptyRig(p *Plan, rig Rig, left int) {
	if left == 0 {
		p.Block(Errorf("last_seat", "nothing would be left of rig %s", rig.Name).
			WithHint("`rig down %s --delete` stops and forgets the whole rig", rig.Name))
	}
}

// planSeatRemoval adds the unit that empties a seat and takes it out of the rig.
func (e *Engine) planSeatRemoval(ctx context.Context, w *world, p *Plan, rig Rig, seat Seat, dropWork bool) {
	address := w.address(seat)
	at := w.locate(seat.ID)
	blockUnseen(p, address, at)
	p.Leases = append(p.Leases, "seat:"+seat.ID)
	p.SetInput("seatid/"+address, seat.ID)
	p.AddFact("seat/"+address+"/generation", itoa(seat.Generation))
	p.AddFact("seat/"+address+"/pane", at.presence.String()+" "+string(at.pane.ID)+deadWord(at.dead))
	e.blockWork(w, p, seat, address, dropWork)
	args := map[string]string{"seat_id": seat.ID, "generation": itoa(seat.Generation)}
	steps := keptSteps(w, seat, address, at)
	action := "remove"
	if _, bound := w.bindings[seat.ID]; bound || len(w.live[seat.ID]) > 0 {
		steps = append(steps, stopSteps(w, seat, address, at)...)
		e.warnEnding(ctx, w, p, seat, at)
		if at.presence == Present && w.latest[seat.ID].Origin == OriginClaimed {
			action = "release and remove"
		}
	}
	steps = append(steps, Step{
		ID: address + "/removed", Kind: StepSeatDelete, Seat: address, Effect: EffectCommit, Args: dropArgs(maps.Clone(args), dropWork),
		Title: "take " + address + " out of the rig, and the event",
	})
	p.Intents = append(p.Intents, Intent{address, action, at.why})
	p.Phases = append(p.Phases, Phase{ID: address, Unit: address, Title: "Remove " + address, Steps: steps})
	before := occupantWord(w, seat)
	if before == "" {
		before = "empty"
	}
	p.Changes = append(p.Changes, Change{Seat: address, Field: "seat", Before: before, After: "removed"})
	for _, e := range w.rec.Edges {
		if e.RigID == rig.ID && (e.From == seat.ID || e.To == seat.ID) {
			edge := Change{Field: "edge", Before: w.seats[e.From].Logical() + " " + string(e.Kind) + " " + w.seats[e.To].Logical(), After: "removed"}
			if !slices.Contains(p.Changes, edge) { // both ends may go
				p.Changes = append(p.Changes, edge)
			}
		}
	}
}

// dropArgs says in the arguments of a step that open work may go with its seat.
func dropArgs(args map[string]string, drop bool) map[string]string {
	if drop {
		args["drop_work"] = "yes"
	}
	return args
}

// blockWork keeps a seat whose inbound work would be lost with it.
func (e *Engine) blockWork(w *world, p *Plan, seat Seat, address string, drop bool) {
	for _, c := range w.rec.Work {
		if c.SeatID != seat.ID || c.Pending+c.Claimed+c.Blocked == 0 {
			continue
		}
		words := fmt.Sprintf("%d pending, %d claimed, %d blocked", c.Pending, c.Claimed, c.Blocked)
		p.AddFact("seat/"+address+"/work", words)
		if !drop {
			p.BlockSeat(address, Errorf(CodeWorkOpen, "it has inbound work: %s", words).
				WithHint("hand the work to another seat first (`rig work handoff`), or --drop-work loses it"))
			continue
		}
		p.Warnings = append(p.Warnings, address+" loses its inbound work: "+words)
	}
}
