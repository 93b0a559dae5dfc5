package engine

import (
	"encoding/json"
	"log/slog"
)

// Secret is an input of a request that must stay inside this process: it prints,
// logs and marshals as a placeholder, is hashed nowhere, and is left out of the
// request's JSON. A verb that takes one is therefore never applied by a detached
// process.
type Secret struct{ v string }

// NewSecret wraps what was read.
func NewSecret(v string) Secret { return Secret{v} }

// Reveal gives the raw text, for the planner of the verb that asked for it.
func (s Secret) Reveal() string { return s.v }

// Empty reports whether nothing was given.
func (s Secret) Empty() bool { return s.v == "" }

// String hides the text and its length.
func (s Secret) String() string {
	if s.v == "" {
		return ""
	}
	return "[secret]"
}

// GoString hides it from %#v too.
func (s Secret) GoString() string { return "engine.Secret{" + s.String() + "}" }

// MarshalJSON hides it.
func (s Secret) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// LogValue hides it in logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
