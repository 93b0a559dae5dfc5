package tui

import (
	"strconv"
	"strings"

	"rig/engine"
)

// images lists the library, or tells everything of the one image that was named,
// with the spec that starts a seat from it.
func (p *plain) images(name string) {
	lib, err := p.m.c.Images(p.m.ctx)
	if err != nil {
		p.say("%s", clean(errorText(err)))
		return
	}
	if name != "" {
		p.image(lib, name)
		return
	}
	for i := range lib.Images {
		v := &lib.Images[i]
		if v.Link {
			p.say("%s: a link, not followed", imageName(v))
			continue
		}
		by := protectedWord(v)
		if by == "" {
			by = "nothing, prune removes it"
		}
		p.say("%s: %s, %s tokens, %s, protected by %s", imageName(v), runtimeWord(v.Runtime), aboutPlain(v.EstimatedTokens), engine.Counted(int(v.Stats.ForkCount), "fork"), by)
	}
	for _, f := range lib.Faults {
		p.say("%s: cannot be read: %s", clean(f.Source), clean(f.Error))
	}
	for _, u := range lib.Unread {
		p.say("%s: %s; it counts as a reference", clean(u.File), clean(u.Why))
	}
	p.say("%s.", libraryWords(lib))
}

func (p *plain) image(lib engine.ImageLibrary, name string) {
	var found *engine.ImageView
	for i := range lib.Images {
		if v := &lib.Images[i]; !v.Shadowed && (imageName(v) == name || imageName(v) == imagePrefix+name || v.Name == name) {
			found = v
		}
	}
	if found == nil {
		p.say("There is no agent image %q. images lists them.", clean(name))
		return
	}
	look := p.m.c.LookAtImage(p.m.ctx, *found)
	for _, l := range [][2]string{
		{"image", imageName(found)},
		{"source", found.SourceSeat},
		{"runtime", joinWords(" ", string(found.Runtime), found.Model)},
		{"directory", found.SourceCwd},
		{"kept", ago(p.m.now, found.CreatedAt) + byWord(found.CreatedBy)},
		{"notes", found.Notes},
		{"forks", strconv.FormatInt(found.Stats.ForkCount, 10)},
		{"lineage", strings.Join(found.Lineage, ", ")},
		{"since then", look.Source.Why},
	} {
		if l[1] != "" {
			p.say("  %s: %s", l[0], clean(l[1]))
		}
	}
	for _, f := range found.Files {
		p.say("  file: %s", clean(joinWords(", ", f.Path, f.Role, sizeWord(f.Bytes), f.Summary)))
	}
	for _, why := range found.Protected {
		p.say("  protected by: %s", clean(joinWords(": ", protectionWord(why.Code), why.By)))
	}
	for _, l := range strings.Split(strings.TrimRight(look.Starter, "\n"), "\n") {
		p.say("  %s", clean(l))
	}
}

// aboutPlain is aboutTokens in words.
func aboutPlain(n int64) string {
	if n == 0 {
		return "an unknown number of"
	}
	return "about " + tokenWord(n)
}
