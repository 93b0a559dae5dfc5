package packet

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"rig/engine"
)

// tempMark stands in the name of a packet that is being written.
const tempMark = ".tmp-restore-packet-"

// Relics lists the restore packets and restore maps in the directories of seats,
// and the packets and recaps that were left half-written. A packet belongs to the
// series of its seat, a map to that of its directory. It follows no link.
func (s Seats) Relics(seats []engine.Seat) []engine.Relic {
	a := relics{seen: map[string]bool{}}
	for _, seat := range seats {
		packets := filepath.Join(seat.Cwd, workFolder, packetsFolder)
		for _, name := range folders(packets) {
			id, ours := strings.CutPrefix(name, packetPrefix(seat))
			dir := filepath.Join(packets, name)
			switch op, _, half := strings.Cut(id, tempMark); {
			case !ours:
			case half && !strings.ContainsAny(op, "-."):
				a.half(dir)
			case !strings.ContainsAny(id, "-."):
				a.whole(engine.RelicPacket, packets+"/"+packetPrefix(seat)+packetOwner(dir), dir, SummaryName)
			}
		}
		maps := filepath.Join(seat.Cwd, workFolder, mapsFolder)
		for _, name := range folders(maps) {
			a.whole(engine.RelicMap, maps, filepath.Join(maps, name), mapName)
		}
	}
	if staged, err := filepath.Glob(filepath.Join(globSafe(s.Home), "rigs", "*", "seats", "*", draftPrefix+"*")); err == nil {
		for _, path := range staged {
			a.half(path)
		}
	}
	return a.out
}

// globSafe escapes what Glob would take as a pattern.
func globSafe(dir string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(dir)
}

// relics gathers what is found, each once.
type relics struct {
	out  []engine.Relic
	seen map[string]bool
}

// whole adds a folder that holds the file which makes it what it is.
func (a *relics) whole(kind engine.RelicKind, series, path, proof string) {
	if st, err := os.Lstat(filepath.Join(path, proof)); err == nil {
		a.add(engine.Relic{Kind: kind, Series: series, Path: path, At: st.ModTime()}, false)
	}
}

// half adds what was being written when its writer ended. Its age is that of the
// newest change in it.
func (a *relics) half(path string) {
	a.add(engine.Relic{Kind: engine.RelicTemporary, Path: path}, true)
}

func (a *relics) add(r engine.Relic, newest bool) {
	if a.seen[r.Path] {
		return
	}
	a.seen[r.Path] = true
	r.Name = filepath.Base(r.Path)
	_ = filepath.WalkDir(r.Path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // what cannot be read counts as nothing
		}
		if st, err := d.Info(); err == nil {
			if d.Type().IsRegular() {
				r.Bytes += st.Size()
			}
			if newest && st.ModTime().After(r.At) {
				r.At = st.ModTime()
			}
		}
		return nil
	})
	a.out = append(a.out, r)
}

// folders lists the real folders in a directory that is no link itself.
func folders(dir string) []string {
	for _, d := range []string{filepath.Dir(dir), dir} {
		if st, err := os.Lstat(d); err != nil || !st.IsDir() {
			return nil
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() {
			out = append(out, e.Name())
		}
	}
	return out
}
