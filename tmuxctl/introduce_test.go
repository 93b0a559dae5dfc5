package tmuxctl

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rig/tmuxctl/tmuxtest"
)

// A person makes and ends sessions at every moment of a console's introduction to
// the server: it lives on, and the console is connected.
func TestSessionsChangeDuringAnIntroduction(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	epoch := f.Inventory(f.ctx).Epoch
	refused := make(chan error, 1)
	sent := make(chan int, 16)
	r, err := newRelay(f.ctx, f.socket, func(err error) { refused <- err })
	if err != nil {
		t.Fatal(err)
	}
	r.sent = func(n int) {
		name := fmt.Sprintf("by-hand-%d", n)
		f.tmux("new-session", "-d", "-s", name, "cat")
		f.tmux("rename-session", "-t", name, name+"-r")
		f.tmux("kill-session", "-t", name+"-r")
		sent <- n
	}
	go r.run()
	cmd := exec.Command("tmux", "-S", r.front, "-C", "attach-session", "-t", tmuxtest.Holder)
	cmd.Env = controlEnv()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for n := range 3 { // what is plain, and the two files
		select {
		case got := <-sent:
			if got != n {
				t.Fatalf("piece %d after %d", got, n)
			}
		case err := <-refused:
			t.Fatal(err)
		case <-time.After(20 * time.Second):
			t.Fatalf("piece %d was never sent", n)
		}
	}
	var told []string
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		told = append(told, lines.Text())
		if strings.HasPrefix(lines.Text(), "%session-changed ") { // attached: it takes commands
			if _, err := io.WriteString(in, "display-message -p still-here\ndetach-client\n"); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %q", err, told)
	}
	<-r.done
	if !slices.Contains(told, "still-here") {
		t.Errorf("the client was told %q", told)
	}
	if now := f.Inventory(f.ctx).Epoch; now != epoch {
		t.Fatalf("the server died: epoch %s became %s", epoch, now)
	}
	if left, _ := filepath.Glob(filepath.Dir(r.front)); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}

// The same without any order: consoles come and go beside somebody's own tmux.
func TestConsolesBesideSomebodysTmux(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	epoch := f.Inventory(f.ctx).Epoch
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			for _, words := range [][]string{
				{"new-session", "-d", "-s", fmt.Sprint("n", i), "cat"},
				{"rename-session", "-t", fmt.Sprint("n", i), fmt.Sprint("r", i)},
				{"kill-session", "-t", fmt.Sprint("r", i)},
			} {
				// A server that died shows in its epoch.
				_ = exec.Command("tmux", append([]string{"-S", f.socket}, words...)...).Run()
			}
		}
	}()
	for range 40 {
		ctx, cancel := context.WithCancel(context.Background())
		events := f.Watch(ctx)
		await(t, events, kindConnected)
		cancel()
		for range events {
		}
	}
	close(stop)
	<-stopped
	if now := f.Inventory(f.ctx).Epoch; now != epoch {
		t.Fatalf("the server died: epoch %s became %s", epoch, now)
	}
}

// frameOf builds a message as a client of an old or a new version writes it.
func frameOf(kind uint32, filed uint32, body string) []byte {
	b := make([]byte, frameHeader, frameHeader+len(body))
	binary.NativeEndian.PutUint32(b, kind)
	binary.NativeEndian.PutUint32(b[4:], uint32(frameHeader+len(body))|filed)
	binary.NativeEndian.PutUint32(b[8:], protocol)
	return append(b, body...)
}

// Both ways of marking a file are known, and whatever comes in another shape is
// refused instead of being passed on half.
func TestIntroductionShapes(t *testing.T) {
	t.Parallel()
	flags, long := frameOf(identifyFlags, 0, "ffff"), frameOf(identifyLongFlags, 0, "llllllll")
	term, done := frameOf(101, 0, "xterm\x00"), frameOf(identifyDone, 0, "")
	for _, mark := range []uint32{1 << 16, 1 << 31} {
		stdin, stdout := frameOf(104, mark, ""), frameOf(110, mark, "")
		var in introduction
		for _, b := range [][]byte{long, flags, term, stdin, stdout, done} {
			f, rest, ok, err := cutIntroduction(b)
			if err != nil || !ok || len(rest) != 0 {
				t.Fatalf("%x: %v %v", b, ok, err)
			}
			in.frames = append(in.frames, f)
		}
		in.files, in.rest = []int{7, 8}, []byte("after")
		got, err := in.pieces()
		if err != nil {
			t.Fatal(err)
		}
		want := []piece{{term, -1}, {stdin, 7}, {bytes.Join([][]byte{stdout, long, flags, done, []byte("after")}, nil), 8}}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("pieces\n%v\nwant\n%v", got, want)
		}
		for _, files := range [][]int{nil, {7}, {7, 8, 9}} {
			in.files = files
			if p, err := in.pieces(); err == nil {
				t.Errorf("%d files for two: %v", len(files), p)
			}
		}
	}
	short := frameOf(101, 0, "x")
	binary.NativeEndian.PutUint16(short[4:], 8)
	other := frameOf(101, 0, "x")
	binary.NativeEndian.PutUint32(other[8:], 9)
	for _, b := range [][]byte{short, other, frameOf(200, 0, ""), frameOf(12, 0, ""), bytes.Repeat([]byte{0xff}, 32), make([]byte, 16)} {
		if f, _, ok, err := cutIntroduction(b); err == nil || ok {
			t.Errorf("%x was taken as %+v", b, f)
		}
	}
}

// A client that is not understood never reaches the server; its own end says why.
func TestIntroductionRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	epoch := f.Inventory(f.ctx).Epoch
	for _, said := range []string{"", "GET / HTTP/1.1\r\n\r\n", string(frameOf(identifyLongFlags, 0, "\x00\x20\x00\x00\x00\x00\x00\x00"))} {
		refused := make(chan error, 1)
		r, err := newRelay(f.ctx, f.socket, func(err error) { refused <- err })
		if err != nil {
			t.Fatal(err)
		}
		go r.run()
		conn, err := net.Dial("unix", r.front)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, said)
		conn.Close()
		<-r.done
		if err := <-refused; err == nil {
			t.Errorf("%q was passed on", said)
		}
	}
	if now := f.Inventory(f.ctx).Epoch; now != epoch {
		t.Fatalf("the server died: epoch %s became %s", epoch, now)
	}
	if _, err := newRelay(f.ctx, f.socket+"-none", func(error) {}); err == nil {
		t.Error("a relay without a server")
	}
}

// Whatever a client says, an introduction is taken apart without a loss or refused.
func FuzzIntroduction(f *testing.F) {
	f.Add(append(frameOf(identifyLongFlags, 0, "llllllll"), frameOf(104, 1<<16, "")...))
	f.Add(append(frameOf(104, 1<<31, ""), frameOf(identifyDone, 0, "")...))
	f.Add([]byte("\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		in, rest := introduction{}, data
		for {
			f, more, ok, err := cutIntroduction(rest)
			if err != nil || !ok {
				break
			}
			if f.filed {
				in.files = append(in.files, len(in.files))
			}
			in.frames, rest = append(in.frames, f), more
		}
		in.rest = rest
		pieces, err := in.pieces()
		if err != nil {
			return
		}
		n := 0
		for i, p := range pieces {
			if n += len(p.data); i < len(pieces)-1 {
				for _, kind := range []uint32{identifyFlags, identifyLongFlags, identifyDone} {
					for d := p.data; len(d) > 0; {
						f, more, _, err := cutIntroduction(d)
						if err != nil || f.kind == kind {
							t.Fatalf("piece %d of %d: %v %d", i, len(pieces), err, f.kind)
						}
						d = more
					}
				}
			}
		}
		if n != len(data) {
			t.Errorf("%d of %d bytes", n, len(data))
		}
	})
}
