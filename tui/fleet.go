package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"rig/engine"
)

// fleetScreen is the home screen: rigs, their pods, their seats.
type fleetScreen struct {
	list   list
	rows   []fleetRow
	folded map[string]bool
	facts  bool // the side shows facts instead of the pane
}

type rowKind int

const (
	rowRig rowKind = iota
	rowPod
	rowSeat
)

// fleetRow is one line of the tree.
type fleetRow struct {
	kind rowKind
	key  string
	rig  *engine.RigView
	pod  engine.PodView
	seat *engine.SeatView
	n    int // seats of a pod
}

func newFleetScreen() *fleetScreen { return &fleetScreen{folded: map[string]bool{}} }

func (s *fleetScreen) info() screenInfo { return infoOf(screenFleet) }

// side is what the box beside a list shows: one switch for every screen.
func (m *Model) side() side {
	if s, ok := m.screens[screenFleet].(*fleetScreen); ok && s.facts {
		return sideFacts
	}
	return sidePane
}

func (m *Model) nextSide() tea.Cmd {
	if m.cur == screenSeat {
		m.seatScreen().facts = !m.seatScreen().facts
		return nil
	}
	if s, ok := m.screens[screenFleet].(*fleetScreen); ok {
		s.facts = !s.facts
	}
	return nil
}

func (s *fleetScreen) refresh(m *Model) tea.Cmd {
	s.rows = s.rows[:0]
	if m.fleet == nil {
		return nil
	}
	filter := m.filters[screenFleet]
	for i := range m.fleet.Rigs {
		s.addRig(&m.fleet.Rigs[i], filter)
	}
	first := len(s.list.keys) == 0
	keys := make([]string, len(s.rows))
	for i := range s.rows {
		keys[i] = s.rows[i].key
	}
	s.list.set(keys)
	if first { // start on a seat: that is what keys act on
		for i, r := range s.rows {
			if r.kind == rowSeat {
				s.list.cursor = i
				break
			}
		}
	}
	return nil
}

// addRig adds a rig with what of it is unfolded and matches.
func (s *fleetScreen) addRig(r *engine.RigView, filter string) {
	head := fleetRow{kind: rowRig, key: "rig/" + r.ID, rig: r}
	var body []fleetRow
	hits := 0
	for _, pod := range podsOf(r) {
		row := fleetRow{kind: rowPod, key: "pod/" + r.ID + "/" + pod.Name, rig: r, pod: pod}
		var seats []fleetRow
		for i := range r.Seats {
			seat := &r.Seats[i]
			if seat.Pod != pod.Name {
				continue
			}
			row.n++
			if seatMatches(seat, filter) {
				seats = append(seats, fleetRow{kind: rowSeat, key: "seat/" + seat.ID, rig: r, pod: pod, seat: seat})
			}
		}
		hits += len(seats)
		if len(seats) == 0 && (filter != "" || row.n == 0) {
			continue
		}
		body = append(body, row)
		if filter != "" || !s.folded[row.key] {
			body = append(body, seats...)
		}
	}
	if filter != "" && hits == 0 && !matches(filter, r.Name) {
		return
	}
	s.rows = append(s.rows, head)
	if filter != "" || !s.folded[head.key] {
		s.rows = append(s.rows, body...)
	}
}

// podsOf lists a rig's pods, with those that only its seats name.
func podsOf(r *engine.RigView) []engine.PodView {
	pods := append([]engine.PodView(nil), r.Pods...)
	known := map[string]bool{}
	for _, p := range pods {
		known[p.Name] = true
	}
	for i := range r.Seats {
		if p := r.Seats[i].Pod; !known[p] {
			known[p] = true
			pods = append(pods, engine.PodView{Name: p})
		}
	}
	return pods
}

// seatMatches reports whether a seat has the filter's words anywhere in what is
// shown of it; without a filter each has.
func seatMatches(s *engine.SeatView, filter string) bool {
	return filter == "" || matches(filter, s.Address, s.Label, string(s.Runtime), s.Role, lookOf(s).word, s.Activity.Why, string(s.Continuity), s.Model)
}

// matches reports whether every word of the filter is in one of the texts.
func matches(filter string, texts ...string) bool {
	all := strings.ToLower(strings.Join(texts, "\x00"))
	for _, word := range strings.Fields(strings.ToLower(filter)) {
		if !strings.Contains(all, word) {
			return false
		}
	}
	return true
}

// inOrder lists the seats of the Fleet from the top, also what is folded.
func (s *fleetScreen) inOrder(m *Model) []*engine.SeatView {
	var out []*engine.SeatView
	for _, seat := range m.fleet.Seats() {
		if seatMatches(seat, m.filters[screenFleet]) {
			out = append(out, seat)
		}
	}
	return out
}

func (s *fleetScreen) update(*Model, tea.Msg) tea.Cmd { return nil }

func (s *fleetScreen) settle(m *Model) { s.list.settle(m.divide(len(s.rows), true).listH - 1) }

func (s *fleetScreen) move(_ *Model, d move) tea.Cmd {
	s.list.move(d)
	return nil
}

func (s *fleetScreen) row() (fleetRow, bool) {
	if s.list.cursor < len(s.rows) {
		return s.rows[s.list.cursor], true
	}
	return fleetRow{}, false
}

// subject: a rig or a pod means its seats, under a filter those that match.
func (s *fleetScreen) subject(m *Model) subject {
	r, ok := s.row()
	if !ok {
		return subject{}
	}
	out := subject{rig: r.rig, copy: r.rig.Name}
	switch r.kind {
	case rowSeat:
		out.seat, out.copy, out.seats = r.seat, r.seat.Address, []string{r.seat.ID}
	case rowPod, rowRig:
		if r.kind == rowPod {
			out.pod = r.pod.Name
		}
		for i := range r.rig.Seats {
			seat := &r.rig.Seats[i]
			if (r.kind == rowRig || seat.Pod == r.pod.Name) && seatMatches(seat, m.filters[screenFleet]) {
				out.seats = append(out.seats, seat.ID)
			}
		}
	}
	return out
}

func (s *fleetScreen) panes(m *Model) []string {
	r, ok := s.row()
	if !ok || r.kind != rowSeat || m.divide(len(s.rows), true).sideW == 0 || s.facts {
		return nil
	}
	return []string{r.seat.ID}
}

// fold folds what the cursor is on, or its parent; false unfolds it.
func (s *fleetScreen) fold(m *Model, fold bool) tea.Cmd {
	r, ok := s.row()
	if !ok {
		return nil
	}
	key := r.key
	switch {
	case r.kind == rowSeat && fold:
		key = "pod/" + r.rig.ID + "/" + r.pod.Name
	case r.kind == rowPod && fold && s.folded[key]:
		key = "rig/" + r.rig.ID
	case r.kind == rowSeat:
		return nil
	}
	s.folded[key] = fold
	s.list.to(key)
	return s.refresh(m)
}

// reveal puts the cursor on a seat, unfolding what hides it.
func (s *fleetScreen) reveal(m *Model, id string) bool {
	seat := m.seats[id]
	if seat == nil {
		return false
	}
	delete(s.folded, "rig/"+seat.RigID)
	delete(s.folded, "pod/"+seat.RigID+"/"+seat.Pod)
	s.refresh(m)
	return s.list.to("seat/" + id)
}

func (s *fleetScreen) at(m *Model, x, y int) click {
	a := m.divide(len(s.rows), true)
	row := s.list.top + y - 1
	if x >= a.listW || y < 1 || y >= a.listH || row >= len(s.rows) {
		return clickNone
	}
	return s.list.click(row)
}
