package engine

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"time"
)

// FleetInput is everything a picture is built from. Maps are by seat id.
type FleetInput struct {
	Record   *Record
	Inv      Inventory
	Live     bool      // Inv was really read
	Unseen   time.Time // since when the server does not answer; zero = it never did, or it does
	Socket   string
	Console  string              // socket of the server that this process runs in, "" outside tmux
	Found    []DiscoveredSession // what discoveries saw
	Activity map[string]Activity
	Since    map[string]time.Time // when the present activity state was first seen
	Ended    map[string]time.Time // by session: when a client ended whose pane is gone
	Usage    map[string]Usage
	Identity map[string]PaneIdentity
	Foreign  map[string][]int // living processes outside a seat that have its conversation open
	Dead     map[string]bool  // by operation id: its owner is proven dead
	Undoable []Operation      // ended, and inside their undo window
	Steps    map[string][]OperationStep
	Managed  map[string]ManagedState // by seat: how its policy's attempts went
	Recent   []Event
	Now      time.Time

	world *world // Record, Inv and Now with an index, where there is one already
}

// whyUnseen says why tmux could not be read, without what the picture says beside it.
func whyUnseen(err error) string {
	e := *AsError(err)
	e.Op, e.Target = "", ""
	if errors.Is(e.Err, context.DeadlineExceeded) {
		e.Err = nil // the message says it
	}
	return e.Error()
}

// BuildFleet makes the picture. It is a pure function: the same input gives the
// same picture. Revision is left to the caller.
func BuildFleet(in FleetInput) *Fleet {
	f := &Fleet{At: in.Now, Live: in.Live, Recent: in.Recent, bySeat: make(map[string]*SeatView, len(in.Record.Seats))}
	f.Server = ServerView{State: in.Inv.Server, Socket: in.Socket, Epoch: in.Inv.Epoch, Path: in.Inv.Path}
	if in.Inv.Err != nil {
		f.Server.Why = whyUnseen(in.Inv.Err)
	}
	b := newBuilder(&in)
	f.Rigs = b.rigs()
	for i := range f.Rigs {
		for j := range f.Rigs[i].Seats {
			s := &f.Rigs[i].Seats[j]
			f.bySeat[s.ID] = s
		}
	}
	f.Ops = b.ops()
	f.Sockets = b.sockets(f)
	f.Attention = b.attention(f)
	f.total()
	return f
}

type builder struct {
	in       *FleetInput
	w        world
	work     map[string]WorkCount
	usage    map[string]StoredUsage
	edges    map[string][]EdgeView
	ops      func() []OpView
	opBySeat map[string]Operation
	coming   map[string]Verb // by address: the operation at work that has yet to start an occupant there
	acks     map[string]Ack
	panes    map[PaneID]Pane
}

func newBuilder(in *FleetInput) *builder {
	b := &builder{
		in: in, work: map[string]WorkCount{},
		usage: map[string]StoredUsage{}, edges: map[string][]EdgeView{}, acks: map[string]Ack{},
		panes: make(map[PaneID]Pane, len(in.Inv.Panes)),
	}
	if in.world != nil {
		b.w = *in.world
	} else {
		b.w = world{rec: in.Record, inv: in.Inv, now: in.Now}
		b.w.index()
	}
	for _, p := range in.Inv.Panes {
		b.panes[p.ID] = p
	}
	for _, c := range in.Record.Work {
		b.work[c.SeatID] = c
	}
	for _, u := range in.Record.Usage {
		b.usage[u.SeatID] = u
	}
	for _, a := range in.Record.Acks {
		b.acks[a.Key] = a
	}
	for _, e := range in.Record.Edges {
		from, to := b.w.seats[e.From], b.w.seats[e.To]
		b.edges[e.From] = append(b.edges[e.From], EdgeView{Kind: e.Kind, Seat: b.w.address(to), Out: true})
		b.edges[e.To] = append(b.edges[e.To], EdgeView{Kind: e.Kind, Seat: b.w.address(from)})
	}
	b.opBySeat, b.coming = opsBySeat(in.Record), coming(in)
	b.ops = b.opViews
	return b
}

func (b *builder) rigs() []RigView {
	rigs := append([]Rig(nil), b.in.Record.Rigs...)
	sort.Slice(rigs, func(i, j int) bool { return rigs[i].Name < rigs[j].Name })
	bySeats := map[string][]*Seat{}
	for i := range b.in.Record.Seats {
		s := &b.in.Record.Seats[i]
		bySeats[s.RigID] = append(bySeats[s.RigID], s)
	}
	pods := map[string][]Pod{}
	for _, p := range b.in.Record.Pods {
		pods[p.RigID] = append(pods[p.RigID], p)
	}
	out := make([]RigView, 0, len(rigs))
	for _, r := range rigs {
		seats := bySeats[r.ID]
		v := RigView{ID: r.ID, Name: r.Name, SpecPath: r.SpecPath, CreatedAt: r.CreatedAt, Pods: []PodView{}, Seats: make([]SeatView, len(seats))}
		ps := pods[r.ID]
		sort.Slice(ps, func(i, j int) bool { return ps[i].Ordinal < ps[j].Ordinal })
		for _, p := range ps {
			v.Pods = append(v.Pods, PodView{p.Name, p.Label})
		}
		sort.Slice(seats, func(i, j int) bool { return seats[i].Ordinal < seats[j].Ordinal })
		for i, s := range seats {
			v.Seats[i] = b.seat(r, *s)
		}
		v.sum()
		out = append(out, v)
	}
	return out
}

func (b *builder) seat(r Rig, s Seat) SeatView {
	v := SeatView{
		ID: s.ID, Address: Address(s.Pod, s.Member, r.Name), Logical: s.Logical(), RigID: r.ID, Rig: r.Name,
		Pod: s.Pod, Member: s.Member, Label: s.Label, Runtime: s.Runtime, Model: s.Model, Role: s.Role, Cwd: s.Cwd,
		Generation: s.Generation, Continuity: s.Continuity, Binding: s.Binding, ContextDelivered: s.ContextDelivered,
		OutcomeAt: s.HandoverAt, OutcomeBy: s.HandoverBy, Previous: s.Previous, ForkedFrom: s.ForkedFrom, LastError: s.LastError,
		Edges: b.edges[s.ID], Work: b.work[s.ID],
	}
	v.Work.SeatID = s.ID // also where none is on record
	last, had := b.w.latest[s.ID]
	if had {
		v.Startup, v.Origin, v.ExitCode, v.StartedAt = last.Startup, last.Origin, last.ExitCode, last.CreatedAt
		v.TokenPresent, v.TokenRank = !last.Token.Empty(), last.Provenance
		if last.CreatedAt.After(v.OutcomeAt) { // a start since the last handover
			v.OutcomeAt, v.OutcomeBy = last.CreatedAt, ""
		}
		if s.Continuity == ContinuityAwaiting && s.UpdatedAt.After(v.OutcomeAt) { // an attempt that left no occupant
			v.OutcomeAt, v.OutcomeBy = s.UpdatedAt, ""
		}
	}
	if !had && s.LastError != "" {
		v.OutcomeAt = s.UpdatedAt
	}
	if op, ok := b.opBySeat[s.ID]; ok {
		v.OpID, v.OpVerb = op.ID, op.Verb
		if !b.in.Dead[op.ID] {
			v.Gate = gateOf(b.in.Steps[op.ID])
		}
	}
	b.place(&v, s, last, had)
	b.judge(&v, s, last)
	v.Usage = b.pressure(s)
	v.Compaction = seatCompaction(r, s, last, b.in.Managed[s.ID])
	v.Compaction.sampled(v.Usage)
	return v
}

// endWord says how a tenure ended.
func endWord(s SessionStatus) string {
	switch s {
	case SessionExited:
		return "has ended"
	case SessionDetached:
		return "was let go and may still run"
	case SessionSuperseded:
		return "was replaced"
	case SessionRunning, SessionUnknown:
	}
	return "is gone, nobody knows how"
}

// place says where the occupant is and what that makes of its life.
func (b *builder) place(v *SeatView, s Seat, last Session, had bool) {
	bind, bound := b.w.bindings[s.ID]
	if bound {
		v.SessionName, v.Pane, v.PanePID = bind.SessionName, bind.Pane, bind.PanePID
	}
	verb, comes := b.coming[v.Address]
	switch {
	case comes && !bound:
		v.Life, v.LifeWhy = LifeStarting, fmt.Sprintf("the %s that is under way brings it up", verb)
		return
	case !bound && !had:
		v.Life, v.LifeWhy = LifeNever, "it never had an occupant"
		return
	case !bound:
		v.Life, v.LifeWhy = LifeStopped, "its last occupant "+endWord(last.Status)
		return
	case !b.in.Live:
		v.Life, v.LifeWhy = LifeUnknown, "tmux was not asked yet"
		return
	}
	at := b.locate(bind)
	v.LifeWhy = at.why
	switch {
	case at.presence == Unknown:
		v.Life = LifeUnknown
	case at.presence == Absent && comes:
		v.Life, v.LifeWhy = LifeStarting, fmt.Sprintf("%s; the %s that is under way brings it up", at.why, verb)
	case at.presence == Absent:
		v.Life, v.Since = LifeLost, b.in.Ended[last.ID]
	case at.dead:
		v.Life, v.Since = LifeDead, at.pane.DeadAt
		if at.pane.DeadCode >= 0 {
			code := at.pane.DeadCode
			v.ExitCode = &code
		}
	default:
		v.Life = LifeRunning
	}
	if at.presence == Present {
		v.Window = -1
		if !staged(at.pane) { // where a person has put it; while panes are swapped, where it belongs
			v.SessionName, v.Window = at.pane.Session, at.pane.Window
		}
		v.PaneSize, v.PaneActivity, v.Title = [2]int{at.pane.Width, at.pane.Height}, at.pane.Activity, at.pane.Title
	}
}

// locate is world.locate with the pane index of a build.
func (b *builder) locate(bind Binding) where {
	p, ok := b.panes[bind.Pane]
	if b.in.Inv.Server != Present || bind.Epoch != b.in.Inv.Epoch || !ok {
		return locate(bind, &Inventory{Socket: b.in.Inv.Socket, Server: b.in.Inv.Server, Epoch: b.in.Inv.Epoch, Faults: b.in.Inv.Faults, Elsewhere: b.in.Inv.Elsewhere})
	}
	return locate(bind, &Inventory{Server: Present, Epoch: bind.Epoch, Panes: []Pane{p}})
}

// judge fills in the activity. What is not alive is exited or unknown, whatever
// an old reading said.
func (b *builder) judge(v *SeatView, s Seat, last Session) {
	why := v.LifeWhy
	switch v.Life {
	case LifeRunning, LifeAttention:
		if b.misplaced(v, s, last) {
			return
		}
		act, ok := b.in.Activity[s.ID]
		if !ok {
			v.Activity = noReading("not read yet")
			return
		}
		op := b.opBySeat[s.ID]
		v.Activity, v.Since = frozen(op, b.in.Dead, act), b.in.Since[s.ID]
		if act.Code == CodeSuspended { // not since the client last did something
			v.Since = latest(v.Since, op.StartedAt)
		}
		if last.Origin == OriginLaunched { // a resumed conversation is older than whoever sits there
			v.Since = latest(v.Since, last.CreatedAt)
		}
		if act.State == ActivityExited {
			v.Life, v.LifeWhy = LifeDead, act.Why
		}
		if last.Startup == StartupAttention && stillAtStart(last, act) {
			v.Life, v.LifeWhy = LifeAttention, last.StartupNote
		}
	case LifeDead:
		v.Activity = Activity{Reading: Reading{State: ActivityExited, Why: why, Source: "tmux", Rule: "pane_dead", Confidence: ConfidenceHigh}}
	case LifeLost, LifeStopped, LifeNever:
		v.Activity = Activity{Reading: Reading{State: ActivityExited, Why: why, Source: "record", Rule: "no live pane", Confidence: ConfidenceHigh}}
	case LifeStarting, LifeUnknown:
		v.Activity = noReading(why)
	}
	if v.Life == LifeStopped && last.Status == SessionDetached { // it runs on, or not: nobody looks at it any more
		v.Activity = noReading(why)
	}
}

func noReading(why string) Activity {
	return Activity{Reading: Reading{State: ActivityUnknown, Why: why, Source: "none", Rule: "no evidence", Confidence: ConfidenceNone}}
}

// pressure gives the newest usage sample of the present occupant.
func (b *builder) pressure(s Seat) Usage {
	if u, ok := b.in.Usage[s.ID]; ok && (u.Generation == 0 || u.Generation == s.Generation) {
		return u
	}
	if u, ok := b.usage[s.ID]; ok && u.Generation == s.Generation {
		u.Stale = true // nobody has looked at its transcript since
		return u.Usage
	}
	return Usage{Note: "no sample of this occupant", Confidence: ConfidenceNone}
}

func (v *RigView) sum() {
	unknown, starting, needs, why := 0, 0, 0, ""
	for i := range v.Seats {
		s := &v.Seats[i]
		switch s.Life {
		case LifeRunning:
			v.Running++
		case LifeUnknown:
			unknown++
			if unknown == 1 {
				why = s.LifeWhy
			} else if s.LifeWhy != why {
				why = "some seats cannot be read"
			}
		case LifeStarting:
			starting++
		case LifeAttention, LifeDead, LifeLost:
			needs++
		case LifeStopped, LifeNever:
		}
		if s.Activity.State == ActivityBusy && !s.Activity.Held() {
			v.Busy++
		}
	}
	v.Unknown = unknown
	switch {
	case unknown > 0:
		v.Life, v.Why = RigUnknown, why
	case needs > 0:
		v.Life, v.Why = RigAttention, "some seats need a person"
	case starting > 0:
		v.Life = RigStarting
	case v.Running == len(v.Seats) && v.Running > 0:
		v.Life = RigRunning
	case v.Running == 0:
		v.Life = RigStopped
	default:
		v.Life, v.Why = RigDegraded, "some seats do not run"
	}
}

func (f *Fleet) total() {
	t := Totals{Rigs: len(f.Rigs), Attention: 0}
	for _, a := range f.Attention {
		if a.Acked == "" {
			t.Attention++
		}
	}
	for i := range f.Rigs {
		r := &f.Rigs[i]
		t.Seats += len(r.Seats)
		t.Running += r.Running
		t.Busy += r.Busy
		t.Unknown += r.Unknown
		for j := range r.Seats {
			switch r.Seats[j].Activity.State {
			case ActivityWaiting:
				t.Waiting++
			case ActivityIdle, ActivityBusy, ActivityLimit, ActivityExited, ActivityUnknown:
			}
		}
	}
	f.Totals = t
}
