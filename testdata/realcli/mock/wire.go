package main

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// object is a JSON object that is built or looked into by key.
type object map[string]any

// list is the array under key, or nothing if it is absent or something else.
func (o object) list(key string) []any {
	l, _ := o[key].([]any)
	return l
}

// text is the string under key, or "" if it is absent or something else.
func (o object) text(key string) string {
	s, _ := o[key].(string)
	return s
}

// obj is the object under key, or an empty one.
func (o object) obj(key string) object { return asObject(o[key]) }

// asObject is v as an object, or an empty one if it is something else.
func asObject(v any) object {
	if m, ok := v.(map[string]any); ok {
		return m
	}
	return object{}
}

// maxBody bounds a request body, in bytes: a session of a test never comes near it.
const maxBody = 64 << 20

// decode reads a request body, unpacks it and returns it parsed and as it goes into the log. A body that cannot be read or
// parsed gives an empty object and a note for the log.
func decode(r *http.Request) (object, json.RawMessage) {
	raw, err := unpack(io.LimitReader(r.Body, maxBody), r.Header.Get("Content-Encoding"))
	if err != nil {
		return object{}, note(err.Error())
	}
	body := object{}
	if err := json.Unmarshal(raw, &body); err != nil {
		return object{}, note(err.Error())
	}
	return body, raw
}

// note is a log entry in place of a body.
func note(text string) json.RawMessage {
	raw, err := json.Marshal(object{"unreadable": text})
	if err != nil {
		return json.RawMessage(`{"unreadable":true}`)
	}
	return raw
}

// unpack reads a body in one of the encodings that the clients use.
func unpack(r io.Reader, encoding string) ([]byte, error) {
	switch encoding {
	case "", "identity":
	case "gzip":
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, fmt.Errorf("gzip: %w", err)
		}
		r = z
	case "deflate":
		z, err := zlib.NewReader(r)
		if err != nil {
			return nil, fmt.Errorf("deflate: %w", err)
		}
		r = z
	default:
		return nil, fmt.Errorf("content encoding %q is not supported", encoding)
	}
	return io.ReadAll(r)
}

// record appends a request to the log, without the headers that carry keys, and returns its number.
func (m *mock) record(r *http.Request, body json.RawMessage) int {
	headers := map[string]string{}
	for name := range r.Header {
		if !secret(name) {
			headers[strings.ToLower(name)] = r.Header.Get(name)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if r.Method == http.MethodPost {
		m.count++
	}
	entry := object{
		"at": time.Now().UTC().Format(time.RFC3339Nano), "n": m.count, "method": r.Method,
		"path": r.URL.RequestURI(), "headers": headers, "body": body,
	}
	var line bytes.Buffer
	if err := json.NewEncoder(&line).Encode(entry); err == nil {
		_, _ = m.log.Write(line.Bytes()) // a full disk must not change what a client is answered
	}
	return m.count
}

// secret tells whether a header carries a key or another credential.
func secret(name string) bool {
	switch name = strings.ToLower(name); name {
	case "authorization", "proxy-authorization", "x-api-key", "cookie", "openai-organization":
		return true
	default:
		return strings.Contains(name, "token") || strings.Contains(name, "secret")
	}
}

// writeJSON answers with one document.
func writeJSON(w http.ResponseWriter, status int, document any) {
	raw, err := json.Marshal(document)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(raw) // the client has gone: nobody is left to tell
}

// stream is a running answer of server-sent events. The first write error ends it: the client has gone.
type stream struct {
	w   http.ResponseWriter
	r   *http.Request
	err error
}

// open starts an event stream as the answer.
func open(w http.ResponseWriter, r *http.Request) *stream {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	return &stream{w: w, r: r}
}

// send writes one event named kind; the same name goes into the event as its type.
func (s *stream) send(kind string, event object) {
	if s.err != nil {
		return
	}
	event["type"] = kind
	raw, err := json.Marshal(event)
	if err == nil {
		_, err = fmt.Fprintf(s.w, "event: %s\ndata: %s\n\n", kind, raw)
	}
	if err == nil {
		err = http.NewResponseController(s.w).Flush()
	}
	s.err = err
}

// words sends text word by word through each, spread over the given time.
func (s *stream) words(text string, over time.Duration, each func(piece string)) {
	words := strings.SplitAfter(text, " ")
	for range int(over / time.Second) {
		words = append(words, "… ")
	}
	for _, word := range words {
		each(word)
		if over > 0 && s.err == nil {
			pause(s.r, over/time.Duration(len(words)))
		}
	}
}

// pause waits for d or until the client has gone, whichever comes first.
func pause(r *http.Request, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
	}
}
