package packet

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"rig/engine"
)

// The severities of a [Problem].
const (
	SeverityError   = "error"
	SeverityWarning = "warning"
)

// Problem is one thing that is wrong with a packet.
type Problem struct {
	// Field is a file name or the dotted path of a key.
	Field string `json:"field"`
	// Value is what was found, at most 80 characters, secrets replaced.
	Value string `json:"value"`
	// Rule is "keyword: message".
	Rule     string `json:"rule"`
	Severity string `json:"severity"`
}

// Report is the outcome of a validation.
type Report struct {
	// Valid is false if any problem is an error.
	Valid bool `json:"valid"`
	// Errors lists all problems, warnings too.
	Errors []Problem `json:"errors"`
}

// ExitCode is 1 for a packet with errors and 0 for one without; warnings do not
// change it.
func (r Report) ExitCode() int {
	if r.Valid {
		return 0
	}
	return 1
}

// severityOf: only the optional full transcript can have mere warnings.
func severityOf(path string) string {
	if strings.HasPrefix(path, "full_transcript.") {
		return SeverityWarning
	}
	return SeverityError
}

// maxSummary bounds what is read of a summary, in bytes.
const maxSummary = 16 << 20

// Validate checks a packet directory: its files, its summary against [Schema],
// the agreement of the two, and that no secret shows in its texts. It changes
// nothing. The error is about the directory itself: one that is missing, or
// that cannot be read.
func Validate(dir string) (Report, error) {
	root, err := openDir(dir)
	if err != nil {
		return Report{}, err
	}
	defer func() { _ = root.Close() }()
	var r Report
	for _, name := range []string{InstructionsName, LatestName, TouchedName, SummaryName} {
		r.file(root, name)
	}
	raw, err := readFile(root, SummaryName)
	switch {
	case errors.Is(err, errTooLarge):
		r.add(SummaryName, "<too-large>", fmt.Sprintf("size: more than %d bytes", maxSummary), SeverityError)
	case err == nil:
		problems, err := checkSummary(raw)
		if err != nil {
			return Report{}, err
		}
		r.Errors = append(r.Errors, problems...)
		r.agreement(root, raw)
	}
	r.strangers(root)
	for _, name := range []string{InstructionsName, LatestName, TouchedName, FullName} {
		r.secrets(root, name)
	}
	r.Valid = true
	for _, p := range r.Errors {
		r.Valid = r.Valid && p.Severity != SeverityError
	}
	if r.Errors == nil {
		r.Errors = []Problem{}
	}
	return r, nil
}

func (r *Report) add(field, value, rule, severity string) {
	r.Errors = append(r.Errors, Problem{Field: field, Value: value, Rule: rule, Severity: severity})
}

// openDir opens a packet directory such that nothing in it can lead out of it.
func openDir(dir string) (*os.Root, error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() { // before it is opened: a pipe would wait for a writer
		return nil, engine.Errorf(engine.CodeInvalid, "a packet is a directory, and this is none").On("restore-packet", dir).
			WithHint("give the directory that `rig restore-packet write --target` made")
	}
	root, err := os.OpenRoot(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, engine.Errorf(engine.CodeNotFound, "there is no packet").On("restore-packet", dir).
			WithHint("give the directory that `rig restore-packet write --target` made")
	case err != nil:
		return nil, engine.Errorf(engine.CodeUnavailable, "the packet cannot be read").On("restore-packet", dir).Wrap(err).
			WithHint("check that it is a directory and that you may read it")
	}
	return root, nil
}

// file reports a required file that is missing or is not a plain file.
func (r *Report) file(root *os.Root, name string) bool {
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.add(name, "<missing>", "required: the file is missing", SeverityError)
		return false
	case err != nil:
		r.add(name, "<unreadable>", "required: "+cause(err), SeverityError)
		return false
	case !info.Mode().IsRegular():
		r.add(name, "<not-a-regular-file>", "type: a packet holds plain files only", SeverityError)
		return false
	}
	return true
}

// cause is the reason of a file error without the path in front of it.
func cause(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

// agreement compares the summary with the files and the counts in them.
func (r *Report) agreement(root *os.Root, raw []byte) {
	v, err := decode(raw)
	obj, ok := v.(map[string]any)
	if err != nil || !ok {
		return
	}
	_, key := obj["full_transcript"]
	info, statErr := root.Lstat(FullName)
	switch file := statErr == nil; {
	case key && !file:
		r.add("full_transcript", "<key-present-file-absent>", "parity: "+FullName+" is missing", SeverityError)
	case !key && file:
		r.add(FullName, "<file-present-key-absent>", "parity: the summary has no full_transcript", SeverityError)
	case key && !info.Mode().IsRegular():
		r.add(FullName, "<not-a-regular-file>", "type: a packet holds plain files only", SeverityError)
	}
	if n, ok := intAt(obj, "bounded_latest_transcript", "message_count"); ok {
		if n > LatestBound {
			r.add("bounded_latest_transcript.message_count", strconv.Itoa(n), "maximum: more messages than the bound", SeverityError)
		}
		r.count(root, LatestName, n)
	}
	if n, ok := intAt(obj, "full_transcript", "line_count"); ok && key {
		r.count(root, FullName, n)
	}
}

func intAt(obj map[string]any, outer, name string) (int, bool) {
	in, _ := obj[outer].(map[string]any)
	num, ok := in[name].(interface{ Int64() (int64, error) })
	if !ok {
		return 0, false
	}
	n, err := num.Int64()
	return int(n), err == nil
}

// count compares a number of messages with the headings of a transcript.
func (r *Report) count(root *os.Root, name string, want int) {
	have := 0
	err := eachLine(root, name, func(l []byte) { have += b2i(heading(l)) })
	if err == nil && have != want {
		r.add(name, strconv.Itoa(have), "count: the summary says "+engine.Counted(want, "message"), SeverityWarning)
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// heading tells the line with which [entry.render] begins a message.
func heading(l []byte) bool {
	rest, ok := bytes.CutPrefix(l, []byte("## "))
	if !ok {
		return false
	}
	n := 0
	for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
		n++
	}
	return n > 0 && n < len(rest) && rest[n] == '.'
}

// strangers warns of files that are no part of a packet.
func (r *Report) strangers(root *os.Root) {
	d, err := root.Open(".")
	if err != nil {
		return
	}
	defer d.Close()
	entries, err := d.ReadDir(200)
	if err != nil && !errors.Is(err, io.EOF) {
		r.add(".", "<unreadable>", "directory: "+cause(err), SeverityError)
	}
	for _, e := range entries {
		switch e.Name() {
		case SummaryName, InstructionsName, LatestName, TouchedName, FullName:
		default:
			r.add(shown(e.Name()), "<not-part-of-a-packet>", "files: the standard knows no such file", SeverityWarning)
		}
	}
}

// secrets warns once per file of text that redaction would still replace.
func (r *Report) secrets(root *os.Root, name string) {
	kind, no, lineNo := "", 0, 0
	err := eachLine(root, name, func(l []byte) {
		no++
		if kind == "" {
			if k, found := residual(string(l)); found {
				kind, lineNo = k, no
			}
		}
	})
	if err == nil && kind != "" {
		r.add(name, kind+" in line "+strconv.Itoa(lineNo), "redaction: something looks like a secret", SeverityWarning)
	}
}

var errTooLarge = errors.New("too large")

// readFile reads a plain file of the packet, up to maxSummary bytes.
func readFile(root *os.Root, name string) ([]byte, error) {
	f, err := openFile(root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxSummary+1))
	if err == nil && len(b) > maxSummary {
		err = errTooLarge
	}
	return b, err
}

// openFile opens a plain file; links and pipes are refused.
func openFile(root *os.Root, name string) (*os.File, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("not a regular file")}
	}
	return root.Open(name)
}

// eachLine reads a file in pieces of bounded size; a very long line comes in
// several.
func eachLine(root *os.Root, name string, fn func([]byte)) error {
	f, err := openFile(root, name)
	if err != nil {
		return err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 256<<10)
	for {
		l, err := r.ReadSlice('\n')
		if len(l) > 0 {
			fn(l)
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}
