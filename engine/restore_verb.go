package engine

import "context"

// VerbRestore brings a rig back from a snapshot that an operator names.
const VerbRestore Verb = "restore"

// RestoreArgs are the arguments of `rig restore`.
type RestoreArgs struct {
	Snapshot string `json:"snapshot"`
	// Fresh names seats that are deliberately primed afresh.
	Fresh           []string `json:"fresh,omitempty"`
	FreshUnprompted bool     `json:"fresh_unprompted,omitempty"`
}

// planRestore plans a restore; the request's target is the rig.
func planRestore(ctx context.Context, e *Engine, w *world, p *Plan) error {
	args, err := DecodeArgs[RestoreArgs](p.Request)
	if err != nil {
		return err
	}
	if args.Snapshot == "" || p.Request.Target == "" {
		return Errorf(CodeInvalid, "a snapshot and its rig are required").WithHint("`rig up <rig>` brings a rig back from its newest one; `rig snapshot list <rig>` lists them; `rig restore <snapshot> --rig <rig>`")
	}
	rig, err := w.rig(p.Request.Target)
	if err != nil {
		return err
	}
	words := []string{"rig", "restore", args.Snapshot, "--rig", rig.Name}
	for _, f := range args.Fresh {
		words = append(words, "--fresh", f)
	}
	if args.FreshUnprompted {
		words = append(words, "--fresh-unprompted")
	}
	p.Target, p.Command, p.Detached = rig.Name, CommandLine(words...), true
	e.serverFact(w, p)
	opt := reviveOptions{fresh: args.Fresh, unprompted: args.FreshUnprompted, snapshot: args.Snapshot, attempt: true}
	return e.newRevival(w, p, opt).rig(ctx, rig)
}

// Start begins a detached plan and does not wait for its end: the id of the
// operation is the plan's. Without a spawner it runs here, to its end.
func (e *Engine) Start(ctx context.Context, shown *Plan) (opID string, err error) {
	if !shown.Applicable() {
		return "", blockedError(shown)
	}
	if e.d.Spawner == nil || !shown.Detached {
		_, err := e.applyHere(ctx, shown, nil)
		return shown.ID, err
	}
	if err := e.spawn(ctx, shown); err != nil {
		return "", err
	}
	op, _, err := e.Operation(ctx, shown.ID)
	if err == nil && op.State.Ended() { // it may have been refused before it began
		_, err = receiptOf(op)
	}
	return shown.ID, err
}
