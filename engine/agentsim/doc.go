// Package agentsim holds stand-ins for two terminal agents, Claude Code 2.1.332
// and Codex 0.171.0: programs that behave towards a terminal, the file system
// and their hooks as the real clients were seen to behave, without a model and
// without a network. Tests and the demo start them where a person would have
// the real ones.
//
// What a stand-in answers is scripted by the text sent to it (see script.go);
// without a directive the answer is built only from the conversation the
// process holds, so an answer that knows a fact proves that the fact was there.
//
// Variables of the environment tune a stand-in; times are in milliseconds:
//
//	AGENTSIM_START_MS         start-up (20)
//	AGENTSIM_EARLY_KEYS=lost  keys of the first 200 ms are lost
//	AGENTSIM_NOTIFY_MS        Claude: the permission notification (6000); the idle one takes ten times as long
//	AGENTSIM_COMPACT_MS       a compaction
//	AGENTSIM_IDLE_COMPACT_MS  Claude: compacts by itself when idle that long, unless idleCompaction is false (never)
//	AGENTSIM_RETRY_MS         the first wait before a retry (1000)
//	AGENTSIM_ENTER_MS         Codex: the longest time that Enter behind typed text is not a submit (280)
//	AGENTSIM_HOOK_MS          Claude: how long a hook takes to start, as on a loaded machine (0)
//	AGENTSIM_WRITE_MS         Claude: how long lines of the transcript are collected before they are written (100)
//	CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION=true  Claude: "run the tests" is suggested after two turns
//	AGENTSIM_TOKENS           input tokens of an answer (1200)
//	AGENTSIM_WINDOW           context window in tokens (1000000, Codex 258400)
//
// AGENTSIM_FAIL makes it fail, with one of these or several joined by "|":
//
//	exit:CODE[:TEXT]  ends at once, TEXT on stderr
//	hang              never draws
//	trust, login      the dialog comes whatever the files say; Claude also apikey, Codex also hooks
//	parent-id-hook    Claude: the start hook of a fork names the parent, as 2.1.197 did
//	other-id          Claude: the session shows an id that nobody asked for
//	resume-menu       Claude: "Resume from summary …?" at a resume
//	update            Codex: the offer of a newer version
//	no-rollout        Codex: resume and fork do not find the conversation
//	compact[:TEXT]    every compaction fails with TEXT
//
// Not acted out: Codex's background server (every stand-in behaves as with
// --no-daemon), its exec verb, Claude's theme and login screens, MCP.
//
// Everything that touches the world beyond files and the terminal (clock,
// randomness, environment, other processes) comes in through Env.
package agentsim
