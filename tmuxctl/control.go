package tmuxctl

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"rig/engine"
)

// controlPrefix starts the name of the session that a control client keeps for
// itself. Inventory and Clients leave such sessions out.
const controlPrefix = "_rigctl-"

const (
	startTimeout = 5 * time.Second // from starting the client to its first own answer
	writeTimeout = 2 * time.Second // for tmux to take a command off the pipe
	hungAfter    = 4 * time.Second // an unanswered question this old ends the client
	closeTimeout = 2 * time.Second // for the client to end by itself
)

// errHung is the cause of a client whose server let a question wait for hungAfter.
var errHung = errors.New("the server does not answer")

// control is one control-mode client. Questions are answered in the order in which
// they were written, which is all that ties an answer to its question.
//
// It has a session of its own: attached to an agent's, it would end with it, and on
// 3.2a resize it. The client leaves when our end of its input closes, also when we
// are killed, and the session ends after the client (see hold).
//
// Two simpler ways to the same end take the whole server down, observed on 3.3a:
// with destroy-unattached the session is destroyed while the leaving client still
// points at it, and a subscription (refresh-client -B) is evaluated once more for a
// client that has lost its session. So the one is switched off whatever the server's
// default, and the other is not used; watching asks a small question every second.
type control struct {
	run    *runner
	socket string
	name   string
	relay  *relay
	cmd    *exec.Cmd
	in     *os.File
	hold   *hold
	out    *os.File
	stderr limitedBuffer
	notify func(event)

	writing sync.Mutex // keeps the order of writes equal to that of waiters
	mu      sync.Mutex
	waiters []*waiter
	err     error
	ready   chan struct{} // closed when the session is attached
	done    chan struct{} // closed when the client is gone
}

// waiter is one batch of questions.
type waiter struct {
	answers []answer
	next    int
	done    chan struct{}
}

// startControl starts a control client and waits until it answers. notify is called
// from one goroutine for every notification and must not block.
func startControl(ctx context.Context, r *runner, notify func(event)) (*control, error) {
	name := controlPrefix + newNonce()
	h, err := newHold(name)
	if err != nil {
		return nil, err
	}
	defer h.file.Close()
	c := &control{
		run: r, socket: r.socket, name: name, hold: h, notify: notify,
		stderr: limitedBuffer{limit: maxStderr},
		ready:  make(chan struct{}), done: make(chan struct{}),
	}
	if err := c.start(ctx); err != nil {
		h.remove()
		return nil, &tmuxError{verb: "-C", err: err, socket: r.socket}
	}
	if err := c.await(ctx); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// start runs the client. It inherits, beside the hold, the reading end of its own
// output: when we are killed the server can still write what it has for it. With a
// broken pipe the server would wait for that for ever and never let the client go.
func (c *control) start(ctx context.Context) error {
	stdin, in, err := os.Pipe()
	if err != nil {
		return err
	}
	defer stdin.Close()
	out, stdout, err := os.Pipe()
	if err != nil {
		in.Close()
		return err
	}
	defer stdout.Close()
	c.in, c.out = in, out
	if c.relay, err = newRelay(ctx, c.socket, c.abort); err != nil {
		in.Close()
		out.Close()
		return err
	}
	go c.relay.run()
	front := *c.run
	front.socket = c.relay.front
	c.cmd = front.command(context.WithoutCancel(ctx), controlArgs(&front, c.name, c.hold)...)
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = stdin, stdout, &c.stderr
	c.cmd.Env = controlEnv()
	c.cmd.ExtraFiles = []*os.File{out, c.hold.file}
	if err := c.cmd.Start(); err != nil {
		c.relay.close()
		in.Close()
		out.Close()
		return err
	}
	read := make(chan struct{})
	go func() {
		c.read(out)
		close(read)
	}()
	go c.reap(read)
	return nil
}

// reap waits for the client to end. A hung server may keep the output open beyond
// that, so the reader gets only a moment.
func (c *control) reap(read <-chan struct{}) {
	_ = c.cmd.Wait()
	t := time.NewTimer(closeTimeout)
	select {
	case <-read:
	case <-t.C:
	}
	t.Stop()
	c.abort(io.EOF)
	c.relay.close()
	c.hold.remove()
	close(c.done)
}

// controlEnv is the environment of a control client: what tmux itself needs. A client
// sends its whole environment while it introduces itself, which should be short.
func controlEnv() (env []string) {
	for _, name := range []string{"PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "TMPDIR"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// controlArgs is the command line of a control client: one command list that makes
// the session, attached to it from the first moment.
func controlArgs(r *runner, name string, h *hold) []string {
	target := "=" + name + ":"
	args := append(r.globals(false), "-C", "new-session", "-s", name, "-x", "80", "-y", "24",
		"-f", "ignore-size,no-output", "--")
	for _, w := range h.argv() {
		args = append(args, argWord(w))
	}
	for _, option := range [][3]string{
		{"-t", "destroy-unattached", "off"},
		{"-t", "detach-on-destroy", "on"}, // never moved on to somebody's session
		{"-pt", "remain-on-exit", "off"},
	} {
		args = append(args, ";", "set-option", option[0], target, option[1], option[2])
	}
	return args
}

// await waits for the attachment: a question sent before it would find no client.
func (c *control) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	select {
	case <-c.ready:
		return nil
	case <-c.done:
		return c.cause()
	case <-ctx.Done():
		return &tmuxError{verb: "-C", err: errors.New("the control client did not attach"), ctx: ctx.Err(), took: startTimeout, socket: c.socket}
	}
}

// do asks and waits for all answers. An error means that no answer may be used.
func (c *control) do(ctx context.Context, lines []string) ([]answer, error) {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, defaultTimeout)
		defer cancel()
	}
	w := &waiter{answers: make([]answer, len(lines)), done: make(chan struct{})}
	began := time.Now()
	if err := c.send(w, lines); err != nil {
		return nil, err
	}
	hung := time.NewTimer(hungAfter)
	defer hung.Stop()
	select {
	case <-w.done:
		return w.answers, nil
	case <-c.done:
		select { // the last answer may have come with the end
		case <-w.done:
			return w.answers, nil
		default:
			return nil, c.cause()
		}
	case <-hung.C:
		c.abort(&tmuxError{verb: "control", err: errHung, ctx: context.DeadlineExceeded, took: hungAfter, socket: c.socket})
		return nil, c.cause()
	case <-ctx.Done():
		return nil, &tmuxError{verb: "control", err: ctx.Err(), ctx: ctx.Err(), took: time.Since(began), socket: c.socket}
	}
}

// send queues the waiter and writes its lines, in one order for both.
func (c *control) send(w *waiter, lines []string) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return c.cause()
	}
	c.waiters = append(c.waiters, w)
	c.mu.Unlock()
	_ = c.in.SetWriteDeadline(time.Now().Add(writeTimeout))
	if _, err := io.WriteString(c.in, strings.Join(lines, "\n")+"\n"); err != nil {
		c.abort(err) // half a batch may be written: the order is lost
		return c.cause()
	}
	return nil
}

// read runs until the stream ends or goes out of step.
func (c *control) read(out io.ReadCloser) {
	defer out.Close()
	var dec decoder
	in := bufio.NewReaderSize(out, 64<<10)
	var err error
	for err == nil {
		var line []byte
		if line, err = readLine(in); err != nil {
			break
		}
		var ev event
		var ok bool
		if ev, ok, err = dec.line(line); ok {
			err = c.handle(ev)
		}
	}
	c.abort(err)
}

// readLine reads one line of bounded length without its line break.
func readLine(in *bufio.Reader) ([]byte, error) {
	var long []byte
	for {
		part, err := in.ReadSlice('\n')
		if err == nil && long == nil {
			return part[:len(part)-1], nil
		}
		long = append(long, part...)
		switch {
		case err == nil:
			return long[:len(long)-1], nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case len(long) > maxReply:
			return nil, errTooLong
		}
	}
}

// handle takes one message.
func (c *control) handle(ev event) error {
	switch ev.kind {
	case eventReply:
		return c.answer(ev)
	case eventExit:
		return errors.New("tmux ended the control client: " + strings.TrimSpace(ev.text))
	case eventOutput:
		return nil // no-output is set; a server that ignores it does no harm
	case eventNotify:
	}
	if ev.name == "session-changed" {
		select {
		case <-c.ready:
		default:
			close(c.ready)
		}
	}
	c.notify(ev)
	return nil
}

// answer gives a reply to the oldest waiter.
func (c *control) answer(ev event) error {
	text := string(ev.body)
	if !ev.ours {
		if ev.failed {
			return &tmuxError{verb: "-C", stderr: strings.TrimSpace(text), err: errors.New("attach failed"), socket: c.socket}
		}
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiters) == 0 {
		return errors.New("an answer that nobody waits for")
	}
	w := c.waiters[0]
	a := answer{out: text}
	if ev.failed {
		a = answer{err: &tmuxError{verb: "control", stderr: strings.TrimSpace(text), err: errors.New("refused"), socket: c.socket}}
	}
	w.answers[w.next] = a
	if w.next++; w.next == len(w.answers) {
		close(w.done)
		c.waiters = c.waiters[1:]
	}
	return nil
}

// abort ends the client; the first cause stays.
func (c *control) abort(err error) {
	c.mu.Lock()
	if c.err == nil {
		c.err = err
	}
	c.mu.Unlock()
	c.in.Close()
}

// cause says why the client is unusable.
func (c *control) cause() error {
	c.mu.Lock()
	err := c.err
	c.mu.Unlock()
	var te *tmuxError
	if errors.As(err, &te) {
		return te
	}
	select {
	case <-c.done: // only now stderr is complete
		if text := strings.TrimSpace(c.stderr.String()); text != "" {
			return &tmuxError{verb: "control", stderr: text, err: errors.New("the control client ended"), socket: c.socket}
		}
	default:
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = engine.Errorf(engine.CodeTmuxProbeFailed, "the control client ended").WithHint("it is started again by itself")
	}
	return &tmuxError{verb: "control", err: err, socket: c.socket}
}

// close ends session and client and waits until both are gone.
func (c *control) close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	_, _ = c.do(ctx, []string{"kill-session -t '=" + c.name + ":'"}) // ends the client as well
	c.abort(errors.New("closed"))
	select {
	case <-c.done:
		return
	case <-ctx.Done():
	}
	_ = c.cmd.Process.Kill() // a stopped server keeps its client waiting
	<-c.done
}
