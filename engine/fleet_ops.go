package engine

import (
	"fmt"
	"strings"
	"time"
)

// What operations and starts mean for the picture of a seat.

// latest is the later of two times, and none of a time that is not known.
func latest(at, other time.Time) time.Time {
	if !at.IsZero() && other.After(at) {
		return other
	}
	return at
}

// coming names the seats in which operations at work have yet to start an occupant. One
// that was cut off brings nobody up.
func coming(in *FleetInput) map[string]Verb {
	out, failed := map[string]Verb{}, map[string]bool{}
	for _, op := range in.Record.Open {
		switch op.Verb {
		case VerbUp, VerbLaunch, VerbSeatLaunch, VerbRestore, VerbFork, VerbExpand:
		default:
			continue
		}
		if in.Dead[op.ID] {
			continue
		}
		for _, st := range in.Steps[op.ID] { // in their order: what failed keeps its seat's commit pending
			switch {
			case st.Seat == "" || st.Kind == StepRestoreLeave:
			case st.State == StepFailed || st.State == StepUndone || st.State == StepUnknown:
				failed[st.Seat] = true
			case st.Effect == EffectCommit && (st.State == StepPending || st.State == StepStarted) && !failed[st.Seat]:
				out[st.Seat] = op.Verb
			}
		}
	}
	return out
}

// stillAtStart reports whether what was in the way of an occupant's start may still be:
// a gate that was answered does not explain another question of later.
func stillAtStart(last Session, act Activity) bool {
	code, _, _ := strings.Cut(last.StartupNote, ":")
	if act.State == ActivityWaiting {
		return !gateCodes[Code(code)] || act.Code == Code(code)
	}
	return act.State == ActivityUnknown
}

// opsBySeat names the open operation that holds a seat.
func opsBySeat(rec *Record) map[string]Operation {
	open, held := map[string]Operation{}, map[string]Operation{}
	for _, op := range rec.Open {
		open[op.ID] = op
	}
	for _, l := range rec.Leases {
		if op, ok := open[l.OpID]; ok && len(l.Key) > 5 && l.Key[:5] == "seat:" {
			held[l.Key[5:]] = op
		}
	}
	return held
}

// frozen says of an occupant that an operation of ours has stopped who stopped it: to
// let it go on by hand, as one would else be told, could set two agents to work in one
// directory. op is what holds the seat, empty for nothing; dead are those cut off.
func frozen(op Operation, dead map[string]bool, act Activity) Activity {
	if act.Code != CodeSuspended || op.ID == "" {
		return act
	}
	act.Rule += ", under an operation"
	if dead[op.ID] {
		act.Why = fmt.Sprintf("stopped by %s that was cut off half-way: `rig op show %s`", Articled(string(op.Verb)), op.ID)
		return act
	}
	act.State, act.Why = ActivityBusy, fmt.Sprintf("stopped while the %s is under way", op.Verb)
	return act
}
