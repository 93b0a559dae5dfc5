package main

import (
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"rig/engine"
)

// service is a file that makes this account's service manager run `rig watch`,
// and the command that switches it on.
type service struct {
	path, text, enable string
}

// watchService is the service for this system. The variables that say which
// installation is meant go into it.
func watchService(p paths) service {
	env := settingEnv("PATH")
	if runtime.GOOS == "darwin" {
		return launchAgent(p, env)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "[Unit]\nDescription=rig watch: samples, compaction and snapshots of rigs while no console is open\n\n[Service]\nExecStart=%s watch\n", unitQuote(p.self))
	for _, kv := range env {
		fmt.Fprintf(&b, "Environment=%s\n", unitQuote(kv))
	}
	// Only the watcher itself ends with the service: what it started goes on.
	b.WriteString("KillMode=process\nRestart=on-failure\n\n[Install]\nWantedBy=default.target\n")
	return service{
		path: filepath.Join(xdg("XDG_CONFIG_HOME", ".config"), "systemd", "user", "rig-watch.service"), text: b.String(),
		enable: "systemctl --user daemon-reload && systemctl --user enable --now rig-watch",
	}
}

// unitQuote writes a word as systemd reads it.
func unitQuote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "$", "$$", "\n", `\n`).Replace(s) + `"`
}

func launchAgent(p paths, env []string) service {
	esc := func(s string) string {
		var b strings.Builder
		if err := xml.EscapeText(&b, []byte(s)); err != nil {
			return ""
		}
		return b.String()
	}
	var b strings.Builder
	b.WriteString(xml.Header + `<plist version="1.0"><dict><key>Label</key><string>rig.watch</string><key>ProgramArguments</key><array>`)
	fmt.Fprintf(&b, "<string>%s</string><string>watch</string></array><key>EnvironmentVariables</key><dict>", esc(p.self))
	for _, kv := range env {
		k, v, _ := strings.Cut(kv, "=")
		fmt.Fprintf(&b, "<key>%s</key><string>%s</string>", esc(k), esc(v))
	}
	b.WriteString("</dict><key>AbandonProcessGroup</key><true/><key>RunAtLoad</key><true/><key>KeepAlive</key><true/></dict></plist>\n")
	home, err := os.UserHomeDir()
	if err != nil {
		home = "/"
	}
	path := filepath.Join(home, "Library", "LaunchAgents", "rig.watch.plist")
	return service{path: path, text: b.String(), enable: "launchctl load -w " + engine.CommandLine(path)}
}

func (c *cli) installWatch(dry bool) error {
	p, err := findPaths()
	if err != nil {
		return err
	}
	s := watchService(p)
	if !dry {
		if old, err := os.ReadFile(s.path); err == nil && string(old) != s.text {
			return engine.Errorf(engine.CodeConflict, "another service is there already").On("watch", s.path).WithHint("look at it (--dry-run prints what would be there), and remove it first")
		} else if err != nil {
			if err := writeNew(s.path, []byte(s.text)); err != nil {
				return engine.Errorf(engine.CodeUnavailable, "the service cannot be written").On("watch", s.path).Wrap(err).WithHint("make the folder writable")
			}
		}
	}
	if c.json {
		return c.print(map[string]any{"ok": true, "dry_run": dry, "path": s.path, "text": s.text, "enable": s.enable})
	}
	if dry {
		fmt.Fprintf(c.out, "# %s\n%s# then: %s\nNo changes were made.\n", s.path, s.text, s.enable)
		return nil
	}
	fmt.Fprintf(c.out, "written: %s\nswitch it on: %s\n", s.path, s.enable)
	return nil
}
