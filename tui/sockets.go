package tui

import (
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"rig/engine"
)

// openSockets shows where the seats are: every tmux server that holds some, as the
// picture has it while it is open.
func (m *Model) openSockets() tea.Cmd {
	m.push(&reader{title: "Where the seats are", live: socketLines})
	return nil
}

func (m *Model) whyNoSockets() string {
	if m.fleet == nil || len(m.fleet.Sockets) == 0 {
		return "the record is still being read"
	}
	return ""
}

// lookServer gives the look of a tmux server.
func lookServer(p engine.Presence) look {
	switch p {
	case engine.Present:
		return look{"●", "*", "up", toneBusy}
	case engine.Absent:
		return look{"∅", "%", "no server", toneBad}
	case engine.Unknown:
	}
	return lookUnknown
}

func socketLines(m *Model) []readLine {
	var out []readLine
	if m.fleet == nil {
		return []readLine{{"", "reading the record", toneDim}}
	}
	inside := false
	for i := range m.fleet.Sockets {
		v := &m.fleet.Sockets[i]
		inside = inside || v.Console
		if i > 0 {
			out = append(out, readLine{})
		}
		out = append(out, m.serverLines(v)...)
	}
	if !inside {
		out = append(out, readLine{}, readLine{"", "This console itself runs outside tmux.", toneDim})
	}
	return out
}

// serverLines is one server: what it is, and the seats that are bound there.
func (m *Model) serverLines(v *engine.SocketView) []readLine {
	l := lookServer(v.State)
	if v.State == engine.Absent && len(v.Seats) == 0 {
		l.tone, l.shape, l.ascii, l.word = toneOff, "□", "-", "none yet"
	}
	out := []readLine{{l.text(m.brush.g), clean(v.Socket), toneStrong}}
	add := func(label, text string, k tone) { out = said(out, "  "+label, text, k) }
	label := "what"
	for _, role := range serverRoles(v) {
		add(label, role, toneText)
		label = ""
	}
	if v.State != engine.Present || len(v.Seats) > 0 {
		add("because", clean(v.Why), l.tone)
	}
	if v.Epoch != "" {
		add("process", "pid "+clean(v.Pid())+m.serverAge(v.Epoch), toneText)
		add("holds", engine.Counted(v.Panes, "pane")+freePanes(v.Free), toneText)
	}
	if v.Found > 0 {
		add("found", engine.Counted(v.Found, "session")+" by rig discover, not adopted", toneDim)
	}
	add("seats", seatCount(v), toneText)
	out = append(out, m.boundLines(v)...)
	if !v.Ours && len(v.Seats) > v.Count(engine.Absent) {
		add("go there", "RIG_TMUX_SOCKET="+clean(v.Socket)+" rig", toneAccent)
	}
	return out
}

func serverRoles(v *engine.SocketView) []string {
	var out []string
	if v.Ours {
		out = append(out, "this console works with it; what it launches goes here")
	} else if len(v.Seats) > 0 {
		out = append(out, "another server: seen from here, never changed from here")
	}
	if v.Console {
		out = append(out, "this console runs in it")
	}
	return out
}

// serverAge reads the second half of an epoch, the server's start in Unix seconds.
func (m *Model) serverAge(e engine.Epoch) string {
	_, start, _ := strings.Cut(string(e), "-")
	secs, err := strconv.ParseInt(start, 10, 64)
	if err != nil || secs <= 0 {
		return ""
	}
	at := time.Unix(secs, 0)
	return ", since " + at.In(m.opt.zone()).Format("2 Jan 15:04") + ", " + ago(m.now, at)
}

func freePanes(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return ", 1 of no seat"
	}
	return ", " + itoa(n) + " of no seat"
}

func seatCount(v *engine.SocketView) string {
	if len(v.Seats) == 0 {
		return "none"
	}
	text := itoa(len(v.Seats))
	add := func(n int, word string) {
		switch n {
		case 0:
		case len(v.Seats):
			text += ", all " + word
		default:
			text += ", " + itoa(n) + " " + word
		}
	}
	add(v.Count(engine.Absent), "lost")
	add(v.Count(engine.Unknown), "not known")
	return text
}

// boundLines names the seats of a server, a line or more for each rig and state.
func (m *Model) boundLines(v *engine.SocketView) []readLine {
	type group struct {
		rig   string
		state engine.Presence
	}
	var order []group
	names := map[group][]string{}
	for _, s := range v.Seats {
		seat, rig, _ := strings.Cut(s.Seat, "@")
		g := group{rig, s.State}
		if names[g] == nil {
			order = append(order, g)
		}
		name := joinWords(" ", clean(seat), clean(string(s.Pane)))
		if s.Adopted {
			name += " (adopted)"
		}
		names[g] = append(names[g], name)
	}
	var out []readLine
	for _, g := range order {
		word, k := "", toneText
		switch g.state {
		case engine.Absent:
			word, k = "lost: ", toneBad
		case engine.Unknown:
			word, k = "not known: ", toneUnknown
		case engine.Present:
		}
		out = append(out, readLine{"  " + clean(g.rig), word + strings.Join(names[g], ", "), k})
	}
	return out
}

// elsewhere reports whether a seat is bound on a server that is not the one this
// console works with.
func (m *Model) elsewhere(seatID string) bool {
	for i := range m.fleet.Sockets {
		v := &m.fleet.Sockets[i]
		for _, s := range v.Seats {
			if s.SeatID == seatID {
				return !v.Ours
			}
		}
	}
	return false
}
