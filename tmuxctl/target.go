package tmuxctl

import (
	"strconv"
	"strings"

	"rig/engine"
)

// Target is a tmux target that can only mean one thing. It is made by At, Session,
// Window and Pane and by nothing else; its zero value is refused by every call.
type Target struct{ s string }

// String gives the text that follows -t.
func (t Target) String() string { return t.s }

// Characters of names and values.
const (
	digits       = "0123456789"
	letters      = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	sessionChars = letters + digits + "_@-"
	tagChars     = letters + digits + "._@:/-"
	shellChars   = letters + digits + "%+,-./:@_"
)

// only reports whether s holds nothing but characters of set.
func only(s, set string) bool { return strings.Trim(s, set) == "" }

// isID reports whether s is a tmux id: a mark, then 1 to 9 digits.
func isID(s, mark string) bool {
	n, ok := strings.CutPrefix(s, mark)
	return ok && n != "" && len(n) <= 9 && only(n, digits)
}

// isEpoch reports whether s can be what epochOf makes.
func isEpoch(s string) bool {
	pid, start, ok := strings.Cut(s, "-")
	return ok && pid != "" && start != "" && len(pid) <= 10 && len(start) <= 12 && only(pid+start, digits)
}

// maxSessionName bounds a session name; three names of 64 bytes, two separators
// and a suffix fit.
const maxSessionName = 220

// maxTag bounds a tag value.
const maxTag = 256

// Session targets the session of exactly this name. The colon matters: without it
// pane commands take the text for a pane and fail, and without the equals sign
// tmux falls back to prefix and pattern matching. It refuses names that tmux would
// rewrite (dots, colons), expand (#) or read as an option.
func Session(name string) (Target, error) {
	if err := checkSessionName(name); err != nil {
		return Target{}, err
	}
	return Target{"=" + name + ":"}, nil
}

// Window targets the window at an index of exactly this session.
func Window(session string, index int) (Target, error) {
	t, err := Session(session)
	if err != nil {
		return Target{}, err
	}
	if index < 0 {
		return Target{}, engine.Errorf(engine.CodeInvalid, "window index %d is negative", index).
			WithHint("name a window by its index in the session, from 0")
	}
	t.s += strconv.Itoa(index)
	return t, nil
}

// Pane targets a pane by its id, such as %12. An id means something only within
// the server epoch it was read in.
func Pane(id engine.PaneID) (Target, error) {
	if !isID(string(id), "%") {
		return Target{}, engine.Errorf(engine.CodeInvalid, "%q is not a tmux pane id", string(id)).
			WithHint("pane ids look like %%12; `rig ps --json` shows them")
	}
	return Target{string(id)}, nil
}

// At targets a place. A pane in a session that somebody gave a name which tmux cannot
// be told safely is targeted by its id alone, wherever it is.
func At(to engine.Place) (Target, error) {
	if to.Pane == "" {
		if to.Window < 0 {
			return Session(to.Session)
		}
		return Window(to.Session, to.Window)
	}
	pane, err := Pane(to.Pane)
	if err != nil || to.Window < 0 {
		return pane, err
	}
	window, err := Window(to.Session, to.Window)
	if err != nil {
		return pane, nil //nolint:nilerr // the id says it all; the rest keeps an id of another server out
	}
	return Target{window.s + "." + pane.s}, nil
}

// checkSessionName refuses what cannot be a session name of ours.
func checkSessionName(name string) error {
	if name == "" || len(name) > maxSessionName || !only(name, sessionChars) || name[0] == '-' || name[0] == '@' {
		return engine.Errorf(engine.CodeInvalid, "%q cannot be a tmux session name here", clip(name, 80)).
			WithHint("use letters, digits, _, - and @, not starting with - or @, at most %d bytes", maxSessionName)
	}
	return nil
}

// checkTag refuses values that tmux would print differently from how they were
// set, or that would end a format early.
func checkTag(value string) error {
	if len(value) > maxTag || !only(value, tagChars) {
		return engine.Errorf(engine.CodeInvalid, "%q cannot be a pane tag", clip(value, 80)).
			WithHint("use letters, digits and . _ @ : / -, at most %d bytes", maxTag)
	}
	return nil
}

// argWord escapes one word for tmux's argument vector. tmux takes a word that ends
// in ';' for the end of a command, "--" and -l notwithstanding, and gives "\;" back
// as ';': one backslash before the last semicolon keeps every such word intact.
func argWord(s string) string {
	if strings.HasSuffix(s, ";") {
		return s[:len(s)-1] + `\;`
	}
	return s
}

// quoteWord quotes one word for tmux's own parser (control mode, source-file, the
// commands inside if-shell). Nothing is expanded between single quotes. A newline
// is refused: on a control connection it would end the command, and an empty line
// detaches the client.
func quoteWord(s string) (string, error) {
	if strings.ContainsAny(s, "\n\r\x00") {
		return "", engine.Errorf(engine.CodeInvalid, "a tmux command word holds a line break or NUL").
			WithHint("send such text through a paste buffer")
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'", nil
}

// commandLine joins words into one command for tmux's parser.
func commandLine(words ...string) (string, error) {
	out := make([]string, len(words))
	for i, w := range words {
		q, err := quoteWord(w)
		if err != nil {
			return "", err
		}
		out[i] = q
	}
	return strings.Join(out, " "), nil
}

// escapeFormat protects text that a command passes through tmux's format
// expansion, such as a start directory. '#' doubles, except in a run that stands
// before '[': tmux keeps such a run as it is.
func escapeFormat(s string) string {
	if !strings.Contains(s, "#") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '#' {
			b.WriteByte(s[i])
			i++
			continue
		}
		j := i
		for j < len(s) && s[j] == '#' {
			j++
		}
		run := s[i:j]
		b.WriteString(run)
		if j == len(s) || s[j] != '[' {
			b.WriteString(run)
		}
		i = j
	}
	return b.String()
}

// ShellLine joins an argv into one line that a POSIX shell or zsh reads back as the
// same words. Words are quoted when in doubt: zsh would otherwise replace =name.
func ShellLine(argv []string) string {
	out := make([]string, len(argv))
	for i, w := range argv {
		if w != "" && only(w, shellChars) {
			out[i] = w
			continue
		}
		out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	return strings.Join(out, " ")
}

// clip bounds text that goes into a message.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
