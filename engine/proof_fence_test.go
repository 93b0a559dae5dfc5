package engine_test

import (
	"context"
	"testing"

	"rig/engine"
)

// pausedAt gives a callback that stops an operation once, when a step has come into a state: paused is closed then, and it goes on
// when goOn is.
func pausedAt(step string, state engine.StepState) (progress func(engine.OpProgress), paused, goOn chan struct{}) {
	paused, goOn = make(chan struct{}), make(chan struct{})
	seen := false
	return func(pr engine.OpProgress) {
		for _, s := range pr.Steps {
			if s.StepID == step && s.State == state && !seen {
				seen = true
				close(paused)
				<-goOn
			}
		}
	}, paused, goOn
}

// TestTheDeadDoNotWriteBesideTheirRecovery: an owner that was taken for dead wakes up while somebody finishes or rolls back its
// operation. Both write for the same operation; the number of the grant alone tells them apart.
func TestTheDeadDoNotWriteBesideTheirRecovery(t *testing.T) {
	for name, c := range map[string]struct {
		died, closing string
		state         engine.StepState // of the step that the closing is at
		close         func(*engine.Engine) func(context.Context, string, func(engine.OpProgress)) (*engine.Receipt, error)
	}{
		"finish": {"rebind", "retire", engine.StepStarted, func(e *engine.Engine) func(context.Context, string, func(engine.OpProgress)) (*engine.Receipt, error) {
			return e.Finish
		}},
		"rollback": {"ready", "create", engine.StepUndone, func(e *engine.Engine) func(context.Context, string, func(engine.OpProgress)) (*engine.Receipt, error) {
			return e.Rollback
		}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, t.TempDir(), engine.RuntimeClaude)
			defer b.close(t)
			b.run(t, upRequest())
			p, err := b.e.Plan(context.Background(), handoverRequest("dev.m0", "fresh"))
			if err != nil {
				t.Fatal(err)
			}
			progress, dead, wake := pausedAt(c.died, engine.StepDone)
			old := make(chan *engine.Receipt, 1)
			go func() { rec, _ := b.e.Apply(context.Background(), p, progress); old <- rec }()
			<-dead
			b.procs.Die(1)
			b.procs.Become(2, "s2")
			progress, inside, goOn := pausedAt(c.closing, c.state)
			closed := make(chan error, 1)
			go func() { _, err := c.close(b.e)(context.Background(), p.ID, progress); closed <- err }()
			select {
			case <-inside:
			case err := <-closed:
				t.Fatalf("it was closed without a stop: %v", err)
			}
			b.wakeTheDead(t, wake, old)
			close(goOn)
			if err := <-closed; err != nil {
				t.Errorf("the closing was disturbed: %v", err)
			}
			if b.leases() != 0 {
				t.Errorf("%d leases are left", b.leases())
			}
		})
	}
}

// TestADeadCloserGivesNothingBack: who closes an operation is taken for dead and wakes up while the next one closes it. What it
// lets go of at its end is the other's by then.
func TestADeadCloserGivesNothingBack(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeClaude)
	defer b.close(t)
	b.run(t, upRequest())
	p, err := b.e.Plan(context.Background(), handoverRequest("dev.m0", "fresh"))
	if err != nil {
		t.Fatal(err)
	}
	stopped := func(pid int, start string, step string, state engine.StepState, act func(func(engine.OpProgress)) error) (wake chan struct{}, ended chan error) {
		progress, inside, wake := pausedAt(step, state)
		ended = make(chan error, 1)
		go func() { ended <- act(progress) }()
		select {
		case <-inside:
		case err := <-ended:
			t.Fatalf("process %d ended without a stop: %v", pid, err)
		}
		b.procs.Die(pid)
		b.procs.Become(pid+1, start)
		return wake, ended
	}
	finish := func(progress func(engine.OpProgress)) error {
		_, err := b.e.Finish(context.Background(), p.ID, progress)
		return err
	}
	first, firstEnd := stopped(1, "s2", "rebind", engine.StepDone, func(progress func(engine.OpProgress)) error {
		_, err := b.e.Apply(context.Background(), p, progress)
		return err
	})
	second, secondEnd := stopped(2, "s3", "retire", engine.StepStarted, finish)
	progress, inside, goOn := pausedAt("retire", engine.StepStarted)
	closed := make(chan error, 1)
	go func() { closed <- finish(progress) }()
	<-inside
	close(second)
	if err := <-secondEnd; engine.CodeOf(err) != engine.CodeLeaseLost {
		t.Errorf("the dead closer ended with %v", err)
	}
	close(goOn)
	if err := <-closed; err != nil {
		t.Errorf("the closing was disturbed: %v", err)
	}
	close(first)
	<-firstEnd
	if b.leases() != 0 {
		t.Errorf("%d leases are left", b.leases())
	}
}
