package specs

import (
	"reflect"
	"strings"
	"testing"
)

func TestDocumentsKeepTheSpellingOfScalars(t *testing.T) {
	got, err := Documents([]byte("a: 1.10\nb: yes\nc: ~\nd: &x [1, \"2\"]\ne: *x\n--- \nf: {g: 0x1F}\n"))
	want := []any{
		map[string]any{"a": "1.10", "b": "yes", "c": nil, "d": []any{"1", "2"}, "e": []any{"1", "2"}},
		map[string]any{"f": map[string]any{"g": "0x1F"}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v %v", got, err)
	}
}

func TestDocumentsRefuseWhatCannotBeTold(t *testing.T) {
	bomb := "a: &a [x, x, x, x, x, x, x, x, x]\n"
	for i := 'b'; i < 'k'; i++ {
		bomb += string(i) + ": &" + string(i) + " [" + strings.Repeat("*"+string(i-1)+", ", 9) + "x]\n"
	}
	for name, text := range map[string]string{
		"a key twice": "a: 1\na: 2\n", "a bomb": bomb, "an open list": "a: [1, 2\n", "a map as a key": "{a: 1}: 2\n",
		"too long": "a: " + strings.Repeat("x", maxDocument), "too deep": strings.Repeat("[", 120) + strings.Repeat("]", 120),
		"a second document that is none": "a: 1\n---\nb: [\n",
	} {
		if docs, err := Documents([]byte(text)); err == nil {
			t.Errorf("%s: %v", name, docs)
		}
	}
	if docs, err := Documents(nil); err != nil || len(docs) != 0 {
		t.Errorf("an empty text: %v %v", docs, err)
	}
}

func FuzzDocuments(f *testing.F) {
	f.Add([]byte("name: x\nlineage: [a, b]\nfiles: [{path: a.md, role: r}]\n"))
	f.Add([]byte("a: &a [*a]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		docs, err := Documents(data)
		if err != nil && docs != nil {
			t.Errorf("both: %v %v", docs, err)
		}
	})
}
