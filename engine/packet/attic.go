package packet

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"rig/engine"
)

// Relics lists the restore packets and restore maps in the directories of seats.
// A packet belongs to the series of its seat, a map to that of its directory. It
// follows no link.
func (s Seats) Relics(seats []engine.Seat) []engine.Relic {
	var out []engine.Relic
	seen := map[string]bool{}
	add := func(kind engine.RelicKind, series, path, proof string) {
		st, err := os.Lstat(filepath.Join(path, proof))
		if err != nil || seen[path] {
			return
		}
		seen[path] = true
		r := engine.Relic{Kind: kind, Name: filepath.Base(path), Series: series, Path: path, At: st.ModTime()}
		_ = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				if st, err := d.Info(); err == nil {
					r.Bytes += st.Size()
				}
			}
			return nil // what cannot be read counts as nothing
		})
		out = append(out, r)
	}
	for _, seat := range seats {
		packets := filepath.Join(seat.Cwd, workFolder, packetsFolder)
		for _, name := range folders(packets) {
			id, ours := strings.CutPrefix(name, packetPrefix(seat))
			if ours && !strings.ContainsAny(id, "-.") {
				dir := filepath.Join(packets, name)
				add(engine.RelicPacket, packets+"/"+packetPrefix(seat)+packetOwner(dir), dir, SummaryName)
			}
		}
		maps := filepath.Join(seat.Cwd, workFolder, mapsFolder)
		for _, name := range folders(maps) {
			add(engine.RelicMap, maps, filepath.Join(maps, name), mapName)
		}
	}
	return out
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
