package engine_test

import (
	"fmt"
	"testing"
	"time"

	"rig/engine"
)

// BenchmarkPlanFromRecord makes the plan of 500 seats with the samples that are on
// record.
func BenchmarkPlanFromRecord(b *testing.B) {
	bench := newBench(b, b.TempDir(), engine.RuntimeClaude)
	defer bench.close(b)
	bench.run(b, upRequest())
	first := bench.seat(b, "dev.m0")
	var seats []engine.SeatView
	err := bench.db.Write(b.Context(), func(tx engine.Tx) error {
		row, err := tx.Seat(first.ID)
		if err != nil {
			return err
		}
		for i := range 500 {
			row.ID, row.Member, row.Ordinal = fmt.Sprintf("seat%03d", i), fmt.Sprintf("x%03d", i), i+1
			if err := tx.InsertSeat(row); err != nil {
				return err
			}
			s := planSeat(fmt.Sprintf("dev-x%03d@team", i), engine.RuntimeClaude, known(int64(i)*1900+3000, 1_000_000))
			s.ID = row.ID
			seats = append(seats, s)
			for j := range 30 {
				u := known(int64(i)*1900+int64(j)*100+1, 1_000_000)
				u.Generation, u.SampledAt = 1, planNow.Add(-time.Duration(31-j)*time.Minute)
				if err := tx.PutUsage(engine.StoredUsage{SeatID: row.ID, SessionID: row.ID, Usage: u}); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	f := planFleet(seats...)
	b.ResetTimer()
	for b.Loop() {
		p, err := bench.e.PlanFrom(b.Context(), f, engine.CompactPlanOptions{})
		if err != nil || p.Summary.TotalSeats != 500 || !p.Skipped[0].Forecast.Known {
			b.Fatalf("%v %+v", err, p.Skipped[0].Forecast)
		}
	}
}
