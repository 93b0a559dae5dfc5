package tuitest

import (
	"context"
	"encoding/json"
	"time"

	"rig/engine"
)

// fate is what would become of a made-up seat.
type fate struct {
	action string
	status engine.CheckStatus
	code   engine.Code
	why    string
	remedy string
}

func fates() map[string]fate {
	wait := string(engine.ContinuityAwaiting)
	return map[string]fate{
		"impl":      {"resume-original", engine.CheckGreen, "", "its conversation is on disk", ""},
		"qa":        {wait, engine.CheckRed, engine.CodeNoToken, "no resume token on record", "`rig up shop --fresh dev.qa` starts it anew on purpose; `rig seat set-resume-token dev-qa@shop --token-stdin --reason …` gives it one"},
		"review":    {wait, engine.CheckRed, engine.CodeLost, "its conversation is not on disk", "bring its file back, then `rig up shop`; or `rig up shop --fresh dev.review` starts it anew on purpose"},
		"architect": {"resume-original", engine.CheckYellow, "", "its conversation is on disk (in 3 days the client removes it)", "talk to the seat, or keep a copy of the file"},
		"scout":     {string(engine.ContinuityFailed), engine.CheckRed, "", "its directory /home/ana/shop is not there", "mkdir -p /home/ana/shop"},
		"shell":     {string(engine.ContinuityFreshPrimed), engine.CheckGreen, "", "no_conversation_by_nature", ""},
		"deploy":    {"unknown", engine.CheckUnknown, engine.CodeUnavailable, "whether its conversation exists cannot be told: permission denied", "make it readable, then `rig up shop`"},
		"spare":     {"launch", engine.CheckGreen, "", "it never had an occupant, so nothing can be lost", ""},
	}
}

func fateOf(member string) fate {
	if f, ok := fates()[member]; ok {
		return f
	}
	return fates()["impl"]
}

// selection is the snapshot that restores of a made-up rig stand on.
func selection() engine.SnapshotSelection {
	return engine.SnapshotSelection{
		ID: "snap-0042", Kind: engine.SnapshotPeriodic, CreatedAt: Start().Add(-4 * time.Minute), Age: "4m", Mode: "automatic",
		Rationale: "the newest usable of auto-pre-down and auto-periodic",
	}
}

// RestoreCheck gives each member its own fate.
func (c *Console) RestoreCheck(_ context.Context, opt engine.RestoreCheckOptions) (engine.RestoreCheckReport, error) {
	rep := engine.RestoreCheckReport{Verdict: engine.VerdictNotRestorable, At: Start(), Rigs: []engine.RestoreCheckRig{}}
	if err := c.call("RestoreCheck"); err != nil {
		return rep, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	rep.Checks = append(rep.Checks, opt.Host...)
	for i := range c.fleet.Rigs {
		r := &c.fleet.Rigs[i]
		rig := engine.RestoreCheckRig{Rig: r.Name, RigID: r.ID, Verdict: engine.VerdictNotRestorable, Snapshot: selection()}
		rep.Checks = append(rep.Checks,
			engine.RestoreCheckItem{Check: "rig." + r.Name + ".snapshot", Status: engine.CheckGreen, Evidence: "snap-0042, 4m old", Source: "record", Rig: r.Name},
			engine.RestoreCheckItem{Check: "rig." + r.Name + ".spec-present", Status: engine.CheckYellow, Evidence: r.SpecPath + " is not there; the record has the seats", Source: "file", Remedy: "put the spec back, or bring the rig up from another", Rig: r.Name})
		for j := range r.Seats {
			s := &r.Seats[j]
			f := fateOf(s.Member)
			rig.Seats = append(rig.Seats, engine.RestoreCheckSeat{
				Seat: s.Address, SeatID: s.ID, Runtime: s.Runtime, Status: f.status, Action: f.action, Code: f.code, Why: f.why, Remedy: f.remedy, Live: "present",
			})
			rep.Checks = append(rep.Checks,
				engine.RestoreCheckItem{Check: "seat." + s.Address + ".conversation", Status: f.status, Evidence: f.why, Source: "record", Remedy: f.remedy, Rig: r.Name, Seat: s.Address},
				engine.RestoreCheckItem{Check: "seat." + s.Address + ".launch", Status: engine.CheckGreen, Evidence: "its client can be started", Source: "preflight", Rig: r.Name, Seat: s.Address})
		}
		rep.Rigs = append(rep.Rigs, rig)
	}
	return rep, nil
}

// AllSnapshots gives four of the first rig: of each use one.
func (c *Console) AllSnapshots(context.Context) ([]engine.SnapshotView, error) {
	if err := c.call("AllSnapshots"); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.fleet.Rigs) == 0 {
		return nil, nil
	}
	r := &c.fleet.Rigs[0]
	at := func(id, kind string, ago time.Duration) engine.SnapshotView {
		v := engine.SnapshotView{
			ID: id, RigID: r.ID, Rig: r.Name, Kind: kind, Status: engine.SnapshotComplete, CreatedAt: Start().Add(-ago), Seats: len(r.Seats),
			Roster: engine.RosterTopology, Usable: true,
		}
		for j := range r.Seats {
			v.Intended = append(v.Intended, r.Seats[j].Logical)
		}
		return v
	}
	newest, manual := at("snap-0042", engine.SnapshotPeriodic, 4*time.Minute), at("snap-0041", engine.SnapshotManual, 2*time.Hour)
	newest.Chosen = true
	manual.Roster, manual.Intended = engine.RosterExplicit, manual.Intended[:2]
	blind, old := at("snap-0040", engine.SnapshotPeriodic, 3*time.Hour), at("snap-0039", engine.SnapshotPreDown, 26*time.Hour)
	blind.Status, blind.Note, blind.Usable, blind.Why = "partial", "tmux did not answer", false, "it was made without sight of tmux"
	old.Usable, old.Why = false, "dev.impl has had another occupant since"
	return []engine.SnapshotView{newest, manual, blind, old}, nil
}

// Snapshot gives the seats of one of them.
func (c *Console) Snapshot(ctx context.Context, id string) (engine.SnapshotDetail, error) {
	if err := c.call("Snapshot"); err != nil {
		return engine.SnapshotDetail{}, err
	}
	list, err := c.AllSnapshots(ctx)
	for _, v := range list {
		if v.ID != id {
			continue
		}
		d := engine.SnapshotDetail{SnapshotView: v}
		c.mu.Lock()
		defer c.mu.Unlock()
		for j := range c.fleet.Rigs[0].Seats {
			s := &c.fleet.Rigs[0].Seats[j]
			d.Detail = append(d.Detail, engine.SnapshotSeat{
				Seat: s.Logical, Runtime: s.Runtime, Intended: j < len(v.Intended), Generation: s.Generation, Status: "running", Pane: "present", Token: "8f3a…", Cwd: s.Cwd,
			})
		}
		return d, nil
	}
	return engine.SnapshotDetail{}, err
}

// Restores gives two: one that an operator put in order since, and a clean one.
func (c *Console) Restores(context.Context, int) ([]engine.RestoreStatus, error) {
	if err := c.call("Restores"); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.fleet.Rigs) == 0 {
		return nil, nil
	}
	r := &c.fleet.Rigs[0]
	first := engine.RestoreStatus{
		Attempt: "op-up7", Rig: r.Name, RigID: r.ID, StartedAt: Start().Add(-5 * time.Hour), EndedAt: Start().Add(-5 * time.Hour), Selection: selection(),
		Original: engine.RestorePartial, Current: engine.RestorePartial,
		Excluded: []engine.ExcludedSeat{{Seat: "lab-old@" + r.Name, Reason: engine.ExcludedHistorical}},
	}
	for j := range r.Seats {
		s := engine.RestoreSeat{Seat: r.Seats[j].Address, Original: engine.ContinuityResumed, Current: engine.ContinuityResumed}
		switch r.Seats[j].Member {
		case "qa":
			s.Original, s.Current = engine.ContinuityAwaiting, engine.ContinuityAwaiting
			s.Why, s.Remedy = fateOf("qa").why, fateOf("qa").remedy
			first.Unresolved = append(first.Unresolved, s.Seat)
		case "review":
			s.Original, s.Current = engine.ContinuityAttention, engine.ContinuityRecovered
			first.Reconciliations = append(first.Reconciliations, engine.Reconciliation{Seat: s.Seat, From: s.Original, To: s.Current, By: "ana", At: Start().Add(-4 * time.Hour)})
		}
		first.Seats = append(first.Seats, s)
		first.Intended = append(first.Intended, s.Seat)
	}
	second := first
	second.Attempt, second.StartedAt = "op-up2", Start().Add(-51*time.Hour)
	second.Original, second.Current, second.Unresolved, second.Reconciliations, second.Excluded = engine.RestoreFull, engine.RestoreFull, nil, nil, nil
	second.Seats = nil
	for _, s := range first.Seats {
		second.Seats = append(second.Seats, engine.RestoreSeat{Seat: s.Seat, Original: engine.ContinuityResumed, Current: engine.ContinuityResumed})
	}
	return []engine.RestoreStatus{first, second}, nil
}

// restored reports whether a request brings back a rig of the picture, and gives
// it with the seats to start fresh.
func (c *Console) restored(r engine.Request) (*engine.RigView, map[string]bool) {
	if r.Verb != engine.VerbUp && r.Verb != engine.VerbRestore {
		return nil, nil
	}
	var a engine.RestoreArgs // both verbs call it fresh
	if len(r.Args) > 0 && json.Unmarshal(r.Args, &a) != nil {
		return nil, nil
	}
	fresh := map[string]bool{}
	for _, f := range a.Fresh {
		fresh[f] = true
	}
	for i := range c.fleet.Rigs {
		if c.fleet.Rigs[i].Name == r.Target {
			return &c.fleet.Rigs[i], fresh
		}
	}
	return nil, nil
}

// planRestored makes a plan that brings a rig back, each seat by its fate.
func planRestored(p *engine.Plan, rig *engine.RigView, fresh map[string]bool) {
	p.Phases, p.Changes = nil, nil
	p.Phases = append(p.Phases, engine.Phase{ID: "begin", Title: "Begin the restore of " + rig.Name, Steps: []engine.Step{
		{ID: "snap", Kind: "snap", Title: "save what is there before anything is changed"},
		{ID: "begin", Kind: "begin", Title: "put the attempt on record; it stands on snapshot snap-0042, auto-periodic, 4m old"},
	}})
	for i := range rig.Seats {
		s := &rig.Seats[i]
		f := fateOf(s.Member)
		if fresh[s.Logical] {
			f = fate{action: string(engine.ContinuityFreshPrimed), why: "asked for by name"}
		}
		if f.action == "unknown" {
			f = fate{action: "already_running", why: "its pane is alive"}
		}
		p.Intents = append(p.Intents, engine.Intent{Seat: s.Address, Action: f.action, Reason: f.why})
		ph := engine.Phase{ID: s.Address, Unit: s.Address, Title: "Launch " + s.Address}
		add := func(kind, title string, e engine.Effect) {
			ph.Steps = append(ph.Steps, engine.Step{ID: s.Address + "/" + kind, Kind: engine.StepKind(kind), Title: title, Seat: s.Address, Effect: e})
		}
		switch f.action {
		case "already_running":
			continue
		case string(engine.ContinuityAwaiting), string(engine.ContinuityFailed):
			ph.Title = "Leave " + s.Address + " as it is"
			add(string(engine.StepRestoreLeave), "start nothing, and record: "+f.action, engine.EffectCommit)
			p.Warnings = append(p.Warnings, s.Address+" awaits a decision: "+f.why)
		default:
			add("create", "create its session", engine.EffectReversible)
			add("ready", "wait until it is proven ready", engine.EffectReversible)
			add("bind", "record binding and generation, and the event", engine.EffectCommit)
			p.Changes = append(p.Changes, engine.Change{Seat: s.Address, Field: "generation", Before: "2", After: "3"})
		}
		p.Phases = append(p.Phases, ph)
	}
}

// receiptRestored says of each seat what its fate came to.
func receiptRestored(r *engine.Receipt, p *engine.Plan, rig *engine.RigView) {
	v := engine.RestoreVerdict{Rig: rig.Name, RigID: rig.ID, Result: engine.RestorePartial, Selection: selection()}
	r.OK, r.Outcome, r.Operation.State, r.Seats = false, "partial", engine.OpPartial, nil
	for _, i := range p.Intents {
		s := engine.SeatReceipt{Seat: i.Seat, Action: i.Action, Binding: engine.BindingUnchanged, Generation: 3}
		switch i.Action {
		case "resume-original":
			s.Outcome, s.Evidence = engine.ContinuityResumed, map[string]any{"pid": 4812, "registry": "idle", "transcript": "grew"}
		case string(engine.ContinuityAwaiting):
			s.Outcome, s.Action, s.Generation = engine.ContinuityAwaiting, "not_started", 2
			s.Error = engine.Errorf(engine.CodeAwaiting, "%s", i.Reason).WithHint("`rig up %s --fresh …` starts it anew on purpose", rig.Name)
		case string(engine.ContinuityFailed):
			s.Outcome, s.Action, s.Generation = engine.ContinuityFailed, "not_started", 2
			s.Error = engine.Errorf("cwd_missing", "%s", i.Reason).WithHint("create it, or correct cwd in the spec")
		case "already_running":
			s.Generation = 2
		default:
			s.Outcome = engine.ContinuityFreshPrimed
		}
		r.Seats = append(r.Seats, s)
	}
	r.Extra = map[string]any{"restore": []engine.RestoreVerdict{v}}
}
