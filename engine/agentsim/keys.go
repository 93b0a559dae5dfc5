package agentsim

import (
	"bytes"
	"strings"
	"time"
	"unicode/utf8"
)

// keyKind names what a person did.
type keyKind int

const (
	keyText keyKind = iota // typed text without control characters
	keyPaste
	keyEnter   // CR
	keyNewline // LF, also Ctrl-J
	keyEsc
	keyUp
	keyDown
	keyLeft
	keyRight
	keyHome
	keyEnd
	keyTab
	keyBackTab
	keyBackspace
	keyDelete
	keyCtrl // a control letter, in text
)

// key is one decoded input.
type key struct {
	kind keyKind
	text string // for keyText, keyPaste; the letter for keyCtrl
	at   time.Time
	// burst counts the characters that arrived with no pause before this key:
	// both clients take an Enter right behind much text for part of a paste.
	burst int
	gap   time.Duration // since the last typed character
}

// decoder turns terminal bytes into keys. Sequences and characters may be split
// over reads; a lone ESC at the end of a read is the Esc key.
type decoder struct {
	rest    []byte
	pasting bool
	pasted  []byte
	last    time.Time // of the last typed character
	run     int       // characters of the burst so far
}

// burstGap is the longest pause inside a burst. Two tmux calls are further
// apart; the pieces of one call are not.
const burstGap = 2 * time.Millisecond

var (
	pasteBegin = []byte("\x1b[200~")
	pasteEnd   = []byte("\x1b[201~")
)

// feed decodes what one read brought at the given time.
func (d *decoder) feed(b []byte, now time.Time) []key {
	b = append(d.rest, b...)
	d.rest = nil
	if now.Sub(d.last) > burstGap {
		d.run = 0
	}
	var out []key
	for len(b) > 0 {
		if d.pasting {
			b = d.paste(b, &out, now)
			continue
		}
		k, n, ok := one(b)
		if !ok {
			d.rest = bytes.Clone(b)
			break
		}
		b = b[n:]
		if n == len(pasteBegin) && k.kind == keyPaste {
			d.pasting, d.pasted = true, nil
			continue
		}
		if k.kind < 0 {
			continue // a sequence of no use here
		}
		d.note(&k, now)
		if m := len(out); m > 0 && k.kind == keyText && out[m-1].kind == keyText {
			out[m-1].text += k.text
			continue
		}
		out = append(out, k)
	}
	return out
}

// note stamps a key and keeps count of the burst.
func (d *decoder) note(k *key, now time.Time) {
	k.at = now
	k.burst = d.run
	k.gap = time.Hour
	if !d.last.IsZero() {
		k.gap = now.Sub(d.last)
	}
	if k.kind == keyText || k.kind == keyNewline {
		d.run += max(1, utf8.RuneCountInString(k.text))
		d.last = now
	}
}

// paste collects a bracketed paste up to its end mark.
func (d *decoder) paste(b []byte, out *[]key, now time.Time) []byte {
	all := append(d.pasted, b...)
	i := bytes.Index(all, pasteEnd)
	if i < 0 {
		d.pasted = all
		return nil
	}
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.ToValidUTF8(string(all[:i]), ""))
	*out = append(*out, key{kind: keyPaste, text: text, at: now, gap: time.Hour})
	d.pasting, d.pasted, d.run, d.last = false, nil, 0, time.Time{}
	return all[i+len(pasteEnd):]
}

// one decodes the first key of b and its length; ok is false when b ends too early.
func one(b []byte) (key, int, bool) {
	switch c := b[0]; {
	case c == 0x1b:
		return escape(b)
	case c == '\r':
		return key{kind: keyEnter}, 1, true
	case c == '\n':
		return key{kind: keyNewline, text: "\n"}, 1, true
	case c == '\t':
		return key{kind: keyTab}, 1, true
	case c == 0x7f || c == 0x08:
		return key{kind: keyBackspace}, 1, true
	case c < 0x20:
		return key{kind: keyCtrl, text: string(rune('a' + c - 1))}, 1, true
	case c < 0x80:
		return key{kind: keyText, text: string(rune(c))}, 1, true
	}
	if !utf8.FullRune(b) {
		return key{}, 0, false
	}
	r, n := utf8.DecodeRune(b)
	if r == utf8.RuneError && n == 1 {
		return key{kind: -1}, 1, true
	}
	return key{kind: keyText, text: string(r)}, n, true
}

// escape decodes what begins with ESC.
func escape(b []byte) (key, int, bool) {
	if len(b) == 1 {
		return key{kind: keyEsc}, 1, true
	}
	if b[1] != '[' && b[1] != 'O' {
		if b[1] == 0x1b {
			return key{kind: keyEsc}, 1, true
		}
		return key{kind: -1}, 2, true // Alt with a key: not used
	}
	for i := 2; i < len(b); i++ {
		if b[i] >= 0x40 && b[i] <= 0x7e {
			return sequence(string(b[1:i+1]), i+1)
		}
		if i > 64 {
			return key{kind: -1}, i, true
		}
	}
	return key{}, 0, false
}

func sequence(s string, n int) (key, int, bool) {
	kinds := map[string]keyKind{
		"[A": keyUp, "OA": keyUp, "[B": keyDown, "OB": keyDown,
		"[C": keyRight, "OC": keyRight, "[D": keyLeft, "OD": keyLeft,
		"[H": keyHome, "OH": keyHome, "[1~": keyHome, "[F": keyEnd, "OF": keyEnd, "[4~": keyEnd,
		"[3~": keyDelete, "[Z": keyBackTab, "[200~": keyPaste,
	}
	if k, ok := kinds[s]; ok {
		return key{kind: k}, n, true
	}
	return key{kind: -1}, n, true
}
