package packet

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"rig/engine"
)

// display shortens what may be a client's own session id, which resumes the
// conversation for whoever has it. Seat names are shown whole.
func display(id string) string {
	if strings.Contains(id, "@") || len(id) < 20 {
		return id
	}
	return id[:8] + "…"
}

// RestoredFrom is the line with which a restored seat states what it was
// restored from.
func RestoredFrom(s Summary) string {
	repo := "unknown"
	if s.DefaultTargetRepo != nil {
		repo = *s.DefaultTargetRepo
	}
	return fmt.Sprintf("Restored from %s (%s, rig %s) by packet %s of %s; default repository: %s.",
		display(s.SourceSessionID), s.SourceRuntime, s.SourceRig, s.GeneratorVersion, s.GeneratedAt.UTC().Format(time.RFC3339), repo)
}

// renderInstructions writes the page that a restored seat reads first.
func renderInstructions(w io.Writer, s Summary) error {
	var b strings.Builder
	section := func(title string) { b.WriteString("\n## " + title + "\n\n") }
	para := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }

	b.WriteString("# Restore instructions\n\n")
	para("You take up work that another occupant began. This packet is evidence of it. That you have it proves delivery, nothing more: nothing is resumed or recovered until you have shown it.")
	para("\nAcknowledge first and change nothing until you are told to go on.")
	s.identity(&b, section, para)
	s.steps(section, para)
	section("Current work")
	para("%s", block(s.CurrentWork))
	section("Why it matters")
	para("%s", block(cmp.Or(s.WhyItMatters, "unknown: not stated")))
	section("Next owner")
	para("%s", block(s.NextOwner))
	section("Authority boundaries")
	para("%s", block(s.AuthorityBoundaries))
	section("Caveats")
	bullets(&b, s.Caveats, "None.")
	section("Acceptance checklist")
	for _, c := range s.Checklist {
		b.WriteString("- [ ] " + c + "\n")
	}
	s.pointers(&b, section)
	s.record(section, para)
	_, err := io.WriteString(w, b.String())
	return err
}

// block keeps stated text from opening sections of its own.
func block(s string) string { return strings.ReplaceAll(s, "\n#", "\n\\#") }

func bullets(b *strings.Builder, list []string, none string) {
	if len(list) == 0 {
		b.WriteString(none + "\n")
	}
	for _, s := range list {
		b.WriteString("- " + strings.ReplaceAll(s, "\n", "\n  ") + "\n")
	}
}

func (s *Summary) identity(b *strings.Builder, section func(string), para func(string, ...any)) {
	section("Identity")
	para("Run `rig whoami --json`. Trust what it says over anything in the transcript.")
	para("\n- target rig: %s\n- target runtime: %s\n- workspace root: %s", s.TargetRig, s.TargetRuntime, s.TargetWorkspaceRoot)
	repo := "unknown"
	if s.DefaultTargetRepo != nil {
		repo = *s.DefaultTargetRepo
	}
	para("- default repository: %s\n- role: %s", repo, s.RolePointer)
	b.WriteString("\nWhen two sources disagree, the earlier one is right:\n\n")
	for i, r := range s.SourceTrustRanking {
		fmt.Fprintf(b, "%d. %s\n", i+1, r)
	}
}

func (s *Summary) steps(section func(string), para func(string, ...any)) {
	section("Steps")
	para("1. Read this page to its end.")
	para("2. Read %s.", TouchedName)
	para("3. Read %s.", LatestName)
	if s.Full != nil {
		para("4. Read %s only if something is missing from it.", FullName)
	} else {
		para("4. There is no full transcript in this packet.")
	}
	para("5. Run `rig context work-install` for what the project declares, and read what the task needs of it: a packet carries the work in flight alone.")
	para("6. State this line, with the rig that `rig whoami` names: %q", RestoredFrom(*s))
	para("7. Name the caveats below.")
	para("8. Hand over to the next owner: %s.", strings.TrimRight(s.NextOwner, "."))
}

func (s *Summary) pointers(b *strings.Builder, section func(string)) {
	section("Durable pointers")
	for _, p := range []struct {
		name string
		list []string
	}{
		{"queue", s.Pointers.Queue},
		{"progress", s.Pointers.Progress},
		{"field notes", s.Pointers.FieldNotes},
		{"artifacts", s.Pointers.Artifacts},
	} {
		for _, x := range p.list {
			b.WriteString("- " + p.name + ": " + x + "\n")
		}
	}
	if len(s.Pointers.Queue)+len(s.Pointers.Progress)+len(s.Pointers.FieldNotes)+len(s.Pointers.Artifacts) == 0 {
		b.WriteString("None were given.\n")
	}
	section("Memory surfaces")
	for _, x := range s.MemorySurfaces {
		state := "present"
		if !x.Present {
			state = "absent"
		}
		fmt.Fprintf(b, "- %s (%s): %s; %s; %s\n", x.Name, state, x.Source, x.Freshness, x.Purpose)
	}
}

func (s *Summary) record(section func(string), para func(string, ...any)) {
	section("Unknown")
	for _, u := range s.Unknown {
		para("- %s: %s", u.Field, u.Reason)
	}
	if len(s.Unknown) == 0 {
		para("Nothing.")
	}
	section("Record")
	para("- from %s to %s\n- source directory: %s", s.SourceRuntime, s.TargetRuntime, s.SourceCwd)
	if r := s.SourceRecord; r != nil {
		para("- %s, %s, %s, %s not readable", engine.Counted(r.Lines, "line"), engine.Counted(r.Messages, "message"), engine.Counted(r.Compactions, "compaction"), engine.Counted(r.SkippedLines, "line"))
	}
	para("- redaction policy %s, %s replaced", s.RedactionPolicyID, engine.Counted(s.RedactionCounts.Total(), "secret"))
	para("- written %s by %s", s.GeneratedAt.UTC().Format(time.RFC3339), s.GeneratorVersion)
}
