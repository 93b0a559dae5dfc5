package engine

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// VerbFork adds a seat that starts from another seat's conversation.
const VerbFork Verb = "fork"

// ForkArgs are the arguments of `rig fork`.
type ForkArgs struct {
	Rig          string `json:"rig"`
	Pod          string `json:"pod"`
	Member       string `json:"member"`
	KeepImage    bool   `json:"keep_image,omitempty"`
	ImageName    string `json:"image_name,omitempty"`    // "" = fork-<member>
	ImageVersion string `json:"image_version,omitempty"` // "" = "1"
}

// planFork composes two paths and adds nothing of its own: the source's
// conversation is found as for an image, and the child joins its pod as an
// expansion. With KeepImage the image is made and pinned first, and the child
// starts from it. The child takes over what makes the source what it is: agent,
// profile, directory, model, effort, role, policies, label and environment.
func planFork(ctx context.Context, e *Engine, w *world, p *Plan) error {
	args, err := DecodeArgs[ForkArgs](p.Request)
	if err != nil {
		return err
	}
	if strings.HasPrefix(p.Request.Target, imagePrefix) {
		return e.planForkOfImage(ctx, w, p, args)
	}
	o, err := e.originOf(ctx, w, p.Request.Target)
	if err != nil {
		return err
	}
	if args.Rig == "" {
		args.Rig = w.rigs[o.seat.RigID].ID
	}
	rig, err := w.rig(args.Rig)
	if err != nil {
		return err
	}
	if args.KeepImage {
		args.ImageName, args.ImageVersion = cmp.Or(args.ImageName, "fork-"+args.Member), cmp.Or(args.ImageVersion, "1")
	}
	p.Target, p.Detached = Address(args.Pod, args.Member, rig.Name), true
	p.Command = forkCommand(o, rig, args)
	p.AddFact("fork/source", o.session.ID)
	m, err := e.childOf(ctx, o, args.Member)
	if err != nil {
		return err
	}
	add := addition{Rig: rig, Pod: PodSpec{ID: args.Pod, Members: []MemberSpec{m}}}
	blockPlace(w, p, rig, args)
	if args.KeepImage {
		e.planImage(ctx, w, p, o, ImageArgs{Name: args.ImageName, Version: args.ImageVersion, Pin: true})
		p.Leases = append(p.Leases, imageLease)
	} else {
		o.block(p)
	}
	return e.planFirstOf(ctx, w, p, add, o, args)
}

// blockPlace says why a child cannot be where it was asked for.
func blockPlace(w *world, p *Plan, rig Rig, args ForkArgs) {
	if !slices.ContainsFunc(w.rec.Pods, func(pod Pod) bool { return pod.RigID == rig.ID && pod.Name == args.Pod }) {
		p.Block(Errorf(CodePodNotFound, "rig %s has no pod %q", rig.Name, args.Pod).
			WithHint("its pods: %s; `rig expand` adds one", strings.Join(w.podNames(rig.ID), ", ")))
	}
	if !ValidName(args.Member) {
		p.Block(Errorf(CodeInvalid, "%q cannot be the id of a member", args.Member).
			WithHint("letters, digits, dash and underscore, a letter or digit first, at most %d", MaxNameLen))
	}
}

func forkCommand(o origin, rig Rig, args ForkArgs) string {
	words := []string{"rig", "fork", o.ref(), "--rig", rig.Name, "--pod", args.Pod, "--member", args.Member}
	if args.KeepImage {
		words = append(words, "--keep-image", "--image-name", args.ImageName, "--image-version", args.ImageVersion)
	}
	return CommandLine(words...)
}

// planFirstOf plans the rows and the start of the child.
func (e *Engine) planFirstOf(ctx context.Context, w *world, p *Plan, add addition, o origin, args ForkArgs) error {
	graph, err := e.planRows(w, p, &add)
	if err != nil {
		return err
	}
	logical := Logical(args.Pod, args.Member)
	address := Address(args.Pod, args.Member, add.Rig.Name)
	seat := seatOfMember(args.Pod, add.Pod.Members[0])
	st := seatStart{Address: address}
	d := declaredSource{Mode: "fork", From: o.name(), Session: o.session.ID, Parent: tokenDigest(o.parent)}
	from := o.parentOf()
	if args.KeepImage {
		d.Mode, d.Image, d.Version = "agent_image", args.ImageName, args.ImageVersion
		from.source += ", by agent image " + args.ImageName + " v" + args.ImageVersion
		st.Image = ImageRef{Root: "home", Name: args.ImageName, Version: args.ImageVersion}
	}
	p.SetInput(declaredInput(address), d)
	if !o.parent.Empty() {
		e.forkFrom(ctx, p, seat, &st, from)
	}
	e.planStart(ctx, w, p, seat, st, []string{"rig"}, unitsAfter(graph, logical, add.Rig.Name))
	p.Intents = append(p.Intents, Intent{address, "launch", string(seat.Runtime) + ", forked from source session of " + o.name()})
	p.Unchanged = append(p.Unchanged, o.name()+", its conversation and its work")
	return nil
}

// childOf is the member that a fork adds: the source's settings under a new
// name. Its startup material is kept for a later fresh start; the fork itself is
// sent none, for its conversation has had it.
func (e *Engine) childOf(ctx context.Context, o origin, member string) (MemberSpec, error) {
	s := o.seat
	m := MemberSpec{
		ID: member, Label: s.Label, AgentRef: s.AgentRef, Profile: s.Profile, Runtime: s.Runtime, Cwd: s.Cwd, CwdWritten: s.Cwd,
		Model: s.Model, Effort: s.Effort, Role: s.Role, CodexProfile: s.CodexProfile, RestorePolicy: s.RestorePolicy,
		PermissionPolicy: s.PermissionPolicy, Env: s.Env, ReadinessMS: s.ReadinessMS,
	}
	contexts, err := e.startups(ctx, []Seat{s})
	if err != nil {
		return m, err
	}
	if c, ok := contexts[s.ID]; ok {
		kept, err := memberOf(s, c)
		if err != nil {
			return m, err
		}
		m.Launch = kept.Launch
	}
	return m, nil
}
