package tmuxctl

import (
	"context"
	"strings"

	"rig/engine"
)

// Tag replaces our tags on a guarded pane; an empty value removes the tag. The pane
// may be dead when the guard says so.
func (m *Mux) Tag(ctx context.Context, g engine.Guard, seat, gen, op string) error {
	return m.tag(ctx, "tag_pane", check{guard: g}, seat, gen, op)
}

// Adopt sets our tags on a pane that carries none. Epoch, pane id and pid of the
// guard are required and checked; its Seat, Gen and Op are ignored.
func (m *Mux) Adopt(ctx context.Context, g engine.Guard, seat, gen, op string) error {
	g.Seat, g.Gen, g.Op = "", "", ""
	if seat == "" {
		return engine.Errorf(engine.CodeInvalid, "adoption needs the seat").
			WithHint("name the seat that takes the pane over").On("adopt_pane", string(g.Pane))
	}
	return m.tag(ctx, "adopt_pane", check{guard: g, untagged: true}, seat, gen, op)
}

func (m *Mux) tag(ctx context.Context, verb string, c check, seat, gen, op string) error {
	lines := make([]string, 0, 3)
	for _, t := range [][2]string{{"@rig_seat", seat}, {"@rig_gen", gen}, {"@rig_op", op}} {
		if err := checkTag(t[1]); err != nil {
			return on(err, verb, string(c.guard.Pane))
		}
		words := []string{"set-option", "-p", "-t", string(c.guard.Pane), t[0], t[1]}
		if t[1] == "" {
			words = []string{"set-option", "-pu", "-t", string(c.guard.Pane), t[0]}
		}
		line, err := commandLine(words...)
		if err != nil {
			return on(err, verb, string(c.guard.Pane))
		}
		lines = append(lines, line)
	}
	return m.guarded(ctx, verb, c, action{do: strings.Join(lines, " ; ")})
}

// Swap exchanges the places of two guarded panes. Both guards and the exchange are
// one server command list. Attached clients stay where they are and see the other
// pane; tags, scrollback and process go with each pane, sizes do not.
func (m *Mux) Swap(ctx context.Context, a, b engine.Guard) error {
	const op = "swap_panes"
	first, second := check{guard: a}, check{guard: b}
	for _, c := range []check{first, second} {
		if err := c.validate(); err != nil {
			return on(err, op, string(c.guard.Pane))
		}
	}
	if a.Pane == b.Pane {
		return engine.Errorf(engine.CodeInvalid, "a pane cannot be swapped with itself").
			WithHint("name two panes").On(op, string(a.Pane))
	}
	one, two := newNonce(), newNonce()
	// -d keeps the active pane of each window active in its place.
	swap := "swap-pane -d -s " + string(a.Pane) + " -t " + string(b.Pane) + " ; " + sayYes(two)
	inner, err := second.words(two, swap, "")
	if err != nil {
		return on(err, op, string(b.Pane))
	}
	line, err := commandLine(inner...)
	if err != nil {
		return on(err, op, string(b.Pane))
	}
	words, err := first.words(one, line, "")
	if err != nil {
		return on(err, op, string(a.Pane))
	}
	out, err := m.run.run(ctx, runSpec{words: words})
	if err == nil && strings.HasPrefix(out, rowStart(one)) {
		return on(first.refusal(out, one), op, string(a.Pane))
	}
	return on(second.verdict(out, two, false, err), op, string(b.Pane))
}
