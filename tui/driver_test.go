package tui

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"rig/engine"
	"rig/tui/tuitest"
)

var update = flag.Bool("update", false, "write the golden frames anew")

// driver runs a console without a terminal: messages in, commands executed at
// once, timers held until they are fired.
type driver struct {
	t      testing.TB
	m      *Model
	c      *tuitest.Console
	timers []timer
	hold   bool      // commands are kept instead of executed
	held   []tea.Cmd // kept commands
	copied []string
	raw    []string // written to the terminal past the frames
	quit   bool
	execs  int
	sized  int // times that the terminal's size was asked for
}

// timer is a command that waits for time to pass.
type timer struct {
	d      time.Duration
	answer func(time.Time) tea.Msg
}

func drive(t testing.TB, f *engine.Fleet, opt Options) *driver {
	t.Helper()
	c := tuitest.New(f)
	m, err := New(context.Background(), c, opt)
	if err != nil {
		t.Fatal(err)
	}
	d := &driver{t: t, m: m, c: c}
	m.after = func(wait time.Duration, answer func(time.Time) tea.Msg) tea.Cmd {
		return func() tea.Msg { return timer{wait, answer} }
	}
	m.operator = c.Operator()
	d.size(120, 40)
	if f != nil {
		d.send(fleetMsg{f})
		d.panes(0)
	}
	return d
}

// panes delivers every screen.
func (d *driver) panes(tick int) {
	var frames []engine.PaneFrame
	for _, s := range d.m.fleet.Seats() {
		if fr, ok := tuitest.Frame(s, tick); ok {
			frames = append(frames, fr)
		}
	}
	d.send(framesMsg{frames})
}

func (d *driver) size(w, h int) { d.send(tea.WindowSizeMsg{Width: w, Height: h}) }

// send gives the model a message and runs what comes back.
func (d *driver) send(msg tea.Msg) {
	d.t.Helper()
	_, cmd := d.m.Update(msg)
	d.run(cmd)
}

func (d *driver) run(cmd tea.Cmd) {
	d.t.Helper()
	if cmd == nil {
		return
	}
	if d.hold {
		d.held = append(d.held, cmd)
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			d.run(c)
		}
	case tea.RawMsg:
		d.raw = append(d.raw, fmt.Sprint(msg.Msg))
	case timer:
		d.timers = append(d.timers, msg)
	case tea.QuitMsg:
		d.quit = true
	default:
		if strings.HasSuffix(typeName(msg), "setClipboardMsg") {
			d.copied = append(d.copied, text(msg))
			return
		}
		if strings.HasSuffix(typeName(msg), "execMsg") {
			d.execs++
			return
		}
		if msg == tea.RequestWindowSize() {
			d.sized++
			return
		}
		d.send(msg)
	}
}

// fire lets the timers of up to a duration run out, oldest first.
func (d *driver) fire(upTo time.Duration) {
	d.t.Helper()
	due := d.timers
	d.timers = nil
	for _, tm := range due {
		if tm.d > upTo {
			d.timers = append(d.timers, tm)
			continue
		}
		d.send(tm.answer(tuitest.Start()))
	}
}

// keys presses keys by name; a name of several letters that is no key is typed.
func (d *driver) keys(names ...string) {
	d.t.Helper()
	for _, n := range names {
		for _, k := range keyPresses(n) {
			d.send(k)
		}
	}
}

func keyPresses(name string) []tea.KeyPressMsg {
	special := map[string]tea.Key{
		"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab},
		"shift+tab": {Code: tea.KeyTab, Mod: tea.ModShift}, "space": {Code: tea.KeySpace, Text: " "},
		"up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown}, "left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight},
		"home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd}, "backspace": {Code: tea.KeyBackspace}, "delete": {Code: tea.KeyDelete},
		"pgup": {Code: tea.KeyPgUp}, "pgdown": {Code: tea.KeyPgDown},
	}
	if k, ok := special[name]; ok {
		return []tea.KeyPressMsg{tea.KeyPressMsg(k)}
	}
	if c, ok := strings.CutPrefix(name, "ctrl+"); ok {
		return []tea.KeyPressMsg{{Code: rune(c[0]), Mod: tea.ModCtrl}}
	}
	var out []tea.KeyPressMsg
	for _, r := range name {
		k := tea.Key{Code: r, Text: string(r)}
		if r == ' ' {
			k.Code = tea.KeySpace
		}
		out = append(out, tea.KeyPressMsg(k))
	}
	return out
}

// frame gives the lines on screen, and checks what holds of every frame: as many
// lines as the terminal has, each exactly as wide, and the same when drawn again.
func (d *driver) frame() []string {
	d.t.Helper()
	content := d.m.View().Content
	if again := d.m.View().Content; again != content {
		d.t.Fatal("a second View differs from the first")
	}
	if d.m.w <= 0 || d.m.h <= 0 {
		if content != "" {
			d.t.Fatalf("something is drawn on %dx%d", d.m.w, d.m.h)
		}
		return nil
	}
	lines := strings.Split(content, "\n")
	if len(lines) != d.m.h {
		d.t.Fatalf("%d lines on a terminal of %dx%d", len(lines), d.m.w, d.m.h)
	}
	for i, l := range lines {
		if w, wc := ansi.StringWidth(l), ansi.StringWidthWc(l); w != d.m.w || wc != d.m.w {
			d.t.Fatalf("line %d is %d (by cells %d) wide on a terminal of %dx%d: %q", i, w, wc, d.m.w, d.m.h, l)
		}
	}
	return lines
}

// text is the frame without colours.
func (d *driver) text() string {
	d.t.Helper()
	lines := d.frame()
	for i := range lines {
		lines[i] = strings.TrimRight(ansi.Strip(lines[i]), " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

func (d *driver) has(words ...string) {
	d.t.Helper()
	text := d.text()
	for _, w := range words {
		if !strings.Contains(text, w) {
			d.t.Errorf("%q is not on screen:\n%s", w, text)
		}
	}
}

func (d *driver) hasNot(words ...string) {
	d.t.Helper()
	text := d.text()
	for _, w := range words {
		if strings.Contains(text, w) {
			d.t.Errorf("%q is on screen:\n%s", w, text)
		}
	}
}

// golden compares the frame with the one on file.
func (d *driver) golden(name string) {
	d.t.Helper()
	path := filepath.Join("testdata", name+".txt")
	got := d.text()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			d.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			d.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		d.t.Fatalf("%v; run the test with -update and read what it wrote", err)
	}
	if got != string(want) {
		d.t.Errorf("%s differs from the frame on file.\n--- want\n%s\n--- got\n%s", name, want, got)
	}
}
