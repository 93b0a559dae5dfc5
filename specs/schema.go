package specs

import (
	"encoding/json"
	"strings"
)

// namePattern is the form of rig, pod and member names for an editor.
const namePattern = `^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`

// safePattern keeps a path relative for an editor; the checks are stricter.
const safePattern = `^[^/~\\][^\\]*$`

// Schema is the JSON Schema (draft 2020-12) of a RigSpec, for editors. It is made
// from the table that also drives the checks, so that the two cannot drift apart.
// An editor cannot judge everything: names across pods, edges and files are left
// to `rig spec validate`.
func Schema() []byte {
	t := theTables()
	return schemaOf(t.rig, "RigSpec", "A rig of agents and shells, read by `rig up`.")
}

// AgentSchema is the JSON Schema of an AgentSpec, agent.yaml.
func AgentSchema() []byte {
	return schemaOf(theTables().agent, "AgentSpec", "How one kind of agent is started, named by agent_ref.")
}

func schemaOf(o *object, title, doc string) []byte {
	s := schema{defs: map[string]any{}}
	root := s.object(o)
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = title
	root["description"] = doc
	root["$defs"] = s.defs
	out, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		// The tables hold nothing but texts, numbers and booleans.
		panic(err)
	}
	return append(out, '\n')
}

// schema collects the definitions that objects refer to.
type schema struct{ defs map[string]any }

func defName(o *object) string {
	for _, article := range []string{"a ", "an ", "the "} {
		if rest, ok := strings.CutPrefix(o.name, article); ok {
			return strings.ReplaceAll(rest, " ", "_")
		}
	}
	return strings.ReplaceAll(o.name, " ", "_")
}

func (s schema) ref(o *object) map[string]any {
	name := defName(o)
	if _, known := s.defs[name]; !known {
		s.defs[name] = true // stands while the object is written, for circles
		s.defs[name] = s.object(o)
	}
	return map[string]any{"$ref": "#/$defs/" + name}
}

func (s schema) object(o *object) map[string]any {
	props, required := map[string]any{}, []string{}
	for i := range o.fields {
		f := &o.fields[i]
		props[f.name] = s.field(f)
		if f.required {
			required = append(required, f.name)
		}
	}
	out := map[string]any{
		"type": "object", "description": o.doc, "properties": props, "additionalProperties": false,
	}
	if len(required) > 0 {
		out["required"] = required
	}
	if len(o.rules) > 0 {
		out["allOf"] = o.rules
	}
	return out
}

func (s schema) field(f *field) map[string]any {
	switch f.standing {
	case notBuilt:
		// Only an empty list or map passes: it asks for nothing.
		return map[string]any{"description": f.doc + ". Not in this version: " + f.note, "maxItems": 0, "maxProperties": 0, "type": []string{"array", "object"}}
	case wrong:
		return map[string]any{"description": f.note, "not": map[string]any{}}
	case inert, built:
	}
	out := s.value(f)
	doc := f.doc
	if f.standing == inert {
		doc += ". Without effect in this version: " + f.note
	}
	if doc != "" {
		out["description"] = doc
	}
	if f.def != nil {
		out["default"] = f.def
	}
	return out
}

func (s schema) value(f *field) map[string]any {
	switch f.kind {
	case kText, kVersion:
		return textSchema(f)
	case kBool:
		return map[string]any{"type": "boolean"}
	case kInt:
		out := map[string]any{"type": "integer"}
		if f.max > 0 {
			out["minimum"], out["maximum"] = f.min, f.max
		}
		return out
	case kList:
		out := map[string]any{"type": "array", "items": s.field(f.of)}
		if f.least > 0 {
			out["minItems"] = f.least
		}
		return out
	case kMap:
		return map[string]any{"type": "object", "additionalProperties": s.field(f.of)}
	case kObject:
		if len(f.oneOf) == 0 {
			return s.ref(f.object)
		}
		alts := make([]any, len(f.oneOf))
		for i, o := range f.oneOf {
			alts[i] = s.ref(o)
		}
		return map[string]any{"oneOf": alts}
	case kAny:
	}
	return map[string]any{}
}

func textSchema(f *field) map[string]any {
	out := map[string]any{"type": "string"}
	if f.kind == kVersion {
		out["type"] = []string{"string", "number"}
	}
	switch {
	case f.id:
		out["pattern"] = namePattern
	case f.path:
		out["pattern"] = safePattern
	case len(f.enum) == 1:
		out["const"] = f.enum[0]
	case len(f.enum) > 1:
		out["enum"] = f.enum
	case f.pattern != "":
		out["pattern"] = f.pattern
	}
	if !f.blank {
		out["minLength"] = 1
	}
	return out
}
