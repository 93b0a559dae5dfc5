package tui

import (
	"context"
	"strings"

	"rig/engine"
)

// imagePrefix begins an image where a seat could stand too.
const imagePrefix = "agent-image:"

func forkDef() wizardDef {
	return wizardDef{
		verb: engine.VerbFork, keys: []string{"F"}, label: "fork", title: "Fork a conversation", in: scopeSeats | scopeImages, foot: 43,
		about:    "a new seat that starts from a copy of a conversation, a seat's or an image's; the source goes on",
		disabled: whyNoRigs,
		fields:   forkFields,
		target:   func(_ *Model, _ subject, a answers) string { return a.text("origin") },
		request: func(a answers, target string) engine.Request {
			return engine.Request{Target: target, Args: args(engine.ForkArgs{
				Rig: a.text("rig"), Pod: a.text("pod"), Member: a.text("member"),
				KeepImage: a.yes("keep") && !strings.HasPrefix(target, imagePrefix),
			})}
		},
	}
}

func forkFields(m *Model, s subject) []*field {
	rig := rigField(m, s)
	pod := podField(s)
	pod.from = func() []Choice { return podChoices(m, rig.value()) }
	return []*field{
		originField(m, s, true),
		rig,
		pod,
		{
			id: "member", label: "Member", required: true, empty: "the new seat's name",
			check: func(v string) string { return whyNoMember(m, rig.value(), pod.value(), v) },
		},
		{id: "keep", label: "Keep image", kind: fieldToggle, help: "keep the starting point of a seat in the library too, pinned"},
	}
}

// originField asks from which conversation something starts: live, with the
// reason beside each that cannot be one.
func originField(m *Model, s subject, images bool) *field {
	f := &field{
		id: "origin", label: "Source", kind: fieldPick, required: true, empty: "type to search",
		help: "whose conversation it starts from; what cannot be taken says why",
	}
	if s.seat != nil {
		f.prefer = s.seat.Address
	}
	if s.image != nil && images {
		f.prefer = s.image.ID
	}
	words := map[string]string{}
	for _, seat := range m.fleet.Seats() {
		words[seat.Address] = lookOf(seat).word + ", " + runtimeWord(seat.Runtime)
	}
	c := m.c
	f.load = func(ctx context.Context) ([]Choice, error) {
		offers, err := c.ForkOffers(ctx)
		var out []Choice
		for _, o := range offers {
			if !o.Image || images {
				out = append(out, offerChoice(o, words[o.Ref]))
			}
		}
		return possibleFirst(out), err
	}
	return f
}

// offerChoice is a source as a choice. Of a seat that was never prompted the way
// out stands first: lists are narrow.
func offerChoice(o engine.ForkOffer, word string) Choice {
	c := Choice{Value: o.Ref, Note: joinWords(", ", word, o.About)}
	if o.Image {
		name, version, _ := strings.Cut(strings.TrimPrefix(o.Ref, imagePrefix), ":")
		c.Label, c.Note = joinWords(" v", name, version), joinWords(", ", "an image "+o.About, runtimeWord(o.Runtime))
	}
	switch {
	case o.Code == "":
	case o.Code == "fork_source_not_found" && !o.Image:
		c.Reason = joinWords("; ", o.Hint, o.Why)
	default:
		c.Reason = joinWords("; ", o.Why, o.Hint)
	}
	return c
}

// podField asks for a pod of the rig under the cursor.
func podField(s subject) *field {
	f := &field{id: "pod", label: "Pod", kind: fieldPick, required: true, empty: "type to search"}
	if s.rig == nil {
		return f
	}
	for i, pod := range podsOf(s.rig) {
		f.choices = append(f.choices, Choice{Value: pod.Name, Note: clean(pod.Label)})
		if s.pod == pod.Name || s.seat != nil && s.seat.Pod == pod.Name {
			f.at = i
		}
	}
	return f
}

func podChoices(m *Model, rig string) []Choice {
	var out []Choice
	for i := range m.fleet.Rigs {
		if r := &m.fleet.Rigs[i]; r.Name == rig {
			for _, pod := range podsOf(r) {
				out = append(out, Choice{Value: pod.Name, Note: clean(pod.Label)})
			}
		}
	}
	return out
}

// whyNoMember says why a name cannot be that of a new seat in a pod.
func whyNoMember(m *Model, rig, pod, name string) string {
	if why := checkName(name); why != "" {
		return why
	}
	address := engine.Address(pod, name, rig)
	for _, s := range m.fleet.Seats() {
		if s.Address == address {
			return address + " is the address of " + s.Logical + " already: choose another name"
		}
	}
	return ""
}

func checkName(v string) string {
	if engine.ValidName(v) {
		return ""
	}
	return "letters, digits, dash and underscore, a letter or digit first, at most " + itoa(engine.MaxNameLen)
}
