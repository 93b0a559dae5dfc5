package engine_test

import (
	"context"
	"strings"
	"testing"

	"rig/engine"
)

// TestOpenWorkIsNotForgottenWithItsRig: a rig or a seat with open inbound work is not forgotten unless that is said, and neither is one
// that was asked for something after the plan was made.
func TestOpenWorkIsNotForgottenWithItsRig(t *testing.T) {
	t.Parallel()
	forget := func(drop bool) map[string]engine.Request {
		return map[string]engine.Request{
			"down":   request(engine.VerbDown, "team", engine.DownArgs{Delete: true, DropWork: drop}),
			"remove": request(engine.VerbRemove, "team", engine.ShrinkArgs{Seat: "dev.m0", DropWork: drop}),
		}
	}
	for name := range forget(false) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, t.TempDir(), engine.RuntimeTerminal, engine.RuntimeTerminal)
			defer b.close(t)
			b.run(t, upRequest())
			ask := func() string {
				res, err := b.e.ChangeWork(context.Background(), engine.WorkChange{Verb: engine.WorkAdd, Seat: "dev.m0", Title: "the important thing"}, "")
				if err != nil {
					t.Fatal(err)
				}
				return res.Item.ID
			}
			p, _ := b.planLines(t, forget(false)[name])
			var id string
			rec, err := b.e.Apply(context.Background(), p, func(pr engine.OpProgress) {
				if id == "" && pr.Op.State == engine.OpRunning {
					id = ask()
				}
			})
			if err != nil || rec.OK || !strings.Contains(rec.Error.Error(), "the important thing") {
				t.Errorf("asked meanwhile: %v %+v", err, rec)
			}
			p, text := b.planLines(t, forget(false)[name])
			if p.Applicable() || p.Blockers[0].Code != "work_open" || strings.Contains(text, "stays: history, snapshots and inbound work") {
				t.Errorf("%s", text)
			}
			if res, err := b.e.WorkByID(context.Background(), id); err != nil || res.Item.State != engine.WorkPending {
				t.Errorf("the work: %v %+v", err, res)
			}
			p, text = b.planLines(t, forget(true)[name])
			if !strings.Contains(text, "loses its inbound work: 1 pending") {
				t.Errorf("%s", text)
			}
			if rec, err := b.e.Apply(context.Background(), p, nil); err != nil || !rec.OK {
				t.Errorf("with --drop-work: %v %+v", err, rec)
			}
		})
	}
}
