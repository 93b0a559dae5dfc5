package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"rig/engine"
)

// direct holds the flags of a verb whose change is one transaction or one rename.
type direct struct {
	dryRun bool
	apply  string
}

func (d *direct) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&d.dryRun, "dry-run", false, "print the plan and change nothing")
	f.Var((*fingerprint)(&d.apply), "apply", "apply only if the plan's `fingerprint` is still this one")
}

// mode is how the record is opened.
func (d *direct) mode() appMode {
	if d.dryRun {
		return appRead
	}
	return appWrite
}

// textDigest stands for a text in a plan's facts.
func textDigest(values ...any) string {
	sum := sha256.Sum256([]byte(fmt.Sprintf("%q", values)))
	return hex.EncodeToString(sum[:8])
}

// shellLine is the line that does what was asked for, without its dry run.
func shellLine(cmd *cobra.Command, words []string) string {
	line := append(strings.Fields(cmd.CommandPath()), words...)
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch list, many := f.Value.(pflag.SliceValue); {
		case f.Name == "dry-run" || f.Name == "apply" || f.Name == "json":
		case many:
			for _, v := range list.GetSlice() {
				line = append(line, "--"+f.Name, v)
			}
		case f.Value.Type() == "bool":
			line = append(line, "--"+f.Name)
		default:
			line = append(line, "--"+f.Name, f.Value.String())
		}
	})
	return engine.CommandLine(line...)
}
