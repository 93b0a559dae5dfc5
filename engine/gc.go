package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// VerbGC removes what nothing needs any more.
const VerbGC Verb = "gc"

// Step kinds of the removal.
const (
	StepGCRecord  StepKind = "commit_gc"
	StepGCDiscard StepKind = "discard_relics"
)

// gcFloor is the least age of anything that is removed: an operation under way
// has files that the record does not know yet.
const gcFloor = time.Hour

// gcKeep is how many packets, maps and automatic snapshots of one series stay
// however old they are.
const gcKeep = 3

// gcAge is the age from which a relic of a kind is old.
func gcAge(kind RelicKind) time.Duration {
	const day = 24 * time.Hour
	switch kind {
	case RelicOccupant:
		return 7 * day
	case RelicLog:
		return 14 * day
	case RelicTicket, RelicTemporary:
		return day
	case RelicPacket, RelicMap, relicSnapshot:
	}
	return 30 * day
}

// relicSnapshot stands for a row of the record among the kinds.
const relicSnapshot RelicKind = "snapshot"

// gcName is a kind of relic with what it is called.
type gcName struct {
	kind RelicKind
	name string
}

// gcNames are the kinds of files in the order in which they are shown.
func gcNames() []gcName {
	return []gcName{
		{RelicOccupant, "launch and hook files of ended occupants"},
		{RelicTicket, "requests that nobody took up"},
		{RelicLog, "log files"},
		{RelicTemporary, "half-written files"},
		{RelicPacket, "restore packets"},
		{RelicMap, "restore maps of compactions"},
	}
}

// GCArgs are the arguments of `rig gc`.
type GCArgs struct {
	// OlderThan replaces the age of every kind; 0 = each kind's own. Never below an
	// hour.
	OlderThan time.Duration `json:"older_than,omitempty"`
}

// age is how old a kind must be.
func (a GCArgs) age(kind RelicKind) time.Duration {
	if a.OlderThan > 0 {
		return a.OlderThan
	}
	return gcAge(kind)
}

// planGC plans to remove files and snapshots that are old and that nothing living
// refers to. What a person made, or what cannot be judged, stays.
func planGC(ctx context.Context, e *Engine, w *world, p *Plan) error {
	args, err := DecodeArgs[GCArgs](p.Request)
	if err != nil {
		return err
	}
	if args.OlderThan < 0 || args.OlderThan > 0 && args.OlderThan < gcFloor {
		return Errorf(CodeInvalid, "%s is too young to be called old", args.OlderThan).WithHint("an hour (1h) is the least; without the flag each kind has its own age")
	}
	p.Target, p.Leases, p.Command = "what is old", []string{"gc"}, "rig gc"
	if args.OlderThan > 0 {
		p.Command += " --older-than " + args.OlderThan.String()
	}
	going, err := e.oldRelics(ctx, w, args)
	if err != nil {
		return err
	}
	rows, err := e.oldSnapshots(ctx, w, args)
	if err != nil {
		return err
	}
	p.SetInput("relics", going)
	p.SetInput("snapshots", rows)
	e.gcPhases(p, going, rows)
	for _, r := range rows {
		if key := "rig:" + r.RigID; !slices.Contains(p.Leases, key) {
			p.Leases = append(p.Leases, key)
		}
	}
	p.Unchanged = append(p.Unchanged,
		"every occupant that runs or may run, and the newest of each seat", "snapshots that somebody asked for, and the newest three of each rig",
		"the newest three packets and maps of each seat, and each seat's RECAP.md and LEARNED.md",
		"the audit log, every conversation of every client, and agent images (`rig agent-image prune`)")
	if len(going)+len(rows) == 0 {
		p.Warnings = append(p.Warnings, "nothing is old enough to be removed")
	}
	return nil
}

// gcPhases adds the steps: the record first, in one transaction with its event,
// then the files, kind by kind.
func (e *Engine) gcPhases(p *Plan, going []Relic, rows []SnapshotRow) {
	if len(going)+len(rows) == 0 {
		return
	}
	ph := Phase{ID: "gc", Unit: "gc", Title: "Remove what is old", Steps: []Step{{
		ID: "gc/record", Kind: StepGCRecord, Effect: EffectCommit, Title: "record it, and delete " + Counted(len(rows), "snapshot"),
		Args: map[string]string{"snapshots": fmt.Sprint(len(rows))},
	}}}
	for _, k := range gcNames() {
		var paths []string
		var bytes int64
		for _, r := range going {
			if r.Kind == k.kind {
				paths, bytes = append(paths, r.Path), bytes+r.Bytes
			}
		}
		if len(paths) == 0 {
			continue
		}
		p.AddFact("gc/"+string(k.kind), strings.Join(paths, "\n"))
		p.Changes = append(p.Changes, Change{Field: k.name, Before: fmt.Sprintf("%d, %s", len(paths), sizeWord(bytes)), After: "removed"})
		ph.Steps = append(ph.Steps, Step{
			ID: "gc/" + string(k.kind), Kind: StepGCDiscard, Effect: EffectOneWay, Title: fmt.Sprintf("remove %d %s", len(paths), k.name),
			Args: map[string]string{"kind": string(k.kind)},
		})
	}
	for _, r := range rows {
		p.AddFact("gc/snapshot/"+r.ID, r.Kind)
		p.Changes = append(p.Changes, Change{Field: "snapshot " + r.ID, Before: r.Kind + ", " + r.CreatedAt.UTC().Format(time.DateOnly), After: "deleted"})
	}
	p.Phases = append(p.Phases, ph)
}

// sizeWord writes a number of bytes for people.
func sizeWord(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.0f KB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}

// oldRelics lists the files that may go, by kind and path.
func (e *Engine) oldRelics(ctx context.Context, w *world, args GCArgs) ([]Relic, error) {
	if e.d.Attic == nil {
		return nil, nil
	}
	all, err := e.d.Attic.Relics(ctx, w.rec.Seats)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b Relic) int { return b.At.Compare(a.At) }) // newest first
	count := map[string]int{}
	var out []Relic
	for _, r := range all {
		count[r.Series]++
		if r.Series != "" && count[r.Series] <= gcKeep || w.now.Sub(r.At) < max(args.age(r.Kind), gcFloor) {
			continue
		}
		if r.Kind == RelicOccupant {
			ended, err := e.occupantEnded(ctx, r.Name, w.now.Add(-args.age(r.Kind)))
			if err != nil || !ended {
				continue // what cannot be judged stays
			}
		}
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b Relic) int { return strings.Compare(string(a.Kind)+a.Path, string(b.Kind)+b.Path) })
	return out, nil
}

// occupantEnded reports proof that an occupant is history: its row says that it
// ended before that time and is not the newest of its seat, or there is no row;
// and no process that it reported is there.
func (e *Engine) occupantEnded(ctx context.Context, id string, before time.Time) (bool, error) {
	ended := false
	err := e.d.Store.Read(ctx, func(r Reader) error {
		s, err := r.Session(id)
		if CodeOf(err) == CodeNotFound {
			ended = true
			return nil
		}
		if err != nil {
			return err
		}
		list, err := r.Sessions(s.SeatID)
		newest := len(list) == 0 || list[0].ID == id
		over := s.Status == SessionExited || s.Status == SessionSuperseded
		ended = over && !newest && !s.EndedAt.IsZero() && s.EndedAt.Before(before)
		return err
	})
	if err != nil || !ended {
		return false, err
	}
	state, known, err := e.d.Occupants.RunState(id)
	if err != nil || !known {
		return err == nil, err
	}
	for _, pid := range []int{state.PID, state.SupervisorPID} {
		if pid == 0 {
			continue
		}
		start, there, err := e.d.Procs.Start(pid)
		if err != nil || there && (pid == state.SupervisorPID || start == state.PIDStart) {
			return false, err
		}
	}
	return true, nil
}

// oldSnapshots lists the automatic snapshots that may go, rig by rig.
func (e *Engine) oldSnapshots(ctx context.Context, w *world, args GCArgs) ([]SnapshotRow, error) {
	var out []SnapshotRow
	err := e.d.Store.Read(ctx, func(r Reader) error {
		for _, rig := range w.rec.Rigs {
			rows, err := r.Snapshots(rig.ID)
			if err != nil {
				return err
			}
			kept := 0
			for _, row := range rows { // newest first
				if row.Kind == SnapshotManual {
					continue
				}
				if kept < gcKeep && row.Status == SnapshotComplete {
					kept++
					continue
				}
				if w.now.Sub(row.CreatedAt) >= args.age(relicSnapshot) {
					out = append(out, row)
				}
			}
		}
		return nil
	})
	return out, err
}

// commitGC deletes the snapshots and records the whole removal, in one
// transaction.
func commitGC(_ context.Context, r *run, _ Step, tx Tx) (Evidence, error) {
	rows, relics := gcInputs(r.plan)
	for _, row := range rows {
		if err := tx.DeleteSnapshot(row.ID); err != nil && CodeOf(err) != CodeNotFound {
			return nil, err
		}
	}
	var bytes int64
	for _, f := range relics {
		bytes += f.Bytes
	}
	payload := map[string]any{"snapshots": len(rows), "files": len(relics), "bytes": bytes}
	if r.plan.Reason != "" {
		payload["reason"] = r.plan.Reason
	}
	seq, err := tx.AppendEvent(Event{
		At: r.e.d.Clock.Now(), Type: "gc.done", OpID: r.plan.ID, Operator: r.plan.Operator.String(), Payload: mustJSON(payload),
	})
	r.mu.Lock()
	r.eventSeq = max(r.eventSeq, seq)
	r.mu.Unlock()
	r.addExtra("removed", payload)
	return Evidence(payload), err
}

func gcInputs(p *Plan) ([]SnapshotRow, []Relic) {
	a, _ := p.Input("snapshots")
	b, _ := p.Input("relics")
	rows, _ := a.([]SnapshotRow)
	relics, _ := b.([]Relic)
	return rows, relics
}

// doGCDiscard removes the files of one kind. One that cannot be removed is told
// and keeps no other from going.
func doGCDiscard(ctx context.Context, r *run, s Step) (Evidence, error) {
	_, relics := gcInputs(r.plan)
	gone, failed := 0, 0
	for _, f := range relics {
		if string(f.Kind) != s.Args["kind"] {
			continue
		}
		if err := r.e.d.Attic.Discard(ctx, f); err != nil {
			failed++
			r.warn(f.Path + " was not removed: " + err.Error())
			continue
		}
		gone++
	}
	return Evidence{"removed": gone, "left": failed}, nil
}
