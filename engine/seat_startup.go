package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
)

// The closed sets of a stored startup entry.
var (
	startupHints   = []string{"", "auto", "guidance_merge", "skill_install", "send_text"}
	startupActions = []string{"slash_command", "send_text", "startup_proof"}
	startupPhases  = []string{"", "after_files", "after_ready"}
)

// startup reads and checks what a fresh launch of the seat replays. A missing one
// is never taken for an empty one: the seat would start as somebody else.
func (s *seatPlan) startup(ctx context.Context) (member MemberSpec, hash string) {
	var c StartupContext
	err := s.e.d.Store.Read(ctx, func(r Reader) error {
		var err error
		c, err = r.StartupContext(s.seat.ID)
		return err
	})
	if CodeOf(err) == CodeNotFound {
		s.block(CodeStartupMissing, "bring the rig up from its spec again", "what a fresh occupant is told is not on record")
		return member, ""
	}
	if err == nil {
		err = checkStartup(s.seat, c)
	}
	if err == nil {
		member, err = memberOf(s.seat, c)
	}
	if err != nil {
		s.p.BlockSeat(s.address, err)
		return member, ""
	}
	hash = startupHash(c)
	s.fact("startup", hash[:16])
	return member, hash
}

// checkStartup refuses a stored startup that is not two arrays of known entries.
func checkStartup(seat Seat, c StartupContext) error {
	if !isArray(c.Files) || !isArray(c.Actions) {
		return Errorf(CodeStartupBroken, "the stored startup of %s is not a list", seat.Logical()).WithHint("bring the rig up from its spec again")
	}
	m, err := memberOf(seat, c)
	if err != nil {
		return err
	}
	bad := func(what, value string) error {
		return Errorf(CodeStartupBroken, "the stored startup of %s has an unknown %s %q", seat.Logical(), what, value).
			WithHint("bring the rig up from its spec again")
	}
	moments := func(list []Moment) error {
		for _, mo := range list {
			if !slices.Contains(Moments, mo) {
				return bad("occasion", string(mo))
			}
		}
		return nil
	}
	for _, f := range m.Launch.Files {
		if f.Abs == "" && !f.OfSeat() || !slices.Contains(startupHints, f.Hint) {
			return bad("file", f.Path+" "+f.Hint)
		}
		if err := moments(f.AppliesOn); err != nil {
			return err
		}
	}
	for _, a := range m.Launch.Actions {
		if !slices.Contains(startupActions, a.Type) {
			return bad("action", a.Type)
		}
		if !slices.Contains(startupPhases, a.Phase) {
			return bad("phase", a.Phase)
		}
		if err := moments(a.AppliesOn); err != nil {
			return err
		}
	}
	return nil
}

func isArray(raw json.RawMessage) bool {
	return bytes.HasPrefix(bytes.TrimSpace(raw), []byte("["))
}

// startupHash is the SHA-256, in hex, of the JSON list of what is stored.
func startupHash(c StartupContext) string {
	sum := sha256.Sum256(mustJSON([]string{string(c.Files), string(c.Actions), string(c.Runtime)}))
	return hex.EncodeToString(sum[:])
}
