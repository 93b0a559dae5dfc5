package engine

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// origin is the occupant that a fork or an image starts from, with the id of the
// conversation that it writes now.
type origin struct {
	seat    Seat
	session Session
	address string
	parent  ParentToken
	cleared bool   // it writes another conversation than the one on record
	unsure  string // why it may write another one than the one that is taken
	busy    bool
	refuse  error // why nothing can start from it
}

// name is how receipts, rows and events call the origin: never by an id of its
// client.
func (o origin) name() string { return occupantName(o.address, o.session.Generation) }

func (o origin) ref() string { return o.address }

// block puts what is wrong with the origin, and what should be known of it, into
// a plan.
func (o origin) block(p *Plan) {
	if o.refuse != nil {
		p.BlockSeat(o.address, o.refuse)
	}
	if o.cleared {
		p.Warnings = append(p.Warnings, o.name()+" has moved to another conversation since it was recorded; the one it writes now is taken")
	}
	if o.unsure != "" {
		p.Warnings = append(p.Warnings, o.name()+": the conversation on record is taken, and it may be an earlier one: "+o.unsure)
	}
	if o.busy {
		p.Warnings = append(p.Warnings, o.name()+" is in mid-turn: what it has not written yet is not taken, and the child is not driven on")
	}
}

// originOf finds the present occupant of a seat, by the seat or by the name of
// its session. An unknown or ambiguous reference is an error; an occupant that
// cannot be a source is told in the origin.
func (e *Engine) originOf(ctx context.Context, w *world, ref string) (origin, error) {
	seat, err := w.seat(ref)
	if err != nil {
		found := false
		for _, s := range w.rec.Sessions {
			if s.Name == ref && !s.Status.Terminal() {
				seat, found = w.seats[s.SeatID], true
			}
		}
		if !found {
			return origin{}, err
		}
	}
	return e.originAt(ctx, w, seat, true), nil
}

// originAt judges the present occupant of a seat as a source. Without a look at
// its screen nothing is said of whether it is in mid-turn.
func (e *Engine) originAt(ctx context.Context, w *world, seat Seat, look bool) origin {
	o := origin{seat: seat, address: w.address(seat), session: w.latest[seat.ID]}
	switch {
	case seat.Runtime == RuntimeTerminal:
		o.refuse = Errorf(CodeUnsupportedKind, "a terminal has no conversation to fork").WithHint("name an agent's seat")
	case o.session.ID == "":
		o.refuse = Errorf(CodeTokenUnavailable, "the seat never had an occupant").WithHint("launch it and prompt it once")
	default:
		e.readOrigin(ctx, w, &o, look)
	}
	return o
}

// readOrigin asks the running client for the conversation that it writes: after
// /clear it is another than the one on record. The record is the second source.
func (e *Engine) readOrigin(ctx context.Context, w *world, o *origin, look bool) {
	token := o.session.Token.Reveal()
	rt, err := e.runtime(o.seat.Runtime)
	if err != nil {
		o.refuse = err
		return
	}
	if at := w.locate(o.seat.ID); at.presence == Present && !at.dead {
		probe := e.probeLive(w, o.seat, o.session, at.pane)
		if look {
			e.awaitWritten(ctx, o.seat, o.session)
			probe.Screen = e.screen(ctx, at.pane.ID)
		}
		switch id := rt.Identify(ctx, probe); {
		case id.Proven && !id.Token.Empty():
			o.cleared = token != "" && !SameNativeID(id.Token.Reveal(), token)
			token = id.Token.Reveal()
		case id.Code == CodeSeveral:
			o.unsure = id.Why
		}
		o.busy = look && rt.Activity(ctx, probe).State == ActivityBusy
	}
	if token == "" {
		o.refuse = Errorf(CodeTokenUnavailable, "no conversation of %s is on record", o.name()).
			WithHint(promptOnce)
		return
	}
	o.parent = NewParentToken(token)
}

// probeLive gathers what a runtime needs to judge an occupant that runs, but for
// its screen.
func (e *Engine) probeLive(w *world, seat Seat, s Session, pane Pane) Probe {
	p := Probe{Seat: seat, Address: w.address(seat), Session: s, Pane: pane, Started: s.CreatedAt, Now: w.now}
	// Unreadable reports count as none: the client's own files decide.
	p.Run, p.RunKnown, _ = e.d.Occupants.RunState(s.ID)
	p.Signals, _ = e.d.Occupants.Signals(s.ID)
	return p
}

// parent is a conversation that a seat is to be forked from, and how to call it.
type parent struct {
	token  ParentToken
	called string // in refusals: "conversation <id>" only where the operator wrote the id
	source string // on record: seat and generation, or what is known instead
	hint   string // what to do when it has no conversation yet; "" = it was named by its id
}

// promptOnce is what to do with a client that has written no conversation yet: it
// keeps none before its first prompt.
const promptOnce = "prompt it once, then try again: a client keeps no conversation before that"

// forkFrom makes a start that forks a conversation, and collects every reason
// why it cannot: a directory that is not the parent's, a parent that is not
// there. Nothing else is ever started in its place.
func (e *Engine) forkFrom(ctx context.Context, p *Plan, seat Seat, st *seatStart, from parent) {
	st.Start, st.Kind, st.Good, st.Source, st.Judged = StartFork{Parent: from.token}, "fork", ContinuityForked, from.source, true
	p.AddFact("seat/"+st.Address+"/source", tokenDigest(from.token))
	rt, err := e.runtime(seat.Runtime)
	if err != nil {
		return // planStart blocks it
	}
	if !rt.Caps().Fork {
		p.BlockSeat(st.Address, Errorf(CodeUnsupportedKind, "%s cannot fork a conversation", seat.Runtime).WithHint("leave session_source out"))
		return
	}
	line, err := rt.Line(LaunchRequest{Seat: seat, Address: st.Address, Start: withIDs(e.d.IDs, st.Start), Env: e.d.Env})
	if err != nil {
		return // Preflight says the same
	}
	conv := rt.Conversation(ctx, from.token.Reveal(), seat.Cwd, line.Homes)
	if err := judgeParent(seat, from, conv); err != nil {
		p.BlockSeat(st.Address, err)
		return
	}
	p.AddFact("seat/"+st.Address+"/parent", "present")
	p.Warnings = append(p.Warnings, caveatsOf(st.Address, conv)...)
}

// judgeParent says why a conversation cannot be forked into a seat.
func judgeParent(seat Seat, from parent, conv ConversationState) error {
	recorded, _ := conv.Details["recorded_cwd"].(string)
	switch {
	case recorded != "" && !sameDir(recorded, seat.Cwd):
		return Errorf("fork_cwd_mismatch", "the seat's directory is %s, and %s began in %s", seat.Cwd, from.called, recorded).
			WithHint("set the seat's cwd to %s: a client finds a conversation by its directory", recorded)
	case conv.Exists == Absent:
		return Errorf(CodeForkSourceNotFound, "%s has no %s: %s", seat.Runtime, strings.TrimPrefix(from.called, "the "), orNone(conv.Why)).
			WithHint("%s", cmp.Or(from.hint, "nothing is launched, and nothing fresh in its place; give the id of a conversation that was prompted"))
	case conv.Exists == Unknown:
		return Errorf(CodeUnavailable, "whether %s has %s cannot be told: %s", seat.Runtime, from.called, orNone(conv.Why)).
			WithHint("make its folder readable and plan again")
	case conv.Details["blocks"] == true:
		return Errorf(CodeBlockedConv, "%s cannot be forked: %s", from.called, orNone(conv.Why)).
			WithHint("do what the message says, then plan again")
	}
	return nil
}

func caveatsOf(address string, conv ConversationState) []string {
	var out []string
	for _, c := range conv.Caveats {
		out = append(out, address+": its source: "+c)
	}
	if conv.Live {
		out = append(out, fmt.Sprintf("%s: its source is in use (process %d); it goes on untouched, and what it has not written yet is not taken", address, conv.LivePID))
	}
	return out
}

// conversationCodes are the blockers with which a runtime's own preflight speaks
// of a stored conversation; where the planner has judged it, they say nothing
// new.
var conversationCodes = []Code{"no_conversation_found", "conversation_live", "conversation_blocked", CodeUnavailable}

// sameDir reports whether two directories are one, links followed.
func sameDir(a, b string) bool {
	real := func(dir string) string {
		if r, err := filepath.EvalSymlinks(dir); err == nil {
			return r
		}
		return filepath.Clean(dir)
	}
	if real(a) == real(b) {
		return true
	}
	x, errA := os.Stat(a)
	y, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(x, y)
}

// tokenDigest stands for an id in a plan's basis.
func tokenDigest(t ParentToken) string {
	sum := sha256.Sum256([]byte(strings.ToLower(t.Reveal())))
	return hex.EncodeToString(sum[:8])
}

// occupantOf finds the occupant whose conversation an id is, also a former one. A
// record that cannot be read is an error: it does not say that nobody has it.
func (e *Engine) occupantOf(ctx context.Context, w *world, rt RuntimeName, token ParentToken) (Session, string, bool, error) {
	var found Session
	err := e.d.Store.Read(ctx, func(r Reader) error {
		for _, seat := range w.rec.Seats {
			if seat.Runtime != rt {
				continue
			}
			all, err := r.Sessions(seat.ID)
			if err != nil {
				return err
			}
			for _, s := range all {
				if SameNativeID(s.Token.Reveal(), token.Reveal()) && s.CreatedAt.After(found.CreatedAt) {
					found = s
				}
			}
		}
		return nil
	})
	if err != nil || found.ID == "" {
		return Session{}, "", false, err
	}
	return found, occupantName(w.address(w.seats[found.SeatID]), found.Generation), true, nil
}

// redactPrompt takes secrets out of what becomes an argument of a process.
func (e *Engine) redactPrompt(text string) string {
	if e.d.Redact == nil || text == "" {
		return text
	}
	return e.d.Redact(text)
}

// redactScreen takes secrets out of rows of a screen before they are kept.
func (e *Engine) redactScreen(rows []string) []string {
	if e.d.RedactScreen == nil || len(rows) == 0 {
		return rows
	}
	return e.d.RedactScreen(rows)
}
