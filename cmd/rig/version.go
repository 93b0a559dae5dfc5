package main

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rig/store"
)

// buildInfo is what `rig version` says.
type buildInfo struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"`
	Schema   int    `json:"schema"` // of the record that this build writes
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Tmux     string `json:"tmux"` // of the program on the search path, "" = none
	TmuxPath string `json:"tmux_path"`
}

func readBuildInfo(ctx context.Context) buildInfo {
	b := buildInfo{
		Version: version, Commit: commit, Schema: store.SchemaVersion(), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if path, err := exec.LookPath("tmux"); err == nil {
		b.TmuxPath = path
		if out, err := exec.CommandContext(ctx, path, "-V").Output(); err == nil {
			b.Tmux = strings.TrimPrefix(strings.TrimSpace(string(out)), "tmux ")
		}
	}
	return b
}

func (c *cli) versionCmd() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Version, commit and schema of this build, and the tmux that it finds", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b := readBuildInfo(cmd.Context())
			if c.json {
				return c.print(b)
			}
			tmux := "not found"
			if b.TmuxPath != "" {
				tmux = strings.TrimSpace(b.Tmux + " (" + b.TmuxPath + ")")
			}
			fmt.Fprintln(c.out, "rig "+buildName())
			table(c.out, [][]string{
				{"commit", b.Commit}, {"schema", fmt.Sprint(b.Schema)}, {"go", b.Go + " " + b.Platform}, {"tmux", tmux},
			})
			return nil
		},
	}
}
