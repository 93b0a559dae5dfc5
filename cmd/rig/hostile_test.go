package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// hostileTexts are texts that would do something, somewhere, if they were taken
// for more than text. Each that runs a command makes a file named pwned.
func hostileTexts(pwned string) map[string]string {
	touch := "touch " + pwned
	return map[string]string{
		"shell substitution": "$(" + touch + ")", "shell backquotes": "`" + touch + "`", "shell list": "x; " + touch + " #",
		"shell quotes": `'; ` + touch + `; '`, "shell pipe": "\"| " + touch + " |\"", "shell variable": "${IFS}$HOME",
		"tmux command": "#(" + touch + ")", "tmux format": "#{pane_id}", "tmux condition": "#{?1,#(" + touch + "),}", "tmux list": "a ; run-shell '" + touch + "' ;",
		"tmux option": "-S" + pwned, "tmux target": "=other:0.0", "title": "\x1b]0;owned\x07", "clear": "\x1b[2J\x1b[H", "paste end": "\x1b[201~" + touch + "\r",
		"C1": "\u009b2J", "raw C1": "\x9b2J", "bidi": "\u202egpj.exe\u2066", "NUL": "a\x00b", "newline": "a\nb: c\n", "carriage return": "ok\rbad",
		"SQL": `'; DROP TABLE seats; --`, "SQL double": `" OR 1=1; --`, "YAML": "{a: &a [*a, *a]}", "YAML tag": "!!binary x", "JSON": `","role":"root`,
		"traversal": "../../../../../../../.." + pwned, "absolute": "/etc/passwd", "format": "%s%n%!d(MISSING)", "flag": "--help", "empty": "", "space": "  ",
		"very long": strings.Repeat("A", 60<<10), "wide": strings.Repeat("\u0301", 3000), "invalid UTF-8": "\xff\xfe\xc0\xaf", "regexp": "(a+)+$", "glob": "*?[",
	}
}

// hostile is a world that hostile texts are let loose on.
type hostile struct {
	*world
	pwned string
}

// harmless runs a command line and remarks whatever must not happen.
func (h *hostile) harmless(args ...string) result {
	h.t.Helper()
	for _, a := range args {
		if strings.ContainsRune(a, 0) { // no program can be given such an argument
			return result{}
		}
	}
	r := h.run(args...)
	h.judge(r, args...)
	return r
}

func (h *hostile) judge(r result, args ...string) {
	h.t.Helper()
	short := fmt.Sprintf("%.120q", args)
	if r.code < 0 || r.code > 2 {
		h.t.Errorf("%s: exit %d\n%.600s%.600s", short, r.code, r.out, r.err)
	}
	for _, out := range []string{r.out, r.err} {
		if strings.Contains(out, "goroutine ") || strings.Contains(out, "fault of the program") {
			h.t.Errorf("%s: %.900s", short, out)
		}
		if i := strings.IndexFunc(out, drives); i >= 0 {
			h.t.Errorf("%s: drives the terminal: %q", short, out[max(0, i-40):min(len(out), i+40)])
		}
	}
	if r.code != 0 && strings.HasPrefix(r.out, "{") {
		var doc struct{ Code, Hint string }
		if err := json.Unmarshal([]byte(r.out), &doc); err == nil && doc.Code != "" && (doc.Hint == "" || doc.Code == "internal") {
			h.t.Errorf("%s: refused as %+v", short, doc)
		}
	}
	if exists(h.pwned) {
		h.t.Errorf("%s: a command in a text was run", short)
		_ = os.Remove(h.pwned)
	}
}

// TestHostileTexts pushes texts that mean something to a shell, tmux, a terminal,
// SQL, YAML or a file system through everything that takes text. They are refused
// or inert.
func TestHostileTexts(t *testing.T) {
	w := newWorld(t)
	h := &hostile{w, filepath.Join(w.dir, "pwned")}
	w.must("up", w.spec("host", "impl:claude-code", "sh:terminal"))
	options := w.tmux("show-options", "-g") + w.tmux("show-environment", "-g") + w.tmux("list-keys")
	texts := hostileTexts(h.pwned)
	names := slices.Sorted(maps.Keys(texts))
	t.Run("given", func(t *testing.T) {
		for i, name := range names {
			t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
				t.Parallel()
				own := *w
				own.t = t
				mine := &hostile{&own, h.pwned}
				mine.arguments(texts[name])
				mine.spec(i, texts[name])
				mine.payloads(i, texts[name])
			})
		}
	})
	h.record(names, texts)
	h.panes(texts)
	h.environment(names, texts)
	if now := w.tmux("show-options", "-g") + w.tmux("show-environment", "-g") + w.tmux("list-keys"); now != options {
		t.Errorf("the tmux server was changed:\n%s\n%s", options, now)
	}
	h.private()
}

// arguments are what a person or an agent gives on the command line.
func (h *hostile) arguments(text string) {
	h.harmless("handover", "dev.impl", "--source", text, "--reason", text, "--operator", text, "--dry-run", "--json")
	h.harmless("seat", "set-model", "dev.impl", "--model", text, "--reason", "r"+text, "--operator", text)
	h.harmless("up", text, "--cwd", text, "--env", "X="+text, "--dry-run")
	for i, args := range [][]string{
		{"agent-image", "create", "dev.impl", "--name", text, "--notes", text}, {"send", text, text}, {"events", "--type", text, "--seat", text},
	} {
		if (len(text)+i)%3 == 0 {
			h.harmless(args...)
		}
	}
}

// spec puts the text into a place of a rig spec, a different one for each text,
// and lets it be a spec.
func (h *hostile) spec(i int, text string) {
	q, err := json.Marshal(text) // which YAML reads as well
	if err != nil {
		h.t.Fatal(err)
	}
	value := map[string]string{
		"name": `"other"`, "pod": `"dev"`, "label": `"Dev"`, "id": `"m"`, "runtime": "terminal", "agent_ref": `"builtin:terminal"`,
		"profile": "none", "cwd": fmt.Sprintf("%q", h.project), "model": `""`,
	}
	places := slices.Sorted(maps.Keys(value))
	value[places[i%len(places)]] = string(q)
	file := h.write(fmt.Sprintf("hostile%d.yaml", i), fmt.Sprintf(
		"version: \"0.2\"\nname: %s\npods:\n  - id: %s\n    label: %s\n    members:\n      - {id: %s, runtime: %s, agent_ref: %s, profile: %s, cwd: %s, model: %s}\n",
		value["name"], value["pod"], value["label"], value["id"], value["runtime"], value["agent_ref"], value["profile"], value["cwd"], value["model"]))
	h.harmless("up", file, "--dry-run", "--json")
	if i%2 == 0 {
		return
	}
	h.harmless("spec", "validate", h.write(fmt.Sprintf("raw%d.yaml", i), "version: \"0.2\"\nname: "+text+"\n"))
}

// payloads are what a client says through its hooks and its status line: in an
// environment that names a spool, and in files that lie in one.
func (h *hostile) payloads(i int, text string) {
	body, err := json.Marshal(map[string]any{
		"session_id": text, "transcript_path": text, "cwd": text, "hook_event_name": text, "message": text, "prompt": text, "model": map[string]string{"id": text, "display_name": text},
		"context_window": map[string]any{"used_percentage": text, "context_window_size": text},
	})
	if err != nil {
		h.t.Fatal(err)
	}
	spools, err := filepath.Glob(filepath.Join(h.dir, "rig", "spool", "*"))
	if err != nil || len(spools) == 0 {
		h.t.Fatalf("no spool: %v", err)
	}
	h.env = append(slices.Clone(h.env), "RIG_SPOOL="+spools[i%len(spools)])
	for in, args := range map[string][]string{string(body): {"hook", "Stop"}, text: {"statusline"}, "{}": {"hook", strings.ReplaceAll(text, "\x00", "")}} {
		if r := h.runIn(h.project, []byte(in), args...); r.code != 0 || exists(h.pwned) {
			h.t.Errorf("%.60q: exit %d %s%s", args, r.code, r.out, r.err)
		}
	}
	if err := os.WriteFile(filepath.Join(spools[i%len(spools)], fmt.Sprintf("%020d-Stop.json", 9e18+i)), body, 0o600); err != nil {
		h.t.Fatal(err)
	}
	h.harmless("ps")
}

// record puts every text into every free text column, and reads it in every way.
func (h *hostile) record(names []string, texts map[string]string) {
	// The driver is there: package store has registered it.
	db, err := sql.Open("sqlite", "file:"+filepath.Join(h.dir, "rig", "rig.db")+"?_pragma=busy_timeout(5000)")
	if err != nil {
		h.t.Fatal(err)
	}
	defer db.Close()
	for _, text := range texts {
		if _, err := db.Exec(`INSERT INTO events (at, type, rig_id, seat_id, rig, seat, op_id, operator, payload)
			VALUES ('2026-01-01T00:00:00.000Z', 'x' || ?1, '', '', ?1, ?1, '', ?1, json_object('reason', ?1))`, strings.ToValidUTF8(text, "?")); err != nil {
			h.t.Fatal(err)
		}
	}
	columns := strings.Fields(`seats.label seats.role seats.model seats.effort seats.last_error seats.previous seats.handover_by seats.forked_from
		seats.agent_ref rigs.summary rigs.spec_path rigs.root sessions.startup_note sessions.build sessions.resume_provenance
		operations.reason operations.operator operations.error operations.target pods.label pods.summary bindings.session_name`)
	for turn := range 4 {
		for i, column := range columns {
			table, name, _ := strings.Cut(column, ".")
			if _, err := db.Exec("UPDATE "+table+" SET "+name+" = ?", texts[names[(i+turn*len(names)/4)%len(names)]]); err != nil {
				h.t.Fatalf("%s: %v", column, err)
			}
		}
		for _, args := range [][]string{{"ps", "--nodes"}, {"ps", "--json"}, {"seat", "status", "dev.impl"}, {"explain", "dev.impl"}, {"events"}, {"op", "list"}, {"handover", "dev.sh", "--reason", "r", "--dry-run"}} {
			h.harmless(args...)
		}
	}
	if _, err := db.Exec("UPDATE bindings SET session_name = (SELECT name FROM sessions x WHERE x.seat_id = bindings.seat_id AND x.status = 'running')"); err != nil {
		h.t.Fatal(err)
	}
	if _, err := db.Exec("UPDATE seats SET model = '', effort = '', agent_ref = CASE runtime WHEN 'terminal' THEN 'builtin:terminal' ELSE 'builtin:agent' END"); err != nil {
		h.t.Fatal(err)
	}
}

// panes lets the seats' own panes say hostile things: titles, screens, and the
// files that a client writes.
func (h *hostile) panes(texts map[string]string) {
	pane := h.seat("dev.sh").Pane
	var all strings.Builder
	for _, text := range texts {
		if !strings.ContainsRune(text, 0) && len(text) < 1000 {
			// tmux expands what it is given here, so that a command in it would be this test's own.
			h.tmux("select-pane", "-t", pane, "-T", strings.ReplaceAll(text, "#", "##"))
			h.harmless("ps")
			all.WriteString(text + "\n")
		}
	}
	h.must("send", "dev.sh", "cat "+h.write("all.txt", all.String())+"; echo; echo end-$((40+2))")
	h.eventually("the screen has seen it all", func() (bool, string) {
		r := h.harmless("capture", "dev.sh", "--lines", "200")
		return strings.Contains(r.out, "end-42"), r.out[:min(len(r.out), 500)]
	})
	h.must("send", "dev.impl", strings.ReplaceAll(texts["shell substitution"]+" "+texts["tmux condition"]+" "+texts["SQL"], "\n", " "), "--verify")
	h.must("wait", "dev.impl", "--until", "idle", "--timeout", "20s")
	if r := h.harmless("handover", "dev.impl", "--source", "rebuild", "--reason", texts["tmux condition"]+texts["shell quotes"]); r.code != 0 {
		h.t.Errorf("the seat cannot be handed over any more: %s%s", r.out, r.err)
	}
	h.harmless("handover", "dev.sh", "--reason", texts["title"]+texts["shell list"])
}

// environment gives rig itself hostile surroundings: each variable a share of
// the texts.
func (h *hostile) environment(names []string, texts map[string]string) {
	saved := h.env
	for i, key := range []string{"RIG_TMUX_SOCKET", "RIG_CONFIG", "RIG_SEAT", "RIG_SESSION", "RIG_PANE", "TERM", "RIG_CLAUDE_COMMAND", "TMUX", "USER"} {
		for j := i % 6; j < len(names); j += 6 {
			if strings.ContainsRune(texts[names[j]], 0) {
				continue
			}
			h.env = slices.Clone(saved)
			h.setenv(key, texts[names[j]])
			args := []string{"whoami"}
			if key == "RIG_TMUX_SOCKET" || key == "RIG_CONFIG" || key == "RIG_CLAUDE_COMMAND" {
				args = []string{"launch", "host", "--dry-run"}
			}
			h.harmless(args...)
		}
	}
	h.env = saved
}

// private looks at every file and folder below RIG_HOME: they are for their
// owner alone, and none bears a name that a text made up.
func (h *hostile) private() {
	root := filepath.Join(h.dir, "rig")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm()&^want != 0 || !d.IsDir() && !info.Mode().IsRegular() {
			h.t.Errorf("%s: %v", path, info.Mode())
		}
		return nil
	})
	if err != nil {
		h.t.Error(err)
	}
}
