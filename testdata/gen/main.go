// Command gen writes a large synthetic transcript for measurements:
//
//	go run ./testdata/gen -kind claude -size 100 -long 20 -out FILE
//
// Sizes are in MB (1,000,000 bytes). The same flags give the same bytes.
package main

import (
	"flag"
	"fmt"
	"os"

	"rig/engine/transcript/synth"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run() error {
	kind := flag.String("kind", "claude", "claude or codex")
	size := flag.Int64("size", 100, "size of the file in MB")
	long := flag.Int("long", 0, "length of one very long line in MB, 0 for none")
	seed := flag.Uint64("seed", 1, "seed of the content")
	out := flag.String("out", "", "file to write; it must not exist")
	flag.Parse()
	if *out == "" || flag.NArg() > 0 {
		return fmt.Errorf("-out FILE is required, and no other arguments")
	}
	write := synth.Claude
	switch *kind {
	case "claude":
	case "codex":
		write = synth.Codex
	default:
		return fmt.Errorf("-kind %q: want claude or codex", *kind)
	}
	f, err := os.OpenFile(*out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	facts, err := write(f, synth.Config{Seed: *seed, Bytes: *size * 1_000_000, LongLine: *long * 1_000_000, Secrets: true})
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d records, %d operator, %d assistant, %d tool results, %d secrets planted\n",
		*out, facts.Records, facts.Operator, facts.Assistant, facts.ToolResults, len(facts.Planted))
	return nil
}
