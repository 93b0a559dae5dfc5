package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"

	"rig/engine"
)

func modelRequest(seat, model string) engine.Request {
	return seatRequest(engine.VerbSetModel, seat, engine.SetModelArgs{Model: model})
}

func TestSetModelWritesOneColumn(t *testing.T) {
	t.Parallel()
	b := newSeatBench(t)
	before := b.history(t, "dev.m0")
	panes := fmt.Sprint(b.mux.Panes())
	rec := b.run(t, modelRequest("dev.m0", " opus-9 "))
	if s := b.seat(t, "dev.m0"); !rec.OK || s.Model != "opus-9" || rec.Seats[0].Evidence["changed"] != true {
		t.Fatalf("%+v, model %q", rec, s.Model)
	}
	if after := b.history(t, "dev.m0"); fmt.Sprint(before) != fmt.Sprint(after) || fmt.Sprint(b.mux.Panes()) != panes {
		t.Errorf("more than the model changed:\n%+v\n%+v", before, after)
	}
	ev := b.events(t, rec.Operation.ID)
	if types(ev) != "node.model_changed" {
		t.Fatalf("events: %s", types(ev))
	}
	payload(t, ev[0], `"from":""`, `"to":"opus-9"`, `"logical_id":"dev.m0"`, `"reason":"because"`)
	again := b.run(t, modelRequest("dev.m0", "opus-9"))
	if !again.OK || again.Seats[0].Evidence["changed"] != false || len(b.events(t, again.Operation.ID)) != 0 {
		t.Errorf("an equal model: %+v, events %s", again, types(b.events(t, again.Operation.ID)))
	}
	launched := b.run(t, freshRequest("dev.m0", true))
	if launched.Seats[0].Evidence["model"] != "opus-9" {
		t.Errorf("the next launch does not use it: %+v", launched.Seats[0].Evidence)
	}
}

func TestSetModelRefusals(t *testing.T) {
	t.Parallel()
	b := newSeatBench(t)
	for model, want := range map[string]engine.Code{
		"": engine.CodeMissingModel, " \t\n": engine.CodeMissingModel, "-p": "invalid_model", "--dangerously-skip-permissions": "invalid_model",
		"a b": "invalid_model", "a\nb": "invalid_model", "a\x00b": "invalid_model", "a\u202eb": "invalid_model", "\xff": "invalid_model",
		strings.Repeat("m", 201): "invalid_model",
	} {
		if code, _ := b.refused(t, modelRequest("dev.m0", model)); code != want {
			t.Errorf("%q: %s, want %s", model, code, want)
		}
	}
}

// TestTokenInputs: what was once stored as a resume token and made the next
// resume fail.
func TestTokenInputs(t *testing.T) {
	t.Parallel()
	b := newSeatBench(t)
	table, err := os.ReadFile("../testdata/cases/B41-token-inputs.tsv")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(table), "\n"), "\n")[1:]
	accepted := 0
	for _, line := range lines {
		input, expected, _ := strings.Cut(line, "\t")
		input = strings.ReplaceAll(input, `\n`, "\n")
		before := b.token(t, "dev.m0")
		req := tokenRequest("dev.m0", input)
		if strings.HasPrefix(expected, "accept") {
			accepted++
			rec := b.run(t, req)
			if now := b.token(t, "dev.m0"); !rec.OK || now != strings.TrimSuffix(input, "\n") {
				t.Errorf("%q: stored %q", input, now)
			}
			continue
		}
		code, _ := b.refused(t, req)
		want := engine.CodeInvalidToken
		if strings.TrimSpace(input) == "" {
			want = engine.CodeMissingToken
		}
		if code != want || b.token(t, "dev.m0") != before {
			t.Errorf("%q: %s, token %q", input, code, b.token(t, "dev.m0"))
		}
	}
	if accepted != 2 || len(lines) < 12 {
		t.Errorf("%d lines, %d accepted", len(lines), accepted)
	}
}

const secretID = "5e550041-0000-4000-8000-0000deadbeef"

func TestSetTokenIsTheOperatorsWord(t *testing.T) {
	t.Parallel()
	b := newSeatBench(t)
	rec := b.run(t, tokenRequest("dev-m0@team", secretID+"\n"))
	s := b.history(t, "dev.m0")[0]
	if !rec.OK || s.Token.Reveal() != secretID || s.Provenance != engine.ProvenanceOperator || s.LastVerified.IsZero() || s.Status != engine.SessionRunning {
		t.Fatalf("%+v\n%+v", rec, s)
	}
	ev := b.events(t, rec.Operation.ID)
	if types(ev) != "session.resume_token_set" {
		t.Fatalf("events: %s", types(ev))
	}
	payload(t, ev[0], `"previous_provenance":"hook"`, `"new_provenance":"operator"`, `"source":"operator_set"`, `"redacted":true`, `"resume_type":"claude_id"`, `"reason":"because"`)
	if got := b.seat(t, "dev.m0"); got.Continuity != engine.ContinuityFresh || got.TokenRank != engine.ProvenanceOperator {
		t.Errorf("%+v", got)
	}
	// The next resume uses it.
	b.run(t, stopRequest("dev.m0"))
	b.run(t, request(engine.VerbLaunch, "team", engine.LaunchArgs{Seats: []string{"dev.m0"}}))
	if b.token(t, "dev.m0") != secretID {
		t.Error("a resume lost it")
	}
}

// TestSetTokenAfterAnUndo: the row that the seat names is meant, not the newest.
func TestSetTokenAfterAnUndo(t *testing.T) {
	t.Parallel()
	b := newSeatBench(t)
	done := b.run(t, handoverRequest("dev.m0", "fresh"))
	b.run(t, request(engine.VerbUndo, done.Operation.ID, struct{}{}))
	b.run(t, tokenRequest("dev.m0", secretID))
	for _, s := range b.history(t, "dev.m0") {
		if (s.Token.Reveal() == secretID) != (s.Generation == 1) {
			t.Errorf("generation %d: %s", s.Generation, s.Provenance)
		}
	}
}

func TestSetTokenRefusals(t *testing.T) {
	t.Parallel()
	b := newSeatBench(t)
	if code, all := b.refused(t, tokenRequest("dev.m1", secretID)); code != engine.CodeUnsupportedKind || len(all) != 1 {
		t.Errorf("a terminal: %s %v", code, all)
	}
	other := b.specs["team"]
	other.Name = "other"
	b.specs["other"] = other
	b.run(t, request(engine.VerbUp, "other", engine.UpArgs{Spec: "other"}))
	theirs := b.token(t, "dev-m0@other")
	if code, _ := b.refused(t, tokenRequest("dev-m0@team", strings.ToUpper(theirs))); code != engine.CodeForeignToken {
		t.Errorf("another seat's conversation: %s", code)
	}
	b.run(t, handoverRequest("dev-m0@other", "fresh"))
	if code, _ := b.refused(t, tokenRequest("dev-m0@team", theirs)); code != engine.CodeForeignToken {
		t.Errorf("a former occupant's conversation: %s", code)
	}
}

func TestRefusedTokenIsOnRecordWithoutTheToken(t *testing.T) {
	t.Parallel()
	b := newSeatBench(t)
	req := tokenRequest("dev.m0", "local_"+secretID)
	p, err := b.e.Plan(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	_, cause := b.e.Apply(context.Background(), p, nil)
	if err := b.e.NoteTokenRefusal(context.Background(), req, cause); err != nil {
		t.Fatal(err)
	}
	if err := b.e.NoteTokenRefusal(context.Background(), tokenRequest("dev.nobody", secretID), cause); err != nil {
		t.Fatal(err)
	}
	ev, err := b.e.Events(context.Background(), engine.EventFilter{Types: []string{"session.resume_token_refused"}})
	if err != nil || len(ev) != 1 || ev[0].Seat != "dev-m0@team" {
		t.Fatalf("%v %+v", err, ev)
	}
	payload(t, ev[0], `"code":"invalid_token"`, `"redacted":true`, `"reason":"because"`)
	if strings.Contains(dump(t, b.db), "deadbeef") {
		t.Error("the record holds the refused token")
	}
}

// TestSecretsStayInside: the token is in no plan, request, journal, receipt,
// event, log line or formatted value.
func TestSecretsStayInside(t *testing.T) {
	t.Parallel()
	b := newSeatBench(t)
	req := tokenRequest("dev.m0", secretID)
	p, err := b.e.Plan(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	var journal []engine.OpProgress
	rec, err := b.e.Apply(context.Background(), p, func(pr engine.OpProgress) { journal = append(journal, pr) })
	if err != nil {
		t.Fatal(err)
	}
	var logged bytes.Buffer
	slog.New(slog.NewJSONHandler(&logged, nil)).Info("x", "secret", req.Secret, "request", req)
	said := []string{logged.String(), dump(t, b.db), p.Fingerprint(), fmt.Sprintf("%v %+v %#v %s", req, req, req, req.Secret)}
	for _, v := range []any{req, p, rec, journal, req.Secret, p.Lines()} {
		said = append(said, string(jsonOf(t, v)), fmt.Sprintf("%+v", v))
	}
	op, steps, err := b.e.Operation(context.Background(), rec.Operation.ID)
	if err != nil {
		t.Fatal(err)
	}
	said = append(said, string(jsonOf(t, op)), string(jsonOf(t, steps)))
	for i, text := range said {
		if strings.Contains(text, secretID) || strings.Contains(text, "0000deadbeef") {
			t.Errorf("place %d says it: %.300s", i, text)
		}
	}
	if s := req.Secret; s.Empty() || s.String() != "[secret]" || s.Reveal() != secretID || (engine.Secret{}).String() != "" {
		t.Errorf("secret: %s", s)
	}
}

func jsonOf(tb testing.TB, v any) []byte {
	tb.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// TestSeatDryRunsLeaveNoTrace plans every seat verb on a seat that runs and on one
// that does not.
func TestSeatDryRunsLeaveNoTrace(t *testing.T) {
	t.Parallel()
	b := newSeatBench(t)
	b.edit(t, "dev.m0", func(_ *engine.Seat, s *engine.Session) { s.Startup = engine.StartupAttention })
	b.kill(t, "dev.m1", 1)
	before, calls := dump(t, b.db), len(b.mux.Calls)
	requests := []engine.Request{tokenRequest("dev.m0", secretID)}
	for _, seat := range []string{"dev.m0", "dev-m1@team"} {
		requests = append(requests, stopRequest(seat), cleanRequest(seat), freshRequest(seat, true), freshRequest(seat, false),
			modelRequest(seat, "m"), seatRequest(engine.VerbClearAttention, seat, struct{}{}))
	}
	for _, req := range requests {
		p, err := b.e.Plan(context.Background(), req)
		if err != nil {
			t.Fatalf("%s: %v", req.Verb, err)
		}
		if !strings.HasPrefix(p.Command, "rig "+string(req.Verb)+" dev-m") || len(p.Basis) < 3 || len(p.Unchanged) == 0 || len(p.Leases) != 1 {
			t.Errorf("%s: command %q, basis %v, unchanged %v", req.Verb, p.Command, p.Basis, p.Unchanged)
		}
		if again, err := b.e.Plan(context.Background(), req); err != nil || again.Fingerprint() != p.Fingerprint() {
			t.Errorf("%s: two plans of one world differ: %v", req.Verb, engine.FactDiff(p, again))
		}
	}
	if after := dump(t, b.db); after != before || len(b.mux.Calls) != calls {
		t.Errorf("a dry run left a trace: %v\n%s\n---\n%s", b.mux.Calls[calls:], before, after)
	}
}

// TestNoChangeWithoutItsEvent: when the audit log cannot take the event, the
// change does not stand.
func TestNoChangeWithoutItsEvent(t *testing.T) {
	t.Parallel()
	for kind, c := range map[string]struct {
		req  engine.Request
		kill bool
	}{
		"session.stopped": {stopRequest("dev.m0"), false}, "session.cleaned": {cleanRequest("dev.m0"), true},
		"node.model_changed": {modelRequest("dev.m0", "m"), false}, "session.resume_token_set": {tokenRequest("dev.m0", secretID), false},
		"seat.attention_cleared": {seatRequest(engine.VerbClearAttention, "dev.m0", struct{}{}), false},
		"seat.fresh_launched":    {freshRequest("dev.m0", false), true},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			b := newSeatBench(t)
			b.edit(t, "dev.m0", func(_ *engine.Seat, s *engine.Session) { s.Startup = engine.StartupAttention })
			if c.kill {
				b.kill(t, "dev.m0", 1)
			}
			before, token := b.history(t, "dev.m0"), b.token(t, "dev.m0")
			b.gag.types[kind] = true
			rec := b.run(t, c.req)
			view := b.seat(t, "dev.m0")
			if rec.OK || view.Generation != 1 || view.Model != "" || view.Startup != engine.StartupAttention || b.token(t, "dev.m0") != token {
				t.Fatalf("%+v\n%+v", rec, view)
			}
			if kind != "seat.fresh_launched" && fmt.Sprint(b.history(t, "dev.m0")[0].Status, view.SessionName) != fmt.Sprint(before[0].Status, "dev-m0@team") {
				t.Errorf("%s, bound to %q", b.history(t, "dev.m0")[0].Status, view.SessionName)
			}
		})
	}
}
