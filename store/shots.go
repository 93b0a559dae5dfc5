package store

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"rig/engine"
)

// Bounds of one seat's ring.
const (
	ringBytes = 256 << 10
	ringShots = 120
	lineBytes = 256 << 10 // a longer line in a ring is not one of ours
)

// Shots keeps the screens around each change of a seat's state: one file of JSON
// lines a seat, 0600, in a folder of its own. It is not part of the record: losing
// it loses nothing that anything stands on. Of several processes that were given
// the same folder, the first one to keep a shot records; the others' Keep does
// nothing until that one has ended.
type Shots struct {
	dir string

	mu   sync.Mutex
	lock *os.File         // held by the process that records
	size map[string]int64 // bytes of each ring; absent = not looked yet
	n    map[string]int   // shots in it
}

var _ engine.Recorder = (*Shots)(nil)

// NewShots gives the rings in a folder. It touches nothing.
func NewShots(dir string) *Shots {
	return &Shots{dir: dir, size: map[string]int64{}, n: map[string]int{}}
}

// Close lets another process record. It is safe to call it on one that never did.
func (s *Shots) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lock == nil {
		return nil
	}
	err := s.lock.Close()
	s.lock = nil
	return err
}

// Keep adds a shot to its seat's ring. Over the bound the older half is dropped.
func (s *Shots) Keep(shot engine.Shot) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	mine, err := s.record()
	if err != nil || !mine {
		return err
	}
	path, err := s.path(shot.SeatID)
	if err != nil {
		return err
	}
	line, err := json.Marshal(shot)
	if err != nil {
		return unkept(path, err)
	}
	if len(line) >= lineBytes {
		return nil // no screen is that large
	}
	if err := s.room(shot.SeatID, path, int64(len(line)+1)); err != nil {
		return unkept(path, err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return unkept(path, err)
	}
	_, err = f.Write(append(line, '\n'))
	if err = errors.Join(err, f.Close()); err != nil {
		return unkept(path, err)
	}
	s.size[shot.SeatID] += int64(len(line) + 1)
	s.n[shot.SeatID]++
	return nil
}

// record takes the lock of the folder; false when another process has it.
func (s *Shots) record() (bool, error) {
	if s.lock != nil {
		return true, nil
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return false, unkept(s.dir, err)
	}
	f, err := os.OpenFile(filepath.Join(s.dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return false, unkept(s.dir, err)
	}
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return false, f.Close()
	}
	s.lock = f
	clear(s.size) // another process may have written meanwhile
	return true, nil
}

// room makes place for more bytes: over the bound the newest half is written anew.
func (s *Shots) room(seat, path string, more int64) error {
	if _, known := s.size[seat]; !known {
		b, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		s.size[seat], s.n[seat] = int64(len(b)), bytes.Count(b, []byte{'\n'})
	}
	if s.size[seat]+more <= ringBytes && s.n[seat] < ringShots {
		return nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	lines := bytes.SplitAfter(b, []byte{'\n'})
	for len(lines) > ringShots/2 || size(lines)+more > ringBytes/2 && len(lines) > 0 {
		lines = lines[1:]
	}
	b = bytes.Join(lines, nil)
	tmp := path + ".new"
	if err := os.WriteFile(tmp, b, 0o600); err != nil {
		return err
	}
	s.size[seat], s.n[seat] = int64(len(b)), bytes.Count(b, []byte{'\n'})
	return os.Rename(tmp, path)
}

func size(lines [][]byte) int64 {
	var n int64
	for _, l := range lines {
		n += int64(len(l))
	}
	return n
}

// Shots reads a seat's ring, oldest first. A line that was cut off by a crash, or
// that is of another version, is left out.
func (s *Shots) Shots(ctx context.Context, seatID string) ([]engine.Shot, error) {
	path, err := s.path(seatID)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, unread(path, err)
	}
	defer f.Close()
	var out []engine.Shot
	sc := bufio.NewScanner(f)
	sc.Buffer(make([]byte, 64<<10), lineBytes)
	for sc.Scan() && ctx.Err() == nil {
		var shot engine.Shot
		if json.Unmarshal(sc.Bytes(), &shot) == nil && shot.SeatID == seatID {
			out = append(out, shot)
		}
	}
	if err := errors.Join(sc.Err(), ctx.Err()); err != nil {
		return out, unread(path, err)
	}
	return out, nil
}

// Forget drops the rings of seats that are not named. A process that does not
// record leaves them alone.
func (s *Shots) Forget(seatIDs []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	rings, err := filepath.Glob(filepath.Join(s.dir, "*.jsonl"))
	if err != nil || len(rings) == 0 {
		return err
	}
	if mine, err := s.record(); err != nil || !mine {
		return err
	}
	for _, ring := range rings {
		if id := strings.TrimSuffix(filepath.Base(ring), ".jsonl"); !slices.Contains(seatIDs, id) {
			err = errors.Join(err, os.Remove(ring))
			delete(s.size, id)
		}
	}
	return err
}

// path is the file of a seat's ring. An id that could leave the folder is refused.
func (s *Shots) path(seatID string) (string, error) {
	if seatID == "" || seatID != filepath.Base(seatID) || strings.HasPrefix(seatID, ".") {
		return "", engine.Errorf(engine.CodeInvalid, "%q is no seat id", seatID).WithHint("rig ps --json lists them")
	}
	return filepath.Join(s.dir, seatID+".jsonl"), nil
}

func unkept(path string, err error) error {
	return engine.Errorf(engine.CodeUnavailable, "a screen cannot be recorded").On("recorder", path).Wrap(err).
		WithHint("look at the folder's permissions and at the space on its disk")
}

func unread(path string, err error) error {
	return engine.Errorf(engine.CodeUnavailable, "the recorded screens cannot be read").On("recorder", path).Wrap(err).
		WithHint("look at the file's permissions")
}
