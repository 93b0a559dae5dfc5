package tui

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
)

// rates tells what a clock was set to.
type rates chan time.Duration

func (r rates) Reset(d time.Duration) { r <- d }

// The clock runs for a frame and rests after it, strikes at once for the frame of a
// key, runs faster after it however much else happens, is not set again while it
// runs, and rests when nobody types.
func TestFramesAreFlushedWhenThereAreSome(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // time passes only where all wait
		clock := make(rates, 10)
		p := &pacer{clock: func() resetter { return clock }}
		frame := func() { p.saw(tea.WindowSizeMsg{}); p.drew() }
		wants := func(what string, want ...time.Duration) {
			t.Helper()
			for _, d := range want {
				if got := <-clock; got != d {
					t.Errorf("%s: the clock is set to %v, want %v", what, got, d)
				}
			}
		}
		for range 20 {
			frame()
		}
		wants("frames", paceDrawn, paceRest)
		frame()
		for range 20 {
			p.saw(tea.KeyPressMsg{Code: 'x'})
			frame()
		}
		began := time.Now()
		wants("keys", paceDrawn, paceTyped, paceAnswer, paceTyped)
		if took := time.Since(began); took != holdAnswer {
			t.Errorf("the clock ran for the answer for %v", took)
		}
		wants("no more keys", paceRest)
		if held := time.Since(began); held != holdTyped {
			t.Errorf("the pace of keys was held for %v", held)
		}
		frame()
		wants("after the rest", paceDrawn, paceRest)
	})
	(&pacer{}).saw(tea.KeyPressMsg{}) // no clock, no harm
	(&pacer{clock: func() resetter { return nil }}).saw(tea.KeyPressMsg{})
}

// lookedAt quits at its first message.
type lookedAt struct{ look func() }

func (m lookedAt) Init() tea.Cmd  { return func() tea.Msg { return "go" } }
func (m lookedAt) View() tea.View { return tea.NewView("x") }
func (m lookedAt) Update(tea.Msg) (tea.Model, tea.Cmd) {
	m.look()
	return m, tea.Quit
}

// The library has its clock where it is looked for: without it the console works,
// and wakes the machine all the time.
func TestTheLibraryHasItsClock(t *testing.T) {
	t.Parallel()
	var p *tea.Program
	found := false
	r, w := io.Pipe()
	defer w.Close()
	p = tea.NewProgram(lookedAt{func() { found = flushClock(p) != nil }}, tea.WithInput(r), tea.WithOutput(io.Discard),
		tea.WithWindowSize(80, 24), tea.WithoutSignals(), tea.WithContext(t.Context()))
	if flushClock(p) != nil {
		t.Error("there is a clock before the program runs")
	}
	if _, err := p.Run(); err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if !found {
		t.Error("Bubble Tea keeps its clock elsewhere now: see pace.go")
	}
}
