package tui

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"rig/engine"
)

// RunPlain is the console without a screen: no alternate screen, no frames, no
// colours; one line for each change, and commands as lines. It ends with the
// word quit, at the end of the input, or with ctx. It is for pipes, logs, screen
// readers and bad links, and can do what the full screen can.
func RunPlain(ctx context.Context, c engine.Console, in io.Reader, out io.Writer, opt Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	opt.ASCII = true
	m, err := New(ctx, c, opt)
	if err != nil {
		return err
	}
	m.operator = c.Operator()
	p := &plain{m: m, out: out, lines: readLines(ctx, in), looks: map[string]string{}, items: map[string]bool{}, ops: map[string]string{}}
	return p.loop(c.Subscribe(ctx))
}

// plain is the state of a plain console: what was said last, so that only
// changes are said.
type plain struct {
	m     *Model
	out   io.Writer
	lines <-chan string
	looks map[string]string // seat id to what was said of it
	items map[string]bool   // attention keys that were said
	ops   map[string]string
	begun bool
}

// readLines turns input into a channel of lines; it closes at the end.
func readLines(ctx context.Context, in io.Reader) <-chan string {
	ch := make(chan string)
	go func() {
		defer close(ch)
		s := bufio.NewScanner(in)
		s.Buffer(nil, 64<<10)
		for s.Scan() {
			select {
			case ch <- s.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return ch
}

func (p *plain) say(format string, a ...any) {
	_, _ = fmt.Fprintf(p.out, format+"\n", a...) // nobody is left to tell when the terminal has gone
}

// loop takes pictures and commands until one of them ends. Commands wait for the
// first picture, so that a script's first line has something to work on.
func (p *plain) loop(fleets <-chan *engine.Fleet) error {
	for {
		lines := p.lines
		if !p.begun {
			lines = nil
		}
		select {
		case f, ok := <-fleets:
			if !ok {
				if p.m.ctx.Err() != nil {
					return nil
				}
				return engine.Errorf(engine.CodeUnavailable, "the engine has stopped sending").WithHint("rig doctor")
			}
			p.picture(f)
		case line, ok := <-lines:
			if !ok || p.command(line) {
				return nil
			}
		case <-p.m.ctx.Done():
			return nil
		}
	}
}

// picture says what changed.
func (p *plain) picture(f *engine.Fleet) {
	_ = p.m.setFleet(f) // its commands are those of screens, which are not here
	at := f.At.In(p.m.opt.zone()).Format("15:04:05") + " "
	if !p.begun {
		p.begun = true
		p.greet(f)
		at = ""
	}
	for _, s := range f.Seats() {
		text := lookOf(s).word + dashed(clean(s.Activity.Why))
		if s.Life != engine.LifeRunning {
			text = lookOf(s).word + dashed(clean(s.LifeWhy))
		}
		before, known := p.looks[s.ID]
		p.looks[s.ID] = text
		if known && before != text {
			p.say("%s%s: %s, was %s", at, clean(s.Address), text, before)
		}
		if !known && at != "" {
			p.say("%s%s: new, %s", at, clean(s.Address), text)
		}
	}
	for _, it := range f.Attention {
		if !p.items[it.Key] && it.Acked == "" {
			p.items[it.Key] = true
			lead := at
			if p.m.opt.Bell && at != "" {
				lead = "\a" + at
			}
			p.say("%s%s", lead, p.item(it))
		}
	}
	for _, op := range f.Ops {
		text := string(op.State)
		if op.Total > 0 { // the steps of what has ended are not in the picture
			text += " " + itoa(op.Done) + " of " + itoa(op.Total)
		}
		if op.Now != "" {
			text += ", " + clean(op.Now)
		}
		if p.ops[op.ID] != text {
			p.ops[op.ID] = text
			p.say("%soperation %s %s: %s", at, op.Verb, clean(op.Target), text)
		}
	}
}

func (p *plain) greet(f *engine.Fleet) {
	t := f.Totals
	if f.Live {
		p.say("rig: %s, %s, %s running, %s busy, %d%s.", engine.Counted(t.Rigs, "rig"), engine.Counted(t.Seats, "seat"),
			engine.Untold(t.Running, t.Unknown), engine.Untold(t.Busy, t.Unknown), t.Attention, needYou(t.Attention))
	} else {
		p.say("rig: %s, %s; how many run is not known yet.", engine.Counted(t.Rigs, "rig"), engine.Counted(t.Seats, "seat"))
	}
	if word, _ := p.m.serverWord(); word != "live" {
		p.say("The picture is: %s.", word)
	}
	if f.RecordErr != "" {
		p.say("The record cannot be read: %s. rig doctor says more.", clean(f.RecordErr))
	}
	if t.Rigs == 0 {
		p.say("No rigs yet: up brings one up.")
	}
	p.say("Type help for the commands.")
}

// item is one line of attention, with what resolves it.
func (p *plain) item(it engine.AttentionItem) string {
	target := joinWords(" ", clean(cmp.Or(it.Seat, it.Target)), clean(it.OpID))
	return "needs you: " + target + ", " + attentionLook(it.Class).word + ": " + strings.TrimSuffix(clean(it.Reason), ".") + ". " + clean(it.Remedy)
}

// command does one line; true ends the console.
func (p *plain) command(line string) bool {
	name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	rest = strings.TrimSpace(rest)
	if name == "" {
		return false
	}
	if name == "quit" || name == "q" || name == "exit" {
		return true
	}
	if p.verb(line) {
		return false
	}
	for _, c := range plainCommands() {
		if c.name == name {
			if c.write && p.m.opt.ReadOnly {
				p.say("Read-only mode: nothing is changed or sent.")
				return false
			}
			c.run(p, rest)
			return false
		}
	}
	p.say("There is no command %q. help lists them.", clean(name))
	return false
}

// verb opens the wizard that a line names, if it names one. Verbs of two words
// come before the command that is their first word.
func (p *plain) verb(line string) bool {
	line = strings.TrimSpace(line)
	for _, d := range wizardDefs() {
		if rest, ok := strings.CutPrefix(line+" ", string(d.verb)+" "); ok {
			p.wizard(d, strings.TrimSpace(rest))
			return true
		}
	}
	return false
}
