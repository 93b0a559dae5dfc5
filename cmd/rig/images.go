package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rig/engine"
	"rig/engine/image"
	"rig/engine/packet"
	"rig/specs"
)

// images wires the library of agent images: below RIG_HOME, and read from the
// working folder's .rig too. References are searched in the working folder, in
// the configured roots, and where the rigs on record have their specs.
func (a *app) images() engine.Images {
	o := image.Options{
		Roots: []image.Root{{Label: image.Home, Path: filepath.Join(a.paths.home, "agent-images")}},
		YAML:  specs.Documents,
	}
	if dir, err := os.Getwd(); err == nil && dir != "/" {
		o.Roots = append(o.Roots, image.Root{Label: image.Workspace, Path: filepath.Join(dir, ".rig", "agent-images")})
		o.SpecRoots = append(o.SpecRoots, dir)
	}
	o.SpecRoots = append(o.SpecRoots, a.conf.Images.SpecRoots...)
	return image.New(o)
}

// redactPrompt is what opening prompts pass before they become arguments.
func redactPrompt(text string) string {
	out, _ := packet.Clean(text)
	return out
}

// redactScreen is what the rows of a pane pass before they are kept.
func redactScreen(rows []string) []string {
	out, _ := packet.RedactLines(rows, 0)
	return out
}

func (c *cli) imageCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "agent-image", Aliases: []string{"image"}, Short: "Conversations kept as starting points for new seats", Args: cobra.NoArgs,
		Long: "An agent image points to a conversation that new seats can be forked from. Images that something needs are protected: pinned ones,\nthose that a spec or a seat refers to, and their ancestors and descendants.",
	}
	cmd.AddCommand(c.imageCreateCmd(), c.imageListCmd(), c.imageShowCmd(), c.imagePreviewCmd(), c.imagePinCmd("pin", engine.VerbImagePin, "Protect an image from prune and delete"),
		c.imagePinCmd("unpin", engine.VerbImageUnpin, "Take a pin away"), c.imageDeleteCmd(), c.imagePruneCmd(), c.imageSyncCmd())
	return cmd
}

func (c *cli) imageCreateCmd() *cobra.Command {
	var m mutation
	var args engine.ImageArgs
	cmd := &cobra.Command{
		Use: "create <source-seat> --name <name>", Short: "Keep a seat's conversation as an image", Args: cobra.ExactArgs(1),
		RunE: c.applies(&m, engine.VerbImageCreate, func(a []string) (string, any) { return a[0], args }),
	}
	m.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&args.Name, "name", "", "name of the image")
	f.StringVar(&args.Version, "image-version", "1", "version of the image")
	f.StringVar(&args.Notes, "notes", "", "what it is good for")
	f.Int64Var(&args.EstimatedTokens, "estimated-tokens", 0, "size of the conversation in tokens (default: the seat's last sample)")
	f.StringSliceVar(&args.Lineage, "lineage", nil, "`image` that this one descends from")
	f.StringArrayVar(&args.Files, "file", nil, "keep a text beside it, as `path[:role[:summary]]`")
	f.BoolVar(&args.Pin, "pin", false, "pin it at once")
	if err := cmd.MarkFlagRequired("name"); err != nil { // the flag is defined above
		panic(err)
	}
	return cmd
}

func (c *cli) imagePinCmd(word string, verb engine.Verb, short string) *cobra.Command {
	var m mutation
	cmd := &cobra.Command{
		Use: word + " <name or id>", Short: short, Args: cobra.ExactArgs(1),
		RunE: c.applies(&m, verb, func(a []string) (string, any) { return a[0], struct{}{} }),
	}
	m.flags(cmd)
	return cmd
}

func (c *cli) imageDeleteCmd() *cobra.Command {
	var m mutation
	var args engine.ImageArgs
	cmd := &cobra.Command{
		Use: "delete <name or id>", Short: "Delete an image that nothing protects", Args: cobra.ExactArgs(1),
		RunE: c.applies(&m, engine.VerbImageDelete, func(a []string) (string, any) { return a[0], args }),
	}
	m.flags(cmd)
	cmd.Flags().BoolVar(&args.Force, "force", false, "delete it also when it is protected; what refers to it can then start nothing")
	return cmd
}

func (c *cli) imagePruneCmd() *cobra.Command {
	var m mutation
	var args engine.ImageArgs
	cmd := &cobra.Command{
		Use: "prune", Short: "Delete every image that nothing protects", Args: cobra.NoArgs,
		RunE: c.applies(&m, engine.VerbImagePrune, func(_ []string) (string, any) { return "", args }),
	}
	m.flags(cmd)
	cmd.Flags().BoolVar(&args.Force, "force", false, "delete the protected ones too: all of them")
	return cmd
}

func (c *cli) imageListCmd() *cobra.Command {
	var runtime string
	cmd := &cobra.Command{
		Use: "list", Short: "Every image, with what protects it", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := c.openLibrary(cmd)
			if err != nil {
				return err
			}
			shown := []engine.ImageView{}
			for _, i := range l.Images {
				if runtime == "" || string(i.Runtime) == runtime {
					shown = append(shown, i)
				}
			}
			if c.json {
				return c.print(map[string]any{"ok": true, "images": shown, "errors": l.Faults})
			}
			c.imageTable(shown)
			c.imageFaults(l.Faults)
			return nil
		},
	}
	cmd.Flags().StringVar(&runtime, "runtime", "", "only those of this runtime")
	return cmd
}

func (c *cli) openLibrary(cmd *cobra.Command) (engine.ImageLibrary, error) {
	a, err := openApp(appRead)
	if err != nil {
		return engine.ImageLibrary{}, err
	}
	defer a.close()
	return a.engine().Images(cmd.Context())
}

func (c *cli) imageTable(list []engine.ImageView) {
	if len(list) == 0 {
		fmt.Fprintln(c.out, "no agent image; `rig agent-image create <seat> --name <name>` keeps one")
		return
	}
	rows := [][]string{{"NAME", "VERSION", "RUNTIME", "FORKS", "TOKENS", "ROOT", "PROTECTED BY"}}
	for _, i := range list {
		why := []string{}
		for _, p := range i.Protected {
			why = append(why, p.Code)
		}
		name := i.Name
		if i.Shadowed {
			name += " (hidden by the workspace's)"
		}
		if i.Link {
			rows = append(rows, []string{name, orDash(i.Version), "a link", "", "", i.Root, "not followed"})
			continue
		}
		rows = append(rows, []string{
			name, "v" + i.Version, string(i.Runtime), strconv.FormatInt(i.Stats.ForkCount, 10), aboutTokens(i.EstimatedTokens), i.Root,
			orDash(strings.Join(why, ", ")),
		})
	}
	table(c.out, rows)
}

// aboutTokens writes the size of a conversation; "?" is not known.
func aboutTokens(n int64) string {
	if n == 0 {
		return "?"
	}
	return "~" + strconv.FormatInt(n, 10)
}

func (c *cli) imageFaults(list []engine.ImageFault) {
	for _, f := range list {
		fmt.Fprintf(c.err, "%s: %s [%s]\n", plain(f.Source), plain(f.Error), f.Code)
	}
}

func (c *cli) imageShowCmd() *cobra.Command {
	return &cobra.Command{
		Use: "show <name or id>", Short: "One image, with its files and statistics", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := openApp(appRead)
			if err != nil {
				return err
			}
			defer a.close()
			v, err := a.engine().Image(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if c.json {
				return c.print(map[string]any{"ok": true, "image": v})
			}
			table(c.out, imageRows(v))
			return nil
		},
	}
}

// imageRows are the facts of an image, for people. They hold no native id.
func imageRows(v engine.ImageView) [][]string {
	rows := [][]string{
		{"Name", v.Name},
		{"Version", orDash(v.Version)},
		{"Id", v.ID},
		{"Path", plain(v.Dir)},
	}
	if v.Link {
		return append(rows, []string{"Link", "a symbolic link stands here; it is not followed, and delete removes the link alone"})
	}
	used := "never"
	if !v.Stats.LastUsedAt.IsZero() {
		used = v.Stats.LastUsedAt.UTC().Format(time.RFC3339)
	}
	pinned := "no"
	if v.Pinned {
		pinned = "since " + v.PinnedAt.UTC().Format(time.RFC3339)
	}
	rows = append(rows, [][]string{
		{"Runtime", strings.TrimSpace(string(v.Runtime) + " " + v.Model)},
		{"Source", plain(v.SourceSeat) + "  (" + v.Parent.String() + ")"},
		{"Directory", plain(v.SourceCwd)},
		{"Created", v.CreatedAt.UTC().Format(time.RFC3339) + " by " + orDash(v.CreatedBy)},
		{"Captured at", fmt.Sprintf("%d bytes of its transcript", v.Capture.Length)},
		{"Tokens", aboutTokens(v.EstimatedTokens)},
		{"Pinned", pinned},
		{"Forks", strconv.FormatInt(v.Stats.ForkCount, 10) + ", last used " + used},
		{"Size", strconv.FormatInt(v.Stats.SizeBytes, 10) + " bytes"},
		{"Lineage", orDash(plain(strings.Join(v.Lineage, ", ")))},
	}...)
	for _, f := range v.Files {
		size := strconv.FormatInt(f.Bytes, 10) + " bytes"
		if f.Bytes < 0 {
			size = "MISSING"
		}
		rows = append(rows, []string{"File", plain(f.Path) + "  " + plain(f.Role) + "  " + size + "  " + plain(f.Summary)})
	}
	if v.Notes != "" {
		rows = append(rows, []string{"Notes", plain(v.Notes)})
	}
	for _, p := range v.Protected {
		rows = append(rows, []string{"Protected", plain(p.String())})
	}
	if len(v.Protected) == 0 {
		rows = append(rows, []string{"Protected", "by nothing: prune removes it"})
	}
	return rows
}

func (c *cli) imagePreviewCmd() *cobra.Command {
	return &cobra.Command{
		Use: "preview <name or id>", Short: "What a fork of it starts from, and a spec that does it", Args: cobra.ExactArgs(1),
		Long: "What is printed is a rig spec, with the facts of the image as comments: save it and `rig up` it.",
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := openApp(appRead)
			if err != nil {
				return err
			}
			defer a.close()
			v, err := a.engine().PreviewImage(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if c.json {
				return c.print(map[string]any{"ok": true, "image": v.ImageView, "source": v.Source, "starter": v.Starter})
			}
			var facts strings.Builder
			table(&facts, append(imageRows(v.ImageView), []string{"Since then", plain(v.Source.Why)}))
			for _, line := range strings.Split(strings.TrimRight(facts.String(), "\n"), "\n") {
				fmt.Fprintln(c.out, "# "+line)
			}
			fmt.Fprint(c.out, v.Starter)
			return nil
		},
	}
}

func (c *cli) imageSyncCmd() *cobra.Command {
	return &cobra.Command{
		Use: "sync", Short: "Read the library and the discovery roots anew, and say what is there", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := c.openLibrary(cmd)
			if err != nil {
				return err
			}
			if c.json {
				return c.print(map[string]any{
					"ok": true, "count": len(l.Images), "entries": l.Images, "errors": l.Faults, "roots": l.Roots,
					"spec_roots": l.SpecRoots, "specs_read": l.SpecsRead, "references": l.References, "unread_specs": l.Unread,
				})
			}
			for _, r := range l.Roots {
				state := "not there"
				if r.Exists {
					state = "read"
				}
				fmt.Fprintf(c.out, "%s  %s  %s\n", r.Label, plain(r.Path), state)
			}
			fmt.Fprintf(c.out, "%s, %s in %s below %s\n", engine.Counted(len(l.Images), "image"), engine.Counted(l.References, "reference"), engine.Counted(l.SpecsRead, "spec"), plain(strings.Join(l.SpecRoots, ", ")))
			for _, u := range l.Unread {
				fmt.Fprintf(c.err, "%s: %s; it counts as a reference\n", plain(u.File), plain(u.Why))
			}
			c.imageFaults(l.Faults)
			return nil
		},
	}
}

// receiptExtra prints what a receipt says beside its seats.
func (c *cli) receiptExtra(extra map[string]any) {
	c.restoreExtra(extra)
	if made, ok := extra["snapshot"].(map[string]any); ok {
		fmt.Fprintf(c.out, "  snapshot %v  %v\n", made["id"], made["status"])
	}
	if note, ok := extra["note"].(string); ok {
		fmt.Fprintln(c.out, "  "+plain(note))
	}
	for _, id := range lines(extra["deleted"]) {
		fmt.Fprintln(c.out, "  deleted "+id)
	}
	var kept []struct {
		Image   string                   `json:"image"`
		Reasons []engine.ImageProtection `json:"reasons"`
	}
	if b, err := json.Marshal(extra["protected"]); err == nil && json.Unmarshal(b, &kept) == nil {
		for _, k := range kept {
			fmt.Fprintf(c.out, "  kept %s: %s\n", k.Image, plain(k.Reasons[0].String()))
		}
	}
	var img struct {
		ID     string `json:"id"`
		Path   string `json:"path"`
		Pinned bool   `json:"pinned"`
	}
	b, err := json.Marshal(extra["image"])
	if err != nil || json.Unmarshal(b, &img) != nil || img.ID == "" {
		return
	}
	word := "not pinned"
	if img.Pinned {
		word = "pinned"
	}
	fmt.Fprintln(c.out, strings.TrimRight("  "+img.ID+"  "+word+"  "+plain(img.Path), " "))
}
