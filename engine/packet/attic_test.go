package packet

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"rig/engine"
)

// TestWhatAKillLeavesIsFound: a packet and a recap that were being written when
// their writer was killed. What stands beside them is not taken for that.
func TestWhatAKillLeavesIsFound(t *testing.T) {
	s, in := departing(t)
	whole := handoff(t, s, in)
	packets := filepath.Dir(whole.Dir)
	old := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	put := func(path, text string) string {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, p := range []string{path, filepath.Dir(path)} {
			if err := os.Chtimes(p, old, old); err != nil {
				t.Fatal(err)
			}
		}
		return path
	}
	half := filepath.Dir(put(filepath.Join(packets, "dev-impl-01JNOP0000000000000001TEST.tmp-restore-packet-123", FullName), "12345"))
	other := filepath.Dir(put(filepath.Join(packets, "dev-qa-01JNOP0000000000000001TEST.tmp-restore-packet-9", FullName), "1"))
	draft := put(filepath.Join(s.Dir(in.Address), ".recap-77"), "123")
	put(filepath.Join(s.Dir(in.Address), recapName), "# State\n")
	put(filepath.Join(packets, "notes.tmp-restore-packet-1"), "a file of somebody")
	found := map[string]engine.Relic{}
	for _, r := range s.Relics([]engine.Seat{in.Seat}) {
		found[r.Path] = r
	}
	for path, bytes := range map[string]int64{half: 5, draft: 3} {
		r := found[path]
		if r.Kind != engine.RelicTemporary || r.Bytes != bytes || !r.At.Equal(old) || r.Series != "" {
			t.Errorf("%s: %+v", path, r)
		}
	}
	if found[whole.Dir].Kind != engine.RelicPacket || len(found) != 3 {
		t.Errorf("%+v", found)
	}
	if _, there := found[other]; there {
		t.Error("another seat's, which was not asked about")
	}
	put(filepath.Join(half, LatestName), "x") // somebody still writes there
	now := time.Now()
	if err := os.Chtimes(filepath.Join(half, LatestName), now, now); err != nil {
		t.Fatal(err)
	}
	for _, r := range s.Relics([]engine.Seat{in.Seat}) {
		if r.Path == half && r.At.Before(now.Add(-time.Minute)) {
			t.Errorf("the newest change in it is of %s, not %s", now, r.At)
		}
	}
}
