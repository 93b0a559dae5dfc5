// Command record prints what the product's database says about the occupants of every seat, as a JSON array. It reads the file
// with SQL of its own and shares no code with the product: a test that compares the record with the clients' files must not ask
// the code under test what the record says. It is the one place where native ids are printed.
package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite" // the database driver
)

func main() {
	home := flag.String("home", "", "the product's home folder (RIG_HOME)")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, *home); err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

// occupant is one row of the answer.
type occupant struct {
	Seat       string `json:"seat"`
	Runtime    string `json:"runtime"`
	Generation int64  `json:"generation"`
	Status     string `json:"status"`
	Continuity string `json:"continuity"`
	Token      string `json:"token"`
	Provenance string `json:"provenance"`
	PID        int64  `json:"pid"`
}

const query = `
SELECT seats.pod || '-' || seats.member || '@' || rigs.name, sessions.runtime, sessions.generation, sessions.status,
       sessions.continuity, sessions.resume_token, sessions.resume_provenance, sessions.pid
FROM sessions JOIN seats ON seats.id = sessions.seat_id JOIN rigs ON rigs.id = seats.rig_id
ORDER BY 1, sessions.generation`

// run prints the occupants on record under home.
func run(ctx context.Context, out io.Writer, home string) error {
	path, err := database(home)
	if err != nil {
		return err
	}
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro&_pragma=busy_timeout(2000)")
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	defer rows.Close()
	occupants := []occupant{}
	for rows.Next() {
		var o occupant
		if err := rows.Scan(&o.Seat, &o.Runtime, &o.Generation, &o.Status, &o.Continuity, &o.Token, &o.Provenance, &o.PID); err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		occupants = append(occupants, o)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return json.NewEncoder(out).Encode(occupants)
}

// database finds the one SQLite file under home, whatever its name.
func database(home string) (string, error) {
	var found []string
	err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		magic := []byte("SQLite format 3\x00")
		start := make([]byte, len(magic))
		if n, err := io.ReadFull(file, start); err == nil && bytes.Equal(start[:n], magic) {
			found = append(found, path)
		}
		return nil
	})
	switch {
	case err != nil:
		return "", fmt.Errorf("look for the database: %w", err)
	case len(found) != 1:
		return "", fmt.Errorf("want one database, found %v", found)
	default:
		return found[0], nil
	}
}
