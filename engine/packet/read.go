package packet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"rig/engine"
)

// Packet is a packet as it was read.
type Packet struct {
	Dir     string
	Summary Summary
	// Raw is the summary's own bytes: also keys that this build does not know.
	Raw []byte
	// Instructions is the page's text; empty with HasInstructions false if the
	// file is missing or cannot be read.
	Instructions    string
	HasInstructions bool
	// FullBytes is the size of the full transcript in bytes; -1 without one.
	FullBytes int64
	// Warnings are disagreements that do not keep the packet from being read.
	Warnings []string
}

// Read reads a packet of version 0, ours or another program's. It fails with
// not_found without a directory, and with packet_invalid if the summary is
// missing or breaks the schema; other faults are warnings in the packet.
func Read(dir string) (Packet, error) {
	root, err := openDir(dir)
	if err != nil {
		return Packet{}, err
	}
	defer func() { _ = root.Close() }()
	p := Packet{Dir: dir, FullBytes: -1}
	invalid := func(format string, args ...any) error {
		return engine.Errorf(CodePacketInvalid, format, args...).On("restore-packet read", dir).
			WithHint("`rig restore-packet validate` lists everything that is wrong with it")
	}
	p.Raw, err = readFile(root, SummaryName)
	if errors.Is(err, fs.ErrNotExist) {
		return Packet{}, invalid("%s is missing", SummaryName)
	}
	if err != nil {
		return Packet{}, invalid("%s cannot be read: %s", SummaryName, cause(err))
	}
	problems, err := checkSummary(p.Raw)
	if err != nil {
		return Packet{}, err
	}
	for _, x := range problems {
		if x.Severity == SeverityError {
			return Packet{}, invalid("%s: %s (%s)", x.Field, x.Rule, x.Value)
		}
		p.Warnings = append(p.Warnings, x.Field+": "+x.Rule)
	}
	if err := json.Unmarshal(p.Raw, &p.Summary); err != nil {
		return Packet{}, invalid("%s cannot be read: %s", SummaryName, err)
	}
	if text, err := readFile(root, InstructionsName); err == nil {
		p.Instructions, p.HasInstructions = string(text), true
	} else {
		p.Warnings = append(p.Warnings, InstructionsName+": "+cause(err))
	}
	if info, err := root.Lstat(FullName); err == nil && info.Mode().IsRegular() {
		p.FullBytes = info.Size()
	}
	switch {
	case p.Summary.Full != nil && p.FullBytes < 0:
		p.Warnings = append(p.Warnings, "the summary names a full transcript, but "+FullName+" is missing")
	case p.Summary.Full == nil && p.FullBytes >= 0:
		p.Warnings = append(p.Warnings, FullName+" is there, but the summary does not name it")
	}
	return p, nil
}

// JSON is the summary, pretty-printed, with all its keys in their order.
func (p Packet) JSON() ([]byte, error) {
	var b bytes.Buffer
	if err := json.Indent(&b, bytes.TrimSpace(p.Raw), "", "  "); err != nil {
		return nil, fmt.Errorf("print %s: %w", SummaryName, err)
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// Text is the packet for a person: the instructions, then what is known about
// it. It holds no control characters.
func (p Packet) Text() string {
	var b strings.Builder
	if p.HasInstructions {
		b.WriteString(strings.TrimRight(p.Instructions, "\n") + "\n")
	} else {
		b.WriteString("(There is no " + InstructionsName + " in this packet.)\n")
	}
	s := p.Summary
	b.WriteString("\n---\n\n")
	for _, row := range [][2]string{
		{"source session", display(s.SourceSessionID)},
		{"source rig", s.SourceRig},
		{"source cwd", s.SourceCwd},
		{"source runtime", s.SourceRuntime},
		{"target rig", s.TargetRig},
		{"target runtime", s.TargetRuntime},
		{"generator", s.GeneratorVersion},
		{"latest transcript", fmt.Sprintf("%s, bound %d", engine.Counted(s.Latest.MessageCount, "message"), s.Latest.Bound)},
		{"omitted", omittedText(s)},
		{"full transcript", p.fullText()},
	} {
		fmt.Fprintf(&b, "%-18s %s\n", row[0], row[1])
	}
	for _, w := range p.Warnings {
		b.WriteString("warning: " + w + "\n")
	}
	text := b.String()
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	return printable(text)
}

func (p Packet) fullText() string {
	if p.FullBytes < 0 {
		return "none"
	}
	return fmt.Sprintf("%d bytes", p.FullBytes)
}

func omittedText(s Summary) string {
	if len(s.OmittedClasses) == 0 {
		return "(none)"
	}
	list := make([]string, 0, len(s.OmittedClasses))
	for _, c := range s.OmittedClasses {
		if n, ok := s.OmittedCounts[c]; ok {
			c = fmt.Sprintf("%s=%d", c, n)
		}
		list = append(list, c)
	}
	return strings.Join(list, ",")
}
