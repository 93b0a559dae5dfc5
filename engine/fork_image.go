package engine

import "context"

// imagePrefix begins an image where a seat could stand too: no seat's name and no
// session's holds a colon.
const imagePrefix = "agent-image:"

// parentOf is the origin's conversation as a fork starts from it.
func (o origin) parentOf() parent {
	return parent{token: o.parent, called: "the conversation of " + o.name(), source: o.name(), hint: promptOnce}
}

// parentOf is the image's conversation as a fork starts from it.
func (i Image) parentOf() parent {
	return parent{
		token: i.Parent, called: "the conversation of " + i.Called(), source: i.SourceSeat + ", by " + i.Called(),
		hint: "the client keeps it no more, so nothing can start from this image; `rig agent-image delete` removes it",
	}
}

// planForkOfImage adds a seat that starts from an image. It is the expansion by
// one member whose session_source is that image, and nothing of its own.
func (e *Engine) planForkOfImage(ctx context.Context, w *world, p *Plan, args ForkArgs) error {
	if e.d.Images == nil {
		return errNoImages()
	}
	scan, err := e.d.Images.Scan(ctx)
	if err != nil {
		return err
	}
	img, err := scan.FindImage(p.Request.Target)
	if err != nil {
		return err
	}
	if args.Rig == "" {
		return Errorf(CodeInvalid, "an image has no rig that the child could join").On("fork", img.ID).WithHint("name one with --rig")
	}
	rig, err := w.rig(args.Rig)
	if err != nil {
		return err
	}
	p.Target, p.Detached = Address(args.Pod, args.Member, rig.Name), true
	p.Command = CommandLine("rig", "fork", img.ID, "--rig", rig.Name, "--pod", args.Pod, "--member", args.Member)
	if args.KeepImage {
		p.Block(Errorf(CodeInvalid, "%s is an image already", img.Called()).WithHint("leave --keep-image out"))
	}
	blockPlace(w, p, rig, args)
	m := MemberSpec{
		ID: args.Member, AgentRef: "builtin:agent", Profile: "default", Runtime: img.Runtime, Cwd: img.SourceCwd, CwdWritten: img.SourceCwd,
		Model: img.Model, Effort: img.Effort, Source: ImageSource{Name: img.Name, Version: img.Version},
	}
	spec := RigSpec{Name: rig.Name, Pods: []PodSpec{{ID: args.Pod, Members: []MemberSpec{m}}}}
	graph, err := e.planRows(w, p, &addition{Rig: rig, Pod: spec.Pods[0]})
	if err != nil {
		return err
	}
	e.planMember(ctx, w, p, spec, Logical(args.Pod, args.Member), m, graph)
	p.Unchanged = append(p.Unchanged, img.Called()+": its count of forks grows by one")
	return nil
}
