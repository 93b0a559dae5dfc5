package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"time"
)

// Gather collects what the record and the clients' files hold of one occupant of
// a seat: its transcript, the seat's role, edges, inbound work and startup files.
// Generation 0 means the present occupant; another one is looked up among the
// seat's occupants. OpID, Reason and Screen stay empty. Nothing is written.
//
// It refuses a reference that names no seat or several, and a generation that the
// seat never had. A transcript that cannot be found is not an error: TranscriptW
// says why.
func (e *Engine) Gather(ctx context.Context, ref string, generation int64) (PacketInput, error) {
	w, err := e.look(ctx)
	if err != nil {
		return PacketInput{}, err
	}
	seat, err := w.seat(ref)
	if err != nil {
		return PacketInput{}, err
	}
	session := w.latest[seat.ID]
	if generation != 0 && generation != session.Generation {
		if session, err = e.occupant(ctx, seat, generation); err != nil {
			return PacketInput{}, err
		}
	}
	return e.gather(ctx, w, seat, session)
}

// occupant finds a seat's occupant by its generation.
func (e *Engine) occupant(ctx context.Context, seat Seat, generation int64) (Session, error) {
	all, _, err := e.SeatHistory(ctx, seat.ID)
	if err != nil {
		return Session{}, err
	}
	for _, s := range all {
		if s.Generation == generation {
			return s, nil
		}
	}
	return Session{}, Errorf(CodeNotFound, "the seat has no occupant of generation %d", generation).On("", seat.Logical()).
		WithHint("`rig seat status` lists its occupants")
}

func (e *Engine) gather(ctx context.Context, w *world, seat Seat, session Session) (PacketInput, error) {
	id := e.identify(w, seat)
	in := PacketInput{
		Seat: seat, Address: w.address(seat), Session: session, Operator: e.Operator().String(), Now: w.now, Peers: id.Peers, Edges: id.Edges,
	}
	rt, err := e.runtime(seat.Runtime)
	if err != nil {
		return in, err
	}
	switch f, ok := rt.(transcriptFinder); {
	case !ok:
		in.TranscriptW = "this runtime keeps no transcript"
	case session.ID == "":
		in.TranscriptW = "the seat never had an occupant"
	default:
		in.Session = e.asItIsNow(ctx, w, seat, session)
		in.Transcript, in.TranscriptW = f.Transcript(ctx, in.Session, seat.Cwd)
		if why := e.undecided(ctx, w, seat, session); why != "" {
			in.Gaps = append(in.Gaps, "the transcript may be of an earlier conversation: "+why)
		}
	}
	err = e.d.Store.Read(ctx, func(rd Reader) error {
		if in.Work, err = rd.Work(seat.ID); err != nil {
			return err
		}
		st, err := rd.StartupContext(seat.ID)
		if CodeOf(err) == CodeNotFound {
			return nil
		}
		in.Startup = startupPaths(st.Files)
		return err
	})
	in.FromRecord = err == nil
	return in, err
}

// startupPaths gives the files that a seat's startup names.
func startupPaths(raw json.RawMessage) []string {
	var files []StartupFile
	if json.Unmarshal(raw, &files) != nil {
		return nil
	}
	out := make([]string, 0, len(files))
	for _, f := range files {
		out = append(out, cmp.Or(f.Abs, f.Path))
	}
	return out
}

// LatestWork is when a piece of work was last changed; zero without any.
func LatestWork(items []WorkItem) time.Time {
	var at time.Time
	for _, w := range items {
		if w.UpdatedAt.After(at) {
			at = w.UpdatedAt
		}
	}
	return at
}
