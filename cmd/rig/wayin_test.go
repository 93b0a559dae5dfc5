package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rig/engine"
	"rig/engine/runtimes"
	"rig/store"
)

// there lists all files below the world's folder.
func (w *world) there() []string {
	w.t.Helper()
	var out []string
	err := filepath.WalkDir(w.dir, func(path string, _ os.DirEntry, err error) error {
		out = append(out, path)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// TestSetup says what is missing and leaves no trace, then does it, and then has
// nothing more to do. Doctor looks at the same things and changes nothing.
func TestSetup(t *testing.T) {
	w := newWorld(t)
	w.setenv("SHELL", "/bin/bash")
	before := w.there()
	w.must("doctor")
	w.must("setup", "--dry-run")
	w.must("watch", "--install", "--dry-run")
	w.must("gc", "--dry-run")
	if after := w.there(); !slices.Equal(before, after) {
		t.Fatalf("a dry run left %v, there was %v", after, before)
	}
	var doc struct {
		OK    bool
		Items []setupItem
	}
	w.into(&doc, "setup")
	made := map[string]string{}
	for _, it := range doc.Items {
		if it.State == "done" {
			made[it.Name] = it.Path
		}
		if it.Error != "" {
			t.Errorf("%s: %s", it.Name, it.Error)
		}
	}
	for _, name := range []string{"home", "config", "completion", "man pages"} {
		if made[name] == "" || !onDisk(made[name]) {
			t.Errorf("%s was not made: %+v", name, doc.Items)
		}
	}
	w.must("config", "check")
	w.into(&doc, "setup", "--dry-run")
	for _, it := range doc.Items {
		if it.State == "missing" {
			t.Errorf("%s is missing after setup", it.Name)
		}
	}
	w.refuse("invalid", 2, "setup", "--install", "emacs")
	w.must("watch", "--install")
	w.must("watch", "--install") // the same again is no conflict
	w.write("home/.config/systemd/user/rig-watch.service", "mine\n")
	w.refuse("conflict", 1, "watch", "--install")
	w.write("config.yaml", "launch: {parallel: many}\n")
	if r := w.run("doctor"); r.code != 1 || !strings.Contains(r.out, "✗  config") {
		t.Errorf("doctor on a broken configuration: exit %d\n%s", r.code, r.out)
	}
}

// TestBackupAndBroadcast copies the record under a running rig, refuses a target
// that is there, and tells all agents of it something; a shell is left alone.
func TestBackupAndBroadcast(t *testing.T) {
	w := newWorld(t)
	w.refuse("not_found", 1, "backup", filepath.Join(w.dir, "none.db"))
	w.must("up", w.spec("shop", "impl:claude-code", "qa:codex", "sh:terminal"))
	dest := filepath.Join(w.dir, "copy", "record.db")
	w.refuse("unavailable", 2, "backup", dest)
	dest = filepath.Join(w.dir, "record.db")
	w.must("backup", dest, "--dry-run")
	if onDisk(dest) {
		t.Fatal("a dry run made the file")
	}
	var b struct{ Rigs, Seats int }
	w.into(&b, "backup", dest)
	if info, err := os.Stat(dest); err != nil || b.Rigs != 1 || b.Seats != 3 || info.Mode().Perm() != 0o600 {
		t.Errorf("%+v %v %v", b, info.Mode(), err)
	}
	w.refuse("conflict", 1, "backup", dest)
	w.refuse("conflict", 1, "backup", dest, "--dry-run")

	var said struct {
		OK    bool
		Seats []told
	}
	w.into(&said, "broadcast", "--dry-run", "hello")
	if len(said.Seats) != 2 {
		t.Errorf("%+v", said)
	}
	w.into(&said, "broadcast", "--verify", "hello all of you")
	if len(said.Seats) != 2 || said.Seats[0].Outcome != "delivered" || said.Seats[1].Outcome != "delivered" {
		t.Errorf("%+v", said)
	}
	if strings.Contains(w.must("capture", "dev-sh@shop"), "hello") {
		t.Error("the shell was told")
	}
	w.into(&said, "broadcast", "--seats", "dev.qa", "--dry-run", "hello")
	if len(said.Seats) != 1 || said.Seats[0].Seat != "dev-qa@shop" {
		t.Errorf("%+v", said)
	}
	w.refuse("seat_not_found", 1, "broadcast", "--seats", "dev.none", "hello")
	w.refuse("not_found", 1, "broadcast", "--runtime", "terminal", "hello")
	w.refuse("rig_not_found", 1, "broadcast", "--rig", "none", "hello")
}

// TestGC makes a home old and removes what is of no use: the files of an occupant
// that ended, logs, half-written files, and all but the newest of packets and
// automatic snapshots. What lives, and what somebody asked for, stays.
func TestGC(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("shop", "sh:terminal", "two:terminal"))
	w.must("seat", "launch", "dev-sh@shop", "--fresh", "--stop", "--reason", "test")
	w.must("snapshot", "create", "shop")
	home := filepath.Join(w.dir, "rig")
	ended, living, asked := w.makeOld(home)
	w.eventually("the supervisor of the ended one has written its last word, and has gone", func() (bool, string) {
		st, ok, err := runtimes.NewFiles(home, w.program, w.program).RunState(ended)
		if err != nil || !ok || !st.Exited {
			return false, fmt.Sprintf("%+v, %v", st, err)
		}
		_, there, err := runtimes.NewProcesses().Start(st.SupervisorPID)
		return err == nil && !there, fmt.Sprintf("%+v is there: %v, %v", st, there, err)
	})
	packets := filepath.Join(w.project, ".rig", "packets")
	for n := range 5 {
		w.write(fmt.Sprintf("project/.rig/packets/dev-sh-01PACKET%d/restore-summary.json", n), "{}")
	}
	w.write("project/.rig/packets/mine/notes.txt", "not a packet")
	w.write("rig/logs/op-1.log", "old")
	w.write("rig/run/.tmp-1-x", "old")
	w.write("rig/run/op-1.ticket", "old")
	month := time.Now().AddDate(0, -2, 0)
	for i, p := range w.there() {
		if strings.HasPrefix(p, home+"/") || strings.HasPrefix(p, packets) {
			if err := os.Chtimes(p, month, month.Add(time.Duration(i)*time.Second)); err != nil {
				t.Fatal(err)
			}
		}
	}
	before := w.there()
	plan := w.must("gc", "--dry-run")
	if after := w.there(); !slices.Equal(before, after) {
		t.Fatal("a dry run changed something")
	}
	w.refuse("invalid", 2, "gc", "--older-than", "1m")
	w.must("gc")
	for path, stays := range map[string]bool{
		"rig/spool/" + ended: false, "rig/run/" + ended + ".json": false, "rig/spool/" + living: true, "rig/run/" + living + ".json": true,
		"rig/logs/op-1.log": false, "rig/run/.tmp-1-x": false, "rig/run/op-1.ticket": false, "rig/rig.db": true,
		"project/.rig/packets/dev-sh-01PACKET0": false, "project/.rig/packets/dev-sh-01PACKET1": false,
		"project/.rig/packets/dev-sh-01PACKET2": true, "project/.rig/packets/dev-sh-01PACKET4": true, "project/.rig/packets/mine": true,
	} {
		if onDisk(filepath.Join(w.dir, path)) != stays {
			t.Errorf("%s: there %v, want %v\n%s", path, !stays, stays, plan)
		}
	}
	var list struct{ Snapshots []struct{ ID, Kind string } }
	w.into(&list, "snapshot", "list", "shop")
	kinds := map[string]int{}
	for _, s := range list.Snapshots {
		kinds[s.Kind]++
	}
	if kinds["manual"] != 1 || kinds["auto-pre-down"] != 3 || !slices.ContainsFunc(list.Snapshots, func(s struct{ ID, Kind string }) bool { return s.ID == asked }) {
		t.Errorf("snapshots left: %v", kinds)
	}
	if s := w.seat("dev-sh@shop"); s.Life != "running" {
		t.Errorf("the seat is %s", s.Life)
	}
	if out := w.must("gc", "--dry-run"); !strings.Contains(out, "nothing is old enough") {
		t.Errorf("a second time finds:\n%s", out)
	}
}

// makeOld moves the end of every ended occupant two months back, adds five old
// automatic snapshots, and gives the session ids of an ended and a living occupant
// and the id of the snapshot that somebody asked for.
func (w *world) makeOld(home string) (ended, living, asked string) {
	w.t.Helper()
	db, err := store.Open(filepath.Join(home, "rig.db"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer db.Close()
	old := time.Now().AddDate(0, -2, 0)
	err = db.Write(context.Background(), func(tx engine.Tx) error {
		rigs, err := tx.AllRigs(false)
		if err != nil {
			return err
		}
		seats, err := tx.Seats(rigs[0].ID)
		if err != nil {
			return err
		}
		for _, seat := range seats {
			list, err := tx.Sessions(seat.ID)
			if err != nil {
				return err
			}
			for _, s := range list {
				if !s.Status.Terminal() {
					living = s.ID
					continue
				}
				ended, s.EndedAt = s.ID, old
				if err := tx.UpdateSession(&s); err != nil {
					return err
				}
			}
		}
		rows, err := tx.Snapshots(rigs[0].ID)
		if err != nil {
			return err
		}
		asked = rows[0].ID
		row, err := tx.Snapshot(asked)
		if err != nil {
			return err
		}
		for n := range 5 {
			row.ID, row.Kind, row.CreatedAt = fmt.Sprintf("OLD%d", n), engine.SnapshotPreDown, old.Add(time.Duration(n)*time.Hour)
			if err := tx.InsertSnapshot(row); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return ended, living, asked
}

// TestVersion names the build, the record's schema, Go and tmux.
func TestVersion(t *testing.T) {
	w := newWorld(t)
	var b buildInfo
	w.into(&b, "version")
	if b.Schema != store.SchemaVersion() || b.Commit == "" || b.Go == "" || b.Tmux == "" || b.Platform == "" {
		t.Errorf("%+v", b)
	}
}

// TestLaunchHoldsTheOthers launches one seat of two and says why the other stays.
func TestLaunchHoldsTheOthers(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("shop", "sh:terminal", "two:terminal"))
	w.must("down", "shop")
	w.refuse("invalid", 2, "launch", "shop", "--hold-reason", "later")
	if plan := w.must("launch", "shop", "dev.sh", "--dry-run"); strings.Count(plan, "held ") != 1 || !strings.Contains(plan, "dev-two@shop  (excluded from subset)") {
		t.Errorf("the plan holds:\n%s", plan)
	}
	var rec engine.Receipt
	w.into(&rec, "launch", "shop", "dev.sh", "--hold-reason", "the build machine is down")
	held := slices.IndexFunc(rec.Seats, func(s engine.SeatReceipt) bool { return s.Seat == "dev-two@shop" })
	if !rec.OK || held < 0 || rec.Seats[held].Action != "held" || rec.Seats[held].Evidence["why"] != "the build machine is down" {
		t.Errorf("%+v", rec)
	}
	if w.seat("dev-sh@shop").Life != "running" || w.seat("dev-two@shop").Life == "running" {
		t.Error("the wrong seat runs")
	}
}
