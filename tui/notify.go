package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"rig/engine"
)

// ringGap is the least time between two bells: what comes in between rings with
// the next.
const ringGap = 5 * time.Second

// bell knows what was rung for, so that each thing that waits rings once.
type bell struct {
	told  map[string]bool // keys that are in the picture and were told; nil before the first live picture
	rang  time.Time
	fresh []engine.AttentionItem // came since the last ring
}

// ring tells the terminal of what has come to wait for a person since the last
// picture. What waits when the console opens is seen without a bell.
func (m *Model) ring(f *engine.Fleet) tea.Cmd {
	if !m.opt.Bell && !m.opt.Notify || !f.Live {
		return nil
	}
	b, first := &m.bell, m.bell.told == nil
	told := map[string]bool{}
	for _, it := range f.Attention {
		if it.Acked != "" {
			continue
		}
		told[it.Key] = true
		if !first && !b.told[it.Key] {
			b.fresh = append(b.fresh, it)
		}
	}
	b.told = told
	kept := b.fresh[:0]
	for _, it := range b.fresh {
		if told[it.Key] {
			kept = append(kept, it)
		}
	}
	b.fresh = kept
	if len(b.fresh) == 0 || !b.rang.IsZero() && m.now.Sub(b.rang) < ringGap {
		return nil
	}
	text := ringText(b.fresh)
	b.fresh, b.rang = nil, m.now
	out := "\a"
	if m.opt.Notify {
		out = notification(text, m.insideTmux()) + out
	}
	return tea.Raw(out)
}

// ringText says what waits in a line without anything that could end or steer a
// notification.
func ringText(items []engine.AttentionItem) string {
	text := "rig: "
	if it := items[0]; len(items) == 1 {
		text += waits(it) + ", " + attentionLook(it.Class).word
	} else {
		text += itoa(len(items)) + " new things need you, first " + waits(it)
	}
	return strings.ReplaceAll(clean(text), ";", ",")
}

// notification is a desktop notification in both forms that terminals know. tmux
// passes it on when it is wrapped and its allow-passthrough is on; else it drops
// it.
func notification(text string, tmux bool) string {
	out := "\x1b]9;" + text + "\x1b\\" + "\x1b]777;notify;rig;" + text + "\x1b\\"
	if tmux {
		out = "\x1bPtmux;" + strings.ReplaceAll(out, "\x1b", "\x1b\x1b") + "\x1b\\"
	}
	return out
}

func (m *Model) insideTmux() bool {
	for _, kv := range m.opt.Env {
		if strings.HasPrefix(kv, "TMUX=") && len(kv) > len("TMUX=") {
			return true
		}
	}
	return false
}
