package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// StepRigRows writes a new rig's rows.
const StepRigRows StepKind = "commit_rig_rows"

// UpArgs are the arguments of `rig up`.
type UpArgs struct {
	Spec  string            `json:"spec"`            // a file, a starter, or the name of a rig on record
	Cwd   string            `json:"cwd,omitempty"`   // replaces where relative cwds start
	Env   map[string]string `json:"env,omitempty"`   // added to every seat
	Fresh []string          `json:"fresh,omitempty"` // logical ids that are deliberately primed afresh
	// FreshUnprompted primes every agent afresh that was never prompted and so
	// has nothing to continue.
	FreshUnprompted bool `json:"fresh_unprompted,omitempty"`
	// All brings every rig on record back; Spec is empty then.
	All bool `json:"all,omitempty"`
}

// planUp creates and launches a spec, or brings a rig on record back by name.
func planUp(ctx context.Context, e *Engine, w *world, p *Plan) error {
	args, err := DecodeArgs[UpArgs](p.Request)
	if err != nil {
		return err
	}
	if args.All {
		return planUpAll(ctx, e, w, p, args)
	}
	if args.Spec == "" {
		args.Spec = p.Request.Target
	}
	if args.Spec == "" {
		return Errorf(CodeInvalid, "a spec, a starter or a rig is required").WithHint("`rig spec list` lists the starters, `rig ps` the rigs")
	}
	p.Detached = true
	if rig, ok := w.named(args.Spec); ok && !looksLikePath(args.Spec) {
		return planUpRig(ctx, e, w, p, rig, args)
	}
	if !looksLikePath(args.Spec) && !e.d.Specs.IsStarter(args.Spec) {
		return Errorf(CodeRigNotFound, "%q is neither a rig on record nor a starter", args.Spec).
			WithHint("`rig ps` lists the rigs, `rig spec list` the starters; a file needs a / or .yaml")
	}
	return planUpSpec(ctx, e, w, p, args)
}

func (w *world) named(name string) (Rig, bool) {
	r, err := w.rig(name)
	return r, err == nil
}

func looksLikePath(s string) bool {
	return strings.ContainsRune(s, filepath.Separator) || strings.HasSuffix(s, ".yaml") || strings.HasSuffix(s, ".yml")
}

func planUpSpec(ctx context.Context, e *Engine, w *world, p *Plan, args UpArgs) error {
	spec, err := e.d.Specs.Load(ctx, args.Spec, SpecOptions{Cwd: args.Cwd, Env: args.Env})
	if err != nil {
		return err
	}
	graph, err := LaunchOrder(spec)
	if err != nil {
		return err
	}
	if len(args.Fresh) > 0 {
		return Errorf(CodeInvalid, "--fresh belongs to a rig on record, and %s is a spec", args.Spec).WithHint("a spec's seats start fresh anyway")
	}
	p.Target = spec.Name
	p.Command = CommandLine("rig", "up", args.Spec)
	p.Leases = []string{"rigname:" + spec.Name}
	p.AddFact("spec/"+spec.Name+"/digest", spec.Digest)
	p.SetInput("spec", spec)
	for _, a := range spec.Advisories {
		p.Warnings = append(p.Warnings, a.Place+": "+a.Message)
	}
	if rig, ok := w.named(spec.Name); ok {
		blockTaken(p, w, rig)
	} else {
		p.AddFact("rig/"+spec.Name, "absent")
	}
	e.serverFact(w, p)
	p.Phases = append(p.Phases, Phase{
		ID: "rig", Unit: "rig", Title: "Record the rig " + spec.Name,
		Steps: []Step{{
			ID: "rig/rows", Kind: StepRigRows, Effect: EffectCommit, Args: map[string]string{"digest": spec.Digest},
			Title: "write the rig, its " + Counted(len(graph.Order), "seat") + " and " + Counted(len(spec.AllEdges()), "edge"),
		}},
	})
	for _, logical := range graph.Order {
		m, _ := spec.Member(logical)
		e.planMember(ctx, w, p, spec, logical, m, graph)
	}
	p.Changes = append(p.Changes, Change{Field: "rig " + spec.Name, Before: "", After: Counted(len(graph.Order), "seat") + " running"})
	e.memoryLine(p, spec)
	return nil
}

func blockTaken(p *Plan, w *world, rig Rig) {
	p.AddFact("rig/"+rig.Name, rig.ID)
	for _, s := range w.seatsOf(rig.ID) {
		if w.locate(s.ID).presence != Absent {
			p.Block(Errorf(CodeRigNameRunning, "a rig named %s is up (%s)", rig.Name, rig.ID).
				WithHint("`rig ps --rig %s` shows it; `rig down %s` ends it, or give the spec another name", rig.Name, rig.Name))
			return
		}
	}
	p.Block(Errorf(CodeRigNameTaken, "a stopped rig named %s is on record", rig.Name).
		WithHint("`rig up %s` brings it back; `rig down %s --delete` forgets it", rig.Name, rig.Name))
}

// serverFact puts the tmux server into the plan's basis, and blocks when it does
// not answer.
func (e *Engine) serverFact(w *world, p *Plan) {
	p.AddFact("tmux/epoch", string(w.inv.Epoch))
	if w.inv.Server == Unknown {
		p.Block(e.noAnswer(w.inv))
	}
}

// noAnswer is the refusal that stands on an inventory without an answer. A tmux that
// is too old or not installed says so itself.
func (e *Engine) noAnswer(inv Inventory) *Error {
	if code := CodeOf(inv.Err); code == CodeTmuxTooOld || code == CodeUnavailable {
		return AsError(inv.Err)
	}
	err := Errorf(CodeTmuxProbeFailed, "tmux does not answer on %s", e.d.Mux.Socket()).WithHint("`rig doctor` says what is wrong with it")
	if inv.Err != nil {
		err = err.Wrap(inv.Err)
	}
	return err
}

// planMember plans one seat of a new rig.
func (e *Engine) planMember(ctx context.Context, w *world, p *Plan, spec RigSpec, logical string, m MemberSpec, graph LaunchGraph) {
	pod, member, _ := strings.Cut(logical, ".")
	address := Address(pod, member, spec.Name)
	seat := seatOfMember(pod, m)
	st := seatStart{Address: address, Start: StartFresh{}, Kind: "initial", Good: ContinuityFresh}
	e.sourceStart(ctx, w, p, seat, m, &st)
	e.planStart(ctx, w, p, seat, st, []string{"rig"}, unitsAfter(graph, logical, spec.Name))
	p.Intents = append(p.Intents, Intent{Seat: address, Action: "launch", Reason: startWords(st, seat)})
}

func unitOf(logical, rig string) string {
	pod, member, _ := strings.Cut(logical, ".")
	return Address(pod, member, rig)
}

func startWords(st seatStart, seat Seat) string {
	switch st.Start.(type) {
	case nil:
		return string(seat.Runtime) + ", with no conversation to start from"
	case StartResume:
		return string(seat.Runtime) + ", its own conversation"
	case StartFork:
		return string(seat.Runtime) + ", forked from source session of " + st.Source
	case StartFresh:
		if st.Kind == "rebuild" {
			return string(seat.Runtime) + ", rebuilt from " + st.Source
		}
	}
	return string(seat.Runtime) + ", a fresh conversation"
}

// planStart adds the unit that gives a seat an occupant, with the blockers that
// can be seen beforehand.
func (e *Engine) planStart(ctx context.Context, w *world, p *Plan, seat Seat, st seatStart, needs, after []string) {
	for _, pane := range w.inv.Panes {
		if pane.Session == st.Address && pane.Seat != "" && seat.ID == "" {
			break // a seat of the rig that holds the name, which is a blocker of its own
		}
		if pane.Session == st.Address && !ownDead(pane, seat) {
			p.BlockSeat(st.Address, Errorf(CodeSessionExists, "a tmux session named %s is there already", st.Address).
				WithHint("`rig discover` and `rig adopt` take it in; or end it yourself: it is not ours to kill"))
			break
		}
	}
	rt, err := e.runtime(seat.Runtime)
	if err != nil {
		p.BlockSeat(st.Address, err)
		return
	}
	if info, err := os.Stat(seat.Cwd); err != nil || !info.IsDir() {
		gone := Errorf("cwd_missing", "its directory %s is not there", seat.Cwd).WithHint("create it, or correct cwd in the spec")
		if seat.ID != "" { // a spec is read for a new rig alone
			rig := w.rigs[seat.RigID].Name
			gone = gone.WithHint("put it back: its conversation belongs to that directory; to begin anew elsewhere, `rig down %s --delete`, then `rig up` with the corrected spec", rig)
		}
		p.BlockSeat(st.Address, gone)
	}
	e.preflight(ctx, p, rt, seat, st)
	p.SetInput(startKey(st.Address), st)
	if seat.ID != "" {
		p.SetInput("seatid/"+st.Address, seat.ID)
	}
	p.AddFact("seat/"+st.Address+"/start", st.Kind+"/"+string(seat.Runtime))
	p.Phases = append(p.Phases, Phase{
		ID: st.Address, Unit: st.Address, Needs: needs, After: after, Title: "Launch " + st.Address,
		Steps: startSteps(st, rt.Caps().Resume),
	})
}

// preflight collects what the runtime says against a start. A seat whose source
// could not be had has no start to ask about; where the planner has judged the
// source conversation itself, the runtime's words about it are left out.
func (e *Engine) preflight(ctx context.Context, p *Plan, rt Runtime, seat Seat, st seatStart) {
	if st.Start == nil {
		return
	}
	for _, b := range rt.Preflight(ctx, LaunchRequest{Seat: seat, Address: st.Address, Start: withIDs(e.d.IDs, st.Start), Prompt: st.Prompt, Env: e.d.Env}) {
		if st.Judged && slices.Contains(conversationCodes, b.Code) {
			continue
		}
		b.Seat = st.Address
		p.Blockers = append(p.Blockers, b)
	}
}

// memoryPerAgent is what one agent was seen to need, in megabytes.
const memoryPerAgent = 200

func (e *Engine) memoryLine(p *Plan, spec RigSpec) {
	agents := 0
	for _, pod := range spec.Pods {
		for _, m := range pod.Members {
			if m.Runtime != RuntimeTerminal {
				agents++
			}
		}
	}
	if agents > 0 {
		p.Warnings = append(p.Warnings, fmt.Sprintf("memory for %s: about %d MB", Counted(agents, "agent"), agents*memoryPerAgent))
	}
}

// seatOfMember makes the row of a member, without ids.
func seatOfMember(pod string, m MemberSpec) Seat {
	policy := m.RestorePolicy
	if policy == "" {
		policy = RestoreResume
	}
	return Seat{
		Pod: pod, Member: m.ID, Label: m.Label, Runtime: m.Runtime, AgentRef: m.AgentRef, Profile: m.Profile,
		Role: m.Role, Model: m.Model, Effort: m.Effort, CodexProfile: m.CodexProfile,
		PermissionPolicy: m.PermissionPolicy, RestorePolicy: policy, Cwd: m.Cwd, Env: m.Env, ReadinessMS: m.ReadinessMS,
	}
}
