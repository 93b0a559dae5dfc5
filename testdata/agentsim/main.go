// Command agentsim is `rig agentsim` alone. Benchmarks let it play the clients: what
// they ask is what rig takes, and all of rig started once more for each client would
// be counted with it.
package main

import (
	"os"

	"rig/engine/agentsim"
)

func main() { os.Exit(agentsim.Process(os.Args[1:])) }
