package runtimes

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"rig/engine"
)

// The files of a restore directive in an occupant's spool. There is one armed
// directive at a time. A hook takes it by renaming it to a claim with its own
// process in the name, prints it, and renames the claim to its end. A rename has
// one winner, so however many hooks run, one prints. A claim whose process has
// died was never taken by the client, which drops the output of a hook that does
// not end well; the next hook takes such a claim over.
const (
	armedName    = "directive.json"
	claimPrefix  = "directive-claim."
	doneName     = "directive-delivered.json"
	refusedName  = "directive-refused.json"
	maxDirective = 64 << 10
)

// ArmDirective implements the engine's keeper of directives.
func (f *Files) ArmDirective(d engine.Directive) error {
	if err := checkID(d.Session); err != nil {
		return err
	}
	dir := f.SpoolDir(d.Session)
	if err := armDirective(dir, d); err != nil {
		return filesError(dir, err)
	}
	return nil
}

func armDirective(dir string, d engine.Directive) error {
	if err := checkSpool(dir); err != nil {
		return err
	}
	b, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return writeAtomic(filepath.Join(dir, armedName), b)
}

// DisarmDirective implements the engine's keeper of directives.
func (f *Files) DisarmDirective(sessionID, attempt string) (bool, error) {
	if err := checkID(sessionID); err != nil {
		return false, err
	}
	dir := f.SpoolDir(sessionID)
	mine := filepath.Join(dir, claimPrefix+claimOwner()+".json")
	got, err := takeArmed(dir, mine)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, filesError(dir, err)
	case got.Attempt != attempt: // another attempt's: put it back unless a newer one came
		if err := os.Link(mine, filepath.Join(dir, armedName)); err != nil && !errors.Is(err, fs.ErrExist) {
			return false, filesError(dir, err)
		}
	}
	return got.Attempt == attempt, os.Remove(mine)
}

// DirectiveOf implements the engine's keeper of directives.
func (f *Files) DirectiveOf(sessionID, attempt string) (engine.DirectiveState, error) {
	if err := checkID(sessionID); err != nil {
		return engine.DirectiveNone, err
	}
	dir := f.SpoolDir(sessionID)
	names, err := os.ReadDir(dir)
	if err != nil {
		return engine.DirectiveNone, filesError(dir, err)
	}
	state := engine.DirectiveNone
	for _, e := range names {
		var at engine.DirectiveState
		switch {
		case e.Name() == armedName:
			at = engine.DirectiveArmed
		case strings.HasPrefix(e.Name(), claimPrefix):
			at = engine.DirectiveClaimed
		case e.Name() == doneName:
			at = engine.DirectiveDelivered
		case e.Name() == refusedName:
			at = engine.DirectiveRefused
		default:
			continue
		}
		d, err := readDirective(filepath.Join(dir, e.Name()))
		if err == nil && d.Attempt == attempt && state != engine.DirectiveDelivered {
			state = at
		}
	}
	return state, nil
}

func readDirective(path string) (engine.Directive, error) {
	var d engine.Directive
	b, err := readPrivate(path, maxDirective)
	if err != nil {
		return d, err
	}
	return d, json.Unmarshal(b, &d)
}

// claimOwner names this process so that its death can be told from a reused pid.
func claimOwner() string {
	start, ok, err := NewProcesses().Start(os.Getpid())
	if err != nil || !ok {
		start = "unknown"
	}
	return itoa(os.Getpid()) + "." + strings.Map(plainRune, start)
}

func plainRune(r rune) rune {
	if r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z' {
		return r
	}
	return '_'
}

// takeArmed claims the armed directive for this process; fs.ErrNotExist when there
// is none, or another hook was faster.
func takeArmed(dir, mine string) (engine.Directive, error) {
	if err := os.Rename(filepath.Join(dir, armedName), mine); err != nil {
		return engine.Directive{}, err
	}
	return readDirective(mine)
}

// takeOrphan takes over a claim whose process has provably died.
func takeOrphan(dir, mine string) (engine.Directive, error) {
	names, err := filepath.Glob(filepath.Join(dir, claimPrefix+"*"))
	if err != nil {
		return engine.Directive{}, err
	}
	for _, path := range names {
		if path == mine || claimAlive(filepath.Base(path)) {
			continue
		}
		if os.Rename(path, mine) == nil {
			return readDirective(mine)
		}
	}
	return engine.Directive{}, fs.ErrNotExist
}

func claimAlive(name string) bool {
	owner := strings.TrimSuffix(strings.TrimPrefix(name, claimPrefix), ".json")
	pid, start, _ := strings.Cut(owner, ".")
	n, err := strconv.Atoi(pid)
	if err != nil || n <= 0 {
		return false
	}
	now, ok, err := NewProcesses().Start(n)
	if err != nil {
		return true // not proven dead
	}
	return ok && (start == "unknown" || strings.Map(plainRune, now) == start)
}

// deliverDirective prints the occupant's restore directive if this event is its
// moment and nobody else takes it: SessionStart after a compaction, or, when the
// hook that had claimed it died, the next prompt.
func deliverDirective(dir, event string, in hookPayload, env []string, stdout io.Writer) {
	compacted := event == "SessionStart" && in.Source == "compact"
	if stdout == nil || in.AgentID != "" || !compacted && event != "UserPromptSubmit" || checkSpool(dir) != nil {
		return
	}
	mine := filepath.Join(dir, claimPrefix+claimOwner()+".json")
	var d engine.Directive
	err := fs.ErrNotExist
	if compacted {
		d, err = takeArmed(dir, mine)
	}
	if errors.Is(err, fs.ErrNotExist) {
		d, err = takeOrphan(dir, mine)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err != nil || !boundTo(d, in, env):
		_ = os.Rename(mine, filepath.Join(dir, refusedName)) // what is not ours stays unread
		return
	}
	if claimed != nil {
		claimed()
	}
	if printContext(stdout, event, d.Text) != nil {
		return // the claim stays; another hook takes it over when this process is gone
	}
	_ = os.Rename(mine, filepath.Join(dir, doneName))
}

// claimed is nil but in tests, which end the process between claim and print.
var claimed func()

// boundTo checks a directive against the occupant that this hook runs in and the
// conversation that its event is about.
func boundTo(d engine.Directive, in hookPayload, env []string) bool {
	return d.Text != "" && d.Session != "" && d.Session == lookup(env, "RIG_SESSION") &&
		strconv.FormatInt(d.Generation, 10) == lookup(env, "RIG_GENERATION") &&
		d.Seat == lookup(env, "RIG_SEAT") && d.Conversation == engine.ConversationDigest(in.SessionID)
}

// printContext gives the client text for the model, in one write.
func printContext(w io.Writer, event, text string) error {
	var out struct {
		Specific struct {
			Event   string `json:"hookEventName"`
			Context string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	out.Specific.Event, out.Specific.Context = event, text
	b, err := json.Marshal(out)
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}
