package tmuxctl

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

// decode runs lines through a decoder.
func decode(text string) (evs []event, err error) {
	var d decoder
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		ev, ok, err := d.line([]byte(line))
		if err != nil {
			return evs, err
		}
		if ok {
			evs = append(evs, ev)
		}
	}
	return evs, nil
}

// A recorded session of tmux 3.3a, with a pane that shows "%end 1 2 3" and "%exit".
func TestDecodeTranscript(t *testing.T) {
	b, err := os.ReadFile("testdata/control/3.3a.txt")
	if err != nil {
		t.Fatal(err)
	}
	evs, err := decode(string(b))
	if err != nil {
		t.Fatal(err)
	}
	var replies, notes []string
	var output []byte
	for _, ev := range evs {
		switch ev.kind {
		case eventReply:
			replies = append(replies, fmt.Sprintf("%v %v %q", ev.ours, ev.failed, ev.body))
		case eventNotify:
			notes = append(notes, ev.name)
		case eventOutput:
			output = append(output, ev.data...)
		case eventExit:
			notes = append(notes, "exit:"+ev.text)
		}
	}
	want := []string{
		`false false ""`, `false false ""`, `true false ""`, `true false "%end 1 2 3\n%exit now\n\n"`,
		`true true "can't find pane: %77\n"`, `true false "a b\n"`, `true false ""`, `true false "yes\n"`, `true false "two\n"`,
	}
	if got := strings.Join(replies, "|"); got != strings.Join(want, "|") {
		t.Errorf("replies:\n%s\nwant\n%s", got, strings.Join(want, "|"))
	}
	if string(output) != "h\\i ü\r\nh\\i ü\r\n" {
		t.Errorf("output %q", output)
	}
	if notes[len(notes)-1] != "exit:" || !strings.Contains(strings.Join(notes, " "), "subscription-changed") {
		t.Errorf("notifications %q", notes)
	}
}

func TestDecodeOutOfStep(t *testing.T) {
	for text, want := range map[string]error{
		"text":                                 errStray,
		"":                                     errStray,
		"%end 1 2 1":                           errReplyEnd,
		"%begin 1 2 1\n%end 1 2 1\n%end 1 2 1": errReplyEnd,
	} {
		if _, err := decode(text); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
}

func TestDecodeExtendedOutput(t *testing.T) {
	evs, err := decode(`%extended-output %3 120 : a\011b : c`)
	if err != nil || len(evs) != 1 || evs[0].pane != "%3" || string(evs[0].data) != "a\tb : c" {
		t.Errorf("%+v, %v", evs, err)
	}
}

// A character that is split over two messages is whole again when they are joined.
func TestOutputJoinsAsBytes(t *testing.T) {
	evs, err := decode("%output %1 \xc3\n%output %1 \xbc\\134\\033[0m\\x")
	if err != nil {
		t.Fatal(err)
	}
	var joined []byte
	for _, ev := range evs {
		joined = append(joined, ev.data...)
	}
	if string(joined) != "ü\\\x1b[0m\\x" {
		t.Errorf("%q", joined)
	}
}

// escapeOctal is what tmux does to %output.
func escapeOctal(b []byte) []byte {
	var out bytes.Buffer
	for _, c := range b {
		if c < 0x20 || c == '\\' {
			fmt.Fprintf(&out, "\\%03o", c)
			continue
		}
		out.WriteByte(c)
	}
	return out.Bytes()
}

func FuzzUnescapeOctal(f *testing.F) {
	for _, s := range []string{"", "a\\b\x1b[0m", "\\", "\\13", "\x00\xff\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if got := unescapeOctal(escapeOctal(b)); !bytes.Equal(got, b) {
			t.Errorf("got %q, want %q", got, b)
		}
		if got := unescapeOctal(b); len(got) > len(b) {
			t.Errorf("%q grew to %q", b, got)
		}
	})
}

func FuzzDecoder(f *testing.F) {
	b, err := os.ReadFile("testdata/control/3.3a.txt")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(b))
	f.Add("%begin 1 2 1\n%end 1 2 2\n%error 1 2 1\n%exit bye")
	f.Add("%output\n%extended-output %1\n%\n%begin\nx\n%end ")
	f.Fuzz(func(t *testing.T, text string) {
		evs, err := decode(text)
		begins := strings.Count("\n"+text, "\n%begin")
		replies := 0
		for _, ev := range evs {
			if ev.kind == eventReply {
				replies++
			}
		}
		if replies > begins {
			t.Errorf("%d replies to %d begins", replies, begins)
		}
		if err == nil && !strings.HasPrefix(text, "%") {
			t.Errorf("%q passed", text)
		}
	})
}

// Quoting for tmux's parser round-trips every text without line breaks. The check
// reads the quoted text back by the parser's own rules for single quotes.
func FuzzQuoteWord(f *testing.F) {
	for _, s := range []string{"", "'", "a'b;$x#{y}\"\\", ";", "~"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		q, err := quoteWord(s)
		if err != nil {
			if !strings.ContainsAny(s, "\n\r\x00") {
				t.Errorf("%q refused", s)
			}
			return
		}
		var out strings.Builder
		for i, in := 0, false; i < len(q); i++ {
			switch {
			case q[i] == '\'':
				in = !in
			case !in && q[i] == '\\':
				i++
				out.WriteByte(q[i])
			case in:
				out.WriteByte(q[i])
			default:
				t.Fatalf("%q leaves %q unquoted in %q", s, q[i], q)
			}
		}
		if out.String() != s {
			t.Errorf("%q became %q", s, out.String())
		}
	})
}

func TestScreenLines(t *testing.T) {
	in := "plain\n\x1b[31mred\x1b[0m \x1b[38;2;1;2;3mx\x1b[39m\n\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\na\tb\x07\n\x0elqk\x1b[1mx\x0fx\n\u009b2Jq\n\x1b[2Jerase\x1b\n\n"
	colours := []string{"plain", "\x1b[31mred\x1b[0m \x1b[38;2;1;2;3mx\x1b[39m", "link", "a\tb", "┌─┐\x1b[1m│x", "q", "erase", ""}
	plain := []string{"plain", "red x", "link", "a\tb", "┌─┐│x", "q", "erase", ""}
	for want, on := range map[*[]string]bool{&colours: true, &plain: false} {
		if got := screenLines(in, on); strings.Join(got, "\n") != strings.Join(*want, "\n") {
			t.Errorf("colours %v:\n%q\nwant\n%q", on, got, *want)
		}
	}
}

func FuzzScreenLines(f *testing.F) {
	f.Add("\x1b[31mred\x1b[0m\n\x0elqk\x0f\x1b]8;;x\x1b\\y", true)
	f.Add("\x1b[\x1b[2J\x9b\x1b", false)
	f.Fuzz(func(t *testing.T, in string, colours bool) {
		for _, l := range screenLines(in, colours) {
			for l != "" {
				if n, sgr := sgrLength(l); sgr && colours {
					l = l[n:]
					continue
				}
				r, size := utf8.DecodeRuneInString(l)
				if isControl(r) || r == utf8.RuneError && size == 1 {
					t.Fatalf("%q is left in %q", r, l)
				}
				l = l[size:]
			}
		}
	})
}
