//go:build !linux

// Command measure tells what the console costs over a number of seats. It reads /proc and runs on Linux only.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "measure: this needs Linux: processor time, memory and process counts are read from /proc")
	os.Exit(1)
}
