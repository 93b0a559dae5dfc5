package packet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rig/engine"
)

func TestRecapReplacesAndKeeps(t *testing.T) {
	s := Seats{Home: t.TempDir()}
	var last engine.RecapWritten
	for i, text := range []string{"# First\n## Decisions\n", "# Second\n## Decisions\n", "# Third\n## Decisions\n"} {
		r, err := s.WriteRecap("dev-impl@shop", []byte(text), now)
		if err != nil {
			t.Fatal(err)
		}
		if got := body(t, s.Dir("dev-impl@shop"), recapName); got != text || len(r.Superseded) != i || len(r.Findings) != 0 {
			t.Fatalf("write %d: %q, %+v", i, got, r)
		}
		last = r
	}
	for i, want := range []string{"# First\n", "# Second\n"} {
		b, err := os.ReadFile(last.Superseded[i])
		if err != nil || !strings.HasPrefix(string(b), want) {
			t.Errorf("superseded %d: %q, %v", i, b, err)
		}
	}
	if !strings.HasSuffix(last.Superseded[1], "-2.md") {
		t.Errorf("two of one moment: %v", last.Superseded)
	}
	later, err := s.WriteRecap("dev-impl@shop", []byte("# Fourth\n"), now.Add(time.Second))
	if err != nil || len(later.Superseded) != 3 || later.Findings[0].Code != "no-decisions-section" {
		t.Errorf("%+v, %v", later, err)
	}
	c, err := s.Chain(t.Context(), engine.Seat{Cwd: t.TempDir()}, "dev-impl@shop")
	if err != nil || len(c.Artifacts) != 4 || filepath.Base(c.Artifacts[1].Path) != filepath.Base(later.Superseded[2]) {
		t.Errorf("chain %+v, %v", c, err)
	}
	if rest, err := filepath.Glob(filepath.Join(s.Dir("dev-impl@shop"), ".recap-*")); err != nil || len(rest) != 0 {
		t.Errorf("left behind: %v", rest)
	}
}

func TestRecapGate(t *testing.T) {
	tests := map[string]struct {
		address, draft string
		code           engine.Code
	}{
		"same heading twice":     {"a@b", "# T\n## State\nx\n## State\n", CodeNotAddressable},
		"same title elsewhere":   {"a@b", "# T\n## A\n### State\n## B\n### State\n", ""},
		"open fence":             {"a@b", "# T\n```sh\nls\n", CodeNotAddressable},
		"fence in a fence":       {"a@b", "# T\n````\n```\n# T\n````\n", ""},
		"heading inside a fence": {"a@b", "# T\n```\n# T\n```\n", ""},
		"closing needs its kind": {"a@b", "~~~\n```\n", CodeNotAddressable},
		"closing hashes":         {"a@b", "# T ##\n# T\n", CodeNotAddressable},
		"not a heading":          {"a@b", "# T\n#T\n#T\n####### T\n", ""},
		"empty":                  {"a@b", " \n", engine.CodeInvalid},
		"not text":               {"a@b", "\xff\xfe", engine.CodeInvalid},
		"too long":               {"a@b", strings.Repeat("x", maxRecap+1), engine.CodeInvalid},
		"no rig":                 {"a", "# T", engine.CodeInvalid},
		"upward":                 {"..@b", "# T", engine.CodeInvalid},
		"another folder":         {"a@b/../c", "# T", engine.CodeInvalid},
	}
	for name, tt := range tests {
		s := Seats{Home: t.TempDir()}
		_, err := s.WriteRecap(tt.address, []byte(tt.draft), now)
		if engine.CodeOf(err) != tt.code {
			t.Errorf("%s: %v", name, err)
		}
		if entries, dirErr := os.ReadDir(s.Home); err != nil && (dirErr != nil || len(entries) != 0) {
			t.Errorf("%s: refused, but wrote %v", name, entries)
		}
	}
}

func TestRecapAdvice(t *testing.T) {
	got := advise("# Decisions taken\nUNVERIFIED: the date\nthis is unverified\n")
	if len(got) != 1 || got[0].Code != "nonstandard-unverified-marker" || got[0].Line != 3 {
		t.Errorf("%+v", got)
	}
}

func TestRecapSurvivesAFailedWrite(t *testing.T) {
	s := Seats{Home: t.TempDir()}
	if _, err := s.WriteRecap("a@b", []byte("# Old\n"), now); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(s.Dir("a@b"), supersededName)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.WriteRecap("a@b", []byte("# New\n"), now); engine.CodeOf(err) != engine.CodeUnavailable {
		t.Errorf("%v", err)
	}
	if got := body(t, s.Dir("a@b"), recapName); got != "# Old\n" {
		t.Errorf("the old recap is %q", got)
	}
}

func FuzzRecap(f *testing.F) {
	f.Add("# T\n## A\n```\n# x\n```\n## B #\n")
	f.Fuzz(func(t *testing.T, text string) {
		list, open := headings(text)
		if lines := strings.Count(text, "\n") + 1; open > lines || len(list) > lines {
			t.Fatalf("open %d, %d headings in %d lines", open, len(list), lines)
		}
		if faults := addressable("a@b", text); open > 0 && len(faults) == 0 {
			t.Fatal("an open fence was accepted")
		}
		advise(text)
	})
}
