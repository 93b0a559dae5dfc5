package packet

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rig/engine"
	"rig/engine/transcript"
)

// RequestOf makes the request for a packet of a seat from what the engine has
// gathered: the transcript, what the seat's own record says, and every memory
// surface that was looked for, found or not. The caller adds the target, and
// replaces what it knows better.
func (s Seats) RequestOf(in engine.PacketInput) (Request, error) {
	q := Request{
		SourcePath: in.Transcript, SourceRuntime: transcript.Runtime(in.Seat.Runtime), SourceSession: in.Address, SourceCwd: in.Seat.Cwd,
		TargetWorkspaceRoot: in.Seat.Cwd, RolePointer: in.Seat.Role, CurrentWork: claimed(in), Now: in.Now,
		Pointers: DurablePointers{Queue: queue(in.Work)},
	}
	// Why the occupant changed is not why the work matters; the latter is what
	// the work items or the conversation itself say.
	if in.Reason != "" {
		q.Caveats = append(q.Caveats, "The occupant was changed for this reason: "+in.Reason)
	}
	q.Caveats = append(q.Caveats, in.Gaps...)
	chain, err := s.Chain(context.Background(), in.Seat, in.Address)
	if err != nil {
		return Request{}, err
	}
	for _, a := range chain.Artifacts {
		q.Pointers.Artifacts = append(q.Pointers.Artifacts, a.Address)
	}
	q.Surfaces = append(s.keptSurfaces(in, chain), recordSurfaces(in)...)
	return q, nil
}

// keptSurfaces inventories the seat's own files: what is there with its time, and
// what was looked for in vain.
func (s Seats) keptSurfaces(in engine.PacketInput, chain engine.Chain) []Surface {
	purpose := map[string]string{
		recapName: "what the last occupant wrote down for the next one; read before " + learnedName, learnedName: "what occupants of this seat have learned",
	}
	var out []Surface
	seen := map[string]bool{}
	for _, a := range chain.Artifacts {
		x := Surface{Name: a.Label, Source: a.Address, Present: true, Freshness: "changed " + stampOf(a.Modified), Purpose: "evidence of an earlier transition"}
		if name := filepath.Base(a.Path); filepath.Dir(a.Path) == s.Dir(in.Address) {
			seen[name] = true
			x.Name, x.Purpose = name, purpose[name]
		}
		out = append(out, x)
	}
	for _, name := range []string{recapName, learnedName} {
		if !seen[name] {
			out = append(out, Surface{Name: name, Source: "seat:" + name, Freshness: "never written", Purpose: purpose[name]})
		}
	}
	newest := Surface{Name: mapName, Source: workFolder + "/" + mapsFolder, Freshness: "none was found", Purpose: "the seat's own reading list, written before a compaction"}
	if path, at := latestMap(in.Seat.Cwd, in.Address); path != "" {
		newest.Source, newest.Present, newest.Freshness = path, true, "changed "+stampOf(at)
	}
	return append(out, newest)
}

// recordSurfaces inventories what the record keeps for the seat. A packet that was
// made without the record says so.
func recordSurfaces(in engine.PacketInput) []Surface {
	work := Surface{Name: "inbound work", Source: "rig work list " + in.Address, Freshness: "unknown: this packet was made without the record", Purpose: "what the seat was asked for; stays when the occupant changes"}
	startup := Surface{Name: "startup files", Source: "the seat's spec", Freshness: work.Freshness, Purpose: "what every new occupant is told"}
	if !in.FromRecord {
		return []Surface{work, startup}
	}
	work.Freshness, startup.Freshness = "none is on record", "the spec names none"
	if len(in.Work) > 0 {
		work.Present, work.Freshness = true, fmt.Sprintf("%s, the latest change %s", engine.Counted(len(in.Work), "item"), stampOf(engine.LatestWork(in.Work)))
	}
	out := []Surface{work}
	for _, path := range in.Startup {
		x := startup
		x.Source, x.Freshness = path, "it is gone"
		if strings.HasPrefix(path, seatScheme) {
			continue // listed among the seat's own files
		}
		if info, err := os.Stat(path); err == nil {
			x.Present, x.Freshness = true, "changed "+stampOf(info.ModTime())
		}
		out = append(out, x)
	}
	if len(in.Startup) == 0 {
		out = append(out, startup)
	}
	return out
}

func stampOf(t time.Time) string {
	if t.IsZero() {
		return "at an unknown time"
	}
	return t.UTC().Format(time.RFC3339)
}

// latestMap finds a seat's newest restore map below a directory, which other seats may
// share: a whole one names its seat. "" means none.
func latestMap(cwd, address string) (string, time.Time) {
	base := filepath.Join(cwd, workFolder, mapsFolder)
	entries, err := os.ReadDir(base)
	if err != nil {
		return "", time.Time{}
	}
	for i := len(entries) - 1; i >= 0; i-- { // attempts are named by ids that order by time
		path := filepath.Join(base, entries[i].Name(), mapName)
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && mapSeat(path) == address {
			return path, info.ModTime()
		}
	}
	return "", time.Time{}
}
