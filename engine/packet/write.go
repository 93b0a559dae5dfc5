package packet

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"rig/engine"
	"rig/engine/transcript"
)

// Result says what was written: metadata only, never text of the conversation.
type Result struct {
	Path     string   `json:"path"`
	Files    []string `json:"files"`
	Messages int      `json:"messages"`
	// Omitted counts by class; Redactions by kind of secret.
	Omitted    map[string]int `json:"omitted_classes"`
	Redactions Counts         `json:"redactions"`
	// Skipped are the lines of the record that could not be read (the first
	// ones), SkippedTotal counts all.
	Skipped      []transcript.Skip `json:"skipped,omitempty"`
	SkippedTotal int               `json:"skipped_total"`
	Caveats      []string          `json:"caveats"`
	Summary      Summary           `json:"-"`
}

// Write makes a packet. The whole of it appears at once, by one rename, or
// nothing does; a target that exists is refused and left as it is. The source
// is only read. Files have mode 0600, directories 0700.
//
// Errors are *engine.Error. Those that refuse the request (codes invalid,
// bad_name, packet_exists, packet_parent_absent, provenance_required,
// runtime_undetected, transcript_unreadable) come before anything is written.
func Write(q Request) (Result, error) {
	parent, name, rt, from, err := q.settle()
	if err != nil {
		return Result{}, err
	}
	temp, err := os.MkdirTemp(parent, name+tempMark+"*")
	if err != nil {
		return Result{}, writeFailed(q.Target, err)
	}
	res, err := q.fill(temp, rt, from)
	if err == nil {
		err = publish(temp, filepath.Join(parent, name))
	}
	if err != nil {
		return Result{}, errors.Join(err, os.RemoveAll(temp))
	}
	res.Path = filepath.Join(parent, name)
	return res, nil
}

// settle refuses everything that can be refused before anything is written, and
// gives the place of the packet and what it is made from.
func (q *Request) settle() (parent, name string, rt transcript.Runtime, from provenance, err error) {
	if err = q.check(); err != nil {
		return
	}
	if parent, name, err = place(q.Target); err != nil {
		return
	}
	rt, head, err := q.source()
	if err != nil {
		return
	}
	from, err = q.provenance(head)
	return
}

// Preview is what [Write] would do, for a dry run.
type Preview struct {
	Path          string `json:"path"`
	SourceRuntime string `json:"source_runtime"`
	SourceRig     string `json:"source_rig"`
	SourceCwd     string `json:"source_cwd"`
	// SourceBytes is the size of the record that would be read.
	SourceBytes   int64    `json:"source_bytes"`
	TargetRig     string   `json:"target_rig"`
	TargetRuntime string   `json:"target_runtime"`
	Files         []string `json:"files"`
}

// Check refuses what [Write] would refuse before it writes, with the same errors,
// and otherwise says what it would do. It writes nothing.
func Check(q Request) (Preview, error) {
	parent, name, rt, from, err := q.settle()
	if err != nil {
		return Preview{}, err
	}
	p := Preview{
		Path: filepath.Join(parent, name), SourceRuntime: string(rt), SourceRig: from.rig, SourceCwd: cmp.Or(from.cwd, unknownCwd),
		TargetRig: cmp.Or(q.TargetRig, from.rig), TargetRuntime: cmp.Or(q.TargetRuntime, string(transcript.RuntimeClaude)),
		Files: []string{InstructionsName, LatestName, TouchedName, SummaryName},
	}
	if info, err := os.Stat(q.SourcePath); err == nil {
		p.SourceBytes = info.Size()
	}
	if !q.NoFullTranscript {
		p.Files = append(p.Files, FullName)
	}
	return p, nil
}

// place resolves the target's parent, links included, and makes sure that the
// target itself is not there in any form.
func place(target string) (parent, name string, err error) {
	abs, err := filepath.Abs(target)
	if err != nil {
		return "", "", writeFailed(target, err)
	}
	name = filepath.Base(abs)
	parent, err = filepath.EvalSymlinks(filepath.Dir(abs))
	if err == nil {
		var info fs.FileInfo
		if info, err = os.Stat(parent); err == nil && !info.IsDir() {
			err = errors.New("it is not a directory")
		}
	}
	if err != nil {
		return "", "", engine.Errorf(CodeParentMissing, "the target's parent directory cannot be used").On(opWrite, target).
			WithHint("make it first; it is never created").Wrap(err)
	}
	return parent, name, absent(filepath.Join(parent, name))
}

// absent refuses anything at the path, also a link that leads nowhere.
func absent(path string) error {
	_, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return writeFailed(path, err)
	}
	return refuse(CodeTargetExists, path, "choose a target that does not exist; what is there was left as it is", "the target exists already")
}

func writeFailed(target string, err error) error {
	return engine.Errorf(engine.CodeUnavailable, "the packet could not be written").On(opWrite, target).
		WithHint("check the free space and the permissions of the parent directory; nothing was left behind").Wrap(err)
}

// fill writes the files into the temporary directory and judges them there.
func (q *Request) fill(temp string, rt transcript.Runtime, from provenance) (Result, error) {
	dir, err := os.OpenRoot(temp)
	if err != nil {
		return Result{}, writeFailed(q.Target, err)
	}
	defer func() { _ = dir.Close() }()
	b := newBuilder(dir, q.NoFullTranscript)
	b.back, err = q.older(rt, b)
	if err != nil {
		_ = b.closeFull()
		return Result{}, err
	}
	read, err := transcript.ReadFile(q.SourcePath, rt, transcript.Options{Tools: true}, b.message)
	if err != nil {
		_ = b.closeFull()
		return Result{}, q.unreadable(err)
	}
	if err := b.closeFull(); err != nil {
		return Result{}, writeFailed(q.Target, err)
	}
	s := q.summary(b, read, from)
	files, err := writeFiles(dir, b, s)
	if err != nil {
		return Result{}, writeFailed(q.Target, err)
	}
	if err := q.judge(dir); err != nil {
		return Result{}, err
	}
	return Result{
		Files: files, Messages: b.count, Omitted: s.OmittedCounts, Redactions: b.counts,
		Skipped: read.Skipped, SkippedTotal: read.SkippedTotal, Caveats: s.Caveats, Summary: s,
	}, nil
}

// older takes what still holds of the older files of a thread that was taken back.
func (q *Request) older(rt transcript.Runtime, b *builder) (takenBack, error) {
	var t takenBack
	if rt != transcript.RuntimeCodex {
		return t, nil
	}
	parts, whole, err := transcript.TakenBack(q.SourcePath)
	if err != nil {
		return t, q.unreadable(err)
	}
	t.times, t.gone = len(parts), !whole
	for _, p := range parts {
		if _, err := transcript.ReadPart(p, rt, transcript.Options{Tools: true}, b.message); err != nil {
			t.gone = true // the files behind it can be read
		}
	}
	return t, nil
}

// writeFiles writes everything but the full transcript, which is there already.
func writeFiles(dir *os.Root, b *builder, s Summary) ([]string, error) {
	raw, err := Marshal(s)
	if err != nil {
		return nil, err
	}
	parts := []struct {
		name  string
		write func(io.Writer) error
	}{
		{InstructionsName, func(w io.Writer) error { return renderInstructions(w, s) }},
		{LatestName, func(w io.Writer) error { return b.renderLatest(w, display(s.SourceSessionID)) }},
		{TouchedName, func(w io.Writer) error { return b.renderTouched(w, b.ranked()) }},
		{SummaryName, func(w io.Writer) error { _, err := w.Write(raw); return err }},
	}
	var names []string
	for _, p := range parts {
		if err := writeFile(dir, p.name, p.write); err != nil {
			return nil, fmt.Errorf("write %s: %w", p.name, err)
		}
		names = append(names, p.name)
	}
	if b.full != nil {
		names = append(names, FullName)
	}
	return names, nil
}

func writeFile(dir *os.Root, name string, write func(io.Writer) error) error {
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// judge reads the summary back and holds it against the schema: a packet that
// would not validate is never published.
func (q *Request) judge(dir *os.Root) error {
	raw, err := readFile(dir, SummaryName)
	if err != nil {
		return writeFailed(q.Target, err)
	}
	problems, err := checkSummary(raw)
	if err != nil {
		return err
	}
	if len(problems) > 0 {
		p := problems[0]
		return engine.Errorf(CodePacketInvalid, "the packet would not be valid: %s: %s (%s)", p.Field, p.Rule, p.Value).
			On(opWrite, q.Target).WithHint("correct the value and write again; nothing was left behind").With("problems", problems)
	}
	return nil
}

// publish moves the finished directory to its name. A directory cannot be
// renamed onto a file, a link or a directory with something in it, so whatever
// appeared there meanwhile is safe.
func publish(temp, target string) error {
	if err := absent(target); err != nil {
		return err
	}
	if err := os.Rename(temp, target); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return refuse(CodeTargetExists, target, "choose a target that does not exist", "the target appeared meanwhile")
		}
		return writeFailed(target, err)
	}
	syncDir(filepath.Dir(target))
	return nil
}

// syncDir makes the rename durable where the file system can; where it cannot,
// the packet is there all the same.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

// Marshal renders a summary as it stands in a packet.
func Marshal(s Summary) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(s); err != nil {
		return nil, fmt.Errorf("render %s: %w", SummaryName, err)
	}
	return b.Bytes(), nil
}
