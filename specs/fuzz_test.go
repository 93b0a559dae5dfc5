package specs

import (
	"os"
	"path/filepath"
	"testing"

	"rig/engine"
)

// seeds adds the reported cases and the starters to a corpus.
func seeds(f *testing.F) {
	for _, pattern := range []string{"B*.yaml", "B59*/*.yaml"} {
		files, err := filepath.Glob(filepath.Join(casesDir, pattern))
		if err != nil {
			f.Fatal(err)
		}
		for _, name := range files {
			data, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	for _, s := range List() {
		data, _ := Open(s.Name)
		f.Add(data)
	}
	f.Add([]byte(agentText))
	f.Add([]byte(newPod))
	f.Add([]byte("a: &a [*a]\n<<: {b: !!int c}\n---\n"))
}

// checkProblems holds what is true of every report.
func checkProblems(t *testing.T, list []Problem) {
	for _, p := range list {
		if p.Line < 1 || p.Col < 1 || p.Code == "" || p.Msg == "" {
			t.Fatalf("a problem without place or words: %+v", p)
		}
		if r, bad := badRune(p.Error(), false); bad && r != 0xfffd {
			t.Fatalf("a message holds U+%04X: %q", r, p.Error())
		}
	}
}

func FuzzParseRig(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		res := ParseRig(data, Options{File: "rig.yaml", Root: "/srv/shop"})
		checkProblems(t, res.Problems)
		checkProblems(t, res.Advisories)
		if len(res.Problems) > 0 {
			return
		}
		if _, err := engine.LaunchOrder(res.Spec); err != nil {
			t.Fatalf("a valid spec has no launch order: %v", err)
		}
		text, err := printSpec(res.Spec)
		if err != nil {
			t.Fatal(err)
		}
		again := ParseRig(text, Options{File: "rig.yaml", Root: "/srv/shop"})
		if len(again.Problems) > 0 {
			t.Fatalf("the printed spec has faults: %v\n%s", again.Problems, text)
		}
		same(t, res.Spec, again.Spec, text)
	})
}

func FuzzParseAgent(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		res := ParseAgent(data, "agent.yaml")
		checkProblems(t, res.Problems)
		checkProblems(t, res.Advisories)
	})
}

func FuzzParseFragment(f *testing.F) {
	seeds(f)
	rig := parse(twoPods("[{kind: delegates_to, from: a, to: b}]", "")).Spec
	f.Fuzz(func(t *testing.T, data []byte) {
		res := ParseFragment(data, rig, Options{File: "f.yaml", Root: "/srv/shop"})
		checkProblems(t, res.Problems)
		if len(res.Problems) > 0 {
			return
		}
		for _, m := range res.Pod.Members {
			if _, taken := rig.Member(engine.Logical(res.Pod.ID, m.ID)); taken {
				t.Fatalf("member %s is taken over", m.ID)
			}
		}
	})
}
