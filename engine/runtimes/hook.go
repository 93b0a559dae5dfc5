package runtimes

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"time"
)

const (
	maxHookInput  = 4 << 20  // of a hook's stdin; the rest is read and dropped
	maxHookDrain  = 64 << 20 // beyond it we stop reading
	maxHookString = 4 << 10  // of one text in an event
	maxHookNested = 2 << 10  // of one list or object in an event
)

// Hook is the body of the hidden verb "hook <event>", which the client starts on
// every event of ours. It stores one small file in the occupant's spool: no
// database, a few milliseconds. Before a compaction of any origin it also writes
// the restore packet, with pack, and arms the directive; after it, SessionStart
// prints the directive on stdout, once. It returns 0 whatever happens, since
// another status would block the client or show an error in it. Outside a seat
// (no RIG_SPOOL) it does nothing. stdout and pack may be nil.
func Hook(stdin io.Reader, stdout io.Writer, env, args []string, pack PacketWriter) int {
	input := withoutParent(readInput(stdin), env)
	if len(args) != 1 || !validEvent(args[0]) {
		return 0
	}
	dir := lookup(env, SpoolEnv)
	if dir == "" {
		return 0
	}
	event := args[0]
	_ = spoolEvent(dir, event, reduceEvent(event, input), time.Now()) // a lost event is no reason to disturb the client
	var in hookPayload
	if json.Unmarshal(input, &in) != nil {
		return 0
	}
	switch event {
	case "PreCompact":
		if pack != nil {
			_ = prepareCompaction(dir, in, env, pack) // a compaction is never held up by us
		}
	case "StopFailure":
		withdrawDirective(dir, in)
	case "SessionStart", "UserPromptSubmit":
		deliverDirective(dir, event, in, env, stdout)
	}
	return 0
}

// readInput takes what we use of stdin and drains the rest, so that the client
// never writes into a closed pipe.
func readInput(stdin io.Reader) []byte {
	b, err := io.ReadAll(io.LimitReader(stdin, maxHookInput))
	if err == nil && len(b) == maxHookInput {
		_, _ = io.Copy(io.Discard, io.LimitReader(stdin, maxHookDrain))
	}
	return b
}

// reduceEvent makes a bounded, valid JSON object of an event: texts are cut,
// large lists and objects (tool inputs, diffs) are left out. Input that is no
// object still tells that the event happened.
func reduceEvent(event string, input []byte) []byte {
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) != nil || fields == nil {
		fields = map[string]json.RawMessage{"unreadable": json.RawMessage("true")}
	}
	out := make(map[string]json.RawMessage, len(fields)+1)
	total := 0
	for k, v := range fields {
		v = bytes.TrimSpace(v)
		if len(k) > 64 || len(v) == 0 {
			continue
		}
		switch {
		case v[0] == '"' && len(v) > maxHookString:
			v = cutString(v, maxHookString)
		case (v[0] == '{' || v[0] == '[') && len(v) > maxHookNested:
			continue
		}
		if total += len(k) + len(v) + 6; total > maxEventFile-1024 {
			continue
		}
		out[k] = v
	}
	name, err := json.Marshal(event)
	if err != nil {
		return nil
	}
	out["hook_event_name"] = name
	b, err := json.Marshal(out)
	if err != nil {
		return []byte(`{"unreadable":true}`)
	}
	return b
}

// cutString shortens a JSON string to about limit bytes of text.
func cutString(raw json.RawMessage, limit int) json.RawMessage {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return json.RawMessage(`""`)
	}
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + "…"
	}
	b, err := json.Marshal(s)
	if err != nil {
		return json.RawMessage(`""`)
	}
	return b
}
