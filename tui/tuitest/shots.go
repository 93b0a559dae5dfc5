package tuitest

import (
	"context"
	"time"

	"rig/engine"
)

// Shots gives a night in which a seat finished, asked, waited and died.
func (c *Console) Shots(_ context.Context, seatID string) ([]engine.Shot, error) {
	if err := c.call("Shots"); err != nil {
		return nil, err
	}
	c.mu.Lock()
	none := c.NoShots
	c.mu.Unlock()
	if none {
		return nil, nil
	}
	at := time.Date(2026, 3, 3, 3, 11, 40, 0, time.UTC)
	mk := func(after time.Duration, from, to engine.ActivityState, moment, why string, lines ...string) engine.Shot {
		return engine.Shot{
			SeatID: seatID, Generation: 2, At: at.Add(after), From: from, To: to, Moment: moment, Why: why, Source: "registry",
			Cols: 120, Rows: 36, Lines: lines,
		}
	}
	head := []string{"❯ fix the failing checkout test", "", "● The test fails because the cart is empty."}
	ask := append(append([]string{}, head...), "", "Bash command", "make migrate", "Do you want to proceed?", "❯ 1. Yes", "  2. No", "", "Esc to cancel")
	return []engine.Shot{
		mk(0, engine.ActivityIdle, engine.ActivityBusy, engine.ShotBefore, "a turn is under way", "❯"),
		mk(2*time.Second, engine.ActivityIdle, engine.ActivityBusy, engine.ShotAfter, "a turn is under way", head...),
		mk(32*time.Second, engine.ActivityBusy, engine.ActivityWaiting, engine.ShotAfter, "asks for permission", ask...),
		mk(34*time.Second, engine.ActivityBusy, engine.ActivityWaiting, engine.ShotRest, "asks for permission", append(ask, "wide 漢字 🙂 e\u0301")...),
		mk(3*time.Hour, engine.ActivityWaiting, engine.ActivityExited, engine.ShotAfter, "its process has ended", "Resume this session with:", "claude --resume …"),
	}, nil
}
