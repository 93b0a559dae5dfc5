package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// tokens looks for native ids of conversations outside of the one column that may hold them.
func (c *checker) tokens() {
	tokens := map[string]string{} // to the occupants that it belongs to: whoever resumed a conversation has its token too
	for _, row := range c.rows("SELECT resume_token, id FROM sessions WHERE resume_token <> ''") {
		tokens[row[0]] += " " + row[1]
	}
	c.occupants = map[string]bool{}
	for _, row := range c.rows("SELECT id FROM sessions") {
		c.occupants[row[0]] = true
	}
	c.none("a fork that carries its parent's token", `SELECT x.id, y.id FROM sessions x JOIN sessions y
		ON x.resume_token = y.resume_token AND x.id <> y.id WHERE x.resume_token <> '' AND 'forked' IN (x.continuity, y.continuity)
		AND (x.seat_id <> y.seat_id OR x.continuity = 'forked' AND x.generation > y.generation)`)
	for _, table := range c.rows("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT IN ('sessions', 'snapshots')") {
		for _, row := range c.rows("SELECT * FROM " + table[0]) {
			for _, cell := range row {
				c.leak(tokens, cell, "table "+table[0])
			}
		}
	}
	for _, row := range c.rows("SELECT id, startup_note, settings, homes, build, name FROM sessions") {
		c.leak(tokens, strings.Join(row, " "), "table sessions")
	}
	files := 0
	_ = filepath.WalkDir(c.Home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), "rig.db") {
			return nil //nolint:nilerr // it was removed meanwhile
		}
		files++
		c.file(tokens, path)
		return nil
	})
	if b, err := os.ReadFile(c.Said); err == nil {
		c.leak(tokens, string(b), "what rig printed")
	}
	c.figure(len(tokens), "tokens sought")
	c.figure(files, "files")
}

// file looks into one file. What a client says of itself may name its own conversation: its spool and its run state. Of an
// occupant that never came on record it is not known which conversation that is.
func (c *checker) file(tokens map[string]string, path string) {
	b, err := os.ReadFile(path)
	if err != nil {
		return // it was removed meanwhile
	}
	rel, err := filepath.Rel(c.Home, path)
	if err != nil {
		rel = path
	}
	foreign := tokens
	if room, rest, _ := strings.Cut(rel, "/"); room == "spool" || room == "run" {
		owner, _, _ := strings.Cut(rest, "/")
		owner, _, _ = strings.Cut(owner, ".")
		if strings.HasSuffix(rest, ".launch") {
			c.find("%s: a launch that nobody will read any more", rel)
		}
		if !c.occupants[owner] {
			return
		}
		foreign = map[string]string{}
		for token, occupants := range tokens {
			if !strings.Contains(occupants, owner) {
				foreign[token] = occupants
			}
		}
	}
	if strings.HasPrefix(rel, "agent-images/") {
		return // an image points to a conversation: that is what it is
	}
	c.leak(foreign, string(b), rel)
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
		c.find("%s can be read by others: %v", rel, info.Mode())
	}
}

// leak remarks the first token that stands in a text.
func (c *checker) leak(tokens map[string]string, text, where string) {
	if len(text) < 36 {
		return
	}
	for token, occupants := range tokens {
		if i := strings.Index(text, token); i >= 0 {
			c.find("the token of occupant%s stands in %s: …%s…", occupants, where, text[max(0, i-80):min(len(text), i+40)])
			return
		}
	}
}

// processes looks for clients that sit in no pane: whoever is the program's own agent must descend from a pane.
func (c *checker) processes() {
	roots := map[string]bool{}
	for _, p := range c.panes {
		roots[p.pid] = true
	}
	agents := 0
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return
	}
	for _, dir := range dirs {
		b, err := os.ReadFile(dir + "/cmdline")
		if err != nil || !strings.HasPrefix(string(b), c.Program+"\x00agentsim") {
			continue
		}
		agents++
		pid := filepath.Base(dir)
		for up, i := pid, 0; i < 10; i++ {
			if roots[up] {
				pid = ""
				break
			}
			if up = parent(up); up == "" || up == "1" {
				break
			}
		}
		if pid != "" {
			c.find("process %s is a client that sits in no pane: %s", pid, strings.ReplaceAll(string(b), "\x00", " "))
		}
	}
	c.figure(agents, "clients")
}

// parent gives the parent of a process.
func parent(pid string) string {
	b, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return ""
	}
	f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	if len(f) < 2 {
		return ""
	}
	if _, err := strconv.Atoi(f[1]); err != nil {
		return ""
	}
	return f[1]
}
