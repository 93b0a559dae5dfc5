// Command demo shows the console over made-up rigs: go run ./tui/tuitest/demo
// [-seats 200] [-plain] [-theme dark]. Nothing outside of it is touched.
package main

import (
	"context"
	"flag"
	"log"
	"os"
	"time"

	"rig/engine"
	"rig/tui"
	"rig/tui/tuitest"
)

func main() {
	seats := flag.Int("seats", 7, "how many seats the made-up rigs have")
	plain := flag.Bool("plain", false, "lines instead of a screen")
	theme := flag.String("theme", "", "dark, light, any, 16 or mono")
	ascii := flag.Bool("ascii", false, "draw with ASCII only")
	readOnly := flag.Bool("read-only", false, "look only")
	still := flag.Bool("still", false, "nothing moves")
	flag.Parse()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c := tuitest.New(tuitest.Fleet(*seats))
	c.Pause = func() { wait(ctx, 700*time.Millisecond) }
	c.JumpAnswer = engine.Jump{Inside: true, Clients: []engine.Client{
		{Name: "/dev/pts/3", Session: "work", Width: 120, Height: 40}, {Name: "/dev/pts/9", Session: "mail", Width: 80, Height: 24},
	}}
	if !*still {
		go move(ctx, c)
	}
	begun := <-time.After(1)
	now := func() time.Time { return tuitest.Start().Add((<-time.After(1)).Sub(begun)) }
	c.Now = now
	opt := tui.Options{Now: now, Theme: *theme, ASCII: *ascii, ReadOnly: *readOnly, Marker: true, Starters: starters}
	run := func() error { return tui.Run(ctx, c, opt) }
	if *plain {
		run = func() error { return tui.RunPlain(ctx, c, os.Stdin, os.Stdout, opt) }
	}
	if err := run(); err != nil {
		log.Print(err)
	}
}

func starters(context.Context) ([]tui.Choice, error) {
	return []tui.Choice{
		{Value: "terminals", Note: "three shells, no agent needed"},
		{Value: "pair", Note: "a claude and a codex that review each other"},
		{Value: "team", Note: "seven seats in three pods"},
	}, nil
}

// move keeps the busy panes moving.
func move(ctx context.Context, c *tuitest.Console) {
	for tick := 0; wait(ctx, time.Second); tick++ {
		c.Show(tick)
	}
}

func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
