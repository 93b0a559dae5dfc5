package engine

import (
	"context"
)

// DownArgs are the arguments of `rig down`.
type DownArgs struct {
	Snapshot bool `json:"snapshot,omitempty"` // states the intent; one is attempted anyway while something runs
	Delete   bool `json:"delete,omitempty"`   // forget the rig when everything has stopped
	Force    bool `json:"force,omitempty"`    // accepted; a stop is immediate anyway
	// DropWork forgets a rig whose seats have open inbound work, which goes with it.
	DropWork bool `json:"drop_work,omitempty"`
}

// planDown stops every seat of a rig. A snapshot is attempted first while
// something runs; its failure is reported and stops nothing. Adopted sessions are
// released, never ended.
func planDown(ctx context.Context, e *Engine, w *world, p *Plan) error {
	args, err := DecodeArgs[DownArgs](p.Request)
	if err != nil {
		return err
	}
	rig, err := w.rig(p.Request.Target)
	if err != nil {
		return err
	}
	words := []string{"rig", "down", rig.Name}
	if args.Snapshot {
		words = append(words, "--snapshot")
	}
	if args.Delete {
		words = append(words, "--delete")
	}
	if args.DropWork {
		words = append(words, "--drop-work")
	}
	p.Target, p.Detached, p.Command = rig.Name, true, CommandLine(words...)
	p.Leases = []string{"rig:" + rig.ID}
	p.AddFact("rig/"+rig.Name, rig.ID)
	e.serverFact(w, p)
	running, units := e.planStops(ctx, w, p, rig)
	if running > 0 {
		p.Phases = append([]Phase{{
			ID: "snapshot", Unit: "snapshot", Title: "Keep what is there",
			Steps: []Step{{
				ID: "rig/snapshot", Kind: StepSnapshot, Effect: EffectNone, Args: map[string]string{"rig_id": rig.ID, "kind": SnapshotPreDown},
				Title: "save a snapshot (a failure is reported and does not stop the teardown)",
			}},
		}}, p.Phases...)
	} else if len(units) == 0 {
		p.Warnings = append(p.Warnings, "already stopped: no snapshot is taken")
	}
	last := Step{
		ID: "rig/stopped", Kind: StepRigStopped, Effect: EffectCommit, Args: map[string]string{"rig_id": rig.ID},
		Title: "record that the rig is stopped, and the event",
	}
	if args.Delete {
		last = Step{
			ID: "rig/deleted", Kind: StepRigDeleted, Effect: EffectCommit, Args: dropArgs(map[string]string{"rig_id": rig.ID}, args.DropWork),
			Title: "forget the rig (history and snapshots stay)",
		}
	}
	p.Phases = append(p.Phases, Phase{ID: "rig", Unit: "rig", Title: "Close the rig", Needs: units, Steps: []Step{last}})
	p.Changes = append(p.Changes, Change{Field: "rig " + rig.Name, Before: w.runningWords(rig), After: downWord(args.Delete)})
	if !args.Delete {
		p.Unchanged = append(p.Unchanged, "history, snapshots and inbound work")
		return nil
	}
	p.Unchanged = append(p.Unchanged, "history, snapshots, and the conversations on disk")
	for _, seat := range w.seatsOf(rig.ID) {
		e.blockWork(w, p, seat, w.address(seat), args.DropWork)
	}
	return nil
}

// runningWords says how many seats of a rig run, as far as that can be told.
func (w *world) runningWords(rig Rig) string {
	runs, unseen := 0, 0
	for _, seat := range w.seatsOf(rig.ID) {
		switch at := w.locate(seat.ID); {
		case at.presence == Unknown:
			unseen++
		case at.presence == Present && !at.dead:
			runs++
		}
	}
	if unseen > 0 {
		return Untold(runs, unseen) + " seats running"
	}
	return Counted(runs, "seat") + " running"
}

func downWord(deleted bool) string {
	if deleted {
		return "forgotten"
	}
	return "stopped"
}

// planStops adds one unit per seat that has something to stop or to clear.
func (e *Engine) planStops(ctx context.Context, w *world, p *Plan, rig Rig) (running int, units []string) {
	for _, seat := range w.seatsOf(rig.ID) {
		address := Address(seat.Pod, seat.Member, rig.Name)
		p.Leases = append(p.Leases, "seat:"+seat.ID)
		at := w.locate(seat.ID)
		blockUnseen(p, address, at)
		p.AddFact("seat/"+address+"/generation", itoa(seat.Generation))
		p.AddFact("seat/"+address+"/pane", at.presence.String()+" "+string(at.pane.ID)+deadWord(at.dead))
		_, bound := w.bindings[seat.ID]
		kept := keptSteps(w, seat, address, at)
		if !bound && len(w.live[seat.ID]) == 0 {
			p.Intents = append(p.Intents, Intent{address, "already_stopped", at.why})
			if len(kept) == 0 {
				continue
			}
		}
		steps := kept
		if bound || len(w.live[seat.ID]) > 0 {
			steps = append(steps, stopSteps(w, seat, address, at)...)
		}
		action := "clear"
		if at.presence == Present {
			running++
			action = "stop"
			e.warnEnding(ctx, w, p, seat, at)
			if w.latest[seat.ID].Origin == OriginClaimed {
				action = "release"
			}
		}
		if len(steps) > len(kept) {
			p.Intents = append(p.Intents, Intent{address, action, at.why})
		}
		p.SetInput("seatid/"+address, seat.ID)
		units = append(units, address)
		p.Phases = append(p.Phases, Phase{
			ID: address, Unit: address, After: []string{"snapshot"}, Title: "Stop " + address,
			Steps: steps,
		})
	}
	return running, units
}
