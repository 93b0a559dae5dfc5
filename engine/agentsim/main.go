package agentsim

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Kinds of stand-in.
const (
	KindClaude = "claude"
	KindCodex  = "codex"
)

// Main runs a stand-in with the client's own command line and returns its exit
// code. Kind is KindClaude or KindCodex; anything else is refused with code 2.
// It returns when the client ends, which for a terminal session is when its
// person leaves, the terminal goes away, or a signal arrives.
func Main(kind string, args []string, env Env) int {
	e := &env
	switch kind {
	case KindClaude:
		return claudeMain(e, args)
	case KindCodex:
		return codexMain(e, args)
	}
	fmt.Fprintf(e.Stderr, "agentsim: unknown client %q; use claude or codex\n", kind)
	return 2
}

// launchFault acts out the faults that strike before anything is drawn:
// exit:CODE[:TEXT] ends at once, hang never draws. It reports whether it did.
func launchFault(e *Env) (code int, struck bool) {
	if d := e.ms("AGENTSIM_START_MS", 20*time.Millisecond); d > 0 {
		<-time.NewTimer(d).C
	}
	if arg, ok := e.fails("exit"); ok {
		num, text, _ := strings.Cut(arg, ":")
		if text != "" {
			fmt.Fprintln(e.Stderr, text)
		}
		n, err := strconv.Atoi(num)
		if err != nil {
			n = 1
		}
		return n, true
	}
	if _, ok := e.fails("hang"); ok {
		return waitForSignal(), true
	}
	return 0, false
}

// clientError is a refusal in the client's own words.
type clientError string

// Error gives the words as they are printed.
func (e clientError) Error() string { return string(e) }

// says makes a refusal in the client's words.
func says(format string, args ...any) error { return clientError(fmt.Sprintf(format, args...)) }
