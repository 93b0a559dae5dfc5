package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"rig/engine"
	"rig/tui"
)

func (c *cli) configCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "config", Short: "Every setting with its value and where that comes from; set, unset, check", Args: cobra.NoArgs,
		Long: "Settings come from config.yaml; a variable of the environment goes before it. Without a verb: the list.\n" +
			"set and unset change the file and nothing else, and only if the whole file is valid afterwards.",
		RunE: func(*cobra.Command, []string) error { return c.configList() },
	}
	list := &cobra.Command{
		Use: "list", Aliases: []string{"show"}, Short: "Every setting: value, source, meaning", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return c.configList() },
	}
	path := &cobra.Command{
		Use: "path", Short: "Where the file is", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			p, err := findPaths()
			if err != nil {
				return err
			}
			if c.json {
				return c.print(map[string]any{"ok": true, "path": p.config, "home": p.home})
			}
			fmt.Fprintln(c.out, p.config)
			return nil
		},
	}
	cmd.AddCommand(list, c.configGetCmd(), c.configSetCmd(), c.configUnsetCmd(), path, c.configCheckCmd(), c.configKeysCmd())
	return cmd
}

// configFile reads the settings in force, and says when the file has an error:
// the list is shown all the same, so that it can be corrected.
func (c *cli) configFile() (list []setting, path string, fault error) {
	p, err := findPaths()
	if err != nil {
		return nil, "", err
	}
	root, fault := readNode(p.config)
	if fault != nil {
		root = nil
	}
	list = settingsInForce(p.config, root)
	if conf, err := readConfig(p.config); fault == nil && err != nil {
		fault = err
	} else if err == nil {
		fault = conf.checkKeys()
	}
	return list, p.config, fault
}

func (c *cli) configList() error {
	list, path, fault := c.configFile()
	if list == nil {
		return fault
	}
	if fault != nil {
		c.code = 1
	}
	if c.json {
		doc := map[string]any{"ok": fault == nil, "path": path, "settings": list}
		if fault != nil {
			doc["code"], doc["message"], doc["hint"] = engine.CodeOf(fault), fault.Error(), hintOf(fault)
		}
		return c.print(doc)
	}
	fmt.Fprintf(c.out, "%s\n\n", path)
	rows := [][]string{{"SETTING", "VALUE", "FROM", "WHAT"}}
	for _, s := range list {
		rows = append(rows, []string{s.Key, plain(short(s.Value, 40)), strings.TrimPrefix(s.Source, path+":"), s.Help})
		if s.Source != "default" && !strings.HasPrefix(s.Source, "env") {
			rows[len(rows)-1][2] = "line " + rows[len(rows)-1][2]
		}
	}
	table(c.out, rows)
	if fault != nil {
		fmt.Fprintf(c.err, "\nrig: %s\n  → %s\n", plain(fault.Error()), hintOf(fault))
	}
	return nil
}

// short cuts a text to n characters.
func short(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

func (c *cli) configGetCmd() *cobra.Command {
	return &cobra.Command{
		Use: "get <setting>", Short: "The value that is in force", Args: cobra.ExactArgs(1), ValidArgs: settingNames(),
		RunE: func(_ *cobra.Command, args []string) error {
			list, _, fault := c.configFile()
			if fault != nil {
				return fault
			}
			s, err := findSetting(list, args[0])
			if err != nil {
				return err
			}
			if c.json {
				return c.print(map[string]any{"ok": true, "setting": s})
			}
			fmt.Fprintln(c.out, plain(s.Value))
			return nil
		},
	}
}

func settingNames() []string {
	var out []string
	for _, s := range settings() {
		out = append(out, s.Key)
	}
	return out
}

func (c *cli) configSetCmd() *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use: "set <setting> <value>…", Short: "Write a value into the file", Args: cobra.MinimumNArgs(2), ValidArgs: settingNames(),
		Example: "  rig config set launch.parallel 8\n  rig config set claude.command -- claude --permission-mode plan\n  rig config set keys.handover ctrl+h",
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.configEdit(cmd.Context(), args[0], args[1:], dry)
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "say what would be written, and write nothing")
	return cmd
}

func (c *cli) configUnsetCmd() *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use: "unset <setting>", Short: "Take a value out of the file: the default holds again", Args: cobra.ExactArgs(1), ValidArgs: settingNames(),
		RunE: func(cmd *cobra.Command, args []string) error { return c.configEdit(cmd.Context(), args[0], nil, dry) },
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "say what would be written, and write nothing")
	return cmd
}

func (c *cli) configEdit(ctx context.Context, key string, words []string, dry bool) error {
	p, err := findPaths()
	if err != nil {
		return err
	}
	e, err := changeConfig(ctx, p.config, key, words, dry)
	if err != nil {
		return err
	}
	if c.json {
		return c.print(map[string]any{"ok": true, "dry_run": dry, "path": e.path, "setting": key, "before": e.before, "after": e.after})
	}
	fmt.Fprintf(c.out, "%s: %s → %s\n", key, plain(cmp.Or(e.before, "(default)")), plain(cmp.Or(e.after, "(default)")))
	if dry {
		fmt.Fprintln(c.out, "No changes were made.")
	} else {
		fmt.Fprintf(c.out, "written to %s; consoles that are open take it up when they are opened again\n", e.path)
	}
	return nil
}

func (c *cli) configCheckCmd() *cobra.Command {
	return &cobra.Command{
		Use: "check", Short: "Whether the file is valid, the keys of the console too", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, path, fault := c.configFile()
			if fault != nil {
				return fault
			}
			if c.json {
				return c.print(map[string]any{"ok": true, "path": path})
			}
			fmt.Fprintln(c.out, path+": valid")
			return nil
		},
	}
}

func (c *cli) configKeysCmd() *cobra.Command {
	return &cobra.Command{
		Use: "keys", Short: "Every action of the console with its keys, to be rebound in the file", Args: cobra.NoArgs,
		Long: "An action is rebound by `rig config set keys.ACTION KEY…`. A key that would mean two things in one place is refused.",
		RunE: func(*cobra.Command, []string) error {
			p, err := findPaths()
			if err != nil {
				return err
			}
			conf, err := readConfig(p.config)
			if err != nil {
				return err
			}
			list, err := tui.KeyTable(conf.keys())
			if err != nil {
				return err
			}
			if c.json {
				return c.print(map[string]any{"ok": true, "keys": list})
			}
			rows, group := [][]string{}, ""
			for _, k := range list {
				if k.Group != group {
					group = k.Group
					rows = append(rows, []string{group})
				}
				mark := ""
				if k.Rebound {
					mark = " (yours; default " + strings.Join(k.Default, " ") + ")"
				}
				rows = append(rows, []string{"  " + k.Action, orDash(strings.Join(k.Keys, " ")), k.Help + mark})
			}
			table(c.out, rows)
			return nil
		},
	}
}
