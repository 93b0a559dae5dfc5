package tmuxctl

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"rig/engine"
	"rig/tmuxctl/tmuxtest"
)

// B70: what is typed arrives byte for byte, and is submitted once.
func TestPayloadsArriveUnchanged(t *testing.T) {
	inLocales(t, func(t *testing.T) {
		f := newFixture(t)
		g, log := f.agent("dev-impl@shop")
		payloads := payloadsB70(t)
		payloads = append(payloads, "設計 🚀 é\ttab", "Enter", "#{pid} %H ~ {a} $x", strings.Repeat("long ", 4000))
		for i, p := range payloads {
			if err := f.Deliver(f.ctx, g, p, 0); err != nil {
				t.Fatalf("%q: %v", p, err)
			}
			tmuxtest.Eventually(t, 20*time.Second, fmt.Sprintf("message %d is submitted", i), func() bool {
				return len(submits(listen(t, log))) > i
			})
		}
		got := submits(listen(t, log))
		if len(got) != len(payloads) {
			t.Fatalf("%d messages, want %d", len(got), len(payloads))
		}
		for i := range got {
			if got[i] != payloads[i] {
				t.Errorf("got %q, want %q", got[i], payloads[i])
			}
		}
	})
}

// payloadsB70 reads the left column of the case; a trailing note in parentheses is
// the case's own.
func payloadsB70(t *testing.T) []string {
	t.Helper()
	b, err := os.ReadFile("../testdata/cases/B70-payloads.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, line := range strings.Split(strings.TrimSpace(string(b)), "\n")[1:] {
		left, _, ok := strings.Cut(line, "\t")
		if !ok {
			t.Fatalf("line %q has no tab", line)
		}
		out = append(out, left)
	}
	if len(out) < 8 {
		t.Fatalf("only %d payloads", len(out))
	}
	return out
}

// An Enter that comes too early is a line break for the client: the pause decides. A
// busy machine may put more than a moment between the two, so a few tries are made.
func TestPauseDecides(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var got []string
	for i := range 8 {
		g, log := f.agent("a" + strconv.Itoa(i))
		if err := f.Deliver(f.ctx, g, "early", time.Millisecond); err != nil {
			t.Fatal(err)
		}
		if err := f.Deliver(f.ctx, g, "late", 0); err != nil {
			t.Fatal(err)
		}
		tmuxtest.Eventually(t, 20*time.Second, "the last word is submitted", func() bool {
			got = submits(listen(t, log))
			return len(got) > 0 && strings.HasSuffix(got[len(got)-1], "late")
		})
		if len(got) == 1 {
			break
		}
	}
	if len(got) != 1 || got[0] != "early\rlate" {
		t.Errorf("got %q", got)
	}
}

// Line breaks stay inside one bracketed paste, and nothing ends it early.
func TestBracketedPaste(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	g, log := f.agent("a")
	if err := f.Deliver(f.ctx, g, "one\ntwo\x1b[201~\rthree\n", 0); err != nil {
		t.Fatal(err)
	}
	tmuxtest.Eventually(t, 20*time.Second, "one message", func() bool { return len(submits(listen(t, log))) == 1 })
	hs := listen(t, log)
	if p := pastes(hs); len(p) != 1 || p[0] != "one\rtwothree\r" {
		t.Errorf("pastes: %q", p)
	}
	if len(hs) != 2 {
		t.Errorf("heard %+v", hs)
	}
}

func TestPasteRefusals(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, g := f.create("a")
	wantCode(t, f.Paste(f.ctx, g, ""), engine.CodeInvalid)
	wantCode(t, f.Paste(f.ctx, g, "\x1b[0m\x00"), engine.CodeInvalid)
	wantCode(t, f.Paste(f.ctx, g, strings.Repeat("x", maxText+1)), engine.CodeInvalid)
	for _, keys := range [][]string{nil, {"hello"}, {"-X"}, {"Enter", "rm -rf /"}, {"C-"}, {"\n"}, {";"}, {"a"}} {
		wantCode(t, f.Keys(f.ctx, g, keys...), engine.CodeInvalid)
	}
	f.tmux("select-pane", "-d", "-t", string(g.Pane))
	wantCode(t, f.Paste(f.ctx, g, "x"), engine.CodePaneMismatch)
	f.tmux("select-pane", "-e", "-t", string(g.Pane))
	f.tmux("split-window", "-d", "-t", string(g.Pane), "cat", "-")
	f.tmux("set-option", "-w", "-t", string(g.Pane), "synchronize-panes", "on")
	wantCode(t, f.Keys(f.ctx, g, "Enter"), engine.CodePaneMismatch)
	if got := f.tmux("list-buffers"); got != "" {
		t.Errorf("buffers left: %q", got)
	}
}

func TestNamedKeys(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ref, g := f.create("a", "sh", "-c", "stty raw -echo; echo ready; dd bs=1 count=4 2>/dev/null | od -An -tx1; exec cat")
	f.shows(ref.Pane, "ready")
	if err := f.Keys(f.ctx, g, "Escape", "C-c", "Tab", "Enter"); err != nil {
		t.Fatal(err)
	}
	f.shows(ref.Pane, "1b 03 09 0d")
}

// An operator who scrolls in the pane does not swallow what is sent.
func TestDeliverThroughCopyMode(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	g, log := f.agent("a")
	f.tmux("copy-mode", "-t", string(g.Pane))
	if err := f.Deliver(f.ctx, g, "while scrolling", 0); err != nil {
		t.Fatal(err)
	}
	tmuxtest.Eventually(t, 20*time.Second, "one message", func() bool { return len(submits(listen(t, log))) == 1 })
	if got := submits(listen(t, log)); got[0] != "while scrolling" {
		t.Errorf("got %q", got)
	}
}

// Between text and Enter the pane changes hands: the text stays unsent and the error
// says so.
func TestDeliverSubmitIsGuardedAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	g, log := f.agent("a")
	result := make(chan error, 1)
	go func() { result <- f.Deliver(f.ctx, g, "text", 3*time.Second) }()
	tmuxtest.Eventually(t, 20*time.Second, "the paste arrived", func() bool {
		_, err := os.Stat(log)
		return err == nil && len(pastes(listen(t, log))) == 1
	})
	f.tmux("set-option", "-p", "-t", string(g.Pane), "@rig_gen", "2")
	err := <-result
	wantCode(t, err, engine.CodePaneMismatch)
	var e *engine.Error
	if asError(err, &e); !strings.Contains(e.Hint, "not submitted") {
		t.Errorf("hint %q", e.Hint)
	}
	if got := submits(listen(t, log)); len(got) != 0 {
		t.Errorf("submitted %q", got)
	}
}

func TestDeliverCancelled(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	g, log := f.agent("a")
	ctx, cancel := context.WithCancel(f.ctx)
	defer cancel()
	result := make(chan error, 1)
	go func() { result <- f.Deliver(ctx, g, "text", time.Minute) }()
	tmuxtest.Eventually(t, 20*time.Second, "the paste arrived", func() bool { return len(pastes(listen(t, log))) == 1 })
	cancel()
	wantCode(t, <-result, engine.CodeCancelled)
	if got := f.tmux("list-buffers"); got != "" {
		t.Errorf("buffers left: %q", got)
	}
}

const rounds = 20

// deliveryText is a 20 KB text that names its pane, sender and round throughout.
func deliveryText(label string, pane engine.PaneID, round int) string {
	word := fmt.Sprintf("%s/%s/%d ", label, pane, round)
	return strings.Repeat(word, 20<<10/len(word)+1)
}

// deliverRounds pastes different texts into all panes at once, round after round.
func deliverRounds(m *Mux, label string, panes []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for round := range rounds {
		errs := make([]error, len(panes))
		var wg sync.WaitGroup
		for i, p := range panes {
			wg.Add(1)
			go func() {
				defer wg.Done()
				id, seat, _ := strings.Cut(p, "=")
				g := engine.Guard{Pane: engine.PaneID(id), Seat: seat}
				errs[i] = m.Paste(ctx, g, deliveryText(label, g.Pane, round))
			}()
		}
		wg.Wait()
		if err := errors.Join(errs...); err != nil {
			return err
		}
	}
	return nil
}

// B72: four agents, 20 KB each, twenty times, from two processes at once.
func TestParallelDeliveriesDoNotCross(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.tmux("set-buffer", "-b", "operators-own", "keep me")
	var panes, logs []string
	for i := range 4 {
		g, log := f.agent(fmt.Sprintf("a%d", i))
		panes, logs = append(panes, string(g.Pane)+"="+g.Seat), append(logs, log)
	}
	results := make(chan error, 2)
	for _, label := range []string{"one", "two"} {
		go func() {
			out, err := exec.Command(self(t), append([]string{"play-deliverer", f.socket, label}, panes...)...).CombinedOutput()
			if err != nil {
				err = fmt.Errorf("%w: %s", err, out)
			}
			results <- err
		}()
	}
	for range 2 {
		if err := <-results; err != nil {
			t.Fatal(err)
		}
	}
	for i, log := range logs {
		tmuxtest.Eventually(t, 30*time.Second, "all pastes arrived", func() bool { return len(pastes(listen(t, log))) >= 2*rounds })
		want := map[string]bool{}
		pane, _, _ := strings.Cut(panes[i], "=")
		for round := range rounds {
			want[deliveryText("one", engine.PaneID(pane), round)] = true
			want[deliveryText("two", engine.PaneID(pane), round)] = true
		}
		for _, p := range pastes(listen(t, log)) {
			if !want[p] {
				t.Errorf("agent %d got a foreign or broken text: %q …", i, p[:min(60, len(p))])
			}
			delete(want, p)
		}
		if len(want) != 0 {
			t.Errorf("agent %d misses %d texts", i, len(want))
		}
	}
	if got := f.tmux("list-buffers", "-F", "#{buffer_name}"); got != "operators-own" {
		t.Errorf("buffers: %q", got)
	}
}

// A delivery that cannot finish leaves no buffer behind.
func TestPasteTimeoutLeavesNoBuffer(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, g := f.create("a")
	ctx, cancel := context.WithTimeout(f.ctx, time.Nanosecond)
	defer cancel()
	wantCode(t, f.Paste(ctx, g, "x"), engine.CodeTmuxProbeFailed)
	if got := f.tmux("list-buffers"); got != "" {
		t.Errorf("buffers left: %q", got)
	}
}
