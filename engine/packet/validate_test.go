package packet

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"rig/engine"
)

// damaged makes a good packet and changes it.
func damaged(t *testing.T, change func(dir string)) string {
	t.Helper()
	q := request(t, cases+"B04-content-shapes.jsonl")
	res, err := Write(q)
	if err != nil {
		t.Fatal(err)
	}
	change(res.Path)
	return res.Path
}

// edit changes the summary as a map.
func edit(t *testing.T, dir string, change func(map[string]any)) {
	t.Helper()
	path := filepath.Join(dir, SummaryName)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	change(m)
	if raw, err = json.Marshal(m); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestValidateFindsAndGrades(t *testing.T) {
	inner := func(m map[string]any, key string) map[string]any { return m[key].(map[string]any) }
	tests := map[string]struct {
		change func(t *testing.T, dir string)
		field  string
		has    string // in value or rule
		valid  bool
	}{
		"missing file":  {func(_ *testing.T, d string) { _ = os.Remove(filepath.Join(d, TouchedName)) }, TouchedName, "<missing>", false},
		"bad JSON":      {func(_ *testing.T, d string) { _ = os.WriteFile(filepath.Join(d, SummaryName), []byte("{"), 0o600) }, SummaryName, "<invalid-json>", false},
		"two documents": {func(_ *testing.T, d string) { _ = os.WriteFile(filepath.Join(d, SummaryName), []byte("{} {}"), 0o600) }, SummaryName, "<invalid-json>", false},
		"an array":      {func(_ *testing.T, d string) { _ = os.WriteFile(filepath.Join(d, SummaryName), []byte("[]"), 0o600) }, SummaryName, "type:", false},
		"missing key":   {func(t *testing.T, d string) { edit(t, d, func(m map[string]any) { delete(m, "next_owner") }) }, "next_owner", "<missing>", false},
		"extra key":     {func(t *testing.T, d string) { edit(t, d, func(m map[string]any) { m["mood"] = "fine" }) }, "mood", "additionalProperties", false},
		"wrong type":    {func(t *testing.T, d string) { edit(t, d, func(m map[string]any) { m["caveats"] = "none" }) }, "caveats", "type:", false},
		"empty text":    {func(t *testing.T, d string) { edit(t, d, func(m map[string]any) { m["role_pointer"] = "" }) }, "role_pointer", "minLength", false},
		"wrong enum": {func(t *testing.T, d string) {
			edit(t, d, func(m map[string]any) { m["source_trust_ranking"] = []string{"gossip"} })
		}, "source_trust_ranking.0", "enum", false},
		"empty ranking": {func(t *testing.T, d string) {
			edit(t, d, func(m map[string]any) { m["source_trust_ranking"] = []string{} })
		}, "source_trust_ranking", "minItems", false},
		"relative cwd": {func(t *testing.T, d string) { edit(t, d, func(m map[string]any) { m["source_cwd"] = "home" }) }, "source_cwd", "pattern", false},
		"bad time":     {func(t *testing.T, d string) { edit(t, d, func(m map[string]any) { m["generated_at"] = "yesterday" }) }, "generated_at", "format", false},
		"another bound": {func(t *testing.T, d string) {
			edit(t, d, func(m map[string]any) { inner(m, "bounded_latest_transcript")["bound"] = 121 })
		}, "bounded_latest_transcript.bound", "const", false},
		"over the bound": {func(t *testing.T, d string) {
			edit(t, d, func(m map[string]any) { inner(m, "bounded_latest_transcript")["message_count"] = 500 })
		}, "bounded_latest_transcript.message_count", "maximum", false},
		"negative count": {func(t *testing.T, d string) {
			edit(t, d, func(m map[string]any) { inner(m, "bounded_latest_transcript")["message_count"] = -1 })
		}, "bounded_latest_transcript.message_count", "minimum", false},
		"fraction": {func(t *testing.T, d string) {
			edit(t, d, func(m map[string]any) { inner(m, "bounded_latest_transcript")["message_count"] = 1.5 })
		}, "bounded_latest_transcript.message_count", "type:", false},
		"inside full": {func(t *testing.T, d string) {
			edit(t, d, func(m map[string]any) { inner(m, "full_transcript")["line_count"] = "many" })
		}, "full_transcript.line_count", "type:", true},
		"key without file": {func(_ *testing.T, d string) { _ = os.Remove(filepath.Join(d, FullName)) }, "full_transcript", "<key-present-file-absent>", false},
		"file without key": {func(t *testing.T, d string) { edit(t, d, func(m map[string]any) { delete(m, "full_transcript") }) }, FullName, "<file-present-key-absent>", false},
		"wrong count": {func(t *testing.T, d string) {
			edit(t, d, func(m map[string]any) { inner(m, "full_transcript")["line_count"] = 3 })
		}, FullName, "count:", true},
		"secret": {func(_ *testing.T, d string) {
			_ = os.WriteFile(filepath.Join(d, TouchedName), []byte("- /x/gh"+"p_"+ex[:36]+" (1)\n"), 0o600)
		}, TouchedName, "github_token in line 1", true},
		"stranger": {func(_ *testing.T, d string) { _ = os.WriteFile(filepath.Join(d, "notes.txt"), nil, 0o600) }, `"notes.txt"`, "<not-part-of-a-packet>", true},
		"link out": {func(_ *testing.T, d string) {
			_ = os.Remove(filepath.Join(d, LatestName))
			_ = os.Symlink("/etc/passwd", filepath.Join(d, LatestName))
		}, LatestName, "<not-a-regular-file>", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dir := damaged(t, func(d string) { tt.change(t, d) })
			report, err := Validate(dir)
			if err != nil {
				t.Fatal(err)
			}
			if report.Valid != tt.valid || report.ExitCode() != map[bool]int{true: 0, false: 1}[tt.valid] {
				t.Errorf("valid %v exit %d: %+v", report.Valid, report.ExitCode(), report.Errors)
			}
			found := false
			for _, p := range report.Errors {
				found = found || p.Field == tt.field && strings.Contains(p.Value+" "+p.Rule, tt.has)
				if len([]rune(p.Value)) > 80 || strings.Contains(p.Value, ex[:36]) {
					t.Errorf("value %q", p.Value)
				}
			}
			if !found {
				t.Errorf("%s (%s) is not among %+v", tt.field, tt.has, report.Errors)
			}
		})
	}
}

func TestValidateCollectsEverything(t *testing.T) {
	dir := damaged(t, func(d string) {
		edit(t, d, func(m map[string]any) {
			delete(m, "next_owner")
			m["source_runtime"] = "vim"
			m["mood"] = "fine"
		})
	})
	report, err := Validate(dir)
	if err != nil || len(report.Errors) != 3 {
		t.Errorf("%+v, %v", report, err)
	}
	if _, err := Read(dir); engine.CodeOf(err) != CodePacketInvalid {
		t.Errorf("it was read: %v", err)
	}
}

func TestValidateAndReadOfNothing(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "no")
	if _, err := Validate(missing); engine.CodeOf(err) != engine.CodeNotFound {
		t.Errorf("%v", err)
	}
	if _, err := Read(missing); engine.CodeOf(err) != engine.CodeNotFound {
		t.Errorf("%v", err)
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Validate(pipe); engine.CodeOf(err) != engine.CodeInvalid {
		t.Errorf("of a pipe: %v", err)
	}
	empty := t.TempDir()
	report, err := Validate(empty)
	if err != nil || report.Valid || len(report.Errors) != 4 {
		t.Errorf("%+v, %v", report, err)
	}
	if _, err := Read(empty); engine.CodeOf(err) != CodePacketInvalid {
		t.Errorf("%v", err)
	}
}

// plainV0 is a packet as another program writes it: the required keys alone.
const plainV0 = `{
  "source_session_id": "dev-impl@shop", "source_rig": "shop", "source_runtime": "codex", "source_cwd": "/home/op/project",
  "target_rig": "shop", "target_runtime": "claude-code", "target_workspace_root": "/home/op/project",
  "default_target_repo": null, "role_pointer": "rigs/shop/roles/impl.md",
  "bounded_latest_transcript": {"path": "transcript-latest.md", "message_count": 1, "bound": 120},
  "touched_files": {"path": "touched-files.md", "top_paths": [{"path": "a.go", "count": 2}]},
  "durable_pointers": {"queue_pointers": [], "progress_pointers": [], "field_note_pointers": [], "artifact_pointers": []},
  "current_work_summary": "work", "next_owner": "self", "caveats": [], "authority_boundaries": "none stated",
  "omitted_classes": ["reasoning_records"], "redaction_policy_id": "openrig-v0",
  "source_trust_ranking": ["rig_whoami", "bounded_latest_transcript"],
  "generator_version": "rig-restore-packet@0.1.0", "generated_at": "2026-03-03T10:00:00Z"
}`

func TestPlainV0IsWholeAndRoundTrips(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		SummaryName: plainV0, InstructionsName: "# Restore\n\x1b[31mred\n", TouchedName: "- a.go (2)\n",
		LatestName: "# Latest\n\n## 1. user 2026-03-03T09:00:00Z\n\nwords\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	report, err := Validate(dir)
	if err != nil || !report.Valid || len(report.Errors) != 0 {
		t.Errorf("%+v, %v", report, err)
	}
	p, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	printed, err := p.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var before, after any
	if json.Unmarshal([]byte(plainV0), &before) != nil || json.Unmarshal(printed, &after) != nil {
		t.Fatal("not JSON")
	}
	a, _ := json.Marshal(before)
	b, _ := json.Marshal(after)
	if string(a) != string(b) {
		t.Errorf("%s became %s", a, b)
	}
	text := p.Text()
	if !strings.Contains(text, "dev-impl@shop") || !strings.Contains(text, "1 message, bound 120") || strings.Contains(text, "\x1b") {
		t.Errorf("text:\n%s", text)
	}
}

// The published schema must be what it says: valid JSON, with the 21 required
// keys of the standard first, closed, and accepting what Marshal writes.
func TestSchemaIsPublishable(t *testing.T) {
	var doc struct {
		Schema     string         `json:"$schema"`
		Additional any            `json:"additionalProperties"`
		Required   []string       `json:"required"`
		Properties map[string]any `json:"properties"`
	}
	if err := json.Unmarshal(Schema, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Schema != "http://json-schema.org/draft-07/schema#" || doc.Additional != false || len(doc.Required) != 21 {
		t.Errorf("schema %s additional %v required %d", doc.Schema, doc.Additional, len(doc.Required))
	}
	for _, key := range doc.Required {
		if doc.Properties[key] == nil {
			t.Errorf("%s is required but not described", key)
		}
	}
	raw, err := Marshal(Summary{})
	if err != nil {
		t.Fatal(err)
	}
	var keys map[string]any
	if err := json.Unmarshal(raw, &keys); err != nil {
		t.Fatal(err)
	}
	for key := range keys {
		if doc.Properties[key] == nil {
			t.Errorf("%s is written but not in the schema", key)
		}
	}
	problems, err := checkSummary(raw)
	if err != nil || len(problems) == 0 {
		t.Errorf("an empty summary passes: %v, %v", problems, err)
	}
}

func FuzzSummary(f *testing.F) {
	f.Add([]byte(plainV0))
	f.Add([]byte(`{"source_cwd":1e400,"caveats":[null]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		problems, err := checkSummary(raw)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range problems {
			if p.Field == "" || p.Rule == "" || len([]rune(p.Value)) > 80 {
				t.Fatalf("%+v", p)
			}
		}
		if len(problems) == 0 {
			var s Summary
			if err := json.Unmarshal(raw, &s); err != nil {
				t.Fatalf("valid but not readable: %v", err)
			}
		}
	})
}
