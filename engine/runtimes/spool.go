package runtimes

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"

	"rig/engine"
)

const (
	statusName    = "status.json"
	maxEventFile  = 128 << 10
	maxStatusFile = 256 << 10
	spoolKeep     = 200 // event files that stay when a spool is pruned
	spoolPrune    = 256 // event files at which it is
	spoolRead     = 24  // newest events that Signals hands out
	stampDigits   = 20
)

// eventName is "<nanoseconds, 20 digits>-<event>.json": names sort by time.
func eventName(stamp int64, event string) string {
	return fmt.Sprintf("%0*d-%s.json", stampDigits, stamp, event)
}

// parseEventName is the reverse; false for any other file.
func parseEventName(name string) (stamp int64, event string, ok bool) {
	head, rest, found := strings.Cut(name, "-")
	event, isJSON := strings.CutSuffix(rest, ".json")
	if !found || !isJSON || len(head) != stampDigits || !validEvent(event) {
		return 0, "", false
	}
	stamp, err := strconv.ParseInt(head, 10, 64)
	return stamp, event, err == nil
}

// validEvent accepts the form of a hook event's name, known or not.
func validEvent(s string) bool {
	for i := range len(s) {
		if c := s[i] | 0x20; c < 'a' || c > 'z' {
			return false
		}
	}
	return s != "" && len(s) <= 40
}

// eventNames lists the event files of a spool, oldest first.
func eventNames(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if _, _, ok := parseEventName(e.Name()); ok {
			out = append(out, e.Name())
		}
	}
	sort.Strings(out)
	return out, nil
}

// spoolEvent stores one event in a spool. The name follows the clock but never
// falls behind the newest file, so that order survives a clock that was set back;
// the time of such an event is its file's. A spool that grew too long loses its
// oldest events.
func spoolEvent(dir, event string, payload []byte, now time.Time) error {
	if err := checkSpool(dir); err != nil {
		return err
	}
	names, err := eventNames(dir)
	if err != nil {
		return err
	}
	stamp := now.UnixNano()
	if n := len(names); n > 0 {
		if last, _, _ := parseEventName(names[n-1]); last >= stamp && last < math.MaxInt64 {
			stamp = last + 1
		}
	}
	tmp := filepath.Join(dir, ".tmp-"+itoa(os.Getpid())+"-"+eventName(stamp, event))
	if err := writeAtomic(tmp, payload); err != nil {
		return err
	}
	defer os.Remove(tmp)
	if err := linkNew(tmp, dir, event, stamp); err != nil {
		return err
	}
	if len(names) >= spoolPrune {
		for _, old := range names[:len(names)-spoolKeep] {
			_ = os.Remove(filepath.Join(dir, old)) // a file that stays is tried again with the next event
		}
	}
	return nil
}

// linkNew gives a finished file its name. Another hook may have taken that name
// in the same moment: then the next one is tried, so that no event is lost.
func linkNew(tmp, dir, event string, stamp int64) error {
	const tries = 100
	var err error
	for i := range int64(tries) {
		err = os.Link(tmp, filepath.Join(dir, eventName(stamp+i, event)))
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return err
}

// checkSpool accepts a spool only as a real, private folder of this user. The
// hook never makes one: without a launch of ours there is none.
func checkSpool(dir string) error {
	if !filepath.IsAbs(dir) {
		return errNotDir
	}
	perm, err := ownFolder(dir)
	if err == nil && perm&0o022 != 0 {
		err = errors.New("others may write into it")
	}
	return err
}

// spoolCache is what a spool held when its folder was last changed.
type spoolCache struct {
	stamp   fileStamp
	racy    bool
	signals engine.Signals
	names   []string // of signals.Hooks
}

// Signals reads the newest hook and status-line reports of a session, oldest
// first. Reading takes nothing away, so a console and a sampler may both do it.
// An unchanged spool costs one stat. A session without a spool has no signals and
// that is no error.
func (f *Files) Signals(sessionID string) (engine.Signals, error) {
	if err := checkID(sessionID); err != nil {
		return engine.Signals{}, err
	}
	dir := f.SpoolDir(sessionID)
	st, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return engine.Signals{}, nil
	}
	if err != nil {
		return engine.Signals{}, filesError(dir, err)
	}
	if !st.IsDir() || !ownedByUs(st, os.Geteuid()) {
		return engine.Signals{}, filesError(dir, errForeign)
	}
	f.mu.Lock()
	have := f.spools[sessionID]
	f.mu.Unlock()
	stamp := stampOf(st)
	if have.stamp == stamp && !have.racy && stamp.inode != 0 {
		return have.signals, nil
	}
	next, err := readSpool(dir, have)
	if err != nil {
		return engine.Signals{}, filesError(dir, err)
	}
	next.stamp, next.racy = stamp, time.Since(stamp.mtime) < settle
	f.mu.Lock()
	if len(f.spools) >= maxCacheEntries {
		clear(f.spools)
	}
	f.spools[sessionID] = next
	f.mu.Unlock()
	return next.signals, nil
}

// readSpool reads what is new in a spool. Event files never change, so those
// that were read before are taken over.
func readSpool(dir string, have spoolCache) (spoolCache, error) {
	names, err := eventNames(dir)
	if err != nil {
		return spoolCache{}, err
	}
	var next spoolCache
	if len(names) > spoolRead {
		next.signals.Older, names = true, names[len(names)-spoolRead:]
	}
	old := make(map[string]engine.HookSignal, len(have.names))
	for i, n := range have.names {
		old[n] = have.signals.Hooks[i]
	}
	for _, n := range names {
		h, ok := old[n]
		if !ok {
			b, wrote, err := readDated(filepath.Join(dir, n), maxEventFile)
			if err != nil {
				continue // pruned meanwhile, or not ours: it says nothing
			}
			stamp, event, _ := parseEventName(n)
			h = engine.HookSignal{Event: event, At: time.Unix(0, stamp).UTC(), Payload: b, Name: n}
			if h.At.Sub(wrote) > clockSlack { // its name only keeps the order
				h.At = wrote
			}
		}
		next.signals.Hooks = append(next.signals.Hooks, h)
		next.names = append(next.names, n)
	}
	path := filepath.Join(dir, statusName)
	if st, err := os.Lstat(path); err == nil {
		next.signals.StatusAt = st.ModTime().UTC()
		if b, err := readPrivate(path, maxStatusFile); err == nil {
			next.signals.StatusLine = b
		}
	}
	return next, nil
}
