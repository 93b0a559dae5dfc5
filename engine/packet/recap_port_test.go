package packet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rig/engine"
)

// TestARecapIsTakenBack wherever writing it was cut off: what was there before is there again, and somebody else's stays.
func TestARecapIsTakenBack(t *testing.T) {
	const address, before, draft = "a@b", "# Before\n", "# Draft\n"
	for name, c := range map[string]struct {
		was  string
		then func(t *testing.T, s Seats, dir string)
		want string
	}{
		"nothing happened":            {before, func(*testing.T, Seats, string) {}, before},
		"published":                   {before, write(draft), before},
		"published, none before":      {"", write(draft), ""},
		"nothing happened, none then": {"", func(*testing.T, Seats, string) {}, ""},
		"kept, not published": {before, func(t *testing.T, _ Seats, dir string) {
			if err := os.Link(filepath.Join(dir, recapName), filepath.Join(dir, supersededName, "RECAP-000000000000009.md")); err != nil {
				t.Fatal(err)
			}
		}, before},
		"staged": {before, func(t *testing.T, _ Seats, dir string) {
			if _, err := stage(dir, []byte(draft)); err != nil {
				t.Fatal(err)
			}
		}, before},
		"written over since": {before, func(t *testing.T, s Seats, dir string) {
			write(draft)(t, s, dir)
			if err := os.WriteFile(filepath.Join(dir, recapName), []byte("# Mine\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "# Mine\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s := Seats{Home: t.TempDir()}
			dir := s.Dir(address)
			if err := os.MkdirAll(filepath.Join(dir, supersededName), 0o700); err != nil {
				t.Fatal(err)
			}
			was := ""
			if c.was != "" {
				write(c.was)(t, s, dir)
				was = digest([]byte(c.was))
			}
			c.then(t, s, dir)
			if err := s.TakeBackRecap(address, was, digest([]byte(draft))); err != nil {
				t.Fatal(err)
			}
			now, err := s.Recap(address)
			if err != nil || now.Text != c.want || now.Path == "" || len(drafts(dir)) != 0 {
				t.Errorf("%+v %v, left %v", now, err, drafts(dir))
			}
			if kept := supersededRecaps(dir); name != "written over since" && len(kept) != 0 {
				t.Errorf("kept: %v", kept)
			}
		})
	}
}

func write(text string) func(t *testing.T, s Seats, dir string) {
	return func(t *testing.T, s Seats, _ string) {
		t.Helper()
		if _, err := s.WriteRecap("a@b", []byte(text), now); err != nil {
			t.Fatal(err)
		}
	}
}

// TestADraftIsReadFromAPlainFile and from nothing else, and never more of it than a recap can have.
func TestADraftIsReadFromAPlainFile(t *testing.T) {
	dir := t.TempDir()
	big := filepath.Join(dir, "big.md")
	if err := os.WriteFile(big, []byte(strings.Repeat("x", maxDraft+9)), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := (Seats{}).ReadDraft(big); err != nil || len(b) != maxDraft {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	for _, path := range []string{dir, filepath.Join(dir, "gone.md"), os.DevNull, ""} {
		if _, err := (Seats{}).ReadDraft(path); engine.CodeOf(err) != engine.CodeInvalid || engine.AsError(err).Hint == "" {
			t.Errorf("%q: %v", path, err)
		}
	}
}
