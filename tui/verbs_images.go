package tui

import (
	"context"
	"strings"

	"rig/engine"
)

// imageVerb reports whether a verb is one of the library's.
func imageVerb(v engine.Verb) bool { return strings.HasPrefix(string(v), "agent-image ") }

// imageDefs are the wizards of the library.
func imageDefs() []wizardDef {
	return []wizardDef{imageCreateDef(), imagePinDef(), imageUnpinDef(), imageDeleteDef(), imagePruneDef()}
}

func imageCreateDef() wizardDef {
	return wizardDef{
		verb: engine.VerbImageCreate, keys: []string{"I"}, label: "keep image", title: "Keep a conversation as an agent image", in: scopeSeats | scopeImages, foot: 44,
		about:    "keep a seat's conversation as a starting point for new seats",
		disabled: whyNoRigs,
		fields: func(m *Model, s subject) []*field {
			version := &field{id: "version", label: "Version", empty: "1", check: checkImageWord("version")}
			return []*field{
				originField(m, s, false),
				{
					id: "name", label: "Name", required: true, empty: "of the image",
					check: func(v string) string { return whyNoImageName(m, v, version.value()) },
				},
				version,
				{id: "notes", label: "Notes", empty: "none", help: "what it is good for"},
				{id: "files", label: "Files", empty: "none", help: "paths of texts to keep beside it, as path or path:role, blanks between them"},
				{id: "pin", label: "Pin", kind: fieldToggle, help: "a pinned image is never pruned"},
			}
		},
		target: func(_ *Model, _ subject, a answers) string { return a.text("origin") },
		request: func(a answers, target string) engine.Request {
			return engine.Request{Target: target, Args: args(engine.ImageArgs{
				Name: a.text("name"), Version: a.text("version"), Notes: a.text("notes"), Files: strings.Fields(a.text("files")), Pin: a.yes("pin"),
			})}
		},
	}
}

func checkImageWord(what string) func(string) string {
	return func(v string) string {
		if err := engine.CheckImageName(what, v); err != nil {
			return errorText(err)
		}
		return ""
	}
}

// whyNoImageName says why a name cannot be that of a new image, as far as the
// library was read; the plan looks again.
func whyNoImageName(m *Model, name, version string) string {
	if why := checkImageWord("name")(name); why != "" {
		return why
	}
	if version == "" {
		version = "1"
	}
	for _, i := range m.images().lib.Images {
		if i.Name == name && i.Version == version && i.Root == "home" {
			return i.Called() + " is there already: choose another name or version"
		}
	}
	return ""
}

// onImage is what the verbs on one image have in common: the image under the
// cursor, or else one that is asked for.
func onImage(verb engine.Verb, key, label, title, about string, foot int) wizardDef {
	return wizardDef{
		verb: verb, keys: []string{key}, label: label, title: title, about: about, in: scopeImages, foot: foot,
		disabled: whyNoImage,
		fields: func(m *Model, s subject) []*field {
			if s.image != nil {
				return nil
			}
			return []*field{imageField(m)}
		},
		target: func(_ *Model, s subject, a answers) string {
			if s.image != nil {
				return imageName(s.image)
			}
			return a.text("image")
		},
		request: func(_ answers, target string) engine.Request {
			return engine.Request{Target: target, Args: args(engine.ImageArgs{})}
		},
	}
}

// imageName is an image as the verbs take it.
func imageName(v *engine.ImageView) string {
	if v.Version == "" { // a link in the place of a name
		return v.Name
	}
	return v.ID
}

func imageField(m *Model) *field {
	c := m.c
	return &field{
		id: "image", label: "Image", kind: fieldPick, required: true, empty: "type to search",
		load: func(ctx context.Context) ([]Choice, error) {
			lib, err := c.Images(ctx)
			var out []Choice
			for i := range lib.Images {
				v := &lib.Images[i]
				out = append(out, Choice{Value: imageName(v), Note: joinWords(", ", runtimeWord(v.Runtime), protectedWord(v))})
			}
			return out, err
		},
	}
}

func imagePinDef() wizardDef {
	d := onImage(engine.VerbImagePin, "p", "pin", "Pin an agent image", "protect an image from prune and delete", 20)
	d.disabled = func(m *Model) string {
		if v := m.here().image; v != nil && v.Pinned {
			return clean(v.Called()) + " is pinned already: " + m.reg.hint("agent-image-unpin") + " takes the pin away"
		}
		return whyNoImage(m)
	}
	return d
}

func imageUnpinDef() wizardDef {
	d := onImage(engine.VerbImageUnpin, "P", "unpin", "Unpin an agent image", "take the pin of an image away; what else protects it goes on", 21)
	d.disabled = func(m *Model) string {
		if v := m.here().image; v != nil && !v.Pinned {
			return clean(v.Called()) + " is not pinned"
		}
		return whyNoImage(m)
	}
	return d
}

func imageDeleteDef() wizardDef {
	d := onImage(engine.VerbImageDelete, "x", "delete", "Delete an agent image", "delete an image that nothing protects; the conversation itself stays", 24)
	d.force = forceImages
	return d
}

// forceImages is --force: what the guard protects goes too.
func forceImages(r *engine.Request) { r.Args = args(engine.ImageArgs{Force: true}) }

func imagePruneDef() wizardDef {
	return wizardDef{
		verb: engine.VerbImagePrune, keys: []string{"X"}, label: "prune", title: "Prune the agent images", in: scopeImages, foot: 26,
		about: "delete every image that nothing protects: no pin, no spec, no seat, no kin",
		disabled: func(m *Model) string {
			if s := m.images(); s.loaded && s.err == "" && len(s.lib.Images) == 0 {
				return "there is no agent image"
			}
			return ""
		},
		force:  forceImages,
		target: func(*Model, subject, answers) string { return "agent images" },
		request: func(_ answers, target string) engine.Request {
			return engine.Request{Target: target, Args: args(engine.ImageArgs{})}
		},
	}
}

func whyNoImage(m *Model) string {
	if m.here().image == nil {
		return "put the cursor on an agent image first"
	}
	return ""
}
