package tui

import (
	tea "charm.land/bubbletea/v2"
)

// Headings of the help.
const (
	groupMove   = "Move"
	groupView   = "Look"
	groupAct    = "Act on a seat"
	groupVerb   = "Change things"
	groupScreen = "Screens"
	groupDialog = "In dialogs"
)

// allActions is the registry in the order of the help. It is made anew for each
// console, so that rebinding changes nothing shared.
func allActions() []*action {
	var out []*action
	out = append(out, moveActions()...)
	out = append(out, lookActions()...)
	out = append(out, seatActions()...)
	out = append(out, verbActions()...)
	out = append(out, screenActions()...)
	out = append(out, dialogActions()...)
	out = append(out, paperActions()...)
	out = append(out, askActions()...)
	out = append(out, textActions()...)
	return append(out, applyActions()...)
}

// Places of the keys that move in the footer: behind all others, so that they are
// the first to go where room is short.
const (
	footMoves = 90 + iota
	footMove
	footFold
	footPage
	footMatch
)

func motion(id string, keys []string, help string, d move) *action {
	return &action{
		id: id, keys: keys, help: help, group: groupMove, in: scopeScreens | scopeRead | scopePaper | scopeChoose | scopePreview | scopeReceipt | scopeRun,
		run: func(m *Model) tea.Cmd { return m.move(d) },
	}
}

// inFooter gives a motion its place in the footer, together with its counterpart.
func (a *action) inFooter(foot int, label, pair string, word func(m *Model) string) *action {
	a.foot, a.label, a.pair, a.word = foot, label, pair, word
	return a
}

func moveActions() []*action {
	return []*action{
		motion("line-down", []string{"j", "down"}, "next line", move{by: 1}).inFooter(footMove, "move", "line-up", (*Model).moveWord),
		motion("line-up", []string{"k", "up"}, "previous line", move{by: -1}),
		motion("page-down", []string{"ctrl+d", "pgdown"}, "half a page down", move{page: 1}).inFooter(footPage, "page", "page-up", (*Model).pageWord),
		motion("page-up", []string{"ctrl+u", "pgup"}, "half a page up", move{page: -1}),
		motion("top", []string{"g", "home"}, "first line", move{to: -1}),
		motion("bottom", []string{"G", "end"}, "last line", move{to: 1}),
		{
			id: "fold", keys: []string{"h", "left"}, label: "fold", help: "fold the rig or pod; on the wall, one pane left", group: groupMove,
			in: scopeFleet | scopeWall | scopeRestore, foot: footFold, pair: "unfold", run: func(m *Model) tea.Cmd { return m.fold(true) }, word: (*Model).foldWord,
		},
		{
			id: "unfold", keys: []string{"l", "right"}, help: "unfold it; on the wall, one pane right", group: groupMove,
			in: scopeFleet | scopeWall | scopeRestore, run: func(m *Model) tea.Cmd { return m.fold(false) },
		},
		{
			id: "next-need", keys: []string{"w"}, label: "next need", help: "go to the next that waits for a person: a seat, or another item of Attention", group: groupMove,
			in: scopeScreens, foot: 26, disabled: (*Model).whyNoNeed, run: (*Model).nextNeed,
		},
		{
			id: "next-match", keys: []string{"n"}, label: "match", help: "next line that matches the filter", group: groupMove,
			in: scopeScreens, foot: footMatch, pair: "previous-match", disabled: (*Model).whyNoFilter, run: func(m *Model) tea.Cmd { return m.match(1) },
		},
		{
			id: "previous-match", keys: []string{"N"}, help: "previous line that matches the filter", group: groupMove,
			in: scopeScreens, disabled: (*Model).whyNoFilter, run: func(m *Model) tea.Cmd { return m.match(-1) },
		},
	}
}

func lookActions() []*action {
	return []*action{
		{
			id: "filter", keys: []string{"/"}, label: "filter", help: "show only lines that hold a text", group: groupView,
			in: scopeScreens, foot: 34, run: (*Model).openFilter, word: (*Model).filterWord,
		},
		{
			id: "palette", keys: []string{":"}, label: "commands", help: "find any command, screen or seat by name", group: groupView,
			in: scopeScreens, foot: 60, run: (*Model).openPalette,
		},
		{
			id: "help", keys: []string{"?"}, label: "help", help: "every key of this screen, searchable", group: groupView,
			in: scopeScreens | scopePreview | scopeReceipt | scopeRead | scopePaper | scopeChoose, foot: 65, run: (*Model).openHelp,
		},
		{
			id: "side", keys: []string{"tab"}, label: "pane/facts", help: "switch between the live pane and the facts of the seat", group: groupView,
			in: scopeFleet | scopeSeat | scopeAttention, foot: 55, run: (*Model).nextSide, word: (*Model).sideWord,
		},
		{
			id: "copy", keys: []string{"y"}, label: "copy", help: "copy the address, command or value under the cursor", group: groupView,
			in: scopeScreens | scopeRead | scopePreview | scopeReceipt, foot: 58, disabled: (*Model).whyNoCopy, run: (*Model).copySubject,
		},
		{
			id: "explain", keys: []string{"e"}, label: "explain", help: "where the fact under the cursor comes from: source, rule, age, other evidence", group: groupView,
			in: scopeSeats, foot: 32, disabled: (*Model).whyNoSeat, run: (*Model).openExplain,
		},
		{
			id: "sockets", keys: []string{"M"}, label: "map of servers", help: "where the seats are: the tmux servers, whether they are up, and what each holds", group: groupView,
			in: scopeScreens, disabled: (*Model).whyNoSockets, run: (*Model).openSockets,
		},
		{
			id: "mouse", keys: nil, help: "switch the mouse on or off (off: the terminal selects text as usual)", group: groupView,
			in: scopeScreens, run: (*Model).toggleMouse,
		},
		{
			id: "back", keys: []string{"esc"}, label: "back", help: "one level back: filter, marks, then the screen before; never quits", group: groupView,
			in: scopeScreens, run: (*Model).back,
		},
		{
			id: "quit", keys: []string{"q"}, label: "quit", help: "leave the console from Fleet, elsewhere go there; seats and operations go on", group: groupView,
			in: scopeScreens, foot: 90, run: (*Model).quit, word: (*Model).quitWord,
		},
		{
			id: "quit-now", keys: []string{"ctrl+c"}, help: "leave the console from anywhere; seats and operations go on", group: groupView,
			in: scopeScreens | scopeDialogs | scopeFilter, run: func(m *Model) tea.Cmd { return m.leave("quit-now") },
		},
	}
}

func seatActions() []*action {
	return []*action{
		{
			id: "jump", keys: []string{"enter"}, label: "jump", help: "go into the seat's pane; on a rig or pod, fold it", group: groupAct,
			in: scopeSeats, foot: 10, opens: true, disabled: (*Model).whyNoJump, run: (*Model).jump, word: (*Model).jumpWord,
		},
		{
			id: "popup", keys: []string{"o"}, label: "popup", help: "open the seat's pane in a popup over this console, where tmux can", group: groupAct,
			in: scopeSeats, foot: 50, disabled: (*Model).whyNoPopup, run: (*Model).popup,
		},
		{
			id: "look-back", keys: []string{"t"}, label: "look back", help: "scrub back through the seat's screen around each change of its state", group: groupAct,
			in: scopeSeats, foot: 33, disabled: (*Model).whyNoSeat, run: (*Model).openTape,
		},
		{
			id: "inspect", keys: []string{"i"}, label: "details", help: "open the Seat screen of this seat", group: groupAct,
			in: scopeFleet | scopeAttention | scopePressure | scopeWall | scopeRestore, foot: 20, disabled: (*Model).whyNoSeat, run: (*Model).inspect,
		},
		{
			id: "send", keys: []string{"s"}, label: "send", help: "type a message into the seat, or into each marked one, and verify that it arrived", group: groupAct,
			in: scopeSeats, foot: 30, write: true, disabled: (*Model).whyNoSend, run: (*Model).openSend,
		},
		{
			id: "ack", keys: []string{"a"}, label: "acknowledge", help: "acknowledge the item, or take that back; other consoles see it", group: groupAct,
			in: scopeAttention, foot: 22, write: true, disabled: (*Model).whyNoItem, run: (*Model).ack,
		},
		{
			id: "resolve", keys: []string{"r"}, label: "resolve", help: "open the wizard that resolves the item, go where it is answered, or copy the line that does it", group: groupAct,
			in: scopeAttention, foot: 12, write: true, disabled: (*Model).whyNoResolve, run: (*Model).resolve,
		},
		{
			id: "snooze", keys: []string{"z"}, label: "snooze", help: "hide the item for a while", group: groupAct,
			in: scopeAttention, foot: 24, write: true, disabled: (*Model).whyNoItem, run: (*Model).openSnooze,
		},
		{
			id: "mark", keys: []string{"space"}, label: "mark", help: "mark the seat, or all seats of the rig or pod, for one action on many", group: groupAct,
			in: scopeFleet | scopePressure | scopeWall, foot: 52, disabled: (*Model).whyNoMark, run: (*Model).toggleMark,
		},
		{
			id: "mark-range", keys: []string{"v"}, help: "mark every seat from the last mark to here", group: groupAct,
			in: scopeFleet | scopePressure | scopeWall, disabled: (*Model).whyNoMark, run: (*Model).markRange,
		},
		{
			id: "open-operation", keys: []string{"enter"}, label: "journal", help: "go into the journal of the operation; there, the whole of a step", group: groupAct,
			in: scopeOps, foot: 10, opens: true, disabled: (*Model).whyNoRow, run: (*Model).openOperation, word: (*Model).operationWord,
		},
		{
			id: "open-image", keys: []string{"enter"}, label: "look inside", help: "go between the list and what is known of the image; inside, copy takes the spec", group: groupAct,
			in: scopeImages, foot: 10, opens: true, disabled: (*Model).whyNoRow, run: (*Model).openImage, word: (*Model).imageWord,
		},
		{
			id: "agent-image-sync", keys: nil, label: "sync agent images", help: "read the agent images and the folders of specs anew, and say what is there", group: groupAct,
			in: scopeScreens, disabled: (*Model).whyNoLibrary, run: (*Model).syncImages,
		},
		{
			id: "open-event", keys: []string{"enter"}, label: "open", help: "the whole event with its payload", group: groupAct,
			in: scopeEvents, foot: 10, opens: true, disabled: (*Model).whyNoRow, run: (*Model).openEvent,
		},
		{
			id: "follow", keys: []string{"f"}, label: "follow", help: "keep the cursor on the newest event, or stop doing so", group: groupAct,
			in: scopeEvents, foot: 20, run: (*Model).toggleFollow,
		},
		{
			id: "reload", keys: []string{"r"}, help: "read the list again", group: groupAct,
			in: scopeOps | scopeEvents | scopeSeat | scopeImages | scopeRestore, run: (*Model).reload,
		},
		{
			id: "open-restore", keys: []string{"enter"}, label: "open", help: "all that is known of the seat, the snapshot or the past restore", group: groupAct,
			in: scopeRestore, foot: 10, opens: true, disabled: (*Model).whyNoRow, run: (*Model).openRestoreRow,
		},
		{
			id: "restore-list", keys: []string{"tab"}, label: "next list", help: "go between what would come back, the snapshots and the past restores", group: groupView,
			in: scopeRestore, foot: 15, run: (*Model).nextRestoreTab,
		},
	}
}
