package engine

import (
	"context"
	"time"
)

// Local is the Console of this process: the watcher's pictures and the engine's
// verbs behind the façade that the screens know.
type Local struct {
	e *Engine
	w *Watcher
}

var _ Console = (*Local)(nil)

// Local makes the façade. Run must be running for pictures to arrive.
func (e *Engine) Local(w *Watcher) *Local { return &Local{e, w} }

// Subscribe implements Console.
func (l *Local) Subscribe(context.Context) <-chan *Fleet { return l.w.Subscribe() }

// Focus implements Console.
func (l *Local) Focus(ids []string) { l.w.Focus(ids) }

// Frames implements Console.
func (l *Local) Frames(context.Context) <-chan PaneFrame { return l.w.Frames() }

// Plan implements Console.
func (l *Local) Plan(ctx context.Context, r Request) (*Plan, error) { return l.e.Plan(ctx, r) }

// Apply implements Console.
func (l *Local) Apply(ctx context.Context, p *Plan, progress func(OpProgress)) (*Receipt, error) {
	return l.e.Apply(ctx, p, progress)
}

// Operation implements Console.
func (l *Local) Operation(ctx context.Context, id string) (Operation, []OperationStep, error) {
	return l.e.Operation(ctx, id)
}

// Operations implements Console.
func (l *Local) Operations(ctx context.Context, f OperationFilter) ([]Operation, error) {
	return l.e.Operations(ctx, f)
}

// Events implements Console.
func (l *Local) Events(ctx context.Context, f EventFilter) ([]Event, error) {
	return l.e.Events(ctx, f)
}

// SeatHistory implements Console.
func (l *Local) SeatHistory(ctx context.Context, seatID string) ([]Session, []Tenure, error) {
	return l.e.SeatHistory(ctx, seatID)
}

// SpecDrift implements Console.
func (l *Local) SpecDrift(ctx context.Context, seatID string) (SpecDrift, error) {
	return l.e.SpecDrift(ctx, seatID)
}

// Explain implements Console.
func (l *Local) Explain(ctx context.Context, seatID, topic string) (Explanation, error) {
	f := l.w.latest()
	if s := f.Seat(seatID); s != nil {
		x := explainSeat(s, topic, f.At)
		err := l.e.addPressure(ctx, &x, f, s, topic, true)
		return x, err
	}
	return Explanation{}, Errorf(CodeSeatNotFound, "no such seat in the picture").WithHint("it may have been removed")
}

// Jump implements Console.
func (l *Local) Jump(ctx context.Context, seatID string) (Jump, error) {
	return l.e.jump(ctx, l.w.latest().Seat(seatID))
}

// SwitchClient implements Console.
func (l *Local) SwitchClient(ctx context.Context, seatID, client string) error {
	s := l.w.latest().Seat(seatID)
	if s == nil || s.SessionName == "" {
		return Errorf("missing_canonical_session", "the seat has no session").WithHint("launch it first")
	}
	return l.e.d.Mux.SwitchClient(ctx, client, s.ToSee())
}

// Send implements Console.
func (l *Local) Send(ctx context.Context, seatID, text string) (Delivery, error) {
	s := l.w.latest().Seat(seatID)
	if s == nil {
		return Delivery{}, Errorf(CodeSeatNotFound, "no such seat in the picture").WithHint("it may have been removed")
	}
	return l.e.Send(ctx, s.Address, text, true)
}

// Ack implements Console.
func (l *Local) Ack(ctx context.Context, key string, seconds int) error {
	return l.e.d.Store.Write(ctx, func(tx Tx) error {
		if seconds < 0 {
			return tx.DeleteAck(key)
		}
		a := Ack{Key: key, By: l.e.Operator().Name, At: l.e.d.Clock.Now()}
		if seconds > 0 {
			a.Until = a.At.Add(time.Duration(seconds) * time.Second)
		}
		return tx.PutAck(a)
	})
}

// Operator implements Console.
func (l *Local) Operator() Operator { return l.e.Operator() }

// Events reads the audit log.
func (e *Engine) Events(ctx context.Context, f EventFilter) ([]Event, error) {
	var out []Event
	err := e.d.Store.Read(ctx, func(r Reader) error {
		var err error
		out, err = r.Events(f)
		return err
	})
	return out, err
}

// SeatHistory gives a seat's occupants through time, newest first.
func (e *Engine) SeatHistory(ctx context.Context, seatID string) ([]Session, []Tenure, error) {
	var sessions []Session
	var tenures []Tenure
	err := e.d.Store.Read(ctx, func(r Reader) (err error) {
		sessions, tenures, err = history(r, seatID)
		return err
	})
	return sessions, tenures, err
}

func history(r Reader, seatID string) ([]Session, []Tenure, error) {
	sessions, err := r.Sessions(seatID)
	if err != nil {
		return nil, nil, err
	}
	tenures, err := r.Tenures(seatID)
	return sessions, tenures, err
}

// seatAndRig reads a seat and the rig that it is of.
func (e *Engine) seatAndRig(ctx context.Context, seatID string) (seat Seat, rig Rig, err error) {
	err = e.d.Store.Read(ctx, func(r Reader) error {
		if seat, err = r.Seat(seatID); err == nil {
			rig, err = r.Rig(seat.RigID)
		}
		return err
	})
	return seat, rig, err
}
