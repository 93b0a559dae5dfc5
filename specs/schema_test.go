package specs

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"
)

// compile reads a schema of ours with a validator that is not.
func compile(t *testing.T, text []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("rig.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("rig.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// value reads a YAML text as an editor would.
func value(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestSchemaAgreesWithTheChecks: what passes the checks passes the schema, and
// what only needs the shape of a key to be refused is refused by both.
func TestSchemaAgreesWithTheChecks(t *testing.T) {
	schema := compile(t, Schema())
	good := map[string]string{
		"an agent": head + agent,
		"everything": "docs: [{path: a.md}]\nmanaged_blocks: {claude-code: CLAUDE.md}\nservices: {}\npolicies: {claude_compaction: {enabled: true, threshold_percent: 80}}\n" +
			head + agent + keys("env: {PORT: 8080, A: \"\"}\neffort: high\nsession_source: {mode: agent_image, ref: {kind: image_name, value: x, version: 2}}\nstartup: {files: [{path: a.md}], actions: [{type: send_text, value: hi, idempotent: true}]}") + shell,
		"a fork":    head + agent + keys("session_source: {mode: fork, ref: {kind: native_id, value: "+parentID+"}}"),
		"a rebuild": head + agent + keys("session_source: {mode: rebuild, ref: {kind: artifact_set, value: [a.md]}}"),
	}
	for _, s := range List() {
		data, _ := Open(s.Name)
		good["starter "+s.Name] = string(data)
	}
	for name, text := range good {
		expect(t, parse(text).Problems, nil)
		if err := schema.Validate(value(t, text)); err != nil {
			t.Errorf("%s: the schema refuses it: %v", name, err)
		}
	}
	bad := map[string]string{
		"typo":              strings.Replace(head+agent, "profile", "profil", 1),
		"version number":    strings.Replace(head+agent, `"0.2"`, "0.2", 1),
		"dot in a name":     strings.Replace(head+agent, "shop", "shop.v2", 1),
		"edge kind":         twoPods("[{kind: likes, from: a, to: b}]", ""),
		"services":          "services: {kind: compose}\n" + head + agent,
		"terminal profile":  head + strings.Replace(shell, "none", "default", 1),
		"agent profile":     head + strings.Replace(agent, "default", "none", 1),
		"terminal source":   head + shell + keys("session_source: {mode: fork, ref: {kind: native_id, value: "+parentID+"}}"),
		"fork kind":         head + agent + keys("session_source: {mode: fork, ref: {kind: name, value: x}}"),
		"mode":              head + agent + keys("session_source: {mode: resume, ref: {kind: native_id, value: "+parentID+"}}"),
		"short id":          head + agent + keys("session_source: {mode: fork, ref: {kind: native_id, value: abc}}"),
		"timeout":           head + agent + keys("readiness_timeout_ms: 1"),
		"no idempotent":     head + agent + keys("startup: {actions: [{type: send_text, value: hi}]}"),
		"absolute culture":  "culture_file: /a\n" + head + agent,
		"empty pods":        "version: \"0.2\"\nname: a\npods: []\n",
		"threshold too big": "policies: {claude_compaction: {enabled: true, threshold_percent: 101}}\n" + head + agent,
	}
	for name, text := range bad {
		if parse(text).Err() == nil {
			t.Errorf("%s: the checks accept it", name)
		}
		if schema.Validate(value(t, text)) == nil {
			t.Errorf("%s: the schema accepts it", name)
		}
	}
}

// TestSchemaRefusesTheCases runs the reported files through the schema; the
// repeated key is left out, since a YAML reader never hands it on.
func TestSchemaRefusesTheCases(t *testing.T) {
	schema := compile(t, Schema())
	for _, name := range []string{"B59-typo-and-duplicate/typo.yaml", "B61-scalar-spellings.yaml", "B62-refused-kinds.yaml", "B67-awkward-names.yaml"} {
		data, err := os.ReadFile(filepath.Join(casesDir, name))
		if err != nil {
			t.Fatal(err)
		}
		if schema.Validate(value(t, string(data))) == nil {
			t.Errorf("%s: the schema accepts it", name)
		}
	}
}

func TestAgentSchema(t *testing.T) {
	schema := compile(t, AgentSchema())
	if err := schema.Validate(value(t, agentText)); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"name: a\n", "name: a\nversion: \"1\"\nprofiles: []\n", "name: a\nversion: \"1\"\nsession_source: {}\n"} {
		if schema.Validate(value(t, bad)) == nil {
			t.Errorf("the schema accepts %q", bad)
		}
	}
}

// TestSchemaIsDescribed: an editor shows something for every key.
func TestSchemaIsDescribed(t *testing.T) {
	var undescribed []string
	for _, o := range theTables().all {
		if o.doc == "" {
			undescribed = append(undescribed, o.name)
		}
		for _, f := range o.fields {
			if f.doc == "" {
				undescribed = append(undescribed, o.name+"."+f.name)
			}
		}
	}
	if len(undescribed) > 0 {
		t.Errorf("no description: %v", undescribed)
	}
	names := map[string]string{}
	for _, o := range theTables().all {
		if o.name == "session_source" {
			continue // its alternatives are written instead
		}
		if other, twice := names[defName(o)]; twice && other != o.doc {
			t.Errorf("two objects are called %s", defName(o))
		}
		names[defName(o)] = o.doc
	}
	if !bytes.Equal(Schema(), Schema()) {
		t.Error("the schema differs from call to call")
	}
}
