package engine_test

import (
	"testing"
	"time"

	"rig/engine"
)

// newMail is a ward to whose seat messages are sent; what a test has changed of its
// parts counts.
func newMail(t *testing.T, change func(w *ward)) *ward {
	t.Helper()
	w := newWard(t)
	t.Cleanup(func() { w.close(t) })
	w.deps.Config.VerifyTimeout = 20 * time.Second
	change(w)
	w.e = engine.New(w.deps)
	return w
}

// A client that retries holds a message like one that works: its sender is told so.
func TestAMessageIsQueuedWhileTheClientRetries(t *testing.T) {
	w := newMail(t, func(w *ward) {
		w.deps.Mux = typing{w.mux, func(string) { w.set(func(p *patient) { p.queued = true }) }}
	})
	w.set(func(p *patient) { p.state, p.code = engine.ActivityBusy, "retrying" })
	d, err := w.e.Send(t.Context(), "dev.m0", "$", true) // as every pane of the bench shows
	if err != nil || d.Outcome != "delivered" || !d.Queued || d.Word() != "queued" {
		t.Errorf("%v %+v", err, d)
	}
}
