package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"rig/engine"
)

// decided asks, in a terminal only, about each seat of a plan that awaits a
// decision: y starts it afresh on purpose, anything else leaves it as it is. It
// gives the plan with the answers in it. In a pipe, with --json and with --apply
// nobody is asked and the plan stays as it is.
func (c *cli) decided(ctx context.Context, e *engine.Engine, m *mutation, p *engine.Plan) (*engine.Plan, error) {
	if m.withFresh == nil || m.apply != "" || c.json || !p.Applicable() || !isTerminal(os.Stdin) || !isTerminal(os.Stderr) {
		return p, nil
	}
	fresh := c.askFresh(os.Stdin, p)
	if len(fresh) == 0 {
		return p, nil
	}
	req, err := m.withFresh(fresh)
	if err != nil {
		return nil, err
	}
	return e.Plan(ctx, req)
}

// askFresh puts one question a seat; an empty line and the end of the input mean
// no.
func (c *cli) askFresh(in io.Reader, p *engine.Plan) []string {
	var fresh []string
	lines := bufio.NewReader(in)
	for _, i := range p.Intents {
		if i.Action != string(engine.ContinuityAwaiting) {
			continue
		}
		fmt.Fprintf(c.err, "%s: %s\n  start it afresh, without its conversation? [y/N] ", plain(i.Seat), plain(i.Reason))
		line, err := lines.ReadString('\n')
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			fresh = append(fresh, i.Seat)
		}
		if err != nil {
			fmt.Fprintln(c.err)
			break
		}
	}
	return fresh
}
