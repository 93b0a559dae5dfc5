package packet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"rig/engine"
)

// CodeNotAddressable refuses a recap whose sections cannot be told apart by
// their headings.
const CodeNotAddressable engine.Code = "recap_not_addressable"

const (
	opRecap        = "recap-write"
	recapName      = "RECAP.md"
	learnedName    = "LEARNED.md"
	supersededName = "recap-superseded"
	draftPrefix    = ".recap-" // of a recap that is being written
	maxRecap       = 1 << 20
)

// WriteRecap makes draft the seat's recap: the account that an outgoing occupant
// writes for the next one. An earlier recap is kept byte for byte among the
// superseded ones, also when writing the new one fails. The caller has made sure
// that the seat exists; address is canonical.
//
// Refused with code recap_not_addressable are two headings of one path and a
// code fence without an end, because sections are addressed by their headings;
// with code invalid an empty, oversized or non-UTF-8 draft.
func (s Seats) WriteRecap(address string, draft []byte, now time.Time) (engine.RecapWritten, error) {
	if faults := checkDraft(address, draft); len(faults) > 0 {
		return engine.RecapWritten{}, faults[0]
	}
	dir := s.Dir(address)
	failed := func(err error) (engine.RecapWritten, error) {
		return engine.RecapWritten{}, engine.Errorf(engine.CodeUnavailable, "the recap could not be written").On(opRecap, address).Wrap(err).
			WithHint("check the free space and the permissions of %s; an earlier recap is untouched", dir)
	}
	if err := os.MkdirAll(filepath.Join(dir, supersededName), 0o700); err != nil {
		return failed(err)
	}
	staged, err := stage(dir, draft)
	if err != nil {
		return failed(err)
	}
	path := filepath.Join(dir, recapName)
	if err := supersede(path, filepath.Join(dir, supersededName), now); err != nil {
		return failed(errors.Join(err, os.Remove(staged)))
	}
	if err := os.Rename(staged, path); err != nil {
		return failed(errors.Join(err, os.Remove(staged)))
	}
	syncDir(dir)
	return engine.RecapWritten{Path: path, Superseded: supersededRecaps(dir), Findings: advise(string(draft)), Digest: digest(draft)}, nil
}

// checkDraft gives every reason why a draft cannot be a recap.
func checkDraft(address string, draft []byte) []error {
	refusal := func(hint, format string, args ...any) []error {
		return []error{engine.Errorf(engine.CodeInvalid, format, args...).On(opRecap, address).WithHint("%s", hint)}
	}
	member, rig, found := strings.Cut(address, "@")
	switch {
	case !found || ValidName(member) != nil || ValidName(rig) != nil:
		return refusal("give the seat as member@rig", "the address is not canonical")
	case len(bytes.TrimSpace(draft)) == 0:
		return refusal("write down the state of the work, the decisions and the next step", "the draft is empty")
	case len(draft) > maxRecap:
		return refusal("keep what the next occupant must know, and point to the rest", "the draft has %d bytes, more than %d", len(draft), maxRecap)
	case !utf8.Valid(draft):
		return refusal("save the draft as UTF-8", "the draft is not UTF-8 text")
	}
	return addressable(address, string(draft))
}

// mdHeading is one heading of a Markdown text outside of code fences.
type mdHeading struct {
	level, line int
	title       string
}

// headings walks the text once. open is the line of a fence without an end, 0
// if there is none.
func headings(text string) (list []mdHeading, open int) {
	fence := ""
	for i, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimLeft(line, " ")
		indent := len(line) - len(trimmed)
		if mark := fenceMark(trimmed); indent < 4 && mark != "" {
			switch {
			case fence == "":
				fence, open = mark, i+1
			case strings.HasPrefix(mark, fence) && strings.Trim(trimmed, fence[:1]+" \t\r") == "":
				fence, open = "", 0
			}
			continue
		}
		if fence != "" || indent > 3 {
			continue
		}
		level := len(trimmed) - len(strings.TrimLeft(trimmed, "#"))
		rest := trimmed[level:]
		if level < 1 || level > 6 || rest != "" && rest[0] != ' ' && rest[0] != '\t' && rest[0] != '\r' {
			continue
		}
		list = append(list, mdHeading{level, i + 1, strings.TrimSpace(strings.TrimRight(strings.TrimSpace(rest), "#"))})
	}
	return list, open
}

// fenceMark is the run of three or more backticks or tildes a line begins with.
func fenceMark(line string) string {
	for _, ch := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, ch)); n >= 3 {
			return line[:n]
		}
	}
	return ""
}

// shownFaults bounds the headings that are named in one refusal.
const shownFaults = 20

// addressable refuses a text in which a heading's path names two places, once for
// each such heading.
func addressable(address, text string) []error {
	var faults []error
	refuse := func(format string, args ...any) {
		faults = append(faults, engine.Errorf(CodeNotAddressable, format, args...).On(opRecap, address).
			WithHint("sections are addressed by their headings; change the draft and write again"))
	}
	list, open := headings(text)
	if open > 0 {
		refuse("the code fence in line %d has no end", open)
	}
	seen := map[string]int{}
	for i, titles := range headingTitles(list) {
		path, line := strings.Join(titles, "\x00"), list[i].line
		first, twice := seen[path]
		switch {
		case !twice:
			seen[path] = line
		case len(faults) < shownFaults:
			refuse("the headings in lines %d and %d have the same path: %s", first, line, clip(printable(strings.Join(titles, " / ")), 200))
		}
	}
	return faults
}

// advise looks for what helps a reader and is missing.
func advise(text string) []engine.RecapFinding {
	found := []engine.RecapFinding{}
	list, _ := headings(text)
	decisions := false
	for _, h := range list {
		decisions = decisions || strings.Contains(strings.ToLower(h.title), "decision")
	}
	if !decisions {
		found = append(found, engine.RecapFinding{Code: "no-decisions-section", Message: "no heading names the decisions that were taken"})
	}
	for i, line := range strings.Split(text, "\n") {
		if strings.Contains(strings.ToLower(line), "unverified") && !strings.Contains(line, "UNVERIFIED:") {
			found = append(found, engine.RecapFinding{Code: "nonstandard-unverified-marker", Line: i + 1, Message: "mark what was not checked with UNVERIFIED: so that it can be found"})
		}
	}
	return found
}

// stage writes the draft beside its place, complete and durable.
func stage(dir string, draft []byte) (string, error) {
	f, err := os.CreateTemp(dir, draftPrefix+"*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(draft)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// supersede keeps the present recap under a name of its own that nothing else
// has. The recap itself stays in its place until the new one takes it.
func supersede(path, dir string, now time.Time) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a plain file", recapName)
	}
	if err != nil {
		return err
	}
	stem := filepath.Join(dir, fmt.Sprintf("RECAP-%015d", now.UnixMilli()))
	for n := 1; n < 1000; n++ {
		name := stem + ".md"
		if n > 1 {
			name = stem + "-" + strconv.Itoa(n) + ".md"
		}
		err = os.Link(path, name)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			err = copyNew(path, name) // file systems without links
		}
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return err
}

// copyNew copies a file to a name that must be free.
func copyNew(from, to string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	if err == nil {
		err = dst.Sync()
	}
	if err = errors.Join(err, dst.Close()); err != nil {
		return errors.Join(err, os.Remove(to))
	}
	return nil
}

// supersededRecaps lists the earlier recaps, the oldest first: by time, then by
// the number that tells recaps of one moment apart.
func supersededRecaps(dir string) []string {
	entries, err := os.ReadDir(filepath.Join(dir, supersededName))
	if err != nil {
		return []string{}
	}
	list := []string{}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "RECAP-") && strings.HasSuffix(e.Name(), ".md") && e.Type().IsRegular() {
			list = append(list, filepath.Join(dir, supersededName, e.Name()))
		}
	}
	sort.Slice(list, func(i, j int) bool {
		ti, ni := recapOrder(list[i])
		tj, nj := recapOrder(list[j])
		if ti != tj {
			return ti < tj
		}
		return ni < nj
	})
	return list
}

// recapOrder reads time and number from a superseded recap's name.
func recapOrder(path string) (stamp string, n int) {
	stem := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "RECAP-"), ".md")
	stamp, number, _ := strings.Cut(stem, "-")
	n, err := strconv.Atoi(number)
	if err != nil {
		n = 1
	}
	return stamp, n
}
