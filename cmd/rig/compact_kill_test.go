package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestCompactionKilledAtEveryStep kills the process of a guided compaction right
// before and right after each of its steps and then closes the operation. However
// it died: /compact was typed at most once, and nothing is typed twice by what
// goes on afterwards.
func TestCompactionKilledAtEveryStep(t *testing.T) {
	for i, step := range []string{"packet", "prep", "send", "prove", "record", "restore", "audit", "verdict"} {
		for j, when := range []string{"before", "after"} {
			if testing.Short() && (i+j)%4 != 0 {
				continue
			}
			t.Run(when+" "+step, func(t *testing.T) {
				w := newWorld(t)
				w.must("up", w.guided("ki", "", "Current work: HERON. Next owner: dev-qa@ki", "impl:claude-code"))
				w.fill("dev.impl", 900_000)
				w.setenv("TEST_KILL_AT", when+":dev-impl@ki/"+step)
				r := w.run("compact", "dev.impl")
				w.setenv("TEST_KILL_AT", "")
				if r.code == 0 {
					t.Fatalf("it ended well: %s%s", r.out, r.err)
				}
				id := w.ops()[0].ID
				committed := i > 4 || i == 4 && when == "after"
				verb := "rollback"
				if committed {
					verb = "finish"
				}
				if out := w.run("op", verb, id); !strings.Contains(out.out+out.err, id) || committed && !strings.Contains(out.out, "dev-impl@ki  compacted and audited") {
					t.Fatalf("op %s: exit %d %s%s", verb, out.code, out.out, out.err)
				}
				w.must("wait", "dev.impl", "--until", "idle")
				text := w.transcript()
				for _, once := range []string{"<command-name>/compact", `"type":"hook_additional_context"`, " restore: restore now", " audit: before any other work"} {
					if n := strings.Count(text, once); n > 1 && !strings.HasPrefix(once, " ") || n > 2 {
						t.Errorf("%q stands there %d times", once, n)
					}
				}
				var st compactStateDoc
				w.into(&st, "compact", "dev.impl", "--state")
				if committed && (st.Verdict != "" || st.Stage != "audited") {
					t.Errorf("finished as %+v", st)
				}
				if !committed && st.State != "rolled_back" {
					t.Errorf("rolled back as %+v", st)
				}
				if leases := w.ops()[0]; leases.State == "unfinished" {
					t.Error(fmt.Sprint("left unfinished: ", leases))
				}
			})
		}
	}
}
