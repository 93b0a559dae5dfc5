package engine

import (
	"cmp"
	"fmt"
	"math"
	"time"
)

// Forecast says how fast a context fills and when it meets its wall, as a range.
// Without a basis there is none, and Why says so.
type Forecast struct {
	Known    bool    `json:"known"`
	RateLow  float64 `json:"tokens_per_hour_low,omitempty"`
	RateHigh float64 `json:"tokens_per_hour_high,omitempty"`
	// WallEarly and WallLate are minutes from now to a full window. Late 0 with
	// Open means that it may never be met at the slower rate.
	WallEarly float64 `json:"minutes_to_wall_early,omitempty"`
	WallLate  float64 `json:"minutes_to_wall_late,omitempty"`
	Open      bool    `json:"open_ended,omitempty"`
	Samples   int     `json:"samples"` // that it stands on
	Why       string  `json:"why,omitempty"`
}

const (
	forecastSpan    = 2 * time.Hour   // how far back samples count
	forecastMin     = 3               // samples that a forecast needs
	forecastMinTime = 2 * time.Minute // between the first and the last of them
	compactionDrop  = 0.8             // a context that shrinks below this share was compacted
)

// forecastOf reads a trend out of a seat's samples (newest first). Only samples of
// the present occupant since its last compaction count.
func forecastOf(s *SeatView, history []StoredUsage, now time.Time) Forecast {
	line := trend(s, history, now)
	f := Forecast{Samples: len(line)}
	switch {
	case !s.Usage.Known:
		f.Why = "no present sample"
		return f
	case len(line) < forecastMin:
		f.Why = fmt.Sprintf("%d of %d samples since the start or the last compaction", len(line), forecastMin)
		return f
	case line[len(line)-1].SampledAt.Sub(line[0].SampledAt) < forecastMinTime:
		f.Why = "the samples lie too close together"
		return f
	}
	f.RateLow, f.RateHigh = rates(line)
	if f.RateHigh <= 0 {
		f.RateLow, f.RateHigh, f.Why = 0, 0, "the context does not grow"
		return f
	}
	f.Known = true
	f.RateLow = math.Max(0, f.RateLow)
	f.wall(s.Usage, now)
	return f
}

// wall turns rates into times. A window that is not known has no wall to show.
func (f *Forecast) wall(u Usage, now time.Time) {
	if u.Window <= 0 || u.Tokens >= u.Window {
		f.Why = "the window is not known, so there is a rate but no time"
		if u.Window > 0 {
			f.Why = "the window is full"
		}
		return
	}
	left := float64(u.Window - u.Tokens)
	since := math.Max(0, now.Sub(u.SampledAt).Minutes())
	at := func(rate float64) float64 { return math.Max(0, left/rate*60-since) }
	f.WallEarly = math.Round(at(f.RateHigh))
	if f.RateLow > 0 {
		f.WallLate = math.Round(at(f.RateLow))
	}
	if f.RateLow <= 0 || f.WallLate > 7*24*60 {
		f.WallLate, f.Open = 0, true
	}
}

// trend gives the samples that a forecast may stand on, oldest first.
func trend(s *SeatView, history []StoredUsage, now time.Time) []Usage {
	var rev []Usage
	newest := s.Usage
	if newest.Known && newest.Tokens > 0 && !newest.SampledAt.IsZero() {
		rev = append(rev, newest)
	}
	for _, h := range history {
		if !h.Known || h.Tokens <= 0 || h.Generation != s.Generation || h.SampledAt.Before(now.Add(-forecastSpan)) || h.SampledAt.After(now.Add(time.Minute)) {
			continue
		}
		if n := len(rev); n > 0 {
			last := rev[n-1]
			if !h.SampledAt.Before(last.SampledAt) {
				continue
			}
			if float64(last.Tokens) < compactionDrop*float64(h.Tokens) { // older and much larger: a compaction lies between
				break
			}
		}
		rev = append(rev, h.Usage)
	}
	if !newest.Known { // a compaction without an answer since voids everything before
		return nil
	}
	for i, j := 0, len(rev)-1; i < j; i, j = i+1, j-1 {
		rev[i], rev[j] = rev[j], rev[i]
	}
	return rev
}

// TrendPoint is one sample of a trend.
type TrendPoint struct {
	At     time.Time `json:"at"`
	Tokens int64     `json:"tokens"`
}

// trendPoints gives the samples of the present occupant within the span of a
// forecast, oldest first. Unlike a forecast it shows what lies before a
// compaction too.
func trendPoints(s *SeatView, history []StoredUsage, now time.Time) []TrendPoint {
	var out []TrendPoint
	newest := s.Usage
	for i := len(history) - 1; i >= 0; i-- {
		h := history[i]
		if !h.Known || h.Tokens <= 0 || h.Generation != s.Generation || h.SampledAt.Before(now.Add(-forecastSpan)) || h.SampledAt.After(now.Add(time.Minute)) {
			continue
		}
		if newest.Known && !h.SampledAt.Before(newest.SampledAt) {
			continue // the present sample itself
		}
		out = append(out, TrendPoint{h.SampledAt, h.Tokens})
	}
	if newest.Known && newest.Tokens > 0 && !newest.SampledAt.IsZero() {
		out = append(out, TrendPoint{newest.SampledAt, newest.Tokens})
	}
	return out
}

// rates gives the slowest and the fastest of three readings of one line of
// samples, in tokens an hour: all of it, its older and its newer part. Their
// spread is the uncertainty.
func rates(line []Usage) (low, high float64) {
	mid := len(line) / 2
	low, high = math.Inf(1), math.Inf(-1)
	for _, part := range [][]Usage{line, line[:mid+1], line[mid:]} {
		a, b := part[0], part[len(part)-1]
		hours := b.SampledAt.Sub(a.SampledAt).Hours()
		if hours <= 0 {
			continue
		}
		r := math.Round(float64(b.Tokens-a.Tokens) / hours)
		low, high = math.Min(low, r), math.Max(high, r)
	}
	return low, high
}

// Text renders a forecast in a few words.
func (f Forecast) Text() string {
	switch {
	case !f.Known:
		return "no forecast: " + f.Why
	case f.WallEarly == 0 && f.WallLate == 0 && !f.Open:
		return fmt.Sprintf("%s to %s tokens an hour; %s", itoa(int64(f.RateLow)), itoa(int64(f.RateHigh)), cmp.Or(f.Why, "at the wall now"))
	case f.Open:
		return fmt.Sprintf("wall in %s or later", minutes(f.WallEarly))
	case f.WallEarly == f.WallLate:
		return "wall in about " + minutes(f.WallEarly)
	}
	return fmt.Sprintf("wall in %s to %s", minutes(f.WallEarly), minutes(f.WallLate))
}

func minutes(m float64) string {
	if m < 120 {
		return fmt.Sprintf("%.0f min", m)
	}
	return fmt.Sprintf("%.1f h", m/60)
}
