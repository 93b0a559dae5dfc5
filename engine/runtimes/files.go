package runtimes

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"rig/engine"
)

// The hidden verbs of the binary that this package has to know.
const (
	SupervisorVerb = "seat-exec"
	HookVerb       = "hook"
	StatusLineVerb = "statusline"
	OperationVerb  = "op-exec" // its body is cmd's; Stop and Kill leave it alone
)

// SpoolEnv is the variable by which a hook finds its occupant's spool folder. It
// is set in the occupant only; a client outside a seat has none and our hook does
// nothing there.
const SpoolEnv = "RIG_SPOOL"

const (
	launchSuffix  = ".launch"
	maxLaunchFile = 8 << 20
	maxRunFile    = 64 << 10
)

// Files keeps the files through which a launch reaches the pane, below RIG_HOME:
//
//	run/<session>.launch   argv and environment, 0600, deleted as it is read
//	run/<session>.json     what the supervisor reports
//	spool/<session>/       one file a hook event, and the newest status line
//
// Folders are private (0700) and must be real folders of this user; files are
// written beside and renamed, so a reader sees all of one or nothing. Files is
// safe for concurrent use. It implements engine.Occupants.
type Files struct {
	home   string
	binary string // rig
	seat   string // what runs beside an agent: rig-seat, or rig itself
	runs   *fileCache[engine.RunState]

	mu     sync.Mutex
	spools map[string]spoolCache
}

var _ engine.Occupants = (*Files)(nil)

// NewFiles makes the files below home, for a product whose program is binary and
// whose part beside an agent is seat (all absolute). Nothing is created before the
// first launch.
func NewFiles(home, binary, seat string) *Files {
	return &Files{home: home, binary: binary, seat: seat, runs: newFileCache(loadRunState), spools: map[string]spoolCache{}}
}

func loadRunState(path string) (engine.RunState, error) {
	var s engine.RunState
	b, err := slurp(path, maxRunFile)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(b, &s); err != nil {
		return s, errors.New(jsonFault(err))
	}
	return s, nil
}

// checkID keeps session ids from reaching the file system as paths.
func checkID(id string) error {
	ok := id != "" && len(id) <= 64
	for i := 0; ok && i < len(id); i++ {
		c := id[i]
		ok = c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '-' || c == '_'
	}
	if !ok {
		return engine.Errorf(engine.CodeInvalid, "the session id %q cannot be a file name", printable(id, 40)).
			WithHint("this is a fault of the program: report it")
	}
	return nil
}

func (f *Files) runPath(id, suffix string) string {
	return filepath.Join(f.home, "run", id+suffix)
}

// SpoolDir is the folder of a session's hook and status-line reports.
func (f *Files) SpoolDir(sessionID string) string { return filepath.Join(f.home, "spool", sessionID) }

// WriteLaunch stores a launch file and makes the session's spool, which the
// occupant learns from RIG_SPOOL. It returns the argv that the pane must run.
// Errors: CodeInvalid for an impossible launch, CodeUnavailable when the folders
// cannot be made or are not private to this user.
func (f *Files) WriteLaunch(sessionID string, l engine.LaunchFile) ([]string, error) {
	if err := checkID(sessionID); err != nil {
		return nil, err
	}
	if len(l.Argv) == 0 || l.Argv[0] == "" || !filepath.IsAbs(l.Dir) {
		return nil, engine.Errorf(engine.CodeInvalid, "the launch names no program or no absolute directory").
			On("launch", l.Seat).WithHint("this is a fault of the program: report it")
	}
	spool := f.SpoolDir(sessionID)
	if err := f.folders(filepath.Join(f.home, "run"), filepath.Dir(spool), spool); err != nil {
		return nil, err
	}
	l.Env = withEnv(l.Env, SpoolEnv+"="+spool)
	b, err := json.Marshal(l)
	if err != nil {
		return nil, filesError(f.home, err)
	}
	if len(b) > maxLaunchFile {
		return nil, engine.Errorf(engine.CodeInvalid, "the launch has %d bytes of arguments and environment", len(b)).
			On("launch", l.Seat).WithHint("shorten the environment or the prompt")
	}
	if err := os.Remove(f.runPath(sessionID, ".json")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, filesError(f.runPath(sessionID, ".json"), err)
	}
	path := f.runPath(sessionID, launchSuffix)
	if err := writeAtomic(path, b); err != nil {
		return nil, filesError(path, err)
	}
	return []string{f.seat, SupervisorVerb, path}, nil
}

// folders makes folders below home, each a private one of this user.
func (f *Files) folders(dirs ...string) error {
	if err := os.MkdirAll(f.home, 0o700); err != nil {
		return filesError(f.home, err)
	}
	for _, d := range dirs {
		if err := privateDir(d); err != nil {
			return filesError(d, err)
		}
	}
	return nil
}

// RemoveLaunch deletes a launch file that was never read; none is no error.
func (f *Files) RemoveLaunch(sessionID string) error {
	if err := checkID(sessionID); err != nil {
		return err
	}
	path := f.runPath(sessionID, launchSuffix)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return filesError(path, err)
	}
	return nil
}

// RemoveUnread deletes every launch file of an operation that nobody has read.
func (f *Files) RemoveUnread(opID string) error {
	paths, err := filepath.Glob(f.runPath("*", launchSuffix))
	if err != nil {
		return filesError(f.home, err)
	}
	for _, path := range paths {
		var l engine.LaunchFile
		b, err := readPrivate(path, maxLaunchFile)
		if err != nil || json.Unmarshal(b, &l) != nil || l.Op != opID {
			continue // read meanwhile, or not of this operation
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return filesError(path, err)
		}
	}
	return nil
}

// RunState reads what the supervisor reported, cached until it reports again.
// false without an error: nothing yet.
func (f *Files) RunState(sessionID string) (engine.RunState, bool, error) {
	if err := checkID(sessionID); err != nil {
		return engine.RunState{}, false, err
	}
	path := f.runPath(sessionID, ".json")
	got, err := f.runs.get(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return engine.RunState{}, false, nil
	case err != nil:
		return engine.RunState{}, false, filesError(path, err)
	}
	return got.value, true, nil
}

// Forget deletes everything kept for a session that is history.
func (f *Files) Forget(sessionID string) error {
	if err := f.RemoveLaunch(sessionID); err != nil {
		return err
	}
	f.mu.Lock()
	delete(f.spools, sessionID)
	f.mu.Unlock()
	if err := os.Remove(f.runPath(sessionID, ".json")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return filesError(f.home, err)
	}
	if err := os.RemoveAll(f.SpoolDir(sessionID)); err != nil {
		return filesError(f.SpoolDir(sessionID), err)
	}
	return nil
}

func filesError(path string, err error) error {
	return engine.Errorf(engine.CodeUnavailable, "cannot use %s: %s", path, reason(err)).Wrap(err).
		WithHint("make sure that RIG_HOME is a writable folder of yours that nobody else can enter (chmod 700)")
}

var (
	errNotDir  = errors.New("it is not a folder")
	errForeign = errors.New("it belongs to another user")
)

// privateDir makes a folder for this user alone. One that is there already must
// be a real folder, not a link, and ours; wider permissions are taken away.
func privateDir(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	perm, err := ownFolder(dir)
	if err == nil && perm&0o077 != 0 {
		err = os.Chmod(dir, 0o700)
	}
	return err
}

// ownFolder gives the permissions of a folder that must be a real one, not a
// link, and ours.
func ownFolder(dir string) (fs.FileMode, error) {
	st, err := os.Lstat(dir)
	switch {
	case err != nil:
		return 0, err
	case !st.IsDir():
		return 0, errNotDir
	case !ownedByUs(st, os.Geteuid()):
		return 0, errForeign
	}
	return st.Mode().Perm(), nil
}

// writeAtomic writes a private file beside its place and renames it there. The
// temporary file is created exclusively, so a link in its place is refused.
func writeAtomic(path string, b []byte) error {
	tmp := filepath.Join(filepath.Dir(path), ".tmp-"+itoa(os.Getpid())+"-"+filepath.Base(path))
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o600)
	if errors.Is(err, fs.ErrExist) { // left by a process of this number that was killed
		if err = os.Remove(tmp); err == nil {
			f, err = os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o600)
		}
	}
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		_ = os.Remove(tmp)
	}
	return err
}

// readPrivate reads and checks a file that must be ours alone: no link, no other
// owner, no permission for others, one name only.
func readPrivate(path string, limit int64) ([]byte, error) {
	b, _, err := readDated(path, limit)
	return b, err
}

// readDated is readPrivate with the time at which the file was written.
func readDated(path string, limit int64) ([]byte, time.Time, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, time.Time{}, err
	}
	defer f.Close()
	st, err := f.Stat()
	switch {
	case err != nil:
		return nil, time.Time{}, err
	case !st.Mode().IsRegular():
		return nil, time.Time{}, errors.New("it is not a regular file")
	case !ownedByUs(st, os.Geteuid()):
		return nil, time.Time{}, errForeign
	case st.Mode().Perm()&0o077 != 0:
		return nil, time.Time{}, errors.New("others may read or write it")
	case st.Size() > limit:
		return nil, time.Time{}, errTooLarge
	}
	b, err := io.ReadAll(io.LimitReader(f, limit))
	return b, st.ModTime().UTC(), err
}
