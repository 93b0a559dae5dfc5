package packet

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"rig/engine"
)

// Chain implements engine.Contexts.
func (s Seats) Chain(_ context.Context, seat engine.Seat, address string) (engine.Chain, error) {
	dir := s.Dir(address)
	c := engine.Chain{Artifacts: []engine.Artifact{}, Gaps: []string{}} // evidence prints them, and a list is never null
	for _, f := range []struct{ name, label string }{{recapName, "recap"}, {learnedName, "learned"}} {
		a, err := artifact(filepath.Join(dir, f.name), f.label, "seat:"+f.name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			c.Gaps = append(c.Gaps, f.name+" was never written")
		case err != nil:
			c.Gaps = append(c.Gaps, f.name+" cannot be read: "+err.Error())
		default:
			c.Artifacts = append(c.Artifacts, a)
		}
	}
	if dir := latestPacket(seat, address); dir != "" {
		a, err := artifact(filepath.Join(dir, InstructionsName), "restore packet", "packet:"+filepath.Base(dir)+"/"+InstructionsName)
		if err != nil {
			c.Gaps = append(c.Gaps, "the latest restore packet cannot be read: "+err.Error())
		} else {
			c.Artifacts = append(c.Artifacts, a)
		}
	}
	older := supersededRecaps(dir)
	slices.Reverse(older)
	for _, p := range older {
		if a, err := artifact(p, "older recap", "seat:"+supersededName+"/"+filepath.Base(p)); err == nil {
			c.Artifacts = append(c.Artifacts, a)
		}
	}
	if len(c.Artifacts) == 0 {
		c.Empty = "the seat has neither a recap nor learned notes; `rig context recap-write` makes one"
	}
	return c, nil
}

// latestPacket finds the newest packet of a seat by the operation ids in the
// names, which order by time. "" means that there is none.
func latestPacket(seat engine.Seat, address string) string {
	if list := packetsOf(seat, address, 1); len(list) > 0 {
		return list[0]
	}
	return ""
}

// maxArtifact bounds what is read of one kept file.
const maxArtifact = 4 << 20

func artifact(path, label, address string) (engine.Artifact, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return engine.Artifact{}, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxArtifact {
		return engine.Artifact{}, engine.Errorf(engine.CodeInvalid, "not a plain file of at most 4 MiB").On("artifact", path).WithHint("replace it")
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return engine.Artifact{}, err
	}
	return engine.Artifact{Label: label, Address: address, Path: path, Modified: info.ModTime().UTC(), Digest: digest(b)}, nil
}
