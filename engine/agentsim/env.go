package agentsim

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

// Child is a process that a stand-in wants to run: a hook, a tool, a status
// line, or tmux itself.
type Child struct {
	Argv  []string // program and arguments; the program is looked up on PATH
	Dir   string   // working directory
	Env   []string // the whole environment, KEY=VALUE
	Stdin []byte
}

// Result is what a finished Child left.
type Result struct {
	Stdout, Stderr []byte
	Code           int // exit code; 128+n after signal n
}

// Env is the world of a stand-in. All fields are needed.
type Env struct {
	Stdin, Stdout, Stderr *os.File
	Vars                  []string // environment of the process, KEY=VALUE
	Dir                   string   // absolute working directory
	Now                   func() time.Time
	Rand                  io.Reader // source of ids
	// Run runs a child to its end. When ctx ends first the child's process
	// group is killed and ctx's error returned. An error without a Result means
	// that the child could not be started.
	Run func(ctx context.Context, c Child) (Result, error)
	// Spawn starts a child in a session of its own and does not wait for it.
	Spawn func(c Child) (pid int, err error)
}

// get returns the value of an environment variable, empty when unset.
func (e *Env) get(key string) string {
	for i := len(e.Vars) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(e.Vars[i], key+"="); ok {
			return v
		}
	}
	return ""
}

// ms reads a duration in milliseconds from the environment.
func (e *Env) ms(key string, fallback time.Duration) time.Duration {
	if n, err := strconv.Atoi(e.get(key)); err == nil && n >= 0 {
		return time.Duration(n) * time.Millisecond
	}
	return fallback
}

// num reads a positive number from the environment.
func (e *Env) num(key string, fallback int) int {
	if n, err := strconv.Atoi(e.get(key)); err == nil && n > 0 {
		return n
	}
	return fallback
}

// fails tells whether AGENTSIM_FAIL asks for the named fault and gives what
// follows its colon. Several faults are separated by "|".
func (e *Env) fails(name string) (arg string, ok bool) {
	for _, f := range strings.Split(e.get("AGENTSIM_FAIL"), "|") {
		if f == name {
			return "", true
		}
		if rest, found := strings.CutPrefix(f, name+":"); found {
			return rest, true
		}
	}
	return "", false
}

// with is the environment plus KEY=VALUE pairs, the later winning.
func (e *Env) with(pairs ...string) []string {
	return append(append(make([]string, 0, len(e.Vars)+len(pairs)), e.Vars...), pairs...)
}

func (e *Env) bytes(n int) []byte {
	b := make([]byte, n)
	if _, err := io.ReadFull(e.Rand, b); err != nil {
		// An id source that fails must not stop a stand-in: the clock is the next best.
		copy(b, strconv.FormatInt(e.Now().UnixNano(), 36))
	}
	return b
}

func (e *Env) hex(n int) string { return hex.EncodeToString(e.bytes((n + 1) / 2))[:n] }

// pick chooses one of the words.
func (e *Env) pick(words ...string) string { return words[int(e.bytes(1)[0])%len(words)] }

func dashed(b []byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// uuid4 makes a random id.
func (e *Env) uuid4() string {
	b := e.bytes(16)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return dashed(b)
}

// uuid7 makes an id that begins with the time, as Codex does.
func (e *Env) uuid7() string {
	b := e.bytes(16)
	ms := e.Now().UnixMilli()
	for i := range 6 {
		b[i] = byte(ms >> (8 * (5 - i)))
	}
	b[6], b[8] = b[6]&0x0f|0x70, b[8]&0x3f|0x80
	return dashed(b)
}

// isUUID accepts any canonical UUID text, as both clients do.
func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i, c := range []byte(s) {
		switch {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case c >= '0' && c <= '9', c >= 'a' && c <= 'f', c >= 'A' && c <= 'F':
		default:
			return false
		}
	}
	return true
}

// stamp writes a time as both clients do: UTC with milliseconds.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// pause waits and tells whether it waited to the end.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
