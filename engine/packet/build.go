package packet

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"rig/engine"
	"rig/engine/transcript"
)

// maxPaths bounds the distinct paths that are counted; a conversation that
// touches more is not served by a longer list.
const maxPaths = 20_000

// entry is one message as it will be written.
type entry struct {
	role, text string
	at         time.Time
	inherited  bool
	off        int64 // of its record in the source
	n          int   // its number in the full transcript
}

// builder turns a stream of messages into the files of a packet. It keeps the
// latest messages and the counts; everything else goes to disk at once.
type builder struct {
	dir    *os.Root
	noFull bool
	file   *os.File
	full   *bufio.Writer
	err    error

	count    int
	latest   []entry // a ring once it is full
	next     int
	touched  map[string]*touch
	pathsCut bool
	counts   Counts
	withKeys int // messages in which something was redacted
	scratch  []byte

	firstAsked, lastAsked entry
	given                 handedOn
	back                  takenBack
	inherited             int
}

// takenBack says how often a Codex thread was taken back to an earlier prompt, and
// whether what still holds of an older file could not be had.
type takenBack struct {
	times int
	gone  bool
}

// touch counts one path by how it came up.
type touch struct{ tool, text int }

func newBuilder(dir *os.Root, noFull bool) *builder {
	return &builder{dir: dir, noFull: noFull, touched: map[string]*touch{}, counts: Counts{}}
}

// message takes one message of the conversation.
func (b *builder) message(m transcript.Message) {
	if m.Role == transcript.RoleTool {
		for _, p := range m.Paths {
			b.touch(p, true)
		}
		return
	}
	text, found := Redact(printable(m.Text))
	if found != nil {
		b.counts.Add(found)
		b.withKeys++
	}
	if m.Rewound {
		b.rewind(m.RewoundTo)
	}
	b.count++
	e := entry{role: string(m.Role), text: text, at: m.Time, inherited: m.Inherited, off: m.Offset, n: b.count}
	transcript.PathsInText(text, func(p string) { b.touch(p, false) })
	if m.Inherited {
		b.inherited++
	}
	if m.Role == transcript.RoleOperator {
		if b.own(text) {
			e.role = roleRig
		} else {
			b.asked(e)
		}
	}
	b.write(e)
	b.keep(e)
}

// asked remembers the first and the latest thing that a person asked for.
func (b *builder) asked(e entry) {
	e = asked(e)
	if b.firstAsked.text == "" {
		b.firstAsked = e
	}
	b.lastAsked = e
}

// asked is a message cut to what is quoted of it.
func asked(e entry) entry {
	e.text = strings.Clone(clip(e.text, maxDerived))
	return e
}

// keep puts a message into the ring of the latest.
func (b *builder) keep(e entry) {
	if len(e.text) > latestText {
		cut := clip(e.text, latestText)
		note := "\n[" + strconv.Itoa(len(e.text)-len(cut)) + " more bytes"
		if !b.noFull {
			note += " in " + FullName
		}
		e.text = cut + note + "]"
	}
	if len(b.latest) < held {
		b.latest = append(b.latest, e)
		return
	}
	b.latest[b.next] = e
	b.next = (b.next + 1) % held
}

// held is how many messages are kept back, so that enough are left of them after a
// rewind.
const held = 2 * LatestBound

// inOrder is the ring, oldest first.
func (b *builder) inOrder() []entry { return slices.Concat(b.latest[b.next:], b.latest[:b.next]) }

// latestInOrder is what the latest transcript holds, oldest first.
func (b *builder) latestInOrder() []entry {
	list := b.inOrder()
	return list[max(0, len(list)-LatestBound):]
}

// rewind takes back what was said from an offset of the source on: it is no longer part
// of the conversation, and whoever goes on with it would do what a person has taken
// back. The full transcript keeps it, and says so. The touched files stay listed: a
// rewind may leave them as they are.
func (b *builder) rewind(to int64) {
	list := b.inOrder()
	from := slices.IndexFunc(list, func(e entry) bool { return e.off >= to })
	if from < 0 {
		return
	}
	since := "an earlier message"
	if from > 0 || list[0].off == to {
		since = "message " + strconv.Itoa(list[from].n)
	}
	b.latest, b.next = list[:from], 0
	b.lastAsked = entry{}
	if b.firstAsked.off >= to {
		b.firstAsked = entry{}
	}
	for _, e := range b.latest {
		if e.role == string(transcript.RoleOperator) {
			b.lastAsked = asked(e)
		}
	}
	if b.lastAsked.text == "" {
		b.lastAsked = b.firstAsked
	}
	b.note("The conversation was taken back to before " + since + ": what stands from there to here is no longer part of it.")
}

// touch counts a path. Its text passes redaction like any other: a path can
// hold a token.
func (b *builder) touch(p string, tool bool) {
	t := b.touched[p]
	if t == nil {
		clean, found := Redact(printable(p))
		b.counts.Add(found)
		if clean == "" {
			return
		}
		t = b.touched[clean]
		if t == nil {
			if len(b.touched) >= maxPaths {
				b.pathsCut = true
				return
			}
			t = &touch{}
			b.touched[strings.Clone(clean)] = t
		}
	}
	if tool {
		t.tool++
	} else {
		t.text++
	}
}

// rankedPath is a path with its counts.
type rankedPath struct {
	path string
	touch
}

// ranked lists the touched paths: those that tools worked on first, then those
// that were only named, each by count and then by name; at most listPaths.
func (b *builder) ranked() []rankedPath {
	all := make([]rankedPath, 0, len(b.touched))
	for p, t := range b.touched {
		all = append(all, rankedPath{p, *t})
	}
	sort.Slice(all, func(i, j int) bool {
		x, y := all[i], all[j]
		if (x.tool > 0) != (y.tool > 0) {
			return x.tool > 0
		}
		if nx, ny := x.tool+x.text, y.tool+y.text; nx != ny {
			return nx > ny
		}
		return x.path < y.path
	})
	return all[:min(len(all), listPaths)]
}

// write appends a message to the full transcript, which begins with the first
// message.
func (b *builder) write(e entry) {
	if b.noFull || b.err != nil {
		return
	}
	if b.full == nil {
		b.file, b.err = b.dir.OpenFile(FullName, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if b.err != nil {
			return
		}
		b.full = bufio.NewWriterSize(b.file, 256<<10)
		_, b.err = b.full.WriteString("# Full transcript\n\nEverything that was said, the oldest first. Tool payloads, reasoning and what the client added by itself are left out; restore-summary.json counts them. Secrets are replaced by " + Marker + ".\n")
	}
	if b.err == nil {
		b.scratch = e.render(b.scratch[:0], b.count)
		_, b.err = b.full.Write(b.scratch)
	}
}

// note puts a remark of this product between two messages of the full transcript, under
// a heading, which no message can hold.
func (b *builder) note(text string) {
	if b.full != nil && b.err == nil {
		_, b.err = b.full.WriteString("\n## rewound\n\n" + text + "\n")
	}
}

// closeFull finishes the full transcript. There is none if nothing was said.
func (b *builder) closeFull() error {
	if b.full != nil {
		if err := b.full.Flush(); b.err == nil {
			b.err = err
		}
		if err := b.file.Sync(); b.err == nil {
			b.err = err
		}
		if err := b.file.Close(); b.err == nil {
			b.err = err
		}
	}
	if b.err != nil {
		return fmt.Errorf("write %s: %w", FullName, b.err)
	}
	return nil
}

// render writes "## <n>. <role> <time>" and the text. Lines of the text that
// look like such a heading get a backslash, so that nobody can put words into
// another's mouth.
func (e entry) render(dst []byte, n int) []byte {
	dst = append(dst, "\n## "...)
	dst = strconv.AppendInt(dst, int64(n), 10)
	dst = append(dst, ". "...)
	dst = append(dst, e.role...)
	if !e.at.IsZero() {
		dst = append(dst, ' ')
		dst = e.at.UTC().AppendFormat(dst, time.RFC3339)
	}
	if e.inherited {
		dst = append(dst, " (inherited from the parent conversation)"...)
	}
	dst = append(dst, "\n\n"...)
	text := e.text
	for {
		if strings.HasPrefix(text, "## ") {
			dst = append(dst, '\\')
		}
		at := strings.Index(text, "\n## ")
		if at < 0 {
			dst = append(dst, text...)
			break
		}
		dst = append(dst, text[:at+1]...)
		text = text[at+1:]
	}
	return append(dst, '\n')
}

// renderLatest writes the bounded latest transcript.
func (b *builder) renderLatest(w io.Writer, session string) error {
	list := b.latestInOrder()
	if _, err := fmt.Fprintf(w, "# Latest transcript\n\nSource: %s. The latest %d of %s, at most %d.\n", session, len(list), engine.Counted(b.count, "message"), LatestBound); err != nil {
		return err
	}
	var buf []byte
	for i, e := range list {
		buf = e.render(buf[:0], i+1)
		if _, err := w.Write(buf); err != nil {
			return err
		}
	}
	return nil
}

// renderTouched writes the inventory of paths.
func (b *builder) renderTouched(w io.Writer, list []rankedPath) error {
	var s strings.Builder
	s.WriteString("# Touched files\n\nA triage aid, not a record of changes: paths that tool calls named come first, paths that were only talked about after them.\n\n")
	if len(list) == 0 {
		s.WriteString("None detected.\n")
	}
	for _, p := range list {
		s.WriteString("- " + p.path + " (" + strconv.Itoa(p.tool+p.text) + ")")
		if p.tool == 0 {
			s.WriteString(", only talked about")
		}
		s.WriteByte('\n')
	}
	if len(b.touched) > len(list) || b.pathsCut {
		fmt.Fprintf(&s, "\nFurther paths are not listed: %d were seen.\n", len(b.touched))
	}
	_, err := io.WriteString(w, s.String())
	return err
}
