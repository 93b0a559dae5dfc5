package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// Verbs of the image library.
const (
	VerbImageCreate Verb = "agent-image create"
	VerbImageDelete Verb = "agent-image delete"
	VerbImagePrune  Verb = "agent-image prune"
	VerbImagePin    Verb = "agent-image pin"
	VerbImageUnpin  Verb = "agent-image unpin"
)

// imageLease is held by everything that changes the library: the guard judges it
// as a whole.
const imageLease = "agent-images"

// ImageArgs are the arguments of the image verbs; each verb reads its own.
type ImageArgs struct {
	Name            string   `json:"name,omitempty"`    // create
	Version         string   `json:"version,omitempty"` // create; "" = "1"
	Notes           string   `json:"notes,omitempty"`
	EstimatedTokens int64    `json:"estimated_tokens,omitempty"`
	Lineage         []string `json:"lineage,omitempty"`
	Files           []string `json:"files,omitempty"` // path[:role[:summary]]
	Pin             bool     `json:"pin,omitempty"`
	Force           bool     `json:"force,omitempty"` // delete and prune: over the guard
}

// planImageCreate plans to keep an occupant's conversation as an image.
func planImageCreate(ctx context.Context, e *Engine, w *world, p *Plan) error {
	args, err := DecodeArgs[ImageArgs](p.Request)
	if err != nil {
		return err
	}
	if args.Version == "" {
		args.Version = "1"
	}
	o, err := e.originOf(ctx, w, p.Request.Target)
	if err != nil {
		return err
	}
	p.Target, p.Leases = args.Name, []string{imageLease}
	words := []string{"rig", "agent-image", "create", o.ref(), "--name", args.Name, "--image-version", args.Version}
	for _, l := range args.Lineage {
		words = append(words, "--lineage", l)
	}
	for _, f := range args.Files {
		words = append(words, "--file", f)
	}
	if args.Notes != "" {
		words = append(words, "--notes", args.Notes)
	}
	if args.Pin {
		words = append(words, "--pin")
	}
	p.Command = CommandLine(words...)
	e.planImage(ctx, w, p, o, args)
	return nil
}

// planImage adds the unit that writes an image, with every reason why it cannot.
func (e *Engine) planImage(ctx context.Context, w *world, p *Plan, o origin, args ImageArgs) {
	blocked := len(p.Blockers)
	for what, text := range map[string]string{"name": args.Name, "version": args.Version} {
		if err := CheckImageName(what, text); err != nil {
			p.Block(err)
		}
	}
	slices.SortFunc(p.Blockers[blocked:], func(a, b Blocker) int { return strings.Compare(a.Message, b.Message) })
	o.block(p)
	n := NewImage{Pin: args.Pin, Image: Image{
		ImageRef: ImageRef{Root: "home", Name: args.Name, Version: args.Version}, Runtime: o.seat.Runtime, SourceSeat: o.name(), Parent: o.parent,
		SourceCwd: o.seat.Cwd, Homes: o.session.Homes, Model: o.seat.Model, Effort: o.seat.Effort, CreatedBy: p.Operator.String(),
		Notes: args.Notes, EstimatedTokens: args.EstimatedTokens, Lineage: slices.Clone(args.Lineage), Operation: p.ID,
	}}
	e.capture(ctx, p, o, &n)
	e.lineage(ctx, p, o, &n)
	if n.EstimatedTokens == 0 {
		n.EstimatedTokens = e.tokensOf(ctx, w, o)
	}
	files, err := newImageFiles(args.Files)
	if err != nil {
		p.Block(err)
	}
	n.Files = files
	for _, err := range e.d.Images.CheckFiles(files) {
		p.Block(err)
	}
	e.blockTakenImage(ctx, p, n)
	p.AddFact("image/"+n.Name+"/"+n.Version+"/source", o.session.ID+" "+tokenDigest(o.parent))
	p.SetInput("newimage", n)
	at := map[string]string{"root": n.Root, "name": n.Name, "version": n.Version, "event": "image.created"}
	p.Phases = append(p.Phases, Phase{ID: "image", Unit: "image", Title: "Keep the conversation as agent image " + n.Name, Steps: []Step{
		{ID: "image/write", Kind: StepImageWrite, Effect: EffectReversible, Args: at, Title: "write agent image " + n.Name + " v" + n.Version + pinWord(n.Pin)},
		{ID: "image/event", Kind: StepImageEvent, Effect: EffectCommit, Args: at, Title: "record the event"},
	}})
	p.Changes = append(p.Changes, Change{Field: "agent image " + n.Name, After: "v" + n.Version + ", of " + o.name()})
	p.Unchanged = append(p.Unchanged, "the source "+o.name()+": its conversation is only read")
}

func pinWord(pin bool) string {
	if pin {
		return ", pinned"
	}
	return ""
}

// capture notes how far the source has come, and blocks when there is nothing to
// come back to.
func (e *Engine) capture(ctx context.Context, p *Plan, o origin, n *NewImage) {
	rt, err := e.runtime(o.seat.Runtime)
	if err != nil || o.parent.Empty() {
		return // blocked by the origin
	}
	conv := rt.Conversation(ctx, o.parent.Reveal(), o.seat.Cwd, o.session.Homes)
	switch {
	case conv.Exists == Absent:
		p.Block(Errorf(CodeForkSourceNotFound, "the conversation of %s is not on disk: %s", o.name(), orNone(conv.Why)).
			WithHint(promptOnce))
	case conv.Exists == Unknown:
		p.Block(Errorf(CodeUnavailable, "whether the conversation of %s exists cannot be told: %s", o.name(), orNone(conv.Why)).
			WithHint("make its folder readable and plan again"))
	case conv.Path != "":
		if n.Capture, err = captureEnd(conv.Path); err != nil {
			p.Warnings = append(p.Warnings, "how far the source has come is not known: its transcript cannot be read")
		}
	}
}

// tokensOf is how large an origin's conversation is: as its client says now, else as
// the last sample of this very occupant does. 0 is not known.
func (e *Engine) tokensOf(ctx context.Context, w *world, o origin) int64 {
	rt, err := e.runtime(o.seat.Runtime)
	if at := w.locate(o.seat.ID); err == nil && at.presence == Present && !at.dead {
		if u := rt.Usage(ctx, e.probeLive(w, o.seat, o.session, at.pane)); u.Known && u.Tokens > 0 {
			return u.Tokens
		}
	}
	for _, u := range w.rec.Usage {
		if u.SessionID == o.session.ID && u.Known && !o.cleared {
			return u.Tokens
		}
	}
	return 0
}

// lineage adds the image that the source itself came from.
func (e *Engine) lineage(ctx context.Context, p *Plan, o origin, n *NewImage) {
	declared, err := e.declaredSources(ctx, []Seat{o.seat})
	if err != nil {
		p.Block(err)
		return
	}
	if d := declared[o.seat.ID]; d.Image != "" {
		from := ImageID(d.Image, cmp.Or(d.Version, "1"))
		if !slices.Contains(n.Lineage, from) {
			n.Lineage = append(n.Lineage, from)
		}
	}
	for _, l := range n.Lineage {
		name, version, _ := strings.Cut(strings.TrimPrefix(l, "agent-image:"), ":")
		if err := CheckImageName("name", name); err != nil {
			p.Block(err)
		} else if version != "" {
			if err := CheckImageName("version", version); err != nil {
				p.Block(err)
			}
		}
	}
}

// newImageFiles reads --file values: path, role and summary.
func newImageFiles(list []string) ([]ImageFile, error) {
	var out []ImageFile
	for _, text := range list {
		path, rest, _ := strings.Cut(text, ":")
		role, summary, _ := strings.Cut(rest, ":")
		if path == "" {
			return nil, Errorf(CodeInvalid, "%q names no file", text).WithHint("write path:role or path:role:summary")
		}
		base := path[strings.LastIndexByte(path, '/')+1:]
		out = append(out, ImageFile{Path: base, Role: cmp.Or(role, "context"), Summary: summary, From: path})
	}
	return out, nil
}

func (e *Engine) blockTakenImage(ctx context.Context, p *Plan, n NewImage) {
	if e.d.Images == nil {
		p.Block(errNoImages())
		return
	}
	scan, err := e.d.Images.Scan(ctx)
	if err != nil {
		p.Block(err)
		return
	}
	for _, i := range scan.Images {
		if i.Root == n.Root && i.Name == n.Name && (i.Version == n.Version || i.Link) {
			p.Block(Errorf(CodeImageExists, "%s is there already", i.Called()).
				WithHint("choose another --image-version or --name, or delete it first"))
		}
	}
}

// imageRequest reads the arguments of a verb on images, and the library.
func (e *Engine) imageRequest(ctx context.Context, w *world, p *Plan) (ImageArgs, guarded, error) {
	args, err := DecodeArgs[ImageArgs](p.Request)
	if err != nil {
		return args, guarded{}, err
	}
	g, err := e.openLibrary(ctx, w)
	return args, g, err
}

// planImageDelete plans the removal of one image, unless the guard protects it.
func planImageDelete(ctx context.Context, e *Engine, w *world, p *Plan) error {
	args, g, err := e.imageRequest(ctx, w, p)
	if err != nil {
		return err
	}
	img, err := g.view.find(p.Request.Target)
	if err != nil {
		return err
	}
	p.Target, p.Leases = img.ID, []string{imageLease}
	p.Command = CommandLine(append([]string{"rig", "agent-image", "delete", img.ID}, forceFlag(args.Force)...)...)
	if len(img.Protected) > 0 && !args.Force {
		code := CodeImageInUse
		if len(img.Protected) == 1 && img.Pinned {
			code = CodeImagePinned
		}
		p.Block(Errorf(code, "%s is protected: %s", img.Called(), protectionWords(img.Protected)).
			WithHint("unpin it, or take it out of what refers to it; --force deletes it all the same, and then nothing can start from it"))
	}
	e.removeImages(p, []ImageView{img}, args.Force)
	return nil
}

func forceFlag(force bool) []string {
	if force {
		return []string{"--force"}
	}
	return nil
}

// planImagePrune plans the removal of every image that nothing protects. With
// force the protected ones go too, which the plan says loudly.
func planImagePrune(ctx context.Context, e *Engine, w *world, p *Plan) error {
	args, g, err := e.imageRequest(ctx, w, p)
	if err != nil {
		return err
	}
	p.Target, p.Leases = "agent images", []string{imageLease}
	p.Command = CommandLine(append([]string{"rig", "agent-image", "prune"}, forceFlag(args.Force)...)...)
	var going []ImageView
	kept := []any{}
	for _, v := range g.view.Images {
		if len(v.Protected) > 0 && !args.Force {
			p.Unchanged = append(p.Unchanged, v.Called()+": "+protectionWords(v.Protected))
			kept = append(kept, map[string]any{"image": v.ID, "reasons": v.Protected})
			continue
		}
		going = append(going, v)
	}
	p.SetInput("kept", kept)
	for _, f := range g.view.Faults {
		p.Unchanged = append(p.Unchanged, f.Source+": it cannot be read, so it is left alone ("+f.Error+")")
	}
	e.removeImages(p, going, args.Force)
	if len(going) == 0 {
		p.Warnings = append(p.Warnings, "nothing has to be removed: "+keptWords(len(kept), len(g.view.Faults)))
	}
	return nil
}

// keptWords says of a library from which nothing is removed what is in it.
func keptWords(kept, faults int) string {
	words := "there is no agent image"
	if kept > 0 {
		words = Counted(kept, "image") + ", all protected"
	}
	if faults > 0 {
		words += "; " + Counted(faults, "broken image") + " left alone"
	}
	return words
}

// removeImages adds a unit per image: out of sight, recorded, then gone.
func (e *Engine) removeImages(p *Plan, list []ImageView, force bool) {
	for _, v := range list {
		if force && len(v.Protected) > 0 {
			p.Warnings = append(p.Warnings, "FORCED: "+v.Called()+" is protected and is deleted all the same: "+protectionWords(v.Protected))
		}
		args := map[string]string{"root": v.Root, "name": v.Name, "version": v.Version, "event": "image.deleted", "image": v.ID}
		id := "image/" + v.Root + "/" + v.Name + "/" + v.Version
		p.AddFact(id, v.Digest)
		p.Phases = append(p.Phases, Phase{ID: id, Unit: id, Title: "Delete " + v.Called(), Steps: []Step{
			{ID: id + "/aside", Kind: StepImageAside, Effect: EffectReversible, Args: args, Title: "take it out of the library"},
			{ID: id + "/event", Kind: StepImageEvent, Effect: EffectCommit, Args: args, Title: "record the event"},
			{ID: id + "/discard", Kind: StepImageDiscard, Effect: EffectOneWay, Args: args, Title: "remove its files"},
		}})
		before := Counted(int(v.Stats.SizeBytes), "byte") + ", forked " + Counted(int(v.Stats.ForkCount), "time")
		p.Changes = append(p.Changes, Change{Field: v.Called(), Before: before, After: "deleted"})
	}
	p.Unchanged = append(p.Unchanged, "every conversation of every client: images only point to them")
}

// planImagePin plans to pin or unpin an image. What is so already stays so.
func planImagePin(ctx context.Context, e *Engine, w *world, p *Plan) error {
	g, err := e.openLibrary(ctx, w)
	if err != nil {
		return err
	}
	img, err := g.view.find(p.Request.Target)
	if err != nil {
		return err
	}
	verb, event, pin := "pin", "image.pinned", p.Verb == VerbImagePin
	if !pin {
		verb, event = "unpin", "image.unpinned"
	}
	p.Target, p.Leases = img.ID, []string{imageLease}
	p.Command = CommandLine("rig", "agent-image", verb, img.ID)
	p.AddFact("image/"+img.ID+"/pinned", fmt.Sprint(img.Pinned))
	if img.Link {
		p.Block(Errorf(CodeImageInvalid, "%s is not followed", img.Called()).WithHint("`rig agent-image delete %s` removes the link itself", img.Name))
	}
	if img.Pinned == pin {
		p.Warnings = append(p.Warnings, img.Called()+" is "+verb+"ned already")
		return nil
	}
	args := map[string]string{"root": img.Root, "name": img.Name, "version": img.Version, "pin": fmt.Sprint(pin), "event": event, "image": img.ID}
	p.Phases = append(p.Phases, Phase{ID: "pin", Unit: "pin", Title: strings.ToUpper(verb[:1]) + verb[1:] + " " + img.Called(), Steps: []Step{
		{ID: "image/pin", Kind: StepImagePin, Effect: EffectReversible, Args: args, Title: verb + " it"},
		{ID: "image/event", Kind: StepImageEvent, Effect: EffectCommit, Args: args, Title: "record the event"},
	}})
	p.Changes = append(p.Changes, Change{Field: img.Called(), Before: pinState(!pin), After: pinState(pin)})
	return nil
}

func pinState(pinned bool) string {
	if pinned {
		return "pinned"
	}
	return "not pinned"
}
