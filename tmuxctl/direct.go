package tmuxctl

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"
)

// A question needs no tmux process: what the program adds to it is a start of some
// milliseconds, a terminal description and an environment, none of which a reading
// command uses. So the question goes to the server's socket, in the messages that the
// program would send, from a client without terminal, files, environment or control
// mode. Whatever is not as expected (no server, another protocol, a message that is
// not known, a machine of the other byte order) is no answer at all, and the program is
// started after all: it is the one that knows how to say why.

// errNotAsked is the cause of a question that the program has to ask.
var errNotAsked = errors.New("the server was not asked directly")

// questionMax is the size of what a server surely reads at once. It runs the commands of
// one client after everything that it has read, and takes no more from a client
// whose commands are done.
const questionMax = 32 << 10

// clientUTF8 is CLIENT_UTF8, what -u sets: without it everything beyond ASCII, and
// every TAB, would come as '_'.
const clientUTF8 = 0x10000

// The streams of a client that a server prints to.
const (
	streamOut = 1
	streamErr = 2
)

// question is command lists that only read, asked of a server over its socket.
type question struct {
	conn net.Conn
	fds  map[uint32]uint32 // the descriptor that a stream of the server's stands for
	out  bytes.Buffer
	errs limitedBuffer
	code uint32
}

// direct runs command lists, each as a tmux process of its own would, and gives what
// they print. A list that fails does not keep the next from running. errNotAsked means
// that nothing is known; the lists may have run, so they must only read. Any other
// error is a *tmuxError.
func (r *runner) direct(ctx context.Context, lists [][]string) (string, error) {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, defaultTimeout)
		defer cancel()
	}
	asked := askDirectly(lists)
	if asked == nil || r.indirect {
		return "", errNotAsked
	}
	began := time.Now()
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", r.socket)
	if err != nil {
		return "", errNotAsked
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	q := &question{conn: conn, fds: map[uint32]uint32{}, errs: limitedBuffer{limit: maxStderr}}
	err = q.ask(asked)
	failed := &tmuxError{verb: lists[0][0], stderr: strings.TrimSpace(q.errs.String()), took: time.Since(began), socket: r.socket}
	switch {
	case err == nil && q.code == 0:
		return q.out.String(), nil
	case err == nil:
		failed.err = fmt.Errorf("exit status %d", q.code)
		return q.out.String(), failed
	case ctx.Err() != nil:
		failed.err, failed.ctx = err, ctx.Err()
		return "", failed
	}
	return "", errNotAsked
}

// askDirectly makes the messages with which a client says who it is and what it wants;
// nil when they are too long to be read in one piece.
func askDirectly(lists [][]string) []byte {
	var flags [8]byte
	binary.NativeEndian.PutUint64(flags[:], clientUTF8)
	b := appendFrame(nil, identifyLongFlags, flags[:])
	b = appendFrame(b, identifyTerm, []byte("dumb\x00"))
	b = appendFrame(b, identifyFeatures, word(0))
	b = appendFrame(b, identifyTTY, []byte{0})
	b = appendFrame(b, identifyDir, []byte("/\x00"))
	b = appendFrame(b, identifyPID, word(os.Getpid()))
	b = appendFrame(b, identifyDone)
	for _, list := range lists {
		var argv []byte
		for _, w := range list {
			argv = append(append(argv, listWord(w)...), 0)
		}
		if len(argv) > frameMax-frameHeader-4 {
			return nil
		}
		b = appendFrame(b, msgCommand, word(len(list)), argv)
	}
	if len(b) > questionMax {
		return nil
	}
	return b
}

// word is a number as the protocol has it.
func word(n int) []byte { return binary.NativeEndian.AppendUint32(nil, uint32(n)) }

// ask sends the question and reads until the server has said that it is done.
func (q *question) ask(asked []byte) error {
	if _, err := q.conn.Write(asked); err != nil {
		return err
	}
	var pending []byte
	buf := make([]byte, 64<<10)
	for {
		n, err := q.conn.Read(buf)
		if err != nil {
			return err
		}
		pending = append(pending, buf[:n]...)
		for {
			f, rest, ok, err := cutFrame(pending)
			if err != nil {
				return err
			}
			if !ok {
				break
			}
			pending = rest
			done, err := q.take(f)
			if done || err != nil {
				return err
			}
		}
	}
}

// take acts on one message of the server's; done is true after the last one. A server
// that wants to read or write a file, for which it takes the name of one, is not
// served.
func (q *question) take(f frame) (done bool, err error) {
	body := f.data[frameHeader:]
	if f.kind == msgExit {
		if len(body) >= 4 {
			q.code = binary.NativeEndian.Uint32(body)
		}
		_, _ = q.conn.Write(appendFrame(nil, msgExiting)) // the server lets the client go either way
		return true, nil
	}
	if len(body) < 4 {
		return false, errFrame
	}
	stream := binary.NativeEndian.Uint32(body)
	switch f.kind {
	case msgWriteOpen: // stream, descriptor, flags, path
		if len(body) < 12 || len(bytes.Trim(body[12:], "-\x00")) > 0 {
			return false, errFrame
		}
		q.fds[stream] = binary.NativeEndian.Uint32(body[4:])
		_, _ = q.conn.Write(appendFrame(nil, msgWriteReady, body[:4], word(0))) // the next read knows when the server has left
		return false, nil
	case msgWrite:
		return false, q.printed(stream, body[4:])
	case msgWriteClose:
		return false, nil
	}
	return false, errFrame
}

// printed keeps what the server prints.
func (q *question) printed(stream uint32, text []byte) error {
	switch q.fds[stream] {
	case streamOut:
		if q.out.Len()+len(text) > maxReply {
			return errTooLong
		}
		q.out.Write(text)
	case streamErr:
		_, _ = q.errs.Write(text)
	default:
		return errFrame
	}
	return nil
}
