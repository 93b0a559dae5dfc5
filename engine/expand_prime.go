package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// StepPrimed proves that what a rebuilt seat was primed with arrived.
const StepPrimed StepKind = "verify_priming"

// maxQuoted is how many bytes of artifacts are quoted in a rebuilt seat's opening
// prompt; what does not fit is named by its path, to be read by the agent.
const maxQuoted = 64 << 10

// rebuildStart makes a fresh start that is primed with a seat's artifacts, the
// most trusted first. Every artifact must be there: a seat is primed with all of
// them or not at all. It is no fork, and no conversation is continued.
func (e *Engine) rebuildStart(p *Plan, seat Seat, st *seatStart, m MemberSpec, artifacts []string) {
	st.Start, st.Kind, st.Good = StartFresh{}, "rebuild", ContinuityRebuilt
	st.Marker = "rebuild-" + e.d.IDs.New()
	var b strings.Builder
	fmt.Fprintf(&b, "You are %s. `rig whoami` tells your role, peers and edges. This is a new conversation, rebuilt from the %s below; "+
		"they stand in the order of trust, and where two disagree the earlier one is right. (%s)\n", st.Address, Counted(len(artifacts), "artifact"), st.Marker)
	var names []string
	quoted := 0
	for i, path := range artifacts {
		text, err := readArtifact(path)
		if err != nil {
			p.BlockSeat(st.Address, err)
			continue
		}
		sum := sha256.Sum256([]byte(text))
		p.AddFact(fmt.Sprintf("seat/%s/artifact/%d", st.Address, i+1), path+" "+hex.EncodeToString(sum[:8]))
		names = append(names, filepath.Base(path))
		fmt.Fprintf(&b, "\n# Artifact %d of %d: %s\n\n", i+1, len(artifacts), path)
		if quoted += len(text); quoted > maxQuoted {
			fmt.Fprintf(&b, "It is too long to be quoted (%d bytes): read all of it now.\n", len(text))
			p.Warnings = append(p.Warnings, fmt.Sprintf("%s: %s is too long to be quoted; it is named by its path", st.Address, path))
			continue
		}
		b.WriteString(strings.TrimSpace(text) + "\n")
	}
	st.Source = "artifacts " + strings.Join(names, ", ")
	startup, digest, err := e.openingPrompt(st.Address, m)
	switch {
	case err != nil:
		p.BlockSeat(st.Address, err)
	case digest != "":
		p.AddFact("seat/"+st.Address+"/prompt", digest)
		_, rest, _ := strings.Cut(startup, "\n\n")
		b.WriteString("\n# And for this seat\n\n" + rest + "\n")
	}
	if st.Prompt = b.String(); len(st.Prompt) > maxPrompt {
		p.BlockSeat(st.Address, Errorf(CodeInvalid, "the artifacts and startup texts of %s are %d bytes", st.Address, len(st.Prompt)).
			WithHint("keep them under %d bytes", maxPrompt))
	}
	if rt, err := e.runtime(seat.Runtime); err == nil && !rt.Caps().Prompt {
		p.BlockSeat(st.Address, Errorf(CodeUnsupportedKind, "%s takes no opening prompt to rebuild it with", seat.Runtime).WithHint("leave session_source out"))
	}
}

// maxArtifact is the most that is read of one artifact, in bytes.
const maxArtifact = 8 << 20

func readArtifact(path string) (string, error) {
	missing := func(cause error, why string) error {
		err := Errorf(CodeArtifactMissing, "the artifact %s %s", path, why).
			WithHint("a rebuild needs every one of its files; create it or take it off the list")
		if cause != nil {
			err = err.Wrap(cause)
		}
		return err
	}
	info, err := os.Stat(path)
	switch {
	case os.IsNotExist(err):
		return "", missing(nil, "is not there")
	case err != nil:
		return "", missing(err, "cannot be read")
	case !info.Mode().IsRegular():
		return "", missing(nil, "is not a file")
	case info.Size() > maxArtifact:
		return "", missing(nil, fmt.Sprintf("has %d bytes, more than %d", info.Size(), maxArtifact))
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", missing(err, "cannot be read")
	}
	return string(b), nil
}

// startSteps lists the steps that give a new seat its first occupant, with the
// proof of a rebuilt seat's priming and the count of an image's fork.
func startSteps(st seatStart, agent bool) []Step {
	steps := occupySteps(st.Address, st.Address, agent)
	if st.Marker != "" {
		last := steps[len(steps)-1]
		steps = append(steps[:len(steps)-1], Step{
			ID: st.Address + "/primed", Kind: StepPrimed, Seat: st.Address, Effect: EffectNone,
			Title: "prove that its artifacts arrived in its own transcript",
		}, last)
	}
	if st.Image.Name != "" {
		steps = append(steps, Step{
			ID: st.Address + "/image", Kind: StepImageUsed, Seat: st.Address, Effect: EffectOneWay, Title: "count the fork in the image's statistics",
			Args: map[string]string{"root": st.Image.Root, "name": st.Image.Name, "version": st.Image.Version},
		})
	}
	return steps
}

// doPrimed waits until the new seat's own record shows the prompt that carried
// its artifacts. At a gate nothing can have arrived; the seat then waits for a
// person and claims nothing.
func doPrimed(ctx context.Context, r *run, s Step) (Evidence, error) {
	seat, rt, l, err := r.occupant(ctx, s)
	if err != nil {
		return nil, err
	}
	st, err := r.start(s)
	if err != nil {
		return nil, err
	}
	if l.readiness.State == ReadyGate {
		l.prompted = false
		return Evidence{"delivered": false, "why": "it waits at a gate"}, nil
	}
	prover, ok := rt.(arrivalProver)
	if !ok {
		return nil, Errorf(CodeNotDelivered, "this runtime cannot prove an arrival").On("rebuild", s.Seat).WithHint("leave session_source out, or use mode fork")
	}
	a, err := r.awaitArrival(ctx, s, seat, l, prover, st.Marker)
	switch {
	case err != nil:
		return nil, err
	case !a.seen:
		return Evidence{"delivered": false, "pane_tail": r.tail(a.screen)}, Errorf(CodeNotDelivered, "its artifacts were not seen in its transcript: %s", orNone(a.why)).
			On("rebuild", s.Seat).WithHint("nothing was recorded; try again").With("pane_tail", r.tail(a.screen))
	}
	return Evidence{"delivered": true, "source": a.why}, nil
}
