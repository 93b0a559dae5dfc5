package agentsim

import (
	"os"
	"sync"
	"syscall"
	"time"
)

// outcome is how a client ends.
type outcome struct {
	reason string // the client's word for it
	code   int
	crash  bool // nothing is cleaned up
}

// screen is what the loop needs of a client. frame and key are called with the
// stage's lock held.
type screen interface {
	// frame lays the screen out and says where the cursor is.
	frame(w, h int) (rows []string, cy, cx int)
	// key handles one input.
	key(k key)
	// title is the pane title now.
	title() string
	// moving tells whether the frame changes by itself.
	moving() bool
}

// stage runs a client on a terminal. The lock guards everything of the client;
// a turn runs on a goroutine of its own and takes the lock for each change.
type stage struct {
	mu    sync.Mutex
	env   *Env
	term  *terminal
	dirty chan struct{}
	keys  chan []key
	sigs  chan os.Signal
	quit  chan outcome
	done  chan struct{}
	stop  func()
	deaf  bool // keys are ignored: the client hangs
}

// newStage prepares the keyboard and the signals of an opened terminal.
func newStage(e *Env, t *terminal) *stage {
	s := &stage{
		env: e, term: t,
		dirty: make(chan struct{}, 1), keys: make(chan []key, 64),
		quit: make(chan outcome, 4), done: make(chan struct{}),
	}
	s.sigs, s.stop = watchSignals()
	go t.read(e, s.keys, s.done)
	return s
}

// close ends the reader and the signal handler.
func (s *stage) close() {
	close(s.done)
	s.stop()
}

// do changes the client under the lock and has the screen drawn.
func (s *stage) do(f func()) {
	s.mu.Lock()
	f()
	s.mu.Unlock()
	s.redraw()
}

// redraw asks for a new frame.
func (s *stage) redraw() {
	select {
	case s.dirty <- struct{}{}:
	default:
	}
}

// end asks the loop to return; the first call wins.
func (s *stage) end(o outcome) {
	select {
	case s.quit <- o:
	default:
	}
}

// run draws and listens until the client ends.
func (s *stage) run(c screen) outcome {
	const beat = 200 * time.Millisecond
	tick := time.NewTimer(beat)
	defer tick.Stop()
	s.redraw()
	for {
		select {
		case o := <-s.quit:
			return o
		case sig := <-s.sigs:
			if o, over := s.signal(c, sig); over {
				return o
			}
		case ks := <-s.keys:
			s.mu.Lock()
			for _, k := range ks {
				if !s.deaf {
					c.key(k)
				}
			}
			s.mu.Unlock()
			s.redraw()
		case <-s.dirty:
			s.paint(c)
			s.mu.Lock()
			moving := c.moving()
			s.mu.Unlock()
			if moving {
				tick.Reset(beat)
			}
		case <-tick.C:
			s.redraw1(c)
		}
	}
}

// redraw1 draws at a beat, and only while something moves.
func (s *stage) redraw1(c screen) {
	s.mu.Lock()
	moving := c.moving()
	s.mu.Unlock()
	if moving {
		s.redraw()
	}
}

func (s *stage) signal(c screen, sig os.Signal) (outcome, bool) {
	switch sig {
	case syscall.SIGWINCH:
		s.mu.Lock()
		s.term.measure()
		s.term.drawn = nil
		if s.term.alt {
			s.term.write("\x1b[2J")
		}
		s.mu.Unlock()
		s.redraw()
		return outcome{}, false
	case syscall.SIGINT:
		s.do(func() { c.key(key{kind: keyCtrl, text: "c", gap: time.Hour}) })
		return outcome{}, false
	}
	return outcome{reason: "other", code: signalCode(sig), crash: s.deaf}, true
}

func (s *stage) paint(c screen) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rows, cy, cx := c.frame(s.term.w, s.term.h)
	if s.term.alt {
		s.term.draw(rows, cy, cx)
	} else {
		s.term.drawInline(rows)
	}
	if t := c.title(); t != "" {
		s.term.setTitle(t)
	}
}
