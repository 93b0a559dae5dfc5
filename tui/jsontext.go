package tui

import (
	"encoding/json"
	"fmt"
	"sort"
	"strconv"
	"strings"
)

// payloadText gives a JSON document in one line of "key value" pairs. What is not
// an object is shown as it is.
func payloadText(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	var m map[string]any
	if json.Unmarshal(raw, &m) != nil {
		return clean(string(raw))
	}
	return clean(evidenceText(m))
}

// valueText gives a decoded JSON value as a few words in one line.
func valueText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case int:
		return strconv.Itoa(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case map[string]any:
		if text := evidenceText(v); text != "" {
			return "(" + text + ")"
		}
		return ""
	case []any:
		words := make([]string, len(v))
		for i := range v {
			words[i] = valueText(v[i])
		}
		return joinWords("; ", words...)
	}
	if plain, ok := plainValue(v); ok {
		return valueText(plain)
	}
	return fmt.Sprint(v)
}

// plainValue turns a value of the engine into what JSON makes of it. It reports
// false for a value that is nothing else.
func plainValue(v any) (any, bool) {
	var out any
	b, err := json.Marshal(v)
	if err != nil || json.Unmarshal(b, &out) != nil {
		return nil, false
	}
	switch out.(type) {
	case nil, string, bool, float64, map[string]any, []any:
		return out, true
	}
	return nil, false
}

// evidenceText prints evidence as "key value" pairs in a stable order.
func evidenceText(ev map[string]any) string {
	parts := []string{}
	for _, k := range sortedKeys(ev) {
		if v := valueText(ev[k]); v != "" {
			parts = append(parts, keyText(k)+" "+v)
		}
	}
	return strings.Join(parts, ", ")
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// keyText writes a key of evidence as a person does.
func keyText(k string) string { return clean(strings.ReplaceAll(k, "_", " ")) }

// evidenceRows gives evidence as one row for each key; deeper values have rows of
// their own below it. What is empty is left out.
func evidenceRows(ev map[string]any) []readLine {
	var out []readLine
	for _, k := range sortedKeys(ev) {
		key := keyText(k)
		for _, l := range valueLines(ev[k]) {
			out = append(out, readLine{key, l, toneText})
			key = ""
		}
	}
	return out
}

// payloadRows is evidenceRows of a JSON document; one that is no object is a
// single row.
func payloadRows(raw json.RawMessage) []readLine {
	if len(raw) == 0 {
		return nil
	}
	var m map[string]any
	if json.Unmarshal(raw, &m) != nil {
		return []readLine{{"payload", clean(string(raw)), toneText}}
	}
	return evidenceRows(m)
}

// listed is how many cells a list of short values may have in one line.
const listed = 60

// valueLines gives a value as lines: objects as "key: value", lists as one line
// where they are short, else an item a line.
func valueLines(v any) []string {
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		return textLines(v)
	case map[string]any:
		var out []string
		for _, k := range sortedKeys(v) {
			out = append(out, below(keyText(k)+":", valueLines(v[k]))...)
		}
		return out
	case []any:
		return listLines(v)
	case bool, float64, int, int64:
		return []string{valueText(v)}
	}
	if plain, ok := plainValue(v); ok {
		return valueLines(plain)
	}
	return textLines(fmt.Sprint(v))
}

func textLines(s string) []string {
	var out []string
	for _, l := range strings.Split(s, "\n") {
		if l = clean(l); l != "" {
			out = append(out, l)
		}
	}
	return out
}

func listLines(v []any) []string {
	var out []string
	total, flat := 0, true
	blocks := make([][]string, len(v))
	for i := range v {
		if _, deep := v[i].(map[string]any); deep {
			flat = false
		}
		blocks[i] = valueLines(v[i])
		flat = flat && len(blocks[i]) <= 1
		for _, l := range blocks[i] {
			total += width(l) + 2
		}
	}
	for _, b := range blocks {
		if flat {
			out = append(out, b...)
			continue
		}
		out = append(out, below("-", b)...)
	}
	if flat && total <= listed && len(out) > 1 {
		return []string{strings.Join(out, "; ")}
	}
	return out
}

// below puts lines behind a head, the further ones indented under it.
func below(head string, lines []string) []string {
	if len(lines) == 0 {
		return nil
	}
	if len(lines) > 1 && strings.HasSuffix(head, ":") {
		lines = append([]string{head}, lines...)
	} else {
		lines = append([]string{head + " " + lines[0]}, lines[1:]...)
	}
	for i := 1; i < len(lines); i++ {
		lines[i] = "  " + lines[i]
	}
	return lines
}
