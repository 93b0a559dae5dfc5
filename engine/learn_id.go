package engine

import (
	"context"
	"encoding/json"
)

// EventConversationLearned says that a seat's native id came onto the record after its start.
const EventConversationLearned = "seat.conversation_learned"

// looker is who looks at a rig and writes down what was found.
type looker struct {
	operator string
	opID     string // of the operation that looks, "" outside of one
}

func (r *run) looker() looker { return looker{r.plan.Operator.String(), r.plan.ID} }

// learnIDs puts onto the record which conversation the occupants run, where their
// start could not, because a client that waited for a person had none to name yet, and
// where the client has moved to another one since, as after /clear. Only what the
// running client proves is taken, never an id that is another occupant's, and nothing
// of a seat that another operation holds. It is best effort, because whoever looks has
// work of its own: what it could not learn goes into the log.
func (e *Engine) learnIDs(ctx context.Context, w *world, seats []Seat, by looker) {
	for _, seat := range seats {
		if err := e.learnID(ctx, w, seat, by); err != nil {
			e.d.Log.Warn("the conversation of a seat could not be recorded", "seat", w.address(seat), "err", err)
		}
	}
}

// neverPromptedKey marks the stop of an occupant that held its conversation open and
// had written nothing of it, in the journal and in the event.
const neverPromptedKey = "never_prompted"

// lastLook asks an occupant about its conversation before it is stopped: one that
// has ended proves nothing. Its id goes onto the record if it is not there; the answer
// says whether it was provably never prompted.
func (r *run) lastLook(ctx context.Context, s Step, session Session, at where) (unprompted bool) {
	rt, err := r.e.runtime(session.Runtime)
	if err != nil || session.Runtime == RuntimeTerminal || at.dead {
		return false
	}
	w, err := r.e.look(ctx)
	if err != nil {
		r.e.d.Log.Warn("the conversation of a seat could not be looked for", "seat", s.Seat, "err", err)
		return false
	}
	if now, ok := w.seats[session.SeatID]; ok && w.latest[now.ID].ID == session.ID {
		r.e.learnIDs(ctx, w, []Seat{now}, r.looker())
		session = w.latest[now.ID]
	}
	seat := Seat{ID: session.SeatID, Runtime: session.Runtime, Generation: session.Generation}
	return r.e.unwritten(ctx, target{seat: seat, session: session, address: s.Seat, pane: at.pane, rt: rt})
}

// stoppedUnprompted reports that the stop of an occupant found it never prompted.
func stoppedUnprompted(r Reader, seat Seat) (bool, error) {
	last, err := r.Events(EventFilter{SeatID: seat.ID, Types: []string{"session.stopped"}, Newest: true, Limit: 1})
	if err != nil || len(last) == 0 {
		return false, err
	}
	var ev struct {
		Generation int64 `json:"generation"`
		Never      bool  `json:"never_prompted"`
	}
	return json.Unmarshal(last[0].Payload, &ev) == nil && ev.Never && ev.Generation == seat.Generation, nil
}

func (e *Engine) learnID(ctx context.Context, w *world, seat Seat, by looker) error {
	last, had := w.latest[seat.ID]
	at := w.locate(seat.ID)
	if !had || last.Status.Terminal() || at.presence != Present || at.dead || seat.Runtime == RuntimeTerminal {
		return nil
	}
	if lease, held := w.leases["seat:"+seat.ID]; held && lease.OpID != by.opID {
		return nil
	}
	rt, err := e.runtime(seat.Runtime)
	if err != nil {
		return err
	}
	t := target{seat: seat, session: last, address: w.address(seat), pane: at.pane, rt: rt}
	p := e.probeLive(w, seat, last, at.pane)
	if last.Token.Empty() {
		p = t.probe(e, e.screen(ctx, at.pane.ID))
	}
	if e.strangersPane(w, seat, p) {
		return nil
	}
	id, learned, err := e.newConversation(ctx, w, t, rt.Identify(ctx, p))
	if err != nil || !learned {
		return err
	}
	return e.d.Store.Write(ctx, func(tx Tx) error {
		tx.Durable() // without its id nobody finds the conversation again
		return e.recordLearned(tx, w, seat, last, id, by)
	})
}

// strangersPane reports that what runs in a seat's pane is positively not its occupant.
func (e *Engine) strangersPane(w *world, seat Seat, p Probe) bool {
	return e.paneIdentity(p, w.bindings[seat.ID], e.d.Procs.Start).Verdict == VerdictMismatch
}

// newConversation reports whether what a running client proves is a conversation that
// the record lacks: the first one of its occupant, or another one to which it has moved
// since. To an empty one nobody can come back, so it counts when its client has written
// it; and what an operator has put on record stands above what a client says.
func (e *Engine) newConversation(ctx context.Context, w *world, t target, id Identity) (Identity, bool, error) {
	last := t.session
	switch {
	case !id.Proven || id.Token.Empty(), id.Provenance.Rank() < last.Provenance.Rank():
		return id, false, nil
	case last.Token.Empty():
	case SameNativeID(id.Token.Reveal(), last.Token.Reveal()):
		return id, false, nil
	case t.rt.Conversation(ctx, id.Token.Reveal(), t.seat.Cwd, last.Homes).Exists != Present:
		return id, false, nil
	}
	whose, err := e.ownerBeside(ctx, w, t.seat, last, id)
	return id, err == nil && whose == "", err
}

// asItIsNow is an occupant with the conversation that its client writes now, which the
// record need not have yet. Whoever reads a conversation reads this one.
func (e *Engine) asItIsNow(ctx context.Context, w *world, seat Seat, session Session) Session {
	at := w.locate(seat.ID)
	rt, err := e.runtime(seat.Runtime)
	if err != nil || seat.Runtime == RuntimeTerminal || w.latest[seat.ID].ID != session.ID || at.presence != Present || at.dead {
		return session
	}
	p := e.probeLive(w, seat, session, at.pane)
	if e.strangersPane(w, seat, p) {
		return session
	}
	t := target{seat: seat, session: session, address: w.address(seat), pane: at.pane, rt: rt}
	if id, is, err := e.newConversation(ctx, w, t, rt.Identify(ctx, p)); err == nil && is {
		session.Token, session.Provenance = id.Token, id.Provenance
	}
	return session
}

// CodeSeveral is the code of an identity that is not told because the client holds
// several conversations open, as a Codex does after /new.
const CodeSeveral Code = "several_conversations"

// undecided says that a running client may write another conversation than the one on
// record, and why that cannot be told; "" when it can.
func (e *Engine) undecided(ctx context.Context, w *world, seat Seat, session Session) string {
	at := w.locate(seat.ID)
	rt, err := e.runtime(seat.Runtime)
	if err != nil || w.latest[seat.ID].ID != session.ID || at.presence != Present || at.dead {
		return ""
	}
	if id := rt.Identify(ctx, e.probeLive(w, seat, session, at.pane)); id.Code == CodeSeveral {
		return id.Why
	}
	return ""
}

// leftCaveat is what is to be known of a conversation on record which its client had
// left for another one when nobody looked.
const leftCaveat = "its client reported that it had moved to another conversation, which is not on record"

// movedUnseen reports that the hooks of an occupant name another conversation than the
// one on record as the last that it began. That is a report, and no proof of which one
// to go on with; an operator's word stands above it.
func (e *Engine) movedUnseen(last Session) bool {
	sig, err := e.d.Occupants.Signals(last.ID)
	if err != nil || last.Token.Empty() || last.Provenance == ProvenanceOperator {
		return false
	}
	for i := len(sig.Hooks) - 1; i >= 0; i-- {
		var began struct {
			ID    string `json:"session_id"`
			Agent string `json:"agent_id"`
		}
		if sig.Hooks[i].Event != "SessionStart" || json.Unmarshal(sig.Hooks[i].Payload, &began) != nil || began.Agent != "" {
			continue
		}
		if id, err := CheckNativeID(last.Runtime, began.ID); err == nil {
			return !SameNativeID(id, last.Token.Reveal())
		}
	}
	return false
}

// ownerBeside says whose conversation an id is when it is not the occupant's own: what
// its seat was forked from, or another occupant's, also a former one's. "" is nobody's.
func (e *Engine) ownerBeside(ctx context.Context, w *world, seat Seat, last Session, id Identity) (string, error) {
	if e.namesParent(ctx, seat, id.Token.Reveal()) {
		return "the one that it was forked from", nil
	}
	owner, whose, known, err := e.occupantOf(ctx, w, seat.Runtime, NewParentToken(id.Token.Reveal()))
	if err != nil || !known || owner.ID == last.ID {
		return "", err
	}
	return whose, nil
}

// recordLearned writes a proven id into the row of the occupant that was looked at,
// if that is still the seat's and still has what it had; w then shows it too.
func (e *Engine) recordLearned(tx Tx, w *world, seat Seat, last Session, id Identity, by looker) error {
	now, err := tx.Seat(seat.ID)
	if err != nil {
		return err
	}
	session, err := tx.Session(last.ID)
	if err != nil {
		return err
	}
	if now.Generation != seat.Generation || session.Status.Terminal() || session.Token.Reveal() != last.Token.Reveal() {
		return nil
	}
	moved := !last.Token.Empty()
	session.Token, session.Provenance = id.Token, id.Provenance
	session.LastVerified = e.d.Clock.Now()
	if err := settleFork(tx, &now, &session); err != nil {
		return err
	}
	if err := tx.UpdateSession(&session); err != nil {
		return err
	}
	if err := tx.UpdateSeat(&now); err != nil {
		return err
	}
	w.latest[seat.ID] = session
	_, err = tx.AppendEvent(Event{
		At: e.d.Clock.Now(), Type: EventConversationLearned, RigID: seat.RigID, SeatID: seat.ID, Seat: w.address(seat), Rig: w.rigs[seat.RigID].Name,
		OpID: by.opID, Operator: by.operator, Payload: mustJSON(Evidence{"session_name": session.Name, "generation": now.Generation, "source": string(id.Provenance), "why": id.Why, "moved": moved}),
	})
	return err
}
