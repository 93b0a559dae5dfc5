package tuitest

import (
	"fmt"
	"strings"

	"rig/engine"
)

// Frame gives the screen of a seat's pane; false when it has none. tick changes
// what a busy pane shows.
func Frame(s *engine.SeatView, tick int) (engine.PaneFrame, bool) {
	if s.Pane == "" {
		return engine.PaneFrame{}, false
	}
	screen := "idle"
	for _, c := range casts() {
		if c.member == s.Member {
			screen = c.screen
		}
	}
	return engine.PaneFrame{SeatID: s.ID, Lines: pane(screen, tick), Cols: 120, Rows: 36, At: Start()}, true
}

// pane draws what clients look like: colours as a capture gives them.
func pane(screen string, tick int) []string {
	bar := "\x1b[38;5;244m" + strings.Repeat("─", 120) + "\x1b[39m"
	talk := []string{
		"", "\x1b[1m❯ fix the failing checkout test\x1b[0m", "",
		"\x1b[38;5;231m●\x1b[39m I will read the test first.", "",
		"\x1b[38;5;114m●\x1b[39m \x1b[1mRead\x1b[22m(checkout_test.go)",
		"  \x1b[38;5;246m⎿  Read 212 lines\x1b[39m", "",
		"\x1b[38;5;114m●\x1b[39m \x1b[1mUpdate\x1b[22m(checkout.go)",
		"  \x1b[38;5;246m⎿  Updated checkout.go with 3 additions and 1 removal\x1b[39m",
		"       \x1b[48;5;52m41 - \ttotal := price * n\x1b[49m",
		"       \x1b[48;5;22m41 + \ttotal := price.Times(n)\x1b[49m", "",
	}
	foot := []string{bar, "❯ ", bar, "  \x1b[38;5;246mmanual mode on · ctrl+t for tasks\x1b[39m"}
	switch screen {
	case "busy":
		work := fmt.Sprintf("\x1b[38;5;174m✻ Working… (%ds · esc to interrupt)\x1b[39m", 12+tick)
		return append(append(talk, work, ""), foot...)
	case "permission":
		return append(talk,
			bar, " \x1b[1;38;5;111mBash command\x1b[0m", "", "   mkdir build", "   \x1b[2mCreate the build folder\x1b[0m", "",
			" Do you want to proceed?", " \x1b[38;5;111m❯ 1. Yes\x1b[39m", "   2. Yes, and do not ask again for mkdir", "   3. No", "", " \x1b[2mEsc to cancel\x1b[0m")
	case "limit":
		return append(append(talk, "\x1b[38;5;211m  ⎿  You have reached your usage limit · resets 1:35pm\x1b[39m", ""), foot...)
	case "trust":
		return []string{bar, " \x1b[1;33mDo you trust the files in this folder?\x1b[0m", "", " /home/ana/shop", "", " ❯ 1. Yes, proceed", "   2. No, exit", ""}
	case "codex":
		return []string{
			"", "\x1b[1m› review the last commit\x1b[0m", "", "• Ran git show --stat HEAD", "  \x1b[2m└  checkout.go | 4 +++-\x1b[0m", "",
			"• The change is right. One test is missing: a price of zero.", "", "  \x1b[2mWorked for 21s\x1b[0m", "", "› also check the migr", "",
			"  \x1b[2mgpt-5.5-codex default · ~/shop\x1b[0m",
		}
	case "dead":
		return []string{"codex: error: stream disconnected before completion", "", "\x1b[1mPane is dead (status 1)\x1b[0m"}
	case "shell":
		return []string{"\x1b[32mana@build\x1b[0m:\x1b[34m~/shop\x1b[0m$ go test ./...", "ok  \tshop/cart\t0.412s", "ok  \tshop/checkout\t1.091s", "\x1b[32mana@build\x1b[0m:\x1b[34m~/shop\x1b[0m$ "}
	}
	return append(append(talk, "\x1b[38;5;246m✻ Cooked for 41s · done 10:26\x1b[39m", ""), foot...)
}
