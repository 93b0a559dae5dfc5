package tmuxctl

import (
	"bytes"
	"errors"
	"strconv"
)

// eventKind says what one message of a control connection is.
type eventKind int

const (
	eventReply  eventKind = iota // a whole block
	eventOutput                  // bytes a pane wrote
	eventNotify                  // something happened
	eventExit                    // the client is about to end
)

// event is one message of a control connection.
type event struct {
	kind eventKind
	name string // of a notification, without the '%'
	text string // its arguments; the reason of an exit
	// reply
	ours   bool // an answer to a command we sent, not to the attach itself
	failed bool
	body   []byte
	// output
	pane string
	data []byte
}

// maxReply bounds one reply. Screens of 200 panes with history come in separate
// replies, so this is far beyond anything real.
const maxReply = 64 << 20

var (
	errStray    = errors.New("a control line outside a block is no notification")
	errReplyEnd = errors.New("a reply ends that never began")
	errTooLong  = errors.New("a control reply is too long")
)

// decoder reads a control connection line by line. It is pure: no clock, no input
// of its own. The zero value is ready.
type decoder struct {
	open   bool
	fields string // the three fields of %begin that %end must repeat
	body   []byte
}

// line takes one line without its line break. ok tells whether it completed a
// message. An error means that the stream is out of step: the connection cannot be
// used any more, because a forged or lost line would shift every later answer.
//
// A block ends only at %end or %error with the very fields of its %begin: captured
// text may well hold a line "%end 1 2 3" that some agent printed.
func (d *decoder) line(line []byte) (ev event, ok bool, err error) {
	if d.open {
		return d.inside(line)
	}
	if len(line) == 0 || line[0] != '%' {
		return event{}, false, errStray
	}
	name, rest, _ := bytes.Cut(line[1:], []byte(" "))
	switch string(name) {
	case "begin":
		d.open, d.fields, d.body = true, string(rest), nil
		return event{}, false, nil
	case "end", "error":
		return event{}, false, errReplyEnd
	case "output":
		pane, data, _ := bytes.Cut(rest, []byte(" "))
		return event{kind: eventOutput, pane: string(pane), data: unescapeOctal(data)}, true, nil
	case "extended-output":
		pane, data, _ := bytes.Cut(rest, []byte(" "))
		_, data, _ = bytes.Cut(data, []byte(" : "))
		return event{kind: eventOutput, pane: string(pane), data: unescapeOctal(data)}, true, nil
	case "exit":
		return event{kind: eventExit, text: string(rest)}, true, nil
	}
	return event{kind: eventNotify, name: string(name), text: string(rest)}, true, nil
}

// inside takes a line between %begin and its end.
func (d *decoder) inside(line []byte) (event, bool, error) {
	failed := bytes.HasPrefix(line, []byte("%error "))
	if failed || bytes.HasPrefix(line, []byte("%end ")) {
		_, fields, _ := bytes.Cut(line, []byte(" "))
		if string(fields) == d.fields {
			ev := event{kind: eventReply, ours: d.ours(), failed: failed, body: d.body}
			*d = decoder{}
			return ev, true, nil
		}
	}
	if len(d.body)+len(line) > maxReply {
		return event{}, false, errTooLong
	}
	d.body = append(append(d.body, line...), '\n')
	return event{}, false, nil
}

// ours tells by the third field, a set of flags: bit 0 marks a command that came
// over this connection.
func (d *decoder) ours() bool {
	i := bytes.LastIndexByte([]byte(d.fields), ' ')
	n, err := strconv.Atoi(d.fields[i+1:])
	return err == nil && n&1 == 1
}

// unescapeOctal undoes the escaping of %output: backslash and control bytes come as
// a backslash and exactly three octal digits, everything else raw. The result is
// bytes: a character may be split over two messages, so only joined output may be
// decoded. A backslash that starts no such escape is kept.
func unescapeOctal(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if b[i] == '\\' && i+3 < len(b) && isOctal(b[i+1], '3') && isOctal(b[i+2], '7') && isOctal(b[i+3], '7') {
			out = append(out, (b[i+1]-'0')<<6|(b[i+2]-'0')<<3|(b[i+3]-'0'))
			i += 3
			continue
		}
		out = append(out, b[i])
	}
	return out
}

func isOctal(c, highest byte) bool { return c >= '0' && c <= highest }
