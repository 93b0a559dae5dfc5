package engine

import (
	"slices"
	"strings"
)

// ImageProtection says why an image must not be removed.
type ImageProtection struct {
	// Code is pinned, referenced_by_agent_spec, referenced_by_rig_spec,
	// referenced_by_seat, unreadable_spec, lineage_descendant_of_protected or
	// lineage_ancestor_of_protected.
	Code string `json:"code"`
	By   string `json:"by,omitempty"` // the file, seat or image
}

// String is the protection in words.
func (p ImageProtection) String() string {
	if p.By == "" {
		return p.Code
	}
	return p.Code + " (" + p.By + ")"
}

// guardImages says of each image, by its place in the list, what protects it.
// What cannot be told protects: a spec that cannot be read counts as a reference
// to every image that it may name. Protection spreads along the lineage, to
// ancestors and descendants, until nothing is added any more.
func guardImages(images []Image, faults []ImageFault, refs ImageReferences, seats []ImageReference) [][]ImageProtection {
	out := make([][]ImageProtection, len(images))
	for i, img := range images {
		if img.Pinned {
			out[i] = append(out[i], ImageProtection{Code: "pinned"})
		}
		for _, r := range refs.Found {
			if r.means(img) {
				out[i] = append(out[i], ImageProtection{refCode(r), r.File})
			}
		}
		for _, r := range seats {
			if r.means(img) {
				out[i] = append(out[i], ImageProtection{"referenced_by_seat", r.File})
			}
		}
		for _, u := range refs.Unread {
			if mayMention(u.Text, img.Name) {
				out[i] = append(out[i], ImageProtection{"unreadable_spec", u.File})
			}
		}
		for _, f := range faults { // an image that cannot be read may descend from any that it names
			if (f.Text != "" || f.Code == CodeUnavailable) && mayMention(f.Text, img.Name) {
				out[i] = append(out[i], ImageProtection{"lineage_ancestor_of_protected", f.Source})
			}
		}
	}
	spreadProtection(images, out)
	return out
}

func refCode(r ImageReference) string {
	if r.Agent {
		return "referenced_by_agent_spec"
	}
	return "referenced_by_rig_spec"
}

// means reports whether a reference may be to this image.
func (r ImageReference) means(img Image) bool {
	return r.Name == img.Name && (r.Version == "" || img.Link || r.Version == img.Version)
}

// mayMention reports whether a text that no parser understood may name an image.
// Without a text, and with escapes in it that could spell any name, it may.
func mayMention(text, name string) bool {
	return text == "" || strings.Contains(text, name) || strings.Contains(text, "agent_image") && strings.Contains(text, `\`)
}

// spreadProtection runs along the lineage to a fixed point.
func spreadProtection(images []Image, out [][]ImageProtection) {
	for changed := true; changed; {
		changed = false
		for i, child := range images {
			for j, parent := range images {
				if i == j || !descends(child, parent) {
					continue
				}
				switch {
				case len(out[i]) == 0 && len(out[j]) > 0:
					out[i] = append(out[i], ImageProtection{"lineage_descendant_of_protected", parent.ID})
					changed = true
				case len(out[j]) == 0 && len(out[i]) > 0:
					out[j] = append(out[j], ImageProtection{"lineage_ancestor_of_protected", child.ID})
					changed = true
				}
			}
		}
	}
}

func descends(child, parent Image) bool {
	return slices.ContainsFunc(child.Lineage, func(l string) bool {
		return l == parent.Name || l == parent.ID || l == parent.Name+":"+parent.Version
	})
}

func protectionWords(list []ImageProtection) string {
	words := make([]string, len(list))
	for i, p := range list {
		words[i] = p.String()
	}
	return strings.Join(words, "; ")
}
