package enginetest

import (
	"context"

	"rig/engine"
)

// Contexts makes packets in memory and remembers which are kept.
type Contexts struct {
	Faults *Faults
	Kept   map[string]bool // by folder
	Has    engine.Chain
}

var _ engine.Contexts = (*Contexts)(nil)

// WritePacket implements engine.Contexts.
func (c *Contexts) WritePacket(_ context.Context, in engine.PacketInput) (engine.Handoff, error) {
	if fail, _ := c.Faults.Ask("packet"); fail {
		return engine.Handoff{}, ErrInjected
	}
	if c.Kept == nil {
		c.Kept = map[string]bool{}
	}
	dir := "/packets/" + in.OpID
	c.Kept[dir] = true
	return engine.Handoff{Prompt: "packet-" + in.OpID, Marker: in.OpID, Dir: dir, Digest: "d"}, nil
}

// Chain implements engine.Contexts.
func (c *Contexts) Chain(context.Context, engine.Seat, string) (engine.Chain, error) {
	return c.Has, nil
}

// Priming implements engine.Contexts.
func (c *Contexts) Priming(in engine.PacketInput, _ engine.Chain) engine.Handoff {
	return engine.Handoff{Prompt: "prime-" + in.OpID, Marker: in.OpID, Digest: "d"}
}

// Remove implements engine.Contexts.
func (c *Contexts) Remove(h engine.Handoff) error {
	delete(c.Kept, h.Dir)
	return nil
}
