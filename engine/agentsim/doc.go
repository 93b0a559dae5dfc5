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
// Everything that touches the world beyond files and the terminal (clock,
// randomness, environment, other processes) comes in through Env.
package agentsim
