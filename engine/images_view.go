package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
)

// ImageView is an image with what protects it.
type ImageView struct {
	Image
	Protected []ImageProtection `json:"protected"` // empty = evictable
}

// ImageLibrary is the library as the verbs and the screen show it.
type ImageLibrary struct {
	Images     []ImageView  `json:"images"`
	Faults     []ImageFault `json:"errors"`
	Roots      []ImageRoot  `json:"roots"`
	Unread     []UnreadSpec `json:"unread_specs"`
	SpecRoots  []string     `json:"spec_roots"`
	SpecsRead  int          `json:"specs_read"`
	References int          `json:"references"`
}

// ImagePreview is an image with its source's present state and a rig that
// starts a seat from it.
type ImagePreview struct {
	ImageView
	Source  Since  `json:"source"`
	Starter string `json:"starter"` // a rig spec, accepted by `rig up` as it is
}

// Images reads the library, the discovery roots and the record anew and says of
// each image what protects it. It changes nothing.
func (e *Engine) Images(ctx context.Context) (ImageLibrary, error) {
	w, err := e.look(ctx)
	if err != nil {
		return ImageLibrary{}, err
	}
	l, err := e.openLibrary(ctx, w)
	return l.view, err
}

// Image finds one image with what protects it.
func (e *Engine) Image(ctx context.Context, ref string) (ImageView, error) {
	l, err := e.Images(ctx)
	if err != nil {
		return ImageView{}, err
	}
	return l.find(ref)
}

// PreviewImage says what a fork of an image would start from.
func (e *Engine) PreviewImage(ctx context.Context, ref string) (ImagePreview, error) {
	v, err := e.Image(ctx, ref)
	if err != nil {
		return ImagePreview{}, err
	}
	return e.LookAtImage(ctx, v), nil
}

// LookAtImage is PreviewImage of an image that was read before. It looks at the
// source's transcript and at nothing else.
func (e *Engine) LookAtImage(ctx context.Context, v ImageView) ImagePreview {
	out := ImagePreview{ImageView: v, Source: e.sinceImage(ctx, v.Image)}
	if !v.Link {
		out.Starter = ImageStarter(v.Image)
	}
	return out
}

// find is FindImage over the view.
func (l ImageLibrary) find(ref string) (ImageView, error) {
	s := ImageScan{Faults: l.Faults}
	for _, i := range l.Images {
		s.Images = append(s.Images, i.Image)
	}
	img, err := s.FindImage(ref)
	if err != nil {
		return ImageView{}, err
	}
	for _, i := range l.Images {
		if i.ImageRef == img.ImageRef {
			return i, nil
		}
	}
	return ImageView{}, err
}

// guarded is the library with the guard's judgement, for planners.
type guarded struct {
	scan ImageScan
	refs ImageReferences
	view ImageLibrary
}

// errNoImages is the refusal of a build without a library.
func errNoImages() *Error {
	return Errorf(CodeNotSupported, "this build has no library of agent images").WithHint("use a build of cmd/rig")
}

// openLibrary reads images and references and asks the guard.
func (e *Engine) openLibrary(ctx context.Context, w *world) (guarded, error) {
	var g guarded
	if e.d.Images == nil {
		return g, errNoImages()
	}
	var err error
	if g.scan, err = e.d.Images.Scan(ctx); err != nil {
		return g, err
	}
	var more []string
	for _, r := range w.rec.Rigs {
		for _, p := range []string{r.SpecPath, r.Root} {
			if p != "" && !strings.HasPrefix(p, "builtin:") {
				more = append(more, p)
			}
		}
	}
	if g.refs, err = e.d.Images.References(ctx, more); err != nil {
		return g, err
	}
	declared, err := e.declaredSources(ctx, w.rec.Seats)
	if err != nil {
		return g, err
	}
	var seats []ImageReference
	for _, s := range w.rec.Seats {
		if d, ok := declared[s.ID]; ok && d.Image != "" {
			seats = append(seats, ImageReference{Name: d.Image, Version: d.Version, File: w.address(s)})
		}
	}
	why := guardImages(g.scan.Images, g.scan.Faults, g.refs, seats)
	g.view = ImageLibrary{
		Images: make([]ImageView, len(g.scan.Images)), Faults: g.scan.Faults, Roots: g.scan.Roots, Unread: g.refs.Unread,
		SpecRoots: g.refs.Roots, SpecsRead: g.refs.Files, References: len(g.refs.Found),
	}
	if g.view.Faults == nil {
		g.view.Faults = []ImageFault{}
	}
	if g.view.Unread == nil {
		g.view.Unread = []UnreadSpec{}
	}
	for i, img := range g.scan.Images {
		if why[i] == nil {
			why[i] = []ImageProtection{}
		}
		g.view.Images[i] = ImageView{img, why[i]}
	}
	return g, nil
}

// sinceImage looks at the conversation that an image points to.
func (e *Engine) sinceImage(ctx context.Context, img Image) Since {
	rt, err := e.runtime(img.Runtime)
	if err != nil || img.Link {
		return Since{State: "unknown", Why: "it has no runtime of this build"}
	}
	conv := rt.Conversation(ctx, img.Parent.Reveal(), img.SourceCwd, img.Homes)
	switch {
	case conv.Exists == Absent:
		return Since{State: "gone", Why: "the source is gone: " + cmp.Or(conv.Why, "its conversation is not on disk") + "; nothing can be forked from this image"}
	case conv.Exists == Unknown || conv.Path == "":
		return Since{State: "unknown", Why: cmp.Or(conv.Why, "its conversation cannot be looked at")}
	}
	return sinceCapture(conv.Path, img.Capture)
}

// ImageStarter is a rig spec of one seat that starts from the image. Every text
// is quoted, so that nothing in a name or path is read as YAML.
func ImageStarter(img Image) string {
	name := strings.ReplaceAll(img.Name, ".", "-")
	var b strings.Builder
	line := func(indent int, key, value string) {
		b.WriteString(strings.Repeat(" ", indent) + key + ": " + value + "\n")
	}
	text := func(indent int, key, value string) {
		if value != "" {
			line(indent, key, QuoteYAML(value))
		}
	}
	text(0, "version", "0.2")
	text(0, "name", name)
	b.WriteString("pods:\n  - id: \"dev\"\n    label: \"Development\"\n    members:\n")
	b.WriteString("      - id: " + QuoteYAML(name) + "\n")
	text(8, "runtime", string(img.Runtime))
	b.WriteString("        agent_ref: \"builtin:agent\"\n        profile: \"default\"\n")
	text(8, "cwd", img.SourceCwd)
	text(8, "model", img.Model)
	text(8, "effort", img.Effort)
	b.WriteString("        session_source:\n          mode: \"agent_image\"\n          ref:\n            kind: \"image_name\"\n")
	text(12, "value", img.Name)
	text(12, "version", img.Version)
	return b.String()
}

// QuoteYAML writes a text as a JSON string, which every YAML reader takes for this
// very text; characters that YAML does not print are escaped.
func QuoteYAML(s string) string {
	b, err := json.Marshal(s)
	if err != nil { // a string always marshals
		return `""`
	}
	var out strings.Builder
	for _, r := range string(b) {
		if r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0xfeff || r == 0xfffe || r == 0xffff {
			const hex = "0123456789abcdef"
			out.WriteString(`\u` + string([]byte{hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15]}))
			continue
		}
		out.WriteRune(r)
	}
	return out.String()
}
