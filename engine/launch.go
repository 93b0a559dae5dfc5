package engine

import (
	"cmp"
	"context"
	"slices"
	"sort"
)

// LaunchArgs are the arguments of `rig launch`.
type LaunchArgs struct {
	Seats []string `json:"seats,omitempty"` // logical ids or addresses; none = every seat that does not run
	// HoldReason says why the other seats are left as they are; "" = a word that
	// says only that.
	HoldReason string `json:"hold_reason,omitempty"`
}

// heldUnchosen is the reason of a seat that a launch of others leaves alone, when
// nobody gave one.
const heldUnchosen = "excluded_from_subset"

// planLaunch launches what does not run: an agent continues its own conversation
// when it has one, and otherwise waits for a decision.
func planLaunch(ctx context.Context, e *Engine, w *world, p *Plan) error {
	args, err := DecodeArgs[LaunchArgs](p.Request)
	if err != nil {
		return err
	}
	rig, err := w.rig(p.Request.Target)
	if err != nil {
		return err
	}
	p.Target, p.Detached = rig.Name, true
	words := append([]string{"rig", "launch", rig.Name}, args.Seats...)
	if args.HoldReason != "" {
		words = append(words, "--hold-reason", args.HoldReason)
	}
	p.Command = CommandLine(words...)
	e.serverFact(w, p)
	if err := e.newRevival(w, p, reviveOptions{only: args.Seats}).rig(ctx, rig); err != nil {
		return err
	}
	return holdOthers(w, p, rig, args)
}

// holdOthers names the seats that positively do not run and that a launch of
// chosen ones leaves so, with the reason.
func holdOthers(w *world, p *Plan, rig Rig, args LaunchArgs) error {
	if len(args.Seats) == 0 {
		if args.HoldReason != "" {
			return Errorf(CodeInvalid, "nothing is held when every seat is launched").WithHint("name the seats to launch; the others are held")
		}
		return nil
	}
	seats := w.seatsOf(rig.ID)
	chosen, err := pickSeats(rig, seats, args.Seats)
	if err != nil {
		return err
	}
	for _, s := range seats {
		if !slices.Contains(chosen, s.Logical()) && w.locate(s.ID).presence == Absent {
			p.Intents = append(p.Intents, Intent{Seat: w.address(s), Action: "held", Reason: cmp.Or(args.HoldReason, heldUnchosen)})
		}
	}
	return nil
}

// planUpRig brings a rig on record back by name.
func planUpRig(ctx context.Context, e *Engine, w *world, p *Plan, rig Rig, args UpArgs) error {
	words := []string{"rig", "up", rig.Name}
	for _, f := range args.Fresh {
		words = append(words, "--fresh", f)
	}
	if args.FreshUnprompted {
		words = append(words, "--fresh-unprompted")
	}
	p.Target, p.Command = rig.Name, CommandLine(words...)
	e.serverFact(w, p)
	return e.newRevival(w, p, reviveOptions{fresh: args.Fresh, unprompted: args.FreshUnprompted, attempt: true}).rig(ctx, rig)
}

// planUpAll brings every rig on record back, with one receipt.
func planUpAll(ctx context.Context, e *Engine, w *world, p *Plan, args UpArgs) error {
	if args.Spec != "" || len(args.Fresh) > 0 {
		return Errorf(CodeInvalid, "--all takes neither a rig nor --fresh").WithHint("`rig up <rig> --fresh pod.member` for one rig")
	}
	words := []string{"rig", "up", "--all"}
	if args.FreshUnprompted {
		words = append(words, "--fresh-unprompted")
	}
	p.Target, p.Command, p.Detached = "all rigs", CommandLine(words...), true
	e.serverFact(w, p)
	v := e.newRevival(w, p, reviveOptions{unprompted: args.FreshUnprompted, attempt: true})
	rigs := append([]Rig(nil), w.rec.Rigs...)
	sort.Slice(rigs, func(i, j int) bool { return rigs[i].Name < rigs[j].Name })
	for _, rig := range rigs {
		err := e.rigHeld(ctx, w, rig)
		if err == nil {
			err = w.rigUnseen(rig)
		}
		if err == nil {
			err = v.rig(ctx, rig)
		}
		if err != nil {
			v.refuse(rig, err)
		}
	}
	if len(rigs) == 0 {
		p.Warnings = append(p.Warnings, "no rig is on record")
	}
	return nil
}

// pickSeats turns references into logical ids of a rig; an unknown one is an
// error, never ignored.
func pickSeats(rig Rig, seats []Seat, refs []string) ([]string, error) {
	var out []string
	for _, text := range refs {
		ref, err := ParseSeatRef(text)
		if err != nil {
			return nil, err
		}
		found := ""
		for _, s := range seats {
			if ref.Matches(rig.Name, s) || text == Address(s.Pod, s.Member, rig.Name) {
				found = s.Logical()
			}
		}
		if found == "" {
			return nil, Errorf(CodeSeatNotFound, "rig %s has no seat %q", rig.Name, text).On("", text).
				WithHint("`rig ps --rig %s --seats` lists them", rig.Name)
		}
		out = append(out, found)
	}
	return out, nil
}

func logicals(seats []Seat) []string {
	out := make([]string, len(seats))
	for i, s := range seats {
		out[i] = s.Logical()
	}
	return out
}

// edgeSpecs gives a rig's edges between logical ids.
func (w *world) edgeSpecs(rigID string) []EdgeSpec {
	var out []EdgeSpec
	for _, e := range w.rec.Edges {
		if e.RigID == rigID {
			out = append(out, EdgeSpec{Kind: e.Kind, From: w.seats[e.From].Logical(), To: w.seats[e.To].Logical()})
		}
	}
	return out
}

// startups reads what a fresh launch of each seat replays.
func (e *Engine) startups(ctx context.Context, seats []Seat) (map[string]StartupContext, error) {
	out := map[string]StartupContext{}
	err := e.d.Store.Read(ctx, func(r Reader) error {
		for _, s := range seats {
			c, err := r.StartupContext(s.ID)
			if CodeOf(err) == CodeNotFound {
				continue
			}
			if err != nil {
				return err
			}
			out[s.ID] = c
		}
		return nil
	})
	return out, err
}
