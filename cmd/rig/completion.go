package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rig/engine"
)

// shells are those that rig prints a completion for, with the way it is loaded.
var shells = map[string]string{
	"bash":       "source <(rig completion bash)",
	"fish":       "rig completion fish | source",
	"powershell": "rig completion powershell | Out-String | Invoke-Expression",
	"zsh":        "source <(rig completion zsh)",
}

// completionCmd is our own and not cobra's, which takes any word for a shell and
// whose bash script stops in the middle of a line without the package bash-completion.
func (c *cli) completionCmd() *cobra.Command {
	names := slices.Sorted(maps.Keys(shells))
	long := "It offers verbs, flags, and the names of what is on record. `rig setup` installs it for your shell. For the shell that runs now:"
	for _, name := range names {
		long += fmt.Sprintf("\n\n      %s", shells[name])
	}
	return &cobra.Command{
		Use: "completion <shell>", Short: "Print the completion script of a shell: " + strings.Join(names, ", "), Long: long, Args: cobra.ExactArgs(1), ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			if shells[args[0]] == "" {
				return engine.Errorf(engine.CodeInvalid, "no completion for %q", args[0]).WithHint("one of %s", strings.Join(names, ", "))
			}
			return writeCompletion((&cli{out: c.out, err: c.err}).root(), args[0], c.out)
		},
	}
}

// writeCompletion writes the completion script of a shell; root has every verb.
func writeCompletion(root *cobra.Command, shell string, w io.Writer) error {
	switch shell {
	case "zsh":
		return root.GenZshCompletion(w)
	case "fish":
		return root.GenFishCompletion(w, true)
	case "powershell":
		return root.GenPowerShellCompletionWithDesc(w)
	}
	var b bytes.Buffer
	if err := root.GenBashCompletionV2(&b, true); err != nil {
		return err
	}
	script := b.String()
	for old, with := range bashRepairs {
		if !strings.Contains(script, old) {
			return engine.Errorf(engine.CodeInternal, "the completion script has no %q to repair", old).WithHint("this is a fault of the build")
		}
		script = strings.ReplaceAll(script, old, with)
	}
	_, err := io.WriteString(w, script)
	return err
}

// bashRepairs change two things in cobra's script: without the package
// bash-completion it takes the line apart by itself, and the @ in the name of a seat
// ends no word.
var bashRepairs = map[string]string{
	"-n =: ||": "-n =:@ ||",
	`    __rig_handle_special_char "$cur" =` + "\n": `    __rig_handle_special_char "$cur" =` + "\n" + `    if [[ $cur == *@* && $COMP_WORDBREAKS == *@* ]]; then # readline keeps what stands before the @
        local before=${cur%%@*} i
        for i in "${!COMPREPLY[@]}"; do COMPREPLY[i]=${COMPREPLY[i]#"$before"}; done
    fi
`,
	`    _get_comp_words_by_ref "$@" cur prev words cword` + "\n": `    if declare -F _get_comp_words_by_ref >/dev/null 2>&1; then
        _get_comp_words_by_ref "$@" cur prev words cword
        return
    fi
    local line=${COMP_LINE:0:COMP_POINT}
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    cword=$((${#words[@]} - 1))
    cur=${words[cword]}
    prev=
    ((cword > 0)) && prev=${words[cword - 1]}
    return 0
`,
}
