package tui

import (
	"strconv"
	"strings"

	"rig/engine"
)

func imageColumns() []column {
	return []column{
		{head: "IMAGE", w: 16, most: 34},
		{head: "RUNTIME", w: 7, rank: 2},
		{head: "TOKENS", w: 6, rank: 3, tail: true},
		{head: "FORKS", w: 5, rank: 1, tail: true},
		{head: "SIZE", w: 6, rank: 4, tail: true},
		{head: "PROTECTED BY", w: 20, most: 60},
	}
}

// aboutRows is the height of what is said of the whole library, below the list.
func (s *imagesScreen) aboutRows(a areas) int {
	if a.shape == shapeSplit && a.listH > 18 {
		return 6
	}
	return 0
}

func (s *imagesScreen) view(m *Model, w, h int) []string {
	switch {
	case s.err != "" || !s.loaded:
		return m.unread(w, h, &s.lookup, "agent images")
	case len(s.lib.Images)+len(s.lib.Faults) == 0:
		return m.notice(w, h, "No agent image yet", "An image keeps a seat's conversation as a starting point for new seats.",
			m.reg.hint("agent-image-create")+" keeps one."+unreadWords(s.lib))
	case len(s.rows) == 0:
		return m.nothingMatches(w, h)
	}
	a := s.sizes(m)
	var lines []string
	if a.listH > 0 {
		t := m.brush.table(imageColumns(), a.listW, 1)
		room := a.listH - 1 - s.aboutRows(a)
		lines = append([]string{t.head()}, s.list.lines(room, func(i int, on bool) string { return s.line(m, s.rows[i], on, t) })...)
		if n := s.aboutRows(a); n > 0 {
			lines = append(m.brush.fill(lines, a.listW, a.listH-n), s.about(m, a.listW, n)...)
		}
	}
	var beyond []string
	if a.sideW > 0 {
		beyond = s.detailBox(m, a.sideW, a.sideH)
	}
	return m.join(a, lines, nil, beyond)
}

func (s *imagesScreen) line(m *Model, r imageRow, on bool, t table) string {
	if r.fault != nil {
		name := joinWords(" v", r.fault.Name, r.fault.Version)
		cells := [][]seg{{{toneBad, cutMiddle(clean(name), t.f[0])}}, {}, {}, {}, {}, {{toneBad, m.brush.g.fail + " cannot be read: " + clean(r.fault.Error)}}}
		return t.row(on, cells)
	}
	v := r.image
	name := joinWords(" v", v.Name, v.Version)
	k := toneStrong
	if v.Shadowed {
		k = toneOff
	}
	cells := [][]seg{
		{{k, cutMiddle(clean(name), t.f[0])}},
		{{toneText, runtimeWord(v.Runtime)}},
		{{toneDim, aboutTokens(v.EstimatedTokens)}},
		{{toneText, strconv.FormatInt(v.Stats.ForkCount, 10)}},
		{{toneDim, sizeWord(v.Stats.SizeBytes)}},
		m.protectedCell(v),
	}
	if v.Link {
		cells[1], cells[2], cells[3], cells[4] = nil, nil, nil, nil
	}
	return t.row(on, cells)
}

// protectedCell says in a shape and words what keeps an image from being pruned.
func (m *Model) protectedCell(v *engine.ImageView) []seg {
	switch {
	case v.Link:
		return []seg{{toneDim, "a link, not followed"}}
	case len(v.Protected) == 0:
		return []seg{{toneDim, m.brush.g.wait + " nothing (prunable)"}}
	case v.Pinned:
		return []seg{{toneAccent, m.brush.g.done + " " + protectedWord(v)}}
	}
	return []seg{{toneText, m.brush.g.dot + " " + protectedWord(v)}}
}

// protectedWord lists the kinds of protection, each once.
func protectedWord(v *engine.ImageView) string {
	var out []string
	seen := map[string]bool{}
	for _, p := range v.Protected {
		if w := protectionWord(p.Code); !seen[w] {
			seen[w] = true
			out = append(out, w)
		}
	}
	return strings.Join(out, ", ")
}

func protectionWord(code string) string {
	switch code {
	case "pinned":
		return "a pin"
	case "referenced_by_agent_spec":
		return "an agent spec"
	case "referenced_by_rig_spec":
		return "a rig spec"
	case "referenced_by_seat":
		return "a seat"
	case "unreadable_spec":
		return "a spec that cannot be read"
	case "lineage_descendant_of_protected":
		return "its ancestor"
	case "lineage_ancestor_of_protected":
		return "its descendant"
	}
	return clean(code)
}

func sizeWord(n int64) string {
	switch {
	case n < 0:
		return "?"
	case n >= 10<<20:
		return itoa(int(n>>20)) + " MB"
	case n >= 10<<10:
		return itoa(int(n>>10)) + " KB"
	}
	return itoa(int(n)) + " B"
}

// unreadWords names what could not be read, with its reason; "" when nothing is.
func unreadWords(l engine.ImageLibrary) string {
	if len(l.Unread) == 0 {
		return ""
	}
	u := l.Unread[0]
	text := " " + engine.Counted(len(l.Unread), "spec") + " could not be read, the first: " + clean(u.File)
	return text + " (" + clean(u.Why) + ")"
}

// libraryWords says how much was read.
func libraryWords(l engine.ImageLibrary) string {
	text := engine.Counted(len(l.Images), "image") + ", " + engine.Counted(l.References, "reference") + " in " + engine.Counted(l.SpecsRead, "spec")
	if n := len(l.Unread); n > 0 {
		text += ", " + engine.Counted(n, "spec") + " that cannot be read"
	}
	if n := len(l.Faults); n > 0 {
		text += ", " + engine.Counted(n, "broken image")
	}
	return text
}

// about says of the whole library where it is and what was searched for
// references.
func (s *imagesScreen) about(m *Model, w, h int) []string {
	out := []string{m.brush.rule(w, "the library", toneDim)}
	put := func(label, text string, k tone) {
		for i, l := range wrap(clean(text), max(w-12, 8)) {
			if i > 0 {
				label = ""
			}
			out = append(out, m.brush.line(w, false, seg{toneDim, " " + pad(label, 10)}, seg{k, l}))
		}
	}
	put("read", libraryWords(s.lib), toneText)
	for _, u := range s.lib.Unread {
		put("unread", u.File+": "+u.Why+"; it counts as a reference", toneNeed)
	}
	for _, r := range s.lib.Roots {
		text := r.Path
		if !r.Exists {
			text += " (not there)"
		}
		put(r.Label, text, toneDim)
	}
	if len(s.lib.Unread) == 0 {
		put("specs in", strings.Join(s.lib.SpecRoots, ", "), toneDim)
	}
	if len(out) > h && h > 1 {
		out[h-1] = m.brush.text(w, toneDim, " "+pad("", 10)+"and more: `rig agent-image sync` says all of it")
	}
	return m.brush.fill(out, w, h)
}

func (s *imagesScreen) detailBox(m *Model, w, h int) []string {
	r := s.row()
	if r == nil || w < 4 || h < 3 {
		return m.brush.fill(nil, w, h)
	}
	frame := toneBorder
	title := []seg{{toneStrong, cutMiddle(clean(rowName(*r)), max(w-8, 8))}}
	if s.inside { // a mark too, since a colour alone tells nobody where the keys went
		frame = toneAccent
		title = append([]seg{{toneAccent, m.brush.g.cursor}}, title...)
	}
	seen, note := s.seen.show(s.detail(m, w-2), w-2, h-2)
	return m.brush.box(w, h, frame, title, note, m.brush.fill(seen, w-2, h-2))
}

func rowName(r imageRow) string {
	if r.fault != nil {
		return r.fault.Source
	}
	return r.image.ID
}

// detail is everything that is known of the row under the cursor, in w cells.
func (s *imagesScreen) detail(m *Model, w int) []string {
	r := s.row()
	if r == nil || w < 12 {
		return nil
	}
	d := drawn{b: m.brush, w: w}
	if r.fault != nil {
		d.put("fault", r.fault.Error+"  ["+string(r.fault.Code)+"]", toneBad)
		d.put("path", r.fault.Source, toneText)
		d.put("so", "it is left alone by prune, and what its text may name is protected", toneDim)
		return d.out
	}
	s.imageFacts(m, &d, r.image)
	s.imagePreview(m, &d)
	return d.out
}

// drawn gathers labelled lines.
type drawn struct {
	b   brush
	w   int
	out []string
}

func (d *drawn) put(label, text string, k tone) {
	if text == "" {
		return
	}
	for i, l := range wrap(clean(text), max(d.w-13, 8)) {
		if i > 0 {
			label = ""
		}
		d.out = append(d.out, d.b.line(d.w, false, seg{toneDim, " " + pad(label, 11) + " "}, seg{k, l}))
	}
}

func (d *drawn) head(text string) { d.out = append(d.out, d.b.rule(d.w, text, toneDim)) }

func (s *imagesScreen) imageFacts(m *Model, d *drawn, v *engine.ImageView) {
	if v.Link {
		d.put("link", "a symbolic link stands here; it is not followed, and delete removes the link alone", toneNeed)
		d.put("path", v.Dir, toneText)
		return
	}
	d.put("source", v.SourceSeat, toneStrong)
	d.put("runtime", joinWords(" ", string(v.Runtime), v.Model, v.Effort), toneText)
	d.put("directory", v.SourceCwd, toneText)
	d.put("kept", ago(m.now, v.CreatedAt)+byWord(v.CreatedBy), toneText)
	d.put("notes", v.Notes, toneText)
	d.put("tokens", aboutTokens(v.EstimatedTokens)+", "+sizeWord(v.Capture.Length)+" of transcript", toneText)
	used := "never used"
	if !v.Stats.LastUsedAt.IsZero() {
		used = "last " + ago(m.now, v.Stats.LastUsedAt)
	}
	d.put("forks", strconv.FormatInt(v.Stats.ForkCount, 10)+", "+used, toneText)
	d.put("lineage", strings.Join(v.Lineage, ", "), toneText)
	d.put("folder", sizeWord(v.Stats.SizeBytes)+" in "+v.Dir, toneDim)
	for _, f := range v.Files {
		k, size := toneText, sizeWord(f.Bytes)
		if f.Bytes < 0 {
			k, size = toneBad, "missing"
		}
		d.put("file", joinWords(", ", f.Path, f.Role, size, f.Summary), k)
	}
	if v.Shadowed {
		d.put("hidden", "an image of the same id in a later root is used in its place", toneNeed)
	}
	d.head("what protects it")
	for _, p := range v.Protected {
		by := protectionWord(p.Code)
		if p.Code == "pinned" && !v.PinnedAt.IsZero() {
			by += ", set " + ago(m.now, v.PinnedAt)
		}
		d.put("", joinWords(": ", by, p.By), toneText)
	}
	if len(v.Protected) == 0 {
		d.put("", "nothing: "+m.reg.hint("agent-image-prune")+" removes it with the others, "+m.reg.hint("agent-image-pin")+" pins it", toneNeed)
	}
}

// imagePreview says what a fork would start from now, and how to start one.
func (s *imagesScreen) imagePreview(m *Model, d *drawn) {
	if r := s.row(); r.image.Link {
		return
	}
	d.head("a fork of it")
	if !s.look.done || s.look.got.ImageRef != s.row().image.ImageRef {
		d.put("", "looking at its source", toneStart)
		return
	}
	k := toneText
	switch s.look.got.Source.State {
	case "gone":
		k = toneBad
	case "moved_on", "rewritten":
		k = toneNeed
	case "unknown":
		k = toneUnknown
	}
	d.put("since then", s.look.got.Source.Why, k)
	d.put("start one", m.reg.hint("fork")+" adds a seat to a rig; or `rig up` this spec:", toneText)
	for _, l := range strings.Split(strings.TrimRight(s.look.got.Starter, "\n"), "\n") {
		d.out = append(d.out, d.b.line(d.w, false, seg{toneAccent, "   " + clean(l)}))
	}
}
