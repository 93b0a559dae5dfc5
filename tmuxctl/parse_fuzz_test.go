package tmuxctl

import (
	"strings"
	"testing"
)

// FuzzAnswers reads the answers of tmux that are not pane rows: none may make us
// believe in an object that was not named in full.
func FuzzAnswers(f *testing.F) {
	const nonce = "y3cd0eb48bc75e285"
	for _, s := range []string{
		"", nonce, strings.Repeat(nonce+"?1", 6), "4711" + nonce + "1795977922" + nonce + "$1" + nonce + "%3" + nonce + "99",
		"no server running on /tmp/x", "\x00\xff", nonce + "\n" + nonce,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, out string) {
		if ref, ok := parseCreated(out, nonce); ok && (!isID(string(ref.Pane), "%") || ref.PID < 0 || ref.Epoch == "") {
			t.Errorf("created from %q: %+v", out, ref)
		}
		if _, epoch, err := parseServer(out, nonce); err == nil && epoch == "" {
			t.Errorf("a server without an epoch from %q", out)
		}
		clients, _ := parseClients(out, nonce)
		for _, c := range clients {
			if strings.HasPrefix(c.Session, controlPrefix) {
				t.Errorf("our own control client is listed, from %q", out)
			}
		}
	})
}
