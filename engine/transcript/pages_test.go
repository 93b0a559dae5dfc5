package transcript

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// paged writes a conversation with long lines of results between its messages.
func paged(t *testing.T, n int) string {
	t.Helper()
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"type":"user","uuid":"u%d","sessionId":"s","cwd":"/w","message":{"role":"user","content":"message %d"}}`+"\n", i, i)
		fmt.Fprintf(&b, `{"type":"user","uuid":"r%d","sessionId":"s","cwd":"/w","message":{"role":"user","content":[{"type":"tool_result","content":%q}]}}`+"\n", i, strings.Repeat("x", 1+i%7*90_000))
	}
	path := filepath.Join(t.TempDir(), "t.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPagesMeetEachOther(t *testing.T) {
	path := paged(t, 50)
	var back, forth []string
	for at := int64(-1); at != 0; {
		p, err := PageBefore(t.Context(), path, RuntimeClaude, at, 7, Options{})
		if err != nil || len(p.Messages) > 7 || at >= 0 && p.To != at {
			t.Fatalf("before %d: %d messages, %d-%d, %v", at, len(p.Messages), p.From, p.To, err)
		}
		for i := len(p.Messages) - 1; i >= 0; i-- {
			back = append(back, p.Messages[i].Text)
		}
		at = p.From
	}
	for at, size := int64(0), int64(1); at < size; {
		p, err := PageAfter(t.Context(), path, RuntimeClaude, at, 7, Options{})
		if err != nil || len(p.Messages) > 7 || p.From != at || p.To <= at {
			t.Fatalf("after %d: %d messages, %d-%d, %v", at, len(p.Messages), p.From, p.To, err)
		}
		for _, m := range p.Messages {
			forth = append(forth, m.Text)
		}
		at, size = p.To, p.Size
	}
	for i := range 50 {
		want := fmt.Sprintf("message %d", i)
		if len(forth) != 50 || len(back) != 50 || forth[i] != want || back[49-i] != want {
			t.Fatalf("%d forth, %d back; %q", len(forth), len(back), want)
		}
	}
}

func TestFindMessage(t *testing.T) {
	path := paged(t, 50)
	want := func(s string) func(Message) bool { return func(m Message) bool { return m.Text == s } }
	off, found, err := FindMessage(t.Context(), path, RuntimeClaude, 0, false, Options{}, want("message 41"))
	if err != nil || !found {
		t.Fatal(found, err)
	}
	if p, err := PageAfter(t.Context(), path, RuntimeClaude, off, 1, Options{}); err != nil || p.Messages[0].Text != "message 41" {
		t.Errorf("%+v %v", p, err)
	}
	if at, found, err := FindMessage(t.Context(), path, RuntimeClaude, off, true, Options{}, want("message 3")); err != nil || !found || at >= off {
		t.Errorf("back: %d %v %v", at, found, err)
	}
	if _, found, err := FindMessage(t.Context(), path, RuntimeClaude, off, true, Options{}, want("message 41")); err != nil || found {
		t.Errorf("itself before itself: %v %v", found, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := FindMessage(ctx, path, RuntimeClaude, 0, false, Options{}, want("none")); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
