package engine

import (
	"context"
	"time"
)

// Step kinds of the image library.
const (
	StepImageWrite   StepKind = "write_image"
	StepImageEvent   StepKind = "commit_image"
	StepImageAside   StepKind = "set_image_aside"
	StepImageDiscard StepKind = "discard_image"
	StepImagePin     StepKind = "pin_image"
	StepImageUsed    StepKind = "count_fork"
)

// imageSteps are the executors of the library's steps.
func imageSteps() map[StepKind]executor {
	return map[StepKind]executor{
		StepImageWrite:   {do: doImageWrite, undo: undoImageWrite, probe: probeImageWrite},
		StepImageEvent:   {commit: commitImageEvent},
		StepImageAside:   {do: doImageAside, undo: undoImageAside, probe: probeImageAside},
		StepImageDiscard: {do: doImageDiscard},
		StepImagePin:     {do: doImagePin, undo: undoImagePin},
		StepImageUsed:    {do: doImageUsed},
	}
}

func imageAt(s Step) ImageRef {
	return ImageRef{Root: s.Args["root"], Name: s.Args["name"], Version: s.Args["version"]}
}

func doImageWrite(ctx context.Context, r *run, _ Step) (Evidence, error) {
	v, _ := r.plan.Input("newimage")
	n, ok := v.(NewImage)
	if !ok {
		return nil, Errorf(CodeInternal, "the plan has no image")
	}
	n.Operation, n.CreatedAt = r.plan.ID, r.e.d.Clock.Now()
	img, err := r.e.d.Images.Write(ctx, n)
	if err != nil {
		return nil, err
	}
	r.addExtra("image", img)
	return Evidence{"image": img.ID, "path": img.Dir, "bytes": img.Stats.SizeBytes, "pinned": img.Pinned}, nil
}

func undoImageWrite(ctx context.Context, r *run, _ Step) error {
	r.addExtra("image", nil)
	return r.e.d.Images.Withdraw(ctx, r.plan.ID)
}

func probeImageWrite(ctx context.Context, r *run, _ Step) (StepState, error) {
	scan, err := r.e.d.Images.Scan(ctx)
	if err != nil {
		return StepUnknown, err
	}
	for _, i := range scan.Images {
		if i.Operation == r.plan.ID {
			return StepDone, nil
		}
	}
	return StepPending, nil
}

// commitImageEvent puts a change of the library into the audit log. No payload
// holds a native id.
func commitImageEvent(_ context.Context, r *run, s Step, tx Tx) (Evidence, error) {
	payload := map[string]any{"image": ImageID(s.Args["name"], s.Args["version"]), "root": s.Args["root"]}
	if n, ok := r.plan.Input("newimage"); ok {
		if img, ok := n.(NewImage); ok {
			payload["source_seat"], payload["runtime"] = img.SourceSeat, img.Runtime
		}
	}
	if r.plan.Reason != "" {
		payload["reason"] = r.plan.Reason
	}
	seq, err := tx.AppendEvent(Event{
		At: r.e.d.Clock.Now(), Type: s.Args["event"], OpID: r.plan.ID, Operator: r.plan.Operator.String(), Payload: mustJSON(payload),
	})
	r.mu.Lock()
	r.eventSeq = max(r.eventSeq, seq)
	r.mu.Unlock()
	return Evidence{"event": s.Args["event"]}, err
}

func doImageAside(ctx context.Context, r *run, s Step) (Evidence, error) {
	at := imageAt(s)
	return Evidence{"image": ImageID(at.Name, at.Version)}, r.e.d.Images.SetAside(ctx, r.plan.ID, at)
}

func undoImageAside(ctx context.Context, r *run, s Step) error {
	return r.e.d.Images.PutBack(ctx, r.plan.ID, imageAt(s))
}

func probeImageAside(_ context.Context, r *run, s Step) (StepState, error) {
	if r.e.d.Images.IsAside(r.plan.ID, imageAt(s)) {
		return StepDone, nil
	}
	return StepPending, nil
}

func doImageDiscard(ctx context.Context, r *run, s Step) (Evidence, error) {
	if err := r.e.d.Images.Discard(ctx, r.plan.ID, imageAt(s)); err != nil {
		return nil, err
	}
	r.appendExtra("deleted", s.Args["image"])
	if kept, ok := r.plan.Input("kept"); ok {
		r.addExtra("protected", kept)
	}
	return Evidence{"image": s.Args["image"]}, nil
}

func doImagePin(ctx context.Context, r *run, s Step) (Evidence, error) {
	when := time.Time{}
	if s.Args["pin"] == "true" {
		when = r.e.d.Clock.Now()
	}
	r.addExtra("image", map[string]any{"id": s.Args["image"], "pinned": !when.IsZero()})
	return Evidence{"image": s.Args["image"], "pinned": !when.IsZero()}, r.e.d.Images.SetPin(ctx, imageAt(s), when)
}

func undoImagePin(ctx context.Context, r *run, s Step) error {
	when := time.Time{}
	if s.Args["pin"] != "true" {
		when = r.e.d.Clock.Now()
	}
	return r.e.d.Images.SetPin(ctx, imageAt(s), when)
}

// doImageUsed counts a fork after its seat is on record. That the count could not
// be written is told and undoes nothing.
func doImageUsed(ctx context.Context, r *run, s Step) (Evidence, error) {
	if r.e.d.Images == nil {
		return Evidence{"counted": false}, nil
	}
	if err := r.e.d.Images.CountFork(ctx, imageAt(s), r.e.d.Clock.Now()); err != nil {
		r.warn("the fork was not counted in agent image " + s.Args["name"] + ": " + err.Error())
		return Evidence{"counted": false, "why": err.Error()}, nil
	}
	return Evidence{"counted": true}, nil
}
