package main

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"rig/engine"
)

// completes reports whether a run is a question of the shell's completion.
func completes(args []string) bool {
	return len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd)
}

// askedWord is one word that a usage line asks for, such as <seat> or [<seat>].
var askedWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[?<[^>]*>…?\]?|\[[a-z|]+\]`) })

// offering gives cmd and every verb below it the names that its usage asks for. Only
// a completion needs them, so no other run pays for it.
func offering(cmd *cobra.Command) {
	use, _, _ := strings.Cut(cmd.Use, " --")
	if asked := askedWord().FindAllString(use, -1); cmd.ValidArgs == nil && cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = func(cmd *cobra.Command, had []string, _ string) ([]string, cobra.ShellCompDirective) {
			switch n := len(asked); {
			case len(had) < n:
				return offered(cmd, strings.Trim(asked[len(had)], "[]<>…"), had)
			case n > 0 && strings.Contains(asked[n-1], "…"):
				return offered(cmd, strings.Trim(asked[n-1], "[]<>…"), had)
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
	}
	for _, flag := range []string{"seat", "seats", "rig", "until", "runtime"} {
		if cmd.Flags().Lookup(flag) == nil {
			continue
		}
		err := cmd.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, had []string, _ string) ([]string, cobra.ShellCompDirective) {
			return offered(cmd, strings.TrimSuffix(flag, "s"), had)
		})
		if err != nil {
			cobra.CompErrorln(err.Error())
		}
	}
	for _, sub := range cmd.Commands() {
		offering(sub)
	}
}

// offered gives what may stand for a word of a usage line. What has no names of its
// own is left to the shell, which offers files.
func offered(cmd *cobra.Command, word string, had []string) ([]string, cobra.ShellCompDirective) {
	switch {
	case word == "until":
		return engine.WaitStates, cobra.ShellCompDirectiveNoFileComp
	case word == "runtime":
		return []string{string(engine.RuntimeClaude), string(engine.RuntimeCodex), string(engine.RuntimeTerminal)}, cobra.ShellCompDirectiveNoFileComp
	case strings.Contains(word, "|") && !strings.Contains(word, " "):
		return strings.Split(word, "|"), cobra.ShellCompDirectiveNoFileComp
	case word == "id":
		word = cmd.Parent().Name()
	}
	read, files := namesOf[word], cobra.ShellCompDirectiveNoFileComp
	switch {
	case word == "spec.yaml | starter | rig":
		read, files = rigNames, cobra.ShellCompDirectiveDefault
	case read == nil:
		return nil, cobra.ShellCompDirectiveDefault
	}
	names, err := onRecord(cmd.Context(), had, read)
	if err != nil {
		return nil, files // a completion is silent about what it cannot read
	}
	return names, files
}

// onRecord reads names, and creates nothing.
func onRecord(ctx context.Context, had []string, read func(engine.Reader, []string) ([]string, error)) ([]string, error) {
	a, err := openApp(appRead)
	if err != nil {
		return nil, err
	}
	defer a.close()
	var names []string
	err = a.deps.Store.Read(ctx, func(r engine.Reader) error {
		var err error
		names, err = read(r, had)
		return err
	})
	return names, err
}

// namesOf are the readers by the word of the usage line, or by the verb whose ids it
// asks for. A tab parts a name from what is said about it.
var namesOf = map[string]func(engine.Reader, []string) ([]string, error){
	"seat": seatNames, "source-seat": seatNames, "source": seatNames, "rig": rigNames, "pod": podNames,
	"discovered-id": foundNames, "op": opNames, "work": workNames,
}

func rigNames(r engine.Reader, _ []string) ([]string, error) {
	rec, err := r.Record()
	var out []string
	for _, x := range rec.Rigs {
		if x.ArchivedAt.IsZero() {
			out = append(out, x.Name)
		}
	}
	return out, err
}

// seatNames gives the seats of all rigs, or of the rig that was named before.
func seatNames(r engine.Reader, had []string) ([]string, error) {
	rec, err := r.Record()
	var out []string
	for _, x := range rec.Rigs {
		for _, s := range rec.Seats {
			if s.RigID == x.ID && x.ArchivedAt.IsZero() && (len(had) == 0 || !slices.ContainsFunc(rec.Rigs, func(o engine.Rig) bool { return o.Name == had[0] && o.ID != x.ID })) {
				out = append(out, engine.Address(s.Pod, s.Member, x.Name)+"\t"+string(s.Runtime))
			}
		}
	}
	return out, err
}

func podNames(r engine.Reader, had []string) ([]string, error) {
	rec, err := r.Record()
	var out []string
	for _, x := range rec.Rigs {
		for _, p := range rec.Pods {
			if len(had) > 0 && x.Name == had[0] && p.RigID == x.ID {
				out = append(out, p.Name+"\t"+plain(p.Label))
			}
		}
	}
	return out, err
}

func foundNames(r engine.Reader, _ []string) ([]string, error) {
	all, err := r.AllDiscovered()
	var out []string
	for _, d := range all {
		if d.Status == "active" {
			out = append(out, d.ID+"\t"+plain(d.SessionName)+" "+string(d.RuntimeHint))
		}
	}
	return out, err
}

// offeredOps is how many operations are offered: the newest.
const offeredOps = 30

func opNames(r engine.Reader, _ []string) ([]string, error) {
	ops, err := r.Operations(engine.OperationFilter{Limit: offeredOps})
	var out []string
	for _, op := range ops {
		out = append(out, op.ID+"\t"+string(op.Verb)+" "+plain(op.Target)+" "+string(op.State))
	}
	return out, err
}

func workNames(r engine.Reader, _ []string) ([]string, error) {
	rec, err := r.Record()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, s := range rec.Seats {
		items, err := r.Work(s.ID)
		if err != nil {
			return nil, err
		}
		for _, it := range items {
			if it.State != "done" {
				out = append(out, it.ID+"\t"+plain(it.Title))
			}
		}
	}
	return out, nil
}
