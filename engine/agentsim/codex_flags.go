package agentsim

import (
	"strings"
)

// codexVersion is the client that the stand-in follows.
const codexVersion = "0.171.0"

// codexOpts is a parsed command line of Codex.
type codexOpts struct {
	verb, target, prompt                   string
	hasPrompt                              bool
	dir, model, approval, sandbox, profile string
	config                                 []string // key=value
	addDirs                                []string
	noDaemon, bypassHooks, yolo, last      bool
	version, help                          bool
}

// codexValue are the options with a value; the others in codexSwitch have none.
var codexValue = map[string]string{
	"-C": "cd", "--cd": "cd", "-m": "model", "--model": "model", "-a": "approval", "--ask-for-approval": "approval",
	"-s": "sandbox", "--sandbox": "sandbox", "-p": "profile", "--profile": "profile", "-c": "config", "--config": "config",
	"--add-dir": "add-dir", "--enable": "enable", "--disable": "disable", "-i": "image", "--image": "image",
}

var codexSwitch = map[string]bool{
	"--no-daemon": true, "--dangerously-bypass-hook-trust": true, "--dangerously-bypass-approvals-and-sandbox": true, "--yolo": true,
	"--last": true, "--all": true, "--version": true, "-V": true, "--help": true, "-h": true, "--search": true, "--no-alt-screen": true,
	"--full-auto": true, "--oss": true, "--strict-config": true,
}

// parseCodex reads a command line; the error text is the client's own and the
// exit code that goes with it is 2.
func parseCodex(args []string) (codexOpts, error) {
	var o codexOpts
	var words []string
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a == "--" {
			words = append(words, args[i+1:]...)
			break
		}
		if !strings.HasPrefix(a, "-") || a == "-" {
			words = append(words, a)
			continue
		}
		name, val, inline := strings.Cut(a, "=")
		if !strings.HasPrefix(a, "--") {
			name, val, inline = a, "", false
		}
		if codexSwitch[name] {
			o.turnOn(name)
			continue
		}
		field, ok := codexValue[name]
		if !ok {
			return o, says("error: unexpected argument '%s' found\n\n  tip: to pass '%s' as a value, use '-- %s'\n\nUsage: codex [OPTIONS] [PROMPT]\n       codex [OPTIONS] <COMMAND> [ARGS]\n\nFor more information, try '--help'.", a, a, a)
		}
		if !inline {
			if i+1 >= len(args) {
				return o, says("error: a value is required for '%s <VALUE>' but none was supplied\n\nFor more information, try '--help'.", name)
			}
			i++
			val = args[i]
		}
		if err := o.set(field, val); err != nil {
			return o, err
		}
	}
	o.words(words)
	return o, nil
}

func (o *codexOpts) turnOn(name string) {
	switch name {
	case "--no-daemon":
		o.noDaemon = true
	case "--dangerously-bypass-hook-trust":
		o.bypassHooks = true
	case "--dangerously-bypass-approvals-and-sandbox", "--yolo":
		o.yolo = true
	case "--last":
		o.last = true
	case "--version", "-V":
		o.version = true
	case "--help", "-h":
		o.help = true
	}
}

func (o *codexOpts) set(field, val string) error {
	switch field {
	case "cd":
		o.dir = val
	case "model":
		o.model = val
	case "approval":
		if val != "on-request" && val != "never" {
			return codexBadValue(val, "--ask-for-approval <APPROVAL_POLICY>", "on-request, never")
		}
		o.approval = val
	case "sandbox":
		if val != "read-only" && val != "workspace-write" && val != "danger-full-access" {
			return codexBadValue(val, "--sandbox <SANDBOX_MODE>", "read-only, workspace-write, danger-full-access")
		}
		o.sandbox = val
	case "profile":
		o.profile = val
	case "config":
		o.config = append(o.config, val)
	case "enable":
		o.config = append(o.config, "features."+val+"=true")
	case "disable":
		o.config = append(o.config, "features."+val+"=false")
	case "add-dir":
		o.addDirs = append(o.addDirs, val)
	}
	return nil
}

func codexBadValue(val, option, possible string) error {
	return says("error: invalid value '%s' for '%s'\n  [possible values: %s]\n\nFor more information, try '--help'.", val, option, possible)
}

func (o *codexOpts) words(words []string) {
	if len(words) == 0 {
		return
	}
	switch words[0] {
	case "resume", "fork", "archive", "unarchive":
		o.verb, words = words[0], words[1:]
		if !o.last && len(words) > 0 {
			o.target, words = words[0], words[1:]
		}
	}
	if len(words) > 0 {
		o.prompt, o.hasPrompt = words[0], true
	}
}

// codexHelp is a short form of the client's help.
const codexHelp = `Codex CLI (stand-in)

Usage: codex [OPTIONS] [PROMPT]
       codex [OPTIONS] <COMMAND> [ARGS]

Commands:
  resume     Resume a previous interactive session
  fork       Fork a previous interactive session
  archive    Archive a saved session by id or session name
  unarchive  Unarchive a saved session by id or session name

Options:
  -c, --config <key=value>       Override a configuration value
  -m, --model <MODEL>            Model the agent should use
  -p, --profile <NAME>           Configuration profile
  -s, --sandbox <SANDBOX_MODE>   read-only, workspace-write, danger-full-access
  -a, --ask-for-approval <POLICY>  on-request, never
  -C, --cd <DIR>                 Use the directory as the working root
      --add-dir <DIR>            More directories that are writable
      --no-daemon                Run the session in this process
      --dangerously-bypass-hook-trust  Run hooks without their review
  -h, --help                     Print help
  -V, --version                  Print version
`
