package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// screenActions has one action for each screen that exists; the numbers are the
// places the screens keep, also while some are not there.
func screenActions() []*action {
	var out []*action
	for _, s := range screenList() {
		out = append(out, &action{
			id: "screen-" + s.slug, keys: []string{itoa(s.place)}, label: s.name, help: s.name + ": " + s.about, group: groupScreen,
			in: scopeScreens, disabled: s.disabled, run: func(m *Model) tea.Cmd { return m.show(s.id) },
		})
	}
	return append(out, &action{
		id: "screen-last", keys: []string{"-"}, help: "the screen before this one", group: groupScreen,
		in: scopeScreens, run: (*Model).lastScreen,
	})
}

// verbActions has one action for each wizard.
func verbActions() []*action {
	var out []*action
	for _, d := range wizardDefs() {
		out = append(out, &action{
			id: strings.ReplaceAll(string(d.verb), " ", "-"), keys: d.keys, label: d.label, help: d.about, group: groupVerb, in: d.in, foot: d.foot, write: true,
			disabled: func(m *Model) string {
				switch {
				case m.fleet == nil:
					return "the record is still being read"
				case d.disabled == nil:
					return ""
				}
				return d.disabled(m)
			},
			run: func(m *Model) tea.Cmd { return m.openWizard(d) },
		})
	}
	return append(out, &action{
		id: "undo", keys: []string{"u"}, label: "undo", help: "undo the operation under the cursor, or the last one of the seat under it that still can be undone", group: groupVerb,
		in: scopeScreens, foot: 27, write: true, disabled: (*Model).whyNoUndo, run: (*Model).undo,
	})
}

func dialogActions() []*action {
	return []*action{
		{
			id: "filter-keep", keys: []string{"enter"}, label: "keep", help: "keep the filter and go back to the list", group: groupDialog,
			in: scopeFilter, foot: 10, run: (*Model).keepFilter,
		},
		{
			id: "filter-clear", keys: []string{"esc"}, label: "clear", help: "clear the filter", group: groupDialog,
			in: scopeFilter, foot: 20, run: (*Model).clearFilter,
		},
		{
			id: "pick", keys: []string{"enter"}, label: "choose", help: "do what is selected", group: groupDialog,
			in: scopePick | scopeChoose, foot: 10, run: (*Model).pick,
		},
		{
			id: "pick-down", keys: []string{"down", "ctrl+n"}, label: "move", help: "next in a search list", group: groupDialog,
			in: scopePick, foot: footMove, pair: "pick-up", run: func(m *Model) tea.Cmd { return m.move(move{by: 1}) }, word: (*Model).moveWord,
		},
		{
			id: "pick-up", keys: []string{"up", "ctrl+p"}, help: "previous in a search list", group: groupDialog,
			in: scopePick, run: func(m *Model) tea.Cmd { return m.move(move{by: -1}) },
		},
		{
			id: "close", keys: []string{"esc"}, label: "close", help: "close the dialog", group: groupDialog,
			in: scopePick | scopeChoose | scopeRead | scopeSend, foot: 80, run: (*Model).closeTop,
		},
		{
			id: "send-now", keys: []string{"enter"}, label: "send", help: "send the message that is shown", group: groupDialog,
			in: scopeSend, foot: 10, disabled: (*Model).whyNoSendNow, run: (*Model).sendNow,
		},
	}
}

// with runs an action on the wizard that is open.
func with(f func(w *wizard, m *Model) tea.Cmd) func(m *Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		if w := m.wizard(); w != nil {
			return f(w, m)
		}
		return nil
	}
}

func askActions() []*action {
	return []*action{
		{
			id: "field-next", keys: []string{"tab"}, label: "next field", help: "next question", group: groupDialog,
			in: scopeAsk | scopeText, foot: 20, run: with(func(w *wizard, m *Model) tea.Cmd { return w.step(m, 1) }), word: (*Model).fieldWord,
		},
		{
			id: "field-previous", keys: []string{"shift+tab"}, help: "previous question", group: groupDialog,
			in: scopeAsk | scopeText, run: with(func(w *wizard, m *Model) tea.Cmd { return w.step(m, -1) }),
		},
		{
			id: "choice-next", keys: []string{"down", "ctrl+n"}, label: "choice", help: "next choice, then next question", group: groupDialog,
			in: scopeAsk, foot: footMove, pair: "choice-previous", run: with(func(w *wizard, m *Model) tea.Cmd { return w.walk(m, 1) }), word: (*Model).choiceWord,
		},
		{
			id: "choice-previous", keys: []string{"up", "ctrl+p"}, help: "previous choice, then previous question", group: groupDialog,
			in: scopeAsk, run: with(func(w *wizard, m *Model) tea.Cmd { return w.walk(m, -1) }),
		},
		{
			id: "field-toggle", keys: []string{"space"}, label: "switch", help: "switch the choice on or off", group: groupDialog,
			in: scopeAsk, foot: 25, disabled: (*Model).whyNoToggle, run: with(func(w *wizard, m *Model) tea.Cmd { return w.toggle(m) }),
		},
		{
			id: "field-again", keys: []string{"ctrl+r"}, label: "look again", help: "look again for what can be chosen", group: groupDialog,
			in: scopeAsk, foot: 30, disabled: (*Model).whyNoChoices, run: with((*wizard).lookForChoices),
		},
		{
			id: "refusal-down", keys: []string{"pgdown"}, label: "more", help: "further down in why there is no plan", group: groupDialog,
			in: scopeAsk, foot: 15, disabled: (*Model).whyNoLeaf, run: with(func(w *wizard, m *Model) tea.Cmd { return w.move(m, move{page: 1}) }),
		},
		{
			id: "refusal-up", keys: []string{"pgup"}, help: "back up in why there is no plan", group: groupDialog,
			in: scopeAsk, disabled: (*Model).whyNoLeaf, run: with(func(w *wizard, m *Model) tea.Cmd { return w.move(m, move{page: -1}) }),
		},
		{
			id: "plan", keys: []string{"enter"}, label: "plan", help: "make the plan; nothing is changed", group: groupDialog,
			in: scopeAsk, foot: 10, run: with((*wizard).answered),
		},
	}
}

func applyActions() []*action {
	return []*action{
		{
			id: "apply", keys: []string{"a"}, label: "apply…", help: "go on to the last question", group: groupDialog,
			in: scopePreview, foot: 10, disabled: (*Model).whyNoApply, run: with((*wizard).ask),
		},
		{
			id: "replan", keys: []string{"r"}, label: "plan again", help: "make the plan again from what is true now", group: groupDialog,
			in: scopePreview, foot: 30, run: with((*wizard).replan),
		},
		{
			id: "leave-out", keys: []string{"x"}, label: "leave out", help: "plan a batch again without the seats that something stands in the way of", group: groupDialog,
			in: scopePreview, foot: 20, disabled: (*Model).whyNoLeaveOut, run: with((*wizard).leaveOut),
		},
		{
			id: "force", keys: []string{"f"}, label: "force", help: "plan it also over the guard that protects what is used, or no longer; asks for the word", group: groupDialog,
			in: scopePreview, foot: 40, disabled: (*Model).whyNoForce, run: with((*wizard).force), word: (*Model).forceWord,
		},
		{
			id: "confirm", keys: []string{"y"}, label: "yes, do it", help: "apply the plan that was shown", group: groupDialog,
			in: scopeConfirm, foot: 10, disabled: (*Model).whyNotArmed, run: with((*wizard).confirm),
		},
		{
			id: "confirm-name", keys: []string{"enter"}, label: "do it", help: "apply the plan, when the name is typed", group: groupDialog,
			in: scopeName, foot: 10, disabled: (*Model).whyNotArmed, run: with((*wizard).confirm),
		},
		{
			id: "refuse", keys: []string{"n"}, label: "no", help: "back to the plan", group: groupDialog,
			in: scopeConfirm, foot: 20, run: with((*wizard).back),
		},
		{
			id: "wizard-back", keys: []string{"esc"}, label: "back", help: "one step back in the wizard; the first step closes it", group: groupDialog,
			in: scopeAsk | scopeText | scopePlan | scopePreview | scopeConfirm | scopeName, foot: 80, run: with((*wizard).back),
		},
		{
			id: "run-close", keys: []string{"esc"}, label: "close view", help: "close the view; the operation goes on and stays on Operations", group: groupDialog,
			in: scopeRun, foot: 10, run: (*Model).closeTop,
		},
		{
			id: "compact-cancel", keys: []string{"x"}, label: "cancel", help: "cancel the compaction under way, until /compact is typed", group: groupVerb,
			in: scopeRun | scopeSeats, foot: 25, write: true, disabled: (*Model).whyNoCancel, run: (*Model).cancelCompact,
		},
		{
			id: "receipt-close", keys: []string{"esc", "enter"}, label: "close", help: "close the receipt; it stays on Operations", group: groupDialog,
			in: scopeReceipt, foot: 10, disabled: (*Model).whyNotArmed, run: (*Model).closeTop,
		},
	}
}
