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

// control is one control-mode client. Questions are answered in the order in which
// they were written, which is all that ties an answer to its question.
//
// Its session is made by the client itself, attached from the first moment, with
// destroy-unattached on. So the server removes it when the client goes, and the
// client goes when our end of its input closes, also when we are killed. An agent's
// session is never attached: it would end the client with it, and be resized by it.
type control struct {
	socket string
	cmd    *exec.Cmd
	in     *os.File
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
	cmd := r.command(context.WithoutCancel(ctx), append(r.globals(false), "-C", "new-session",
		"-s", name, "-x", "80", "-y", "24", "-f", "ignore-size,no-output", "--", "cat", "-",
		";", "set-option", "-t", "="+name+":", "destroy-unattached", "on",
		";", "set-option", "-pt", "="+name+":", "remain-on-exit", "off")...)
	stdin, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer stdin.Close()
	c := &control{
		socket: r.socket, cmd: cmd, in: in, notify: notify,
		stderr: limitedBuffer{limit: maxStderr},
		ready:  make(chan struct{}), done: make(chan struct{}),
	}
	cmd.Stdin, cmd.Stderr = stdin, &c.stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		in.Close()
		return nil, &tmuxError{verb: "-C", err: err, socket: r.socket}
	}
	go c.read(out)
	if err := c.await(ctx); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
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
		c.abort(errors.New("the server does not answer"))
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
func (c *control) read(out io.Reader) {
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
	_ = c.cmd.Wait()
	close(c.done)
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
	if err == nil || errors.Is(err, io.EOF) {
		err = engine.Errorf(engine.CodeTmuxProbeFailed, "the control client ended").WithHint("it is started again by itself")
	}
	return &tmuxError{verb: "control", err: err, socket: c.socket}
}

// close ends the client and waits until it is gone.
func (c *control) close() {
	c.abort(errors.New("closed"))
	t := time.NewTimer(closeTimeout)
	defer t.Stop()
	select {
	case <-c.done:
		return
	case <-t.C:
	}
	_ = c.cmd.Process.Kill() // a stopped server keeps its client waiting
	<-c.done
}
