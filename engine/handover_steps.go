package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// handoffKey is where a run keeps what the successor is told.
const handoffKey = "handoff"

func (r *run) handoff() (Handoff, bool) {
	v, _ := r.memory.Load(handoffKey)
	h, ok := v.(Handoff)
	return h, ok
}

// doPacket gathers what the successor is told, and leaves it for the launch.
func doPacket(ctx context.Context, r *run, s Step) (Evidence, error) {
	if r.e.d.Contexts == nil {
		return nil, Errorf(CodeNotSupported, "this build cannot make packets").WithHint("use --source fork or discovered")
	}
	in, err := r.packetInput(ctx, s)
	if err != nil {
		return nil, err
	}
	var h Handoff
	ev := Evidence{}
	if s.Args["mode"] == "rebuild" {
		v, _ := r.plan.Input("chain")
		chain, _ := v.(Chain)
		h = r.e.d.Contexts.Priming(in, chain)
		ev["artifacts"], ev["empty_reason"] = chain.Artifacts, chain.Empty
	} else if h, err = r.e.d.Contexts.WritePacket(ctx, in); err != nil {
		return nil, err
	}
	r.memory.Store(handoffKey, h)
	ev["dir"], ev["digest"], ev["gaps"], ev["sources"], ev["bytes"] = h.Dir, h.Digest, h.Gaps, h.Sources, len(h.Prompt)
	ev[carriesKey] = carried(h)
	return ev, nil
}

func (r *run) packetInput(ctx context.Context, s Step) (PacketInput, error) {
	seat, err := r.seatRow(ctx, s)
	if err != nil {
		return PacketInput{}, err
	}
	v, _ := r.plan.Input(worldKey)
	w, ok := v.(*world)
	if !ok {
		if w, err = r.e.look(ctx); err != nil {
			return PacketInput{}, err
		}
	}
	session := w.latest[seat.ID]
	r.e.awaitWritten(ctx, seat, session)
	in, err := r.e.gather(ctx, w, seat, session)
	in.OpID, in.Reason, in.Operator = r.plan.ID, r.plan.Reason, r.plan.Operator.String()
	if queued, _ := r.plan.Input(queuedKey); queued == true {
		in.Gaps = append(in.Gaps, "a message stood queued with your predecessor's client, which had not taken it; what it said is not known here")
	}
	if at := w.locate(seat.ID); at.presence == Present {
		screen, shown := w.shot(at.pane.ID)
		if !shown {
			screen = r.e.screen(ctx, at.pane.ID)
		}
		in.Screen = screen.Lines
	}
	return in, err
}

// undoPacket removes the packet again.
func undoPacket(_ context.Context, r *run, s Step) error {
	h, ok := r.handoff()
	if !ok {
		h = Handoff{Dir: r.saw(s.ID).Str("dir")}
	}
	if h.Dir == "" || r.e.d.Contexts == nil {
		return nil
	}
	return r.e.d.Contexts.Remove(h)
}

// doFreeze stops the incumbent's processes. Those that cannot be stopped are
// named in the evidence and in the receipt.
func doFreeze(ctx context.Context, r *run, s Step) (Evidence, error) {
	if seat, last, err := r.sitting(ctx, s); err == nil {
		r.e.awaitWritten(ctx, seat, last)
	}
	root, session, err := r.incumbentClient(ctx, s)
	if err != nil {
		return nil, err
	}
	ev, whose := Evidence{"session_id": session, "root": root}, "incumbent"
	if r.plan.Verb == VerbUndo {
		whose = "successor"
	}
	if root == 0 {
		r.warn("the " + whose + "'s client has ended or is not known by pid, so it was not stopped")
		ev["why"] = "its client process is not known"
		return ev, nil
	}
	stopped, refused, err := r.e.d.Procs.Stop(ctx, root)
	ev["stopped"], ev["refused"] = stopped, refused
	if len(refused) > 0 {
		r.warn(fmt.Sprintf("these processes of the %s could not be stopped: %v", whose, refused))
	}
	return ev, err
}

// incumbentClient gives the pid of the seat's present client, 0 when it is gone or was
// never reported, and its session.
func (r *run) incumbentClient(ctx context.Context, s Step) (int, string, error) {
	_, last, err := r.sitting(ctx, s)
	if err != nil {
		return 0, "", err
	}
	pid, err := r.e.clientOf(last.ID)
	return pid, last.ID, err
}

// undoFreeze lets the incumbent go on: what stands still below its client, and what
// the journal says was stopped. Where the client is gone and another process had
// stopped them, those numbers may be anybody's by now, and are left alone.
func undoFreeze(ctx context.Context, r *run, s Step) error {
	root, _, err := r.incumbentClient(ctx, s)
	if err == nil && root != 0 {
		err = r.e.d.Procs.ContinueTree(ctx, root)
	}
	if err != nil || root == 0 && r.takenUp {
		return err
	}
	return r.e.d.Procs.Continue(ctx, intList(r.saw(s.ID)["stopped"]))
}

func intList(v any) []int {
	switch l := v.(type) {
	case []int:
		return l
	case []any:
		var out []int
		for _, x := range l {
			if f, ok := x.(float64); ok {
				out = append(out, int(f))
			}
		}
		return out
	}
	return nil
}

// doArrive waits until the successor's own record shows what it was told.
func doArrive(ctx context.Context, r *run, s Step) (Evidence, error) {
	seat, rt, l, err := r.occupant(ctx, s)
	if err != nil {
		return nil, err
	}
	h, _ := r.handoff()
	prover, ok := rt.(arrivalProver)
	if !ok {
		return nil, Errorf(CodeNotDelivered, "this runtime cannot prove an arrival").On("handover", s.Seat).WithHint("use --source fork or discovered")
	}
	a, err := r.awaitArrival(ctx, s, seat, l, prover, h.Marker)
	switch {
	case err != nil:
		return nil, err
	case !a.seen:
		return nil, Errorf(CodeNotDelivered, "what it was told was not seen in its transcript: %s", orNone(a.why)).On("handover", s.Seat).
			WithHint("the incumbent is untouched; try again, or use --source fork")
	}
	return Evidence{"delivered": true, "source": a.why, "digest": h.Digest}, nil
}

// arrival is what the wait for an opening prompt saw.
type arrival struct {
	seen   bool
	why    string   // where it stands, or why it is not seen
	screen []string // what the pane showed last
}

// awaitArrival looks for the marker of an opening prompt in the occupant's own
// transcript until the time for a start is up.
func (r *run) awaitArrival(ctx context.Context, s Step, seat Seat, l *launched, prover arrivalProver, marker string) (arrival, error) {
	wait, cancel := context.WithTimeout(ctx, r.e.d.Config.ReadyTimeout)
	defer cancel()
	defer r.sight().forget(l.ref.Pane)
	l.glance.now = true
	var a arrival
	for {
		p, err := r.probeOf(wait, s, seat, l)
		if err != nil {
			if wait.Err() != nil && ctx.Err() == nil {
				return a, nil
			}
			return a, err
		}
		a.screen = p.Screen.Lines
		if a.seen, a.why = prover.Arrived(wait, p, marker); a.seen {
			return a, nil
		}
	}
}

// swapGuards names both panes of a handover for tmux's own check. Neither has to live: to
// take a swap back is to put the panes where they were.
func (r *run) swapGuards(ctx context.Context, s Step) (incumbent, successor Guard, inv Inventory, err error) {
	b, inv, _, err := r.boundPane(ctx, s.Args["seat_id"])
	if err == nil && inv.Server == Unknown {
		err = Errorf(CodeTmuxProbeFailed, "tmux did not answer").Wrap(inv.Err).WithHint("`rig doctor`")
	}
	if err != nil {
		return incumbent, successor, inv, err
	}
	incumbent = Guard{Pane: b.Pane, Epoch: b.Epoch, Seat: b.SeatID, Gen: s.Args["generation"], DeadOK: true}
	for _, p := range inv.Panes {
		if p.Op == r.plan.ID && p.Seat == b.SeatID && p.Gen != s.Args["generation"] {
			successor = Guard{Pane: p.ID, Epoch: inv.Epoch, Seat: p.Seat, Gen: p.Gen, Op: r.plan.ID, PID: p.PID, DeadOK: true}
		}
	}
	if successor.Pane == "" {
		err = Errorf(CodeRuntime, "the successor's pane is gone").On("handover", s.Seat).WithHint("the incumbent is untouched; try again")
	}
	return incumbent, successor, inv, err
}

// bothGuards is swapGuards for the process that created the successor: it knows
// both panes, and tmux checks them.
func (r *run) bothGuards(ctx context.Context, s Step) (incumbent, successor Guard, err error) {
	l, err := r.launch(s)
	if err != nil {
		return incumbent, successor, err
	}
	err = r.e.d.Store.Read(ctx, func(rd Reader) error {
		b, err := rd.Binding(s.Args["seat_id"])
		incumbent = Guard{Pane: b.Pane, Epoch: b.Epoch, Seat: b.SeatID, Gen: s.Args["generation"], DeadOK: true}
		return err
	})
	successor = Guard{
		Pane: l.ref.Pane, Epoch: l.ref.Epoch, Seat: l.session.SeatID, Gen: genTag(l.session.Generation), Op: r.plan.ID, PID: l.ref.PID,
	}
	return incumbent, successor, err
}

func doSwap(ctx context.Context, r *run, s Step) (Evidence, error) {
	incumbent, successor, err := r.bothGuards(ctx, s)
	if err != nil {
		return nil, err
	}
	if err := r.e.d.Mux.Swap(ctx, successor, incumbent); err != nil {
		return nil, err
	}
	r.bringAlong(ctx, s)
	return Evidence{"successor": string(successor.Pane), "incumbent": string(incumbent.Pane)}, nil
}

// bringAlong shows the seat to whoever answered the successor in the staging session:
// what is there now is the incumbent, which stands still.
func (r *run) bringAlong(ctx context.Context, s Step) {
	l, err := r.launch(s)
	if err != nil || l.gateSince.IsZero() {
		return // nobody was asked to go there
	}
	r.followSeat(ctx, s.Args["seat_id"])
}

// followSeat shows the seat to whoever looks at the staging session of this operation.
func (r *run) followSeat(ctx context.Context, seatID string) {
	var seats Binding
	err := r.e.d.Store.Read(ctx, func(rd Reader) (err error) {
		seats, err = rd.Binding(seatID)
		return err
	})
	clients, cerr := r.e.d.Mux.Clients(ctx)
	for _, c := range clients {
		if err == nil && !c.Control && c.Session == stagingName(r.plan.ID) {
			cerr = errors.Join(cerr, r.e.d.Mux.SwitchClient(ctx, c.Name, SessionPlace(seats.SessionName)))
		}
	}
	err = errors.Join(err, cerr)
	if err != nil {
		r.warn("a terminal may still show the incumbent, in session " + stagingName(r.plan.ID) + ": " + err.Error())
	}
}

// undoSwap swaps back, if the successor's pane is no longer in the staging session.
// Where that pane is gone, so is the session of the seat's name, and the one in which
// the incumbent was left gets that name again.
func undoSwap(ctx context.Context, r *run, s Step) error {
	incumbent, successor, inv, err := r.swapGuards(ctx, s)
	switch left, alone := leftAlone(&inv, incumbent, successor); {
	case alone && strings.HasPrefix(left.Session, stagingPrefix):
		return r.e.d.Mux.Rename(ctx, left, s.Seat)
	case alone:
		return nil // it had not been swapped
	case err != nil:
		return err
	}
	if p, ok := inv.Pane(successor.Pane); !ok || staged(p) {
		return nil
	}
	return r.e.d.Mux.Swap(ctx, successor, incumbent)
}

// leftAlone reports an incumbent whose successor's pane is provably gone, and names it
// for tmux's own check.
func leftAlone(inv *Inventory, incumbent, successor Guard) (Guard, bool) {
	p, there := inv.Pane(incumbent.Pane)
	incumbent.Session, incumbent.PID = p.Session, p.PID
	return incumbent, there && successor.Pane == "" && len(inv.Faults) == 0 && incumbent.Epoch == inv.Epoch && p.Seat == incumbent.Seat
}

// probeSwap says which pane is in the staging session: what the other one is in may
// have got another name from a person.
func probeSwap(ctx context.Context, r *run, s Step) (StepState, error) {
	incumbent, successor, inv, err := r.swapGuards(ctx, s)
	left, alone := leftAlone(&inv, incumbent, successor)
	switch p, ok := inv.Pane(successor.Pane); {
	case inv.Server == Unknown:
		return StepUnknown, inv.Err
	case alone && strings.HasPrefix(left.Session, stagingPrefix):
		return StepDone, nil
	case err != nil || !ok || staged(p):
		return StepPending, nil
	}
	return StepDone, nil
}

// doPromote gives the staging session the seat's canonical name.
func doPromote(ctx context.Context, r *run, s Step) (Evidence, error) {
	_, successor, _, err := r.swapGuards(ctx, s)
	if err != nil {
		return nil, err
	}
	return Evidence{"pane": string(successor.Pane)}, r.e.d.Mux.Rename(ctx, successor, s.Args["session"])
}

// doRetire keeps the stopped incumbent for the undo window, releases an
// operator's own session, or ends it when there is no window.
func doRetire(ctx context.Context, r *run, s Step) (Evidence, error) {
	pane, session, inv, err := r.retiree(ctx, s)
	switch {
	case err != nil:
		return nil, err
	case pane.ID == "" && len(inv.Faults) > 0: // it may be one of those
		return nil, Errorf(CodeTmuxProbeFailed, "what tmux said of some panes cannot be read: %s", inv.Faults[0]).WithHint("`rig op finish %s` later", r.plan.ID)
	case pane.ID == "":
		return Evidence{"why": "its pane is gone already"}, r.keepNothing(ctx)
	}
	if session.Origin == OriginClaimed {
		g := Guard{Pane: pane.ID, Epoch: inv.Epoch, Seat: pane.Seat, Gen: pane.Gen, DeadOK: true}
		if err := r.e.d.Mux.Tag(ctx, g, "", "", ""); err != nil {
			return nil, err
		}
		return Evidence{"released": pane.Session}, r.keepNothing(ctx)
	}
	discovered := s.Args["mode"] == "discovered"
	if until := r.e.d.Config.UndoWindow; until > 0 && (!discovered || s.Args[keepsArg] != "") && !pane.Dead {
		if discovered && !staged(pane) { // its session has the seat's name, which another occupant may need
			g := Guard{Pane: pane.ID, Epoch: inv.Epoch, Seat: pane.Seat, Gen: pane.Gen, PID: pane.PID, Session: pane.Session}
			if err := r.e.d.Mux.Rename(ctx, g, stagingName(r.plan.ID)); err != nil {
				return nil, err
			}
			pane.Session = stagingName(r.plan.ID)
			r.followSeat(ctx, s.Args["seat_id"])
		}
		return Evidence{"kept_until": r.e.d.Clock.Now().Add(until).UTC().Format(time.RFC3339), "session": pane.Session, "pane": string(pane.ID)}, nil
	}
	if err := r.e.endFrozen(ctx, &inv, pane, s.Seat, session.ID); err != nil {
		return nil, err
	}
	return Evidence{"ended": pane.Session}, r.keepNothing(ctx)
}

// retiree finds the pane of the generation that left the seat.
func (r *run) retiree(ctx context.Context, s Step) (Pane, Session, Inventory, error) {
	inv := r.e.d.Mux.Inventory(ctx)
	if inv.Server == Unknown {
		return Pane{}, Session{}, inv, Errorf(CodeTmuxProbeFailed, "tmux did not answer").Wrap(inv.Err).WithHint("`rig op finish %s` later", r.plan.ID)
	}
	var old Session
	err := r.e.d.Store.Read(ctx, func(rd Reader) error {
		all, err := rd.Sessions(s.Args["seat_id"])
		for _, x := range all {
			if genTag(x.Generation) == s.Args["generation"] {
				old = x
			}
		}
		return err
	})
	for _, p := range inv.Panes {
		if p.Seat == s.Args["seat_id"] && p.Gen == s.Args["generation"] {
			return p, old, inv, err
		}
	}
	return Pane{}, old, inv, err
}
