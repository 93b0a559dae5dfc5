package tui

import (
	"cmp"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rig/engine"
)

func (m *Model) whyNoJump() string {
	s := m.here()
	switch {
	case s.seat == nil && m.cur == screenFleet && s.rig != nil:
		return "" // folds
	case s.seat == nil && m.cutOff(s.op) != nil:
		return "there is no pane to go to: " + m.reg.hint("resolve") + " opens the wizard that closes the operation"
	case s.seat == nil:
		return "put the cursor on a seat first"
	case s.seat.Pane == "" && m.fleet.Live:
		return clean(s.seat.Address) + " has no pane: it is " + lookOf(s.seat).word
	}
	return ""
}

// jumpWord is the label of the key that jumps; on a rig or a pod it folds.
func (m *Model) jumpWord() string {
	if s := m.here(); s.seat == nil && s.rig != nil && m.cur == screenFleet {
		return "fold"
	}
	return "jump"
}

// jump goes into the seat's pane. It changes nothing on record. On a rig or pod
// it folds.
func (m *Model) jump() tea.Cmd {
	s := m.here()
	if s.seat == nil {
		if f, ok := m.screens[m.cur].(*fleetScreen); ok {
			if r, ok := f.row(); ok {
				return f.fold(m, !f.folded[r.key])
			}
		}
		return nil
	}
	c, ctx, id := m.c, m.ctx, s.seat.ID
	return func() tea.Msg {
		j, err := c.Jump(ctx, id)
		return jumpMsg{id, j, err}
	}
}

func (m *Model) whyNoPopup() string {
	s := m.here()
	switch {
	case m.opt.Popup == nil:
		return cmp.Or(m.opt.NoPopup, "popups are not possible here") + ": " + m.reg.hint("jump") + " goes into the pane"
	case s.seat == nil:
		return "put the cursor on a seat first"
	}
	return m.whyNoJump()
}

// popup shows the seat's pane over the console. The console goes on below it.
func (m *Model) popup() tea.Cmd {
	seat := m.here().seat
	c, ctx, id, name, open := m.c, m.ctx, seat.ID, clean(seat.Address), m.opt.Popup
	return func() tea.Msg {
		j, err := c.Jump(ctx, id)
		if err == nil && len(j.Popup) == 0 {
			return sayMsg{toneNeed, cmp.Or(j.NoPopup, "tmux opens no popup here")}
		}
		if err == nil {
			err = open(ctx, j.Popup)
		}
		if err != nil {
			return sayMsg{toneBad, "no popup: " + errorText(err)}
		}
		return sayMsg{toneText, "back from " + name}
	}
}

// onJump does what the engine said: switch this client, ask which of several, or
// attach and come back.
func (m *Model) onJump(msg jumpMsg) tea.Cmd {
	j := msg.jump
	switch {
	case msg.err != nil:
		return m.fail(msg.err)
	case j.Inside && j.Client != "":
		return m.switchTo(msg.seat, j.Client)
	case j.Inside || len(j.Clients) > 0 && len(j.Argv) == 0:
		return m.askClient(msg.seat, j.Clients)
	case len(j.Argv) == 0:
		return m.say(toneBad, true, "there is no way into this pane from here; rig attach "+m.addressOf(msg.seat)+" in another terminal")
	case m.opt.Attach == nil:
		return m.say(toneNeed, true, "type in another terminal: "+strings.Join(j.Argv, " "))
	}
	name := m.addressOf(msg.seat)
	return tea.Exec(m.opt.Attach(j.Argv), func(err error) tea.Msg {
		if err != nil {
			return sayMsg{toneBad, "the attach to " + name + " failed: " + err.Error() + " — rig attach " + name + " says more"}
		}
		return sayMsg{toneText, "back from " + name}
	})
}

func (m *Model) switchTo(seat, client string) tea.Cmd {
	c, ctx, name, popup := m.c, m.ctx, m.addressOf(seat), m.opt.InPopup
	return func() tea.Msg {
		if err := c.SwitchClient(ctx, seat, client); err != nil {
			return sayMsg{toneBad, errorText(err)}
		}
		if popup {
			return tea.Quit()
		}
		return sayMsg{toneText, "this terminal went to " + name + "; your tmux prefix and L come back"}
	}
}

// askClient lists the terminals on the server; none of them is chosen for the
// operator.
func (m *Model) askClient(seat string, clients []engine.Client) tea.Cmd {
	var items []pickItem
	for _, cl := range clients {
		if cl.Control {
			continue
		}
		items = append(items, pickItem{
			text: clean(cl.Name), note: "in " + clean(cl.Session) + ", " + itoa(cl.Width) + "x" + itoa(cl.Height),
			run: func(m *Model) tea.Cmd { return m.switchTo(seat, cl.Name) },
		})
	}
	if len(items) == 0 {
		return m.say(toneBad, true, "no terminal is attached to that tmux server: rig attach "+m.addressOf(seat))
	}
	m.push(newPicker("Several terminals are attached: which one goes to "+m.addressOf(seat)+"?", false, items))
	return nil
}

func (m *Model) addressOf(seatID string) string {
	if s := m.seats[seatID]; s != nil {
		return clean(s.Address)
	}
	return "the seat"
}
