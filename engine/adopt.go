package engine

import (
	"context"
	"maps"
)

// Step kinds of adoption.
const (
	StepAdoptTag StepKind = "tag_pane"
	StepAdopt    StepKind = "commit_adopt"
)

// AdoptArgs are the arguments of `rig adopt`.
type AdoptArgs struct {
	Discovered string `json:"discovered"` // id of a discovered session
}

// planAdopt binds an operator's own session to a seat that has no occupant. The
// session stays the operator's: it is later released, never killed.
func planAdopt(ctx context.Context, e *Engine, w *world, p *Plan) error {
	args, err := DecodeArgs[AdoptArgs](p.Request)
	if err != nil {
		return err
	}
	seat, err := w.seat(p.Request.Target)
	if err != nil {
		return err
	}
	d, err := e.discovered(ctx, args.Discovered)
	if err != nil {
		return err
	}
	address := w.address(seat)
	p.Target, p.Command = address, CommandLine("rig", "adopt", d.ID, address)
	p.Leases = []string{"seat:" + seat.ID}
	p.AddFact("seat/"+address+"/generation", itoa(seat.Generation))
	p.AddFact("discovered/"+d.ID, string(d.Epoch)+" "+string(d.Pane)+" "+d.Status)
	e.serverFact(w, p)
	e.blockAdopt(ctx, w, p, seat, d)
	warnUntold(p, seat, d)
	p.SetInput("seatid/"+address, seat.ID)
	p.SetInput("discovered", d)
	p.Phases = append(p.Phases, Phase{ID: "adopt", Title: "Adopt " + d.SessionName, Steps: []Step{
		{
			ID: "tag", Kind: StepAdoptTag, Seat: address, Effect: EffectReversible, Title: "mark pane " + string(d.Pane) + " as the seat's",
			Args: map[string]string{"pane": string(d.Pane), "seat_id": seat.ID},
		},
		{
			ID: "bind", Kind: StepAdopt, Seat: address, Effect: EffectCommit, Title: "record the occupant, its binding and the event",
			Args: map[string]string{"discovered": d.ID, "seat_id": seat.ID},
		},
	}})
	p.Changes = append(p.Changes, Change{Seat: address, Field: "occupant", Before: occupantWord(w, seat), After: d.SessionName + " (adopted)"})
	e.planNext(ctx, p, seat, address)
	p.Unchanged = append(p.Unchanged, "name, role, edges and inbound work of "+address, "the session itself: nothing is typed into it")
	return nil
}

func occupantWord(w *world, seat Seat) string {
	if _, ok := w.bindings[seat.ID]; !ok {
		return ""
	}
	return occupantName(w.address(seat), seat.Generation)
}

func (e *Engine) blockAdopt(ctx context.Context, w *world, p *Plan, seat Seat, d DiscoveredSession) {
	address := w.address(seat)
	if _, bound := w.bindings[seat.ID]; bound {
		p.BlockSeat(address, Errorf("already_bound", "the seat has an occupant").
			WithHint("`rig handover %s --source discovered:%s --reason …` replaces it; `rig release` or `rig seat stop` empties it", address, d.ID))
	}
	if d.Status != "active" {
		p.Block(Errorf("discovered_not_active", "the discovered session is %s", d.Status).WithHint("`rig discover --rescan`"))
	}
	if d.RuntimeHint != "" && d.RuntimeHint != seat.Runtime {
		p.BlockSeat(address, Errorf(CodeRuntimeMismatch, "the session looks like %s, the seat is %s", d.RuntimeHint, seat.Runtime).
			WithHint("adopt it into a seat of its own runtime"))
	}
	pane, ok := w.inv.Pane(d.Pane)
	switch {
	case w.inv.Server == Unknown:
	case !ok || d.Epoch != w.inv.Epoch || pane.PID != d.PID:
		p.Block(Errorf("successor_tmux_absent", "the session is not there any more").WithHint("`rig discover --rescan`"))
	case pane.Seat != "":
		p.Block(Errorf("successor_already_managed", "its pane belongs to a seat already").WithHint("`rig ps --seats` shows whose"))
	case pane.Dead:
		p.Block(Errorf(CodePaneDead, "its process has ended").WithHint("adopt a session that runs"))
	default:
		for _, err := range e.unfit(ctx, w, seat, pane) {
			p.Block(err)
		}
	}
}

func adopted(r *run) (DiscoveredSession, error) {
	v, _ := r.plan.Input("discovered")
	d, ok := v.(DiscoveredSession)
	if !ok {
		return d, Errorf(CodeInternal, "the plan has no discovered session")
	}
	return d, nil
}

func doAdoptTag(ctx context.Context, r *run, s Step) (Evidence, error) {
	d, err := adopted(r)
	if err != nil {
		return nil, err
	}
	seat, err := r.seatRow(ctx, s)
	if err != nil {
		return nil, err
	}
	next, err := r.e.nextGeneration(ctx, seat.ID)
	if err != nil {
		return nil, err
	}
	g := Guard{Pane: d.Pane, Epoch: d.Epoch, PID: d.PID}
	ev := Evidence{"pane": string(d.Pane), "pid": d.PID, "epoch": string(d.Epoch), "generation": next}
	if err := r.e.d.Mux.Adopt(ctx, g, seat.ID, genTag(next), r.plan.ID); err != nil {
		return ev, err
	}
	maps.Copy(ev, r.capture(ctx, s, seat, d.Pane))
	return ev, nil
}

func undoAdoptTag(ctx context.Context, r *run, s Step) error {
	id, _ := r.seatID(s)
	inv := r.e.d.Mux.Inventory(ctx)
	pane, ok := inv.Pane(PaneID(s.Args["pane"]))
	if !ok && len(inv.Faults) > 0 {
		return Errorf(CodeTmuxProbeFailed, "what tmux said of some panes cannot be read: %s", inv.Faults[0]).WithHint("`rig doctor` says what is wrong with tmux")
	}
	if !ok || pane.Op != r.plan.ID || pane.Seat != id {
		return inv.Err
	}
	return r.e.d.Mux.Tag(ctx, Guard{Pane: pane.ID, Epoch: inv.Epoch, Seat: id, Gen: pane.Gen, Op: r.plan.ID, DeadOK: true}, "", "", "")
}

func probeAdoptTag(ctx context.Context, r *run, s Step) (StepState, error) {
	inv := r.e.d.Mux.Inventory(ctx)
	if inv.Server == Unknown {
		return StepUnknown, inv.Err
	}
	if pane, ok := inv.Pane(PaneID(s.Args["pane"])); ok && pane.Op == r.plan.ID {
		return StepDone, nil
	}
	return StepPending, nil
}

// commitAdopt binds the session. Nothing is claimed about continuity; the native
// id is what the client proved when its pane was marked, if it did.
func commitAdopt(_ context.Context, r *run, s Step, tx Tx) (Evidence, error) {
	d, err := adopted(r)
	if err != nil {
		return nil, err
	}
	seat, err := tx.Seat(s.Args["seat_id"])
	if err != nil {
		return nil, err
	}
	if err := supersede(tx, seat.ID, r.e.d.Clock); err != nil {
		return nil, err
	}
	now := r.e.d.Clock.Now()
	l := &launched{at: now, socket: r.e.d.Mux.Socket(), ref: PaneRef{Epoch: d.Epoch, Pane: d.Pane, PID: d.PID}}
	l.session = Session{
		ID: r.e.d.IDs.New(), SeatID: seat.ID, Generation: int64(r.saw("tag").Int("generation")), Name: d.SessionName, Runtime: seat.Runtime,
		Status: SessionRunning, Origin: OriginClaimed, Startup: StartupReady, CreatedAt: now,
	}
	r.withCaptured(s, &l.session)
	if err := r.writeOccupant(tx, seatStart{Kind: "adopt", Source: "discovered session " + d.SessionName}, l); err != nil {
		return nil, err
	}
	seat.Generation, seat.Lifecycle, seat.Continuity = l.session.Generation, LifecycleActive, ContinuityNone
	seat.Binding, seat.LastError, seat.ForkedFrom, seat.ContextDelivered = BindingNone, "", "", false
	if err := tx.UpdateSeat(&seat); err != nil {
		return nil, err
	}
	d.Status, d.ClaimedBy = discoveredClaimed, seat.ID
	if err := tx.PutDiscovered(d); err != nil {
		return nil, err
	}
	ev := Evidence{"pane": string(d.Pane), "session": d.SessionName, "generation": seat.Generation, "discovered": d.ID, "token": l.session.Token.String()}
	r.settle(SeatReceipt{Seat: s.Seat, Action: "adopted", Generation: seat.Generation, Evidence: ev})
	return ev, r.event(tx, "seat.adopted", seat, s.Seat, ev)
}

// discoveredClaimed is the status of a session that a seat has taken.
const discoveredClaimed = "claimed"

// planRelease gives an adopted session back to its operator: it keeps running,
// the seat is empty.
func planRelease(_ context.Context, _ *Engine, w *world, p *Plan) error {
	seat, err := w.seat(p.Request.Target)
	if err != nil {
		return err
	}
	address := w.address(seat)
	p.Target, p.Command = address, CommandLine("rig", "release", address)
	p.Leases = []string{"seat:" + seat.ID}
	at := w.locate(seat.ID)
	p.AddFact("seat/"+address+"/generation", itoa(seat.Generation))
	p.AddFact("seat/"+address+"/pane", at.presence.String()+" "+string(at.pane.ID))
	latest, had := w.latest[seat.ID]
	switch _, bound := w.bindings[seat.ID]; {
	case !had || !bound:
		p.BlockSeat(address, Errorf(CodeNoSession, "the seat has no occupant").WithHint("there is nothing to release"))
	case latest.Origin != OriginClaimed:
		p.BlockSeat(address, Errorf("contains_launched_nodes", "this occupant was launched by us").
			WithHint("`rig seat stop %s --reason …` ends it; only adopted sessions are released", address))
	case at.presence == Unknown:
		p.BlockSeat(address, Errorf(CodeTmuxProbeFailed, "%s", at.why).WithHint("`rig doctor` says what is wrong with tmux"))
	}
	p.SetInput("seatid/"+address, seat.ID)
	p.Phases = append(p.Phases, Phase{ID: "release", Title: "Release " + address, Steps: stopSteps(w, seat, address, at)})
	p.Changes = append(p.Changes, Change{Seat: address, Field: "occupant", Before: occupantWord(w, seat), After: ""})
	p.Unchanged = append(p.Unchanged, "the session "+latest.Name+": it keeps running", "name, role, edges and inbound work of "+address)
	return nil
}
