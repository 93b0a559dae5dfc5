// Command check reads a record and a tmux server and says what was lost. It shares no code with rig: it asks SQLite in SQL
// and tmux with list-panes, and reads /proc and the files as they lie there.
//
//	check expect.json
//
// Each line but the last is a finding; the last one gives the figures. The exit status is 1 when there is a finding.
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver
)

// expectation is what the suite says must be there.
type expectation struct {
	Home, Socket, Said, Program string
	Seats                       []struct{ Address string }
	Work                        []struct{ ID, Seat, Title string }
}

// checker collects findings and figures.
type checker struct {
	expectation
	ctx       context.Context
	db        *sql.DB
	panes     []pane
	epoch     string
	occupants map[string]bool // ids on record
	findings  []string
	figures   []string
}

// pane is a pane of the fleet's tmux server.
type pane struct{ id, session, seat, gen, dead, pid string }

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c := &checker{ctx: ctx}
	if err := c.open(os.Args[1:]); err != nil {
		fmt.Println("the check cannot begin:", err)
		fmt.Println("nothing was checked")
		os.Exit(1)
	}
	c.structure()
	c.seats()
	c.bindings()
	c.work()
	c.operations()
	c.events()
	c.tokens()
	c.processes()
	for _, f := range c.findings {
		fmt.Println(f)
	}
	fmt.Println(strings.Join(c.figures, ", ") + fmt.Sprintf(", findings: %d", len(c.findings)))
	if len(c.findings) > 0 {
		os.Exit(1)
	}
}

// open reads the expectation, the record and the list of panes.
func (c *checker) open(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("want one argument, the expectation")
	}
	b, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, &c.expectation); err != nil {
		return err
	}
	if c.db, err = sql.Open("sqlite", "file:"+filepath.Join(c.Home, "rig.db")+"?mode=ro&_pragma=busy_timeout(20000)"); err != nil {
		return err
	}
	const format = "#{pane_id}\t#{session_name}\t#{@rig_seat}\t#{@rig_gen}\t#{pane_dead}\t#{pane_pid}\t#{pid}-#{start_time}"
	out, err := exec.CommandContext(c.ctx, "tmux", "-u", "-S", c.Socket, "list-panes", "-a", "-F", format).Output()
	if err != nil {
		return fmt.Errorf("tmux: %w", err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		f := strings.Split(line, "\t")
		if len(f) == 7 {
			c.panes = append(c.panes, pane{f[0], f[1], f[2], f[3], f[4], f[5]})
			c.epoch = f[6]
		}
	}
	return nil
}

func (c *checker) find(format string, a ...any) {
	c.findings = append(c.findings, fmt.Sprintf(format, a...))
}

func (c *checker) figure(n int, what string) {
	c.figures = append(c.figures, fmt.Sprintf("%d %s", n, what))
}

// rows runs a query and gives every row as text.
func (c *checker) rows(query string, args ...any) (out [][]string) {
	rows, err := c.db.QueryContext(c.ctx, query, args...)
	if err != nil {
		c.find("query failed: %v: %s", err, query)
		return nil
	}
	defer rows.Close()
	cols, err := rows.Columns()
	if err != nil {
		c.find("query failed: %v", err)
		return nil
	}
	for rows.Next() {
		cells, dest := make([]sql.NullString, len(cols)), make([]any, len(cols))
		for i := range cells {
			dest[i] = &cells[i]
		}
		if err := rows.Scan(dest...); err != nil {
			c.find("query failed: %v", err)
			return out
		}
		row := make([]string, len(cols))
		for i, cell := range cells {
			row[i] = cell.String
		}
		out = append(out, row)
	}
	if err := rows.Err(); err != nil {
		c.find("query failed: %v", err)
	}
	return out
}

// none remarks every row of a query that should have none.
func (c *checker) none(what, query string) {
	for _, row := range c.rows(query) {
		c.find("%s: %s", what, strings.Join(row, " "))
	}
}

// structure lets SQLite check the file itself.
func (c *checker) structure() {
	for _, row := range c.rows("PRAGMA integrity_check") {
		if row[0] != "ok" {
			c.find("integrity: %s", row[0])
		}
	}
	c.none("a row without its parent", "PRAGMA foreign_key_check")
	c.none("a write that was never committed", "SELECT key, value FROM meta WHERE key = 'chaos'")
}

// seats looks for every seat that was there at the start.
func (c *checker) seats() {
	there := map[string]bool{}
	for _, row := range c.rows("SELECT s.pod || '-' || s.member || '@' || r.name FROM seats s JOIN rigs r ON r.id = s.rig_id WHERE r.archived_at IS NULL") {
		if there[row[0]] {
			c.find("seat %s is there twice", row[0])
		}
		there[row[0]] = true
	}
	for _, s := range c.Seats {
		if !there[s.Address] {
			c.find("seat %s is lost", s.Address)
		}
	}
	c.none("two occupants at once", `SELECT s.pod, s.member, count(*) FROM sessions x JOIN seats s ON s.id = x.seat_id
		WHERE x.status IN ('running', 'unknown') GROUP BY x.seat_id HAVING count(*) > 1`)
	c.none("two open tenures", "SELECT seat_id, count(*) FROM tenures WHERE ended_at IS NULL GROUP BY seat_id HAVING count(*) > 1")
	c.none("a running occupant that is not the seat's own", `SELECT s.pod, s.member, s.generation, x.generation FROM sessions x JOIN seats s ON s.id = x.seat_id
		WHERE x.status = 'running' AND x.generation <> s.generation`)
	c.figure(len(there), "seats")
}

// bindings compares the record with the panes.
func (c *checker) bindings() {
	c.none("one pane bound to two seats", "SELECT socket, epoch, pane, count(*) FROM bindings GROUP BY socket, epoch, pane HAVING count(*) > 1")
	bound := map[string]string{}
	for _, row := range c.rows(`SELECT s.id, b.pane, b.epoch, s.generation, s.pod || '-' || s.member || '@' || r.name
			FROM bindings b JOIN seats s ON s.id = b.seat_id JOIN rigs r ON r.id = s.rig_id`) {
		id, at, epoch, gen, address := row[0], row[1], row[2], row[3], row[4]
		bound[id] = at
		found := false
		for _, p := range c.panes {
			if p.id != at || epoch != c.epoch {
				continue
			}
			found = true
			if p.seat != id || p.gen != gen {
				c.find("%s is bound to pane %s, whose tags say seat %s generation %s; the seat's generation is %s", address, at, p.seat, p.gen, gen)
			}
			if p.session != address {
				c.find("%s is bound to pane %s, which is in session %s", address, at, p.session)
			}
		}
		if !found {
			c.find("%s is bound to pane %s of server %s, which is not there", address, at, epoch)
		}
	}
	windows := len(c.rows("SELECT id FROM operations WHERE undo_until IS NOT NULL"))
	live := map[string]int{}
	for _, p := range c.panes {
		if p.seat == "" || p.dead == "1" {
			continue
		}
		live[p.seat]++
		if bound[p.seat] != p.id && windows == 0 {
			c.find("pane %s (%s) carries the tags of seat %s generation %s and nothing is bound to it", p.id, p.session, p.seat, p.gen)
		}
	}
	c.figure(len(bound), "bindings")
	c.figure(len(c.panes), "panes")
}

// work looks for every work item that was there at the start.
func (c *checker) work() {
	have := map[string][]string{}
	for _, row := range c.rows(`SELECT w.id, s.pod || '-' || s.member || '@' || r.name, w.title, w.body FROM work_items w
			JOIN seats s ON s.id = w.seat_id JOIN rigs r ON r.id = s.rig_id`) {
		have[row[0]] = row[1:]
	}
	for _, w := range c.Work {
		switch row := have[w.ID]; {
		case row == nil:
			c.find("work item %q of %s is lost", w.Title, w.Seat)
		case row[0] != w.Seat || row[1] != w.Title || row[2] != "body":
			c.find("work item %q of %s became %v", w.Title, w.Seat, row)
		}
	}
	c.none("claimed by an occupant that is gone", `SELECT w.title, w.generation, s.generation FROM work_items w JOIN seats s ON s.id = w.seat_id
		WHERE w.state = 'claimed' AND w.generation <> s.generation`)
	c.figure(len(have), "work items")
}

// operations asks that each one is over, and holds nothing any more.
func (c *checker) operations() {
	const over = "state IN ('done', 'partial', 'failed', 'rolled_back', 'undone')"
	for _, row := range c.rows("SELECT id, verb, target, state, json_extract(owner, '$.pid') FROM operations WHERE NOT " + over) {
		if _, err := os.Stat("/proc/" + row[4]); err != nil { // one that lives may still be at it, such as a compaction
			c.find("not over, and its process is gone: %s", strings.Join(row, " "))
		}
	}
	c.none("over without a time", "SELECT id, verb, state FROM operations WHERE ended_at IS NULL AND "+over)
	c.none("over without a receipt", "SELECT id, verb, state FROM operations WHERE receipt IS NULL AND "+over)
	c.none("without the build that ran it", "SELECT id, verb FROM operations WHERE build = ''")
	c.none("a lease of no running operation", `SELECT l.key, l.op_id, o.state FROM leases l LEFT JOIN operations o ON o.id = l.op_id
		WHERE o.id IS NULL OR o.state IN ('done', 'partial', 'failed', 'rolled_back', 'undone')`)
	c.figure(len(c.rows("SELECT id FROM operations")), "operations")
}

// events asks for a log without gaps, and for an entry of each operation.
func (c *checker) events() {
	c.none("a gap in the audit log before", "SELECT seq FROM events e WHERE seq > 1 AND NOT EXISTS (SELECT 1 FROM events p WHERE p.seq = e.seq - 1)")
	c.none("a commit without an entry in the audit log", `SELECT id, verb, target, state FROM operations o WHERE committed = 1
		AND NOT EXISTS (SELECT 1 FROM events e WHERE e.op_id = o.id)`)
	c.none("an occupant without an entry in the audit log", `SELECT x.seat_id, x.generation FROM sessions x
		WHERE NOT EXISTS (SELECT 1 FROM events e WHERE e.seat_id = x.seat_id)`)
	for _, row := range c.rows("SELECT count(*), coalesce(max(seq), 0) FROM events") {
		n, err := strconv.Atoi(row[0])
		if err != nil || row[0] != row[1] {
			c.find("%s entries in the audit log, the last is number %s", row[0], row[1])
		}
		c.figure(n, "log entries")
	}
}
