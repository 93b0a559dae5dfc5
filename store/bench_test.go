package store

import (
	"context"
	"fmt"
	"testing"

	"rig/engine"
)

func BenchmarkRecord(b *testing.B) {
	for _, seats := range []int{200, 1000} {
		b.Run(fmt.Sprintf("seats=%d", seats), func(b *testing.B) {
			db := fresh(b)
			fleet(b, db, seats)
			b.ReportAllocs()
			for b.Loop() {
				read(b, db, func(r engine.Reader) error {
					_, err := r.Record()
					return err
				})
			}
		})
	}
}

// BenchmarkOpenAndRead is what one short command pays: a new handle, the check of
// the file, one seat, close.
func BenchmarkOpenAndRead(b *testing.B) {
	path := recordPath(b)
	fleet(b, open1(b, path), 200)
	ref := engine.SeatRef{Member: "pod3-m33", Rig: "rigr001"}
	for name, open := range map[string]func(string) (*DB, error){"rw": Open, "ro": OpenReadOnly} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				db, err := open(path)
				if err != nil {
					b.Fatal(err)
				}
				read(b, db, func(r engine.Reader) error {
					got, err := r.SeatsMatching(ref)
					if len(got) != 1 {
						b.Fatalf("%d seats match", len(got))
					}
					return err
				})
				if err := db.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkChanged(b *testing.B) {
	db := fresh(b)
	for b.Loop() {
		if _, err := db.Changed(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCommit(b *testing.B) {
	db := fresh(b)
	for b.Loop() {
		write(b, db, func(tx engine.Tx) error {
			_, err := tx.AppendEvent(engine.Event{At: epoch, Type: "bench"})
			return err
		})
	}
}

// BenchmarkEmpty is a read-only look where no record is.
func BenchmarkEmpty(b *testing.B) {
	path := recordPath(b)
	for b.Loop() {
		db, err := OpenReadOnly(path)
		if err != nil {
			b.Fatal(err)
		}
		read(b, db, func(r engine.Reader) error { _, err := r.Record(); return err })
		_ = db.Close()
	}
}
