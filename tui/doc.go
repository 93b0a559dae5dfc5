// Package tui is the console: a full-screen view over rigs of agents, and its
// line-oriented twin for pipes and screen readers.
//
// It knows the engine by one interface, engine.Console, and shows values of it:
// pictures of the fleet, plans, operations and events. The rules that hold
// everything in here together:
//
//   - Update and View never block, never read a clock and never call the Console;
//     only commands do. View writes no field.
//   - Keys live in one registry (actions.go), which feeds dispatch, the footer,
//     the help and the palette. Colours live in styles.go alone, sizes at which
//     the picture changes in layout.go alone.
//   - A dialog stands where the most that it can take has room (corner in view.go):
//     what is in it never moves it.
//   - Whatever came from outside (titles, panes, names, payloads) passes text.go
//     or panetext.go before it is drawn.
//   - Every change of the world goes through the wizard: ask, plan, preview,
//     confirm, run, receipt. A verb is a wizardDef, which is data.
package tui
