//go:build race

package runtimes

// underRace says that every process of a test waits a second at its end, as the
// race detector has it: a thousand of them are for the plain run.
const underRace = true
