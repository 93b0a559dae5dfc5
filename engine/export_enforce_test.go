package engine

import "context"

// EnforceForTest does one round of the enforcer over a picture, and waits for what it starts.
func (e *Engine) EnforceForTest(ctx context.Context, f *Fleet, policy *ClaudeCompaction) {
	x := &enforcer{e: e}
	for i := range f.Rigs {
		if run := x.rig(ctx, &f.Rigs[i], policy); run != nil {
			run()
		}
	}
}
