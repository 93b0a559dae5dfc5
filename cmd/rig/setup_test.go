package main

import (
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAnInstallerThatIsMissingIsSaid: a command that cannot run on this machine is not given as if it could.
func TestAnInstallerThatIsMissingIsSaid(t *testing.T) {
	t.Parallel()
	k := check{Name: "claude", Status: "yellow", Found: "claude was not found"}
	look := func() check { return k }
	it := program("claude", look, []string{"no-such-installer", "install", "claude"}, nil)
	if it.State != "yours" || !strings.Contains(it.What, "claude was not found; the command needs no-such-installer, which is not here either") {
		t.Errorf("%+v", it)
	}
	if it := program("claude", look, []string{"sh", "-c", "true"}, nil); it.What != k.Found {
		t.Errorf("%+v", it)
	}
}

// TestWhatWasInstalledIsLookedAt: an installer that ended well proves nothing.
func TestWhatWasInstalledIsLookedAt(t *testing.T) {
	t.Parallel()
	there := filepath.Join(t.TempDir(), "it")
	look := func() check {
		if onDisk(there) {
			return check{Name: "tmux", Status: "green", Found: "tmux 9.9"}
		}
		return check{Name: "tmux", Status: "red", Found: "tmux cannot be started"}
	}
	for _, c := range [][4]string{
		{"true", "failed", "tmux cannot be started", "the command ended well, and this is still so"},
		{"touch " + there, "done", "tmux 9.9", ""},
	} {
		items := []setupItem{program("tmux", look, []string{"sh", "-c", c[0]}, []string{"tmux"})}
		runSetup(context.Background(), items)
		if it := items[0]; it.State != c[1] || it.What != c[2] || it.Error != c[3] {
			t.Errorf("%s: %+v", c[0], it)
		}
	}
}

// TestSetupBringsAnOlderRecordUpToDate: until then who reads says so, and changes nothing.
func TestSetupBringsAnOlderRecordUpToDate(t *testing.T) {
	w := newWorld(t)
	packed, err := os.Open("../../store/testdata/record-0001.db.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	record, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(record)
	if err != nil {
		t.Fatal(err)
	}
	w.write("rig/rig.db", string(b))
	for _, verb := range [][]string{{"ps"}, {"seat", "status", "dev.impl"}, {"op", "list"}, {"explain", "dev.impl"}} {
		w.refuse("record_older", 2, verb...)
	}
	item := func(args ...string) string {
		var doc struct{ Items []setupItem }
		w.into(&doc, append([]string{"setup"}, args...)...)
		for _, it := range doc.Items {
			if it.Name == "record" {
				return it.State
			}
		}
		return ""
	}
	if dry, made := item("--dry-run"), item(); dry != "missing" || made != "done" {
		t.Errorf("the record was %q, then %q", dry, made)
	}
	w.must("ps")
}
