package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// keyNewestBuild is the row of meta that names the newest build which has applied
// a plan to this record.
const keyNewestBuild = "build.newest"

// OlderBuild reports proof that build a is older than build b, from their names as
// `git describe` words them: v1.4.0, or v1.4.0-12-gabc1234 for twelve commits
// later. Names without a release number, such as a bare commit, and names of
// pre-releases prove nothing.
func OlderBuild(a, b string) bool {
	x, okX := buildNumbers(a)
	y, okY := buildNumbers(b)
	return okX && okY && slices.Compare(x, y) < 0
}

// buildNumbers gives major, minor, patch and commits since of a build's name.
func buildNumbers(name string) ([]int, bool) {
	name, _, _ = strings.Cut(strings.TrimPrefix(name, "v"), " ")
	release, rest, _ := strings.Cut(strings.TrimSuffix(name, "-dirty"), "-")
	words := strings.Split(release, ".")
	if len(words) != 3 {
		return nil, false
	}
	if since, _, described := strings.Cut(rest, "-g"); described {
		words = append(words, since)
	} else if rest != "" {
		return nil, false
	} else {
		words = append(words, "0")
	}
	out := make([]int, len(words))
	for i, w := range words {
		n, err := strconv.ParseUint(w, 10, 31)
		if err != nil {
			return nil, false
		}
		out[i] = int(n)
	}
	return out, true
}

// noteBuild puts this build on record as the newest one, unless a newer one is.
func (e *Engine) noteBuild(tx Tx) error {
	newest, err := tx.Meta(keyNewestBuild)
	if err != nil || newest == e.d.Build || OlderBuild(e.d.Build, newest) {
		return err
	}
	return tx.SetMeta(keyNewestBuild, e.d.Build)
}

// warnBuild says in a plan that this process is of an older build than one that
// has acted on the record, before it acts itself.
func (e *Engine) warnBuild(r Reader, p *Plan) error {
	newest, err := r.Meta(keyNewestBuild)
	if err == nil && OlderBuild(e.d.Build, newest) {
		p.Warnings = append(p.Warnings, fmt.Sprintf("this is build %s; the newer build %s has acted on this record: end this process and use that one", e.d.Build, newest))
	}
	return err
}

// otherBuild says in a refusal of a stale plan that two builds had a part in it:
// the one that made the plan, and the one on disk that was started to apply it.
func (e *Engine) otherBuild(t Ticket, err *Error) *Error {
	if t.Build == "" || t.Build == e.d.Build {
		return err
	}
	return err.With("planned_by_build", t.Build).With("build", e.d.Build).
		WithHint("build %s made the plan and build %s was started to apply it: the program was replaced while it ran; end it and start it again", t.Build, e.d.Build)
}
