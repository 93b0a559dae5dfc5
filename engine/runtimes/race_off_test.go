//go:build !race

package runtimes

// underRace is false in the plain run.
const underRace = false
