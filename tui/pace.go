package tui

import (
	"reflect"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Bubble Tea writes frames to the terminal on a clock, whether there is one or not,
// and takes its rate once, at the start. At 120 a second a key waits half as long as
// at the library's 60, and a console that nobody touches wakes the machine 120 times
// a second for nothing, which is more than all its other work. So the clock runs
// when something was drawn, faster while somebody types, strikes at once when the
// frame that answers a key is there, and rests otherwise.
const (
	flushesPerSecond = 120 // the library's own most
	paceTyped        = 6 * time.Millisecond
	paceAnswer       = time.Millisecond // for the frame that answers a key
	holdAnswer       = 3 * paceAnswer
	paceDrawn        = time.Second / flushesPerSecond
	paceRest         = 500 * time.Millisecond // what the library sends of its own waits so long
	holdTyped        = time.Second            // how long somebody who typed may type again
	holdDrawn        = 5 * paceDrawn          // from a frame to its place on the terminal
)

// resetter is the part of a time.Ticker that sets its rate.
type resetter interface{ Reset(d time.Duration) }

// pacer sets the rate at which frames go to the terminal. With no clock it does
// nothing, and the library keeps its own pace.
type pacer struct {
	clock func() resetter // gives the clock once the program runs; nil = there is none

	mu    sync.Mutex
	set   resetter
	pace  time.Duration
	typed bool        // a key was pressed and its frame is not drawn yet
	hold  *time.Timer // slows the clock down at its end
	turn  int         // of the hold: one that ends late must not end the next
}

// flushClock is the clock in the library's program, which it does not hand out; nil
// before the program runs, and in a version that has none under this name.
func flushClock(p *tea.Program) resetter {
	f := reflect.ValueOf(p).Elem().FieldByName("ticker")
	if !f.IsValid() || f.Type() != reflect.TypeFor[*time.Ticker]() || f.IsNil() {
		return nil
	}
	return *(**time.Ticker)(f.Addr().UnsafePointer())
}

// saw speeds the clock up before a message is handled.
func (p *pacer) saw(msg tea.Msg) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.set == nil && p.clock != nil {
		p.set = p.clock()
	}
	if p.set == nil {
		return
	}
	switch msg.(type) {
	case tea.KeyMsg, tea.MouseMsg, tea.PasteMsg:
		p.typed = true
		if p.pace != paceAnswer {
			p.run(paceTyped)
		}
		p.keep(holdTyped)
	default:
		if p.pace != paceTyped && p.pace != paceAnswer {
			p.run(paceDrawn)
			p.release()
		}
	}
}

// drew has a frame that answers a key written at once; after any other the clock
// rests soon.
func (p *pacer) drew() {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.set == nil:
	case p.pace == paceDrawn:
		p.keep(holdDrawn)
	case p.pace == paceTyped && p.typed:
		p.typed = false
		p.run(paceAnswer)
		time.AfterFunc(holdAnswer, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			if p.pace == paceAnswer {
				p.run(paceTyped)
			}
		})
	}
}

// run sets the clock unless it runs so already: one that is set again and again
// would never strike.
func (p *pacer) run(pace time.Duration) {
	if p.pace != pace {
		p.pace = pace
		p.set.Reset(pace)
	}
}

// keep holds the pace for a while; then the clock rests.
func (p *pacer) keep(d time.Duration) {
	p.release()
	turn := p.turn
	p.hold = time.AfterFunc(d, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.turn == turn {
			p.run(paceRest)
		}
	})
}

// release ends a hold without slowing down.
func (p *pacer) release() {
	p.turn++
	if p.hold != nil {
		p.hold.Stop()
	}
}
