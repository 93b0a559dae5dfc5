package main

import (
	"io"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"rig/engine"
	"rig/engine/packet"
	"rig/engine/runtimes"
	"rig/store"
	"rig/tmuxctl"
)

// appMode says how much a verb may touch.
type appMode int

const (
	appLook  appMode = iota // a picture: as appRead, but what is wrong with the record is said by the first read of it
	appRead                 // plans and queries: nothing is created, nothing written
	appWrite                // applies: the record is opened for writing
	appWatch                // the console: writing, and tmux through a control client
)

// lookGC lets a verb that looks and ends use 32 MB before it collects garbage: each
// round of the collector costs more than the few pages that it saves.
const lookGC = 800

// onStep, afterPlan and onFrame are nil but in tests, which end the process at a
// step, hold it between its plan and its apply, or let a screen fail.
var (
	onStep    func(when string, s engine.Step)
	afterPlan func()
	onFrame   func(revision uint64, screen string)
)

// app is the wiring of one run of the program.
type app struct {
	paths paths
	conf  config
	deps  engine.Deps
	db    *store.DB
	eng   *engine.Engine
	log   io.Closer
	shots io.Closer // nil when nothing is recorded
}

// openApp wires the adapters for a mode.
func openApp(mode appMode) (*app, error) {
	a := &app{}
	var err error
	if a.paths, err = findPaths(); err != nil {
		return nil, err
	}
	if a.conf, err = readConfig(a.paths.config); err != nil {
		return nil, err
	}
	setting := os.Getenv("RIG_TMUX_SOCKET")
	if setting == "" {
		setting = a.conf.Tmux.Socket
	}
	a.paths.socket = socketPath(setting)
	if mode <= appRead {
		debug.SetGCPercent(lookGC)
	}
	switch mode {
	case appLook:
		a.db, err = store.OpenLazily(a.paths.record()) // tmux is asked while it is looked at
	case appRead:
		a.db, err = store.OpenReadOnly(a.paths.record())
	default:
		if err = ownHome(a.paths.home, os.Geteuid()); err == nil {
			a.db, err = store.Open(a.paths.record())
		}
	}
	if err != nil {
		return nil, err
	}
	if err := a.wire(mode); err != nil {
		return nil, err
	}
	return a, nil
}

func (a *app) wire(mode appMode) error {
	if err := checkSocket(a.paths.socket, os.Geteuid()); err != nil {
		return err
	}
	if mode > appRead {
		if err := os.MkdirAll(filepath.Dir(a.paths.socket), 0o700); err != nil {
			return engine.Errorf(engine.CodeUnavailable, "the folder of the tmux socket cannot be made").Wrap(err).WithHint("set RIG_TMUX_SOCKET")
		}
	}
	mux, err := tmuxctl.New(tmuxctl.Options{Socket: a.paths.socket, OneShot: mode != appWatch, Trust: func(socket string) error { return checkSocket(socket, os.Geteuid()) }})
	if err != nil {
		return err
	}
	claude, err := command("RIG_CLAUDE_COMMAND", a.conf.Claude.Command, "claude")
	if err != nil {
		return err
	}
	codex, err := command("RIG_CODEX_COMMAND", a.conf.Codex.Command, "codex")
	if err != nil {
		return err
	}
	procs := runtimes.NewProcesses()
	logger := slog.New(slog.DiscardHandler)
	if mode > appRead {
		logger = a.openLog()
	}
	files, contexts := runtimes.NewFiles(a.paths.home, a.paths.self, a.paths.seat), packet.Seats{Home: a.paths.home}
	a.deps = engine.Deps{
		Store: a.db, Mux: mux, Specs: loader(),
		Runtimes: runtimes.All(runtimes.Config{
			Claude: claude, Codex: codex, Shell: a.conf.Terminal.Shell, Homes: runtimes.HomesOf(os.Environ()), Procs: procs,
		}),
		Occupants: files, Procs: procs, Spawner: spawner{a.paths},
		Contexts: contexts, Recaps: contexts, Attic: attic{files, contexts},
		Images: a.images(), Recorder: a.recorder(), Redact: redactPrompt, RedactScreen: redactScreen,
		Clock: wallClock{}, IDs: newIDs(), Env: os.Environ(),
		RigEnv: a.paths.rigEnv(),
		Self:   self(), Build: buildName(), Log: logger, OnStep: onStep,
		Config: engine.Config{
			ReadyTimeout: a.conf.Launch.ReadyTimeout, Parallel: a.conf.Launch.Parallel,
			PaneWidth: a.conf.Launch.Width, PaneHeight: a.conf.Launch.Height,
			UndoWindow: a.conf.Handover.UndoWindow, GateWait: a.conf.Handover.GateWait,
		},
	}
	chaosConfig(&a.deps.Config)
	return nil
}

// recorder gives the rings of screens, unless the configuration has none.
func (a *app) recorder() engine.Recorder {
	if a.conf.Recorder.Off {
		return nil
	}
	s := store.NewShots(a.paths.shots())
	a.shots = s
	return s
}

// engine gives the engine over the wiring, made once.
func (a *app) engine() *engine.Engine {
	if a.eng == nil {
		a.eng = engine.New(a.deps)
	}
	return a.eng
}

func (a *app) close() {
	for _, rt := range a.deps.Runtimes {
		if err := rt.Close(); err != nil {
			a.deps.Log.Warn("close runtime", "err", err)
		}
	}
	if a.shots != nil {
		a.shots.Close()
	}
	if err := a.db.Close(); err != nil {
		a.deps.Log.Warn("close record", "err", err)
	}
	if a.log != nil {
		a.log.Close()
	}
}

// command reads a client's command: the environment first, then the
// configuration, then the plain name.
func command(env string, conf []string, plain string) ([]string, error) {
	if v := os.Getenv(env); v != "" || len(conf) == 0 {
		return runtimes.ParseCommand(v, plain)
	}
	return conf, nil
}

// self reads what the environment says about the caller.
func self() engine.Self {
	s := engine.Self{
		Seat: os.Getenv("RIG_SEAT"), Generation: os.Getenv("RIG_GENERATION"), Session: os.Getenv("RIG_SESSION"), Pane: os.Getenv("TMUX_PANE"),
	}
	// An occupant has no TMUX variables: its pane's own id is in RIG_PANE.
	s.SeatPane = os.Getenv("RIG_PANE")
	s.Client = os.Getenv(popupEnv)
	s.Socket, _, _ = strings.Cut(os.Getenv("TMUX"), ",")
	if real, err := filepath.EvalSymlinks(s.Socket); err == nil && s.Socket != "" {
		s.Socket = real
	}
	if u, err := user.Current(); err == nil {
		s.Login = u.Username
	}
	return s
}

// openLog appends to this day's log file; a log that cannot be written is no
// reason not to work.
func (a *app) openLog() *slog.Logger {
	if err := os.MkdirAll(a.paths.logs(), 0o700); err != nil {
		return slog.New(slog.DiscardHandler)
	}
	f, err := os.OpenFile(a.logFile(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return slog.New(slog.DiscardHandler)
	}
	a.log = f
	return slog.New(slog.NewJSONHandler(f, &slog.HandlerOptions{Level: slog.LevelInfo}))
}

func (a *app) logFile() string {
	return filepath.Join(a.paths.logs(), "rig-"+time.Now().UTC().Format("2006-01-02")+".log")
}
