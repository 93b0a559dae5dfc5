package tui

import (
	"cmp"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// overlay is a dialog above the screen. The topmost one has the keys.
type overlay interface {
	scope(m *Model) scope
	// typing says that printable keys are text now.
	typing() bool
	// key takes keys that are text, or that the registry does not know.
	key(m *Model, k tea.KeyPressMsg) tea.Cmd
	paste(m *Model, text string) tea.Cmd
	// update takes answers of commands.
	update(m *Model, msg tea.Msg) tea.Cmd
	move(m *Model, d move) tea.Cmd
	// moving says what the keys of motion do in it, "" when there is nothing to go
	// through.
	moving(m *Model) string
	// size is the most that the dialog takes of a screen of cols by rows. Its place
	// follows from that alone.
	size(cols, rows int) (w, h int)
	// view draws the framed dialog for a screen of cols by rows; every line is
	// equally wide.
	view(m *Model, cols, rows int) []string
}

func (m *Model) top() overlay {
	if n := len(m.overlays); n > 0 {
		return m.overlays[n-1]
	}
	return nil
}

// push opens a dialog; its keys stand in the footer, so what was said before goes.
func (m *Model) push(o overlay) {
	m.toast = toast{}
	m.overlays = append(m.overlays, o)
}

// closeTop closes the topmost dialog.
func (m *Model) closeTop() tea.Cmd {
	n := len(m.overlays)
	if n == 0 {
		return nil
	}
	top := m.overlays[n-1]
	m.overlays = m.overlays[:n-1]
	if s, ok := top.(*sender); ok {
		return s.closed(m)
	}
	return nil
}

// drop closes one dialog wherever it is.
func (m *Model) drop(o overlay) {
	kept := m.overlays[:0]
	for _, other := range m.overlays {
		if other != o {
			kept = append(kept, other)
		}
	}
	m.overlays = kept
}

// onKey sends a key where it belongs: text into a field, everything else through
// the registry. A key that means nothing on any screen does nothing.
func (m *Model) onKey(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	if m.toast.stays || m.toast.tone == toneNeed { // a refusal is answered by the next key, and the footer's keys come back
		m.toast = toast{}
	}
	top := m.top()
	if w := m.wizard(); w != nil {
		if cmd, soon := w.early(m, k); soon {
			return cmd
		}
	}
	text := k.Key().Text != "" && printable(k.Key().Text)
	if text && (top != nil && top.typing() || top == nil && m.typing != nil) {
		return m.onText(top, k)
	}
	if a := m.reg.find(m.scope(), name); a != nil {
		if a.id != "quit" && a.id != "quit-now" {
			m.quitting = false
		}
		if why := a.why(m); why != "" {
			return m.say(toneNeed, false, why)
		}
		return a.run(m)
	}
	if top == nil && m.typing == nil {
		return m.notHere(name)
	}
	return m.onText(top, k)
}

// notHere names the screens on which a key does something.
func (m *Model) notHere(key string) tea.Cmd {
	a := m.reg.find(scopeScreens, key)
	if a == nil {
		return nil
	}
	return m.say(toneNeed, false, keyWord(key)+" ("+strings.ToLower(cmp.Or(a.text(m), a.label))+") is a key of "+a.screens())
}

func (m *Model) onText(top overlay, k tea.KeyPressMsg) tea.Cmd {
	switch {
	case top != nil:
		return top.key(m, k)
	case m.typing != nil:
		if m.typing.key(k) {
			return m.setFilter(m.typing.text())
		}
	}
	return nil
}

// onPaste puts pasted text into the field that has the keys. It never presses a
// key: a pasted line break confirms nothing.
func (m *Model) onPaste(text string) tea.Cmd {
	if top := m.top(); top != nil {
		return top.paste(m, text)
	}
	if m.typing != nil {
		m.typing.insert(text)
		return m.setFilter(m.typing.text())
	}
	return nil
}

// maxAhead bounds what a key held from the start leaves to be done.
const maxAhead = 64

// move moves the cursor of what has the keys. What is pressed before the first
// picture is done in it.
func (m *Model) move(d move) tea.Cmd {
	if top := m.top(); top != nil {
		return top.move(m, d)
	}
	if m.fleet == nil {
		if len(m.ahead) < maxAhead {
			m.ahead = append(m.ahead, d)
		}
		return nil
	}
	return m.screens[m.cur].move(m, d)
}

func (m *Model) onWheel(e tea.Mouse) tea.Cmd {
	switch e.Button {
	case tea.MouseWheelUp:
		return m.move(move{by: -3})
	case tea.MouseWheelDown:
		return m.move(move{by: 3})
	default:
		return nil
	}
}

// onClick selects the row under the pointer; a click on the row that is selected
// already opens it, as Enter does.
func (m *Model) onClick(e tea.Mouse) tea.Cmd {
	if m.top() != nil || m.typing != nil || e.Button != tea.MouseLeft || m.fleet == nil {
		return nil
	}
	s := m.screens[m.cur]
	switch s.at(m, e.X, e.Y-m.headRows()) {
	case clickNone:
		return nil
	case clickOther:
		return s.move(m, move{}) // it was moved to: what is shown of the row may have to be read
	case clickCursor:
	}
	for _, a := range m.reg.in(s.info().in) {
		if !a.opens {
			continue
		}
		if why := a.why(m); why != "" {
			return m.say(toneNeed, false, why)
		}
		return a.run(m)
	}
	return nil
}

func (m *Model) toggleMouse() tea.Cmd {
	m.mouse = !m.mouse
	if m.mouse {
		return m.say(toneText, false, "mouse on: hold Shift to select text")
	}
	return m.say(toneText, false, "mouse off: the terminal selects text")
}
