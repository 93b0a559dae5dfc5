package tui

import "rig/engine"

// glyphs are the characters the console draws with. The ASCII set is for
// terminals and fonts that cannot be trusted with more.
type glyphs struct {
	ascii                                      bool
	topLeft, topRight, bottomLeft, bottomRight string
	across, down                               string
	cursor, mark, open, folded, prompt         string
	full, empty, limit                         string
	dot, arrow, done, fail, run, wait, undone  string
	newline                                    string // a line break in a field of one line
	spark                                      string // heights of a small chart, lowest first
}

func unicodeGlyphs() *glyphs {
	return &glyphs{
		topLeft: "╭", topRight: "╮", bottomLeft: "╰", bottomRight: "╯", across: "─", down: "│",
		cursor: "▌", mark: "◆", open: "▾", folded: "▸", prompt: "› ", full: "█", empty: "░", limit: "│",
		dot: "·", arrow: "→", done: "✓", fail: "✗", run: "▶", wait: "○", undone: "↺",
		newline: "⏎", spark: "▁▂▃▄▅▆▇█",
	}
}

func asciiGlyphs() *glyphs {
	return &glyphs{
		ascii:   true,
		topLeft: "+", topRight: "+", bottomLeft: "+", bottomRight: "+", across: "-", down: "|",
		cursor: ">", mark: "+", open: "v", folded: ">", prompt: "> ", full: "#", empty: ".", limit: "|",
		dot: "-", arrow: "->", done: "v", fail: "x", run: ">", wait: "o", undone: "<",
		newline: "\\n", spark: "_.-~=*#",
	}
}

// look is how a state is shown: a shape, a word and a tone. Each state has a
// shape and a word of its own, so that colour only helps.
type look struct {
	shape string
	ascii string
	word  string
	tone  tone
}

// mark gives the shape for a set of glyphs.
func (l look) mark(g *glyphs) string {
	if g.ascii {
		return l.ascii
	}
	return l.shape
}

// text gives shape and word.
func (l look) text(g *glyphs) string { return l.mark(g) + " " + l.word }

// The looks of a seat.
var (
	lookIdle      = look{"○", "o", "idle", toneIdle}
	lookBusy      = look{"●", "*", "busy", toneBusy}
	lookHeld      = look{"‖", "=", "held", toneStart}
	lookWaiting   = look{"▲", "^", "waiting", toneNeed}
	lookAttention = look{"◈", "!", "attention", toneNeed}
	lookLimit     = look{"■", "#", "limit", toneLimit}
	lookExited    = look{"×", "x", "exited", toneBad}
	lookDead      = look{"✗", "X", "dead", toneBad}
	lookLost      = look{"∅", "%", "lost", toneBad}
	lookStarting  = look{"◌", "~", "starting", toneStart}
	lookStopped   = look{"□", "-", "stopped", toneOff}
	lookNever     = look{"·", ".", "never run", toneOff}
	lookUnknown   = look{"?", "?", "unknown", toneUnknown}
)

// seatLooks lists every look of a seat, for tests and the legend of the help.
func seatLooks() []look {
	return []look{
		lookIdle, lookBusy, lookHeld, lookWaiting, lookAttention, lookLimit, lookExited, lookDead, lookLost, lookStarting,
		lookStopped, lookNever, lookUnknown,
	}
}

// lookOf gives the look of a seat: its life when that decides, else what its
// occupant does. What is not known is unknown, never idle and never dead.
func lookOf(s *engine.SeatView) look {
	switch s.Life {
	case engine.LifeRunning:
		if s.Activity.Held() {
			return lookHeld
		}
		return lookActivity(s.Activity.State)
	case engine.LifeStarting:
		return lookStarting
	case engine.LifeDead:
		return lookDead
	case engine.LifeLost:
		return lookLost
	case engine.LifeStopped:
		return lookStopped
	case engine.LifeNever:
		return lookNever
	case engine.LifeAttention:
		return lookAttention
	case engine.LifeUnknown:
	}
	return lookUnknown
}

func lookActivity(a engine.ActivityState) look {
	switch a {
	case engine.ActivityIdle:
		return lookIdle
	case engine.ActivityBusy:
		return lookBusy
	case engine.ActivityWaiting:
		return lookWaiting
	case engine.ActivityLimit:
		return lookLimit
	case engine.ActivityExited:
		return lookExited
	case engine.ActivityUnknown:
	}
	return lookUnknown
}

// lookRig gives the look of a rig.
func lookRig(l engine.RigLife) look {
	switch l {
	case engine.RigRunning:
		return look{"●", "*", "running", toneBusy}
	case engine.RigStarting:
		return look{"◌", "~", "starting", toneStart}
	case engine.RigDegraded:
		return look{"◐", "/", "degraded", toneNeed}
	case engine.RigAttention:
		return look{"◈", "!", "attention", toneNeed}
	case engine.RigStopped:
		return look{"□", "-", "stopped", toneOff}
	case engine.RigUnknown:
	}
	return lookUnknown
}

// lookOp gives the look of an operation.
func lookOp(s engine.OpState) look {
	switch s {
	case engine.OpPlanned:
		return look{"◌", "~", "planned", toneStart}
	case engine.OpRunning:
		return look{"▶", ">", "running", toneStart}
	case engine.OpDone:
		return look{"✓", "v", "done", toneBusy}
	case engine.OpPartial:
		return look{"◐", "/", "partial", toneNeed}
	case engine.OpFailed:
		return look{"✗", "x", "failed", toneBad}
	case engine.OpRolledBack:
		return look{"↺", "<", "rolled back", toneOff}
	case engine.OpUndone:
		return look{"↶", "<", "undone", toneOff}
	case engine.OpUnfinished:
		return look{"▲", "!", "unfinished", toneNeed}
	}
	return lookUnknown
}

// lookStep gives the look of a journaled step.
func lookStep(s engine.StepState) look {
	switch s {
	case engine.StepPending:
		return look{"○", "o", "pending", toneOff}
	case engine.StepStarted:
		return look{"▶", ">", "running", toneStart}
	case engine.StepDone:
		return look{"✓", "v", "done", toneBusy}
	case engine.StepFailed:
		return look{"✗", "x", "failed", toneBad}
	case engine.StepUndone:
		return look{"↺", "<", "undone", toneNeed}
	case engine.StepSkipped:
		return look{"·", ".", "skipped", toneOff}
	case engine.StepUnknown:
	}
	return lookUnknown
}

// outcomeWord gives a continuity outcome in the words of the record; nothing
// claimed reads "unverified".
func outcomeWord(c engine.Continuity) (string, tone) {
	switch c {
	case engine.ContinuityNone:
		return "unverified", toneDim
	case engine.ContinuityResumed, engine.ContinuityForked, engine.ContinuityRebuilt, engine.ContinuityRecovered:
		return string(c), toneBusy
	case engine.ContinuityFresh, engine.ContinuityFreshPrimed:
		return string(c), toneText
	case engine.ContinuityAwaiting, engine.ContinuityAttention:
		return string(c), toneNeed
	case engine.ContinuityFailed:
		return string(c), toneBad
	}
	return clean(string(c)), toneUnknown
}

// runtimeWord shortens a runtime's name for a column.
func runtimeWord(r engine.RuntimeName) string {
	switch r {
	case engine.RuntimeClaude:
		return "claude"
	case engine.RuntimeCodex:
		return "codex"
	case engine.RuntimeTerminal:
		return "shell"
	}
	return clean(string(r))
}
