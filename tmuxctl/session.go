package tmuxctl

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"rig/engine"
)

// Default size of a session nobody looks at.
const (
	defaultWidth  = 120
	defaultHeight = 40
)

// HasSession asks for the session of exactly this name. Unknown always comes with
// an error; Absent and Present never do.
func (m *Mux) HasSession(ctx context.Context, name string) (engine.Presence, error) {
	t, err := Session(name)
	if err != nil {
		return engine.Unknown, err
	}
	_, err = m.run.run(ctx, runSpec{words: []string{"has-session", "-t", t.String()}, again: true})
	if err == nil {
		return engine.Present, nil
	}
	var te *tmuxError
	if errors.As(err, &te) && te.classify() == engine.Absent {
		return engine.Absent, nil
	}
	return engine.Unknown, on(asEngine(err), "has_session", name)
}

// Create makes a detached session whose one pane runs Argv without a shell. Tags,
// remain-on-exit (a failed launch stays readable) and destroy-unattached off are
// set in the same command list, before the program can have ended. The server is
// started when there is none. An existing name is CodeSessionExists and the session
// that has it is left alone. A failure after the creation removes it again.
func (m *Mux) Create(ctx context.Context, s engine.SessionSpec) (engine.PaneRef, error) {
	const op = "create_session"
	words, nonce, err := createWords(s)
	if err != nil {
		return engine.PaneRef{}, on(err, op, s.Name)
	}
	if _, err := m.Caps(ctx); err != nil {
		return engine.PaneRef{}, on(err, op, s.Name)
	}
	if err := os.MkdirAll(filepath.Dir(m.run.socket), 0o700); err != nil {
		return engine.PaneRef{}, engine.Errorf(engine.CodeUnavailable, "the directory of the tmux socket cannot be made").
			WithHint("check RIG_TMUX_SOCKET and the rights on %s", filepath.Dir(m.run.socket)).On(op, s.Name).Wrap(err)
	}
	// A server that has lost its last session still takes commands for a moment; what it
	// made of this one goes with it.
	out, err := m.run.run(ctx, runSpec{words: words, start: true, again: true})
	ref, made := parseCreated(out, nonce)
	if err != nil {
		if made {
			m.undoCreate(ctx, ref)
		}
		return engine.PaneRef{}, on(asEngine(err), op, s.Name)
	}
	if !made { // tmux exits 0 when it cannot make its socket
		return engine.PaneRef{}, engine.Errorf(engine.CodeTmuxProbeFailed, "tmux did not say what it created").
			WithHint("run `rig doctor`; check that %s can be written", filepath.Dir(m.run.socket)).On(op, s.Name)
	}
	return ref, nil
}

// createWords checks a spec and builds the command list.
func createWords(s engine.SessionSpec) (words []string, nonce string, err error) {
	t, err := Session(s.Name)
	if err != nil {
		return nil, "", err
	}
	argv, err := checkArgv(s.Argv)
	if err != nil {
		return nil, "", err
	}
	if err := checkDir(s.Dir); err != nil {
		return nil, "", err
	}
	if s.Width <= 0 || s.Height <= 0 {
		s.Width, s.Height = defaultWidth, defaultHeight
	}
	nonce = newNonce()
	words = []string{
		"new-session", "-d", "-s", s.Name, "-x", strconv.Itoa(s.Width), "-y", strconv.Itoa(s.Height),
		"-c", escapeFormat(s.Dir), "-P", "-F", fieldFormat(nonce, createdFields, nil), "--",
	}
	words = append(words, argv...)
	set := func(flag, name, value string) {
		words = append(words, separator, "set-option", flag, t.String(), name, value)
	}
	set("-t", "destroy-unattached", "off")
	set("-pt", "remain-on-exit", "on")
	for _, tag := range [][2]string{{"@rig_seat", s.Seat}, {"@rig_gen", s.Gen}, {"@rig_op", s.Op}} {
		if err := checkTag(tag[1]); err != nil {
			return nil, "", err
		}
		if tag[1] != "" {
			set("-pt", tag[0], tag[1])
		}
	}
	return words, nonce, nil
}

// checkArgv makes sure that tmux runs the words without a shell: it hands a single
// word to sh -c, so one word is run through env.
func checkArgv(argv []string) ([]string, error) {
	size := 0
	for _, w := range argv {
		size += len(w) + 1
		if strings.ContainsRune(w, 0) {
			return nil, engine.Errorf(engine.CodeInvalid, "a word of the command holds a NUL").
				WithHint("remove it")
		}
	}
	if len(argv) == 0 || argv[0] == "" {
		return nil, engine.Errorf(engine.CodeInvalid, "there is no command to run").
			WithHint("give at least one word")
	}
	if size > 8<<10 { // tmux stops at 16 KB for the whole message
		return nil, engine.Errorf(engine.CodeInvalid, "the command has %d bytes, too many for tmux", size).
			WithHint("pass long arguments through a file")
	}
	if len(argv) == 1 {
		argv = []string{"env", argv[0]}
	}
	return argv, nil
}

// checkDir refuses a directory in which tmux would silently use another one.
func checkDir(dir string) error {
	if !filepath.IsAbs(dir) {
		return engine.Errorf(engine.CodeInvalid, "the working directory %q is not absolute", dir).
			WithHint("give an absolute path")
	}
	if strings.ContainsRune(dir, 0) {
		return engine.Errorf(engine.CodeInvalid, "the working directory holds a NUL").WithHint("remove it")
	}
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = errors.New("not a directory")
	}
	if err != nil {
		return engine.Errorf(engine.CodeInvalid, "the working directory %s cannot be used", dir).
			WithHint("create it, or change the seat's cwd").Wrap(err)
	}
	return nil
}

var createdFields = []string{"pid", "start_time", "session_id", "pane_id", "pane_pid"}

// parseCreated reads what new-session printed.
func parseCreated(out, nonce string) (engine.PaneRef, bool) {
	rows, _ := splitRows(out, nonce)
	if len(rows) != 1 {
		return engine.PaneRef{}, false
	}
	head, _, err := splitFields(rows[0], nonce, len(createdFields), 0)
	if err != nil {
		return engine.PaneRef{}, false
	}
	f := fieldReader{values: head}
	ref := engine.PaneRef{Epoch: epochOf(f.digits("pid"), f.digits("start_time"))}
	f.next() // session id: sessions are reached through their pane
	ref.Pane, ref.PID = engine.PaneID(f.next()), f.number("pane_pid")
	return ref, f.err == nil && isID(string(ref.Pane), "%")
}

// undoCreate removes a session that was made but could not be marked as ours. It is
// known by epoch, pane id and pid, and carries no tag of another owner.
func (m *Mux) undoCreate(ctx context.Context, ref engine.PaneRef) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
	defer cancel()
	cond := check{guard: engine.Guard{Pane: ref.Pane, Epoch: ref.Epoch, PID: ref.PID, DeadOK: true}}.condition()
	_, _ = m.run.run(ctx, runSpec{words: []string{
		"if-shell", "-F", "-t", string(ref.Pane), cond, "kill-session -t " + string(ref.Pane),
	}})
}

// KillSession ends the session that holds a guarded pane, with every process in it.
// A pane that is gone is CodeNotFound.
func (m *Mux) KillSession(ctx context.Context, g engine.Guard) error {
	// An operator's session may be grouped with the seat's: then tmux ends one of the
	// two and the pane lives on in the other, so the pane is ended too. Usually it is
	// gone by then, and with the last session so is the server: both are success.
	pane := string(g.Pane)
	return m.guarded(ctx, "kill_session", check{guard: g}, action{
		do: "kill-session -t " + sessionOf(g) + " ; kill-pane -t " + pane, last: true,
	})
}

// KillPane ends a guarded pane, and with it its session when it was the last one
// there. A pane that is gone is CodeNotFound.
func (m *Mux) KillPane(ctx context.Context, g engine.Guard) error {
	const op = "kill_pane"
	return m.guarded(ctx, op, check{guard: g}, action{do: "kill-pane -t " + string(g.Pane), last: true})
}

// Rename renames the session of a guarded pane. An existing name is
// CodeSessionExists.
func (m *Mux) Rename(ctx context.Context, g engine.Guard, name string) error {
	const op = "rename_session"
	if err := checkSessionName(name); err != nil {
		return on(err, op, string(g.Pane))
	}
	return m.guarded(ctx, op, check{guard: g}, action{do: "rename-session -t " + sessionOf(g) + " " + name})
}

// sessionOf targets the session that a guard names, in tmux's own syntax. Of several
// that show the pane tmux would take the one that was used last.
func sessionOf(g engine.Guard) string {
	if t, err := Session(g.Session); err == nil {
		return "'" + t.String() + "'"
	}
	return string(g.Pane)
}

// Respawn starts Argv in a guarded pane whose process has ended; the pane keeps its
// id, tags and scrollback. A live pane is refused.
func (m *Mux) Respawn(ctx context.Context, g engine.Guard, dir string, argv []string) error {
	const op = "respawn_pane"
	argv, err := checkArgv(argv)
	if err != nil {
		return on(err, op, string(g.Pane))
	}
	if err := checkDir(dir); err != nil {
		return on(err, op, string(g.Pane))
	}
	line, err := commandLine(append([]string{"respawn-pane", "-t", string(g.Pane), "-c", escapeFormat(dir), "--"}, argv...)...)
	if err != nil {
		return on(err, op, string(g.Pane))
	}
	return m.guarded(ctx, op, check{guard: g, ended: true}, action{do: line})
}

// Resize gives the window of a guarded pane a size in cells. tmux keeps that size,
// whoever attaches, until the window is told otherwise.
func (m *Mux) Resize(ctx context.Context, g engine.Guard, width, height int) error {
	const op = "resize_window"
	if width < 1 || height < 1 || width > 10000 || height > 10000 {
		return engine.Errorf(engine.CodeInvalid, "%dx%d is no size of a window", width, height).
			WithHint("give 1 to 10000 columns and rows").On(op, string(g.Pane))
	}
	return m.guarded(ctx, op, check{guard: g}, action{
		do: "resize-window -t " + string(g.Pane) + " -x " + strconv.Itoa(width) + " -y " + strconv.Itoa(height),
	})
}
