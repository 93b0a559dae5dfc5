package store

import (
	"errors"
	"os"
	"testing"

	"rig/engine"
)

// A transaction that asks for it is on the disk when Write returns; the others wait for the next one, and one that failed asks
// for nothing.
func TestDurableTransactionsReachTheDisk(t *testing.T) {
	db := fresh(t)
	var logs []int64
	db.sync = func(path string) {
		info, err := os.Stat(path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		logs = append(logs, info.Size())
		syncLog(path)
	}
	rig := func(id string, durable bool, err error) {
		werr := db.Write(t.Context(), func(tx engine.Tx) error {
			if durable {
				tx.Durable()
			}
			return errors.Join(tx.InsertRig(testRig(id, "rig"+id)), err)
		})
		if (werr != nil) != (err != nil) {
			t.Fatal(werr)
		}
	}
	rig("r1", false, nil)
	rig("r2", true, nil)
	rig("r3", false, nil)
	rig("r4", true, errors.New("no"))
	if len(logs) != 1 || logs[0] == 0 {
		t.Errorf("the log was brought to the disk %v", logs)
	}
}
