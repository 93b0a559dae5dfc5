package packet

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"rig/engine"
	"rig/engine/transcript"
)

// summary puts together what was stated, what the record proves, and what is
// unknown.
func (q *Request) summary(b *builder, read transcript.Summary, from provenance) Summary {
	clean := func(s string) string { return stated(s, b.counts) }
	s := Summary{
		SourceSessionID:     clean(from.session),
		SourceRig:           clean(from.rig),
		SourceRuntime:       string(read.Runtime),
		SourceCwd:           clean(cmp.Or(from.cwd, unknownCwd)),
		TargetRig:           clean(cmp.Or(q.TargetRig, from.rig)),
		TargetRuntime:       cmp.Or(q.TargetRuntime, string(transcript.RuntimeClaude)),
		TargetWorkspaceRoot: clean(cmp.Or(q.TargetWorkspaceRoot, from.cwd, unknownCwd)),
		RolePointer:         clean(q.RolePointer),
		Touched:             TouchedFiles{Path: TouchedName, TopPaths: []PathCount{}},
		Pointers:            q.Pointers.cleaned(clean),
		CurrentWork:         clean(q.CurrentWork),
		WhyItMatters:        clean(q.WhyItMatters),
		NextOwner:           clean(cmp.Or(q.NextOwner, defaultNextOwner)),
		AuthorityBoundaries: clean(q.AuthorityBoundaries),
		RedactionPolicyID:   PolicyID,
		SourceTrustRanking:  q.TrustRanking,
		GeneratorVersion:    clean(cmp.Or(q.GeneratorVersion, defaultGenerator)),
		GeneratedAt:         q.Now.UTC().Truncate(time.Millisecond),
		PacketVersion:       "v0",
		Checklist:           Checklist(),
		SourceRecord:        sourceRecord(read, b.count, clean),
	}
	if len(s.SourceTrustRanking) == 0 {
		s.SourceTrustRanking = TrustRanking()
	}
	if repo := clean(q.DefaultTargetRepo); repo != "" {
		s.DefaultTargetRepo = &repo
	}
	s.Latest = BoundedFile{Path: LatestName, MessageCount: len(b.latestInOrder()), Bound: LatestBound}
	if b.full != nil {
		s.Full = &CountedFile{Path: FullName, LineCount: b.count}
	}
	for _, p := range b.ranked() {
		if len(s.Touched.TopPaths) < topPaths {
			s.Touched.TopPaths = append(s.Touched.TopPaths, PathCount{p.path, p.tool + p.text})
		}
	}
	s.unknowns(q, b, from)
	s.surfaces(q, read, clean)
	s.caveats(q, b, read, clean)
	s.omitted(b, read)
	return s
}

// sourceRecord keeps what was seen of the record.
func sourceRecord(read transcript.Summary, messages int, clean func(string) string) *SourceRecord {
	return &SourceRecord{
		Lines: read.Lines, Messages: messages, Compactions: read.CompactionsTotal,
		SkippedLines: read.SkippedTotal, Skipped: read.Skipped,
		StartedAt: read.StartedAt, LastActivityAt: read.LastAt,
		LastCwd: clean(read.LastCwd), Model: clean(read.Model), Turn: read.Turn.State,
	}
}

func (p DurablePointers) cleaned(clean func(string) string) DurablePointers {
	each := func(list []string) []string {
		out := make([]string, 0, len(list))
		for _, s := range list {
			if s = clean(s); s != "" {
				out = append(out, s)
			}
		}
		return out
	}
	return DurablePointers{each(p.Queue), each(p.Progress), each(p.FieldNotes), each(p.Artifacts)}
}

// unknowns names every key that nobody stated. Where the conversation itself
// gives a hint, it is quoted as such and not passed off as a statement.
func (s *Summary) unknowns(q *Request, b *builder, from provenance) {
	say := func(field, reason string) { s.Unknown = append(s.Unknown, Unknown{field, reason}) }
	if from.cwd == "" {
		say("source_cwd", "no record in the source names a directory")
		if q.TargetWorkspaceRoot == "" {
			say("target_workspace_root", "not stated, and the source's directory is unknown")
		}
	}
	if s.DefaultTargetRepo == nil {
		say("default_target_repo", "not stated")
	}
	if s.RolePointer == "" {
		s.RolePointer = "unknown: not stated; ask `rig whoami --json` inside the seat for the role in rig " + s.TargetRig
		say("role_pointer", "not stated")
	}
	s.intent(q, b, say)
}

// intent fills what the work is, why it matters, who comes next and what is
// allowed, where nobody stated it: from what the occupant's own packet handed on,
// else from the conversation.
func (s *Summary) intent(q *Request, b *builder, say func(field, reason string)) {
	const cited, passed = "not stated; the text quotes the conversation instead", "not stated; handed on from the packet before this one"
	if s.CurrentWork == "" {
		if b.lastAsked.text == "" && b.given.work != "" {
			s.CurrentWork = b.given.work
			say("current_work_summary", passed)
		} else {
			s.CurrentWork = "unknown: nobody stated it." + quoted("The latest thing the operator asked for", b.lastAsked)
			say("current_work_summary", cited)
		}
	}
	if s.WhyItMatters == "" {
		if b.given.why != "" {
			s.WhyItMatters = b.given.why
			say("why_it_matters", passed)
		} else {
			s.WhyItMatters = "unknown: nobody stated it." + quoted("The conversation began with", b.firstAsked)
			say("why_it_matters", cited)
		}
	}
	if strings.TrimSpace(q.NextOwner) == "" {
		if b.given.owner != "" && b.given.owner != defaultNextOwner {
			s.NextOwner = b.given.owner
			say("next_owner", passed)
		} else {
			say("next_owner", "not stated; taken to be the restored seat itself")
		}
	}
	if s.AuthorityBoundaries == "" {
		s.AuthorityBoundaries = cmp.Or(b.given.authority, defaultBoundaries)
		if b.given.authority != "" && b.given.authority != defaultBoundaries {
			say("authority_boundaries", passed)
		} else {
			say("authority_boundaries", "not stated")
		}
	}
}

// quoted cites a message with its time.
func quoted(lead string, e entry) string {
	if e.text == "" {
		return " The conversation holds no words of an operator."
	}
	when := ""
	if !e.at.IsZero() {
		when = " (" + e.at.UTC().Format(time.RFC3339) + ")"
	}
	return fmt.Sprintf(" %s%s: %q", lead, when, e.text)
}

// surfaces inventories the memory: the client's own record, which was just
// read, and what the caller looked for.
func (s *Summary) surfaces(q *Request, read transcript.Summary, clean func(string) string) {
	freshness := "unknown: no record in it has a time"
	if !read.LastAt.IsZero() {
		freshness = "last activity " + read.LastAt.UTC().Format(time.RFC3339)
	}
	s.MemorySurfaces = append(s.MemorySurfaces, Surface{
		Name: "client transcript", Source: "the " + string(read.Runtime) + " record of the source session", Present: true,
		Freshness: freshness, Purpose: "evidence of what was said; read only, never edited",
	})
	for _, x := range q.Surfaces {
		s.MemorySurfaces = append(s.MemorySurfaces, Surface{
			Name: cmp.Or(clean(x.Name), "unnamed"), Source: clean(x.Source), Present: x.Present,
			Freshness: cmp.Or(clean(x.Freshness), "unknown"), Purpose: cmp.Or(clean(x.Purpose), "unknown"),
		})
	}
}

// caveats lists what was stated, then what the reading itself showed.
func (s *Summary) caveats(q *Request, b *builder, read transcript.Summary, clean func(string) string) {
	s.Caveats = []string{}
	for _, c := range q.Caveats {
		if c = clean(c); c != "" {
			s.Caveats = append(s.Caveats, c)
		}
	}
	say := func(format string, args ...any) { s.Caveats = append(s.Caveats, fmt.Sprintf(format, args...)) }
	if read.IncompleteTail {
		say("The last line of the source has no end yet: the conversation may have gone on after this packet was written.")
	}
	if n := read.SkippedTotal; n > 0 && (n > 1 || !read.IncompleteTail) {
		say("%s of the source could not be read; what stood there is missing.", engine.Counted(n, "line"))
	}
	if read.Shortened > 0 {
		say("Cut in the source for their length: %s, by %d bytes in all.", engine.Counted(read.Shortened, "line"), read.LeftOutBytes)
	}
	if n := read.CompactionsTotal; n > 0 {
		say("The source was compacted %s; what its occupant knew at the end is the latest summary and what follows it.", engine.Counted(n, "time"))
	}
	if n := read.Rewinds; n > 0 {
		where := ""
		if b.full != nil {
			where = "; " + FullName + " marks where"
		}
		say("The source was taken back to an earlier prompt %s: what had been said since then is not in the latest transcript, and what it changed may still be there%s.", engine.Counted(n, "time"), where)
	}
	switch read.Turn.State {
	case transcript.TurnOpen:
		say("The source was in the middle of a turn: its last instruction may be half done.")
	case transcript.TurnInterrupted:
		say("The source's last turn was interrupted: its last instruction may be half done.")
	case transcript.TurnFailed:
		say("The source's last turn failed (%s): its last instruction may not be done.", cmp.Or(clean(read.Turn.ErrorCode), "no code"))
	case transcript.TurnDone, transcript.TurnUnknown:
	}
	if read.ParentID != "" && b.inherited == 0 {
		say("The source is a fork. What was said before the fork is in its parent's record and not in this packet.")
	}
	if n := b.back.times; n > 0 {
		say("The source was taken back to an earlier prompt %s: what had been said since then is in the older files of the same conversation and not in this packet, and what it changed may still be there.", engine.Counted(n, "time"))
	}
	if b.back.gone {
		say("The source was taken back to an earlier prompt, and an older file of the same conversation is gone or unreadable: the beginning is missing here.")
	}
	if read.StartCwd != "" && read.LastCwd != "" && filepath.Clean(read.StartCwd) != filepath.Clean(read.LastCwd) {
		say("The source moved from %s to %s.", clean(read.StartCwd), clean(read.LastCwd))
	}
	if b.count == 0 {
		say("The source holds no conversation.")
	}
}

// omitted counts what was left out, by the standard's classes.
func (s *Summary) omitted(b *builder, read transcript.Summary) {
	o := read.Omitted
	classes := []struct {
		name string
		n    int
	}{
		{ClassReasoning, o.Reasoning + o.Injected + o.Sidechain + o.Other},
		{ClassToolOutputs, o.ToolResults + o.Attachments + o.Images},
		{ClassToolCalls, o.ToolCalls},
		{ClassSecrets, b.withKeys},
	}
	s.OmittedClasses = []string{}
	s.OmittedCounts = map[string]int{}
	for _, c := range classes {
		if c.n > 0 {
			s.OmittedClasses = append(s.OmittedClasses, c.name)
			s.OmittedCounts[c.name] = c.n
		}
	}
	s.RedactionCounts = b.counts
}
