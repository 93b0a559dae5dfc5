package engine

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// mustJSON marshals values that always marshal: structs of strings and numbers.
func mustJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic("engine: " + err.Error())
	}
	return b
}

// DecodeArgs reads a request's own arguments into T; no arguments give the zero
// value, an unknown one is CodeInvalid.
func DecodeArgs[T any](r Request) (T, error) {
	var v T
	if len(r.Args) == 0 {
		return v, nil
	}
	d := json.NewDecoder(strings.NewReader(string(r.Args)))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		return v, Errorf(CodeInvalid, "the arguments of %s cannot be read", r.Verb).Wrap(err).
			WithHint("this is a fault of the caller; `rig help %s` shows the flags", r.Verb)
	}
	return v, nil
}

// ShellQuote quotes one word for a POSIX shell, for command lines that people
// copy.
func ShellQuote(s string) string {
	if s != "" && strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@=+,%", r))
	}) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Passed reports whether a time has passed since a moment of the same clock. Of a
// moment that is ahead nobody knows how long ago it was, because the clock was set
// back since: the time counts as passed, so that no wait lasts until the clock has
// caught up.
func Passed(since, now time.Time, d time.Duration) bool {
	past := now.Sub(since)
	return past >= d || past < 0
}

// Untold writes a count of what is known beside which some cannot be told: "?" where
// none is known, "3+?" where some are.
func Untold(n, unknown int) string {
	switch {
	case unknown == 0:
		return itoa(int64(n))
	case n == 0:
		return "?"
	}
	return itoa(int64(n)) + "+?"
}

// CommandLine joins quoted words.
func CommandLine(words ...string) string {
	q := make([]string, 0, len(words))
	for _, w := range words {
		q = append(q, ShellQuote(w))
	}
	return strings.Join(q, " ")
}

// Age renders how old something is in the steps that screens use: now, 1m, 5m,
// 10m, then whole hours and days. Of a time that is ahead, because a clock was set
// back since, no age is known: "?".
func Age(at, now time.Time) string {
	if at.IsZero() {
		return "—"
	}
	d := now.Sub(at)
	switch {
	case d < -clockSlack:
		return "?"
	case d < time.Minute:
		return "now"
	case d < 5*time.Minute:
		return strconv.Itoa(int(d/time.Minute)) + "m"
	case d < 10*time.Minute:
		return "5m"
	case d < time.Hour:
		return strconv.Itoa(int(d/(10*time.Minute))*10) + "m"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d/time.Hour)) + "h"
	}
	return strconv.Itoa(int(d/(24*time.Hour))) + "d"
}

// Old puts an age of Age into a sentence about something that was made: "5m old",
// or "just made".
func Old(age string) string {
	switch age {
	case "now":
		return "just made"
	case "", "?", "—":
		return "of unknown age"
	}
	return age + " old"
}

// InWords is a reason as a person reads it: one that is a code, such as
// no_conversation_by_nature, in words, and any other as it is.
func InWords(reason string) string {
	if strings.ContainsFunc(reason, func(r rune) bool { return r != '_' && r != '-' && (r < 'a' || r > 'z') && (r < '0' || r > '9') }) {
		return reason
	}
	return strings.ReplaceAll(reason, "_", " ")
}

// Counted is a number with its noun, such as "1 seat" or "3 seats".
func Counted(n int, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "y") && len(noun) > 1 && !strings.ContainsRune("aeiou", rune(noun[len(noun)-2])):
		noun = noun[:len(noun)-1] + "ies"
	default:
		noun += "s"
	}
	return itoa(int64(n)) + " " + noun
}

// plural chooses the form of a word that goes with a number.
func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Articled is a noun with its article, such as "a launch" or "an undo".
func Articled(noun string) string {
	if noun != "" && strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}
