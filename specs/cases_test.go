package specs

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const casesDir = "../testdata/cases"

// TestReportedCases pins every line of the report for the cases that came from
// bug reports: B59 typo and repeated key, B61 spellings, B62 refused sources, B67
// awkward names.
func TestReportedCases(t *testing.T) {
	for _, tc := range []struct {
		file   string
		faults int
	}{
		{"B59-typo-and-duplicate/typo.yaml", 1},
		{"B59-typo-and-duplicate/duplicate.yaml", 1},
		{"B61-scalar-spellings.yaml", 8},
		{"B62-refused-kinds.yaml", 7},
		{"B67-awkward-names.yaml", 7},
	} {
		t.Run(tc.file, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(casesDir, tc.file))
			if err != nil {
				t.Fatal(err)
			}
			res := ParseRig(data, Options{File: filepath.Base(tc.file)})
			if len(res.Problems) != tc.faults {
				t.Errorf("%d problems, want %d", len(res.Problems), tc.faults)
			}
			text := res.Err().(interface{ Unwrap() error }).Unwrap().Error() + "\n"
			golden(t, strings.TrimSuffix(filepath.Base(tc.file), ".yaml")+".golden", text)
			for _, altered := range []string{" 7 ", "100000", " 31 ", "123456 ", "42798"} {
				if strings.Contains(strings.ReplaceAll(text, "00123456", ""), altered) {
					t.Errorf("the report shows the altered value %q", altered)
				}
			}
		})
	}
}

// TestSpellingsQuotedAreKept is the other half of B61: quoted, they are names.
func TestSpellingsQuotedAreKept(t *testing.T) {
	for _, id := range []string{"no", "on", "007", "1e5", "0x1F", "2026-03-03", "1_000", "yes", "null", "y", "0b1", "0o7", "12"} {
		text := head + strings.Replace(agent, "id: impl", `id: "`+id+`"`, 1)
		res := parse(text)
		if len(res.Problems) > 0 {
			t.Errorf("%q: %v", id, res.Problems)
			continue
		}
		if got := res.Spec.Pods[0].Members[0].ID; got != id {
			t.Errorf("%q became %q", id, got)
		}
		bare := parse(strings.Replace(text, `"`+id+`"`, id, 1))
		if len(bare.Problems) != 1 || bare.Problems[0].Code != CodeQuoteIt && bare.Problems[0].Code != CodeMissing {
			t.Errorf("%s without quotes: %v", id, bare.Problems)
		}
	}
}

// TestTokenInputs feeds every line of B41 as the id of a fork.
func TestTokenInputs(t *testing.T) {
	f, err := os.Open(filepath.Join(casesDir, "B41-token-inputs.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Scan() // the header
	rows := 0
	for lines.Scan() {
		input, verdict, ok := strings.Cut(lines.Text(), "\t")
		if !ok {
			t.Fatalf("bad row %q", lines.Text())
		}
		rows++
		text := head + agent + keys("session_source:\n  mode: fork\n  ref:\n    kind: native_id\n    value: \""+input+"\"")
		res := parse(text)
		accept := strings.HasPrefix(verdict, "accept") && !strings.Contains(input, `\n`)
		switch {
		case accept && len(res.Problems) > 0:
			t.Errorf("%q: %v", input, res.Problems)
		case !accept && len(res.Problems) != 1:
			t.Errorf("%q must be refused once, got %v", input, res.Problems)
		case !accept && len(input) >= 36 && strings.Contains(res.Problems[0].Error(), "5e550041-0000-4000"):
			t.Errorf("the refusal quotes the id: %v", res.Problems[0])
		}
	}
	if rows < 10 {
		t.Errorf("only %d rows were read", rows)
	}
}
