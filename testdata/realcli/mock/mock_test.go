package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// post sends body to a running mock and returns the status and the whole answer.
func post(t *testing.T, url, body string, headers ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(answer)
}

// start runs a mock that logs into the returned buffer.
func start(t *testing.T) (string, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	server := httptest.NewServer(newMock(&log).routes())
	t.Cleanup(server.Close)
	return server.URL, &log
}

// claude is a Messages request with the given texts, user and assistant in turn.
func claude(texts ...string) string {
	var messages []object
	for i, text := range texts {
		messages = append(messages, object{"role": []string{"user", "assistant"}[i%2], "content": []object{{"type": "text", "text": text}}})
	}
	tools := []object{{"name": "Bash"}, {"name": "Write"}}
	raw, _ := json.Marshal(object{"model": "m", "messages": messages, "tools": tools})
	return string(raw)
}

// codex is a Responses request with the given texts, user and assistant in turn.
func codex(texts ...string) string {
	var input []object
	for i, text := range texts {
		input = append(input, object{"type": "message", "role": []string{"user", "assistant"}[i%2], "content": []object{{"type": "input_text", "text": text}}})
	}
	raw, _ := json.Marshal(object{"model": "m", "stream": true, "input": input, "tools": []object{{"name": "exec_command", "type": "function"}}})
	return string(raw)
}

func TestAnswersComeFromTheRequestAlone(t *testing.T) {
	url, _ := start(t)
	for path, ask := range map[string]func(...string) string{"/v1/messages": claude, "/v1/responses": codex} {
		_, told := post(t, url+path, ask("The codeword is heron-41. Keep it.", "Noted.", "what is the codeword?"))
		if !strings.Contains(told, "heron-41") {
			t.Errorf("%s: the fact in the request is not in the answer: %s", path, told)
		}
		_, blank := post(t, url+path, ask("what is the codeword?"))
		if strings.Contains(blank, "heron-41") {
			t.Errorf("%s: a fact of another request came back: %s", path, blank)
		}
	}
}

func TestCompactionKeepsTheStatedFacts(t *testing.T) {
	url, _ := start(t)
	_, summary := post(t, url+"/v1/messages", claude(
		"The next owner is dev-qa.", "Noted.",
		"Your task is to create a detailed summary of the conversation in a <summary> block.",
	))
	if !strings.Contains(summary, "The next owner is dev-qa") || !strings.Contains(summary, "<summary>") && !strings.Contains(summary, `\u003csummary`) {
		t.Errorf("summary without the fact: %s", summary)
	}
	_, summary = post(t, url+"/v1/responses", codex(
		"The next owner is dev-qa.", "Noted.", "You are performing a CONTEXT CHECKPOINT COMPACTION.",
	))
	if !strings.Contains(summary, "next owner is dev-qa") {
		t.Errorf("summary without the fact: %s", summary)
	}
}

func TestDirectivesChooseTheAnswer(t *testing.T) {
	url, _ := start(t)
	cases := []struct {
		name, path, body, want string
		status                 int
	}{
		{"say", "/v1/messages", claude("[[say:hello there]]"), "hello there", 200},
		{"shell", "/v1/messages", claude("[[sh:mkdir made]] run"), `"command":"mkdir made"`, 200},
		{"write", "/v1/messages", claude("[[write:/a/b]]"), `"file_path":"/a/b"`, 200},
		{"error", "/v1/messages", claude("[[err:529]]"), "overloaded_error", 529},
		{"limit", "/v1/messages", claude("[[limit]]"), "rate_limit_error", 429},
		{"tokens", "/v1/messages", claude("[[tokens:450000]]"), `"cache_read_input_tokens":449497`, 200},
		{"say", "/v1/responses", codex("[[say:hello]]"), `"text":"hello"`, 200},
		{"shell", "/v1/responses", codex("[[sh:ls]]"), `{\"cmd\":\"ls\"}`, 200},
		{"sandbox", "/v1/responses", codex("[[esc:touch /x]]"), "require_escalated", 200},
		{"limit", "/v1/responses", codex("[[limit]]"), "usage_limit_reached", 429},
	}
	for _, c := range cases {
		t.Run(c.path+" "+c.name, func(t *testing.T) {
			status, answer := post(t, url+c.path, c.body)
			if status != c.status || !strings.Contains(answer, c.want) {
				t.Errorf("status %d (want %d), %q is not in %s", status, c.status, c.want, answer)
			}
		})
	}
}

func TestToolResultEndsTheTurn(t *testing.T) {
	url, _ := start(t)
	result := `{"messages":[{"role":"user","content":"[[sh:ls]]"},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"Bash","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"ok"}]}],"tools":[{"name":"Bash"}]}`
	if _, answer := post(t, url+"/v1/messages", result); !strings.Contains(answer, "Done after the tool.") {
		t.Errorf("the tool was called again: %s", answer)
	}
}

func TestStreamsAreWhole(t *testing.T) {
	url, _ := start(t)
	body := strings.Replace(claude("[[say:one two]]"), `"model"`, `"stream":true,"model"`, 1)
	_, answer := post(t, url+"/v1/messages", body)
	var order []string
	for line := range strings.Lines(answer) {
		if kind, ok := strings.CutPrefix(line, "event: "); ok {
			order = append(order, strings.TrimSpace(kind))
		}
	}
	want := "message_start ping content_block_start content_block_delta content_block_delta content_block_stop message_delta message_stop"
	if got := strings.Join(order, " "); got != want {
		t.Errorf("events\n%s, want\n%s", got, want)
	}
	_, answer = post(t, url+"/v1/responses", codex("[[say:one two]]"))
	if !strings.Contains(answer, "event: response.completed") || !strings.Contains(answer, `"text":"one two"`) {
		t.Errorf("incomplete stream: %s", answer)
	}
}

func TestLogHasNoKeys(t *testing.T) {
	url, log := start(t)
	post(t, url+"/v1/messages", claude("hello"), "X-Api-Key", "secret-1", "Authorization", "Bearer secret-2", "X-Session-Token", "secret-3", "X-Plain", "kept")
	if text := log.String(); strings.Contains(text, "secret-") || !strings.Contains(text, `"x-plain":"kept"`) || !strings.Contains(text, "hello") {
		t.Errorf("log line: %s", text)
	}
}

func TestStateIsSetOverHTTP(t *testing.T) {
	url, _ := start(t)
	post(t, url+"/_ctl", `{"status":503,"body":{"error":"down"}}`)
	if status, answer := post(t, url+"/v1/messages", claude("hi")); status != 503 || answer != `{"error":"down"}` {
		t.Errorf("got %d %s", status, answer)
	}
	post(t, url+"/_ctl", `{"status":0}`)
	if status, _ := post(t, url+"/v1/messages", claude("hi")); status != 200 {
		t.Errorf("still failing: %d", status)
	}
}

func FuzzRequestsNeverPanic(f *testing.F) {
	f.Add(claude("[[say:x]] what is the codeword?"))
	f.Add(codex("[[esc:[[sh:y]]]]"))
	f.Add(`{"messages":[1,"a",{"role":"user","content":[{"type":"tool_result","content":[null]}]}],"tools":[[]],"system":[{}]}`)
	f.Add(`{"input":{"a":1},"text":[],"stream":"yes"}`)
	f.Fuzz(func(t *testing.T, body string) {
		if strings.Contains(body, "wait") || strings.Contains(body, "slow") {
			body = "{}" // these directives only make the fuzzing slow
		}
		for _, path := range []string{"/v1/messages", "/v1/responses"} {
			req := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
			answer := httptest.NewRecorder()
			newMock(io.Discard).routes().ServeHTTP(answer, req)
			if answer.Code < 200 || answer.Code > 599 {
				t.Fatal(fmt.Sprint("status ", answer.Code))
			}
		}
	})
}
