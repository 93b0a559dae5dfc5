package rig_test

import (
	"crypto/sha256"
	"fmt"
	"go/version"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// bare is a machine with the least there is: a clone with the scripts under test, and a PATH of a few everyday programs.
type bare struct {
	t        *testing.T
	dir, bin string
	env      []string
}

// everyday are the programs that such a machine has. Go, tmux and a package manager are not among them.
var everyday = strings.Fields("bash cat chmod cp cut dirname env find grep head mkdir mktemp mv perl rm sed sha256sum shasum sort tr xargs")

func newBare(t *testing.T) *bare {
	t.Helper()
	b := &bare{t: t, dir: t.TempDir(), bin: t.TempDir()}
	for _, name := range everyday {
		if path, err := exec.LookPath(name); err == nil {
			if err := os.Symlink(path, filepath.Join(b.bin, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, name := range []string{".ci/need", ".ci/go", "go.mod"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		// The Go that stands at its usual place on the machine of this test is not on that one.
		b.write(filepath.Join(b.dir, name), strings.ReplaceAll(string(text), ":/usr/local/go/bin", ""), 0o755)
	}
	b.program("id", "echo 0")
	b.program("uname", `if [ "$*" = -sm ]; then echo Linux x86_64; else echo Linux; fi`)
	return b
}

func (b *bare) write(path, text string, perm os.FileMode) {
	b.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), perm); err != nil {
		b.t.Fatal(err)
	}
}

// program puts a shell script on the PATH.
func (b *bare) program(name, script string) {
	b.t.Helper()
	b.write(filepath.Join(b.bin, name), "#!/usr/bin/env bash\n"+script+"\n", 0o755)
}

// need runs .ci/need and gives what it said, and whether all was there at the end.
func (b *bare) need(programs ...string) (string, bool) {
	b.t.Helper()
	cmd := exec.CommandContext(b.t.Context(), filepath.Join(b.dir, ".ci", "need"), programs...)
	cmd.Env = append([]string{"PATH=" + b.bin, "HOME=" + b.dir}, b.env...)
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

// says fails unless the text has every part.
func (b *bare) says(text string, parts ...string) {
	b.t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			b.t.Errorf("%q is not said in:\n%s", p, text)
		}
	}
}

// pinned is the version of .ci/go, and its checksums by platform.
func pinned(t *testing.T) (string, map[string]string) {
	t.Helper()
	text, err := os.ReadFile(".ci/go")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^version=(\S+)$`).FindStringSubmatch(string(text))
	sums := map[string]string{}
	for _, row := range regexp.MustCompile(`(?m)^([a-z]+-[a-z0-9]+) ([0-9a-f]{64})$`).FindAllStringSubmatch(string(text), -1) {
		sums[row[1]] = row[2]
	}
	if m == nil || len(sums) == 0 {
		t.Fatal("no version or no checksums in .ci/go")
	}
	return m[1], sums
}

// mirror is the module proxy of these tests; nothing listens there.
const mirror = "https://mirror.test/go"

// serve puts a curl and an unzip on the PATH that know one file of the mirror: a toolchain whose go only says its version. The result
// is the h1 of that.
func (b *bare) serve() string {
	b.t.Helper()
	v, _ := pinned(b.t)
	module := "golang.org/toolchain@v0.0.1-go" + v + ".linux-amd64"
	files := map[string]string{
		"bin/go":              "#!/usr/bin/env bash\necho go" + v + "\n",
		"pkg/tool/any/vet":    "#!/usr/bin/env bash\n",
		"src/_go.mod":         "module std\n",
		"src/cmd/a file.text": "text\n",
	}
	served := b.t.TempDir()
	var list strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		b.write(filepath.Join(served, module, name), files[name], 0o644)
		fmt.Fprintf(&list, "%x  %s/%s\n", sha256.Sum256([]byte(files[name])), module, name)
	}
	b.program("curl", `while [ "$1" != -o ]; do shift; done
[ "$3" = `+mirror+`/`+strings.Replace(module, "@", "/@v/", 1)+`.zip ] || { echo "curl: no such host" >&2; exit 6; }
echo zip >"$2"`)
	b.program("unzip", `[ "$(cat "$2")" = zip ] && cp -R "`+served+`/." "$4"`)
	return fmt.Sprintf("%x", sha256.Sum256([]byte(list.String())))
}

// trust makes the clone's script expect that sum for this platform.
func (b *bare) trust(sum string) {
	b.t.Helper()
	_, sums := pinned(b.t)
	path := filepath.Join(b.dir, ".ci", "go")
	text, err := os.ReadFile(path)
	if err != nil {
		b.t.Fatal(err)
	}
	b.write(path, strings.Replace(string(text), sums["linux-amd64"], sum, 1), 0o755)
}

// TestGoIsFetchedForTheClone: a machine without Go, or with one that is too old, gets one in the clone and nowhere else, checked
// against the checksum; whatever served it.
func TestGoIsFetchedForTheClone(t *testing.T) {
	t.Parallel()
	for name, old := range map[string]string{
		"none":                                  "",
		"too old":                               `[ "$*" = "env GOPROXY" ] || echo go1.19.8`,
		"kept from fetching a newer one itself": `[ "$*" = "env GOPROXY" ] || echo go1.24.0`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBare(t)
			if old != "" {
				b.program("go", old)
			}
			b.trust(b.serve())
			b.env = []string{"GOPROXY=" + mirror + ",direct"}
			out, ok := b.need("go")
			if !ok {
				t.Fatal(out)
			}
			b.says(out, "fetching Go", "bin/_go", mirror)
			for path, perm := range map[string]os.FileMode{"bin/go": 0o111, "pkg/tool/any/vet": 0o111, "src/go.mod": 0} {
				if info, err := os.Stat(filepath.Join(b.dir, "bin/_go", path)); err != nil || info.Mode()&perm != perm {
					t.Errorf("%s: %v %v", path, info, err)
				}
			}
			if out, ok := b.need("go"); !ok || out != "" {
				t.Errorf("a second time it says %q, %v", out, ok)
			}
		})
	}
}

// TestGoThatIsNotTheRealOneIsRefused: what a mirror serves in Go's name and is not Go is not kept.
func TestGoThatIsNotTheRealOneIsRefused(t *testing.T) {
	t.Parallel()
	b := newBare(t)
	b.serve()
	b.env = []string{"GOPROXY=" + mirror}
	out, ok := b.need("go")
	if ok {
		t.Fatal(out)
	}
	b.says(out, "checksum database", "Nothing was built")
	if left, _ := filepath.Glob(filepath.Join(b.dir, "bin", "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestGoThatCannotBeFetched: the message names the sources that were asked and the two ways out.
func TestGoThatCannotBeFetched(t *testing.T) {
	t.Parallel()
	b := newBare(t)
	b.serve()
	b.env = []string{"GOPROXY=off"}
	out, ok := b.need("go")
	if ok {
		t.Fatal(out)
	}
	b.says(out, "could not be fetched", "GOPROXY is off", "https://go.dev/dl/", "here: none", "set GOPROXY", "Nothing was built")
}

// TestWhatIsMissingIsInstalledOrTold: root gets it installed, together with what fetching Go takes; another user gets the command
// to hand to somebody who may, and nothing is changed.
func TestWhatIsMissingIsInstalledOrTold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, uid string
		tmux      string
		ok        bool
		says      []string
	}{
		{name: "root", uid: "0", tmux: "tmux 3.3a", ok: true, says: []string{"installing: tmux gcc libc6-dev procps", "apt-get install -y"}},
		{name: "another user", uid: "1000", says: []string{"here: none", "by hand: sudo apt-get install tmux gcc libc6-dev procps", "Nothing was built"}},
		{name: "root, and the system's is too old", uid: "0", tmux: "tmux 3.1c", says: []string{"installing: tmux", "3.2a or newer (here: tmux 3.1c)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBare(t)
			b.program("id", "echo "+c.uid)
			b.program("apt-get", fmt.Sprintf(`echo "apt-get $*"
[ "$1" = install ] || exit 0
for p in tmux cc pgrep; do printf '#!/usr/bin/env bash\necho "%s"\n' >%[2]s/$p; chmod +x %[2]s/$p; done`, c.tmux, b.bin))
			out, ok := b.need("tmux", "cc", "pgrep")
			if ok != c.ok {
				t.Fatal(out)
			}
			b.says(out, c.says...)
			if c.uid != "0" && strings.Contains(out, "apt-get update") {
				t.Errorf("it was tried:\n%s", out)
			}
		})
	}
}

// TestTheGoThatIsFetchedIsTheToolchain: .ci/go fetches what releases are built with, on every platform of one, and go.mod
// asks for nothing newer.
func TestTheGoThatIsFetchedIsTheToolchain(t *testing.T) {
	t.Parallel()
	v, sums := pinned(t)
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	asked := regexp.MustCompile(`(?m)^go (\S+)$`).FindStringSubmatch(string(mod))
	if asked == nil || version.Compare("go"+v, "go"+asked[1]) < 0 {
		t.Errorf(".ci/go fetches %s, go.mod asks for %v", v, asked)
	}
	if named := regexp.MustCompile(`(?m)^toolchain (\S+)$`).FindStringSubmatch(string(mod)); named == nil || named[1] != "go"+v {
		t.Errorf(".ci/go fetches %s, go.mod names the toolchain %v", v, named)
	}
	for _, platform := range []string{"linux-amd64", "linux-arm64", "darwin-amd64", "darwin-arm64"} {
		if sums[platform] == "" {
			t.Errorf("no Go is fetched on %s", platform)
		}
	}
}
