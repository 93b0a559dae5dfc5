package engine

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// SpecDrift compares a seat with the spec file that its rig came from, as that file
// is now. A seat keeps what it was made with; what a verb such as set-model changed
// later is a difference too.
type SpecDrift struct {
	Spec   string       `json:"spec"`             // the file, or builtin:NAME
	State  DriftState   `json:"state"`            // same, differs, gone or unknown
	Why    string       `json:"why,omitempty"`    // in words
	Fields []DriftField `json:"fields,omitempty"` // what differs, by name
	Code   Code         `json:"code,omitempty"`   // of a file that cannot be read as a spec
}

// DriftState says how a seat stands to its spec.
type DriftState string

// The states of a drift.
const (
	DriftSame    DriftState = "same"
	DriftDiffers DriftState = "differs"
	DriftGone    DriftState = "gone"    // the file, or the member in it, is not there
	DriftUnknown DriftState = "unknown" // no file is on record, or it cannot be read
)

// DriftField is one field that has two values.
type DriftField struct {
	Field string `json:"field"`
	Spec  string `json:"spec"`
	Seat  string `json:"seat"`
}

// Words tells a drift in one line.
func (d SpecDrift) Words() string {
	if d.State != DriftDiffers {
		return d.Why
	}
	var out []string
	for _, f := range d.Fields {
		out = append(out, f.Field+": "+cmp.Or(f.Spec, "nothing")+" in the spec, "+cmp.Or(f.Seat, "nothing")+" in the seat")
	}
	return strings.Join(out, "; ")
}

// SpecDrift implements Console. It reads the spec anew, and changes nothing.
func (e *Engine) SpecDrift(ctx context.Context, seatID string) (SpecDrift, error) {
	seat, rig, err := e.seatAndRig(ctx, seatID)
	if err != nil {
		return SpecDrift{}, err
	}
	return e.specOf(ctx, rig.SpecPath).drift(rig, seat), nil
}

// ownSpec is the spec of a rig as its file is now.
type ownSpec struct {
	spec RigSpec
	err  error
}

func (e *Engine) specOf(ctx context.Context, path string) ownSpec {
	if path == "" || strings.HasPrefix(path, "builtin:") || !filepath.IsAbs(path) {
		return ownSpec{err: Errorf(CodeNotFound, "no file to compare it with is on record")}
	}
	spec, err := e.d.Specs.Load(ctx, path, SpecOptions{})
	return ownSpec{spec, err}
}

func (o ownSpec) drift(rig Rig, seat Seat) SpecDrift {
	d := SpecDrift{Spec: rig.SpecPath, State: DriftUnknown}
	if o.err != nil {
		err := AsError(o.err)
		if d.Why = err.Msg; err.Code != CodeNotFound {
			d.Code = err.Code
		}
		return d
	}
	m, ok := o.spec.Member(seat.Logical())
	if !ok {
		d.State, d.Why = DriftGone, "the spec has no "+seat.Logical()
		return d
	}
	now := seatOfMember(seat.Pod, m)
	field := func(name, spec, has string) {
		if spec != has {
			d.Fields = append(d.Fields, DriftField{name, spec, has})
		}
	}
	field("runtime", string(now.Runtime), string(seat.Runtime))
	field("agent_ref", now.AgentRef, seat.AgentRef)
	field("profile", now.Profile, seat.Profile)
	field("role", now.Role, seat.Role)
	field("label", now.Label, seat.Label)
	field("model", now.Model, seat.Model)
	field("effort", now.Effort, seat.Effort)
	field("codex_config_profile", now.CodexProfile, seat.CodexProfile)
	field("permission_policy", now.PermissionPolicy, seat.PermissionPolicy)
	field("restore_policy", string(now.RestorePolicy), string(seat.RestorePolicy))
	field("readiness_timeout_ms", strconv.Itoa(now.ReadinessMS), strconv.Itoa(seat.ReadinessMS))
	// `rig up --cwd` may have given another directory to start from, and --env more
	// variables: neither is a difference by itself.
	if rig.SpecDigest != o.spec.Digest && (filepath.IsAbs(m.CwdWritten) || strings.HasPrefix(seat.Cwd+"/", rig.Root+"/")) {
		field("cwd", now.Cwd, seat.Cwd)
	}
	for _, name := range slices.Sorted(maps.Keys(now.Env)) {
		if value, has := seat.Env[name]; !has || value != now.Env[name] {
			d.Fields = append(d.Fields, DriftField{"env " + name, "another value", "its own"}) // a value may be a secret
		}
	}
	if d.State, d.Why = DriftSame, "the seat is as written there"; len(d.Fields) > 0 {
		d.State, d.Why = DriftDiffers, Counted(len(d.Fields), "field")+" of the spec "+plural(len(d.Fields), "differs", "differ")
	}
	return d
}
