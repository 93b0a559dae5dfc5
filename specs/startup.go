package specs

import (
	"slices"

	"gopkg.in/yaml.v3"

	"rig/engine"
)

// notContextPack refuses a retired kind of startup entry with what replaces it.
func notContextPack(c *checker, n *yaml.Node, path string) bool {
	m := mapping{c: c, n: n, path: path}
	if kind := m.raw("kind"); kind != nil && kind.Value == "context_pack" {
		c.add(kind, m.at("kind"), engine.CodeNotSupported,
			"compose the pack into a file and list that file here, or send it to the running seat",
			"context packs are no startup files")
		c.bad[n] = true
		return false
	}
	return true
}

// actionType refuses the action types that this version does not have, each with
// its own reason.
func actionType(c *checker, n *yaml.Node, path string) bool {
	m := mapping{c: c, n: n, path: path}
	kind := m.raw("type")
	if kind == nil || kind.Kind != yaml.ScalarNode {
		return true
	}
	switch kind.Value {
	case "shell":
		c.add(kind, m.at("type"), engine.CodeNotSupported, "use a terminal seat for commands, or send_text to ask the agent",
			"shell actions are not supported: a start runs no commands of its own")
	case "startup_proof":
		c.add(kind, m.at("type"), engine.CodeNotSupported, "remove it; readiness is proven by the client's own evidence",
			"startup_proof is known, but this version cannot do it")
	default:
		return true
	}
	c.bad[n] = true
	return false
}

// startup builds a startup block with its defaults written out.
func (c *checker) startup(m mapping) engine.StartupSpec {
	var s engine.StartupSpec
	for _, f := range m.subs("files") {
		if c.bad[f.n] {
			continue
		}
		file := engine.StartupFile{Path: f.text("path"), Hint: c.deliveryHint(f), Required: true, AppliesOn: c.momentsOf(f)}
		if v, given := f.flag("required"); given {
			file.Required = v
		}
		s.Files = append(s.Files, file)
	}
	for _, a := range m.subs("actions") {
		if c.bad[a.n] {
			continue
		}
		s.Actions = append(s.Actions, c.action(a))
	}
	return s
}

// deliveryHint reads how a file is delivered. The two hints that write into a
// project are refused: nothing of ours is written there.
func (c *checker) deliveryHint(f mapping) string {
	switch hint := f.text("delivery_hint"); hint {
	case "":
		return "auto"
	case "guidance_merge", "skill_install":
		f.fault("delivery_hint", engine.CodeNotSupported, "use auto or send_text: the text is given to the agent at its start",
			"%s writes into the project, which this version never does", hint)
		return "auto"
	default:
		return hint
	}
}

func (c *checker) action(a mapping) engine.StartupAction {
	act := engine.StartupAction{
		Type: a.text("type"), Value: a.text("value"), Phase: a.text("phase"), AppliesOn: c.momentsOf(a),
	}
	if act.Phase == "" {
		act.Phase = "after_files"
	}
	again, given := a.flag("idempotent")
	act.Idempotent = again
	illTyped := !given && a.raw("idempotent") != nil
	if !again && !illTyped && slices.Contains(act.AppliesOn, engine.MomentRestore) {
		at := c.places[a.path]
		if n := a.raw("applies_on"); n != nil {
			at = place{n.Line, n.Column}
		}
		c.at(at, a.at("applies_on"), CodeBadValue, "write applies_on: [fresh_start], or idempotent: true if a repeat does no harm",
			"an action that is not idempotent must not apply on restore")
	}
	return act
}

// momentsOf reads applies_on in one fixed order; both by default.
func (c *checker) momentsOf(m mapping) []engine.Moment {
	if n := m.raw("applies_on"); n == nil {
		return slices.Clone(engine.Moments)
	}
	given := m.texts("applies_on")
	var out []engine.Moment
	for _, moment := range engine.Moments {
		if slices.Contains(given, string(moment)) {
			out = append(out, moment)
		}
	}
	return out
}
