package synth

import (
	"io"
	"strconv"
	"strings"
)

// ClaudeSession is the session id of every synthetic Claude transcript.
const ClaudeSession = "5e55feed-0000-4000-8000-00000000feed"

// Claude writes a transcript in the shape of Claude Code's: prompts, replies,
// tool calls, about a third tool results, and bookkeeping in between.
func Claude(w io.Writer, c Config) (Facts, error) {
	m := newMaker(w, c)
	cm := &claudeMaker{maker: m}
	cm.put(`{"type":"permission-mode","permissionMode":"default","sessionId":"` + ClaudeSession + `"}`)
	for m.off < c.Bytes && m.err == nil {
		cm.step()
	}
	return m.finish()
}

type claudeMaker struct {
	*maker
	parent string
	calls  int
}

// step writes one prompt, reply, call with its result, or bookkeeping record.
func (m *claudeMaker) step() {
	if m.longNow() {
		m.image(m.c.LongLine)
		return
	}
	switch k := m.r.below(100); {
	case k < 8:
		m.user(m.prose(60 + m.r.below(400)))
	case k < 40:
		m.assistant(m.prose(100 + m.r.below(1500)))
	case k < 90:
		m.call()
	default:
		m.put(m.head("system") + `"subtype":"turn_duration","durationMs":` + strconv.Itoa(m.r.below(9000)) + `,"isMeta":false}`)
	}
}

// head opens a record up to the members of its own.
func (m *claudeMaker) head(kind string) string {
	parent := "null"
	if m.parent != "" {
		parent = `"` + m.parent + `"`
	}
	m.parent = m.uuid()
	return `{"parentUuid":` + parent + `,"isSidechain":false,"userType":"external","cwd":"/home/op/project","sessionId":"` +
		ClaudeSession + `","version":"2.1.332","gitBranch":"main","type":"` + kind + `","uuid":"` + m.parent +
		`","timestamp":"` + m.stamp() + `",`
}

func (m *claudeMaker) user(text string) {
	open := m.head("user") + `"message":{"role":"user","content":`
	if planted, ok := m.edgeText(m.off + int64(len(open)) + 1); ok {
		text = planted
	}
	m.facts.Operator++
	m.put(open + m.quote(text) + `}}`)
}

func (m *claudeMaker) assistant(text string) {
	open := m.head("assistant") + `"message":{"id":"msg_` + m.parent + `","type":"message","role":"assistant","model":"claude-synthetic-1","content":[{"type":"text","text":`
	if planted, ok := m.edgeText(m.off + int64(len(open)) + 1); ok {
		text = planted
	}
	m.facts.Assistant++
	m.put(open + m.quote(text) + m.close("end_turn"))
}

// close ends an assistant record with its usage.
func (m *claudeMaker) close(stop string) string {
	return `}],"stop_reason":"` + stop + `","stop_sequence":null,"usage":{"input_tokens":` + strconv.Itoa(1+m.r.below(9)) +
		`,"cache_creation_input_tokens":` + strconv.Itoa(m.r.below(3000)) + `,"cache_read_input_tokens":` +
		strconv.Itoa(20_000+m.r.below(120_000)) + `,"output_tokens":` + strconv.Itoa(m.r.below(900)) + `,"service_tier":"standard"}},"requestId":"req_synthetic"}`
}

// call writes a tool call and its result. Like the client, it keeps the output
// a second time beside the message.
func (m *claudeMaker) call() {
	m.calls++
	id := "toolu_" + strconv.Itoa(m.calls)
	fs := files()
	path := fs[m.r.below(len(fs))]
	name, input := "Read", `{"file_path":"`+path+`"}`
	switch m.r.below(3) {
	case 0:
		name, input = "Bash", `{"command":"go test ./... 2>&1 | tail -20","description":"Run the tests"}`
	case 1:
		name, input = "Edit", `{"file_path":"`+path+`","old_string":`+m.quote(m.code(200))+`,"new_string":`+m.quote(m.code(300))+`}`
	}
	m.facts.ToolCalls++
	m.put(m.head("assistant") + `"message":{"id":"msg_` + id + `","type":"message","role":"assistant","model":"claude-synthetic-1","content":[{"type":"tool_use","id":"` +
		id + `","name":"` + name + `","input":` + input + m.close("tool_use"))
	out := m.quote(m.code(200 + m.r.below(2600)))
	m.facts.ToolResults++
	m.put(m.head("user") + `"message":{"role":"user","content":[{"tool_use_id":"` + id + `","type":"tool_result","content":` + out +
		`,"is_error":false}]},"toolUseResult":{"stdout":` + out + `,"stderr":"","interrupted":false,"isImage":false}}`)
}

// image writes a prompt with a pasted image of n bytes on one line.
func (m *claudeMaker) image(n int) {
	m.facts.Operator++
	m.put(m.head("user") + `"message":{"role":"user","content":[{"type":"text","text":"See the screenshot."},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` +
		strings.Repeat("SYNTHETIC0+/", n/12) + `"}}]}}`)
}
