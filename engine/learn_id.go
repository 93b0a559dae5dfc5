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
// start could not: a client that waited for a person had none to name yet. Only
// what the running client proves is taken, never an id that is another occupant's,
// and nothing of a seat that another operation holds. It is best effort, because
// whoever looks has work of its own: what it could not learn goes into the log.
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
	if session.Token.Empty() {
		w, err := r.e.look(ctx)
		if err != nil {
			r.e.d.Log.Warn("the conversation of a seat could not be looked for", "seat", s.Seat, "err", err)
			return false
		}
		seat := w.seats[session.SeatID]
		r.e.learnIDs(ctx, w, []Seat{seat}, r.looker())
		session = w.latest[seat.ID]
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
	if !had || !last.Token.Empty() || last.Status.Terminal() || at.presence != Present || at.dead || seat.Runtime == RuntimeTerminal {
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
	p := t.probe(e, e.screen(ctx, at.pane.ID))
	if e.paneIdentity(p, w.bindings[seat.ID], e.d.Procs.Start).Verdict == VerdictMismatch {
		return nil
	}
	id := rt.Identify(ctx, p)
	if !id.Proven || id.Token.Empty() {
		return nil
	}
	if whose, err := e.ownerBeside(ctx, w, seat, last, id); err != nil || whose != "" {
		return err
	}
	return e.d.Store.Write(ctx, func(tx Tx) error {
		tx.Durable() // without its id nobody finds the conversation again
		return e.recordLearned(tx, w, seat, last.ID, id, by)
	})
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
// if that is still the seat's and still has none; w then shows it too.
func (e *Engine) recordLearned(tx Tx, w *world, seat Seat, sessionID string, id Identity, by looker) error {
	now, err := tx.Seat(seat.ID)
	if err != nil {
		return err
	}
	session, err := tx.Session(sessionID)
	if err != nil {
		return err
	}
	if now.Generation != seat.Generation || session.Status.Terminal() || !captureToken(&session, id) {
		return nil
	}
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
		OpID: by.opID, Operator: by.operator, Payload: mustJSON(Evidence{"session_name": session.Name, "generation": now.Generation, "source": string(id.Provenance), "why": id.Why}),
	})
	return err
}
