package store

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rig/engine"
)

func TestOpenMakesPrivateFiles(t *testing.T) {
	path := recordPath(t)
	db := open1(t, path)
	if err := count(db); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{filepath.Dir(path): 0o700, path: 0o600, path + "-wal": 0o600, path + "-shm": 0o600} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", name, got, want)
		}
	}
	if names := ls(t, filepath.Dir(path)); len(names) != 3 {
		t.Errorf("left in the folder: %v", names)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	open1(t, path)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("a readable record was not closed to others: %v %v", info.Mode(), err)
	}
}

func ls(tb testing.TB, dir string) (names []string) {
	tb.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		tb.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// fingerprint hashes every file of a folder but the shared memory of readers.
func fingerprint(tb testing.TB, dir string) string {
	tb.Helper()
	var b strings.Builder
	for _, name := range ls(tb, dir) {
		if strings.HasSuffix(name, "-shm") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			tb.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %x\n", name, sha256.Sum256(data))
	}
	return b.String()
}

func TestReadOnlyOfNothing(t *testing.T) {
	path := recordPath(t)
	ro, err := OpenReadOnly(path)
	if err != nil {
		t.Fatal(err)
	}
	defer ro.Close()
	read(t, ro, func(r engine.Reader) error {
		rec, err := r.Record()
		if err != nil || len(rec.Rigs) != 0 || rec.LastSeq != 0 {
			t.Errorf("an absent record holds %+v, %v", rec, err)
		}
		_, err = r.Seat("s1")
		wantCode(t, err, engine.CodeNotFound)
		return nil
	})
	wantCode(t, ro.Write(context.Background(), oneSeat), engine.CodeRecordReadOnly)
	wantCode(t, ro.Backup(context.Background(), path+".copy"), engine.CodeNotFound)
	if _, err := os.Stat(filepath.Dir(path)); !os.IsNotExist(err) {
		t.Errorf("a look created the folder: %v", err)
	}
	write(t, open1(t, path), oneSeat)
	read(t, ro, func(r engine.Reader) error {
		s, err := r.Seat("s1")
		if err != nil || s.Member != "impl" {
			t.Errorf("the record that appeared is not read: %+v, %v", s, err)
		}
		return nil
	})
}

// A file where a folder should be is the caller's to mend, not a fault of the program.
func TestHomeIsAFile(t *testing.T) {
	path := recordPath(t)
	if err := os.WriteFile(filepath.Dir(path), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ro, err := OpenReadOnly(path)
	if err == nil {
		defer ro.Close()
		err = ro.Read(context.Background(), func(engine.Reader) error { return nil })
	}
	wantCode(t, err, engine.CodeUnavailable)
	_, err = Open(path)
	wantCode(t, err, engine.CodeUnavailable)
}

// Ruling: planning leaves no trace. The folder is the same before and after a
// look, apart from the shared memory.
func TestReadOnlyLeavesNoTrace(t *testing.T) {
	path := recordPath(t)
	db, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, db, oneSeat)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	before := fingerprint(t, filepath.Dir(path))
	ro, err := OpenReadOnly(path)
	if err != nil {
		t.Fatal(err)
	}
	read(t, ro, func(r engine.Reader) error { _, err := r.Record(); return err })
	if _, err := ro.Dump(context.Background()); err != nil {
		t.Error(err)
	}
	if err := ro.Close(); err != nil {
		t.Error(err)
	}
	if after := fingerprint(t, filepath.Dir(path)); after != before {
		t.Errorf("before:\n%safter:\n%s", before, after)
	}
}

func TestAwkwardPaths(t *testing.T) {
	for _, name := range []string{"a b.db", "a?mode=ro.db", "a#b.db", "100%.db", "%41.db", "ü’.db", "a&b=c;d.db", "-x.db", "a'b\".db", "new\nline.db"} {
		path := filepath.Join(t.TempDir(), name)
		db := open1(t, path)
		write(t, db, oneSeat)
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%q went elsewhere: %v", name, err)
		}
		if db.Path() != path {
			t.Errorf("path %q, want %q", db.Path(), path)
		}
	}
	for _, bad := range []string{"", "a\x00b"} {
		_, err := Open(bad)
		wantCode(t, err, engine.CodeInvalid)
		_, err = OpenReadOnly(bad)
		wantCode(t, err, engine.CodeInvalid)
	}
	_, err := Open(t.TempDir())
	wantCode(t, err, engine.CodeInvalid)
}

func TestDamagedFiles(t *testing.T) {
	good := recordPath(t)
	db, err := Open(good)
	if err != nil {
		t.Fatal(err)
	}
	fleet(t, db, 40)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	schema := append([]byte(nil), data...)
	copy(schema[100:], strings.Repeat("\xff", 400)) // the root page of the schema
	for name, content := range map[string][]byte{
		"text":   []byte(strings.Repeat("this is no database\n", 400)),
		"schema": schema,
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Open(path)
		wantCode(t, err, engine.CodeRecordDamaged)
		_, err = OpenReadOnly(path)
		wantCode(t, err, engine.CodeRecordDamaged)
		if after, err := os.ReadFile(path); err != nil || string(after) != string(content) {
			t.Errorf("%s: the damaged file was touched: %v", name, err)
		}
	}
	for i := 4096 * 3; i < len(data); i++ { // every page but the schema's first ones
		data[i] ^= 0x5a
	}
	path := filepath.Join(t.TempDir(), "pages")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if db, err := Open(path); err != nil {
		wantCode(t, err, engine.CodeRecordDamaged)
	} else {
		defer db.Close()
		wantCode(t, db.Integrity(context.Background()), engine.CodeRecordDamaged)
	}
}

func TestFullDisk(t *testing.T) {
	db := fresh(t)
	if _, err := db.writer.Exec("PRAGMA max_page_count = 1"); err != nil { // as small as what is there
		t.Fatal(err)
	}
	err := db.Write(context.Background(), func(tx engine.Tx) error {
		for range 1000 {
			if _, err := tx.AppendEvent(engine.Event{At: epoch, Type: "x", Payload: []byte(`"` + strings.Repeat("y", 500) + `"`)}); err != nil {
				return err
			}
		}
		return nil
	})
	wantCode(t, err, CodeRecordFull)
	read(t, db, func(r engine.Reader) error {
		evs, err := r.Events(engine.EventFilter{})
		if len(evs) != 0 {
			t.Errorf("%d events of an undone transaction", len(evs))
		}
		return err
	})
}

// A log that was made while the record was read-only must not keep it read-only
// for ever: the next one that opens it for writing mends that. A record that is
// read-only itself stays so.
func TestFilesMadeWhileReadOnlyAreMended(t *testing.T) {
	path := recordPath(t)
	open1(t, path)
	chmod := func(mode os.FileMode, suffixes ...string) {
		t.Helper()
		for _, s := range suffixes {
			if err := os.Chmod(path+s, mode); err != nil {
				t.Fatal(err)
			}
		}
	}
	modes := func() (out []os.FileMode) {
		t.Helper()
		for _, s := range []string{"-wal", "-shm"} {
			out = append(out, stat(t, path+s).Mode().Perm())
		}
		return out
	}
	chmod(0o400, "-wal", "-shm")
	chmod(0o400, "")
	mend(path)
	if got := modes(); got[0] != 0o400 || got[1] != 0o400 {
		t.Errorf("beside a read-only record: %v", got)
	}
	chmod(0o600, "")
	write(t, open1(t, path), oneSeat)
	if got := modes(); got[0] != 0o600 || got[1] != 0o600 {
		t.Errorf("after it was opened for writing: %v", got)
	}
}

func TestReplacedFile(t *testing.T) {
	path := recordPath(t)
	db := open1(t, path)
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	wantCode(t, db.Write(context.Background(), oneSeat), engine.CodeUnavailable)
	wantCode(t, db.Read(context.Background(), func(engine.Reader) error { return nil }), engine.CodeUnavailable)
	_, err := db.Changed(context.Background())
	wantCode(t, err, engine.CodeUnavailable)
	other := recordPath(t)
	open1(t, other)
	if err := os.Link(other, path); err != nil {
		t.Fatal(err)
	}
	wantCode(t, db.Write(context.Background(), oneSeat), engine.CodeUnavailable)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".old", path); err != nil {
		t.Fatal(err)
	}
	write(t, db, oneSeat)
}

// Case B90: without the right to write, reading works and writing says why.
func TestReadOnlyPlaces(t *testing.T) {
	dir := t.TempDir()
	if os.Geteuid() == 0 {
		if err := os.Chown(dir, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		// t.TempDir makes a parent folder of its own.
		if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p := start(t, "readonly", filepath.Join(dir, "record.db"), true)
	if out := p.rest(t); out != "done\n" {
		t.Error(out)
	}
}

// childReadOnly runs as a user without rights.
func childReadOnly(path string) error {
	ctx := context.Background()
	dir := filepath.Dir(path)
	defer os.Chmod(dir, 0o700)
	db, err := Open(path)
	if err != nil {
		return err
	}
	if err := db.Write(ctx, oneSeat); err != nil {
		return err
	}
	if err := db.Close(); err != nil {
		return err
	}
	chmod := func(name string, mode os.FileMode) {
		if err := os.Chmod(name, mode); err != nil {
			fmt.Println(err)
		}
	}
	check := func(what string) {
		for name, open := range map[string]func(string) (*DB, error){"Open": Open, "OpenReadOnly": OpenReadOnly} {
			db, err := open(path)
			if err != nil {
				fmt.Printf("%s, %s: %v\n", what, name, err)
				continue
			}
			if err := db.Read(ctx, func(r engine.Reader) error { _, err := r.Seat("s1"); return err }); err != nil {
				fmt.Printf("%s, %s: read: %v\n", what, name, err)
			}
			err = db.Write(ctx, func(tx engine.Tx) error { return tx.SetMeta("x", "y") })
			if engine.CodeOf(err) != engine.CodeRecordReadOnly {
				fmt.Printf("%s, %s: write: %v\n", what, name, err)
			}
			if _, err := db.Changed(ctx); err != nil {
				fmt.Printf("%s, %s: changed: %v\n", what, name, err)
			}
			if err := db.Close(); err != nil {
				fmt.Printf("%s, %s: close: %v\n", what, name, err)
			}
		}
	}
	for _, p := range []string{path, path + "-wal", path + "-shm"} {
		chmod(p, 0o400)
	}
	check("read-only files")
	chmod(dir, 0o500)
	check("read-only folder and files")
	chmod(dir, 0o700)
	for _, p := range []string{path + "-wal", path + "-shm"} {
		if err := os.Remove(p); err != nil {
			return err
		}
	}
	chmod(dir, 0o500)
	check("read-only folder without the log's files")
	chmod(path, 0o600)
	check("read-only folder with a writable file")
	if _, err := Open(filepath.Join(dir, "new.db")); engine.CodeOf(err) != engine.CodeRecordReadOnly {
		fmt.Println("new record in a read-only folder:", err)
	}
	if _, err := Open(filepath.Join(dir, "sub", "new.db")); engine.CodeOf(err) != engine.CodeRecordReadOnly {
		fmt.Println("new folder in a read-only folder:", err)
	}
	chmod(path, 0)
	for _, open := range []func(string) (*DB, error){Open, OpenReadOnly} {
		if _, err := open(path); engine.CodeOf(err) != engine.CodeUnavailable {
			fmt.Println("a record that may not be read:", err)
		}
	}
	fmt.Println("done")
	return nil
}
