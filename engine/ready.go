package engine

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

func (r *run) sight() *sight {
	v, _ := r.memory.LoadOrStore("sight", newSight(r.e.d.Mux, r.e.d.Clock))
	s, _ := v.(*sight)
	return s
}

// probeOf gathers what a runtime's judgement of a starting occupant needs.
func (r *run) probeOf(ctx context.Context, s Step, seat Seat, l *launched) (Probe, error) {
	inv, screen, err := r.sight().look(ctx, l.ref.Pane, &l.glance)
	if err != nil {
		return Probe{}, err
	}
	p := Probe{
		Seat: seat, Address: s.Seat, Session: l.session, Screen: screen, Parent: l.parent,
		Started: l.at, Now: r.e.d.Clock.Now(),
	}
	switch {
	case inv.Server == Unknown:
		return p, Errorf(CodeTmuxProbeFailed, "tmux did not answer").Wrap(inv.Err).WithHint("check the server with `rig doctor`")
	case inv.Server == Absent || inv.Epoch != l.ref.Epoch:
		return p, Errorf(CodeRuntime, "the tmux server died while the seat was starting").WithHint("run it again")
	}
	pane, ok := inv.Pane(l.ref.Pane)
	if !ok || pane.Seat != seat.ID {
		return p, Errorf(CodeRuntime, "the seat's pane vanished while it was starting").
			WithHint("somebody or something ended session %s; run it again", l.session.Name)
	}
	p.Pane = pane
	if p.Run, p.RunKnown, err = r.e.d.Occupants.RunState(l.session.ID); err != nil {
		return p, err
	}
	if p.RunKnown {
		l.session.PID, l.session.PIDStart = p.Run.PID, p.Run.PIDStart
		p.Session = l.session
	}
	p.Signals, err = r.e.d.Occupants.Signals(l.session.ID)
	return p, err
}

// doReady looks until the runtime says ready, gate or failed, or the time is up.
// A gate is not a failure: the seat is recorded as waiting for a person.
func doReady(ctx context.Context, r *run, s Step) (Evidence, error) {
	seat, rt, l, err := r.occupant(ctx, s)
	if err != nil {
		return nil, err
	}
	defer r.sight().forget(l.ref.Pane)
	limit := r.e.d.Config.ReadyTimeout
	if seat.ReadinessMS > 0 {
		limit = time.Duration(seat.ReadinessMS) * time.Millisecond
	}
	if s.Args["gate"] == "rollback" { // the time at a gate is a person's
		limit += r.e.d.Config.GateWait
	}
	wait, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		p, err := r.probeOf(wait, s, seat, l)
		if err != nil {
			if wait.Err() != nil && ctx.Err() == nil {
				return r.notReady(l, s, limit)
			}
			return Evidence{"pane_tail": r.tail(p.Screen.Lines)}, err
		}
		l.screen = p.Screen.Lines
		got := rt.Ready(ctx, p)
		l.readiness = got
		if got.State != ReadyStarting && got.State != ReadyUnknown && !l.glance.fresh() {
			l.glance.spent() // a verdict is given on what tmux shows now
			continue
		}
		ev := Evidence{"state": string(got.State), "code": string(got.Code), "why": got.Why, "evidence": got.Evidence, "pid": l.session.PID}
		switch got.State {
		case ReadyYes:
			l.session.Startup = StartupReady
			return ev, nil
		case ReadyGate:
			if s.Args["gate"] == "rollback" {
				if ev, err := r.stagedGate(ctx, s, l, got, p); err != nil {
					return ev, err
				}
				continue
			}
			l.session.Startup = StartupAttention
			l.session.StartupNote = string(got.Code) + ": " + got.Why
			ev["pane_tail"] = r.tail(p.Screen.Lines)
			return ev, nil
		case ReadyFailed:
			got, p.Screen = r.lastWords(wait, s, seat, l, rt, got, p.Screen)
			code := got.Code
			if code == "" {
				code = CodeRuntime
			}
			return ev, Errorf(code, "%s", got.Why).On("launch", s.Seat).
				WithHint("the client's own words are in the evidence; fix that and run it again").
				With("pane_tail", r.tail(p.Screen.Lines)).With("exit_code", p.Run.ExitCode)
		case ReadyStarting, ReadyUnknown:
		}
	}
}

// stagedGate offers a gate in the staging session to a person for a while; then
// the operation is rolled back. It never answers the gate.
func (r *run) stagedGate(ctx context.Context, s Step, l *launched, got Readiness, p Probe) (Evidence, error) {
	if l.gateSince.IsZero() || l.gateSince.After(p.Now) { // ahead: the clock was set back, and nobody knows how long it was offered
		l.gateSince = p.Now
		ev := Evidence{"gate": string(got.Code), "why": got.Why, "session": l.session.Name, "since": rfc3339(p.Now), "offered_until": rfc3339(p.Now.Add(r.e.d.Config.GateWait))}
		if err := r.note(ctx, s, StepStarted, ev, nil); err != nil {
			return ev, err
		}
	}
	if p.Now.Sub(l.gateSince) < r.e.d.Config.GateWait {
		return nil, nil //nolint:nilnil // still offered
	}
	return Evidence{"pane_tail": r.tail(p.Screen.Lines)}, Errorf("successor_attention_required", "the successor waits at a gate: %s", got.Why).On("handover", s.Seat).
		WithHint("answer it once by hand in that directory, or grant it in the client's own settings, then try again").
		With("gate", got.Code).With("pane_tail", r.tail(p.Screen.Lines))
}

func rfc3339(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// gateOf finds, in the journal of a running operation, the gate that is offered.
func gateOf(steps []OperationStep) *StagedGate {
	for i := range steps {
		if g := steps[i].Gate(); g != nil {
			return g
		}
	}
	return nil
}

// Gate is what the successor of a handover asks a person while this step waits for it;
// nil = nothing.
func (s OperationStep) Gate() *StagedGate {
	var ev Evidence
	if s.Kind != StepReady || s.State != StepStarted || json.Unmarshal(s.Evidence, &ev) != nil || ev.Str("session") == "" {
		return nil
	}
	g := StagedGate{Why: ev.Str("why"), Session: ev.Str("session")}
	g.Since, _ = time.Parse(time.RFC3339, ev.Str("since"))         // zero: not known
	g.Until, _ = time.Parse(time.RFC3339, ev.Str("offered_until")) // likewise
	return &g
}

// Words says what waits and where a person gets to it.
func (g *StagedGate) Words(seat string, zone *time.Location) string {
	return "the successor waits at a gate: " + g.Why + "; `rig attach " + seat + "` leads there, until " + g.Until.In(zone).Format("15:04:05")
}

func (r *run) notReady(l *launched, s Step, limit time.Duration) (Evidence, error) {
	why := l.readiness.Why
	if why == "" {
		why = "no sign of readiness"
	}
	return Evidence{"pane_tail": r.tail(l.screen)}, Errorf(CodeNotReady, "not ready after %s: %s", limit, why).On("launch", s.Seat).
		WithHint("raise readiness_timeout_ms in the spec, or look at the client by hand").With("pane_tail", r.tail(l.screen))
}

func (r *run) occupant(ctx context.Context, s Step) (Seat, Runtime, *launched, error) {
	l, err := r.launch(s)
	if err != nil {
		return Seat{}, nil, nil, err
	}
	seat, err := r.seatRow(ctx, s)
	if err != nil {
		return Seat{}, nil, nil, err
	}
	rt, err := r.e.runtime(seat.Runtime)
	return seat, rt, l, err
}

// tail gives the last lines of a screen that hold anything, at most twelve, with
// native ids hidden. What is kept of a screen goes through run.tail.
func tail(screen []string) []string {
	var out []string
	for i := len(screen) - 1; i >= 0 && len(out) < 12; i-- {
		if line := strings.TrimRight(screen[i], " "); line != "" {
			out = append([]string{line}, out...)
		}
	}
	return hideIDs(out)
}

// tail is the end of a screen as it goes into evidence, without secrets.
func (r *run) tail(screen []string) []string {
	return r.e.redactScreen(tail(screen))
}

// doIdentify reads the native id of the new occupant from the client's own
// files. At a gate there is nothing to read yet. A fork must be proven; a resume
// must be proven to be the recorded conversation.
func doIdentify(ctx context.Context, r *run, s Step) (Evidence, error) {
	seat, rt, l, err := r.occupant(ctx, s)
	if err != nil {
		return nil, err
	}
	st, err := r.start(s)
	if err != nil {
		return nil, err
	}
	defer r.sight().forget(l.ref.Pane)
	if l.readiness.State == ReadyGate {
		if _, resume := st.Start.(StartResume); !resume { // a stored token outlives a start that needs a person
			l.session.Token = ResumeToken{}
		}
		return Evidence{"proven": false, "why": "it waits at a gate, so no id is proven yet"}, nil
	}
	wait, cancel := context.WithTimeout(ctx, r.e.d.Config.IdentifyWait)
	defer cancel()
	l.glance.now = true // what proved that it is ready mostly names it too
	for {
		p, err := r.probeOf(wait, s, seat, l)
		if err != nil && wait.Err() == nil {
			return nil, err
		}
		if err == nil {
			if err := r.endedStart(s, p); err != nil {
				if !l.glance.fresh() {
					l.glance.spent()
					continue
				}
				return Evidence{"proven": false}, err
			}
			l.identity, l.screen = rt.Identify(ctx, p), p.Screen.Lines
			if _, fresh := st.Start.(StartFresh); fresh && l.identity.Proven && r.hadBefore(ctx, seat, l) {
				l.identity = Identity{Why: "what was found is the conversation of an earlier occupant"}
			}
		}
		if l.identity.Proven || wait.Err() != nil {
			break
		}
	}
	return r.judgeIdentity(s, st, l)
}

// hadBefore reports whether the conversation that was found is on record as that of
// another occupant of the seat: a fresh start has one of its own. What cannot be read
// counts as had: nothing is stored on a guess.
func (r *run) hadBefore(ctx context.Context, seat Seat, l *launched) bool {
	var all []Session
	err := r.e.d.Store.Read(ctx, func(tx Reader) (err error) {
		all, err = tx.Sessions(seat.ID)
		return err
	})
	return err != nil || slices.ContainsFunc(all, func(s Session) bool {
		return s.ID != l.session.ID && SameNativeID(s.Token.Reveal(), l.identity.Token.Reveal())
	})
}

// judgeIdentity compares what was found with what was asked for.
func (r *run) judgeIdentity(s Step, st seatStart, l *launched) (Evidence, error) {
	id := l.identity
	ev := Evidence{"proven": id.Proven, "why": id.Why, "source": string(id.Provenance), "token": id.Token.String()}
	switch start := st.Start.(type) {
	case StartFork:
		if !id.Proven || id.Token.Empty() || SameNativeID(id.Token.Reveal(), start.Parent.Reveal()) {
			return ev, forkUnproven(s, id, r.tail(l.screen))
		}
	case StartResume:
		if !id.Proven || id.Token.Reveal() != start.Token.Reveal() {
			l.session.Startup = StartupAttention
			l.session.StartupNote = "the running conversation was not proven to be the recorded one: " + id.Why
			ev["resumed"] = false
			return ev, nil
		}
		ev["resumed"] = true
	case StartFresh:
		if s.Args["must"] == "prove" && !id.Proven {
			return ev, Errorf("identity_unproven", "the successor's own native id was not proven: %s", orNone(id.Why)).On("handover", s.Seat).
				WithHint("the incumbent is untouched; try again")
		}
	}
	if id.Proven {
		l.session.Token, l.session.Provenance, l.session.LastVerified = id.Token, id.Provenance, r.e.d.Clock.Now()
	} else {
		l.session.Token, l.session.Provenance = ResumeToken{}, ProvenanceNone
	}
	return ev, nil
}
