package packet

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"rig/engine"
	"rig/engine/transcript"
)

// The codes of refusals that are particular to packets.
const (
	CodeTargetExists   engine.Code = "packet_exists"        // the target is there already
	CodeParentMissing  engine.Code = "packet_parent_absent" // the target's parent is not
	CodeProvenance     engine.Code = "provenance_required"  // session or rig cannot be told
	CodeUndetected     engine.Code = "runtime_undetected"   // the record's format is not known
	CodeUnreadable     engine.Code = "transcript_unreadable"
	CodePacketInvalid  engine.Code = "packet_invalid"
	CodeBadName        engine.Code = "bad_name"
	defaultGenerator               = "rig-restore-packet@v0"
	defaultBoundaries              = "unknown: nobody stated them. Treat everything outside the workspace root as read-only, and ask before anything that cannot be undone."
	defaultNextOwner               = "self"
	opWrite                        = "restore-packet write"
	maxStatement                   = 8 << 10 // bytes of one stated text
	maxDerived                     = 600     // bytes of a text taken from the conversation
	maxName                        = 192     // bytes of a packet's name: the longest seat and an operation fit
	overrideFlags                  = "--source-session-id-override ID and --source-rig-override RIG"
	unknownCwd                     = "/"
	maxCaveats                     = 100
	transcriptFileHint             = "check the path and that you may read it"
)

// Request says what to make a packet from, and for whom. Only SourcePath,
// Target and Now are always needed.
type Request struct {
	// SourcePath is the client's own record of the conversation.
	SourcePath string
	// SourceRuntime is its format; empty to tell it from the content.
	SourceRuntime transcript.Runtime
	// SourceSession is the seat's session name (member@rig) if the source was
	// chosen by seat; SourceCwd its directory of record then.
	SourceSession string
	SourceCwd     string
	// SourceSessionID and SourceRig override what is derived.
	SourceSessionID string
	SourceRig       string
	// Target is the directory to make. It must not exist; its parent must.
	Target string
	// TargetRig defaults to the source's rig, TargetRuntime to claude-code,
	// TargetWorkspaceRoot to the source's directory.
	TargetRig           string
	TargetRuntime       string
	TargetWorkspaceRoot string
	DefaultTargetRepo   string
	RolePointer         string
	// CurrentWork, WhyItMatters, NextOwner and AuthorityBoundaries are stated
	// by whoever asks for the packet. What is not stated is called unknown.
	CurrentWork         string
	WhyItMatters        string
	NextOwner           string
	AuthorityBoundaries string
	Caveats             []string
	// TrustRanking defaults to [TrustRanking].
	TrustRanking []string
	// GeneratorVersion names the program; it has a default.
	GeneratorVersion string
	// NoFullTranscript leaves the full transcript out.
	NoFullTranscript bool
	Pointers         DurablePointers
	Surfaces         []Surface
	// Now is the time of writing.
	Now time.Time
}

// refuse makes an error of the write verb.
func refuse(code engine.Code, target, hint, format string, args ...any) error {
	return engine.Errorf(code, format, args...).On(opWrite, target).WithHint("%s", hint)
}

// check refuses what is wrong with a request by itself, before anything is
// looked at or written.
func (q *Request) check() error {
	switch {
	case q.SourcePath == "":
		return refuse(engine.CodeInvalid, "", "give exactly one of --source-session and --source-jsonl", "no source is named")
	case q.Target == "":
		return refuse(engine.CodeInvalid, "", "give --target DIR; it must not exist yet", "no target is named")
	case q.Now.IsZero():
		return refuse(engine.CodeInternal, "", "this is a fault of the program", "the time of writing is not set")
	}
	if err := checkTarget(q.Target); err != nil {
		return err
	}
	if q.SourceRuntime != "" && q.SourceRuntime != transcript.RuntimeClaude && q.SourceRuntime != transcript.RuntimeCodex {
		return refuse(engine.CodeInvalid, string(q.SourceRuntime), "use claude-code or codex", "no record format is known for this source runtime")
	}
	if q.TargetRuntime != "" && !slices.Contains(Runtimes(), q.TargetRuntime) {
		return refuse(engine.CodeInvalid, q.TargetRuntime, "use one of "+strings.Join(Runtimes(), ", "), "unknown target runtime")
	}
	if q.TargetWorkspaceRoot != "" && !strings.HasPrefix(q.TargetWorkspaceRoot, "/") {
		return refuse(engine.CodeInvalid, q.TargetWorkspaceRoot, "give an absolute path", "the workspace root must begin with /")
	}
	for _, r := range q.TrustRanking {
		if !slices.Contains(TrustRanking(), r) {
			return refuse(engine.CodeInvalid, r, "use names from "+strings.Join(TrustRanking(), ","), "unknown source in the trust ranking")
		}
	}
	if q.SourceRig != "" && strings.ContainsAny(q.SourceRig, "@\n") {
		return refuse(engine.CodeInvalid, q.SourceRig, "give the rig's name alone", "a rig's name has no @ in it")
	}
	if len(q.Caveats) > maxCaveats {
		return refuse(engine.CodeInvalid, "", "put long lists into a file and point to it", "more than %d caveats", maxCaveats)
	}
	return nil
}

// ValidName refuses names that could mean another place than the one intended:
// separators, dots alone or in front, control characters, and more than 192
// bytes. The error has code bad_name.
func ValidName(name string) error {
	bad := func(why string) error {
		shownName, _ := Redact(name)
		return engine.Errorf(CodeBadName, "%s", why).On("packet name", clip(printable(shownName), 80)).
			WithHint("use letters, digits, dots, dashes and underscores, at most %d bytes", maxName)
	}
	switch {
	case name == "":
		return bad("the name is empty")
	case len(name) > maxName:
		return bad("the name is too long")
	case strings.HasPrefix(name, "."):
		return bad("a name does not begin with a dot")
	case !utf8.ValidString(name):
		return bad("the name is not valid UTF-8")
	}
	for _, r := range name {
		switch {
		case r == '/' || r == '\\':
			return bad("a name has no separators in it")
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == utf8.RuneError:
			return bad("a name has no control characters in it")
		}
	}
	return nil
}

// checkTarget refuses targets that lead upward or end in no proper name.
func checkTarget(target string) error {
	if slices.Contains(strings.Split(filepath.ToSlash(target), "/"), "..") {
		return refuse(CodeBadName, clip(printable(target), 200), "give the target without .. in it", "the target leads upward")
	}
	if err := ValidName(filepath.Base(filepath.Clean(target))); err != nil {
		return err
	}
	return nil
}

// provenance is where the conversation came from, proven or stated.
type provenance struct{ session, rig, cwd string }

// provenance derives the source's identity: what is stated wins, then what the
// record says, then the seat. It refuses rather than guess.
func (q *Request) provenance(head transcript.Head) (provenance, error) {
	p := provenance{session: q.SourceSessionID, rig: q.SourceRig, cwd: head.StartCwd}
	if p.session == "" && q.SourceSession == "" {
		p.session = head.SessionID
	}
	if p.session == "" {
		p.session = q.SourceSession
	}
	if p.session == "" {
		return p, refuse(CodeProvenance, q.SourcePath, "name it with "+overrideFlags, "the record does not say which session it is")
	}
	if p.rig == "" {
		seat := q.SourceSession
		if seat == "" {
			seat = p.session
		}
		member, rig, found := strings.Cut(seat, "@")
		if !found || member == "" || rig == "" || strings.Contains(rig, "@") {
			return p, refuse(CodeProvenance, q.SourcePath, "name it with --source-rig-override RIG", "the source's rig cannot be told from its session")
		}
		p.rig = rig
	}
	if p.cwd == "" {
		p.cwd = q.SourceCwd
	}
	if !strings.HasPrefix(p.cwd, "/") {
		p.cwd = ""
	}
	return p, nil
}

// source settles the record's format and reads its beginning.
func (q *Request) source() (transcript.Runtime, transcript.Head, error) {
	rt := q.SourceRuntime
	if rt == "" {
		found, ok, err := transcript.DetectFile(q.SourcePath)
		if err != nil {
			return "", transcript.Head{}, q.unreadable(err)
		}
		if !ok {
			return "", transcript.Head{}, refuse(CodeUndetected, q.SourcePath, "say --source-runtime claude-code or codex", "the content does not tell which client wrote it")
		}
		rt = found
	}
	head, err := transcript.ReadHead(q.SourcePath, rt)
	if err != nil {
		return "", head, q.unreadable(err)
	}
	return rt, head, nil
}

func (q *Request) unreadable(err error) error {
	hint := transcriptFileHint
	if errors.Is(err, transcript.ErrCompressed) {
		hint = "unarchive or decompress a copy of it first"
	}
	return engine.Errorf(CodeUnreadable, "the record cannot be read").On(opWrite, q.SourcePath).WithHint("%s", hint).Wrap(err)
}
