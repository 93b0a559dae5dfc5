package engine

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Watcher is the engine loop behind a console and `rig watch`: it looks when
// something moved, builds the picture, and hands it to subscribers. At rest it
// starts no process and says nothing.
type Watcher struct {
	e *Engine
	o *observer

	mu     sync.Mutex
	closed bool // the loop has ended
	subs   map[chan *Fleet]bool
	frames map[chan PaneFrame]bool
	focus  map[string]bool
	shots  map[string]shot
	poke   chan struct{}
	policy *enforcer
}

// shot is the last frame of a focused pane.
type shot struct {
	frame PaneFrame
	moved time.Time // when its content last changed
	asked time.Time
}

// Watcher makes the loop; Run drives it.
func (e *Engine) Watcher() *Watcher {
	o := e.newObserver()
	o.tape = e.newTape()
	return &Watcher{
		e: e, o: o, subs: map[chan *Fleet]bool{}, frames: map[chan PaneFrame]bool{},
		focus: map[string]bool{}, shots: map[string]shot{}, poke: make(chan struct{}, 1),
		policy: &enforcer{e: e},
	}
}

// How the loop paces itself.
const (
	recordEvery = 250 * time.Millisecond // asks the record whether it changed: one cheap query
	judgeEvery  = time.Second            // reads the clients' own small files
	frameBusy   = 120 * time.Millisecond // a focused pane that is moving
	frameIdle   = time.Second            // a focused pane at rest
	frameRest   = 3 * time.Second        // without a change, a pane is at rest
	frameFall   = 2 * time.Second        // without a control connection each look costs a process
)

// Run drives the loop until ctx ends. The first picture comes from the record
// alone, before tmux is asked.
func (w *Watcher) Run(ctx context.Context) {
	w.o.readRecord(ctx)
	w.publish()
	events := w.e.d.Mux.Watch(ctx)
	changes := w.changes(ctx)
	record := time.NewTicker(recordEvery)
	defer record.Stop()
	judge := time.NewTicker(judgeEvery)
	defer judge.Stop()
	poll := time.NewTicker(w.e.d.Config.PollEvery)
	defer poll.Stop()
	frame := time.NewTicker(frameBusy)
	defer frame.Stop()
	pace := frameBusy // a tick wakes the machine: there are as many as a pane needs
	snap := func(now bool) {
		if next := w.snap(ctx, now); next != pace {
			pace = next
			frame.Reset(pace)
		}
	}
	enforce := time.NewTicker(enforceEvery)
	defer enforce.Stop()
	defer w.policy.release()
	defer w.o.others.busy.Wait()
	w.round(ctx, true, true)
	w.o.forgetShots()
	for {
		select {
		case <-ctx.Done():
			w.close()
			return
		case _, ok := <-events:
			if !ok {
				events = nil
				continue
			}
			w.round(ctx, true, false)
		case <-changes:
			w.round(ctx, false, true)
		case <-w.poke:
			snap(true)
		case <-judge.C:
			w.round(ctx, false, true)
		case <-poll.C:
			if w.o.inv.Path != "control" || w.o.inv.Server != Present {
				w.round(ctx, true, false)
			}
		case <-record.C:
			if w.o.readRecord(ctx) {
				w.publish() // the round sees no change of the record any more
				w.round(ctx, true, true)
			}
		case <-frame.C:
			snap(false)
		case <-enforce.C:
			// A window whose own process was killed is closed by whoever watches.
			if err := w.e.Expire(ctx); err != nil {
				w.e.d.Log.Warn("expire undo windows", "err", err)
			}
			if !w.o.kept.off {
				w.policy.round(ctx, w.latest(), w.o.rec.Rigs)
			}
		}
	}
}

// round looks and publishes when anything that is shown has changed.
func (w *Watcher) round(ctx context.Context, panes, all bool) {
	changed := w.o.readRecord(ctx)
	changed = w.o.readOwners() || changed
	if panes || changed {
		changed = w.o.readPanes(ctx) || changed
	}
	changed = w.o.others.read(ctx, w.o) || changed
	changed = w.o.judge(ctx, all) || changed
	changed = w.o.readEnds(w.e.d.Clock.Now()) || changed
	if end := w.o.snoozed; !end.IsZero() && !end.After(w.e.d.Clock.Now()) {
		changed = true
	}
	if err := w.o.storeSamples(ctx); err != nil {
		w.e.d.Log.Debug("store samples", "err", err)
	}
	if err := w.o.storeCompactions(ctx); err != nil {
		w.e.d.Log.Debug("store compactions", "err", err)
	}
	if changed {
		w.publish()
	}
}

// changes merges the change signals of the runtimes.
func (w *Watcher) changes(ctx context.Context) <-chan struct{} {
	out := make(chan struct{}, 1)
	for _, rt := range w.e.d.Runtimes {
		src, ok := rt.(changeSource)
		if !ok || src.Changes() == nil {
			continue
		}
		go func() {
			for {
				select {
				case <-ctx.Done():
					return
				case _, open := <-src.Changes():
					if !open {
						return
					}
					select {
					case out <- struct{}{}:
					default:
					}
				}
			}
		}()
	}
	return out
}

func (w *Watcher) publish() {
	f, fresh := w.o.picture()
	if !fresh {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for ch := range w.subs {
		deliver(ch, f)
	}
}

// deliver keeps only the newest picture in a subscriber's channel.
func deliver(ch chan *Fleet, f *Fleet) {
	for {
		select {
		case ch <- f:
			return
		default:
		}
		select {
		case <-ch:
		default:
		}
	}
}

func (w *Watcher) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for ch := range w.subs {
		close(ch)
	}
	for ch := range w.frames {
		close(ch)
	}
	w.subs, w.frames, w.closed = map[chan *Fleet]bool{}, map[chan PaneFrame]bool{}, true
}

// Subscribe gives the newest picture now and every later one, newest only. The
// channel closes when the loop ends.
func (w *Watcher) Subscribe() <-chan *Fleet {
	ch := make(chan *Fleet, 1)
	w.mu.Lock() // the loop delivers and closes under it too
	defer w.mu.Unlock()
	if w.closed {
		close(ch)
		return ch
	}
	w.subs[ch] = true
	if f := w.latest(); f != nil {
		deliver(ch, f)
	}
	return ch
}

func (w *Watcher) latest() *Fleet {
	w.o.mu.Lock()
	defer w.o.mu.Unlock()
	return w.o.last
}

// Focus says which seats' panes are on screen.
func (w *Watcher) Focus(ids []string) {
	w.mu.Lock()
	w.focus = map[string]bool{}
	for _, id := range ids {
		w.focus[id] = true
	}
	w.mu.Unlock()
	select {
	case w.poke <- struct{}{}:
	default:
	}
}

// Frames delivers the screens of focused panes when they change.
func (w *Watcher) Frames() <-chan PaneFrame {
	ch := make(chan PaneFrame, 64)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		close(ch)
	} else {
		w.frames[ch] = true
	}
	return ch
}

// snap captures the focused panes that are due, in one exchange, and says how soon
// one may be due again.
func (w *Watcher) snap(ctx context.Context, now bool) (next time.Duration) {
	w.mu.Lock()
	ids := make([]string, 0, len(w.focus))
	for id := range w.focus {
		ids = append(ids, id)
	}
	w.mu.Unlock()
	f := w.latest()
	at := w.e.d.Clock.Now()
	var reqs []CaptureRequest
	seats := map[PaneID]*SeatView{}
	next = frameIdle
	for _, id := range ids {
		s := f.Seat(id)
		if s == nil || s.Pane == "" || f.Server.State != Present || s.Life == LifeLost || s.Life == LifeUnknown {
			continue
		}
		last := w.shots[id]
		wait := frameIdle
		if !Passed(last.moved, at, frameRest) {
			wait = frameBusy
		}
		if w.o.inv.Path != "control" {
			wait = frameFall
		}
		next = min(next, wait)
		if !now && !Passed(last.asked, at, wait-frameBusy/2) {
			continue
		}
		last.asked = at
		w.shots[id] = last
		reqs = append(reqs, CaptureRequest{Pane: s.Pane, Colours: true})
		seats[s.Pane] = s
	}
	if len(reqs) == 0 {
		return next
	}
	got, err := w.e.d.Mux.Capture(ctx, reqs)
	if err != nil {
		return next
	}
	for _, c := range got {
		if w.frame(seats[c.Pane], c, at, now) && w.o.inv.Path == "control" {
			next = frameBusy
		}
	}
	return next
}

// frame sends a pane's screen on when it differs from the last one, and tells
// whether it does.
func (w *Watcher) frame(s *SeatView, c CaptureResult, at time.Time, force bool) (moved bool) {
	if s == nil {
		return false
	}
	last := w.shots[s.ID]
	fr := PaneFrame{SeatID: s.ID, Lines: c.Lines, Cols: s.PaneSize[0], Rows: s.PaneSize[1], At: at}
	if c.Err != nil {
		fr.Err = c.Err.Error()
	}
	same := slices.Equal(last.frame.Lines, fr.Lines) && last.frame.Err == fr.Err && last.frame.SeatID == s.ID &&
		last.frame.Cols == fr.Cols && last.frame.Rows == fr.Rows // a viewer's size alone is news too
	if !same {
		last.moved = at
	}
	last.frame = fr
	w.shots[s.ID] = last
	if same && !force {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for ch := range w.frames {
		select {
		case ch <- fr:
		default: // the reader is behind: it gets the next one
		}
	}
	return !same
}
