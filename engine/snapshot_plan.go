package engine

import (
	"context"
	"strconv"
	"strings"
)

// VerbSnapshot saves a snapshot of a rig.
const VerbSnapshot Verb = "snapshot"

// Step kinds of the snapshot that an operator asked for.
const (
	StepSnapshotLook StepKind = "look_snapshot"
	StepSnapshotMade StepKind = "commit_snapshot"
)

// CodeSnapshotPartial says that a snapshot was saved without sight of tmux: it
// is kept for evidence and never chosen by a restore.
const CodeSnapshotPartial Code = "snapshot_partial"

// SnapshotArgs are the arguments of `rig snapshot create`.
type SnapshotArgs struct {
	// Intended names the seats, by logical id or address, that a later restore is
	// to judge; none = every seat that the rig has now.
	Intended []string `json:"intended_seats,omitempty"`
}

// planSnapshot plans one snapshot. A name that is no seat of the rig is refused,
// never left out.
func planSnapshot(ctx context.Context, e *Engine, w *world, p *Plan) error {
	args, err := DecodeArgs[SnapshotArgs](p.Request)
	if err != nil {
		return err
	}
	rig, err := w.rig(p.Request.Target)
	if err != nil {
		return err
	}
	intended, err := pickSeats(rig, w.seatsOf(rig.ID), args.Intended)
	if err != nil {
		return err
	}
	words := []string{"rig", "snapshot", "create", rig.Name}
	if len(intended) > 0 {
		words = append(words, "--intended-seats", strings.Join(intended, ","))
	}
	p.Target, p.Command, p.Leases = rig.Name, CommandLine(words...), []string{"rig:" + rig.ID}
	p.AddFact("rig/"+rig.Name, rig.ID)
	if note := w.blindness(rig); note != "" {
		p.Warnings = append(p.Warnings, "it will be partial, and no restore will choose it: "+note)
	}
	roster := "intended: all of " + Counted(len(w.seatsOf(rig.ID)), "seat")
	if len(intended) > 0 {
		roster = "intended seats: " + strings.Join(intended, ", ")
	}
	p.Phases = []Phase{{ID: "snapshot", Unit: "snapshot", Title: "Save a snapshot of " + rig.Name, Steps: []Step{
		{
			ID: "snapshot/look", Kind: StepSnapshotLook, Effect: EffectNone, Title: "read the record and tmux; " + roster,
			Args: map[string]string{"rig_id": rig.ID, "intended": strings.Join(intended, ",")},
		},
		{ID: "snapshot/save", Kind: StepSnapshotMade, Effect: EffectCommit, Title: "store it whole, with its event"},
	}}}
	there := 0
	if err := e.d.Store.Read(ctx, func(r Reader) error {
		rows, err := r.Snapshots(rig.ID)
		there = len(rows)
		return err
	}); err != nil {
		return err
	}
	p.Changes = append(p.Changes, Change{
		Field: "snapshots of " + rig.Name, Before: strconv.Itoa(there), After: strconv.Itoa(there+1) + ", the new one of kind " + SnapshotManual,
	})
	p.Unchanged = append(p.Unchanged, "every seat, and the snapshots that are there")
	return nil
}

// doSnapshotLook reads the rig before the record is locked for the commit.
func doSnapshotLook(ctx context.Context, r *run, s Step) (Evidence, error) {
	var intended []string
	if text := s.Args["intended"]; text != "" {
		intended = strings.Split(text, ",")
	}
	row, err := r.e.makeSnapshot(ctx, s.Args["rig_id"], SnapshotManual, intended, r.looker())
	if err != nil {
		return nil, err
	}
	r.memory.Store("snapshot", row)
	return snapshotEvidence(row), nil
}

// commitSnapshot stores what was read, whole or not at all.
func commitSnapshot(_ context.Context, r *run, _ Step, tx Tx) (Evidence, error) {
	v, _ := r.memory.Load("snapshot")
	row, ok := v.(SnapshotRow)
	if !ok {
		return nil, Errorf(CodeInternal, "nothing was read for the snapshot")
	}
	if err := r.putSnapshot(tx, row); err != nil {
		return nil, err
	}
	r.addExtra("snapshot", snapshotExtra(row))
	return snapshotEvidence(row), nil
}

// judgeSnapshot makes the receipt of a snapshot without sight of tmux unclean.
func (r *run) judgeSnapshot(rec *Receipt) {
	got, ok := rec.Extra["snapshot"].(map[string]any)
	if !ok || got["status"] == SnapshotComplete || r.plan.Verb != VerbSnapshot {
		return
	}
	note, _ := got["note"].(string)
	rec.OK = false
	rec.Error = Errorf(CodeSnapshotPartial, "the snapshot is partial: %s", note).On("snapshot", r.plan.Target).
		WithHint("it is kept for evidence and no restore chooses it; the last good one stays; `rig snapshot list %s`", r.plan.Target)
}
