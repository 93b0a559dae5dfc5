package engine

import "context"

// PressureConsole is what the Pressure screen and the compaction wizard need of
// the engine, beside planning and applying.
type PressureConsole interface {
	// Pressure makes the compact plan of a picture that is at hand, with the
	// default thresholds. It reads the stored samples and looks at nothing else.
	Pressure(ctx context.Context, f *Fleet) (*CompactPlan, error)
	// CompactState tells how a seat's newest guided compaction stands.
	CompactState(ctx context.Context, ref string) (*CompactState, error)
	// CancelCompact stops a guided compaction that has not typed /compact yet.
	// Errors: as of Engine.CancelCompact.
	CancelCompact(ctx context.Context, ref string) (*CompactState, error)
}

// Pressure implements Console.
func (l *Local) Pressure(ctx context.Context, f *Fleet) (*CompactPlan, error) {
	return l.e.PlanFrom(ctx, f, CompactPlanOptions{})
}

// CompactState implements Console.
func (l *Local) CompactState(ctx context.Context, ref string) (*CompactState, error) {
	return l.e.CompactState(ctx, ref)
}

// CancelCompact implements Console.
func (l *Local) CancelCompact(ctx context.Context, ref string) (*CompactState, error) {
	return l.e.CancelCompact(ctx, ref, l.e.Operator())
}
