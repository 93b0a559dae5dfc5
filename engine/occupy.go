package engine

import (
	"context"
	"time"
)

// Step kinds that give a seat an occupant.
const (
	StepCreate   StepKind = "create_session"
	StepReady    StepKind = "await_ready"
	StepIdentify StepKind = "identify"
	StepOccupy   StepKind = "commit_occupant"
)

// seatStart is how one seat gets an occupant. It travels in the plan's inputs,
// because a parent token may be in it.
type seatStart struct {
	Address string
	Start   Start
	Prompt  string
	Kind    string     // of the tenure: initial, restore, fresh, fork, rebuild
	Good    Continuity // the outcome when everything is proven
	Source  string     // of the tenure: seat and generation, never a token
	Judged  bool       // the planner has judged the source conversation itself
	Marker  string     // stands in Prompt once; its arrival must be proven
	Image   ImageRef   // the agent image whose fork is counted; zero = none
}

func startKey(address string) string { return "start/" + address }

// launched is what a created session hands to the steps after it. It holds
// tokens, so it is never journaled.
type launched struct {
	session   Session
	socket    string
	base      int64 // generation that the seat had when it was planned
	ref       PaneRef
	parent    ParentToken
	readiness Readiness
	identity  Identity
	prompted  bool
	at        time.Time
	gateSince time.Time // when a staged successor was first seen at a gate
	screen    []string  // what the pane showed last
	glance    glance    // the newest look at its pane
}

// occupySteps lists the steps that give a seat an occupant.
func occupySteps(address, session string, agent bool) []Step {
	steps := []Step{
		{
			ID: address + "/create", Kind: StepCreate, Seat: address, Effect: EffectReversible,
			Title: "create tmux session " + session + " and start the runtime", Args: map[string]string{"session": session},
		},
		{ID: address + "/ready", Kind: StepReady, Seat: address, Effect: EffectNone, Title: "wait until it is proven ready"},
	}
	if agent {
		steps = append(steps, Step{
			ID: address + "/identify", Kind: StepIdentify, Seat: address, Effect: EffectNone,
			Title: "read its native id from the client's own record",
		})
	}
	return append(steps, Step{
		ID: address + "/commit", Kind: StepOccupy, Seat: address, Effect: EffectCommit,
		Title: "record the occupant, its binding and the event",
	})
}

func (r *run) start(s Step) (seatStart, error) {
	v, ok := r.plan.Input(startKey(s.Seat))
	st, ok2 := v.(seatStart)
	if !ok || !ok2 {
		return seatStart{}, Errorf(CodeInternal, "the plan has no start for %s", s.Seat)
	}
	return st, nil
}

func (r *run) launch(s Step) (*launched, error) {
	v, ok := r.memory.Load(startKey(s.Seat))
	l, ok2 := v.(*launched)
	if !ok || !ok2 {
		return nil, Errorf(CodeInternal, "%s was not created in this run", s.Seat)
	}
	return l, nil
}

// seatID finds the row of a step's seat: rows that this run made are known by
// address, others by the plan.
func (r *run) seatID(s Step) (string, bool) {
	if v, ok := r.memory.Load("seatid/" + s.Seat); ok {
		id, isText := v.(string)
		return id, isText
	}
	id := s.Args["seat_id"]
	if id == "" {
		if v, ok := r.plan.Input("seatid/" + s.Seat); ok {
			id, _ = v.(string)
		}
	}
	return id, id != ""
}

// nextGeneration is one more than any occupant that the seat ever had: an undone
// successor keeps its number.
func nextGeneration(r Reader, seatID string) (next int64, err error) {
	all, err := r.Sessions(seatID)
	for _, s := range all {
		next = max(next, s.Generation)
	}
	return next + 1, err
}

func (e *Engine) nextGeneration(ctx context.Context, seatID string) (next int64, err error) {
	err = e.d.Store.Read(ctx, func(r Reader) error {
		next, err = nextGeneration(r, seatID)
		return err
	})
	return next, err
}

// planNext plans which generation the seat's next occupant is.
func (e *Engine) planNext(ctx context.Context, p *Plan, seat Seat, address string) int64 {
	next, err := e.nextGeneration(ctx, seat.ID)
	if err != nil {
		p.BlockSeat(address, err)
	}
	p.Changes = append(p.Changes, Change{Seat: address, Field: "generation", Before: itoa(seat.Generation), After: itoa(next)})
	return next
}

// currentSession gives the occupant that a seat's row names, which after an undo
// is not the newest one.
func currentSession(rd Reader, seatID string) (Session, error) {
	seat, err := rd.Seat(seatID)
	if err != nil {
		return Session{}, err
	}
	all, err := rd.Sessions(seatID)
	for _, s := range all {
		if s.Generation == seat.Generation {
			return s, err
		}
	}
	return Session{}, err
}

func (r *run) seatRow(ctx context.Context, s Step) (Seat, error) {
	id, ok := r.seatID(s)
	if !ok {
		return Seat{}, Errorf(CodeInternal, "no row for %s", s.Seat)
	}
	var seat Seat
	err := r.e.d.Store.Read(ctx, func(rd Reader) error {
		var err error
		seat, err = rd.Seat(id)
		return err
	})
	return seat, err
}

// doCreate writes the launch file and makes the tagged session.
func doCreate(ctx context.Context, r *run, s Step) (Evidence, error) {
	st, err := r.start(s)
	if err != nil {
		return nil, err
	}
	seat, err := r.seatRow(ctx, s)
	if err != nil {
		return nil, err
	}
	rt, err := r.e.runtime(seat.Runtime)
	if err != nil {
		return nil, err
	}
	d := &r.e.d
	if h, ok := r.handoff(); ok {
		st.Prompt = h.Prompt
	}
	name := s.Args["session"]
	if name == "staging" {
		name = stagingName(r.plan.ID)
	}
	next, err := r.e.nextGeneration(ctx, seat.ID)
	if err != nil {
		return nil, err
	}
	l := &launched{at: d.Clock.Now(), socket: d.Mux.Socket(), base: seat.Generation}
	l.session = Session{
		ID: d.IDs.New(), SeatID: seat.ID, Generation: next, Name: name,
		Runtime: seat.Runtime, Status: SessionRunning, Origin: OriginLaunched, Startup: StartupPending, CreatedAt: l.at,
	}
	idleOff, err := r.e.idleCompactionOff(ctx, seat)
	if err != nil {
		return nil, err
	}
	l.session.Settings = d.Occupants.SettingsFor(seat, l.session.ID, l.session.Generation, idleOff)
	line, err := rt.Line(r.launchRequest(seat, st, l))
	if err != nil {
		return nil, err
	}
	l.session.Homes, l.session.Token, l.prompted = line.Homes, line.Token, line.Prompt
	argv, err := d.Occupants.WriteLaunch(l.session.ID, LaunchFile{Argv: line.Argv, Env: line.Env, Dir: line.Dir, Seat: st.Address, Op: r.plan.ID})
	if err != nil {
		return nil, err
	}
	r.memory.Store(startKey(s.Seat), l)
	l.ref, err = d.Mux.Create(ctx, SessionSpec{
		Name: name, Dir: line.Dir, Width: d.Config.PaneWidth, Height: d.Config.PaneHeight,
		Argv: argv, Seat: seat.ID, Gen: genTag(l.session.Generation), Op: r.plan.ID,
	})
	if err != nil {
		return nil, err
	}
	return Evidence{
		"session_id": l.session.ID, "session": name, "pane": string(l.ref.Pane),
		"pane_pid": l.ref.PID, "epoch": string(l.ref.Epoch), "generation": l.session.Generation,
	}, nil
}

func (r *run) launchRequest(seat Seat, st seatStart, l *launched) LaunchRequest {
	d := &r.e.d
	start := withIDs(d.IDs, st.Start)
	if fork, ok := start.(StartFork); ok {
		l.parent = fork.Parent
	}
	env := append([]string(nil), d.Env...)
	for k, v := range seat.Env {
		env = append(env, k+"="+v)
	}
	return LaunchRequest{
		Seat: seat, Address: st.Address, SessionID: l.session.ID, Generation: l.session.Generation,
		Start: start, Prompt: r.e.redactPrompt(st.Prompt), Settings: l.session.Settings, Env: env,
		RigEnv: append([]string{
			"RIG_SEAT=" + st.Address, "RIG_GENERATION=" + itoa(l.session.Generation), "RIG_SESSION=" + l.session.ID,
			EnvPod + "=" + seat.Pod, EnvMember + "=" + seat.Member,
		}, d.RigEnv...),
	}
}

// Variables that name an occupant's pod and member: its address does not say where a
// pod's name with a hyphen ends.
const (
	EnvPod    = "RIG_POD"
	EnvMember = "RIG_MEMBER"
)

// withIDs fills in the native ids that we choose.
func withIDs(ids IDs, start Start) Start {
	switch v := start.(type) {
	case StartFresh:
		if v.SessionID == "" {
			v.SessionID = ids.UUID()
		}
		return v
	case StartFork:
		if v.NewID == "" {
			v.NewID = ids.UUID()
		}
		return v
	case StartResume:
	}
	return start
}

// undoCreate ends every session that carries this operation's tag for the seat,
// with the client in it, and removes an unread launch file. It works from the
// inventory, so that it also undoes a create that half happened.
func undoCreate(ctx context.Context, r *run, s Step) error {
	id, ok := r.seatID(s)
	if !ok {
		return nil
	}
	session := r.saw(s.ID).Str("session_id")
	if l, err := r.launch(s); err == nil {
		session = l.session.ID // also of a create without an answer
		if err := r.e.d.Occupants.RemoveLaunch(session); err != nil {
			r.warn(err.Error())
		}
		r.sight().forget(l.ref.Pane)
	} else if err := r.e.d.Occupants.RemoveUnread(r.plan.ID); err != nil {
		r.warn(err.Error())
	}
	inv := r.e.d.Mux.Inventory(ctx)
	if inv.Server == Unknown {
		return Errorf(CodeTmuxProbeFailed, "tmux did not answer, so a session of this operation may be left").
			WithHint("look for a session whose @rig_op is %s", r.plan.ID).Wrap(inv.Err)
	}
	for _, p := range inv.Panes {
		if p.Op != r.plan.ID || p.Seat != id {
			continue
		}
		if err := r.e.endPane(ctx, &inv, p, s.Seat, session); err != nil {
			return err
		}
	}
	return nil
}

// sameProcess gives the pid if it is still the process that started then, and 0 if
// that one is provably gone. It may be that neither can be told: then it is an error.
func (e *Engine) sameProcess(pid int, start string) (int, error) {
	if pid <= 0 {
		return 0, nil
	}
	now, ok, err := e.d.Procs.Start(pid)
	switch {
	case err != nil:
		return 0, Errorf(CodeUnavailable, "whether process %d still runs cannot be told", pid).Wrap(err).
			WithHint("try again; `ps -p %d` shows it", pid)
	case !ok || start != "" && now != start:
		return 0, nil
	}
	return pid, nil
}

// mayRun reports whether a process runs, or may.
func (e *Engine) mayRun(pid int, start string) bool {
	same, err := e.sameProcess(pid, start)
	return err != nil || same != 0
}

// clientOf gives the process that an occupant's supervisor started, 0 if it is
// provably gone or was never reported. It may be that neither can be told: then it is
// an error.
func (e *Engine) clientOf(sessionID string) (int, error) {
	if sessionID == "" {
		return 0, nil
	}
	st, ok, err := e.d.Occupants.RunState(sessionID)
	if err != nil || !ok || st.Exited {
		return 0, err
	}
	return e.sameProcess(st.PID, st.PIDStart)
}

func (e *Engine) gone(ctx context.Context, pid int, within time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	t := time.NewTicker(20 * time.Millisecond)
	defer t.Stop()
	for {
		if _, ok, err := e.d.Procs.Start(pid); err == nil && !ok {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-t.C:
		}
	}
}

// probeCreate looks for the session's tag.
func probeCreate(ctx context.Context, r *run, s Step) (StepState, error) {
	inv := r.e.d.Mux.Inventory(ctx)
	if inv.Server == Unknown {
		return StepUnknown, inv.Err
	}
	for _, p := range inv.Panes {
		if id, ok := r.seatID(s); ok && p.Op == r.plan.ID && p.Seat == id {
			return StepDone, nil
		}
	}
	return StepPending, nil
}
