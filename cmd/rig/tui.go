package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/spf13/cobra"

	"rig/engine"
	"rig/specs"
	"rig/tui"
)

// tuiFlags are the flags of `rig tui`.
type tuiFlags struct {
	readOnly, plain, noMouse, ascii bool
	popup, bell, notify             bool
	theme, client                   string
}

func (c *cli) tuiCmd() *cobra.Command {
	var f tuiFlags
	cmd := &cobra.Command{
		Use: "tui", Short: "The console (also `rig` without a verb)", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.popup && !inPopup() {
				return c.popupSelf(cmd.Context(), f)
			}
			return c.tui(cmd.Context(), f)
		},
	}
	cmd.Flags().BoolVar(&f.popup, "popup", false, "open in a popup over this tmux client; a jump closes it")
	cmd.Flags().StringVar(&f.client, "client", "", "with --popup: over which `client` (#{client_name})")
	cmd.Flags().BoolVar(&f.bell, "bell", false, "ring the terminal's bell when something new waits for you")
	cmd.Flags().BoolVar(&f.notify, "notify", false, "also ask the terminal for a desktop notification (OSC 9 and OSC 777)")
	cmd.Flags().BoolVar(&f.readOnly, "read-only", false, "look only: no wizard opens")
	cmd.Flags().BoolVar(&f.plain, "plain", false, "lines instead of a screen")
	cmd.Flags().BoolVar(&f.noMouse, "no-mouse", false, "leave the mouse to the terminal")
	cmd.Flags().BoolVar(&f.ascii, "ascii", false, "draw with ASCII only")
	cmd.Flags().StringVar(&f.theme, "theme", "", "dark, light, any, 16 or mono (default: what the terminal says)")
	return cmd
}

// tuiThreads is the least number of threads that run the console. A goroutine that
// waits in a system call, such as a read of the record, or that computes keeps its
// thread for up to 10 ms; with as many as a small machine has cores, two, the frame
// that answers a key waits for that. The system's own scheduler is fairer.
const tuiThreads = 4

// Until its first pictures stand on the screen the console may use 16 MB before it
// collects garbage: some collections while everything is read for the first time are a
// third of the time until it does. Afterwards the system gets back what is not in use.
const (
	openingGC = 400
	opening   = 2 * time.Second
)

// openFast gives up tidying memory for the time of the opening.
func openFast() (stop func() bool) {
	usual := debug.SetGCPercent(openingGC)
	return time.AfterFunc(opening, func() {
		debug.SetGCPercent(usual)
		debug.FreeOSMemory()
	}).Stop
}

// tui runs the console: the engine's loop in this process, the screens over it.
func (c *cli) tui(ctx context.Context, f tuiFlags) error {
	defer openFast()()
	runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), tuiThreads))
	a, err := openApp(appWatch)
	if err != nil {
		return err
	}
	defer a.close()
	defer a.announce("tui")()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := a.engine().Watcher()
	con := a.engine().Local(w)
	done := make(chan struct{})
	go func() { defer close(done); w.Run(ctx) }()
	saved := a.keepSnapshots(ctx, w)
	opts := a.tuiOptions(f)
	if f.plain || os.Getenv("TERM") == "dumb" || !isTerminal(os.Stdin) || !isTerminal(os.Stdout) {
		err = tui.RunPlain(ctx, con, os.Stdin, os.Stdout, opts)
	} else {
		opts.Input = terminalInput{os.Stdin, cancel}
		err = tui.Run(ctx, con, opts)
	}
	cancel()
	<-done
	saved()
	if err != nil {
		fmt.Fprintln(os.Stderr, "log: "+a.logFile())
	}
	return err
}

func (a *app) tuiOptions(f tuiFlags) tui.Options {
	opt := tui.Options{
		ReadOnly: f.readOnly, NoMouse: f.noMouse, ASCII: f.ascii, Theme: f.theme, Keys: a.conf.keys(), Zone: time.Local,
		Bell: f.bell || a.conf.Console.Bell, Notify: f.notify || a.conf.Console.Notify, InPopup: inPopup(),
		Now: wallClock{}.Now, LogPath: a.logFile(), Env: os.Environ(), Marker: os.Getenv("RIG_TUI_MARKER") != "", OnFrame: onFrame,
		Attach: attachCommand, Starters: a.starterChoices, Discovered: a.discoveredChoices,
		HostChecks: func() []engine.RestoreCheckItem { return hostChecks(a.paths) },
	}
	if os.Getenv("TMUX") != "" {
		opt.TrueColour = trueColour
	}
	switch {
	case os.Getenv("TMUX") == "":
		opt.NoPopup = "a popup needs tmux around this console"
	case inPopup():
		opt.NoPopup = "this console is a popup itself"
	default:
		opt.Popup = runPopup
	}
	return opt
}

// trueColour asks the tmux around this process whether the client that shows it
// draws 24-bit colours. Silence means no.
func trueColour(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "tmux", "display-message", "-p", "#{client_termfeatures}").Output()
	return err == nil && slices.Contains(strings.FieldsFunc(string(out), func(r rune) bool { return r == ',' || r == ':' || r == '\n' }), "RGB")
}

// attachCommand attaches this terminal, outside of any tmux client it is in.
func attachCommand(argv []string) tea.ExecCommand {
	// The terminal is handed over whole; the attach ends when the operator detaches.
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:noctx // the operator ends it
	cmd.Env = withoutTmux(os.Environ())
	return attachProc{cmd}
}

// attachProc is an exec.Cmd in the shape that Bubble Tea hands the terminal to.
type attachProc struct{ *exec.Cmd }

// SetStdin gives the attach the terminal's input: the file itself, because tmux
// wants a terminal and not a pipe.
func (p attachProc) SetStdin(r io.Reader) {
	if t, ok := r.(terminalInput); ok {
		r = t.File
	}
	p.Stdin = r
}

// SetStdout gives the attach the terminal's output.
func (p attachProc) SetStdout(w io.Writer) { p.Stdout = w }

// SetStderr gives the attach the terminal's error output.
func (p attachProc) SetStderr(w io.Writer) { p.Stderr = w }

// starterChoices lists the starters; those whose clients are on this machine come first,
// and of the others it is said what they need.
func (a *app) starterChoices(context.Context) ([]tui.Choice, error) {
	var ready, rest []tui.Choice
	for _, s := range specs.List() {
		ch := tui.Choice{Value: s.Name, Note: engine.Counted(s.Seats, "seat") + " — " + s.Summary}
		var missing []string
		for _, rt := range s.Runtimes {
			if !a.clientThere(rt) {
				missing = append(missing, string(rt))
			}
		}
		if len(missing) == 0 {
			ready = append(ready, ch)
			continue
		}
		ch.Note += " (not on this machine: " + strings.Join(missing, ", ") + ")"
		rest = append(rest, ch)
	}
	return append(ready, rest...), nil
}

// clientThere reports whether the program of a runtime can be found. Whether it starts
// is the plan's to say.
func (a *app) clientThere(rt engine.RuntimeName) bool {
	var words []string
	var err error
	switch rt {
	case engine.RuntimeClaude:
		words, err = command("RIG_CLAUDE_COMMAND", a.conf.Claude.Command, "claude")
	case engine.RuntimeCodex:
		words, err = command("RIG_CODEX_COMMAND", a.conf.Codex.Command, "codex")
	default:
		return true
	}
	if err == nil {
		_, err = exec.LookPath(words[0])
	}
	return err == nil
}

func (a *app) discoveredChoices(ctx context.Context) ([]tui.Choice, error) {
	list, err := a.engine().Discover(ctx, true)
	if err != nil {
		return nil, err
	}
	var out []tui.Choice
	for _, d := range list {
		ch := tui.Choice{Value: d.ID, Label: plain(d.SessionName) + " " + string(d.Pane), Note: discoveredNote(d), Runtime: d.RuntimeHint}
		if d.Status != "active" {
			ch.Reason = d.Status
		}
		out = append(out, ch)
	}
	return out, nil
}

func discoveredNote(d engine.DiscoveredSession) string {
	hint := string(d.RuntimeHint)
	if hint == "" {
		hint = "?"
	}
	return hint + "  " + plain(d.Cwd)
}
