package tui

import (
	"slices"
	"strconv"
	"strings"
)

// answer takes a line: a number of a choice, a text, yes or no. It says what is wrong with
// it, "" when nothing is: what cannot be read is never taken for another answer.
func answer(f *field, line string) string {
	if line == "" {
		return ""
	}
	switch f.kind {
	case fieldToggle:
		switch strings.ToLower(line) {
		case "yes", "y":
			f.on = true
		case "no", "n":
			f.on = false
		default:
			return "yes or no"
		}
	case fieldMany:
		return answerMany(f, words(line))
	case fieldPick, fieldFree:
		f.input.set("")
		if c := numbered(f.all(), line); c != nil {
			line = c.Value
		}
		f.input.set(line)
		f.edited()
		return unclear(f)
	case fieldText:
		f.input.set(line)
	case fieldLines: // askText asks those
	}
	return ""
}

// numbered is the choice of a number, nil when the line is none.
func numbered(all []Choice, line string) *Choice {
	if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(all) {
		return &all[n-1]
	}
	return nil
}

// answerMany picks the choices that words or numbers name: all of them or none.
func answerMany(f *field, names []string) string {
	all, picked := f.all(), map[string]bool{}
	for _, name := range names {
		c := numbered(all, name)
		if i := slices.IndexFunc(all, func(c Choice) bool { return c.Value == name }); i >= 0 {
			c = &all[i]
		}
		switch {
		case c == nil:
			return "there is no " + strconv.Quote(clean(name)) + " among them"
		case c.Reason != "":
			return clean(c.Value) + ": " + clean(c.Reason)
		}
		picked[c.Value] = true
	}
	f.picked = picked
	return ""
}

// unclear says that what was typed is the name of no choice and part of several: a person
// who sees no cursor cannot tell which one is meant.
func unclear(f *field) string {
	found := f.matching()
	if f.at < 0 || len(found) < 2 || f.input.text() == "" || f.named() >= 0 {
		return ""
	}
	var names []string
	for _, c := range found {
		names = append(names, clean(c.Value))
	}
	return strconv.Quote(clean(f.input.text())) + " is in " + itoa(len(found)) + " of them: " + strings.Join(names, ", ")
}
