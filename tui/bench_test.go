package tui

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"rig/tui/tuitest"
)

// A frame of every screen with 200 seats.
func BenchmarkFrame(b *testing.B) {
	for _, s := range screenList() {
		b.Run(s.slug, func(b *testing.B) {
			d := drive(b, tuitest.Fleet(200), options())
			d.size(200, 50)
			if s.id != screenFleet {
				d.run(d.m.show(s.id))
			}
			b.ReportAllocs()
			for b.Loop() {
				d.m.View()
			}
		})
	}
}

// A key: the message, and the frame after it.
func BenchmarkKey(b *testing.B) {
	for _, s := range screenList() {
		b.Run(s.slug, func(b *testing.B) {
			d := drive(b, tuitest.Fleet(200), options())
			d.size(200, 50)
			if s.id != screenFleet {
				d.run(d.m.show(s.id))
			}
			keys := []string{"j", "k"}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				d.m.Update(keyPresses(keys[i%2])[0])
				d.m.View()
				i++
			}
		})
	}
}

// A new picture of 200 seats: every screen reads it, one draws it.
func BenchmarkPicture(b *testing.B) {
	d := drive(b, tuitest.Fleet(200), options())
	f := tuitest.Fleet(200)
	b.ReportAllocs()
	for b.Loop() {
		f.Revision++
		d.m.Update(fleetMsg{f})
		d.m.View()
	}
}

// Making a pane's lines safe: 50 rows with colours.
func BenchmarkPane(b *testing.B) {
	f := tuitest.Fleet(7)
	fr, _ := tuitest.Frame(&f.Rigs[0].Seats[0], 0)
	b.ReportAllocs()
	for b.Loop() {
		crop(paneText(fr.Lines), 100, 40)
	}
}

// From the first picture to its frame.
func BenchmarkFirstPaint(b *testing.B) {
	f := tuitest.Fleet(200)
	c := tuitest.New(f)
	b.ReportAllocs()
	for b.Loop() {
		m, err := New(b.Context(), c, options())
		if err != nil {
			b.Fatal(err)
		}
		m.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
		m.Update(fleetMsg{f})
		m.View()
	}
}
