package engine

import (
	"cmp"
	"context"
	"fmt"
	"strings"
)

// forkSource is a conversation on record that a handover can fork.
type forkSource struct {
	session Session
	seat    Seat
	ref     string // as fork: takes it; never an id of its client
	whose   string // on record: seat and generation
	current bool   // it is the seat's present conversation
	origin  origin // what is forked, and why nothing can be
}

// forkStart resolves fork:<ref> to a conversation that the record knows: a seat
// reference, a session of ours by name or id, or a native id. A raw native id is
// stored nowhere.
func (h *handover) forkStart(ctx context.Context, st *seatStart) error {
	found, err := h.e.forkSource(ctx, h.w, h.src.Ref)
	if err != nil {
		return err
	}
	st.Start = nil
	switch {
	case found == nil:
		h.p.BlockSeat(h.address, Errorf(CodeForkSourceNotFound, "no %s session %q on record", h.seat.Runtime, h.src.Ref).
			WithHint("name a seat, a session or a native id that `rig ps --seats` knows"))
		return nil
	case found.session.Runtime != h.seat.Runtime:
		h.p.BlockSeat(h.address, Errorf(CodeRuntimeMismatch, "the source is %s, the seat is %s", found.session.Runtime, h.seat.Runtime).WithHint("fork within one runtime"))
		return nil
	case found.origin.refuse != nil:
		h.p.BlockSeat(h.address, AsError(found.origin.refuse))
		return nil
	}
	st.Start, st.Source = StartFork{Parent: found.origin.parent}, found.whose
	found.origin.block(h.p)
	if found.seat.ID != h.seat.ID {
		h.p.Warnings = append(h.p.Warnings, "the source is not the incumbent's own conversation: it is that of "+found.whose)
	} else if !found.current {
		h.p.Warnings = append(h.p.Warnings, "the source is a former conversation of the seat: that of "+found.whose)
	}
	h.p.AddFact("fork/source", found.session.ID+" "+tokenDigest(found.origin.parent))
	h.p.Command = CommandLine("rig", "handover", h.address, "--source", "fork:"+found.ref, "--reason", h.p.Reason)
	return nil
}

// forkSource finds a conversation by a seat (its present one), by the name or id
// of a session of ours, or by its native id; nil when the record does not know
// it. Former occupants count.
func (e *Engine) forkSource(ctx context.Context, w *world, ref string) (*forkSource, error) {
	if seat, err := w.seat(ref); err == nil {
		if s, ok := w.latest[seat.ID]; ok {
			return e.newForkSource(ctx, w, seat, s), nil
		}
	}
	for _, s := range w.rec.Sessions {
		if s.Name == ref {
			return e.newForkSource(ctx, w, w.seats[s.SeatID], s), nil
		}
	}
	var found *forkSource
	err := e.d.Store.Read(ctx, func(r Reader) error {
		for _, seat := range w.rec.Seats {
			all, err := r.Sessions(seat.ID)
			if err != nil {
				return err
			}
			for _, s := range all {
				if s.ID == ref {
					found = e.newForkSource(ctx, w, seat, s)
				} else if SameNativeID(s.Token.Reveal(), ref) {
					found = onRecord(w, seat, s) // the operator means that very one
				}
				if found != nil {
					return nil
				}
			}
		}
		return nil
	})
	return found, err
}

// newForkSource takes the conversation that the occupant writes now, as a fork of
// its seat does; of a former occupant, the one on record.
func (e *Engine) newForkSource(ctx context.Context, w *world, seat Seat, s Session) *forkSource {
	f := onRecord(w, seat, s)
	if f.current && seat.Runtime != RuntimeTerminal {
		e.awaitWritten(ctx, seat, s)
		f.origin = e.originAt(ctx, w, seat, false)
	}
	return f
}

// onRecord takes the conversation whose id the record holds.
func onRecord(w *world, seat Seat, s Session) *forkSource {
	f := &forkSource{session: s, seat: seat, whose: occupantName(w.address(seat), s.Generation)}
	f.current = w.latest[seat.ID].ID == s.ID
	if f.ref = s.ID; f.current {
		f.ref = w.address(seat)
	}
	f.origin = origin{seat: seat, session: s, address: w.address(seat), parent: NewParentToken(s.Token.Reveal())}
	if s.Token.Empty() {
		f.origin.refuse = Errorf(CodeTokenUnavailable, "no conversation of %s is on record", f.whose).
			WithHint("prompt it once, then try again; or use --source fresh")
	}
	return f
}

// HandoverSources lists where a seat's successor can come from: a fresh start,
// the seat's kept artifacts, every conversation on record, its own first, and the
// sessions in tmux that belong to nobody. What cannot be chosen says why.
func (e *Engine) HandoverSources(ctx context.Context, seatID string) ([]SourceOption, error) {
	found, scanErr := e.Discover(ctx, true)
	w, err := e.look(ctx)
	if err != nil {
		return nil, err
	}
	seat, ok := w.seats[seatID]
	if !ok {
		return nil, Errorf(CodeSeatNotFound, "no such seat on record").WithHint("it may have been removed")
	}
	out := []SourceOption{
		{Source: "fresh", Note: "a new conversation, with a packet of the state of the work"},
		e.rebuildOption(ctx, w, seat),
	}
	if seat.Runtime == RuntimeTerminal {
		out[0].Note = restartedBlank
	} else if out, err = e.forkOptions(ctx, w, seat, out); err != nil {
		return nil, err
	}
	if scanErr != nil {
		return append(out, SourceOption{Source: "discovered:", Label: "a session in tmux", Trouble: AsError(scanErr).Msg}), nil
	}
	for _, d := range found {
		if d.Status == "vanished" {
			continue
		}
		o := SourceOption{
			Source: "discovered:" + d.ID, Label: "discovered:" + d.SessionName + " " + string(d.Pane),
			Note: cmp.Or(string(d.RuntimeHint), "?") + ", your own session in " + d.Cwd,
		}
		if bad := e.discoveredTrouble(ctx, w, seat, d); len(bad) > 0 {
			o.Trouble = bad[0].Msg
		}
		out = append(out, o)
	}
	return out, nil
}

// rebuildOption says what a seat has kept that could prime a successor.
func (e *Engine) rebuildOption(ctx context.Context, w *world, seat Seat) SourceOption {
	o := SourceOption{Source: "rebuild"}
	switch {
	case seat.Runtime == RuntimeTerminal:
		o.Trouble = "a terminal has no conversation to rebuild"
		return o
	case e.d.Contexts == nil:
		o.Trouble = "this build cannot read artifacts"
		return o
	}
	chain, err := e.d.Contexts.Chain(ctx, seat, w.address(seat))
	switch {
	case err != nil:
		o.Trouble = AsError(err).Msg
	case chain.Empty != "":
		o.Note = "nothing is kept that could prime it: " + chain.Empty
	default:
		var kept []string
		for _, a := range chain.Artifacts {
			kept = append(kept, a.Label+" of "+agoWord(w, a))
		}
		o.Note = "from " + strings.Join(kept, ", ")
		if n := len(chain.Gaps); n > 0 {
			o.Note += fmt.Sprintf("; %d missing", n)
		}
	}
	return o
}

// agoWord says how old an artifact is, in the coarsest unit that is not zero.
func agoWord(w *world, a Artifact) string {
	switch d := w.now.Sub(a.Modified); {
	case d.Hours() >= 48:
		return fmt.Sprintf("%d days ago", int(d.Hours()/24))
	case d.Hours() >= 1:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	case d.Minutes() >= 1:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	}
	return "just now"
}

// forkOptions adds every conversation on record: the seat's present one first,
// then its former ones, then those of other seats.
func (e *Engine) forkOptions(ctx context.Context, w *world, seat Seat, out []SourceOption) ([]SourceOption, error) {
	var own, others []forkSource
	err := e.d.Store.Read(ctx, func(r Reader) error {
		for _, other := range w.rec.Seats {
			if other.ID != seat.ID {
				if s, ok := w.latest[other.ID]; ok && other.Runtime != RuntimeTerminal {
					others = append(others, *e.newForkSource(ctx, w, other, s))
				}
				continue
			}
			all, err := r.Sessions(other.ID)
			if err != nil {
				return err
			}
			for _, s := range all {
				f := e.newForkSource(ctx, w, other, s)
				if f.current {
					own = append([]forkSource{*f}, own...)
				} else if now := w.latest[other.ID].Token.Reveal(); !s.Token.Empty() && !SameNativeID(s.Token.Reveal(), now) { // a resumed one is no former one
					own = append(own, *f)
				}
			}
		}
		return nil
	})
	for _, f := range append(own, others...) {
		out = append(out, e.forkOption(ctx, w, seat, f))
	}
	return out, err
}

func (e *Engine) forkOption(ctx context.Context, w *world, seat Seat, f forkSource) SourceOption {
	o := SourceOption{Source: "fork:" + f.ref, Note: "a copy of its present conversation; that one goes on"}
	switch {
	case f.seat.ID == seat.ID && f.current:
		o.Note = "a copy of the seat's own conversation"
	case f.seat.ID == seat.ID:
		o.Label = "fork:" + w.address(seat) + ", generation " + itoa(f.session.Generation)
		o.Note = "a former conversation of the seat, " + cmp.Or(string(f.session.Status), "ended")
	}
	o.Trouble = e.forkTrouble(ctx, seat, f)
	return o
}

// forkTrouble says why a conversation cannot be forked into a seat, "" when
// nothing is known to be in the way.
func (e *Engine) forkTrouble(ctx context.Context, seat Seat, f forkSource) string {
	switch {
	case f.session.Runtime != seat.Runtime:
		return fmt.Sprintf("it is %s, the seat is %s", f.session.Runtime, seat.Runtime)
	case f.origin.refuse != nil:
		return "no conversation of it is on record yet: prompt it once"
	}
	rt, err := e.runtime(seat.Runtime)
	if err != nil {
		return AsError(err).Msg
	}
	from := parent{token: f.origin.parent, called: "the conversation", source: f.whose}
	line, err := rt.Line(LaunchRequest{Seat: seat, Address: f.whose, Start: withIDs(e.d.IDs, StartFork{Parent: from.token}), Env: e.d.Env})
	if err != nil {
		return AsError(err).Msg
	}
	if err := judgeParent(seat, from, rt.Conversation(ctx, from.token.Reveal(), seat.Cwd, line.Homes)); err != nil {
		return AsError(err).Msg
	}
	return ""
}

// discoveredTrouble lists every reason why a discovered session cannot take a
// seat.
func (e *Engine) discoveredTrouble(ctx context.Context, w *world, seat Seat, d DiscoveredSession) (out []*Error) {
	bad := func(code Code, hint, format string, a ...any) {
		out = append(out, Errorf(code, format, a...).WithHint("%s", hint))
	}
	pane, ok := w.inv.Pane(d.Pane)
	switch {
	case d.Status != "active":
		bad("discovered_not_active", "`rig discover --rescan`", "the discovered session is %s", d.Status)
	case d.Socket != "" && d.Socket != e.d.Mux.Socket():
		bad("client_elsewhere", "point RIG_TMUX_SOCKET there", "it lives on another tmux server (%s)", d.Socket)
	case w.inv.Server == Unknown:
	case !ok || d.Epoch != w.inv.Epoch || pane.PID != d.PID:
		bad("successor_tmux_absent", "`rig discover --rescan`", "the session is not there any more")
	case pane.Seat == seat.ID:
		bad("successor_is_current", "name another session", "it is the incumbent itself")
	case pane.Seat != "":
		bad("successor_already_managed", "`rig ps --seats` shows whose", "its pane belongs to another seat")
	case pane.Dead:
		bad(CodePaneDead, "choose a session that runs", "its process has ended")
	}
	if d.RuntimeHint != "" && d.RuntimeHint != seat.Runtime {
		bad(CodeRuntimeMismatch, "choose a session of the seat's runtime", "it looks like %s, the seat is %s", d.RuntimeHint, seat.Runtime)
	}
	if len(out) == 0 {
		out = append(out, e.unfit(ctx, w, seat, pane)...)
	}
	return out
}

// unfit lists what speaks against a pane of the operator's as a seat's occupant: that
// the operator sits in it now, or that it holds the conversation of another seat.
func (e *Engine) unfit(ctx context.Context, w *world, seat Seat, pane Pane) (out []*Error) {
	if pane.ID == PaneID(e.d.Self.Pane) && e.d.Self.Socket == e.d.Mux.Socket() {
		out = append(out, Errorf("own_pane", "it is the pane that you are in").WithHint("choose the session of the agent"))
	}
	// Where nobody can tell whose conversation it is, its id is not taken either.
	if _, whose, err := e.conversationIn(ctx, w, seat, pane); err == nil && whose != "" {
		out = append(out, Errorf(CodeForeignToken, "it has the conversation of %s open", whose).
			WithHint("one conversation has one seat: end it there first, or fork from it with --source fork:…"))
	}
	return out
}

// warnUntold says of a pane that nothing shows the seat's client in it.
func warnUntold(p *Plan, seat Seat, d DiscoveredSession) {
	if d.RuntimeHint == "" && seat.Runtime != RuntimeTerminal {
		p.Warnings = append(p.Warnings, fmt.Sprintf("nothing tells that a %s client runs in session %s: it shows %q", seat.Runtime, d.SessionName, d.Command))
	}
}

// carriesKey is where the evidence of a packet keeps what the successor was given of
// the work.
const carriesKey = "carries"

// What a successor may have been given of the work.
const (
	carriesPacket    = "packet"
	carriesArtifacts = "artifacts"
	carriesNothing   = "nothing"
)

func carried(h Handoff) string {
	switch {
	case h.Dir != "":
		return carriesPacket
	case len(h.Sources) > 0:
		return carriesArtifacts
	}
	return carriesNothing
}

// goOn says to a successor what it goes on with: it must not look for a packet that
// does not exist.
func goOn(carries string) string {
	switch carries {
	case carriesArtifacts:
		return " Go on with the work that the artifacts in your opening prompt name; where they name none, say so and wait to be told."
	case carriesNothing:
		return " Nothing was kept of your predecessor's work: take up your inbound work, if there is any; otherwise say so and wait to be told."
	}
	return " Go on with the work that the packet names, beginning with what it calls current."
}

// doGo tells the successor, after the commit, that the seat is its own now.
func doGo(ctx context.Context, r *run, s Step) (Evidence, error) {
	text := goWords + s.Seat + goCommitted + goOn(r.saw("packet").Str(carriesKey))
	d, err := r.e.sendAs(ctx, r.sender(), s.Seat, text, false)
	if err != nil {
		err = thenSend(err, s.Seat, text)
	}
	return Evidence{"outcome": d.Outcome, "why": d.Why}, err
}

// thenSend adds to a failed message how to send it by hand: its seat still waits for
// it. One of which nobody knows whether it came is not to be sent again.
func thenSend(err error, seat, text string) error {
	told := *AsError(err)
	if told.Code == CodeUncertain || told.Code == CodeNotSubmitted {
		return err
	}
	told.Hint = strings.TrimPrefix(told.Hint+"; then tell it, it waits: `rig send "+seat+" "+ShellQuote(text)+"`", "; ")
	return &told
}
