package image_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"rig/engine"
	"rig/engine/image"
	"rig/specs"
)

const id = "5e550041-0000-4000-8000-00000000a041"

var at = time.Date(2026, 3, 3, 10, 0, 0, 0, time.UTC)

func library(t testing.TB) (*image.Library, string) {
	t.Helper()
	dir := t.TempDir()
	return image.New(image.Options{
		Roots: []image.Root{{Label: image.Home, Path: filepath.Join(dir, "lib")}, {Label: image.Workspace, Path: filepath.Join(dir, "ws")}},
		YAML:  specs.Documents,
	}), dir
}

func fresh(name, version, op string) engine.NewImage {
	return engine.NewImage{Image: engine.Image{
		ImageRef: engine.ImageRef{Root: image.Home, Name: name, Version: version}, Runtime: engine.RuntimeClaude, SourceSeat: "dev-a@x (generation 2)",
		Parent: engine.NewParentToken(id), SourceCwd: "/home/op/proj: \"x\"\n# no", Homes: engine.Homes{Home: "/home/op", ClaudeDir: "/home/op/.claude"},
		Model: "1.10", CreatedAt: at, CreatedBy: "ann", Operation: op, Notes: "yes\u0085\u2028\u007f\ufeff" + strings.Repeat("n", 40),
		EstimatedTokens: 12, Lineage: []string{"root", "agent-image:true:1.10"}, Capture: engine.ImageCapture{Length: 99, LastUUID: "u1"},
	}}
}

func TestAnImageComesBackAsItWasWritten(t *testing.T) {
	l, dir := library(t)
	note := filepath.Join(dir, "note.md")
	if err := os.WriteFile(note, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	n := fresh("true", "1.10", "01OP")
	n.Files, n.Pin = []engine.ImageFile{{Path: "note.md", Role: "role: {x}", Summary: "- s", From: note}}, true
	ctx := context.Background()
	if _, err := l.Write(ctx, n); err != nil {
		t.Fatal(err)
	}
	s, err := l.Scan(ctx)
	if err != nil || len(s.Images) != 1 || len(s.Faults) != 0 {
		t.Fatalf("%+v %v", s, err)
	}
	got := s.Images[0]
	if got.Name != "true" || got.Version != "1.10" || got.ID != "agent-image:true:1.10" || got.Parent.Reveal() != id || got.SourceCwd != n.SourceCwd ||
		got.Model != "1.10" || got.Notes != n.Notes || !got.CreatedAt.Equal(at) || fmt.Sprint(got.Lineage) != fmt.Sprint(n.Lineage) || got.Homes != n.Homes ||
		got.Capture != n.Capture || !got.Pinned || !got.PinnedAt.Equal(at) || got.EstimatedTokens != 12 || got.SourceSeat != n.SourceSeat {
		t.Errorf("%+v", got)
	}
	if f := got.Files[0]; f.Bytes != 5 || f.Role != "role: {x}" || f.Summary != "- s" {
		t.Errorf("%+v", f)
	}
	for path, want := range map[string]os.FileMode{"lib": 0o700, "lib/true/1.10": 0o700, "lib/true/1.10/manifest.yaml": 0o600, "lib/true/1.10/note.md": 0o600, "lib/true/1.10/stats.json": 0o600} {
		if info, err := os.Stat(filepath.Join(dir, path)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v", path, info.Mode(), err)
		}
	}
	if text := fmt.Sprintf("%v %+v", got, s); strings.Contains(text, id) {
		t.Error("an image prints its id")
	}
}

func TestWhatCannotBeWrittenLeavesNothing(t *testing.T) {
	l, dir := library(t)
	ctx := context.Background()
	if _, err := l.Write(ctx, fresh("a", "1", "01A")); err != nil {
		t.Fatal(err)
	}
	outside, note := filepath.Join(dir, "x.exe"), filepath.Join(dir, "x.md")
	for _, path := range []string{outside, note} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	bad := func(change func(*engine.NewImage)) engine.NewImage {
		n := fresh("b", "1", "01B")
		change(&n)
		return n
	}
	for name, n := range map[string]engine.NewImage{
		"taken":          fresh("a", "1", "01C"),
		"a bad name":     bad(func(n *engine.NewImage) { n.Name = "../b" }),
		"a hidden name":  bad(func(n *engine.NewImage) { n.Name = ".b" }),
		"a bad version":  bad(func(n *engine.NewImage) { n.Version = ".." }),
		"no operation":   bad(func(n *engine.NewImage) { n.Operation = "" }),
		"a file that is": bad(func(n *engine.NewImage) { n.Files = []engine.ImageFile{{Path: "x.exe", Role: "r", From: outside}} }),
		"a path out":     bad(func(n *engine.NewImage) { n.Files = []engine.ImageFile{{Path: "../x.md", Role: "r", From: outside}} }),
		"its own name": bad(func(n *engine.NewImage) {
			n.Files = []engine.ImageFile{{Path: "manifest.yaml", Role: "r", From: outside}}
		}),
		"two of one name": bad(func(n *engine.NewImage) {
			n.Files = []engine.ImageFile{{Path: "x.md", Role: "r", From: note}, {Path: "X.md", Role: "r", From: note}}
			if found := l.CheckFiles(n.Files); len(found) != 1 || engine.CodeOf(found[0]) != engine.CodeInvalid {
				t.Errorf("two files of one name pass the check before anything is written: %v", found)
			}
		}),
		"a missing file": bad(func(n *engine.NewImage) {
			n.Files = []engine.ImageFile{{Path: "x.md", Role: "r", From: outside + "no"}}
		}),
	} {
		if _, err := l.Write(ctx, n); err == nil || engine.CodeOf(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	s, err := l.Scan(ctx)
	if err != nil || len(s.Images) != 1 || len(s.Faults) != 0 {
		t.Errorf("%+v %v", s, err)
	}
	entries, err := os.ReadDir(filepath.Join(dir, "lib"))
	for _, e := range entries {
		if n := e.Name(); n != "a" && n != "b" && n != ".lock" {
			t.Errorf("left: %s", n)
		}
	}
	if err != nil {
		t.Error(err)
	}
}

// TestAHalfWrittenImageIsNotInTheLibrary is what a crash leaves.
func TestAHalfWrittenImageIsNotInTheLibrary(t *testing.T) {
	l, dir := library(t)
	ctx := context.Background()
	half := filepath.Join(dir, "lib", ".new-01X")
	if err := os.MkdirAll(half, 0o700); err != nil {
		t.Fatal(err)
	}
	if s, err := l.Scan(ctx); err != nil || len(s.Images)+len(s.Faults) != 0 {
		t.Errorf("%+v %v", s, err)
	}
	if err := l.Withdraw(ctx, "01X"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(half); !os.IsNotExist(err) {
		t.Errorf("it is left: %v", err)
	}
	if _, err := l.Write(ctx, fresh("a", "1", "01Y")); err != nil {
		t.Fatal(err)
	}
	if err := l.Withdraw(ctx, "01Z"); err != nil {
		t.Fatal(err)
	}
	if s, _ := l.Scan(ctx); len(s.Images) != 1 {
		t.Error("another operation's image was withdrawn")
	}
	if err := l.Withdraw(ctx, "01Y"); err != nil {
		t.Fatal(err)
	}
	if s, _ := l.Scan(ctx); len(s.Images) != 0 {
		t.Error("it was not withdrawn")
	}
}

func TestTakingOutAndPuttingBack(t *testing.T) {
	l, dir := library(t)
	ctx := context.Background()
	for _, v := range []string{"1", "2"} {
		if _, err := l.Write(ctx, fresh("a", v, "01"+v)); err != nil {
			t.Fatal(err)
		}
	}
	ref := engine.ImageRef{Root: image.Home, Name: "a", Version: "1"}
	count := func() int {
		s, err := l.Scan(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return len(s.Images)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(l.PutBack(ctx, "01OP", ref)) // nothing was taken out
	must(l.SetAside(ctx, "01OP", ref))
	if count() != 1 || !l.IsAside("01OP", ref) || l.IsAside("01PO", ref) {
		t.Error("it is still there")
	}
	must(l.PutBack(ctx, "01OP", ref))
	if count() != 2 || l.IsAside("01OP", ref) {
		t.Error("it is not back")
	}
	must(l.SetAside(ctx, "01OP", ref))
	must(l.Discard(ctx, "01OP", ref))
	must(l.Discard(ctx, "01OP", ref))
	must(l.SetAside(ctx, "01OP", engine.ImageRef{Root: image.Home, Name: "a", Version: "2"}))
	must(l.PutBack(ctx, "01OP", engine.ImageRef{Root: image.Home, Name: "a", Version: "2"}))
	if count() != 1 {
		t.Error("the other version went too")
	}
	if err := l.SetAside(ctx, "01OP", ref); engine.CodeOf(err) != engine.CodeImageNotFound {
		t.Errorf("%v", err)
	}
	entries, err := os.ReadDir(filepath.Join(dir, "lib"))
	if err != nil || len(entries) != 2 {
		t.Errorf("left: %v %v", entries, err)
	}
}

// TestLinksAreNeverFollowed: neither in the place of a name, nor of a version,
// nor inside an image.
func TestLinksAreNeverFollowed(t *testing.T) {
	l, dir := library(t)
	ctx := context.Background()
	if _, err := l.Write(ctx, fresh("a", "1", "01A")); err != nil {
		t.Fatal(err)
	}
	target := filepath.Join(dir, "target")
	kept := filepath.Join(target, "1", "manifest.yaml")
	if err := os.MkdirAll(filepath.Dir(kept), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(kept, []byte("name: evil\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"evil": target, "a/2": filepath.Join(target, "1"), "a/1/inside": target} {
		if err := os.Symlink(to, filepath.Join(dir, "lib", link)); err != nil {
			t.Fatal(err)
		}
	}
	s, err := l.Scan(ctx)
	if err != nil || len(s.Images) != 3 || !s.Images[1].Link || !s.Images[2].Link || s.Images[2].Name != "evil" {
		t.Fatalf("%+v %v", s, err)
	}
	through := engine.ImageRef{Root: image.Home, Name: "evil", Version: "1"}
	for what, err := range map[string]error{
		"pin": l.SetPin(ctx, through, at), "count": l.CountFork(ctx, through, at), "aside": l.SetAside(ctx, "01O", through),
		"pin a link": l.SetPin(ctx, engine.ImageRef{Root: image.Home, Name: "a", Version: "2"}, at),
	} {
		if err == nil {
			t.Errorf("%s went through a link", what)
		}
	}
	for _, i := range s.Images {
		if err := l.SetAside(ctx, "01OP", i.ImageRef); err != nil {
			t.Fatal(err)
		}
		if err := l.Discard(ctx, "01OP", i.ImageRef); err != nil {
			t.Fatal(err)
		}
	}
	if b, err := os.ReadFile(kept); err != nil || string(b) != "name: evil\n" {
		t.Errorf("what the links point to was touched: %s %v", b, err)
	}
}

func TestForksAreCountedByManyAtOnce(t *testing.T) {
	l, dir := library(t)
	ctx := context.Background()
	if _, err := l.Write(ctx, fresh("a", "1", "01A")); err != nil {
		t.Fatal(err)
	}
	ref := engine.ImageRef{Root: image.Home, Name: "a", Version: "1"}
	var wg sync.WaitGroup
	for range 20 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if err := l.CountFork(ctx, ref, at); err != nil {
				t.Error(err)
			}
		}()
	}
	wg.Wait()
	s, err := l.Scan(ctx)
	if err != nil || s.Images[0].Stats.ForkCount != 20 || !s.Images[0].Stats.LastUsedAt.Equal(at) {
		t.Errorf("%+v %v", s.Images, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "lib/a/1/stats.json"), []byte("{half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, _ := l.Scan(ctx); len(s.Images) != 1 || s.Images[0].Stats.ForkCount != 0 {
		t.Errorf("malformed statistics are not zeros: %+v", s)
	}
}

func TestABrokenImageHidesNoOther(t *testing.T) {
	l, dir := library(t)
	ctx := context.Background()
	if _, err := l.Write(ctx, fresh("good", "1", "01A")); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(filepath.Join(dir, "lib/good/1/manifest.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"yaml": "a: [", "list": "- a\n", "empty": "", "two": "name: two\n---\nname: two\n", "stolen": string(good),
		"runtime": strings.Replace(strings.Replace(string(good), `"good"`, `"runtime"`, 1), "claude-code", "terminal", 1),
		"token":   strings.Replace(strings.Replace(string(good), `"good"`, `"token"`, 1), "source_resume_token: \""+id, "source_resume_token: \"no id", 1),
		"files":   strings.Replace(strings.Replace(string(good), `"good"`, `"files"`, 1), "files: []", "files: [{path: ../../x.md, role: r}]", 1),
		"time":    strings.Replace(strings.Replace(string(good), `"good"`, `"time"`, 1), "2026-03-03T10:00:00Z", "yesterday", 1),
	} {
		path := filepath.Join(dir, "lib", name, "1", "manifest.yaml")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	camel := strings.NewReplacer(`"good"`, `"camel"`, "source_resume_token", "sourceResumeToken", "source_seat", "sourceSeat", "source_cwd", "sourceCwd").Replace(string(good))
	if err := os.MkdirAll(filepath.Join(dir, "ws/camel/1.10"), 0o700); err != nil {
		t.Fatal(err)
	}
	camel = strings.Replace(camel, `version: "1"`, "version: 1.10", 1)
	if err := os.WriteFile(filepath.Join(dir, "ws/camel/1.10/manifest.yaml"), []byte(camel), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := l.Scan(ctx)
	if err != nil || len(s.Images) != 2 || len(s.Faults) != 9 {
		t.Fatalf("%d images, %d faults: %+v %v", len(s.Images), len(s.Faults), s.Faults, err)
	}
	if c := s.Images[0]; c.ID != "agent-image:camel:1.10" || c.Root != image.Workspace || c.Parent.Reveal() != id {
		t.Errorf("%+v", c)
	}
	for _, f := range s.Faults {
		if strings.Contains(f.Error, id) || f.Error == "" {
			t.Errorf("%+v", f)
		}
	}
}

// TestALaterRootHidesAnEarlierOne, and the hidden one is still listed.
func TestALaterRootHidesAnEarlierOne(t *testing.T) {
	l, dir := library(t)
	ctx := context.Background()
	if _, err := l.Write(ctx, fresh("a", "1", "01A")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(dir, "ws"), os.DirFS(filepath.Join(dir, "lib"))); err != nil {
		t.Fatal(err)
	}
	s, err := l.Scan(ctx)
	if err != nil || len(s.Images) != 2 || !s.Images[0].Shadowed || s.Images[1].Shadowed {
		t.Fatalf("%+v %v", s.Images, err)
	}
	got, err := s.FindImage("a")
	if err != nil || got.Root != image.Workspace {
		t.Errorf("%+v %v", got, err)
	}
}

func TestReferencesAreFoundAtAnyDepth(t *testing.T) {
	l, dir := library(t)
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, "specs", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	source := func(name, version string) string {
		return "{mode: agent_image, ref: {kind: image_name, value: " + name + version + "}}"
	}
	write("rig.yaml", "pods:\n  - members:\n      - {id: a, session_source: "+source("one", "")+"}\n")
	write("x/y/agent.yml", "session_source: "+source("two", ", version: 1.10")+"\n")
	write("x/docs.yaml", "a: 1\n---\nb: [[{c: "+source("three", "")+"}]]\n")
	write("x/merge.yaml", "base: &b {mode: agent_image}\nother: {<<: *b, ref: {value: four}}\n")
	write("x/half.yaml", "a: [one, mentions five\n")
	write("x/noise.yaml", "mode: fork\nref: {kind: native_id, value: six}\n")
	write("node_modules/n.yaml", "session_source: "+source("seven", "")+"\n")
	write("far.yaml", "session_source: "+source("eight", "")+"\n")
	if err := os.Symlink(filepath.Join(dir, "specs", "x"), filepath.Join(dir, "specs", "x", "loop")); err != nil {
		t.Fatal(err)
	}
	refs, err := l.References(context.Background(), []string{filepath.Join(dir, "specs"), filepath.Join(dir, "specs", "rig.yaml"), filepath.Join(dir, "none")})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, r := range refs.Found {
		got[r.Name] = fmt.Sprint(r.Version, r.Agent)
	}
	want := map[string]string{"one": "false", "two": "1.10true", "three": "false", "four": "false", "eight": "false"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if len(refs.Unread) != 1 || !strings.Contains(refs.Unread[0].Text, "five") {
		t.Errorf("%+v", refs.Unread)
	}
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte("name: a\nversion: \"1\"\nruntime: codex\nsource_seat: s\nsource_resume_token: " + id + "\nfiles: [{path: a.md, role: r}]\n"))
	f.Add([]byte("name: [a]\nlineage: x\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, dir := library(t)
		path := filepath.Join(dir, "lib", "a", "1", "manifest.yaml")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := l.Scan(context.Background())
		if err != nil || len(s.Images)+len(s.Faults) != 1 {
			t.Fatalf("%+v %v", s, err)
		}
		if len(s.Images) == 1 && (s.Images[0].Name != "a" || s.Images[0].Version != "1" || s.Images[0].Parent.Empty()) {
			t.Errorf("%+v", s.Images[0])
		}
	})
}
