package tui

import (
	"strings"

	"rig/engine"
)

// lookBack lists the moments that were recorded of a seat, or says what its screen
// was at a time of day.
func (p *plain) lookBack(text string) {
	ref, when, _ := strings.Cut(text, " ")
	s := p.find(ref)
	if s == nil {
		return
	}
	shots, err := p.m.c.Shots(p.m.ctx, s.ID)
	if err != nil {
		p.say("%s", clean(errorText(err)))
		return
	}
	if len(shots) == 0 {
		p.say("Nothing is recorded of %s yet.", clean(s.Address))
		return
	}
	when = strings.ReplaceAll(strings.TrimSpace(when), ":", "")
	if when == "" {
		for _, shot := range shots {
			p.say("%s", p.moment(shot))
		}
		return
	}
	i := shotAt(shots, when, p.m.now, p.m.opt.zone())
	if i < 0 {
		p.say("Nothing was recorded at %q: a time such as 0312, after %s.", clean(when), shots[0].At.In(p.m.opt.zone()).Format("15:04"))
		return
	}
	p.say("%s", p.moment(shots[i]))
	for _, l := range shots[i].Lines {
		if l = clean(l); strings.TrimSpace(l) != "" {
			p.say("  %s", l)
		}
	}
}

// moment is one line about a shot.
func (p *plain) moment(s engine.Shot) string {
	at := s.At.In(p.m.opt.zone()).Format("2 Jan 15:04:05")
	if s.Moment == engine.ShotBefore {
		return at + " " + lookActivity(s.From).word + ", " + momentWord(s.Moment)
	}
	return at + " " + lookActivity(s.From).word + " to " + lookActivity(s.To).word + dashed(clean(s.Why)) + ", " + momentWord(s.Moment)
}
