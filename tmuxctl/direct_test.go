package tmuxctl

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"rig/engine"
	"rig/tmuxctl/tmuxtest"
)

// A server gives the same when it is asked directly and by the program: of panes that
// are there and that are not, in every locale.
func TestDirectAnswersAsTheProgram(t *testing.T) {
	inLocales(t, func(t *testing.T) {
		f := newFixture(t)
		ref, _ := f.create("a", "sh", "-c", `printf '\033[31müred\033[0m 設計\n'; exec cat`)
		f.create("b")
		f.tmux("select-pane", "-t", string(ref.Pane), "-T", "設計 -:- ' \" ; #{pid}")
		f.shows(ref.Pane, "üred")
		program := fixtureOn(t, f.socket)
		program.run.indirect = true
		tmuxtest.Eventually(t, 20*time.Second, "the programs run", func() bool {
			return f.pane(ref.Pane).Command == "cat" && f.pane("%2").Command == "cat"
		})
		reqs := []engine.CaptureRequest{{Pane: ref.Pane, Colours: true}, {Pane: "%77"}, {Pane: "%0", History: 5}, {Pane: "%78"}, {Pane: ref.Pane}}
		got, gotScreens := f.Look(f.ctx, reqs)
		want, wantScreens := program.Look(f.ctx, reqs)
		got.At, want.At = time.Time{}, time.Time{}
		for i := range want.Panes {
			got.Panes[i].Activity, want.Panes[i].Activity = time.Time{}, time.Time{}
		}
		if !reflect.DeepEqual(got, want) || len(got.Panes) != 3 {
			t.Errorf("directly\n%+v\nby the program\n%+v", got, want)
		}
		for i := range reqs {
			g, w := gotScreens[i], wantScreens[i]
			if !reflect.DeepEqual(g.Lines, w.Lines) || engine.CodeOf(g.Err) != engine.CodeOf(w.Err) {
				t.Errorf("screen %d: directly %q, %v; by the program %q, %v", i, g.Lines, g.Err, w.Lines, w.Err)
			}
		}
		if engine.CodeOf(gotScreens[1].Err) != engine.CodeNotFound || !strings.Contains(strings.Join(gotScreens[0].Lines, ""), "設計") {
			t.Errorf("%+v", gotScreens)
		}
	})
}

// A question that a server may not read in one piece is asked by the program, whole.
func TestLongQuestion(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ref, _ := f.create("a", "sh", "-c", "echo here; exec cat")
	f.shows(ref.Pane, "here")
	reqs := make([]engine.CaptureRequest, 500)
	for i := range reqs {
		reqs[i].Pane = ref.Pane
	}
	res, err := f.Capture(f.ctx, reqs)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range res {
		if r.Err != nil || !strings.HasPrefix(r.Lines[0], "here") {
			t.Fatalf("%d: %v %q", i, r.Err, r.Lines)
		}
	}
	if askDirectly([][]string{{"display-message", strings.Repeat("x", frameMax)}}) != nil {
		t.Error("a command longer than a message was to be sent")
	}
}

// answering is a server that says what it is told and hangs up, or does not.
func answering(t *testing.T, says []byte, hangUp bool) *runner {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, questionMax)) // one who leaves unread questions is not heard
			_, _ = conn.Write(says)
			if hangUp {
				conn.Close()
			} else {
				t.Cleanup(func() { conn.Close() })
			}
		}
	}()
	return &runner{bin: "/nonexistent/tmux", socket: socket}
}

// What speaks another protocol, wants a file or leaves without an answer was not
// asked; what says nothing at all is waited for as long as the caller wants.
func TestDirectWithAStranger(t *testing.T) {
	t.Parallel()
	exit := appendFrame(nil, msgExit, word(0))
	open := appendFrame(nil, msgWriteOpen, word(1), word(streamOut), word(0))
	other := bytes.Clone(exit)
	binary.NativeEndian.PutUint32(other[8:], protocol+1)
	for name, says := range map[string][]byte{
		"nothing":             {},
		"no protocol":         []byte("HTTP/1.1 400 Bad Request\r\n\r\n"),
		"another protocol":    other,
		"a version":           appendFrame(nil, 12),
		"half an answer":      appendFrame(open, msgWrite, word(1), []byte("text")),
		"text without stream": appendFrame(nil, msgWrite, word(4), []byte("text")),
		"another descriptor":  appendFrame(appendFrame(nil, msgWriteOpen, word(1), word(7), word(0)), msgWrite, word(1), []byte("text")),
		"a file to write":     append(appendFrame(nil, msgWriteOpen, word(1), word(streamOut), word(0), []byte("/etc/passwd\x00")), exit...),
		"a file to read":      append(appendFrame(nil, 300, word(1), word(0), []byte("-\x00")), exit...),
		"a short message":     appendFrame(nil, msgWrite, []byte{1}),
	} {
		r := answering(t, says, true)
		if out, err := r.direct(context.Background(), [][]string{{"list-panes"}}); !errors.Is(err, errNotAsked) || out != "" {
			t.Errorf("%s: %q, %v", name, out, err)
		}
	}
	full := appendFrame(appendFrame(open, msgWrite, word(1), []byte("te")), msgWrite, word(1), []byte("xt"))
	full = append(appendFrame(full, msgWriteClose, word(1)), exit...)
	if out, err := answering(t, full, true).direct(context.Background(), [][]string{{"list-panes"}}); err != nil || out != "text" {
		t.Errorf("a whole answer: %q, %v", out, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	var te *tmuxError
	if _, err := answering(t, open, false).direct(ctx, [][]string{{"list-panes"}}); !errors.As(err, &te) || te.ctx == nil {
		t.Errorf("a server that hangs: %v", err)
	}
}

// An answer that is not all there is no answer, whether the server calls it a success or a
// failure of its own.
func TestHalfAnAnswerIsNone(t *testing.T) {
	t.Parallel()
	for name, says := range map[string][]byte{
		"success": appendFrame(nil, msgExit, word(0)),
		"failure": appendFrame(nil, msgExit, word(1)),
		"two failures for one command": appendFrame(appendFrame(appendFrame(nil, msgWriteOpen, word(2), word(streamErr), word(0)),
			msgWrite, word(2), []byte("can't find pane: %1\nno space for new pane\n")), msgExit, word(1)),
	} {
		r := answering(t, says, true)
		m, err := New(Options{Socket: r.socket, Program: r.bin})
		if err != nil {
			t.Fatal(err)
		}
		// The program is asked next, and there is none.
		if res, err := m.Capture(context.Background(), []engine.CaptureRequest{{Pane: "%1"}}); engine.CodeOf(err) != engine.CodeUnavailable {
			t.Errorf("%s: %+v, %v", name, res, err)
		}
	}
}

// heldConn is a connection from which one text can be read.
type heldConn struct {
	net.Conn
	in *bytes.Reader
}

func (c heldConn) Read(p []byte) (int, error)  { return c.in.Read(p) }
func (c heldConn) Write(p []byte) (int, error) { return len(p), nil }

// Whatever a server says ends a question with an answer or an error, and what is
// kept was said.
func FuzzDirect(f *testing.F) {
	open := appendFrame(nil, msgWriteOpen, word(1), word(streamOut), word(0))
	f.Add(appendFrame(appendFrame(open, msgWrite, word(1), []byte("text")), msgExit, word(1)))
	f.Add(appendFrame(nil, msgExit))
	f.Add([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
	f.Fuzz(func(t *testing.T, says []byte) {
		q := &question{conn: heldConn{in: bytes.NewReader(says)}, fds: map[uint32]uint32{}, errs: limitedBuffer{limit: maxStderr}}
		err := q.ask(nil)
		if err == nil && !bytes.Contains(says, word(msgExit)) {
			t.Error("an end that was not said")
		}
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, errFrame) {
			t.Errorf("%v", err)
		}
		if q.out.Len() > len(says) {
			t.Errorf("%d bytes out of %d", q.out.Len(), len(says))
		}
	})
}
