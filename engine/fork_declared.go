package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
)

// declaredSource is what a spec or a verb said about a seat's first
// conversation. It is kept beside the seat, so that a first launch that failed
// is never answered with a fresh one, and so that the guard of the image library
// knows who needs an image. It holds no native id. Once the seat has had an
// occupant it is history and starts nothing any more.
type declaredSource struct {
	Mode      string   `json:"mode"`
	From      string   `json:"from,omitempty"`    // seat and generation
	Session   string   `json:"session,omitempty"` // our id of that occupant, "" = not on record
	Parent    string   `json:"parent,omitempty"`  // digest of the parent's id
	Image     string   `json:"image,omitempty"`
	Version   string   `json:"version,omitempty"`
	Artifacts []string `json:"artifacts,omitempty"`
}

func declaredKey(seatID string) string { return "source/" + seatID }

func declaredInput(address string) string { return "declared/" + address }

// putDeclared stores what a plan says of a new seat's source, in the transaction
// that makes the seat.
func (r *run) putDeclared(tx Tx, seatID, address string) error {
	v, ok := r.plan.Input(declaredInput(address))
	d, isSource := v.(declaredSource)
	if !ok || !isSource {
		return nil
	}
	return tx.SetMeta(declaredKey(seatID), string(mustJSON(d)))
}

// declaredSources reads the declared sources of seats, by seat id.
func (e *Engine) declaredSources(ctx context.Context, seats []Seat) (map[string]declaredSource, error) {
	out := map[string]declaredSource{}
	err := e.d.Store.Read(ctx, func(r Reader) error {
		for _, s := range seats {
			text, err := r.Meta(declaredKey(s.ID))
			if err != nil {
				return err
			}
			var d declaredSource
			if text == "" {
				continue
			}
			if err := json.Unmarshal([]byte(text), &d); err != nil {
				return Errorf(CodeRecordDamaged, "the declared source of %s cannot be read", s.Logical()).Wrap(err).
					WithHint("`rig remove` the seat and expand again")
			}
			out[s.ID] = d
		}
		return nil
	})
	return out, err
}

// firstStart is the start of a seat that never had an occupant: what was
// declared for it, or fresh when nothing was. A declared source that cannot be
// had now waits for a decision; it holds up no other seat.
func (e *Engine) firstStart(ctx context.Context, p *Plan, seat Seat, c StartupContext, address string) (*seatStart, Intent) {
	st := &seatStart{Address: address, Start: StartFresh{}, Kind: "initial", Good: ContinuityFresh}
	wait := func(why string) (*seatStart, Intent) {
		return nil, Intent{address, "awaiting-decision", why + "; `rig remove` it and add it again, or --fresh " + seat.Logical() + " on purpose"}
	}
	declared, err := e.declaredSources(ctx, []Seat{seat})
	d, ok := declared[seat.ID]
	blocked := len(p.Blockers)
	switch {
	case err != nil:
		return wait(err.Error())
	case !ok:
		return st, Intent{address, "launch", "it never had an occupant"}
	case d.Image != "":
		e.imageStart(ctx, p, seat, st, ImageSource{Name: d.Image, Version: d.Version})
	case d.Mode == "rebuild":
		m, err := memberOf(seat, c)
		if err != nil {
			return wait(err.Error())
		}
		e.rebuildStart(p, seat, st, m, d.Artifacts)
	default:
		token, found := e.declaredParent(ctx, d)
		if !found {
			return wait("it was to be forked from " + cmp.Or(d.From, "a source session") + ", and that conversation is not on record, or not any more")
		}
		e.forkFrom(ctx, p, seat, st, parent{token: token, called: "conversation of " + d.From, source: d.From, hint: promptOnce})
	}
	if len(p.Blockers) > blocked {
		why := p.Blockers[blocked].Message
		p.Blockers = p.Blockers[:blocked]
		return wait(why)
	}
	return st, Intent{address, "launch", startWords(*st, seat)}
}

// declaredParent finds the conversation of an occupant on record: the very one that
// was declared. Its occupant may have moved to another since.
func (e *Engine) declaredParent(ctx context.Context, d declaredSource) (ParentToken, bool) {
	var s Session
	if d.Session == "" {
		return ParentToken{}, false
	}
	err := e.d.Store.Read(ctx, func(r Reader) error {
		var err error
		s, err = r.Session(d.Session)
		return err
	})
	token := NewParentToken(s.Token.Reveal())
	return token, err == nil && !token.Empty() && (d.Parent == "" || d.Parent == tokenDigest(token))
}

// sourceStart settles from where a new seat takes its first conversation. What
// cannot be had becomes a blocker; the start then stays without a fallback.
func (e *Engine) sourceStart(ctx context.Context, w *world, p *Plan, seat Seat, m MemberSpec, st *seatStart) {
	switch src := m.Source.(type) {
	case nil:
		e.primePrompt(p, m, st, "")
	case ForkSource:
		d := declaredSource{Mode: src.Mode(), Parent: tokenDigest(src.Parent)}
		from := parent{token: src.Parent, called: "conversation " + src.Parent.Reveal(), source: "a conversation from outside of this record"}
		s, who, ok, err := e.occupantOf(ctx, w, seat.Runtime, src.Parent)
		if err != nil {
			p.BlockSeat(st.Address, err)
		}
		if ok {
			from.source, d.From, d.Session = who, who, s.ID
		}
		p.SetInput(declaredInput(st.Address), d)
		e.forkFrom(ctx, p, seat, st, from)
		e.primePrompt(p, m, st, from.source)
	case ImageSource:
		d := declaredSource{Mode: src.Mode(), Image: src.Name, Version: cmp.Or(src.Version, "1")}
		e.imageStart(ctx, p, seat, st, src)
		if start, ok := st.Start.(StartFork); ok {
			d.Parent = tokenDigest(start.Parent)
		}
		p.SetInput(declaredInput(st.Address), d)
		e.primePrompt(p, m, st, st.Source)
	case RebuildSource:
		p.SetInput(declaredInput(st.Address), declaredSource{Mode: src.Mode(), Artifacts: src.Artifacts})
		e.rebuildStart(p, seat, st, m, src.Artifacts)
	}
}

// primePrompt adds what the member's startup says as the opening prompt. A seat
// without startup material gets none: nobody asked for a turn. A forked seat's
// conversation believes that it is its parent, so the prompt that it gets names
// its own seat first; without a prompt the seat learns it from `rig whoami` and
// from its environment, and nothing is typed into it.
func (e *Engine) primePrompt(p *Plan, m MemberSpec, st *seatStart, forkedFrom string) {
	prompt, digest, err := e.openingPrompt(st.Address, m)
	if err != nil {
		p.BlockSeat(st.Address, err)
	}
	if digest == "" {
		return
	}
	p.AddFact("seat/"+st.Address+"/prompt", digest)
	if forkedFrom != "" {
		who, rest, _ := strings.Cut(prompt, "\n\n")
		prompt = who + " This conversation was forked from source session: what stands above was said to " + forkedFrom +
			", whose seat and work are not yours. Go by the following.\n\n" + rest
	}
	st.Prompt = prompt
}

// imageStart makes a start that forks the conversation of an agent image.
func (e *Engine) imageStart(ctx context.Context, p *Plan, seat Seat, st *seatStart, src ImageSource) {
	st.Start = nil
	version := cmp.Or(src.Version, "1")
	if e.d.Images == nil {
		p.BlockSeat(st.Address, errNoImages())
		return
	}
	scan, err := e.d.Images.Scan(ctx)
	if err != nil {
		p.BlockSeat(st.Address, err)
		return
	}
	img, err := scan.FindImage(ImageID(src.Name, version))
	switch {
	case err != nil:
		p.BlockSeat(st.Address, err)
		return
	case img.Link || img.Parent.Empty():
		p.BlockSeat(st.Address, Errorf(CodeImageInvalid, "%s holds no conversation", img.Called()).WithHint("`rig agent-image show %s` says what it is", src.Name))
		return
	case img.Runtime != seat.Runtime:
		p.BlockSeat(st.Address, Errorf(CodeRuntimeMismatch, "%s is of %s, the seat is %s", img.Called(), img.Runtime, seat.Runtime).
			WithHint("set the seat's runtime to %s, or use another image", img.Runtime))
		return
	}
	p.AddFact("seat/"+st.Address+"/image", img.ID+" "+img.Digest)
	st.Image = img.ImageRef
	e.forkFrom(ctx, p, seat, st, img.parentOf())
	switch e.sinceImage(ctx, img).State { // without its size: that changes while the plan is read
	case "moved_on":
		p.Warnings = append(p.Warnings, st.Address+": the source of "+img.Called()+" has moved on since; the seat starts from where it is now")
	case "rewritten":
		p.Warnings = append(p.Warnings, st.Address+": the source of "+img.Called()+" was rewritten since; the seat starts from what it holds now")
	}
}
