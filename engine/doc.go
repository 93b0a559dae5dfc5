// Package engine is the domain of the product: rigs, pods, seats and their
// occupants, the planners that say what a verb would do, the executor that does
// exactly that and journals it, and the fleet view that every screen and every
// `--json` answer is made of.
//
// The words, in short:
//
//   - A seat is a durable position in a rig. It outlives every process in it.
//   - An occupant is the runtime process that sits in a seat now. Its ordinal is
//     the generation; it changes only when the occupant changes.
//   - A binding says where the occupant physically is: tmux server epoch,
//     session and pane.
//   - A plan is data: steps, changes, blockers and the facts it stands on. The
//     only way to change the world is to apply one.
//   - A receipt says what really happened, per seat, with the evidence.
//
// The package imports the standard library only. What it needs from outside
// (the record, tmux, the runtimes, the clock) it declares as interfaces in
// ports*.go; cmd wires the adapters in. docs/developing.md lists its files by
// theme.
package engine
