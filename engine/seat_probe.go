package engine

import "strconv"

// vacancy is what the probes of a seat's open rows and binding found. A row is
// found by its own evidence: panes that carry its tags, and its client's process.
type vacancy struct {
	live    []string // what runs, in words
	dead    []Pane   // kept panes whose process has ended
	unknown []string // what could not be told
	rows    []Session
}

// probeVacancy looks at every open row but those of the generation except (0 for
// all), and at the binding unless that generation is the bound one.
func (s *seatPlan) probeVacancy(except int64) vacancy {
	v := vacancy{}
	seen := map[PaneID]bool{}
	add := func(p Pane) {
		switch {
		case seen[p.ID]:
		case p.Dead:
			v.dead = append(v.dead, p)
			s.sharers(&v, p)
		default:
			v.live = append(v.live, "pane "+string(p.ID)+" of session "+p.Session+" runs")
		}
		seen[p.ID] = true
	}
	for _, row := range s.w.live[s.seat.ID] {
		if row.Generation == except {
			continue
		}
		v.rows = append(v.rows, row)
		for _, p := range s.w.inv.Panes {
			if s.w.inv.Server == Present && p.Seat == s.seat.ID && p.Gen == genTag(row.Generation) {
				add(p)
			}
		}
		s.probeClient(&v, row)
	}
	if s.bound && s.at.presence == Present && (except == 0 || except != s.seat.Generation) {
		add(s.at.pane)
	}
	return v
}

// probeClient asks whether the client of a row still runs, wherever its pane is.
// A row whose client was never reported is judged by its panes alone.
func (s *seatPlan) probeClient(v *vacancy, row Session) {
	pid, start := row.PID, row.PIDStart
	st, ok, err := s.e.d.Occupants.RunState(row.ID)
	switch {
	case err != nil:
		v.unknown = append(v.unknown, "the report of its client cannot be read: "+err.Error())
		return
	case ok && st.Exited:
		return
	case ok && pid == 0:
		pid, start = st.PID, st.PIDStart
	}
	if pid <= 0 || len(v.live) > 0 {
		return
	}
	now, alive, err := s.e.d.Procs.Start(pid)
	switch {
	case err != nil:
		v.unknown = append(v.unknown, "whether its client, process "+strconv.Itoa(pid)+", still runs cannot be told")
	case alive && (start == "" || now == start):
		v.live = append(v.live, "its client, process "+strconv.Itoa(pid)+", still runs")
	}
}

// sharers finds panes of somebody else in the session of a dead pane: ending the
// session would end them too.
func (s *seatPlan) sharers(v *vacancy, dead Pane) {
	for _, p := range s.w.inv.Panes {
		if p.Session == dead.Session && p.ID != dead.ID && !p.Dead {
			v.live = append(v.live, "pane "+string(p.ID)+" beside it in session "+p.Session+" runs")
		}
	}
}

// blockOccupied blocks what needs a seat in which nothing runs.
func (s *seatPlan) blockOccupied(v vacancy) {
	if s.w.inv.Server != Unknown && len(v.unknown) > 0 {
		s.block(CodeUnavailable, "nothing was changed; look again, or see `rig doctor`", "%s", v.unknown[0])
	}
	if len(v.live) == 0 {
		return
	}
	hint := "`rig seat stop " + s.address + " --reason …` ends it"
	if !s.live() {
		hint = "end it yourself, then try again: it is not in the seat's own live pane"
	}
	s.block(CodeSessionLive, hint, "%s", v.live[0])
}
