// Command mock is a model API for tests: it answers the requests of the real Claude Code and Codex clients on loopback, so that
// the clients can be run without an account and without the internet.
//
// What it answers is chosen by directives in the newest user text (see script.go) and, for questions about what was said before,
// only by the text of the request itself: the mock keeps no memory between requests, so a right answer proves that the client
// really carried the fact. It serves:
//
//	POST /v1/messages                the Anthropic Messages API, streamed or as one document
//	POST /v1/messages/count_tokens
//	POST /v1/responses               the OpenAI Responses API, streamed
//	POST /v1/responses/compact
//	GET  /v1/models
//	GET  /_state, POST /_ctl         what is reported from now on (see state)
//
// It prints its base URL on the first line of its output and runs until it is killed.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:0", "loopback address to listen on; port 0 picks a free one")
	path := flag.String("log", os.DevNull, "file that every request is appended to, one JSON document a line")
	flag.Parse()
	if err := serve(*addr, *path); err != nil {
		fmt.Fprintln(os.Stderr, "mock:", err)
		os.Exit(1)
	}
}

// serve listens on addr, announces the base URL and answers until the listener fails.
func serve(addr, path string) error {
	log, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the request log: %w", err)
	}
	defer log.Close()
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	if !listener.Addr().(*net.TCPAddr).IP.IsLoopback() {
		return fmt.Errorf("%s is not a loopback address", addr)
	}
	fmt.Printf("http://%s\n", listener.Addr())
	server := &http.Server{Handler: newMock(log).routes(), ReadHeaderTimeout: 10 * time.Second}
	return server.Serve(listener)
}

// state is what every answer reports until it is changed over /_ctl or by a directive.
type state struct {
	InputTokens  int               `json:"input_tokens"`  // context size of the request, in tokens
	OutputTokens int               `json:"output_tokens"` // size of each answer, in tokens
	Delay        float64           `json:"delay"`         // seconds that a streamed answer takes
	Status       int               `json:"status"`        // not 0: every model request fails with it
	Body         json.RawMessage   `json:"body"`          // the body of that failure
	Headers      map[string]string `json:"headers"`       // added to every answer, for instance rate-limit headers
}

// mock is the server: the state above, a request counter and the log.
type mock struct {
	mu    sync.Mutex
	state state
	count int
	log   interface{ Write([]byte) (int, error) }
}

func newMock(log interface{ Write([]byte) (int, error) }) *mock {
	return &mock{log: log, state: state{InputTokens: 1200, OutputTokens: 40}}
}

// routes is the mock's handler. Clients prefix and suffix the paths in their own ways, so the ends of the paths decide.
func (m *mock) routes() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method != http.MethodPost:
			m.record(r, nil)
			m.lookup(w, r)
		case r.URL.Path == "/_ctl":
			m.control(w, r)
		default:
			body, raw := decode(r)
			n := m.record(r, raw)
			m.answer(w, r, n, body)
		}
	})
}

// lookup answers what is not a POST: the state, the model list, and the plain request by which a client tests the line.
func (m *mock) lookup(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/_state":
		writeJSON(w, http.StatusOK, m.snapshot())
	case strings.HasSuffix(r.URL.Path, "/models"):
		model := object{"type": "model", "id": "mock-model", "object": "model", "display_name": "Mock", "created_at": "2026-01-01T00:00:00Z"}
		writeJSON(w, http.StatusOK, object{
			"object": "list", "data": []object{model}, "models": []object{},
			"has_more": false, "first_id": "mock-model", "last_id": "mock-model",
		})
	default:
		writeJSON(w, http.StatusOK, object{})
	}
}

// control merges the posted document into the state and shows the result.
func (m *mock) control(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	err := json.NewDecoder(r.Body).Decode(&m.state)
	m.mu.Unlock()
	if err != nil {
		writeJSON(w, http.StatusBadRequest, object{"error": err.Error()})
		return
	}
	writeJSON(w, http.StatusOK, m.snapshot())
}

// answer sends a model request to the API that its path names.
func (m *mock) answer(w http.ResponseWriter, r *http.Request, n int, body object) {
	for name, value := range m.snapshot().Headers {
		w.Header().Set(name, value)
	}
	w.Header().Set("Request-Id", fmt.Sprintf("req_mock_%d", n))
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/count_tokens"):
		writeJSON(w, http.StatusOK, object{"input_tokens": m.snapshot().InputTokens})
	case strings.HasSuffix(path, "/v1/messages"):
		m.messages(w, r, n, body)
	case strings.HasSuffix(path, "/responses/compact"):
		writeJSON(w, http.StatusOK, object{"output": []object{{"type": "compaction", "encrypted_content": "bW9jaw=="}}})
	case strings.HasSuffix(path, "/responses"):
		m.responses(w, r, n, body)
	default:
		writeJSON(w, http.StatusOK, object{})
	}
}

// snapshot copies the state.
func (m *mock) snapshot() state {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state
}

// setInputTokens changes the reported context size from this answer on.
func (m *mock) setInputTokens(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state.InputTokens = n
}
