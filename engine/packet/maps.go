package packet

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"rig/engine"
)

const (
	mapsFolder = "compaction"
	mapName    = "RESTORE-MAP.md"
	draftEnd   = ".tmp"
	maxMap     = 4 << 20 // bytes of a restore map that are looked at
)

// PrepareMap makes the folder for an attempt's restore map below the seat's
// directory, where its client may write without asking, and gives the path of the
// map to come. The folder of an attempt must not exist yet, or be empty.
func (s Seats) PrepareMap(cwd, attempt string) (string, error) {
	if err := checkName(attempt); err != nil {
		return "", err
	}
	if _, err := makeWorkFolder(cwd); err != nil {
		return "", err
	}
	maps := filepath.Join(cwd, workFolder, mapsFolder)
	dir := filepath.Join(maps, attempt)
	for _, d := range []string{maps, dir} {
		if err := os.Mkdir(d, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", mapError(d, err)
		}
		if st, err := os.Lstat(d); err != nil || !st.IsDir() {
			return "", mapError(d, errors.New("something else is in its place"))
		}
	}
	return filepath.Join(dir, mapName), nil
}

// checkName accepts what can be one plain folder name.
func checkName(name string) error {
	if name == "" || name == "." || name == ".." || len(name) > 100 || filepath.Base(name) != name {
		return engine.Errorf(CodeBadName, "an attempt cannot be called %q", name).On("compact", "").WithHint("this is a fault of the program: report it")
	}
	return nil
}

// PublishMap reports whether a restore map is there and whole: its last line is
// the marker. A finished draft beside it is given the map's name. A map that
// cannot be read is not whole; only trouble with the rename is an error.
func (s Seats) PublishMap(path, marker string) (bool, error) {
	if endsWith(path, marker) {
		return true, nil
	}
	if !endsWith(path+draftEnd, marker) {
		return false, nil
	}
	if err := os.Rename(path+draftEnd, path); err != nil {
		return false, mapError(path, err)
	}
	return true, nil
}

// endsWith reports whether a regular file ends with a line.
func endsWith(path, line string) bool {
	last, ok := lastLine(path)
	return ok && last == line
}

// lastLine gives the last line of a regular file that has text; false where there is
// none or it cannot be read.
func lastLine(path string) (string, bool) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", false
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() || st.Size() > maxMap {
		return "", false
	}
	b, err := io.ReadAll(io.LimitReader(f, maxMap))
	if err != nil {
		return "", false
	}
	b = bytes.TrimRight(b, " \t\r\n")
	return string(b[bytes.LastIndexByte(b, '\n')+1:]), len(b) > 0
}

// mapSeat is the address of the seat that a finished restore map names in its last
// line, "" when it names none.
func mapSeat(path string) string {
	line, _ := lastLine(path)
	line, found := strings.CutPrefix(line, "<!-- rig-compaction-complete ")
	var marker struct {
		Seat string `json:"seat"`
	}
	if !found || json.Unmarshal([]byte(strings.TrimSuffix(line, " -->")), &marker) != nil {
		return ""
	}
	return marker.Seat
}

// CheckPacket proves that a packet is on disk and whole.
func (s Seats) CheckPacket(dir string) error {
	for _, name := range []string{SummaryName, InstructionsName, LatestName} {
		st, err := os.Lstat(filepath.Join(dir, name))
		if err != nil || !st.Mode().IsRegular() || st.Size() == 0 {
			return engine.Errorf(CodePacketInvalid, "the restore packet has no %s", name).On("compact", dir).Wrap(err).
				WithHint("nothing was compacted; is the disk full?")
		}
	}
	return nil
}

func mapError(path string, err error) error {
	return engine.Errorf(CodeParentMissing, "the folder for the restore map cannot be made").On("compact", path).Wrap(err).
		WithHint("make the seat's directory writable for yourself, and move away what is in the folder's place")
}
