package store_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rig/engine"
	"rig/store"
)

func shot(seat string, i int) engine.Shot {
	return engine.Shot{
		SeatID: seat, Generation: 1, At: time.Date(2026, 3, 3, 3, 12, 0, 0, time.UTC).Add(time.Duration(i) * time.Second),
		From: engine.ActivityBusy, To: engine.ActivityIdle, Moment: engine.ShotAfter, Lines: []string{fmt.Sprint("line ", i), strings.Repeat("x", 2000)},
	}
}

func TestShotsAreARing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "recorder")
	s := store.NewShots(dir)
	defer s.Close()
	if got, err := s.Shots(t.Context(), "a"); err != nil || len(got) != 0 {
		t.Fatalf("an empty ring: %v, %v", got, err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("reading made the folder")
	}
	const n = 500
	for i := range n {
		if err := s.Keep(shot("a", i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Keep(shot("b", 0)); err != nil {
		t.Fatal(err)
	}
	got, err := s.Shots(t.Context(), "a")
	if err != nil || len(got) < 50 || len(got) > 120 {
		t.Fatalf("%d shots, %v", len(got), err)
	}
	for i, g := range got {
		if want := n - len(got) + i; g.Lines[0] != fmt.Sprint("line ", want) {
			t.Fatalf("shot %d of %d is %q, want line %d", i, len(got), g.Lines[0], want)
		}
	}
	info, err := os.Stat(filepath.Join(dir, "a.jsonl"))
	if err != nil || info.Size() > 256<<10 || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := s.Forget([]string{"b"}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Shots(t.Context(), "a"); err != nil || len(got) != 0 {
		t.Errorf("a forgotten ring: %d, %v", len(got), err)
	}
	if got, err := s.Shots(t.Context(), "b"); err != nil || len(got) != 1 {
		t.Errorf("the other ring: %d, %v", len(got), err)
	}
}

func TestOneProcessRecords(t *testing.T) {
	dir := t.TempDir()
	a, b := store.NewShots(dir), store.NewShots(dir)
	for i, s := range []*store.Shots{a, b, a} {
		if err := s.Keep(shot("a", i)); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := b.Shots(t.Context(), "a"); err != nil || len(got) != 2 {
		t.Fatalf("%d shots, %v", len(got), err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if err := b.Keep(shot("a", 3)); err != nil {
		t.Fatal(err)
	}
	if got, err := a.Shots(t.Context(), "a"); err != nil || len(got) != 3 {
		t.Errorf("%d shots after the other took over, %v", len(got), err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestShotsSurviveATornLine(t *testing.T) {
	dir := t.TempDir()
	s := store.NewShots(dir)
	defer s.Close()
	if err := s.Keep(shot("a", 1)); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "a.jsonl"), os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = f.WriteString(`{"seat_id":"a","li` + "\n")
	f.Close()
	if err := s.Keep(shot("a", 2)); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Shots(t.Context(), "a"); err != nil || len(got) != 2 {
		t.Errorf("%d shots, %v", len(got), err)
	}
	for _, id := range []string{"", "../a", "a/b", ".a"} {
		if err := s.Keep(shot(id, 1)); engine.CodeOf(err) != engine.CodeInvalid {
			t.Errorf("the id %q: %v", id, err)
		}
	}
}
