package tui

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

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
	p := &plain{m: m, out: out, looks: map[string]string{}, names: map[string]string{}, items: map[string]bool{}, ops: map[string]string{}}
	p.lines = p.readLines(ctx, in)
	return p.loop(c.Subscribe(ctx))
}

// plain is the state of a plain console: what was said last, so that only
// changes are said.
type plain struct {
	m     *Model
	out   io.Writer
	lines <-chan string
	looks map[string]string // seat id to what was said of it
	names map[string]string // seat id to the address it was said under
	items map[string]bool   // attention keys that were said and still wait
	told  []string          // attention keys in the order in which they were numbered last
	ops   map[string]string
	word  string // what was said of the picture as a whole
	fault string // what was said of the record
	begun bool

	unread error // why the input ended before its end; read once lines is closed

	due      time.Time        // pictures from before this time are not answered from; zero = none is
	patience <-chan time.Time // ends the wait for one that does not come
}

// maxLine bounds a line of input, in bytes: more than a message or a text may have.
const maxLine = 1 << 20

// pictureTime is how long the picture that an operation leads to is waited for.
const pictureTime = 2 * time.Second

// readLines turns input into a channel of lines; it closes at the end.
func (p *plain) readLines(ctx context.Context, in io.Reader) <-chan string {
	ch := make(chan string)
	go func() {
		defer close(ch)
		s := bufio.NewScanner(in)
		s.Buffer(nil, maxLine)
		for s.Scan() {
			select {
			case ch <- s.Text():
			case <-ctx.Done():
				return
			}
		}
		p.unread = s.Err()
	}()
	return ch
}

func (p *plain) say(format string, a ...any) {
	_, _ = fmt.Fprintf(p.out, format+"\n", a...) // nobody is left to tell when the terminal has gone
}

// loop takes pictures and commands until one of them ends. Commands wait for the
// first picture, so that a script's first line has something to work on, and for the one
// that shows what they have done.
func (p *plain) loop(fleets <-chan *engine.Fleet) error {
	for {
		lines := p.lines
		if !p.begun || !p.due.IsZero() {
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
			if !ok {
				return p.ended()
			}
			p.catchUp(fleets)
			if p.command(line) {
				return nil
			}
		case <-p.patience:
			p.due, p.patience = time.Time{}, nil
		case <-p.m.ctx.Done():
			return nil
		}
	}
}

// ended says why the input cannot be read on, where that is not its end.
func (p *plain) ended() error {
	switch {
	case p.unread == nil:
		return nil
	case errors.Is(p.unread, bufio.ErrTooLong):
		return engine.Errorf(engine.CodeInvalid, "a line of the input is too long: at most %d bytes are taken", maxLine).
			WithHint("put a long text into a file and send its path")
	}
	return engine.Errorf(engine.CodeUnavailable, "the input cannot be read").Wrap(p.unread).WithHint("rig tui --plain reads lines from its standard input")
}

// catchUp takes the pictures that have come, and the time: an answer is about now.
func (p *plain) catchUp(fleets <-chan *engine.Fleet) {
	for {
		select {
		case f, ok := <-fleets:
			if ok {
				p.picture(f)
				continue
			}
		default:
		}
		break
	}
	if p.m.opt.Now != nil {
		p.m.setNow(p.m.opt.Now())
	}
}

// await lets the next command wait for a picture of after now.
func (p *plain) await() {
	if p.m.opt.Now != nil {
		p.due, p.patience = p.m.opt.Now(), time.After(pictureTime)
	}
}

// picture says what changed.
func (p *plain) picture(f *engine.Fleet) {
	_ = p.m.setFleet(f) // its commands are those of screens, which are not here
	if !f.At.Before(p.due) {
		p.due, p.patience = time.Time{}, nil
	}
	at := f.At.In(p.m.opt.zone()).Format("15:04:05") + " "
	if !p.begun {
		p.begun = true
		p.greet(f)
		at = ""
	}
	p.whole(f, at)
	p.gone(f, at)
	for _, s := range f.Seats() {
		text := lookOf(s).word + dashed(clean(s.Activity.Why))
		if s.Life != engine.LifeRunning {
			text = lookOf(s).word + dashed(clean(s.LifeWhy))
		}
		before, known := p.looks[s.ID]
		p.looks[s.ID], p.names[s.ID] = text, clean(s.Address)
		if known && before != text {
			p.say("%s%s: %s, was %s", at, clean(s.Address), text, before)
		}
		if !known && at != "" {
			p.say("%s%s: new, %s", at, clean(s.Address), text)
		}
	}
	waiting := map[string]bool{}
	for _, it := range f.Attention {
		if it.Acked != "" {
			continue
		}
		if waiting[it.Key] = true; !p.items[it.Key] {
			lead := at
			if p.m.opt.Bell && at != "" {
				lead = "\a" + at
			}
			p.say("%s%s", lead, p.item(it))
		}
	}
	p.items = waiting
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
	if t.Rigs == 0 && f.RecordErr == "" {
		p.say("No rigs yet: up brings one up.")
	}
	p.say("Type help for the commands.")
}

// whole says what holds for the picture as a whole, where that is another thing now.
func (p *plain) whole(f *engine.Fleet, at string) {
	if fault := clean(f.RecordErr); fault != p.fault {
		if p.fault = fault; fault != "" {
			p.say("%sThe record cannot be read: %s. rig doctor says more.", at, fault)
		}
	}
	word, _ := p.m.serverWord()
	if word != p.word && (p.word != "" || word != "live") { // live goes without saying at the start
		p.say("%sThe picture is: %s.", at, word)
	}
	p.word = word
}

// gone says which seats are no longer there, of a picture that tells.
func (p *plain) gone(f *engine.Fleet, at string) {
	if f.RecordErr != "" {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(p.names)) {
		if p.m.seats[id] == nil {
			p.say("%s%s: no longer there", at, p.names[id])
			delete(p.names, id)
			delete(p.looks, id)
		}
	}
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
