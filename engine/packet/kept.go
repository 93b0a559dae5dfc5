package packet

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rig/engine"
)

const (
	seatScheme   = engine.SeatScheme
	packetScheme = "packet:"
	opGet        = "context get"
)

// Kept is one of a seat's kept texts, or a section of it.
type Kept struct {
	Address  string    `json:"address"`
	Path     string    `json:"path"`
	Modified time.Time `json:"modified"`
	// Text passed redaction; Redactions counts by kind what was replaced.
	Text       string `json:"text"`
	Redactions Counts `json:"redactions,omitempty"`
}

// Get reads one address of a seat: seat:RECAP.md and other files of the seat's own
// folder, packet:NAME/FILE of the packets below its directory. A heading behind
// the address, as in seat:RECAP.md#State or #State/Open, gives that section alone,
// up to the next heading of its level.
//
// It fails with invalid for an address that could mean another place, and with
// not_found for a file or a section that is not there; the hint names what is.
func (s Seats) Get(seat engine.Seat, address, ref string) (Kept, error) {
	where, section, _ := strings.Cut(ref, "#")
	path, err := s.resolve(seat, address, where)
	if err != nil {
		return Kept{}, err
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Kept{}, engine.Errorf(engine.CodeNotFound, "nothing is kept at %s", where).On(opGet, address).
			WithHint("`rig context get --seat %s` lists what is kept", address)
	case err == nil && (!info.Mode().IsRegular() || info.Size() > maxArtifact):
		err = errors.New("it is not a plain file of at most 4 MiB")
	}
	var raw []byte
	if err == nil {
		raw, err = os.ReadFile(path)
	}
	if err != nil {
		return Kept{}, engine.Errorf(engine.CodeUnavailable, "%s cannot be read", where).On(opGet, address).Wrap(err).WithHint("check %s", path)
	}
	text := strings.ToValidUTF8(string(raw), "\uFFFD")
	if section != "" {
		if text, err = sectionOf(text, section); err != nil {
			return Kept{}, engine.Errorf(engine.CodeNotFound, "%s has no one section %q", where, clip(printable(section), 100)).On(opGet, address).
				WithHint("its sections: %s", strings.Join(sections(string(raw)), ", "))
		}
	}
	k := Kept{Address: ref, Path: path, Modified: info.ModTime().UTC()}
	k.Text, k.Redactions = Redact(printable(text))
	return k, nil
}

// SeatFile gives the path of seat:NAME for a canonical address; it may not exist.
func (s Seats) SeatFile(address, ref string) (string, error) {
	return s.resolve(engine.Seat{}, address, ref)
}

// resolve turns an address without a section into a path that cannot lead out of
// its place.
func (s Seats) resolve(seat engine.Seat, address, where string) (string, error) {
	var rest string
	scheme := seatScheme
	base := s.Dir(address)
	switch {
	case strings.HasPrefix(where, seatScheme):
		rest = where[len(seatScheme):]
	case strings.HasPrefix(where, packetScheme) && seat.Cwd != "":
		scheme, rest, base = packetScheme, where[len(packetScheme):], filepath.Join(seat.Cwd, workFolder, packetsFolder)
	default:
		return "", engine.Errorf(engine.CodeInvalid, "%q is no address of a kept text", clip(printable(where), 100)).On(opGet, address).
			WithHint("write %sRECAP.md, %sLEARNED.md or %sNAME/%s", seatScheme, seatScheme, packetScheme, InstructionsName)
	}
	parts := strings.Split(rest, "/")
	if len(parts) > 2 || scheme == packetScheme && len(parts) != 2 {
		return "", engine.Errorf(engine.CodeInvalid, "%q leads somewhere else", clip(printable(where), 100)).On(opGet, address).
			WithHint("`rig context get` lists the addresses")
	}
	for _, p := range parts {
		if err := ValidName(p); err != nil {
			return "", err
		}
	}
	return filepath.Join(append([]string{base}, parts...)...), nil
}

// sectionOf cuts one section out of a Markdown text: its heading's title, or as
// many titles above it as tell it from others and its own, joined by slashes.
func sectionOf(text, want string) (string, error) {
	list, _ := headings(text)
	found := -1
	for i, path := range headingPaths(list) {
		if path == want {
			found = i
			break
		}
		if strings.HasSuffix(path, "/"+want) {
			if found >= 0 {
				return "", fs.ErrExist
			}
			found = i
		}
	}
	if found < 0 {
		return "", fs.ErrNotExist
	}
	lines := strings.SplitAfter(text, "\n")
	end := len(lines)
	for _, h := range list[found+1:] {
		if h.level <= list[found].level {
			end = h.line - 1
			break
		}
	}
	return strings.Join(lines[list[found].line-1:end], ""), nil
}

// headingPaths names each heading by the titles above it and its own.
func headingPaths(list []mdHeading) []string {
	out := make([]string, len(list))
	for i, titles := range headingTitles(list) {
		out[i] = strings.Join(titles, "/")
	}
	return out
}

// headingTitles gives for each heading the titles above it and its own.
func headingTitles(list []mdHeading) [][]string {
	out := make([][]string, len(list))
	var stack []mdHeading
	for i, h := range list {
		for len(stack) > 0 && stack[len(stack)-1].level >= h.level {
			stack = stack[:len(stack)-1]
		}
		stack = append(stack, h)
		titles := make([]string, len(stack))
		for j, up := range stack {
			titles[j] = up.title
		}
		out[i] = titles
	}
	return out
}

// sections lists the sections of a text, a few of them, for a hint.
func sections(text string) []string {
	list, _ := headings(text)
	paths := headingPaths(list)
	if len(paths) > 12 {
		paths = append(paths[:12:12], "…")
	}
	for i, p := range paths {
		paths[i] = clip(printable(p), 60)
	}
	if len(paths) == 0 {
		return []string{"(none)"}
	}
	return paths
}
