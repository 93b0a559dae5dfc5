package specs

import (
	"errors"
	"strings"

	"gopkg.in/yaml.v3"

	"rig/engine"
)

const sourceModes = "fork, rebuild, agent_image"

// later leaves a map to the rules of its owner.
func later(*checker, *yaml.Node, string) bool { return false }

// source reads session_source. Each kind that cannot be used is refused with its
// own reason and with that reason only: a seat that asks for a conversation never
// silently gets a fresh one.
func (c *checker) source(m mapping, rt engine.RuntimeName) engine.SessionSource {
	n := m.get("session_source")
	if n == nil {
		return nil
	}
	s := mapping{c: c, n: n, path: m.at("session_source")}
	switch {
	case rt == engine.RuntimeTerminal:
		m.fault("session_source", CodeBadSource, "remove it, or choose an agent's runtime",
			"a terminal has no conversation: nothing to fork and nothing to rebuild")
		return nil
	case n.Kind != yaml.MappingNode:
		m.fault("session_source", CodeWrongType, "it has mode and ref", "session_source must be a map, not %s", kindName(n))
		return nil
	}
	switch mode := s.raw("mode"); {
	case mode == nil || isNull(mode):
		c.object(n, s.path, c.t.fork)
		return nil
	case mode.Kind != yaml.ScalarNode:
		s.fault("mode", CodeWrongType, "modes: "+sourceModes, "mode must be a word, not %s", kindName(mode))
		return nil
	default:
		return c.sourceOf(s, mode.Value, rt)
	}
}

func (c *checker) sourceOf(s mapping, mode string, rt engine.RuntimeName) engine.SessionSource {
	switch mode {
	case "fork":
		if !c.refKind(s, c.t.fork, "native_id", forkKind) {
			return nil
		}
		return c.forkSource(s, rt)
	case "rebuild":
		if !c.refKind(s, c.t.rebuild, "artifact_set", rebuildKind) {
			return nil
		}
		if files := s.sub("ref").texts("value"); len(files) > 0 {
			return engine.RebuildSource{Artifacts: files}
		}
	case "agent_image":
		if !c.refKind(s, c.t.image, "image_name", imageKind) {
			return nil
		}
		if name := s.sub("ref").text("value"); name != "" {
			return engine.ImageSource{Name: name, Version: s.sub("ref").text("version")}
		}
	default:
		s.fault("mode", CodeBadSource, "a seat's own conversation is continued by `rig up` and `rig restore`, never by a spec",
			"mode %s is not supported; the modes are %s", show(mode), sourceModes)
	}
	return nil
}

// refKind checks the kind of the reference first: a wrong one is the only fault
// reported. With the right one the table checks the whole block.
func (c *checker) refKind(s mapping, o *object, want string, refuse func(kind string) (msg, hint string)) bool {
	ref := s.raw("ref")
	if ref == nil || isNull(ref) {
		c.object(s.n, s.path, o)
		return false
	}
	if ref.Kind != yaml.MappingNode {
		s.fault("ref", CodeWrongType, "write ref: {kind: "+want+", value: …}", "ref must be a map with kind and value, not %s", kindName(ref))
		return false
	}
	r := mapping{c: c, n: ref, path: s.at("ref")}
	kind := r.raw("kind")
	switch {
	case kind == nil:
		r.fault("kind", CodeBadSource, "write kind: "+want, "ref needs kind: %s", want)
		return false
	case kind.Kind != yaml.ScalarNode || kind.Value != want:
		msg, hint := "", ""
		if kind.Kind == yaml.ScalarNode {
			msg, hint = refuse(kind.Value)
		}
		if msg == "" {
			msg, hint = "kind must be "+want+", not "+kindName(kind), "write kind: "+want
		}
		r.fault("kind", CodeBadSource, hint, "%s", msg)
		return false
	}
	before := len(c.problems)
	c.object(s.n, s.path, o)
	return len(c.problems) == before
}

func forkKind(kind string) (msg, hint string) {
	const use = "write kind: native_id with the id of the conversation"
	switch kind {
	case "artifact_path":
		return "a fork from an artifact_path is deferred: this version forks from a native_id only", use
	case "name", "last":
		return kind + " is weaker than a native_id: it may mean another conversation tomorrow", use
	case "artifact_set":
		return "an artifact_set belongs to mode: rebuild, not to a fork", "write mode: rebuild, or give a native_id"
	}
	return "", ""
}

func rebuildKind(kind string) (msg, hint string) {
	switch kind {
	case "native_id", "artifact_path", "name", "last":
		return kind + " belongs to mode: fork; a rebuild is primed with an artifact_set",
			"list files under value with kind: artifact_set, or write mode: fork"
	}
	return "", ""
}

func imageKind(kind string) (msg, hint string) {
	switch kind {
	case "native_id", "artifact_path", "name", "last":
		return kind + " belongs to mode: fork; an agent_image is named by image_name", "write kind: image_name, or mode: fork"
	case "artifact_set":
		return "an artifact_set belongs to mode: rebuild; an agent_image is named by image_name", "write kind: image_name, or mode: rebuild"
	}
	return "", ""
}

// forkSource checks the id by the form of the runtime. Messages never quote it.
func (c *checker) forkSource(s mapping, rt engine.RuntimeName) engine.SessionSource {
	ref := s.sub("ref")
	value := ref.text("value")
	if value == "" || rt == "" {
		return nil
	}
	id, err := engine.CheckNativeID(rt, value)
	if err == nil && id != value {
		err = engine.Errorf(engine.CodeInvalid, "not a %s conversation id: it ends with a line break", rt).WithHint("write it on one line")
	}
	if err != nil {
		var e *engine.Error
		hint := ""
		if errors.As(err, &e) {
			hint = e.Hint
		}
		ref.fault("value", CodeBadSource, hint, "%s", strings.TrimSpace(err.Error()))
		return nil
	}
	return engine.ForkSource{Parent: engine.NewParentToken(id)}
}
