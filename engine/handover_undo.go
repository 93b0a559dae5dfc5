package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"
)

// VerbUndo takes a handover back inside its window.
const VerbUndo Verb = "undo"

// Step kinds of an undo.
const (
	StepSwapBack StepKind = "swap_back"
	StepUndo     StepKind = "commit_undo"
	StepThaw     StepKind = "thaw_incumbent"
	StepDiscard  StepKind = "end_successor"
)

// planUndo plans the return of a former incumbent: its stopped process goes on
// in its own pane, and the successor is ended.
func planUndo(ctx context.Context, e *Engine, w *world, p *Plan) error {
	op, _, err := e.Operation(ctx, p.Request.Target)
	if err != nil {
		return err
	}
	var shown struct {
		Phases []Phase `json:"phases"`
	}
	if err := json.Unmarshal(op.Plan, &shown); err != nil || op.Verb != VerbHandover {
		return Errorf("undo_impossible", "%s cannot be undone", Articled(string(op.Verb))).On("undo", op.ID).WithHint("only a handover keeps what it replaced; `rig op show %s`", op.ID)
	}
	args := rebindArgs(shown.Phases)
	seat, ok := w.seats[args["seat_id"]]
	if !ok {
		return Errorf(CodeSeatNotFound, "the seat of that handover is gone").On("undo", op.ID).WithHint("there is nothing to undo it on")
	}
	address := w.address(seat)
	p.Target, p.Detached, p.Command = address, true, CommandLine("rig", "op", "undo", op.ID)
	p.Leases = []string{"seat:" + seat.ID}
	p.AddFact("operation/"+op.ID, string(op.State))
	p.AddFact("seat/"+address+"/generation", itoa(seat.Generation))
	e.serverFact(w, p)
	old := args["generation"]
	former, err := e.formerOf(ctx, seat, old)
	if err != nil {
		return err
	}
	e.blockUndo(w, p, op, seat, former)
	p.SetInput("seatid/"+address, seat.ID)
	step := func(id string, kind StepKind, effect Effect, title string) Step {
		return Step{ID: id, Kind: kind, Seat: address, Effect: effect, Title: title, Args: map[string]string{
			"seat_id": seat.ID, "generation": old, "successor": itoa(seat.Generation), "operation": op.ID, "mode": args["mode"],
		}}
	}
	steps := []Step{
		step("freeze", StepFreeze, EffectReversible, "stop the successor's processes"),
		step("swap", StepSwapBack, EffectReversible, "swap the incumbent's pane back"),
		step("commit", StepUndo, EffectCommit, "record the incumbent as the occupant again, and the event"),
		step("thaw", StepThaw, EffectOneWay, "let the incumbent go on"),
		step("discard", StepDiscard, EffectOneWay, "end the successor"),
	}
	if args["mode"] != "discovered" {
		e.warnEnd(ctx, w, p, seat)
	} else { // the successor is the operator's own: it goes on
		steps = []Step{
			step("swap", StepSwapBack, EffectReversible, "give the incumbent's session the seat's name again"), steps[2], steps[3],
			step("discard", StepDiscard, EffectOneWay, "release the successor, which is the operator's own"),
		}
	}
	p.Phases = []Phase{{ID: "undo", Title: "Put the incumbent back", Steps: steps}}
	p.Changes = append(p.Changes,
		Change{address, "occupant", occupantName(address, seat.Generation), address + " (generation " + old + ")"},
		Change{address, "generation", itoa(seat.Generation), old},
		Change{address, "continuity outcome", cmp.Or(string(seat.Continuity), "unverified"), cmp.Or(string(former.Continuity), "unverified")})
	p.Unchanged = append(p.Unchanged, "name, seat id, role, edges and inbound work of "+address, "the incumbent's conversation")
	return nil
}

func rebindArgs(phases []Phase) map[string]string {
	for _, ph := range phases {
		for _, s := range ph.Steps {
			if s.Kind == StepRebind {
				return s.Args
			}
		}
	}
	return map[string]string{}
}

// formerOf gives the occupant of a generation.
func (e *Engine) formerOf(ctx context.Context, seat Seat, generation string) (Session, error) {
	all, _, err := e.SeatHistory(ctx, seat.ID)
	for _, s := range all {
		if genTag(s.Generation) == generation {
			return s, err
		}
	}
	return Session{}, err
}

// undoOtherwise says how a former occupant's conversation goes on without an undo.
func undoOtherwise(address string, former Session) string {
	if former.Token.Empty() {
		return "no conversation of it is on record; hand the seat over anew: `rig handover " + address + " --source rebuild --reason …`"
	}
	return "its conversation can still be forked: `rig handover " + address + " --source fork:" + former.ID + " --reason …`"
}

// blockUndo collects every reason why the incumbent cannot come back.
func (e *Engine) blockUndo(w *world, p *Plan, op Operation, seat Seat, former Session) {
	block := func(code Code, hint, format string, a ...any) {
		p.BlockSeat(p.Target, Errorf(code, format, a...).WithHint("%s", hint))
	}
	gone := false // and told so
	hint, old := undoOtherwise(p.Target, former), genTag(former.Generation)
	switch {
	case op.State == OpUndone:
		block("undo_done", "there is nothing left to undo", "it was undone already%s", "")
	case !op.Committed || !op.State.Ended():
		block("undo_impossible", "`rig op show "+op.ID+"`", "the handover is %s", op.State)
	case successorOf(op) != seat.Generation:
		block("undo_impossible", "undo the later operation first, while its window is open: `rig op list`; else "+hint, "a later occupant sits there: generation %d", seat.Generation)
	case former.Origin == OriginClaimed:
		block("undo_impossible", "it goes on in its own session: `rig discover --rescan`, then `rig handover "+p.Target+" --source discovered:… --reason …`",
			"the former occupant is the operator's own session, which was released%s", "")
		return
	case op.UndoUntil.IsZero():
		block("undo_window_closed", "the incumbent is not kept any more; "+hint, "its window is closed%s", "")
		gone = true
	case op.UndoUntil.After(w.now) && !op.UndoOpen(w.now):
		block("undo_window_closed", hint, "the clock was set back behind the handover%s", "")
	case !op.UndoOpen(w.now):
		block("undo_window_closed", hint, "the window closed at %s", op.UndoUntil.Local().Format("15:04:05"))
	}
	found := gone
	for _, pane := range w.inv.Panes {
		if pane.Seat == seat.ID && pane.Gen == old && !pane.Dead {
			found = true
			p.AddFact("undo/pane", string(pane.ID))
		}
	}
	switch {
	case found || w.inv.Server == Unknown:
	case len(w.inv.Faults) > 0: // it may be one of those
		block(CodeTmuxProbeFailed, "`rig doctor` says what is wrong with tmux", "what tmux said of some panes cannot be read: %s", w.inv.Faults[0])
	default:
		block("undo_impossible", hint, "the incumbent's pane is gone%s", "")
	}
	e.blockPlace(w, p, seat, block)
	for _, st := range w.rec.Open {
		if st.ID != op.ID && st.SeatID == seat.ID {
			block(CodeInProgress, "wait for it", "%s is under way on the seat", st.Verb)
		}
	}
}

// blockPlace blocks an undo that finds no place for the incumbent. It swaps two panes.
// Where that of the successor was ended behind our back, the incumbent's session gets
// the seat's name; a seat that was stopped since is not undone.
func (e *Engine) blockPlace(w *world, p *Plan, seat Seat, block func(code Code, hint, format string, a ...any)) {
	address, at := w.address(seat), w.locate(seat.ID)
	blockUnseen(p, address, at)
	if at.presence != Absent {
		return
	}
	if _, bound := w.bindings[seat.ID]; !bound || at.pane.ID != "" {
		block("undo_impossible", "`rig launch "+w.rigs[seat.RigID].Name+" "+seat.Logical()+"` brings the seat's occupant back", "the successor is gone: %s", at.why)
		return
	}
	for _, pane := range w.inv.Panes {
		if pane.Session == address {
			block(CodeSessionExists, "close it, or give it another name", "the successor's pane is gone, and pane %s is in a session of the seat's name", pane.ID)
			return
		}
	}
	p.Warnings = append(p.Warnings, "the successor's pane is gone: the incumbent's session gets the seat's name")
}

// successorOf gives the generation that a handover brought in, from its receipt.
func successorOf(op Operation) int64 {
	rec, err := receiptOf(op)
	if err != nil || len(rec.Seats) == 0 {
		return 0
	}
	return rec.Seats[0].Generation
}

// undoGuards names both panes of an undo. The successor's has no id when it is gone,
// which stands in the incumbent's way only where its row could not be read.
func (r *run) undoGuards(ctx context.Context, s Step) (incumbent, successor Guard, incumbentPane Pane, err error) {
	inv := r.e.d.Mux.Inventory(ctx)
	if inv.Server == Unknown {
		return incumbent, successor, incumbentPane, Errorf(CodeTmuxProbeFailed, "tmux did not answer").Wrap(inv.Err).WithHint("`rig doctor`")
	}
	guard := func(p Pane) Guard {
		return Guard{Pane: p.ID, Epoch: inv.Epoch, Seat: p.Seat, Gen: p.Gen, PID: p.PID, DeadOK: true, Session: p.Session}
	}
	for _, p := range inv.Panes {
		if p.Seat == s.Args["seat_id"] && p.Gen == s.Args["generation"] {
			incumbent, incumbentPane = guard(p), p
		}
	}
	if p, ok := undoneSuccessor(&inv, s); ok {
		successor = guard(p)
	}
	if incumbent.Pane == "" || successor.Pane == "" && len(inv.Faults) > 0 {
		err = Errorf(CodeRuntime, "one of the two panes is gone").On("undo", s.Seat).WithHint("`rig seat status %s`", s.Seat)
	}
	return incumbent, successor, incumbentPane, err
}

func doSwapBack(ctx context.Context, r *run, s Step) (Evidence, error) {
	incumbent, successor, pane, err := r.undoGuards(ctx, s)
	if err != nil {
		return nil, err
	}
	ev := Evidence{"incumbent": string(incumbent.Pane), "pid": incumbent.PID, "successor": string(successor.Pane)}
	switch {
	case s.Args["mode"] == "discovered" && staged(pane):
		return ev, r.e.d.Mux.Rename(ctx, incumbent, s.Seat)
	case s.Args["mode"] == "discovered":
		return ev, nil
	case successor.Pane != "":
		return ev, r.e.d.Mux.Swap(ctx, incumbent, successor)
	case staged(pane):
		ev["why"] = "the successor's pane is gone: the session got the seat's name"
		return ev, r.e.d.Mux.Rename(ctx, incumbent, s.Seat)
	}
	return ev, nil // a person has moved it already
}

func undoSwapBack(ctx context.Context, r *run, s Step) error {
	incumbent, successor, pane, err := r.undoGuards(ctx, s)
	if err != nil || staged(pane) {
		return err
	}
	if successor.Pane == "" || s.Args["mode"] == "discovered" {
		return r.e.d.Mux.Rename(ctx, incumbent, stagingName(s.Args["operation"]))
	}
	return r.e.d.Mux.Swap(ctx, incumbent, successor)
}

func probeSwapBack(ctx context.Context, r *run, s Step) (StepState, error) {
	_, _, pane, err := r.undoGuards(ctx, s)
	switch {
	case err != nil:
		return StepUnknown, err
	case !staged(pane):
		return StepDone, nil
	}
	return StepPending, nil
}

// commitUndo makes the former incumbent the occupant again. The successor's row
// is superseded and keeps its token; what it had claimed goes back to pending.
func commitUndo(_ context.Context, r *run, s Step, tx Tx) (Evidence, error) {
	seat, err := tx.Seat(s.Args["seat_id"])
	if err != nil {
		return nil, err
	}
	if genTag(seat.Generation) != s.Args["successor"] {
		return nil, Errorf(CodeConflict, "%s changed its occupant meanwhile", s.Seat).WithHint("look at `rig seat status %s`", s.Seat)
	}
	undone := seat.Generation
	if err := releaseClaims(tx, seat.ID, undone, r.e.d.Clock); err != nil {
		return nil, err
	}
	if err := supersede(tx, seat.ID, r.e.d.Clock); err != nil {
		return nil, err
	}
	old, err := reopen(tx, seat.ID, s.Args["generation"])
	if err != nil {
		return nil, err
	}
	b, err := tx.Binding(seat.ID)
	if err != nil {
		return nil, err
	}
	swap := r.saw("swap")
	b.Pane, b.PanePID, b.UpdatedAt, b.SessionName = PaneID(swap.Str("incumbent")), swap.Int("pid"), r.e.d.Clock.Now(), s.Seat
	if err := tx.PutBinding(b); err != nil {
		return nil, err
	}
	seat.Generation, seat.Continuity, seat.Binding = old.Generation, old.Continuity, BindingUnchanged
	seat.Previous, seat.HandoverAt = occupantName(s.Seat, undone)+", undone", r.e.d.Clock.Now()
	if seat.Lifecycle, err = goesOn(tx, seat.ID, old.Token); err != nil {
		return nil, err
	}
	if err := restoreReplaced(tx, &seat, s.Args["operation"], r.e.d.Clock); err != nil {
		return nil, err
	}
	if err := tx.UpdateSeat(&seat); err != nil {
		return nil, err
	}
	op, err := tx.Operation(s.Args["operation"])
	if err != nil {
		return nil, err
	}
	op.State, op.UndoUntil = OpUndone, time.Time{}
	if err := tx.UpdateOperation(&op); err != nil {
		return nil, err
	}
	ev := Evidence{"undone": op.ID, "generation": old.Generation, "undone_generation": undone, "pane": string(b.Pane)}
	r.settle(SeatReceipt{Seat: s.Seat, Outcome: old.Continuity, Binding: BindingUnchanged, Action: "undone", Generation: old.Generation, Evidence: ev})
	return ev, r.event(tx, "seat.handover_undone", seat, s.Seat, ev)
}

// reopen makes a superseded occupant current again.
func reopen(tx Tx, seatID, generation string) (Session, error) {
	all, err := tx.Sessions(seatID)
	if err != nil {
		return Session{}, err
	}
	for _, s := range all {
		if genTag(s.Generation) != generation {
			continue
		}
		s.Status, s.EndedAt = SessionRunning, time.Time{}
		if err := tx.UpdateSession(&s); err != nil {
			return s, err
		}
		return s, tx.ReopenTenure(seatID, s.Generation)
	}
	return Session{}, Errorf(CodeNotFound, "no occupant of generation %s", generation).WithHint("`rig seat status` shows the seat's history")
}

// doThaw lets the incumbent's processes go on.
func doThaw(ctx context.Context, r *run, s Step) (Evidence, error) {
	root, _, err := r.incumbentClient(ctx, s) // the seat's current one again
	if err != nil || root == 0 {
		return Evidence{"why": "its client is not known by pid"}, err
	}
	return Evidence{"root": root}, r.e.d.Procs.ContinueTree(ctx, root)
}

// undoneSuccessor is the pane of the successor that is undone. What an older operation left
// may have the same generation, which was given anew: the handover's own goes before.
func undoneSuccessor(inv *Inventory, s Step) (found Pane, ok bool) {
	for _, p := range inv.Panes {
		if p.Seat != s.Args["seat_id"] || p.Gen != s.Args["successor"] {
			continue
		}
		if own := p.Op == s.Args["operation"]; own || !ok {
			found, ok = p, true
			if own {
				break
			}
		}
	}
	return found, ok
}

// doDiscard ends the undone successor, or releases it where it is the operator's own.
func doDiscard(ctx context.Context, r *run, s Step) (Evidence, error) {
	inv := r.e.d.Mux.Inventory(ctx)
	if p, ok := undoneSuccessor(&inv, s); ok {
		if s.Args["mode"] == "discovered" {
			g := Guard{Pane: p.ID, Epoch: inv.Epoch, Seat: p.Seat, Gen: p.Gen, DeadOK: true}
			return Evidence{"released": p.Session}, r.e.d.Mux.Tag(ctx, g, "", "", "")
		}
		return Evidence{"ended": p.Session}, r.e.endFrozen(ctx, &inv, p, s.Seat, r.saw("freeze").Str("session_id"))
	}
	// What ignored the end of its pane stands stopped, and nobody would find it again.
	root, err := r.e.clientOf(r.saw("freeze").Str("session_id"))
	if err == nil && root != 0 {
		err = r.e.d.Procs.Kill(ctx, root)
	}
	return Evidence{"why": "its pane is gone already", "root": root}, errors.Join(inv.Err, err)
}

// undoPromote gives the staging session its own name back.
func undoPromote(ctx context.Context, r *run, s Step) error {
	_, successor, inv, err := r.swapGuards(ctx, s)
	if err != nil {
		return err
	}
	if p, ok := inv.Pane(successor.Pane); !ok || p.Session != s.Args["session"] {
		return nil
	}
	return r.e.d.Mux.Rename(ctx, successor, stagingName(r.plan.ID))
}
