package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rig/engine"
)

func FuzzConfig(f *testing.F) {
	f.Add([]byte("tmux: {socket: x}\nlaunch: {ready_timeout: 10s}\n"))
	f.Add([]byte("a: &a [*a]"))
	f.Add([]byte("keys: {handover: H}\nunknown: 1"))
	f.Add([]byte("\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readConfig(path); err != nil && engine.CodeOf(err) == engine.CodeInternal {
			t.Errorf("%q: %v", b, err)
		}
	})
}

// FuzzTicket reads the ticket of a detached operation.
func FuzzTicket(f *testing.F) {
	f.Add([]byte(`{"op_id":"01","request":{"verb":"up"},"fingerprint":"x","dir":"/"}`))
	f.Add([]byte(`{"dir":"/nowhere"}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		t.Chdir(dir)
		path := filepath.Join(dir, "op.ticket")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readTicket(path); err == nil && !json.Valid(b) {
			t.Errorf("%q was taken", b)
		}
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Error("a ticket is used once")
		}
	})
}

func FuzzSocketPath(f *testing.F) {
	for _, s := range []string{"", "rig", "/tmp/x/../s", "../../etc/passwd", "a/b", "..", "."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		path := socketPath(s)
		if !filepath.IsAbs(path) || filepath.Clean(path) != path {
			t.Errorf("%q: %q", s, path)
		}
		if !filepath.IsAbs(s) && !strings.Contains(filepath.Dir(path), "tmux-") {
			t.Errorf("the name %q leads out of the folder of sockets: %q", s, path)
		}
	})
}
