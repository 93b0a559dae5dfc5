package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"rig/engine"
)

// keepSnapshots saves running rigs periodically until ctx ends, from the watcher's
// first picture of panes on: whoever opens a console waits for that one, and nobody
// for a snapshot. wait returns when the last one is written, after the watcher has
// ended.
func (a *app) keepSnapshots(ctx context.Context, w *engine.Watcher) (wait func()) {
	p := engine.PeriodicPolicy{Every: a.conf.Snapshots.Every, Keep: a.conf.Snapshots.Keep}
	if a.conf.Snapshots.Off {
		p.Every = -1
	}
	done := make(chan struct{})
	pictures := w.Subscribe()
	go func() {
		defer close(done)
		for f := range pictures {
			if f.Live {
				break
			}
		}
		a.engine().KeepSnapshots(ctx, p)
	}()
	return func() { <-done }
}

// tellAttention prints what has begun and what has ceased to wait for a person
// since it was told last.
func (c *cli) tellAttention(f *engine.Fleet, told map[string]engine.AttentionItem) {
	if !f.Live {
		return
	}
	now := map[string]bool{}
	for _, it := range f.Attention {
		now[it.Key] = true
		if _, known := told[it.Key]; !known {
			told[it.Key] = it
			c.attentionLine(f.At, "waits", it)
		}
	}
	for key, it := range told {
		if !now[key] {
			delete(told, key)
			c.attentionLine(f.At, "over", it)
		}
	}
}

func (c *cli) attentionLine(at time.Time, word string, it engine.AttentionItem) {
	if c.json {
		b, err := json.Marshal(map[string]any{"at": at, "attention": word, "item": it})
		if err == nil {
			fmt.Fprintln(c.out, string(b))
		}
		return
	}
	who := it.Seat
	if who == "" {
		who = it.Class
	}
	line := fmt.Sprintf("%s %s %s: %s", at.Local().Format("15:04:05"), plain(who), word, plain(it.Reason))
	if word == "waits" {
		line += " → " + plain(it.Remedy)
	}
	fmt.Fprintln(c.out, line)
}
