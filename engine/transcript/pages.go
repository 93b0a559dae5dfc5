package transcript

import (
	"context"
	"io"
)

const (
	pageWindow = 256 << 10
	// pageBudget is how many bytes one page may look at. Where little is said
	// between tool results, a page is short rather than late.
	pageBudget = 16 << 20
	findWindow = 1 << 20
)

// Page is a stretch of a file's messages, oldest first: those of the bytes
// [From, To) of Size. The next page begins at To, the one before ends at From.
type Page struct {
	Messages       []Message
	From, To, Size int64
}

// PageBefore reads up to n messages that end before a byte offset; one below zero
// or beyond the end means the end. Its cost does not depend on the file's size. It
// fails like [ReadFile].
func PageBefore(ctx context.Context, path string, rt Runtime, end int64, n int, o Options) (Page, error) {
	src, err := open(path)
	if err != nil {
		return Page{}, err
	}
	defer src.close()
	if end < 0 || end > src.size {
		end = src.size
	}
	p := Page{From: end, To: end, Size: src.size}
	for p.From > 0 && len(p.Messages) < n && end-p.From < pageBudget && ctx.Err() == nil {
		start, err := windowStart(src, p.From, pageWindow)
		if err != nil {
			return p, err
		}
		part, err := messagesIn(src.f, start, p.From, rt, o)
		if err != nil {
			return p, err
		}
		p.Messages = append(part, p.Messages...)
		p.From = start
	}
	if cut := len(p.Messages) - n; cut > 0 {
		for cut < len(p.Messages) && p.Messages[cut].Offset == p.Messages[cut-1].Offset {
			cut++ // what one record says stays together
		}
		if cut < len(p.Messages) {
			p.Messages, p.From = p.Messages[cut:], p.Messages[cut].Offset
		}
	}
	return p, ctx.Err()
}

// PageAfter reads up to n messages from a byte offset on. It fails like
// [ReadFile].
func PageAfter(ctx context.Context, path string, rt Runtime, from int64, n int, o Options) (Page, error) {
	src, err := open(path)
	if err != nil {
		return Page{}, err
	}
	defer src.close()
	if from, err = lineStart(src.f, min(max(from, 0), src.size), src.size); err != nil {
		return Page{}, err
	}
	p := Page{From: from, To: from, Size: src.size}
	for p.To < p.Size && len(p.Messages) < n && p.To-from < pageBudget && ctx.Err() == nil {
		end, err := windowEnd(src, p.To, pageWindow)
		if err != nil {
			return p, err
		}
		part, err := messagesIn(src.f, p.To, end, rt, o)
		if err != nil {
			return p, err
		}
		p.Messages = append(p.Messages, part...)
		p.To = end
	}
	if len(p.Messages) > n {
		cut := n
		for cut < len(p.Messages) && p.Messages[cut].Offset == p.Messages[cut-1].Offset {
			cut++
		}
		if cut < len(p.Messages) {
			p.To, p.Messages = p.Messages[cut].Offset, p.Messages[:cut]
		}
	}
	return p, ctx.Err()
}

// FindMessage looks for the nearest message that is wanted: at or after an offset,
// or with back before it. It reads one window after another, so it may be cancelled
// and never holds much. It fails like [ReadFile].
func FindMessage(ctx context.Context, path string, rt Runtime, from int64, back bool, o Options, want func(Message) bool) (offset int64, found bool, err error) {
	src, err := open(path)
	if err != nil {
		return 0, false, err
	}
	defer src.close()
	at := min(max(from, 0), src.size)
	for ctx.Err() == nil {
		start, end := at, at
		if back {
			start, err = windowStart(src, at, findWindow)
		} else {
			end, err = windowEnd(src, at, findWindow)
		}
		if err != nil || start == end {
			return 0, false, err
		}
		part, err := messagesIn(src.f, start, end, rt, o)
		if err != nil {
			return 0, false, err
		}
		for i := range part {
			m := part[i]
			if back {
				m = part[len(part)-1-i]
			}
			if want(m) {
				return m.Offset, true, nil
			}
		}
		if at = end; back {
			at = start
		}
	}
	return 0, false, ctx.Err()
}

// windowStart is a line start about size bytes before end; further before when one
// line is longer than that.
func windowStart(src *source, end, size int64) (int64, error) {
	for {
		at := max(end-size, 0)
		start, err := lineStart(src.f, at, src.size)
		if err != nil || start < end || at == 0 {
			return min(start, end), err
		}
		size *= 2
	}
}

// windowEnd is the end of a line about size bytes behind from, or the file's end.
func windowEnd(src *source, from, size int64) (int64, error) {
	for {
		at := min(from+size, src.size)
		end, err := lastLineEnd(src.f, from, at)
		if err != nil || end > from {
			return end, err
		}
		if at == src.size {
			return at, nil
		}
		size *= 2
	}
}

func messagesIn(r io.ReaderAt, from, end int64, rt Runtime, o Options) ([]Message, error) {
	var out []Message
	_, err := readRange(r, from, end, rt, o, func(m Message) { out = append(out, m) })
	return out, err
}
