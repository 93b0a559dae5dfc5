package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"rig/engine"
	"rig/store"
)

// backupCmd copies the record while it is in use. It changes nothing of the
// product, so it has no plan: the one thing that it makes is the new file.
func (c *cli) backupCmd() *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use: "backup <new-file>", Short: "A consistent copy of the record, while everything runs", Args: cobra.ExactArgs(1),
		Long: "The copy is one moment of the record, whatever is written meanwhile. It holds resume tokens: keep it as private as RIG_HOME.\n" +
			"To put it back: close every console and `rig watch`, then\n" +
			"  mv RIG_HOME/rig.db RIG_HOME/rig.db.old; rm -f RIG_HOME/rig.db-wal RIG_HOME/rig.db-shm\n" +
			"  cp NEW-FILE RIG_HOME/rig.db; rig doctor\n" +
			"Agents in tmux are not touched by that. Notes of seats and agent images are plain files in RIG_HOME/rigs and RIG_HOME/agent-images.",
		RunE: func(cmd *cobra.Command, args []string) error {
			dest, err := filepath.Abs(args[0])
			if err != nil {
				return engine.Errorf(engine.CodeInvalid, "%q cannot be made a path", args[0]).Wrap(err).WithHint("give the path of a new file")
			}
			a, err := openApp(appRead)
			if err != nil {
				return err
			}
			defer a.close()
			if dry {
				return c.backupDry(a, dest)
			}
			if err := a.db.Backup(cmd.Context(), dest); err != nil {
				return err
			}
			return c.backupProof(cmd, a, dest)
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "say what would be copied, and write nothing")
	return cmd
}

func (c *cli) backupDry(a *app, dest string) error {
	if _, err := os.Lstat(dest); err == nil {
		return engine.Errorf(engine.CodeConflict, "the file is there already").On("back up record", dest).WithHint("name a new file")
	}
	st, err := os.Stat(a.db.Path())
	if err != nil {
		return engine.Errorf(engine.CodeNotFound, "there is no record yet").On("back up record", a.db.Path()).WithHint("nothing needs a backup")
	}
	if c.json {
		return c.print(map[string]any{"ok": true, "dry_run": true, "from": a.db.Path(), "to": dest, "bytes": st.Size()})
	}
	fmt.Fprintf(c.out, "would copy %s (%d bytes) to %s\nNo changes were made.\n", a.db.Path(), st.Size(), dest)
	return nil
}

// backupProof opens the copy and reads all of it: a backup that cannot be read is
// none.
func (c *cli) backupProof(cmd *cobra.Command, a *app, dest string) error {
	db, err := store.OpenReadOnly(dest)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }() // it has only read
	if err := db.Integrity(cmd.Context()); err != nil {
		return err
	}
	var rigs, seats int
	err = db.Read(cmd.Context(), func(r engine.Reader) error {
		rec, err := r.Record()
		if err == nil {
			rigs, seats = len(rec.Rigs), len(rec.Seats)
		}
		return err
	})
	if err != nil {
		return err
	}
	st, err := os.Stat(dest)
	if err != nil {
		return engine.Errorf(engine.CodeInternal, "the copy has gone").On("back up record", dest).Wrap(err).WithHint("try again")
	}
	if c.json {
		return c.print(map[string]any{"ok": true, "from": a.db.Path(), "to": dest, "bytes": st.Size(), "rigs": rigs, "seats": seats, "schema": store.SchemaVersion()})
	}
	fmt.Fprintf(c.out, "%s: %s, %s, %d bytes; read back and whole\n", dest, engine.Counted(rigs, "rig"), engine.Counted(seats, "seat"), st.Size())
	fmt.Fprintf(c.out, "to put it back: close every console and `rig watch`, then\n  mv %[1]s %[1]s.old; rm -f %[1]s-wal %[1]s-shm; cp %[2]s %[1]s; rig doctor\n",
		engine.CommandLine(a.db.Path()), engine.CommandLine(dest))
	return nil
}
