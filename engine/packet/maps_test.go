package packet

import (
	"os"
	"path/filepath"
	"testing"

	"rig/engine"
)

func TestRestoreMaps(t *testing.T) {
	cwd := t.TempDir()
	s := Seats{Home: t.TempDir()}
	path, err := s.PrepareMap(cwd, "01ABC")
	if err != nil || path != filepath.Join(cwd, ".rig", "compaction", "01ABC", "RESTORE-MAP.md") {
		t.Fatalf("%s %v", path, err)
	}
	if b, err := os.ReadFile(filepath.Join(cwd, ".rig", ".gitignore")); err != nil || string(b) != "*\n" {
		t.Errorf("%q %v", b, err)
	}
	const marker = `<!-- rig-compaction-complete {"attempt":"01ABC"} -->`
	for name, c := range map[string]struct {
		text  string
		whole bool
	}{
		"half":            {"# Map\n1. a.md\n", false},
		"marker inside":   {"# Map\n" + marker + "\nmore\n", false},
		"other attempt":   {"# Map\n<!-- rig-compaction-complete {\"attempt\":\"01ABD\"} -->\n", false},
		"within the line": {"# Map\nx" + marker, false},
		"empty":           {"", false},
		"whole":           {"# Map\n1. a.md\n" + marker + "\n\n  \n", true},
		"marker alone":    {marker, true},
		"crlf":            {"# Map\r\n" + marker + "\r\n", true},
	} {
		draft := path + ".tmp"
		if err := os.WriteFile(draft, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := s.PublishMap(path, marker)
		if err != nil || got != c.whole {
			t.Errorf("%s: %v %v", name, got, err)
		}
		if _, err := os.Stat(path); (err == nil) != c.whole {
			t.Errorf("%s: the map is there: %v", name, err == nil)
		}
		if c.whole {
			if again, err := s.PublishMap(path, marker); !again || err != nil {
				t.Errorf("%s, again: %v %v", name, again, err)
			}
		}
		_ = os.Remove(path)
	}
	secret := filepath.Join(t.TempDir(), "elsewhere")
	if err := os.WriteFile(secret, []byte(marker), 0o600); err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(path + ".tmp")
	if err := os.Symlink(secret, path+".tmp"); err != nil {
		t.Fatal(err)
	}
	if got, err := s.PublishMap(path, marker); got || err != nil {
		t.Errorf("a link was taken for a map: %v %v", got, err)
	}
	for _, bad := range []string{"", ".", "..", "a/b", "../x"} {
		if _, err := s.PrepareMap(cwd, bad); engine.CodeOf(err) != CodeBadName {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if err := s.CheckPacket(cwd); engine.CodeOf(err) != CodePacketInvalid {
		t.Errorf("no packet: %v", err)
	}
}

// TestAMapIsOfTheSeatThatItNames: seats that share a directory share the folder of the maps, and a packet names the seat's own.
func TestAMapIsOfTheSeatThatItNames(t *testing.T) {
	s, in := departing(t)
	for attempt, seat := range map[string]string{"01A": in.Address, "01B": "dev-qa@shop", "01C": ""} {
		path, err := s.PrepareMap(in.Seat.Cwd, attempt)
		if err != nil {
			t.Fatal(err)
		}
		text := "read this\n"
		if seat != "" {
			text += `<!-- rig-compaction-complete {"attempt":"` + attempt + `","seat":"` + seat + `","generation":"1"} -->` + "\n"
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for address, want := range map[string]string{in.Address: "01A", "dev-qa@shop": "01B", "dev-other@shop": "."} {
		if path, _ := latestMap(in.Seat.Cwd, address); filepath.Base(filepath.Dir(path)) != want {
			t.Errorf("%s has %q", address, path)
		}
	}
}
