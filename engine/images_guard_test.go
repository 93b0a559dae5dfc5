package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func img(name, version string, lineage ...string) Image {
	return Image{ImageRef: ImageRef{Root: "home", Name: name, Version: version}, ID: ImageID(name, version), Lineage: lineage}
}

func TestGuard(t *testing.T) {
	pin := func(i Image) Image { i.Pinned = true; return i }
	ref := func(name, version string) ImageReferences {
		return ImageReferences{Found: []ImageReference{{Name: name, Version: version, File: "f.yaml"}}}
	}
	unread := func(text string) ImageReferences {
		return ImageReferences{Unread: []UnreadSpec{{File: "u.yaml", Text: text}}}
	}
	chain := []Image{img("root", "1"), img("mid", "1", "root"), img("leaf", "1", "agent-image:mid:1"), img("free", "1")}
	pinned := func(at int) []Image {
		out := append([]Image(nil), chain...)
		out[at] = pin(out[at])
		return out
	}
	for name, c := range map[string]struct {
		images []Image
		faults []ImageFault
		refs   ImageReferences
		seats  []ImageReference
		want   string // ids of the protected
	}{
		"nothing protects":               {chain, nil, ImageReferences{}, nil, ""},
		"a pin protects all ancestors":   {pinned(2), nil, ImageReferences{}, nil, "root:1 mid:1 leaf:1"},
		"and all descendants":            {pinned(0), nil, ImageReferences{}, nil, "root:1 mid:1 leaf:1"},
		"a name means every version":     {[]Image{img("a", "1"), img("a", "2"), img("b", "1")}, nil, ref("a", ""), nil, "a:1 a:2"},
		"a version means that one":       {[]Image{img("a", "1"), img("a", "2")}, nil, ref("a", "2"), nil, "a:2"},
		"a seat needs its image":         {chain, nil, ImageReferences{}, []ImageReference{{Name: "free", Version: "1", File: "s"}}, "free:1"},
		"a spec that no parser read":     {chain, nil, unread("a: [ mid"), nil, "root:1 mid:1 leaf:1"},
		"one that names none of them":    {chain, nil, unread("a: ["), nil, ""},
		"one that may spell any name":    {chain, nil, unread("agent_image \\x"), nil, "root:1 mid:1 leaf:1 free:1"},
		"one of which nothing was read":  {chain, nil, unread(""), nil, "root:1 mid:1 leaf:1 free:1"},
		"a manifest that no parser read": {chain, []ImageFault{{Text: "lineage: [free", Code: CodeImageInvalid}}, ImageReferences{}, nil, "free:1"},
		"an image that cannot be read":   {chain, []ImageFault{{Code: CodeUnavailable}}, ImageReferences{}, nil, "root:1 mid:1 leaf:1 free:1"},
		"a stray file":                   {chain, []ImageFault{{Code: CodeImageInvalid}}, ImageReferences{}, nil, ""},
		"a lineage in a circle":          {[]Image{img("a", "1", "b"), img("b", "1", "a")}, nil, ref("b", ""), nil, "a:1 b:1"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for i, why := range guardImages(c.images, c.faults, c.refs, c.seats) {
				if len(why) > 0 {
					got = append(got, c.images[i].Name+":"+c.images[i].Version)
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("protected: %v, want %s", got, c.want)
			}
		})
	}
}

func TestImageNames(t *testing.T) {
	for _, good := range []string{"payments-expert", "A", "a.b_c-1", strings.Repeat("x", 64), "1.10"} {
		if err := CheckImageName("name", good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"", ".", "..", ".hidden", "../../outside", "/tmp/abs", "a/b", `a\b`, "con\nfig", "a b", "設計", "-rf", "a:b", "a\x00", strings.Repeat("x", 65)} {
		err := CheckImageName("name", bad)
		if CodeOf(err) != CodeImageName {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestCapture(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	capture := func() ImageCapture {
		t.Helper()
		c, err := captureEnd(path)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	a, b := `{"uuid":"u1"}`+"\n", `{"ordinal":7}`+"\n"
	for text, want := range map[string]ImageCapture{
		"": {}, "no end": {}, a: {14, "u1"}, a + b: {28, "ordinal 7"}, a + `{"half`: {14, "u1"},
	} {
		write(text)
		if got := capture(); got != want {
			t.Errorf("%q: %+v", text, got)
		}
	}
	long := `{"text":"` + strings.Repeat("x", captureTail+10) + `"}` + "\n"
	write(a + long)
	if got := capture(); got.Length != int64(len(a+long)) || !strings.HasPrefix(got.LastUUID, "sha256 ") {
		t.Errorf("%+v", got)
	}
	write(a)
	then := capture()
	for text, want := range map[string]string{a: "unchanged", a + `{"half`: "unchanged", a + b: "moved_on", b + b: "rewritten", "": "rewritten", "x" + a + b: "rewritten"} {
		write(text)
		if got := sinceCapture(path, then); got.State != want {
			t.Errorf("%q: %+v", text, got)
		}
	}
	if got := sinceCapture(path+"x", then); got.State != "unknown" {
		t.Errorf("%+v", got)
	}
	// A record that is longer than what is read of the end is the same one, whatever
	// is being written behind it, when it was captured or now.
	half := `{"text":"` + strings.Repeat("y", 300)
	for _, behind := range []string{"", half, half + strings.Repeat("y", captureTail)} {
		write(a + long + behind)
		then = capture()
		for text, want := range map[string]string{
			a + long: "unchanged", a + long + half: "unchanged", a + long + half + strings.Repeat("y", captureTail+7): "unchanged",
			a + long + half + "\"}\n": "moved_on", a + strings.Replace(long, "x\"}", "z\"}", 1): "rewritten",
		} {
			write(text)
			if got := sinceCapture(path, then); got.State != want {
				t.Errorf("captured with %d bytes behind, now %d: %s, want %s (%s)", len(behind), len(text)-len(a+long), got.State, want, got.Why)
			}
		}
	}
}

func TestNativeIDsAreHiddenInAPane(t *testing.T) {
	const id = "5e550037-0000-4000-8000-00000000a037"
	for cut := range len(id) {
		lines := hideIDs([]string{"before " + id[:cut], id[cut:] + " after", "", "x" + id + "y " + strings.ToUpper(id), fmt.Sprint(cut)})
		text := strings.Join(lines, "")
		if strings.Contains(strings.ToLower(text), id) || strings.Count(text, "tok_…") != 3 || !strings.HasPrefix(lines[0], "before") || !strings.HasSuffix(lines[1], " after") {
			t.Errorf("cut at %d: %q", cut, lines)
		}
	}
	same := []string{"no id here", "5e550037-0000", "", "-4000-8000-00000000a037"}
	if got := hideIDs(same); strings.Join(got, "\n") != strings.Join(same, "\n") {
		t.Errorf("%q", got)
	}
}

func TestStarterIsQuoted(t *testing.T) {
	got := ImageStarter(Image{ImageRef: ImageRef{Name: "a.b", Version: "1.10"}, Runtime: RuntimeCodex, SourceCwd: "/x \"y\"\n#: z", Model: "yes"})
	for _, want := range []string{`name: "a-b"`, `cwd: "/x \"y\"\n#: z"`, `value: "a.b"`, `version: "1.10"`, `model: "yes"`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}
