package engine

import "context"

// ForkOffer is a seat or an image that a new seat could be forked from, with the
// reason when it cannot.
type ForkOffer struct {
	Ref     string      `json:"ref"` // as `rig fork` takes it: an address, or the id of an image
	Image   bool        `json:"image"`
	Runtime RuntimeName `json:"runtime"`
	Rig     string      `json:"rig,omitempty"` // of a seat
	Pod     string      `json:"pod,omitempty"`
	About   string      `json:"about,omitempty"` // what there is to know of it
	Code    Code        `json:"code,omitempty"`  // "" = it can be forked
	Why     string      `json:"why,omitempty"`
	Hint    string      `json:"hint,omitempty"`
}

// ForkOffers lists every seat and every image, seats in the order of the record,
// and says of each whether a fork can start from it now. It judges as the plan of
// a fork does, but for what only the child's place decides, and changes nothing.
func (e *Engine) ForkOffers(ctx context.Context) ([]ForkOffer, error) {
	w, err := e.look(ctx)
	if err != nil {
		return nil, err
	}
	out := []ForkOffer{}
	for _, rig := range w.rec.Rigs {
		for _, seat := range w.seatsOf(rig.ID) {
			out = append(out, e.offerSeat(ctx, w, rig, seat))
		}
	}
	if e.d.Images == nil {
		return out, nil
	}
	scan, err := e.d.Images.Scan(ctx)
	if err != nil {
		return out, err
	}
	for _, img := range scan.Images {
		if !img.Shadowed {
			out = append(out, e.offerImage(ctx, img))
		}
	}
	return out, nil
}

func (e *Engine) offerSeat(ctx context.Context, w *world, rig Rig, seat Seat) ForkOffer {
	o := e.originAt(ctx, w, seat, false)
	f := ForkOffer{Ref: o.address, Runtime: seat.Runtime, Rig: rig.Name, Pod: seat.Pod}
	if o.cleared {
		f.About = "it writes another conversation than the one on record; that one is taken"
	}
	if o.refuse != nil {
		f.refuse(BlockerFrom(o.refuse))
		return f
	}
	f.judge(ctx, e, seat, o.parentOf())
	return f
}

func (e *Engine) offerImage(ctx context.Context, img Image) ForkOffer {
	f := ForkOffer{Ref: img.ID, Image: true, Runtime: img.Runtime, About: "of " + img.SourceSeat}
	if img.Link || img.Parent.Empty() {
		f.refuse(BlockerFrom(Errorf(CodeImageInvalid, "%s holds no conversation", img.Called()).WithHint("it is not followed; delete removes the link alone")))
		return f
	}
	f.judge(ctx, e, Seat{Runtime: img.Runtime, Cwd: img.SourceCwd, Model: img.Model, Effort: img.Effort}, img.parentOf())
	return f
}

// judge asks what a plan would say of the source, by the same path.
func (f *ForkOffer) judge(ctx context.Context, e *Engine, seat Seat, from parent) {
	if _, err := e.runtime(seat.Runtime); err != nil {
		f.refuse(BlockerFrom(err))
		return
	}
	var p Plan
	e.forkFrom(ctx, &p, seat, &seatStart{Address: f.Ref}, from)
	if len(p.Blockers) > 0 {
		f.refuse(p.Blockers[0])
	}
}

func (f *ForkOffer) refuse(b Blocker) { f.Code, f.Why, f.Hint = b.Code, b.Message, b.Hint }
