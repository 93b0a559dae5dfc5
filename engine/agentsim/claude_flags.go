package agentsim

import (
	"slices"
	"strings"
)

// claudeVersion is the client that the stand-in follows.
const claudeVersion = "2.1.332"

// claudeOpts is a parsed command line of Claude Code.
type claudeOpts struct {
	sessionID, resume, settings, mode, model, effort, name, format string
	addDirs                                                        []string
	hasSession, hasResume, cont, fork, skip, print, json           bool
	version, help                                                  bool
	prompt                                                         string
	hasPrompt                                                      bool
	agents                                                         bool
	flags                                                          []string // repeated by the farewell
}

// claudeArity tells how many values an option takes: 0 none, 1 one, 2 an
// optional one, 3 any number.
var claudeArity = map[string]int{
	"--session-id": 1, "--resume": 2, "--fork-session": 0, "--settings": 1, "--permission-mode": 1,
	"--model": 1, "--effort": 1, "--name": 1, "--add-dir": 3, "--dangerously-skip-permissions": 0,
	"--print": 0, "--continue": 0, "--version": 0, "--help": 0, "--output-format": 1, "--json": 0,
	"--input-format": 1, "--verbose": 0, "--debug": 2, "--append-system-prompt": 1, "--system-prompt": 1,
	"--allowedTools": 3, "--allowed-tools": 3, "--disallowedTools": 3, "--disallowed-tools": 3,
	"--mcp-config": 3, "--strict-mcp-config": 0, "--fallback-model": 1, "--setting-sources": 1,
	"--plugin-dir": 1, "--agents": 1, "--agent": 1, "--ide": 0, "--betas": 3, "--max-turns": 1,
	"--allow-dangerously-skip-permissions": 0, "--no-session-persistence": 0,
}

var claudeShort = map[string]string{"-p": "--print", "-c": "--continue", "-r": "--resume", "-n": "--name", "-v": "--version", "-h": "--help", "-d": "--debug"}

// parseClaude reads a command line; the error text is the client's own.
func parseClaude(args []string) (claudeOpts, error) {
	var o claudeOpts
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a == "--" {
			o.positional(args[i+1:]...)
			break
		}
		if !strings.HasPrefix(a, "-") || a == "-" {
			o.positional(a)
			continue
		}
		name, val, inline := strings.Cut(a, "=")
		if long, ok := claudeShort[name]; ok {
			name = long
		}
		arity, ok := claudeArity[name]
		if !ok {
			return o, says("error: unknown option '%s'", a)
		}
		vals, used := claudeValues(arity, val, inline, args[i+1:])
		if arity == 1 && len(vals) == 0 {
			return o, says("error: option '%s <value>' argument missing", name)
		}
		i += used
		if err := o.set(name, vals); err != nil {
			return o, err
		}
	}
	return o, nil
}

func claudeValues(arity int, val string, inline bool, rest []string) (vals []string, used int) {
	if inline {
		return []string{val}, 0
	}
	for _, r := range rest {
		if arity == 0 || arity != 1 && strings.HasPrefix(r, "-") || arity != 3 && len(vals) == 1 {
			break
		}
		vals = append(vals, r)
		used++
	}
	return vals, used
}

func (o *claudeOpts) positional(words ...string) {
	for _, w := range words {
		switch {
		case w == "agents" && !o.hasPrompt && !o.agents:
			o.agents = true
		case !o.hasPrompt:
			o.prompt, o.hasPrompt = w, true
		}
	}
}

func (o *claudeOpts) set(name string, vals []string) error {
	val := strings.Join(vals, " ")
	switch name {
	case "--session-id":
		o.sessionID, o.hasSession = val, true
	case "--resume":
		o.resume, o.hasResume = val, true
	case "--continue":
		o.cont = true
	case "--fork-session":
		o.fork = true
	case "--settings":
		o.settings = val
	case "--permission-mode":
		return o.setMode(val)
	case "--model":
		o.model = val
	case "--effort":
		o.effort = val
	case "--name":
		o.name = val
	case "--add-dir":
		o.addDirs = append(o.addDirs, vals...)
	case "--dangerously-skip-permissions":
		o.skip = true
	case "--print":
		o.print = true
	case "--output-format":
		o.format = val
	case "--json":
		o.json = true
	case "--version":
		o.version = true
	case "--help":
		o.help = true
	}
	if !slices.Contains([]string{"--session-id", "--resume", "--continue", "--fork-session", "--print", "--name"}, name) {
		o.flags = append(o.flags, name)
		o.flags = append(o.flags, vals...)
	}
	return nil
}

func (o *claudeOpts) setMode(val string) error {
	switch val {
	case "manual", "default", "acceptEdits", "auto", "bypassPermissions", "plan", "dontAsk":
		o.mode = val
		o.flags = append(o.flags, "--permission-mode", val)
		return nil
	}
	return says("error: option '--permission-mode <mode>' argument '%s' is invalid. Allowed choices are acceptEdits, auto, bypassPermissions, manual, dontAsk, plan.", val)
}

// check finds contradictions that need no file; the texts are the client's own.
func (o *claudeOpts) check() error {
	if o.hasSession && !isUUID(o.sessionID) {
		return says("Error: Invalid session ID. Must be a valid UUID.")
	}
	if o.hasSession && (o.hasResume || o.cont) && !o.fork {
		return says("Error: --session-id with --continue or --resume also needs --fork-session.")
	}
	return nil
}

// claudeHelp is a short form of the client's help.
const claudeHelp = `Usage: claude [options] [command] [prompt]

Claude Code (stand-in) - starts an interactive session by default, use -p/--print for
non-interactive output

Options:
  --add-dir <directories...>          More directories Claude can access
  -c, --continue                      Continue the most recent conversation here
  --dangerously-skip-permissions      Bypass all permission checks
  --effort <level>                    low, medium, high, xhigh, max
  --fork-session                      With --resume: a new session id for the copy
  -h, --help                          Display help for command
  --model <model>                     Model for the current session
  -n, --name <name>                   Name of the session
  --output-format <format>            text or json, with --print
  --permission-mode <mode>            acceptEdits, auto, bypassPermissions, manual, dontAsk, plan
  -p, --print                         Print the response and exit
  -r, --resume [value]                Resume a conversation by session id or title
  --session-id <uuid>                 Use this session id
  --settings <file-or-json>           Additional settings
  -v, --version                       Output the version number

Commands:
  agents                              List background and interactive sessions
`
