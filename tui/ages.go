package tui

import (
	"strconv"
	"time"
)

func itoa(n int) string { return strconv.Itoa(n) }

// age gives the whole units of the time since at, so that a picture in which nothing
// happens is redrawn once a minute at most: now, 1m … 59m, 1h … 23h, 1d … 13d, 2w … 99w,
// 2y. A time that is not known is "?", one in the future "now".
func age(now, at time.Time) string {
	if at.IsZero() || now.IsZero() {
		return "?"
	}
	d := now.Sub(at)
	switch {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return itoa(int(d.Minutes())) + "m"
	case d < 24*time.Hour:
		return itoa(int(d.Hours())) + "h"
	}
	days := int(d.Hours() / 24)
	switch {
	case days < 14:
		return itoa(days) + "d"
	case days < 700:
		return itoa(days/7) + "w"
	}
	return itoa(days/365) + "y"
}

// ago gives an age as a phrase.
func ago(now, at time.Time) string {
	switch a := age(now, at); a {
	case "?":
		return "at an unknown time"
	case "now":
		return "just now"
	default:
		return a + " ago"
	}
}

// elapsed gives a running time: to the millisecond below a second, to the second
// below an hour.
func elapsed(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return "0s"
	case d < time.Second:
		return itoa(int(d.Milliseconds())) + "ms"
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Truncate(100*time.Millisecond).Seconds(), 'f', 1, 64) + "s"
	case d < time.Minute:
		return itoa(int(d.Seconds())) + "s"
	case d < time.Hour:
		return itoa(int(d.Minutes())) + "m" + itoa(int(d.Seconds())%60) + "s"
	}
	return itoa(int(d.Hours())) + "h" + itoa(int(d.Minutes())%60) + "m"
}
