package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"rig/engine"
	"rig/engine/packet"
	"rig/specs"
)

// maxPiece is the most that is printed of one declared file, in bytes.
const maxPiece = 4 << 20

// pieceDoc is one declared file as it was found.
type pieceDoc struct {
	engine.ProjectPiece
	Present bool   `json:"present"`
	Why     string `json:"why,omitempty"` // why it is absent
	Bytes   int64  `json:"bytes,omitempty"`
	Text    string `json:"text,omitempty"` // with --deliver; passed redaction
}

// installDoc is the JSON of `rig context work-install`.
type installDoc struct {
	OK       bool            `json:"ok"`
	Position engine.Position `json:"position"`
	Project  *engine.Project `json:"project"`
	Pieces   []pieceDoc      `json:"pieces"`
	Projects []string        `json:"projects"`
	Gaps     []string        `json:"gaps,omitempty"`
}

func (c *cli) workInstallCmd() *cobra.Command {
	var seat, project string
	var deliver bool
	cmd := &cobra.Command{
		Use: "work-install", Short: "List what the project of a seat declares; --deliver prints it all", Args: cobra.NoArgs,
		Long: "A restore packet carries the work in flight; a project declares in " + specs.ProjectFile + " what whoever works on it should know. The project is the\n" +
			"only one, or the one that names the rig, or the one around the directory; where several remain, none is guessed: --project names it.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := openApp(appRead)
			if err != nil {
				return err
			}
			defer a.close()
			doc, err := installOf(cmd.Context(), a, seat, project, deliver)
			if err != nil {
				return err
			}
			if c.json {
				return c.print(doc)
			}
			return c.installed(doc, deliver)
		},
	}
	f := cmd.Flags()
	f.StringVar(&seat, "seat", "", "the `seat` (default: the one you sit in, else this directory)")
	f.StringVar(&project, "project", "", "`id` of the project")
	f.BoolVar(&deliver, "deliver", false, "print every declared file, in order")
	return cmd
}

func installOf(ctx context.Context, a *app, seat, project string, deliver bool) (installDoc, error) {
	doc := installDoc{OK: true, Pieces: []pieceDoc{}, Projects: []string{}}
	if seat == "" {
		if id, err := a.engine().Whoami(ctx, ""); err == nil {
			seat = id.Seat
		}
	}
	cwd, err := os.Getwd()
	if err != nil {
		return doc, err
	}
	at, roots, gaps, err := a.engine().ProjectRoots(ctx, seat, cwd)
	if err != nil {
		return doc, err
	}
	doc.Position, doc.Gaps = at, gaps
	all, err := declared(append(roots, a.conf.Projects.Roots...))
	if err != nil {
		return doc, err
	}
	for _, p := range all {
		doc.Projects = append(doc.Projects, p.ID)
	}
	if len(all) == 0 && project == "" {
		return doc, nil
	}
	p, err := engine.SelectProject(all, project, &doc.Position)
	if err != nil {
		return doc, err
	}
	doc.Project = &p
	root, err := os.OpenRoot(p.Root)
	if err != nil {
		return doc, engine.Errorf(engine.CodeUnavailable, "the project's root cannot be read").On("context work-install", p.Root).Wrap(err).WithHint("check its permissions")
	}
	defer func() { _ = root.Close() }()
	for _, piece := range p.Pieces {
		doc.Pieces = append(doc.Pieces, readPiece(root, piece, deliver))
	}
	return doc, nil
}

// declared reads the projects of the given roots, each once. Two projects of one
// id are refused: the id would name neither.
func declared(roots []string) ([]engine.Project, error) {
	var all []engine.Project
	seen := map[string]string{}
	for _, root := range roots {
		p, found, err := specs.Project(root)
		if err != nil {
			return nil, err
		}
		if !found || seen[p.ID] == root {
			continue
		}
		if other := seen[p.ID]; other != "" {
			return nil, engine.Errorf(engine.CodeAmbiguousName, "two projects are called %s: in %s and in %s", p.ID, other, root).WithHint("give one of them another id")
		}
		seen[p.ID] = root
		all = append(all, p)
	}
	return all, nil
}

// reason is a file error without the path, which stands beside it already.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return err.Error()
}

// readPiece looks for one declared file inside the root; a link cannot lead out.
func readPiece(root *os.Root, piece engine.ProjectPiece, deliver bool) pieceDoc {
	doc := pieceDoc{ProjectPiece: piece}
	info, err := root.Stat(piece.Path)
	switch {
	case os.IsNotExist(err):
		doc.Why = "it is not there"
		return doc
	case err != nil:
		doc.Why = reason(err)
		return doc
	case !info.Mode().IsRegular():
		doc.Why = "it is not a plain file"
		return doc
	}
	doc.Present, doc.Bytes = true, info.Size()
	if !deliver {
		return doc
	}
	f, err := root.Open(piece.Path)
	if err != nil {
		doc.Present, doc.Why = false, reason(err)
		return doc
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxPiece))
	if err != nil {
		doc.Present, doc.Why = false, reason(err)
		return doc
	}
	if doc.Text, _ = packet.Clean(string(raw)); info.Size() > maxPiece {
		doc.Text += fmt.Sprintf("\n[%d more bytes in %s]\n", info.Size()-maxPiece, piece.Path)
	}
	return doc
}

func (c *cli) installed(doc installDoc, deliver bool) error {
	for _, g := range doc.Gaps {
		fmt.Fprintf(c.err, "  gap: %s\n", plain(g))
	}
	if doc.Project == nil {
		fmt.Fprintf(c.out, "No project declares anything here.\n  → put a %s into the project's root: id, intent, rigs, context\n", specs.ProjectFile)
		return nil
	}
	p := doc.Project
	fmt.Fprintf(c.out, "%s (%s), chosen by %s\n", p.ID, plain(p.Root), strings.ReplaceAll(doc.Position.SelectedBy, "_", " "))
	if p.Intent != "" {
		fmt.Fprintf(c.out, "  %s\n", plain(strings.ReplaceAll(p.Intent, "\n", " ")))
	}
	rows := [][]string{}
	for i, x := range doc.Pieces {
		state := fmt.Sprintf("%d bytes", x.Bytes)
		if !x.Present {
			state = "absent: " + plain(x.Why)
		}
		rows = append(rows, []string{fmt.Sprintf("  %d. %s", i+1, plain(x.Path)), state, plain(x.Purpose)})
	}
	table(c.out, rows)
	if !deliver {
		return nil
	}
	for i, x := range doc.Pieces {
		fmt.Fprintf(c.out, "\n===== %d of %d: %s =====\n", i+1, len(doc.Pieces), plain(x.Path))
		if !x.Present {
			fmt.Fprintf(c.out, "(absent: %s)\n", plain(x.Why))
			continue
		}
		fmt.Fprintln(c.out, strings.TrimRight(x.Text, "\n"))
	}
	return nil
}
