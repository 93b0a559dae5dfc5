package tui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"

	"rig/engine"
)

// Run shows the console until the operator leaves it, ctx ends, or it fails. The
// terminal is given back as it was in each of these cases. A panic anywhere in a
// screen ends the console with an error that says where its stack is.
func Run(ctx context.Context, c engine.Console, opt Options) error {
	return runProgram(ctx, c, opt, programOptions(opt)...)
}

func runProgram(ctx context.Context, c engine.Console, opt Options, options ...tea.ProgramOption) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m, err := New(ctx, c, opt)
	if err != nil {
		return err
	}
	g := &guard{}
	paced := &pacer{}
	p := tea.NewProgram(guarded{m, g, paced}, append(options, tea.WithContext(ctx), tea.WithFPS(flushesPerSecond))...)
	paced.clock = func() resetter { return flushClock(p) }
	g.quit = func() { go p.Quit() } // not from within the loop that would have to take it
	_, err = p.Run()
	if report, stack := g.failure(); report != "" {
		return crash(opt.LogPath, report, stack)
	}
	if errors.Is(err, tea.ErrInterrupted) || errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return engine.Errorf(engine.CodeInternal, "the console ended").Wrap(err).WithHint("rig tui --plain works without a screen")
	}
	return nil
}

func programOptions(opt Options) []tea.ProgramOption {
	var out []tea.ProgramOption
	if opt.Input != nil {
		out = append(out, tea.WithInput(opt.Input))
	}
	if opt.Output != nil {
		out = append(out, tea.WithOutput(opt.Output))
	}
	if opt.Env != nil {
		// Where TMUX is set the library runs `tmux info` and waits for it before the
		// first frame; TrueColour asks the same without that.
		out = append(out, tea.WithEnvironment(slices.DeleteFunc(slices.Clone(opt.Env), func(kv string) bool {
			return strings.HasPrefix(kv, "TMUX=")
		})))
	}
	return out
}

// crash keeps the stack of a panic where the operator can find it.
func crash(path, report, stack string) error {
	e := engine.Errorf(engine.CodeInternal, "the console failed: %s", report)
	if path != "" {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = fmt.Fprintf(f, "panic in the console: %s\n%s\n", report, stack)
			err = errors.Join(err, f.Close())
		}
		if err == nil {
			return e.WithHint("its stack is in %s; seats and operations go on", path)
		}
	}
	return e.With("stack", stack).WithHint("seats and operations go on; the stack is in the details of this error")
}

// guard remembers the first panic and ends the program.
type guard struct {
	mu     sync.Mutex
	report string
	stack  string
	quit   func()
}

func (g *guard) caught(v any) {
	g.mu.Lock()
	first := g.report == ""
	if first {
		g.report, g.stack = fmt.Sprint(v), string(debug.Stack())
	}
	g.mu.Unlock()
	if first && g.quit != nil {
		g.quit()
	}
}

func (g *guard) failure() (report, stack string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.report, g.stack
}

// guarded is the console behind a guard: whatever panics in Update, View or a
// command ends the program in order.
type guarded struct {
	m    tea.Model
	g    *guard
	pace *pacer
}

// Init starts the console.
func (s guarded) Init() (cmd tea.Cmd) {
	defer s.recover()
	return s.safe(s.m.Init())
}

// Update passes a message on.
func (s guarded) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	s.pace.saw(msg)
	return s, s.safe(s.update(msg))
}

func (s guarded) update(msg tea.Msg) (cmd tea.Cmd) {
	defer s.recover()
	_, cmd = s.m.Update(msg)
	return cmd
}

// View draws the console; after a panic, nothing.
func (s guarded) View() (v tea.View) {
	defer s.pace.drew()
	if report, _ := s.g.failure(); report != "" {
		return tea.NewView("")
	}
	defer s.recover()
	return s.m.View()
}

func (s guarded) recover() {
	if v := recover(); v != nil {
		s.g.caught(v)
	}
}

// safe guards a command and the commands that it gives.
func (s guarded) safe(c tea.Cmd) tea.Cmd {
	if c == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		defer s.recover()
		msg = c()
		if batch, ok := msg.(tea.BatchMsg); ok {
			for i := range batch {
				batch[i] = s.safe(batch[i])
			}
		}
		return msg
	}
}
