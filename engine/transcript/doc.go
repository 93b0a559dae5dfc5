// Package transcript reads what the agent clients leave behind: the JSONL
// transcripts of Claude Code and the rollouts of Codex.
//
// Both kinds of file belong to their client. They are opened for reading only
// and never changed, and a reader here must cope with whatever it finds in
// them: half-written tails, lines of any length, fields that change their JSON
// type from one release to the next, records written twice, identifiers that
// form loops, and content that was never meant to be read by a machine.
//
// Three ways in:
//
//   - [Claude] and [Codex] stream a whole file in constant memory and hand out
//     messages one by one, with a [Summary] of everything else at the end.
//   - [ReadRecent] and [LastMessages] look at the end of a file only, so they
//     cost the same on 1 KB and on 1 GB.
//   - [FindClaude], [FindCodex] and [ReadHead] answer which file belongs to
//     which conversation.
//
// Nothing here guesses. What a file does not say stays zero, and what could not
// be read is reported with its line number.
package transcript
