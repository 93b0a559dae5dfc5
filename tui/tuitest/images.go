package tuitest

import (
	"context"
	"strings"
	"time"

	"rig/engine"
)

// Images gives a library of every kind: pinned, referenced, evictable, hidden by
// another root, a link, and one that cannot be read. With NoImages it is empty.
func (c *Console) Images(context.Context) (engine.ImageLibrary, error) {
	if err := c.call("Images"); err != nil {
		return engine.ImageLibrary{}, err
	}
	l := engine.ImageLibrary{
		Roots:     []engine.ImageRoot{{Label: "home", Path: "/home/ana/.rig/agent-images", Exists: true}, {Label: "workspace", Path: "/home/ana/shop/.rig/agent-images"}},
		SpecRoots: []string{"/home/ana/shop", "/home/ana/rigs"}, SpecsRead: 12, References: 3, Images: []engine.ImageView{}, Faults: []engine.ImageFault{}, Unread: []engine.UnreadSpec{},
	}
	if c.NoImages {
		return l, nil
	}
	pinned, spec := engine.ImageProtection{Code: "pinned"}, engine.ImageProtection{Code: "referenced_by_rig_spec", By: "/home/ana/rigs/shop.yaml"}
	l.Images = []engine.ImageView{
		{Image: img("payments-expert", "2", engine.RuntimeClaude, 84_000, 3), Protected: []engine.ImageProtection{pinned, spec, {Code: "referenced_by_seat", By: "dev-review@shop"}}},
		{Image: img("payments-expert", "1", engine.RuntimeClaude, 61_000, 1), Protected: []engine.ImageProtection{{Code: "lineage_ancestor_of_protected", By: "agent-image:payments-expert:2"}}},
		{Image: img("release-notes", "1", engine.RuntimeCodex, 18_400, 0), Protected: []engine.ImageProtection{}},
		{Image: img("reviewer", "1", engine.RuntimeCodex, 44_000, 7), Protected: []engine.ImageProtection{{Code: "unreadable_spec", By: "/home/ana/shop/broken.yaml"}}},
		{Image: engine.Image{ImageRef: engine.ImageRef{Root: "home", Name: "outside"}, ID: "agent-image:outside:", Dir: "/home/ana/.rig/agent-images/outside", Link: true}},
	}
	first := &l.Images[0].Image
	first.Pinned, first.PinnedAt, first.Notes = true, Start().Add(-50*time.Hour), "knows how refunds are booked; read notes.md first"
	first.Lineage = []string{"agent-image:payments-expert:1"}
	first.Files = []engine.ImageFile{{Path: "notes.md", Role: "context", Bytes: 2140, Summary: "the ledger's rules"}, {Path: "old.md", Role: "context", Bytes: -1}}
	first.Stats.LastUsedAt = Start().Add(-26 * time.Hour)
	l.Faults = []engine.ImageFault{{ImageRef: engine.ImageRef{Root: "home", Name: "odd", Version: "1"}, Source: "/home/ana/.rig/agent-images/odd/1/manifest.yaml", Code: engine.CodeImageInvalid, Error: "it has no runtime"}}
	l.Unread = []engine.UnreadSpec{{File: "/home/ana/shop/broken.yaml", Why: "it is no YAML"}}
	return l, nil
}

func img(name, version string, rt engine.RuntimeName, tokens, forks int64) engine.Image {
	return engine.Image{
		ImageRef: engine.ImageRef{Root: "home", Name: name, Version: version}, ID: engine.ImageID(name, version), Runtime: rt,
		Dir: "/home/ana/.rig/agent-images/" + name + "/" + version, SourceSeat: "dev-impl@shop (generation 1)",
		Parent: engine.NewParentToken("5e550041-0000-4000-8000-00000000a041"), SourceCwd: "/home/ana/shop", CreatedAt: Start().Add(-100 * time.Hour), CreatedBy: "ana",
		EstimatedTokens: tokens, Capture: engine.ImageCapture{Length: tokens * 9, LastUUID: "u1"}, Stats: engine.ImageStats{ForkCount: forks, SizeBytes: 1400 + tokens/4}, Lineage: []string{}, Files: []engine.ImageFile{},
	}
}

// LookAtImage says how the source of a made-up image stands.
func (c *Console) LookAtImage(_ context.Context, v engine.ImageView) engine.ImagePreview {
	_ = c.call("LookAtImage")
	out := engine.ImagePreview{ImageView: v, Source: engine.Since{State: "unchanged", Why: "the source stands where it stood"}}
	switch v.Name {
	case "payments-expert":
		out.Source = engine.Since{State: "moved_on", Grown: 48_211, Why: "the source has moved on by 48211 bytes; a fork starts from where it is now"}
	case "reviewer":
		out.Source = engine.Since{State: "gone", Why: "the source is gone: its conversation is not on disk; nothing can be forked from this image"}
	}
	if !v.Link {
		out.Starter = engine.ImageStarter(v.Image)
	}
	return out
}

// ForkOffers says of each seat of the picture, and of two images, whether it can
// be forked.
func (c *Console) ForkOffers(ctx context.Context) ([]engine.ForkOffer, error) {
	if err := c.call("ForkOffers"); err != nil {
		return nil, err
	}
	c.mu.Lock()
	f := c.fleet
	c.mu.Unlock()
	var out []engine.ForkOffer
	for _, s := range f.Seats() {
		o := engine.ForkOffer{Ref: s.Address, Runtime: s.Runtime, Rig: s.Rig, Pod: s.Pod}
		switch {
		case s.Runtime == engine.RuntimeTerminal:
			o.Code, o.Why, o.Hint = "runtime_unsupported", "a terminal has no conversation to fork", "name an agent's seat"
		case s.Generation == 0:
			o.Code, o.Why, o.Hint = "resume_token_unavailable", "the seat never had an occupant", "launch it and prompt it once"
		case s.Member == "deploy":
			o.Code, o.Why, o.Hint = "fork_source_not_found", "claude-code has no conversation of "+s.Address+" (generation 2): no transcript", "prompt it once, then try again"
		case s.Member == "review":
			o.About = "it writes another conversation than the one on record; that one is taken"
		}
		out = append(out, o)
	}
	lib, err := c.Images(ctx)
	for _, v := range lib.Images {
		if v.Link {
			continue
		}
		o := engine.ForkOffer{Ref: v.ID, Image: true, Runtime: v.Runtime, About: "of " + v.SourceSeat}
		if v.Name == "reviewer" {
			o.Code, o.Why, o.Hint = "fork_source_not_found", "codex has no conversation of agent image reviewer v1: its rollout is gone", "the client keeps it no more, so nothing can start from this image"
		}
		out = append(out, o)
	}
	return out, err
}

// imagePlan makes the plan of a fork or of a verb of the library; false for any
// other verb.
func (c *Console) imagePlan(p *engine.Plan) bool {
	step := func(id, title string, e engine.Effect) engine.Step {
		return engine.Step{ID: id, Kind: engine.StepKind(id), Title: title, Effect: e}
	}
	record := step("event", "record the event", engine.EffectCommit)
	words := strings.Fields(string(p.Verb))
	p.Command = engine.CommandLine(append(append([]string{"rig"}, words...), p.Target)...)
	switch p.Verb {
	case engine.VerbFork:
		a, err := engine.DecodeArgs[engine.ForkArgs](p.Request)
		if err != nil {
			return false
		}
		c.forkPlan(p, a)
		return true
	case engine.VerbImageCreate:
		a, err := engine.DecodeArgs[engine.ImageArgs](p.Request)
		if err != nil {
			return false
		}
		p.Command = engine.CommandLine("rig", "agent-image", "create", p.Target, "--name", a.Name)
		p.Phases = []engine.Phase{{ID: "image", Unit: "image", Title: "Keep the conversation as agent image " + a.Name, Steps: []engine.Step{step("write", "write agent image "+a.Name+" v1", engine.EffectReversible), record}}}
		p.Changes = []engine.Change{{Field: "agent image " + a.Name, After: "v1, of " + p.Target + " (generation 2)"}}
		p.Unchanged = []string{"the source " + p.Target + ": its conversation is only read"}
	case engine.VerbImagePin, engine.VerbImageUnpin:
		p.Phases = []engine.Phase{{ID: "pin", Unit: "pin", Title: words[1] + " " + p.Target, Steps: []engine.Step{step("pin", words[1]+" it", engine.EffectReversible), record}}}
		p.Changes = []engine.Change{{Field: p.Target, Before: "not pinned", After: "pinned"}}
		p.Unchanged = []string{"everything else of it"}
	case engine.VerbImageDelete, engine.VerbImagePrune:
		a, err := engine.DecodeArgs[engine.ImageArgs](p.Request)
		if err != nil {
			return false
		}
		name := "release-notes v1"
		if strings.Contains(p.Target, "payments-expert") {
			name = "payments-expert v2"
		}
		p.Phases = []engine.Phase{{ID: "gone", Unit: "gone", Title: "Delete agent image " + name, Steps: []engine.Step{
			step("aside", "take it out of the library", engine.EffectReversible), record, step("discard", "remove its files", engine.EffectOneWay),
		}}}
		p.Changes = []engine.Change{{Field: "agent image " + name, Before: "6000 bytes, forked 0 times", After: "deleted"}}
		p.Unchanged = []string{"every conversation of every client: images only point to them"}
		if a.Force {
			p.Command += " --force"
			p.Warnings = append(p.Warnings, "FORCED: agent image payments-expert v2 is protected and is deleted all the same: pinned")
		} else if strings.Contains(p.Target, "payments-expert") {
			p.Block(engine.Errorf(engine.CodeImageInUse, "agent image payments-expert v2 is protected: pinned; referenced_by_rig_spec (/home/ana/rigs/shop.yaml)").
				WithHint("unpin it, or take it out of what refers to it"))
		}
		if p.Verb == engine.VerbImagePrune {
			p.Unchanged = append(p.Unchanged, "agent image payments-expert v2: pinned", "agent image payments-expert v1: lineage_ancestor_of_protected (agent-image:payments-expert:2)")
		}
	default:
		return false
	}
	return true
}

// forkPlan is the plan of a fork: the row of the child, its start, its proof.
func (c *Console) forkPlan(p *engine.Plan, a engine.ForkArgs) {
	source := p.Target
	p.Target = engine.Address(a.Pod, a.Member, a.Rig)
	p.Command = engine.CommandLine("rig", "fork", source, "--rig", a.Rig, "--pod", a.Pod, "--member", a.Member)
	add := func(id, title string, e engine.Effect) engine.Step {
		return engine.Step{ID: id, Kind: engine.StepKind(id), Seat: p.Target, Title: title, Effect: e}
	}
	p.Phases = []engine.Phase{
		{ID: "rig", Unit: "rig", Title: "Add to rig " + a.Rig + ", pod " + a.Pod, Steps: []engine.Step{{ID: "rows", Kind: "rows", Title: "write 1 seat and 0 edges", Effect: engine.EffectCommit}}},
		{ID: p.Target, Unit: p.Target, Title: "Launch " + p.Target, Steps: []engine.Step{
			add("create", "create its session", engine.EffectReversible), add("ready", "wait until it is ready", engine.EffectReversible),
			add("identify", "prove an id of its own, not the source's", engine.EffectReversible), add("bind", "record binding and generation, and the event", engine.EffectCommit),
		}},
	}
	p.Intents = []engine.Intent{{Seat: p.Target, Action: "launch", Reason: "claude-code, forked from source session of " + source + " (generation 2)"}}
	p.Changes = []engine.Change{{Field: "seats of " + a.Rig, Before: "7", After: "8"}, {Seat: p.Target, Field: "occupant", Before: "none", After: "generation 1, forked"}}
	p.Unchanged = []string{source + " (generation 2), its conversation and its work", "the seats that " + a.Rig + " has"}
	p.Warnings = []string{source + " (generation 2) is in mid-turn: what it has not written yet is not taken, and the child is not driven on"}
}

// libraryExtra is what a receipt of a verb of the library says beside seats.
func libraryExtra(p *engine.Plan) map[string]any {
	switch p.Verb {
	case engine.VerbImageCreate:
		return map[string]any{"image": map[string]any{"id": "agent-image:ledger:1", "pinned": false}}
	case engine.VerbImagePin, engine.VerbImageUnpin:
		return map[string]any{"image": map[string]any{"id": p.Target, "pinned": p.Verb == engine.VerbImagePin}}
	case engine.VerbImagePrune:
		return map[string]any{
			"deleted":   []string{"agent-image:release-notes:1"},
			"protected": []any{map[string]any{"image": "agent-image:payments-expert:2", "reasons": []engine.ImageProtection{{Code: "pinned"}}}},
		}
	default:
		return nil
	}
}
