// Package synth makes large synthetic transcripts for benchmarks and tests:
// the same seed gives the same bytes. The files look like a client's own in
// shape and in what makes them hard to read (escapes, wide characters, one very
// long line, secrets that lie across the edges of read buffers), and hold
// nothing that anyone ever said.
package synth

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"
)

// Config says what to make.
type Config struct {
	// Seed chooses the content. The same seed and sizes give the same bytes.
	Seed uint64
	// Bytes is the size to reach; the file ends with the record that passes it.
	Bytes int64
	// LongLine is the length of one line with an image in the middle of the
	// file, in bytes; 0 for none.
	LongLine int
	// Secrets plants made-up credentials across read-buffer edges.
	Secrets bool
}

// Facts says what a file holds, for comparison with what a reader finds.
type Facts struct {
	Records     int
	Operator    int
	Assistant   int
	ToolCalls   int
	ToolResults int
	// Planted are the secrets in the text of messages, one entry per place.
	Planted []string
}

// Edge is the distance between the offsets across which secrets are planted. It
// divides the buffer sizes that readers commonly use.
const Edge = 64 << 10

// EXAMPLE values of well-known secret forms; none of them was ever valid. They
// are put together at run time so that the sources hold no secret-shaped text.
func secrets() []string {
	ex := strings.Repeat("EXAMPLEexample0000", 3)
	return []string{
		"ghp_" + ex[:36],
		"sk-ant-api03-" + ex[:48],
		"AKIA" + "EXAMPLE000000000",
		"xoxb-" + "000000000000-" + ex[:24],
		"npm_" + ex[:36],
		"github_pat_" + ex[:22] + "_" + ex[:40],
	}
}

// random is a splitmix64 generator: small, and the same on every release.
type random uint64

func (r *random) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (r *random) below(n int) int { return int(r.next() % uint64(n)) }

// maker writes one file.
type maker struct {
	w       *bufio.Writer
	c       Config
	r       random
	off     int64
	at      time.Time
	facts   Facts
	err     error
	longDue bool
	planted int
}

func newMaker(w io.Writer, c Config) *maker {
	return &maker{
		w: bufio.NewWriterSize(w, 1<<20), c: c, r: random(c.Seed + 1),
		at:      time.Date(2026, 3, 3, 10, 0, 0, 0, time.UTC),
		longDue: c.LongLine > 0,
	}
}

// put writes one record line.
func (m *maker) put(s string) {
	if m.err != nil {
		return
	}
	n, err := m.w.WriteString(s)
	m.off += int64(n)
	if err == nil {
		err = m.w.WriteByte('\n')
		m.off++
	}
	m.err = err
	m.facts.Records++
}

func (m *maker) finish() (Facts, error) {
	if m.err == nil {
		m.err = m.w.Flush()
	}
	if m.err != nil {
		return m.facts, fmt.Errorf("write synthetic transcript: %w", m.err)
	}
	return m.facts, nil
}

// stamp moves the clock of the conversation on.
func (m *maker) stamp() string {
	m.at = m.at.Add(time.Duration(100+m.r.below(4000)) * time.Millisecond)
	return m.at.Format("2006-01-02T15:04:05.000Z")
}

func (m *maker) uuid() string {
	a, b := m.r.next(), m.r.next()
	return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", uint32(a), uint16(a>>32), a>>52, b&0xfff, b>>16)
}

// longNow tells once, about halfway, that the long line is due.
func (m *maker) longNow() bool {
	if !m.longDue || m.off < (m.c.Bytes-int64(m.c.LongLine))/2 {
		return false
	}
	m.longDue = false
	return true
}

// edgeText returns prose that ends in a secret lying across the next edge, if
// the record's text starts close enough before one. start is the offset of the
// text's first byte.
func (m *maker) edgeText(start int64) (string, bool) {
	if !m.c.Secrets {
		return "", false
	}
	left := Edge - start%Edge
	list := secrets()
	secret := list[m.planted%len(list)]
	lead := int(left) - 1 - m.planted%(len(secret)-2) - 1
	if lead < 10 || lead > 2500 {
		return "", false
	}
	m.planted++
	m.facts.Planted = append(m.facts.Planted, secret)
	text := strings.Repeat("use the key ", lead/12+1)[:lead-1] + " "
	return text + secret + " for the test", true
}
