package engine

import (
	"cmp"
	"context"
	"fmt"
	"strings"
)

// VerbHandover replaces one seat's occupant; the seat stays.
const VerbHandover Verb = "handover"

// HandoverArgs are the arguments of `rig handover`.
type HandoverArgs struct {
	Source string `json:"source,omitempty"` // fresh (default), fork:<ref>, rebuild, discovered:<id>
}

// Source is where a successor comes from.
type Source struct {
	Mode      string `json:"mode"` // fresh, fork, rebuild, discovered
	Ref       string `json:"ref,omitempty"`
	Defaulted bool   `json:"defaulted"`
}

// ParseSource reads a --source value.
func ParseSource(text string) (Source, error) {
	text = strings.TrimSpace(text)
	switch text {
	case "", "default":
		return Source{Mode: "fresh", Defaulted: true}, nil
	case "fresh", "rebuild":
		return Source{Mode: text}, nil
	}
	mode, ref, ok := strings.Cut(text, ":")
	ref = strings.TrimSpace(ref)
	if ok && ref != "" && (mode == "fork" || mode == "discovered") {
		return Source{Mode: mode, Ref: ref}, nil
	}
	return Source{}, Errorf("invalid_source", "%q is not a source", text).
		WithHint("fresh, rebuild, fork:<session, seat or id> or discovered:<id>")
}

// handoverKind says what a successor of a mode is, in one table for the planner,
// the steps and the receipt.
type handoverKind struct {
	good     Continuity
	delivers bool   // something goes as the opening prompt
	carrier  string // how context reaches the successor, in words
}

var handoverKinds = map[string]handoverKind{
	"fresh":      {ContinuityFresh, true, "a restore packet, as its opening prompt"},
	"rebuild":    {ContinuityRebuilt, true, "the seat's own artifacts, named in its opening prompt"},
	"fork":       {ContinuityForked, false, "forked from source session; nothing is delivered"},
	"discovered": {ContinuityNone, false, "the operator prepared it; nothing is delivered and no continuity is claimed"},
}

// worldKey is where a plan keeps what it saw for a step that follows at once.
const worldKey = "world"

// planHandover plans the replacement of one occupant.
func planHandover(ctx context.Context, e *Engine, w *world, p *Plan) error {
	args, err := DecodeArgs[HandoverArgs](p.Request)
	if err != nil {
		return err
	}
	if strings.TrimSpace(p.Reason) == "" {
		return Errorf(CodeMissingReason, "a handover needs a reason").WithHint(`add --reason "…"; it goes into the record and to the successor`)
	}
	src, err := ParseSource(args.Source)
	if err != nil {
		return err
	}
	seat, err := w.seat(p.Request.Target)
	if err != nil {
		return err
	}
	h := &handover{e: e, w: w, p: p, seat: seat, address: w.address(seat), src: src, kind: handoverKinds[src.Mode]}
	p.Target, p.Detached = h.address, true
	p.Command = h.command()
	p.Leases = []string{"seat:" + seat.ID}
	p.SetInput("seatid/"+h.address, seat.ID)
	p.SetInput("source", src)
	p.SetInput(worldKey, w)
	e.serverFact(w, p)
	h.incumbent(ctx)
	if src.Mode == "discovered" {
		return h.planDiscovered(ctx)
	}
	return h.planLaunched(ctx)
}

// shot is a screen that came with the look; false when it did not.
func (w *world) shot(pane PaneID) (Screen, bool) {
	for _, s := range w.shots {
		if s.Pane == pane && s.Err == nil {
			return s.Screen, true
		}
	}
	return Screen{}, false
}

// handover is the planning of one.
type handover struct {
	e       *Engine
	w       *world
	p       *Plan
	seat    Seat
	address string
	src     Source
	kind    handoverKind
	last    Session
	at      where
	next    int64 // generation of the successor
}

func (h *handover) command() string {
	words := []string{"rig", "handover", h.address, "--reason", h.p.Reason}
	if !h.src.Defaulted {
		source := h.src.Mode
		if h.src.Ref != "" {
			source += ":" + h.src.Ref
		}
		words = append(words, "--source", source)
	}
	return CommandLine(words...)
}

// incumbent looks at who sits there now, and blocks what cannot be handed over.
func (h *handover) incumbent(ctx context.Context) {
	p := h.p
	last, had := h.w.latest[h.seat.ID]
	h.last = last
	h.at = h.w.locate(h.seat.ID)
	blockUnseen(p, h.address, h.at)
	p.AddFact("seat/"+h.address+"/generation", itoa(h.seat.Generation))
	p.AddFact("seat/"+h.address+"/session", h.last.ID+" "+string(h.last.Status))
	p.AddFact("seat/"+h.address+"/pane", h.at.presence.String()+" "+string(h.at.pane.ID)+deadWord(h.at.dead))
	p.AddFact("seat/"+h.address+"/token", h.last.Token.String())
	p.AddFact("seat/"+h.address+"/version", itoa(h.seat.Version))
	switch {
	case !had || h.w.bindings[h.seat.ID].SeatID == "":
		p.BlockSeat(h.address, Errorf(CodeOccupantRequired, "the seat has no occupant to hand over").
			WithHint("`rig launch %s %s` gives it one", h.w.rigs[h.seat.RigID].Name, h.seat.Logical()))
	case h.at.presence == Absent:
		p.BlockSeat(h.address, Errorf(CodeOccupantRequired, "its occupant is gone: %s", h.at.why).
			WithHint("`rig seat clean %s --reason …`, then launch it", h.address))
	case h.last.Startup == StartupPending:
		p.BlockSeat(h.address, Errorf("occupant_starting", "its occupant is still starting").WithHint("wait until it is ready"))
	}
	if h.seat.Runtime == RuntimeTerminal && (h.src.Mode == "fork" || h.src.Mode == "rebuild") {
		p.BlockSeat(h.address, Errorf(CodeUnsupportedKind, "a terminal has no conversation to %s", h.src.Mode).WithHint("use --source fresh: a restart"))
	}
	h.next = h.e.planNext(ctx, p, h.seat, h.address)
	p.Changes = append(p.Changes,
		Change{h.address, "occupant", occupantName(h.address, h.seat.Generation), h.successorWord()},
		Change{h.address, "continuity outcome", cmp.Or(string(h.seat.Continuity), "unverified"), cmp.Or(string(h.kind.good), "unverified")})
	p.Unchanged = append(p.Unchanged, "name, seat id, role, edges and inbound work of "+h.address,
		"model, effort, profile, permission posture and directory", "the incumbent, until the successor is proven")
	if window := h.e.d.Config.UndoWindow; window > 0 && h.at.presence == Present && !h.at.dead && h.last.Origin != OriginClaimed {
		p.Unchanged = append(p.Unchanged, "its process and conversation, stopped, for "+strings.TrimSuffix(window.String(), "0s")+" after: `rig op undo` brings them back")
	}
}

func (h *handover) successorWord() string {
	if h.src.Mode == "discovered" {
		return "the discovered session " + h.src.Ref
	}
	carrier := h.kind.carrier
	if h.seat.Runtime == RuntimeTerminal {
		carrier = restartedBlank
	}
	return occupantName(h.address, h.next) + ", " + carrier
}

// restartedBlank says what the successor of a terminal is: it has nobody to be told anything.
const restartedBlank = "a restart: a terminal is told nothing"

// planLaunched plans fresh, fork and rebuild: a successor in a staging session,
// proven there, then the swap and the commit.
func (h *handover) planLaunched(ctx context.Context) error {
	st := seatStart{Address: h.address, Kind: "handover", Good: h.kind.good, Source: h.src.Mode}
	switch h.src.Mode {
	case "fork":
		if err := h.forkStart(ctx, &st); err != nil {
			return err
		}
	default:
		st.Start = StartFresh{}
	}
	if h.src.Mode == "rebuild" && h.e.d.Contexts != nil {
		chain, err := h.e.d.Contexts.Chain(ctx, h.seat, h.address)
		if err != nil {
			h.p.BlockSeat(h.address, err)
		}
		h.describeChain(chain)
	}
	rt, err := h.e.runtime(h.seat.Runtime)
	if err != nil {
		h.p.BlockSeat(h.address, err)
		return nil
	}
	if st.Start != nil {
		for _, b := range rt.Preflight(ctx, LaunchRequest{Seat: h.seat, Address: h.address, Start: withIDs(h.e.d.IDs, st.Start), Env: h.e.d.Env}) {
			b.Seat = h.address
			h.p.Blockers = append(h.p.Blockers, b)
		}
	}
	h.warnCost(ctx)
	h.p.SetInput(startKey(h.address), st)
	h.p.Phases = h.phases(rt.Caps().Resume)
	return nil
}

func (h *handover) describeChain(c Chain) {
	for _, a := range c.Artifacts {
		h.p.AddFact("artifact/"+a.Address, a.Digest)
		h.p.Unchanged = append(h.p.Unchanged, fmt.Sprintf("%s (%s), which primes the successor", a.Address, a.Label))
	}
	for _, g := range c.Gaps {
		h.p.Warnings = append(h.p.Warnings, "gap: "+g)
	}
	if c.Empty != "" {
		h.p.Warnings = append(h.p.Warnings, "nothing primes the successor: "+c.Empty)
	}
	h.p.SetInput("chain", c)
}

// stagingPrefix begins the names of the sessions that operations make for
// themselves; no seat's address begins like it.
const stagingPrefix = "_rig-"

// staged reports whether a pane is in such a session.
func staged(p Pane) bool { return strings.HasPrefix(p.Session, stagingPrefix) }

// stagingName is the session in which an operation's successor is proven.
func stagingName(opID string) string {
	if len(opID) > 10 {
		opID = opID[len(opID)-10:]
	}
	return stagingPrefix + opID
}
