package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"rig/engine"
)

// manCmd writes the man pages, for packages and for `make man`.
func (c *cli) manCmd() *cobra.Command {
	return &cobra.Command{
		Use: "man <folder>", Short: "Write the man pages into a folder", Args: cobra.ExactArgs(1), Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil { //nolint:gosec // man pages are for everybody
				return engine.Errorf(engine.CodeUnavailable, "the folder cannot be made").On("man", args[0]).Wrap(err).WithHint("name a folder that you may write")
			}
			for name, page := range manPages((&cli{}).root()) {
				if err := os.WriteFile(filepath.Join(args[0], name), page, 0o644); err != nil { //nolint:gosec // the same
					return engine.Errorf(engine.CodeUnavailable, "a man page cannot be written").On("man", args[0]).Wrap(err).WithHint("name a folder that you may write")
				}
			}
			return nil
		},
	}
}

// manPages are the pages of all verbs by file name. They hold no date and no
// build, so that the same verbs give the same bytes.
func manPages(root *cobra.Command) map[string][]byte {
	out := map[string][]byte{}
	for _, cmd := range verbs(root) {
		out[strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1"] = manPage(cmd)
	}
	return out
}

// verbs are the commands that a person may use, the root first, each before those
// below it.
func verbs(cmd *cobra.Command) []*cobra.Command {
	// cobra adds these when a command runs; a page must not depend on which did.
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	out := []*cobra.Command{cmd}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" {
			out = append(out, verbs(sub)...)
		}
	}
	return out
}

func manPage(cmd *cobra.Command) []byte {
	var b bytes.Buffer
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
	fmt.Fprintf(&b, ".TH %s 1 \"\" rig \"rig manual\"\n.nh\n", roff(strings.ToUpper(name)))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(name), roff(cmd.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.nf\n%s\n.fi\n", roff(cmd.UseLine()))
	b.WriteString(".SH DESCRIPTION\n")
	for _, line := range strings.Split(cmp.Or(cmd.Long, cmd.Short+"."), "\n") {
		if text, code := strings.CutPrefix(line, "  "); code {
			fmt.Fprintf(&b, ".RS\n.nf\n%s\n.fi\n.RE\n", roff(text))
			continue
		}
		fmt.Fprintf(&b, "%s\n.br\n", roff(line))
	}
	if cmd.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(cmd.Example))
	}
	manFlags(&b, "OPTIONS", cmd.NonInheritedFlags())
	manFlags(&b, "OPTIONS OF EVERY VERB", cmd.InheritedFlags())
	if !cmd.HasParent() {
		b.WriteString(".SH EXIT STATUS\n0: done, or the dry run would proceed. 1: refused, or the end is not clean. 2: a usage error, or the state cannot be told.\n")
		b.WriteString(".SH ENVIRONMENT\nRIG_HOME, RIG_CONFIG, RIG_TMUX_SOCKET, RIG_CLAUDE_COMMAND, RIG_CODEX_COMMAND, NO_COLOR.\n")
	}
	manSeeAlso(&b, cmd)
	return b.Bytes()
}

func manFlags(b *bytes.Buffer, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		head := "--" + f.Name
		if f.Shorthand != "" {
			head = "-" + f.Shorthand + ", " + head
		}
		if value != "" {
			head += " " + value
		}
		fmt.Fprintf(b, ".TP\n\\fB%s\\fR\n%s\n", roff(head), roff(usage))
	})
}

func manSeeAlso(b *bytes.Buffer, cmd *cobra.Command) {
	var see []string
	if cmd.HasParent() {
		see = append(see, strings.ReplaceAll(cmd.Parent().CommandPath(), " ", "-")+"(1)")
	}
	for _, sub := range verbs(cmd)[1:] {
		if sub.Parent() == cmd {
			see = append(see, strings.ReplaceAll(sub.CommandPath(), " ", "-")+"(1)")
		}
	}
	if len(see) > 0 {
		fmt.Fprintf(b, ".SH SEE ALSO\n%s\n", roff(strings.Join(see, ", ")))
	}
}

// roff makes plain text safe in a man page: no backslash, hyphen or leading
// control character of it means anything.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
