package engine

import (
	"context"
	"strings"
)

// leftAttention is what waits for a person in a seat that a restore left as it
// is: the decision or the repair that it needs, with the exact command.
func leftAttention(s *SeatView, item func(class, detail, reason, remedy string, weight int) AttentionItem) []AttentionItem {
	switch s.Life {
	case LifeLost, LifeStopped, LifeNever:
	case LifeRunning, LifeStarting, LifeDead, LifeAttention, LifeUnknown:
		return nil
	}
	if s.LastError == "" || (s.Continuity != ContinuityAwaiting && s.Continuity != ContinuityFailed) {
		return nil
	}
	reason, remedy, _ := strings.Cut(s.LastError, " → ")
	word, weight := "awaits a decision: ", 78
	if s.Continuity == ContinuityFailed {
		word, weight = "did not come back: ", 79
		remedy = strings.TrimPrefix(remedy+"; then `"+CommandLine("rig", "up", s.Rig)+"`", "; ")
	}
	return []AttentionItem{item(AttnOutcome, string(s.Continuity), word+reason, remedy, weight)}
}

// lastWords looks at a failed start once more: what the client said may have
// reached its pane after the look that told of its end.
func (r *run) lastWords(ctx context.Context, s Step, seat Seat, l *launched, rt Runtime, got Readiness, screen Screen) (Readiness, Screen) {
	l.glance.spent()
	p, err := r.probeOf(ctx, s, seat, l)
	if err != nil || len(tail(p.Screen.Lines)) == 0 {
		return got, screen
	}
	l.screen = p.Screen.Lines
	if again := rt.Ready(ctx, p); again.State == ReadyFailed {
		got = again
	}
	return got, p.Screen
}

// endedStart reports that a client ended while its start was being proven: a
// start whose client is gone is a failure, whatever was seen of it before.
func (r *run) endedStart(s Step, p Probe) error {
	if !p.Pane.Dead && !(p.RunKnown && (p.Run.Exited || p.Run.Error != "")) {
		return nil
	}
	code := p.Run.ExitCode
	if !p.RunKnown && p.Pane.Dead {
		code = p.Pane.DeadCode
	}
	return Errorf(CodeRuntime, "the client ended with code %d right after its start", code).On("launch", s.Seat).
		WithHint("the client's own words are in the evidence; fix that and run it again").
		With("pane_tail", r.tail(p.Screen.Lines)).With("exit_code", code)
}
