package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rig/engine"
	"rig/engine/packet"
)

// recapBench is a team with one agent whose recaps are kept in real files.
type recapBench struct {
	*bench
	seats packet.Seats
}

func newRecapBench(t *testing.T) *recapBench {
	t.Helper()
	dir := t.TempDir()
	b := &recapBench{newBench(t, dir, engine.RuntimeClaude), packet.Seats{Home: filepath.Join(dir, "home")}}
	b.made.Recaps = b.seats
	b.made.RedactScreen = func(rows []string) []string {
		out := slices.Clone(rows)
		for i := range out {
			out[i] = strings.ReplaceAll(out[i], "hunter2", "[redacted]")
		}
		return out
	}
	b.e = engine.New(b.made)
	b.run(t, upRequest())
	t.Cleanup(func() { b.close(t) })
	return b
}

func recapRequest(text string) engine.Request {
	return request(engine.VerbRecap, "dev.m0", engine.RecapArgs{Text: text})
}

func (b *recapBench) plan(t *testing.T, r engine.Request) *engine.Plan {
	t.Helper()
	p, err := b.e.Plan(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// disk is every file of the seat's folder with its text.
func (b *recapBench) disk(t *testing.T) string {
	t.Helper()
	var out []string
	dir := b.seats.Dir("dev-m0@team")
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		text, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		if name, old := strings.CutPrefix(rel, "recap-superseded/"); old {
			rel = "old" + filepath.Ext(name)
		}
		out = append(out, rel+"="+string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, "|")
}

const firstRecap = "# Recap\n\n## State\n\nThe heron stands.\n\n## Decisions\n\nNone.\n"

// TestARecapIsPlannedWrittenAndKept: the plan says what is there and what will be, line by line; the earlier recap is kept; the
// audit log holds a digest.
func TestARecapIsPlannedWrittenAndKept(t *testing.T) {
	b := newRecapBench(t)
	p := b.plan(t, recapRequest(firstRecap))
	if !p.Applicable() || p.Target != "dev-m0@team" || p.Command != "rig context recap-write --seat dev-m0@team --file DRAFT  # DRAFT: a file that holds this text" || len(p.Texts) != 1 {
		t.Fatalf("%+v", p)
	}
	if rec := b.run(t, recapRequest(firstRecap)); !rec.OK || rec.Seats[0].Action != "recap_written" || rec.Seats[0].Evidence["earlier"] != 0 || len(rec.Warnings) != 0 {
		t.Fatalf("%+v", rec)
	}
	second := strings.Replace(firstRecap, "The heron stands.\n", "The heron flew; password hunter2.\n", 1)
	p = b.plan(t, recapRequest(second))
	text := linesOf(p)
	for _, want := range []string{"RECAP.md: 9 lines, 58 bytes, written ", "- The heron stands.", "+ The heron flew; password [redacted].", "… 2 lines the same", "stays: the present recap: it is kept, byte for byte", "keep the present recap, byte for byte, and publish the draft by one rename"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in the plan:\n%s", want, text)
		}
	}
	rec, err := b.e.Apply(context.Background(), p, nil)
	if err != nil || !rec.OK || b.disk(t) != "RECAP.md="+second+"|old.md="+firstRecap {
		t.Fatalf("%+v %v\n%s", rec, err, b.disk(t))
	}
	if record := dump(t, b.db); strings.Contains(record, "heron") || !strings.Contains(record, engine.EventRecapWritten) || b.leases() != 0 {
		t.Errorf("the record holds the text, or no event, or a lease:\n%s", record)
	}
	p = b.plan(t, recapRequest(second))
	if rec, err := b.e.Apply(context.Background(), p, nil); err != nil || !rec.OK || rec.Seats[0].Action != "unchanged" || len(p.Texts) != 0 {
		t.Errorf("the same text: %+v %v", rec, err)
	}
	if got := b.disk(t); got != "RECAP.md="+second+"|old.md="+firstRecap {
		t.Errorf("the same text was written again: %s", got)
	}
}

// TestARecapOfAFile: the draft of a file is the file's at the apply, or the plan is stale.
func TestARecapOfAFile(t *testing.T) {
	b := newRecapBench(t)
	file := filepath.Join(t.TempDir(), "my draft.md")
	put := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ask := request(engine.VerbRecap, "dev-m0@team", engine.RecapArgs{File: file, Text: "not this"})
	if _, err := b.e.Plan(context.Background(), ask); engine.CodeOf(err) != engine.CodeInvalid || engine.AsError(err).Hint == "" {
		t.Errorf("no file: %v", err)
	}
	put(firstRecap)
	p := b.plan(t, ask)
	if p.Command != "rig context recap-write --seat dev-m0@team --file '"+file+"'" {
		t.Errorf("command %s", p.Command)
	}
	put(firstRecap + "More.\n")
	if _, err := b.e.Apply(context.Background(), p, nil); engine.CodeOf(err) != engine.CodePlanStale {
		t.Errorf("another text under the same plan: %v", err)
	}
	if rec := b.run(t, ask); !rec.OK || b.disk(t) != "RECAP.md="+firstRecap+"More.\n" {
		t.Errorf("%+v\n%s", rec, b.disk(t))
	}
}

// TestRecapBlockers: each reason is in the plan with its hint, all of them at once, and nothing is written.
func TestRecapBlockers(t *testing.T) {
	b := newRecapBench(t)
	for name, c := range map[string]struct {
		text string
		want []engine.Code
	}{
		"empty":       {" \n", []engine.Code{engine.CodeInvalid}},
		"too long":    {strings.Repeat("x", 1<<20+1), []engine.Code{engine.CodeInvalid}},
		"twice":       {"# A\n# B\n# A\n# B\n", []engine.Code{packet.CodeNotAddressable, packet.CodeNotAddressable}},
		"an open end": {"# A\n```\n# A\n", []engine.Code{packet.CodeNotAddressable}},
	} {
		p := b.plan(t, recapRequest(c.text))
		var codes []engine.Code
		for _, blocker := range p.Blockers {
			codes = append(codes, blocker.Code)
			if blocker.Hint == "" || blocker.Seat != "dev-m0@team" {
				t.Errorf("%s: %+v", name, blocker)
			}
		}
		if !slices.Equal(codes, c.want) {
			t.Errorf("%s: %v", name, codes)
		}
		if _, err := b.e.Apply(context.Background(), p, nil); engine.CodeOf(err) != c.want[0] {
			t.Errorf("%s: applied, %v", name, err)
		}
	}
	if got := b.disk(t); got != "" {
		t.Errorf("a refusal wrote %s", got)
	}
	dir := b.seats.Dir("dev-m0@team")
	if err := os.MkdirAll(filepath.Join(dir, "RECAP.md"), 0o700); err != nil {
		t.Fatal(err)
	}
	if p := b.plan(t, recapRequest(firstRecap)); len(p.Blockers) != 1 || p.Blockers[0].Code != engine.CodeUnavailable {
		t.Errorf("a folder in its place: %+v", p.Blockers)
	}
}

// TestARecapIsWrittenWhileTheSeatIsHeld: an occupant writes its recap in the middle of an operation on its seat.
func TestARecapIsWrittenWhileTheSeatIsHeld(t *testing.T) {
	b := newRecapBench(t)
	p := b.plan(t, stopRequest("dev.m0"))
	wrote := false
	_, err := b.e.Apply(context.Background(), p, func(engine.OpProgress) {
		if !wrote {
			wrote = true
			if rec := b.run(t, recapRequest(firstRecap)); !rec.OK {
				t.Errorf("%+v", rec)
			}
		}
	})
	if err != nil || !wrote {
		t.Error(err, wrote)
	}
}

// TestARecapThatIsCutOffCanBeTakenBack: the process dies between the file and the record; the rollback leaves the files as they
// were, with a recap before it and without.
func TestARecapThatIsCutOffCanBeTakenBack(t *testing.T) {
	for _, before := range []string{"", firstRecap} {
		for _, at := range []string{"recap/write", "recap/event"} {
			b := newRecapBench(t)
			if before != "" {
				b.run(t, recapRequest(before))
			}
			was := b.disk(t)
			op := b.crash(t, recapRequest("# Another\n\n## Decisions\n"), at)
			probed, err := b.e.ProbeOperation(context.Background(), op)
			if err != nil || len(probed) != 2 {
				t.Fatal(err, probed)
			}
			rec, err := b.e.Rollback(context.Background(), op, nil)
			if err != nil || rec.Operation.State != engine.OpRolledBack || len(rec.Warnings) != 0 || b.disk(t) != was {
				t.Errorf("at %s: %+v %v\n%s\n%s", at, rec, err, was, b.disk(t))
			}
			if rec := b.run(t, recapRequest("# Another\n\n## Decisions\n")); !rec.OK {
				t.Errorf("after it: %+v", rec)
			}
		}
	}
}

// TestARecapThatIsNotRecordedIsNotThere: a commit that fails takes the file back.
func TestARecapThatIsNotRecordedIsNotThere(t *testing.T) {
	b := newRecapBench(t)
	b.run(t, recapRequest(firstRecap))
	was := b.disk(t)
	g := &gag{DB: b.db, types: map[string]bool{engine.EventRecapWritten: true}}
	deps := b.made
	deps.Store = g
	e := engine.New(deps)
	p, err := e.Plan(context.Background(), recapRequest("# Another\n"))
	if err != nil {
		t.Fatal(err)
	}
	rec, err := e.Apply(context.Background(), p, nil)
	if err != nil || rec.OK || rec.Error == nil || rec.Operation.State != engine.OpFailed || len(rec.Seats) != 0 || b.disk(t) != was {
		t.Errorf("%+v %v\n%s", rec, err, b.disk(t))
	}
	if s := b.seat(t, "dev.m0"); s.LastError != "" {
		t.Errorf("the seat is told to have failed: %s", s.LastError)
	}
}

// linesOf is a plan as it is printed.
func linesOf(p *engine.Plan) string {
	var out []string
	for _, l := range p.Lines() {
		out = append(out, l.Text)
	}
	return strings.Join(out, "\n")
}
