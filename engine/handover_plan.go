package engine

import "context"

// Step kinds of a handover.
const (
	StepPacket  StepKind = "write_packet"
	StepFreeze  StepKind = "freeze_incumbent"
	StepArrive  StepKind = "verify_arrival"
	StepSwap    StepKind = "swap_panes"
	StepPromote StepKind = "rename_staging"
	StepRebind  StepKind = "commit_handover"
	StepGo      StepKind = "send_go"
	StepRetire  StepKind = "retire_incumbent"
)

// phases lists the steps of a launched successor in the order they run: create,
// deliver, verify, then the swap and the commit, then the incumbent.
func (h *handover) phases(agent bool) []Phase {
	deliver := h.kind.delivers && agent
	claimed := h.last.Origin == OriginClaimed
	step := func(id string, kind StepKind, effect Effect, title string, args ...string) Step {
		s := Step{ID: id, Kind: kind, Seat: h.address, Effect: effect, Title: title, Args: map[string]string{"seat_id": h.seat.ID}}
		for i := 0; i+1 < len(args); i += 2 {
			s.Args[args[i]] = args[i+1]
		}
		return s
	}
	prepare := Phase{ID: "prepare", Title: "Phase A - prepare the successor; the incumbent keeps its pane"}
	if deliver {
		prepare.Steps = append(prepare.Steps, step("packet", StepPacket, EffectReversible, "gather what the successor is told: "+h.kind.carrier, "mode", h.src.Mode))
	}
	if h.at.presence == Present && !h.at.dead && !claimed {
		prepare.Steps = append(prepare.Steps, step("freeze", StepFreeze, EffectReversible, "stop the incumbent's processes, so that two never act in one directory"))
	}
	prepare.Steps = append(prepare.Steps,
		step("create", StepCreate, EffectReversible, "start the successor in a staging session", "session", "staging"),
		step("ready", StepReady, EffectNone, "wait until it is proven ready; a gate is offered to a person, then rolled back", "gate", "rollback"))
	if agent {
		prepare.Steps = append(prepare.Steps, step("identify", StepIdentify, EffectNone, "prove the successor's own native id", "must", "prove"))
	}
	if deliver {
		prepare.Steps = append(prepare.Steps, step("arrive", StepArrive, EffectNone, "prove that what it was told arrived in its own transcript"))
	}
	commit := Phase{ID: "commit", Title: "Phase B - commit: the successor takes the seat"}
	if claimed {
		commit.Steps = append(commit.Steps, step("promote", StepPromote, EffectReversible, "give the staging session the seat's name", "session", h.address))
	} else {
		commit.Steps = append(commit.Steps, step("swap", StepSwap, EffectReversible, "swap the panes; attached clients now see the successor", "generation", itoa(h.seat.Generation)))
	}
	commit.Steps = append(commit.Steps, step("rebind", StepRebind, EffectCommit, "record occupant, binding, outcomes and the event", "generation", itoa(h.seat.Generation), "mode", h.src.Mode))
	after := Phase{ID: "retire", Title: "Phase C - after the commit"}
	if deliver {
		after.Steps = append(after.Steps, step("go", StepGo, EffectOneWay, "tell the successor that the seat is its own"))
	}
	retire := "keep the incumbent, stopped, for the undo window; then end it"
	if claimed {
		retire = "release the operator's own session; it keeps running"
	}
	after.Steps = append(after.Steps, step("retire", StepRetire, EffectOneWay, retire, "generation", itoa(h.seat.Generation)))
	return []Phase{prepare, commit, after}
}

// planDiscovered plans a handover to an operator's own session: it is bound where
// it is, and nothing is typed.
func (h *handover) planDiscovered(ctx context.Context) error {
	d, err := h.e.discovered(ctx, h.src.Ref)
	if err != nil {
		h.p.BlockSeat(h.address, err)
		return nil
	}
	h.p.AddFact("discovered/"+d.ID, string(d.Epoch)+" "+string(d.Pane)+" "+d.Status)
	h.p.SetInput("discovered", d)
	h.blockDiscovered(ctx, d)
	warnUntold(h.p, h.seat, d)
	h.warnCost(ctx)
	args := map[string]string{"seat_id": h.seat.ID, "generation": itoa(h.seat.Generation), "pane": string(d.Pane), "discovered": d.ID, "mode": "discovered"}
	step := func(id string, kind StepKind, effect Effect, title string) Step {
		return Step{ID: id, Kind: kind, Seat: h.address, Effect: effect, Args: args, Title: title}
	}
	prepare := []Step{step("tag", StepAdoptTag, EffectReversible, "mark pane "+string(d.Pane)+" as the seat's next generation")}
	retire := "end the incumbent"
	switch {
	case h.last.Origin == OriginClaimed:
		retire = "release the incumbent, which is the operator's own"
	case h.at.presence == Present && !h.at.dead && h.e.d.Config.UndoWindow > 0:
		args[keepsArg] = "yes"
		prepare = append(prepare, step("freeze", StepFreeze, EffectReversible, "stop the incumbent's processes, so that two never act in one directory"))
		retire = "keep the incumbent, stopped, in a session of its own for the undo window; then end it"
	}
	h.p.Phases = []Phase{
		{ID: "prepare", Title: "Phase A - prepare the successor; the incumbent keeps its pane", Steps: prepare},
		{ID: "commit", Title: "Phase B - commit: the successor takes the seat", Steps: []Step{
			step("rebind", StepRebind, EffectCommit, "record occupant, binding, outcomes and the event"),
		}},
		{ID: "retire", Title: "Phase C - after the commit", Steps: []Step{step("retire", StepRetire, EffectOneWay, retire)}},
	}
	return nil
}

// keepsArg is the argument of the steps of a handover to a discovered session whose
// incumbent is kept for an undo.
const keepsArg = "keeps"

// blockDiscovered collects every reason why a discovered session cannot take the
// seat.
func (h *handover) blockDiscovered(ctx context.Context, d DiscoveredSession) {
	for _, err := range h.e.discoveredTrouble(ctx, h.w, h.seat, d) {
		h.p.BlockSeat(h.address, err)
	}
}
