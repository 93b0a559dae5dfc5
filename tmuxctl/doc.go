// Package tmuxctl drives tmux for the engine: it implements engine.Mux on one
// private server socket.
//
// How it works, in short:
//
//   - Targets are made by constructor only (=name: or %pane), because a bare name
//     makes tmux pick another session that merely starts with it.
//   - Reading is batched. While a console watches, a control-mode client on a
//     session of its own answers without starting processes; otherwise, or when
//     that client dies, one process answers a whole batch.
//   - Changing goes through one process and, except for creation, through a guard
//     that the tmux server itself evaluates in the same command list as the
//     action: the tags, epoch and pid of the pane must be the ones the caller saw.
//   - A failed question is classified: positively absent, or unknown. Unknown is
//     an error with its cause; it is never reported as absent.
//
// Facts about tmux in the comments were observed on 3.3a unless another version
// is named; the floor is 3.2a.
package tmuxctl
