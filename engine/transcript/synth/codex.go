package synth

import (
	"io"
	"strconv"
	"strings"
)

// CodexThread is the thread id of every synthetic rollout.
const CodexThread = "019cb2d1-0000-7000-8000-00000000feed"

// Codex writes a rollout in the shape of Codex's: turns with messages in two
// record shapes, commands, patches and token counts.
func Codex(w io.Writer, c Config) (Facts, error) {
	m := newMaker(w, c)
	cm := &codexMaker{maker: m}
	cm.rec("session_meta", `{"id":"`+CodexThread+`","timestamp":"2026-03-03T10:00:00.000Z","cwd":"/home/op/project","originator":"codex-tui","cli_version":"0.171.0","source":"cli"}`)
	for m.off < c.Bytes && m.err == nil {
		cm.turn()
	}
	return m.finish()
}

type codexMaker struct {
	*maker
	turns, total int
}

func (m *codexMaker) open(kind string) string {
	return `{"timestamp":"` + m.stamp() + `","ordinal":` + strconv.Itoa(m.facts.Records) + `,"type":"` + kind + `","payload":`
}

func (m *codexMaker) rec(kind, payload string) { m.put(m.open(kind) + payload + "}") }

// turn writes one turn: a prompt, some tool calls, an answer.
func (m *codexMaker) turn() {
	m.turns++
	id := m.uuid()
	m.rec("event_msg", `{"type":"task_started","turn_id":"`+id+`","model_context_window":258400}`)
	m.rec("turn_context", `{"turn_id":"`+id+`","cwd":"/home/op/project","model":"gpt-synthetic"}`)
	m.facts.Operator++
	if m.longNow() {
		m.rec("response_item", `{"type":"message","role":"user","content":[{"type":"input_text","text":"See the screenshot."},{"type":"input_image","image_url":"data:image/png;base64,`+
			strings.Repeat("SYNTHETIC0+/", m.c.LongLine/12)+`"}]}`)
	} else {
		m.message("user", "input_text", "UserMessage", "text", m.prose(60+m.r.below(400)))
	}
	for range 1 + m.r.below(6) {
		m.tool()
	}
	m.facts.Assistant++
	m.message("assistant", "output_text", "AgentMessage", "Text", m.prose(100+m.r.below(1500)))
	m.count()
	m.rec("event_msg", `{"type":"task_complete","turn_id":"`+id+`","duration_ms":1000}`)
}

// message writes a message as a response item and as a completed item.
func (m *codexMaker) message(role, part, item, itemPart, text string) {
	open := m.open("response_item") + `{"type":"message","role":"` + role + `","content":[{"type":"` + part + `","text":`
	if planted, ok := m.edgeText(m.off + int64(len(open)) + 1); ok {
		text = planted
	}
	m.put(open + m.quote(text) + `}]}}`)
	m.rec("event_msg", `{"type":"item_completed","item":{"type":"`+item+`","content":[{"type":"`+itemPart+`","text":`+m.quote(text)+`}]}}`)
}

func (m *codexMaker) tool() {
	m.facts.ToolCalls++
	m.facts.ToolResults++
	call := "call_" + strconv.Itoa(m.facts.ToolCalls)
	fs := files()
	if m.r.below(2) == 0 {
		m.rec("response_item", `{"type":"function_call","name":"exec_command","arguments":`+m.quote(`{"cmd":"sed -n 1,80p `+fs[m.r.below(len(fs))]+`"}`)+`,"call_id":"`+call+`"}`)
		m.rec("response_item", `{"type":"function_call_output","call_id":"`+call+`","output":`+m.quote(m.code(200+m.r.below(3000)))+`}`)
	} else {
		m.rec("response_item", `{"type":"custom_tool_call","name":"apply_patch","input":`+m.quote("*** Begin Patch\n*** Update File: "+fs[m.r.below(len(fs))]+"\n+"+m.code(300)+"*** End Patch\n")+`,"call_id":"`+call+`"}`)
		m.rec("response_item", `{"type":"custom_tool_call_output","call_id":"`+call+`","output":"Exit code: 0"}`)
	}
	m.count()
}

func (m *codexMaker) count() {
	last := 20_000 + m.r.below(150_000)
	m.total += last
	m.rec("event_msg", `{"type":"token_count","info":{"total_token_usage":{"total_tokens":`+strconv.Itoa(m.total)+
		`},"last_token_usage":{"input_tokens":`+strconv.Itoa(last-40)+`,"output_tokens":40,"total_tokens":`+strconv.Itoa(last)+
		`},"model_context_window":258400},"rate_limits":{"primary":{"used_percent":12.5,"window_minutes":300,"resets_at":1772539200},"secondary":null}}`)
}
