package tui

import (
	"rig/engine"
)

// reboot says what would become of each seat if this machine rebooted now.
func (p *plain) reboot(filter string) {
	opt := engine.RestoreCheckOptions{}
	if p.m.opt.HostChecks != nil {
		opt.Host = p.m.opt.HostChecks()
	}
	rep, err := p.m.c.RestoreCheck(p.m.ctx, opt)
	if err != nil {
		p.say("%s", clean(errorText(err)))
		return
	}
	if len(rep.Rigs) == 0 {
		p.say("There is no rig that could come back.")
	}
	for _, r := range rep.Rigs {
		p.say("rig %s: %s, from %s", clean(r.Rig), verdictWord(r.Verdict), selectionText(r.Snapshot))
		for _, s := range r.Seats {
			l := rebootLook(s)
			if filter != "" && !matches(filter, s.Seat, l.word, s.Why) {
				continue
			}
			p.say("  %s: %s, %s", clean(s.Seat), l.word, whyText(s.Why))
			if s.Status != engine.CheckGreen && s.Remedy != "" {
				p.say("    what to do: %s", clean(s.Remedy))
			}
		}
	}
}

// snapshots lists what a restore could stand on.
func (p *plain) snapshots(filter string) {
	list, err := p.m.c.AllSnapshots(p.m.ctx)
	if err != nil {
		p.say("%s", clean(errorText(err)))
		return
	}
	if len(list) == 0 {
		p.say("No snapshot is on record. snapshot saves one.")
	}
	for _, v := range list {
		if use, _ := snapshotUse(v); filter == "" || matches(filter, v.Rig, v.Kind, v.ID) {
			p.say("%s: %s, %s, %s, %d of %s, a restore %s", clean(v.ID), clean(v.Rig), clean(v.Kind), engine.Old(age(p.m.now, v.CreatedAt)), len(v.Intended), engine.Counted(v.Seats, "seat"), use)
		}
	}
}

// restores lists past restores with the verdict of then and the one of now.
func (p *plain) restores() {
	list, err := p.m.c.Restores(p.m.ctx, 0)
	if err != nil {
		p.say("%s", clean(errorText(err)))
		return
	}
	if len(list) == 0 {
		p.say("No restore has ended yet.")
	}
	for _, v := range list {
		p.say("%s: %s, %s ago, then %s, now %s", clean(v.Attempt), clean(v.Rig), age(p.m.now, v.StartedAt), lookResult(v.Original).word, lookResult(v.Current).word)
		for _, seat := range v.Unresolved {
			p.say("  unresolved: %s", clean(seat))
		}
	}
}
