package engine

import (
	"cmp"
	"fmt"
)

// LineKind tells a renderer what a line of a plan is, so that it can be drawn
// without reading its text.
type LineKind int

// Kinds of plan lines.
const (
	LineTitle LineKind = iota
	LinePhase
	LineStep
	LineCommit // the step below which nothing can be undone
	LineIntent
	LineChange
	LineUnchanged
	LineBlocker
	LineHint
	LineWarning
	LineCommand
	LineNote
	LineTextHead // of the lines of a text that changes
	LineTextSame // a line of it that stays, LineTextGone one that goes, LineTextNew one that comes
	LineTextGone
	LineTextNew
	LineTextGap // lines that are not shown
)

// Line is one line of a plan's only text form.
type Line struct {
	Kind LineKind `json:"kind"`
	Text string   `json:"text"`
}

// Lines is the only text form of a plan: the command line, the wizards and the
// golden tests all draw these.
func (p *Plan) Lines() []Line {
	var out []Line
	add := func(k LineKind, format string, a ...any) {
		out = append(out, Line{k, fmt.Sprintf(format, a...)})
	}
	add(LineTitle, "%s %s", p.Verb, p.Target)
	if p.Reason != "" {
		add(LineNote, "reason: %s", p.Reason)
	}
	if p.Operator.Name != "" {
		add(LineNote, "operator: %s", p.Operator)
	}
	room := 10
	for _, i := range p.Intents {
		room = max(room, len(i.Action))
	}
	for _, i := range p.Intents {
		text := fmt.Sprintf("%-*s %s", room, i.Action, i.Seat)
		if i.Reason != "" {
			text += "  (" + InWords(i.Reason) + ")"
		}
		add(LineIntent, "%s", text)
	}
	for _, ph := range p.Phases {
		add(LinePhase, "%s", ph.Title)
		for _, s := range ph.Steps {
			switch s.Effect {
			case EffectCommit:
				add(LineCommit, "%s  — %s", s.Title, commitWords(p, ph))
			case EffectOneWay:
				add(LineStep, "%s  — cannot be undone", s.Title)
			case EffectNone, EffectReversible:
				add(LineStep, "%s", s.Title)
			}
		}
	}
	for _, c := range p.Changes {
		where := c.Field
		if c.Seat != "" {
			where = c.Seat + " " + c.Field
		}
		add(LineChange, "%s: %s → %s", where, orNone(c.Before), orNone(c.After))
	}
	for _, t := range p.Texts {
		out = append(out, t.lines()...)
	}
	for _, u := range p.Unchanged {
		add(LineUnchanged, "stays: %s", u)
	}
	for _, w := range p.Warnings {
		add(LineWarning, "warning: %s", w)
	}
	for _, b := range p.Blockers {
		if b.Seat != "" {
			add(LineBlocker, "blocked: %s [%s]: %s", b.Seat, b.Code, b.Message)
		} else {
			add(LineBlocker, "blocked [%s]: %s", b.Code, b.Message)
		}
		if b.Hint != "" {
			add(LineHint, "→ %s", b.Hint)
		}
	}
	if p.Command != "" {
		add(LineCommand, "%s", p.Command)
	}
	return out
}

// commitWords says what a commit line means: of one unit among several it closes
// only that unit.
func commitWords(p *Plan, ph Phase) string {
	for _, other := range p.Phases {
		if other.Unit != ph.Unit {
			return "commit of this part: its steps above stand"
		}
	}
	return "commit: nothing below can be undone"
}

func orNone(s string) string { return cmp.Or(s, "none") }
