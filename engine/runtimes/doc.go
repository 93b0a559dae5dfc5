// Package runtimes holds the three kinds of occupant a seat can have: Claude
// Code, Codex and a plain terminal, each as an engine.Runtime, and the files
// through which a launch reaches the pane.
//
// A runtime here only judges. It builds launch lines and reads what the clients
// themselves leave behind: the session registry of Claude Code, the writer locks
// and rollouts of Codex, /proc, the hook and status-line reports in our spool,
// and last of all the words on the screen. It types nothing, answers no dialog,
// and never writes into a file that a client owns. Where the evidence is missing
// or contradicts itself the answer is "unknown" with the reason, never "idle".
//
// The facts about the clients were observed on Claude Code 2.1.332 and 2.1.197
// and on Codex 0.171.0 under tmux 3.3a on Linux; testdata/realcli asserts them on
// the real programs.
//
// Three hidden verbs of the binary have their bodies here: Supervise runs the
// client of a pane, Hook and StatusLine are started by the client itself on
// every event and so do one small thing in a few milliseconds.
package runtimes
