package tui

import (
	"bytes"
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

// valueText gives a decoded JSON value as a few words.
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
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

// jsonLines gives a JSON object as one line for each key, deeper values indented.
func jsonLines(raw json.RawMessage) []readLine {
	if len(raw) == 0 {
		return nil
	}
	out := []readLine{{}}
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return append(out, readLine{"payload", clean(string(raw)), toneText})
	}
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		out = append(out, jsonValue(clean(k), m[k])...)
	}
	return out
}

func jsonValue(key string, raw json.RawMessage) []readLine {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		var out []readLine
		for i, l := range strings.Split(s, "\n") {
			if i > 0 {
				key = ""
			}
			out = append(out, readLine{key, clean(l), toneText})
		}
		return out
	}
	var buf bytes.Buffer
	if json.Indent(&buf, raw, "", "  ") != nil {
		return []readLine{{key, clean(string(raw)), toneText}}
	}
	var out []readLine
	for i, l := range strings.Split(buf.String(), "\n") {
		if i > 0 {
			key = ""
		}
		indent := len(l) - len(strings.TrimLeft(l, " "))
		out = append(out, readLine{key, strings.Repeat(" ", indent) + clean(strings.TrimLeft(l, " ")), toneText})
	}
	return out
}
