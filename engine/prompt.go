package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"slices"
	"strings"
)

// maxPrompt is the longest opening prompt that travels as one argument, in
// bytes: the kernel stops an argument at 128 KiB.
const maxPrompt = 100 << 10

// openingPrompt joins what a spec gives a fresh occupant into the one
// prompt that goes as an argument: who it is, then the files and texts in
// delivery order. Without startup material there is no prompt: nobody asked for
// a turn. The second value is a digest of what was read.
func (e *Engine) openingPrompt(address string, m MemberSpec) (prompt, digest string, err error) {
	var parts []string
	for _, f := range m.Launch.Files {
		if !slices.Contains(f.AppliesOn, MomentFresh) {
			continue
		}
		text, err := e.startupText(address, f)
		if err != nil {
			return "", "", err
		}
		if text != "" {
			parts = append(parts, text)
		}
	}
	for _, a := range m.Launch.Actions {
		if slices.Contains(a.AppliesOn, MomentFresh) && a.Type == "send_text" {
			parts = append(parts, a.Value)
		}
	}
	if len(parts) == 0 {
		return "", "", nil
	}
	prompt = "You are " + address + startupWords + "\n\n" + strings.Join(parts, "\n\n")
	if len(prompt) > maxPrompt {
		return "", "", Errorf(CodeInvalid, "the startup texts of %s are %d bytes", address, len(prompt)).
			WithHint("keep them under %d bytes; point to files that the agent can read itself", maxPrompt)
	}
	sum := sha256.Sum256([]byte(prompt))
	return prompt, hex.EncodeToString(sum[:8]), nil
}

// startupText reads a startup file. A file of the seat's own, such as seat:RECAP.md,
// that was never written is no fault of the spec: the occupant is told so.
func (e *Engine) startupText(address string, f StartupFile) (string, error) {
	if !f.OfSeat() {
		return readStartupFile(f)
	}
	keeper, ok := e.d.Contexts.(seatFiles)
	if !ok {
		return "", Errorf(CodeNotSupported, "this build keeps no files of a seat").On("", f.Path).WithHint("take %s off the startup files", f.Path)
	}
	path, err := keeper.SeatFile(address, f.Path)
	if err != nil {
		return "", err
	}
	b, err := os.ReadFile(path)
	switch {
	case os.IsNotExist(err):
		return "(" + f.Path + " was never written for this seat.)", nil
	case err != nil:
		return "", Errorf(CodeStartupFileMissing, "%s cannot be read", f.Path).Wrap(err).WithHint("check %s", path)
	}
	return "# " + f.Path + "\n\n" + strings.TrimSpace(string(b)), nil
}

func readStartupFile(f StartupFile) (string, error) {
	b, err := os.ReadFile(f.Abs)
	switch {
	case err == nil:
		return strings.TrimSpace(string(b)), nil
	case !f.Required && os.IsNotExist(err):
		return "", nil
	}
	return "", Errorf(CodeStartupFileMissing, "startup file %s cannot be read", f.Path).Wrap(err).
		WithHint("create it, or mark it required: false")
}
