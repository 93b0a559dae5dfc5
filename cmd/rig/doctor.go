package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rig/engine"
	"rig/store"
	"rig/tmuxctl"
)

// check is one line of `rig doctor`.
type check struct {
	Name   string `json:"check"`
	Status string `json:"status"` // green, yellow, red, unknown
	Found  string `json:"found"`
	Hint   string `json:"hint,omitempty"`
}

func (c *cli) doctorCmd() *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "What is there, what is missing, and what to do about it", Args: cobra.NoArgs,
		Long: "Looks, and changes nothing. Exit 1: something is broken (red). Exit 2: something cannot be told.\n" +
			"Yellow lines are worth a look and stop nothing. `rig setup` does what can be done from here.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			list := doctor(cmd.Context())
			for _, k := range list {
				switch {
				case k.Status == "red":
					c.code = 1
				case k.Status == "unknown" && c.code == 0:
					c.code = 2
				}
			}
			if c.json {
				return c.print(map[string]any{"ok": c.code == 0, "checks": list})
			}
			rows := [][]string{}
			for _, k := range list {
				sign := map[string]string{"green": "✓", "yellow": "!", "red": "✗", "unknown": "?"}[k.Status]
				rows = append(rows, []string{sign, k.Name, plain(k.Found)})
				if k.Hint != "" {
					rows = append(rows, []string{"", "", "→ " + k.Hint})
				}
			}
			table(c.out, rows)
			return nil
		},
	}
}

// doctor looks at everything that the product needs and says what it found. It
// changes nothing.
func doctor(ctx context.Context) []check {
	p, err := findPaths()
	if err != nil {
		return []check{tmuxCheck(ctx), {"home", "red", err.Error(), "set RIG_HOME"}}
	}
	conf, confErr := readConfig(p.config)
	out := []check{
		tmuxCheck(ctx),
		clientCheck(ctx, "claude", "RIG_CLAUDE_COMMAND", conf.Claude.Command), clientCheck(ctx, "codex", "RIG_CODEX_COMMAND", conf.Codex.Command),
		seatProgramCheck(p), configCheck(p.config, conf, confErr), homeCheck(p.home), spaceCheck(p.home),
	}
	out = append(out, terminalChecks(ctx)...)
	out = append(out, companionChecks(p.home)...)
	if done, where := completionThere(); where != "" {
		k := check{Name: "completion", Status: "green", Found: where}
		if !done {
			k = check{"completion", "yellow", "not installed for this shell", "rig setup"}
		}
		out = append(out, k)
	}
	if confErr != nil {
		return out // what the record holds is read with the configuration
	}
	return append(out, recordChecks(ctx)...)
}

func tmuxCheck(ctx context.Context) check {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	b, err := exec.CommandContext(ctx, "tmux", "-V").Output()
	if err != nil {
		return check{"tmux", "red", "tmux cannot be started", "install tmux " + tmuxctl.Floor + " or newer: rig setup says how"}
	}
	found := strings.TrimSpace(string(b))
	if err := tmuxctl.Supported(found); err != nil {
		return check{"tmux", "red", found + ": " + err.Error(), hintOf(err)}
	}
	return check{Name: "tmux", Status: "green", Found: found}
}

func clientCheck(ctx context.Context, name, env string, conf []string) check {
	words, err := command(env, conf, name)
	if err != nil {
		return check{name, "red", err.Error(), "correct " + env}
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	b, err := exec.CommandContext(ctx, words[0], append(append([]string{}, words[1:]...), "--version")...).Output()
	hint := "install it, or set " + name + ".command; seats of that runtime cannot start without it"
	switch {
	case err == nil:
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return check{name, "yellow", words[0] + " was not found", hint}
	case ctx.Err() != nil:
		return check{name, "yellow", words[0] + " is there, and did not say its version in time", "run `" + engine.CommandLine(words...) + " --version` yourself"}
	default:
		return check{name, "yellow", words[0] + " is there, and does not say its version: " + err.Error(), "run `" + engine.CommandLine(words...) + " --version` yourself"}
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(b)), "\n")
	return check{Name: name, Status: "green", Found: line}
}

// seatProgramCheck looks for rig-seat beside rig.
func seatProgramCheck(p paths) check {
	if p.seat != p.self {
		return check{Name: "rig-seat", Status: "green", Found: p.seat}
	}
	return check{"rig-seat", "yellow", "not beside " + p.self + ": rig itself runs beside every agent, which takes more time and memory", "install rig-seat into the folder of rig"}
}

func configCheck(path string, conf config, err error) check {
	if err != nil {
		return check{"config", "red", err.Error(), hintOf(err)}
	}
	if err := conf.checkKeys(); err != nil {
		return check{"config", "red", path + ": " + err.Error(), hintOf(err)}
	}
	if _, err := os.Stat(path); err != nil {
		return check{Name: "config", Status: "green", Found: path + " (not there: defaults)"}
	}
	return check{Name: "config", Status: "green", Found: path}
}

// homeCheck looks whether RIG_HOME, or the nearest folder above it that exists,
// can be written, and whether nobody else can read what is in it.
func homeCheck(dir string) check {
	at := dir
	for {
		st, err := os.Stat(at)
		if err == nil && !st.IsDir() {
			return check{"home", "red", at + " is not a folder", "set RIG_HOME to a folder that you may write"}
		}
		if err == nil {
			if !mayWrite(at) {
				return check{"home", "red", at + " cannot be written", "set RIG_HOME to a folder that you may write"}
			}
			if at == dir && st.Mode().Perm()&0o077 != 0 {
				return check{"home", "yellow", fmt.Sprintf("%s can be read by others (%#o)", dir, st.Mode().Perm()), "chmod 700 " + engine.CommandLine(dir)}
			}
			break
		}
		if !os.IsNotExist(err) || at == filepath.Dir(at) {
			return check{"home", "red", at + ": " + err.Error(), "set RIG_HOME to a folder that you may write"}
		}
		at = filepath.Dir(at)
	}
	if at != dir {
		return check{Name: "home", Status: "green", Found: dir + " (not there yet: the first change makes it)"}
	}
	return check{Name: "home", Status: "green", Found: dir}
}

// recordChecks reads the whole record and asks the tmux server.
func recordChecks(ctx context.Context) []check {
	a, err := openApp(appRead)
	if err != nil {
		status := "unknown"
		if code := engine.CodeOf(err); code == engine.CodeInvalid || code == engine.CodeRecordDamaged {
			status = "red"
		}
		return []check{{"record", status, err.Error(), hintOf(err)}}
	}
	defer a.close()
	if _, err := os.Stat(a.db.Path()); os.IsNotExist(err) {
		return []check{{Name: "record", Status: "green", Found: "none yet; `rig up` or `rig demo` is the beginning"}, serverCheck(ctx, a)}
	}
	if err := a.db.Integrity(ctx); err != nil {
		status := "unknown"
		if engine.CodeOf(err) == engine.CodeRecordDamaged {
			status = "red"
		}
		return []check{{"record", status, err.Error(), hintOf(err)}}
	}
	f, err := a.engine().Fleet(ctx)
	if err != nil {
		return []check{{"record", "unknown", err.Error(), hintOf(err)}}
	}
	out := []check{
		{Name: "record", Status: "green", Found: fmt.Sprintf("%s: whole, schema %d, %s, %s", a.db.Path(), store.SchemaVersion(), engine.Counted(f.Totals.Rigs, "rig"), engine.Counted(f.Totals.Seats, "seat"))},
		serverCheck(ctx, a),
	}
	out = append(out, otherServerChecks(f)...)
	if k, ok := savedCheck(ctx, a, f); ok {
		out = append(out, k)
	}
	out = append(out, strayChecks(ctx, a)...)
	ops, err := operationChecks(ctx, a)
	if err != nil {
		return append(out, check{"operations", "unknown", err.Error(), hintOf(err)})
	}
	out = append(out, ops...)
	for _, op := range f.Ops {
		if op.State == engine.OpUnfinished {
			out = append(out, check{"operation " + op.ID, "red", string(op.Verb) + " of " + op.Target + " was cut off", "rig op show " + op.ID})
		}
	}
	return out
}

// strayChecks names what operations have left behind in tmux.
func strayChecks(ctx context.Context, a *app) []check {
	found, err := a.engine().Strays(ctx)
	if err != nil {
		return []check{{"panes", "unknown", err.Error(), hintOf(err)}}
	}
	var out []check
	for _, s := range found {
		out = append(out, check{
			"pane " + string(s.Pane), "red", "it has the tags of " + s.Seat + ", and neither a binding nor an operation explains it; it is in session " + s.Session,
			"look at it, then end it: " + engine.CommandLine("tmux", "-S", a.paths.socket, "kill-pane", "-t", string(s.Pane)),
		})
	}
	return out
}

func serverCheck(ctx context.Context, a *app) check {
	if n := len(a.paths.socket); n > 100 {
		return check{"tmux server", "red", fmt.Sprintf("its socket path has %d bytes; systems allow about 100", n), "set RIG_TMUX_SOCKET to a shorter path"}
	}
	switch inv := a.deps.Mux.Inventory(ctx); inv.Server {
	case engine.Present:
		return check{Name: "tmux server", Status: "green", Found: "answers on " + a.paths.socket}
	case engine.Absent:
		return check{Name: "tmux server", Status: "green", Found: "none yet on " + a.paths.socket + "; the first launch starts it"}
	case engine.Unknown:
		return check{"tmux server", "unknown", fmt.Sprint(inv.Err), "look at the socket " + a.paths.socket}
	}
	return check{"tmux server", "unknown", "no answer", "look at the socket " + a.paths.socket}
}

// otherServerChecks has a line for each other tmux server on which seats are bound.
func otherServerChecks(f *engine.Fleet) []check {
	var out []check
	for _, v := range f.Sockets {
		if v.Ours || len(v.Seats) == 0 {
			continue
		}
		n := fmt.Sprintf("%d of the seats", len(v.Seats))
		k := check{Name: "tmux server", Hint: "RIG_TMUX_SOCKET=" + v.Socket + " rig works with them"}
		switch v.State {
		case engine.Present:
			k.Status, k.Found = "green", fmt.Sprintf("answers on %s too, and holds %d of the seats", v.Socket, v.Count(engine.Present))
			if lost := v.Count(engine.Absent); lost > 0 {
				k.Status, k.Found = "yellow", k.Found+fmt.Sprintf("; %d are lost", lost)
			}
		case engine.Absent:
			k.Status, k.Found, k.Hint = "yellow", "none on "+v.Socket+" any more; "+n+" were there", "`rig up` of their rig brings them back on "+f.Server.Socket
		case engine.Unknown:
			k.Status, k.Found, k.Hint = "unknown", v.Why, "look at the socket "+v.Socket+"; "+n+" are there"
		}
		out = append(out, k)
	}
	return out
}

// savedCheck says whether something samples and saves the rigs that run: the age
// of their newest periodic snapshot is the evidence.
func savedCheck(ctx context.Context, a *app, f *engine.Fleet) (check, bool) {
	every := a.conf.Snapshots.Every
	if every == 0 {
		every = 5 * time.Minute
	}
	if a.conf.Snapshots.Off || f.Totals.Running+f.Totals.Unknown == 0 {
		return check{}, false
	}
	var newest time.Time
	err := a.db.Read(ctx, func(r engine.Reader) error {
		for _, rig := range f.Rigs {
			rows, err := r.Snapshots(rig.ID)
			if err != nil {
				return err
			}
			for _, row := range rows {
				if row.Kind == engine.SnapshotPeriodic && row.CreatedAt.After(newest) {
					newest = row.CreatedAt
				}
			}
		}
		return nil
	})
	if err != nil {
		return check{"watching", "unknown", err.Error(), hintOf(err)}, true
	}
	if time.Since(newest) > 2*every+time.Minute {
		return check{"watching", "yellow", "nothing samples or saves the running rigs while no console is open", "keep a console open, or `rig watch --install`"}, true
	}
	return check{Name: "watching", Status: "green", Found: "the running rigs were saved " + time.Since(newest).Round(time.Second).String() + " ago"}, true
}

func hintOf(err error) string {
	var e *engine.Error
	if errors.As(err, &e) {
		return e.Hint
	}
	return ""
}
