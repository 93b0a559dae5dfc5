package agentsim

import (
	"bytes"
	"encoding/json"
	"os"
)

// field is one member of a JSON object.
type field struct {
	key string
	val any
}

// rec is a JSON object that keeps the order of its members: the clients' files
// are read by people and by tools that look at prefixes, so order is kept.
type rec []field

// obj builds a rec from key, value, key, value …
func obj(kv ...any) rec {
	r := make(rec, 0, len(kv)/2)
	for i := 0; i+1 < len(kv); i += 2 {
		key, ok := kv[i].(string)
		if !ok {
			continue
		}
		r = append(r, field{key, kv[i+1]})
	}
	return r
}

// add appends members.
func (r rec) add(kv ...any) rec { return append(r, obj(kv...)...) }

// when appends members only if the condition holds.
func (r rec) when(cond bool, kv ...any) rec {
	if cond {
		return r.add(kv...)
	}
	return r
}

// MarshalJSON writes the members in order, without HTML escapes.
func (r rec) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range r {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := plainJSON(f.key)
		if err != nil {
			return nil, err
		}
		val, err := plainJSON(f.val)
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(val)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// plainJSON is json.Marshal without the escapes of <, > and &.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// line is a JSONL line of v, newline included; nil when v cannot be written,
// which no value built here can cause.
func line(v any) []byte {
	b, err := plainJSON(v)
	if err != nil {
		return nil
	}
	return append(b, '\n')
}

// appendLine adds a record to a JSONL file of the client's own notes.
func appendLine(path string, r rec) {
	w, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	_, _ = w.Write(line(r))
	_ = w.Close()
}
