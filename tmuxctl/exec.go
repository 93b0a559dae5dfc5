package tmuxctl

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"rig/engine"
)

// defaultTimeout bounds a call whose context has no deadline.
const defaultTimeout = 10 * time.Second

// hungTimeout bounds a question while the server is known to hang, so that whoever
// watches learns of other things meanwhile, and soon of its coming back.
const hungTimeout = 2 * time.Second

// maxStderr bounds what is kept of an error text.
const maxStderr = 4096

// strippedEnv never reaches a tmux process of ours: a server keeps the
// environment of whoever started it for all its life, and with these an agent
// takes itself for one nested in another, or tmux answers for another server.
var strippedEnv = []string{
	"TMUX", "TMUX_PANE", "CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_CHILD_SESSION",
	"CLAUDE_CODE_ENTRYPOINT", "CLAUDE_PID", "CLAUDE_PROJECT_DIR",
}

// CleanEnv gives environ without the variables that tie a process to the terminal
// or the agent it was started from. Whoever runs AttachArgv or PopupArgv passes it.
func CleanEnv(environ []string) []string {
	out := make([]string, 0, len(environ))
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		drop := false
		for _, s := range strippedEnv {
			drop = drop || s == name
		}
		if !drop {
			out = append(out, kv)
		}
	}
	return out
}

// runner starts tmux processes on one socket.
type runner struct {
	bin    string
	socket string
	config string

	indirect bool // for tests: every question goes through the program
}

// globals are the words before the command. -u: without it a C locale turns tabs
// and everything beyond ASCII into '_'. -N: only creation may start a server.
func (r *runner) globals(startServer bool) []string {
	g := []string{"-u", "-S", r.socket}
	if r.config != "" {
		g = append(g, "-f", r.config)
	}
	if !startServer {
		g = append(g, "-N")
	}
	return g
}

// command prepares a tmux process. It has a process group of its own, so that an
// interrupt typed at a terminal does not cut a change in half.
func (r *runner) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, r.bin, args...)
	cmd.Env = CleanEnv(os.Environ())
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second
	return cmd
}

// runSpec is one process run.
type runSpec struct {
	words []string // the command and its words, unescaped; a word of exactly ";" separates commands
	stdin []byte
	start bool // may start a server
	again bool // may be run twice: it reads, a second run finds nothing to do, or its work ends with the server
}

// againAfter is the pause before a second run.
const againAfter = 50 * time.Millisecond

// separator stands between commands in runSpec.words. It is a word no caller can
// produce, so that a ';' in somebody's text never becomes one.
const separator = "\x00;"

// listWord is a word of a command list as tmux takes it from its arguments.
func listWord(w string) string {
	if w == separator {
		return ";"
	}
	return argWord(w)
}

// run runs one tmux process. A failure is a *tmuxError that keeps stderr; the
// output is returned in every case. A server that ends while it is asked proves
// nothing yet; where that does no harm it is asked once more.
func (r *runner) run(ctx context.Context, spec runSpec) (string, error) {
	out, err := r.once(ctx, spec)
	var te *tmuxError
	if out == "" && spec.again && errors.As(err, &te) && te.ctx == nil && serverGone(te.stderr) &&
		!noServer(te.stderr) && pause(ctx, againAfter) {
		return r.once(ctx, spec)
	}
	return out, err
}

func (r *runner) once(ctx context.Context, spec runSpec) (string, error) {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, defaultTimeout)
		defer cancel()
	}
	args := r.globals(spec.start)
	for _, w := range spec.words {
		args = append(args, listWord(w))
	}
	cmd := r.command(ctx, args...)
	var out bytes.Buffer
	errs := &limitedBuffer{limit: maxStderr}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(spec.stdin), &out, errs
	began := time.Now()
	err := cmd.Run()
	if err == nil {
		return out.String(), nil
	}
	return out.String(), &tmuxError{
		verb: spec.verb(), stderr: strings.TrimSpace(errs.String()), err: err,
		ctx: ctx.Err(), took: time.Since(began), socket: r.socket,
	}
}

// verb names the first command of the run.
func (s runSpec) verb() string {
	if len(s.words) == 0 {
		return ""
	}
	return s.words[0]
}

// version runs `tmux -V`, which needs no server.
func (r *runner) version(ctx context.Context) (Caps, error) {
	ctx, cancel := context.WithTimeout(ctx, defaultTimeout)
	defer cancel()
	out, err := r.command(ctx, "-V").Output()
	if err != nil {
		return Caps{}, asEngine(&tmuxError{verb: "-V", err: err, ctx: ctx.Err(), socket: r.socket})
	}
	return parseCaps(string(out))
}

// limitedBuffer keeps the first limit bytes and swallows the rest.
type limitedBuffer struct {
	bytes.Buffer
	limit int
}

// Write never fails, so that a talkative child is never blocked or killed for it.
func (b *limitedBuffer) Write(p []byte) (int, error) {
	if room := b.limit - b.Len(); room > 0 {
		b.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// isMissingProgram reports whether the process could not be started because there
// is no such program.
func isMissingProgram(err error) bool {
	return errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist)
}

// ctxCode is the code of a call that its context ended.
func ctxCode(ctxErr error) engine.Code {
	if errors.Is(ctxErr, context.Canceled) {
		return engine.CodeCancelled
	}
	return engine.CodeTmuxProbeFailed
}
