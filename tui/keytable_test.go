package tui

import (
	"strings"
	"testing"
)

// TestKeyTable says what the configuration may name, and refuses what the
// console would refuse.
func TestKeyTable(t *testing.T) {
	plain, err := KeyTable(nil)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, k := range plain {
		if k.Rebound || seen[k.Action] || len(k.Where) == 0 || k.Help == "" {
			t.Errorf("%+v", k)
		}
		seen[k.Action] = true
	}
	moved, err := KeyTable(map[string][]string{"handover": {"ctrl+x"}})
	if err != nil {
		t.Fatal(err)
	}
	for i, k := range moved {
		if k.Rebound != (k.Action == "handover") || k.Action != plain[i].Action {
			t.Errorf("%+v", k)
		}
		if k.Rebound && (k.Readable != "^x" || strings.Join(k.Default, "") != "H") {
			t.Errorf("%+v", k)
		}
	}
	for want, custom := range map[string]map[string][]string{
		"no action":  {"fly": {"x"}},
		"means both": {"handover": {"j"}},
		"cannot be":  {"confirm": {"enter"}},
	} {
		if _, err := KeyTable(custom); err == nil || !strings.Contains(err.Error(), strings.ReplaceAll(want, "no action", "there is no action")) {
			t.Errorf("%v: %v", custom, err)
		}
	}
}
