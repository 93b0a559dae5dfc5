package tmuxctl

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Before 3.7 (seen on 3.3a and 3.5a, not on 3.8) a server crashes, with every agent
// in it, when a session comes, goes or is renamed while a control client introduces
// itself, and when such a client ends half introduced: its first message says that it
// is a control client, only the last one makes the state that goes with it, and what
// is written to it in between is written through a null pointer (tmux pull requests
// 4980 and 5004). The client sends its introduction in three writes, and the server
// does other work between them.
//
// A lock would help only among processes that take it, and a person's tmux takes
// none. So the client is started on a socket of ours (relay), and what it says of
// itself is passed on in another order: the messages that make it a control client
// come last, in one write with the end of the introduction, and the server reads that
// write in one piece. There is no half introduced control client at any moment.

const introductionMax = 1 << 20 // far beyond an environment of the size of controlEnv's

// errNotUnderstood is the cause of a client that was not passed on: tmux introduces
// itself in a way that is not known here. The fallback stays in use then.
var errNotUnderstood = errors.New("the control client introduces itself in an unknown way")

// cutIntroduction takes the first message of an introduction off data; ok is false while it is not complete.
func cutIntroduction(data []byte) (f frame, rest []byte, ok bool, err error) {
	f, rest, ok, err = cutFrame(data)
	if err != nil || ok && (f.kind < identifyFlags || f.kind > identifyLast) {
		return frame{}, data, false, errNotUnderstood
	}
	return f, rest, ok, nil
}

// introduction is what a client says of itself before its first command.
type introduction struct {
	frames []frame
	files  []int  // in the order of the frames that they come with
	rest   []byte // what followed the introduction already
}

// gather reads an introduction. Its files are the caller's to close, also after an
// error.
func gather(client *net.UnixConn) (in introduction, err error) {
	var pending []byte
	buf, oob := make([]byte, 64<<10), make([]byte, 256)
	for total := 0; ; {
		n, oobn, _, _, err := client.ReadMsgUnix(buf, oob)
		in.files = append(in.files, received(oob[:oobn])...)
		if err == nil && n == 0 {
			err = io.ErrUnexpectedEOF
		}
		if total += n; err == nil && total > introductionMax {
			err = errNotUnderstood
		}
		if err != nil {
			return in, err
		}
		pending = append(pending, buf[:n]...)
		for {
			f, rest, ok, err := cutIntroduction(pending)
			if err != nil {
				return in, err
			}
			if !ok {
				break
			}
			in.frames = append(in.frames, f)
			if pending = rest; f.kind == identifyDone {
				in.rest = pending
				return in, nil
			}
		}
	}
}

// received takes the files out of a control message; all others are ignored.
func received(oob []byte) (files []int) {
	msgs, err := syscall.ParseSocketControlMessage(oob)
	if err != nil {
		return nil
	}
	for i := range msgs {
		if fds, err := syscall.ParseUnixRights(&msgs[i]); err == nil {
			files = append(files, fds...)
		}
	}
	return files
}

func closeFiles(files []int) {
	for _, fd := range files {
		_ = syscall.Close(fd)
	}
}

// piece is one write to the server and the file that goes with it, -1 for none: a
// server takes one file with one read.
type piece struct {
	data []byte
	file int
}

// pieces are the writes that pass the introduction on. Only the last one, which a
// server reads at once since it is small and begins with a file, says what kind of
// client this is, and it holds the end of the introduction as well.
func (in introduction) pieces() ([]piece, error) {
	first, last := piece{file: -1}, []byte(nil)
	var filed []piece
	for _, f := range in.frames {
		switch {
		case f.kind == identifyFlags || f.kind == identifyLongFlags || f.kind == identifyDone:
			last = append(last, f.data...)
		case f.filed && len(filed) < len(in.files):
			filed = append(filed, piece{data: f.data, file: in.files[len(filed)]})
		case f.filed:
			return nil, errNotUnderstood
		default:
			first.data = append(first.data, f.data...)
		}
	}
	if len(filed) == 0 || len(filed) != len(in.files) {
		return nil, errNotUnderstood
	}
	end := &filed[len(filed)-1]
	end.data = append(append(append([]byte(nil), end.data...), last...), in.rest...)
	return append([]piece{first}, filed...), nil
}

// write sends a piece.
func (p piece) write(server *net.UnixConn) error {
	var oob []byte
	if p.file >= 0 {
		oob = syscall.UnixRights(p.file)
	}
	return writeAll(server, p.data, oob)
}

// writeAll sends all of data, and oob with its beginning.
func writeAll(to *net.UnixConn, data, oob []byte) error {
	if len(data) == 0 {
		return nil
	}
	n, _, err := to.WriteMsgUnix(data, oob, nil)
	if err == nil && n < len(data) {
		_, err = to.Write(data[n:])
	}
	return err
}

// relay stands between one control client and the server of its socket.
type relay struct {
	front  string // the socket for the client
	listen *net.UnixListener
	server *net.UnixConn
	refuse func(error)   // told why the client was not passed on
	sent   func(n int)   // for tests: after the nth piece
	done   chan struct{} // closed when nothing is passed on any more
}

// newRelay connects to the server of a socket; without one there is no relay. The
// caller starts run.
func newRelay(ctx context.Context, socket string, refuse func(error)) (*relay, error) {
	dialer := net.Dialer{Timeout: startTimeout}
	server, err := dialer.DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "rigctl-")
	if err != nil {
		server.Close()
		return nil, err
	}
	front := filepath.Join(dir, "s")
	listen, err := net.ListenUnix("unix", &net.UnixAddr{Name: front, Net: "unix"})
	if err != nil {
		server.Close()
		_ = os.RemoveAll(dir)
		return nil, err
	}
	return &relay{front: front, listen: listen, server: server.(*net.UnixConn), refuse: refuse, done: make(chan struct{})}, nil
}

// run passes one client on, until it or the server hangs up.
func (r *relay) run() {
	defer close(r.done)
	defer r.server.Close()
	client, err := r.accept()
	if err != nil {
		r.refuse(err)
		return
	}
	defer client.Close()
	if err := r.introduce(client); err != nil {
		r.refuse(err)
		return
	}
	back := make(chan struct{})
	go func() {
		defer close(back)
		pass(client, r.server)
		client.Close()
	}()
	pass(r.server, client)
	r.server.Close()
	<-back
}

// accept waits for the one client; then the socket is gone.
func (r *relay) accept() (*net.UnixConn, error) {
	defer os.RemoveAll(filepath.Dir(r.front))
	defer r.listen.Close()
	_ = r.listen.SetDeadline(time.Now().Add(startTimeout))
	return r.listen.AcceptUnix()
}

// introduce passes the introduction on.
func (r *relay) introduce(client *net.UnixConn) error {
	end := time.Now().Add(startTimeout)
	_, _ = client.SetDeadline(end), r.server.SetDeadline(end)
	in, err := gather(client)
	defer closeFiles(in.files)
	if err != nil {
		return err
	}
	pieces, err := in.pieces()
	if err != nil {
		return err
	}
	for i, p := range pieces {
		if err := p.write(r.server); err != nil {
			return err
		}
		if r.sent != nil {
			r.sent(i)
		}
	}
	_, _ = client.SetDeadline(time.Time{}), r.server.SetDeadline(time.Time{})
	return nil
}

// pass copies what comes, with its files, until one side hangs up.
func pass(to, from *net.UnixConn) {
	buf, oob := make([]byte, 4<<10), make([]byte, 256)
	for {
		n, oobn, _, _, err := from.ReadMsgUnix(buf, oob)
		files := received(oob[:oobn])
		if err == nil && n > 0 {
			var rights []byte
			if len(files) > 0 {
				rights = syscall.UnixRights(files...)
			}
			err = writeAll(to, buf[:n], rights)
		}
		closeFiles(files)
		if err != nil || n == 0 {
			return
		}
	}
}

// close ends a running relay and waits for it.
func (r *relay) close() {
	r.listen.Close()
	r.server.Close()
	<-r.done
}
