package runtimes

import (
	"context"
	"errors"
	"fmt"

	"rig/engine"
)

// Line builds the launch line of Claude Code. The id of a new conversation is
// the caller's choice; a fork always gets one too, so that the child is known
// from the start. Everything is one argument each, no shell sees it, and the
// prompt stands behind "--", so that a leading dash is harmless.
func (c *Claude) Line(r engine.LaunchRequest) (engine.LaunchLine, error) {
	if err := checkRequest(r); err != nil {
		return engine.LaunchLine{}, err
	}
	line := base(r)
	argv := append([]string(nil), c.cfg.Claude...)
	words, token, err := claudeStart(r.Start)
	if err != nil {
		return engine.LaunchLine{}, onLaunch(err, r.Address)
	}
	argv = append(argv, words...)
	line.Token = engine.NewResumeToken(token)
	post, err := postureOf(r.Seat.PermissionPolicy)
	if err != nil {
		return engine.LaunchLine{}, onLaunch(err, r.Address)
	}
	for _, opt := range [][2]string{
		{"--settings", r.Settings},
		{"--permission-mode", post.claude},
		{"--model", r.Seat.Model},
		{"--effort", r.Seat.Effort},
		{"-n", r.Address},
	} {
		if opt[1] != "" {
			argv = append(argv, opt[0], opt[1])
		}
	}
	if r.Prompt != "" {
		argv = append(argv, "--", r.Prompt)
		line.Prompt = true
	}
	line.Argv = argv
	return line, nil
}

// claudeStart gives the words that choose the conversation, and its id.
func claudeStart(s engine.Start) (words []string, token string, err error) {
	switch s := s.(type) {
	case engine.StartFresh:
		if err := validToken(engine.RuntimeClaude, s.SessionID); err != nil {
			return nil, "", err
		}
		return []string{"--session-id", s.SessionID}, s.SessionID, nil
	case engine.StartResume:
		if err := validToken(engine.RuntimeClaude, s.Token.Reveal()); err != nil {
			return nil, "", err
		}
		return []string{"--resume", s.Token.Reveal()}, s.Token.Reveal(), nil
	case engine.StartFork:
		if err := validToken(engine.RuntimeClaude, s.Parent.Reveal()); err != nil {
			return nil, "", err
		}
		if err := validToken(engine.RuntimeClaude, s.NewID); err != nil {
			return nil, "", err
		}
		if engine.SameNativeID(s.NewID, s.Parent.Reveal()) {
			return nil, "", engine.Errorf(engine.CodeInvalid, "a fork cannot have its parent's id").
				WithHint("choose a new id")
		}
		return []string{"--resume", s.Parent.Reveal(), "--fork-session", "--session-id", s.NewID}, s.NewID, nil
	}
	return nil, "", errNoStart()
}

func errNoStart() error {
	return engine.Errorf(engine.CodeInvalid, "the launch does not say how to begin").
		WithHint("this is a fault of the program: report it")
}

// onLaunch names the seat in an error of a launch line.
func onLaunch(err error, address string) error {
	var e *engine.Error
	if errors.As(err, &e) {
		return e.On("launch", address)
	}
	return err
}

// Preflight lists what would stop this launch. For a resume and a fork the
// transcript must be there and, for a resume, nobody may have it open: Claude
// Code itself would let two processes write into one conversation.
func (c *Claude) Preflight(ctx context.Context, r engine.LaunchRequest) []engine.Blocker {
	line, err := c.Line(r)
	if err != nil {
		return []engine.Blocker{engine.BlockerFrom(err)}
	}
	out := preflight(r, line, line.Argv[0])
	switch s := r.Start.(type) {
	case engine.StartResume:
		st := c.Conversation(ctx, s.Token.Reveal(), r.Seat.Cwd, line.Homes)
		out = append(out, continueBlockers(r, st, "resumed", line.Homes.ClaudeDir)...)
	case engine.StartFork:
		st := c.Conversation(ctx, s.Parent.Reveal(), r.Seat.Cwd, line.Homes)
		st.Live = false // a fork of a running parent is allowed
		out = append(out, continueBlockers(r, st, "forked", line.Homes.ClaudeDir)...)
	case engine.StartFresh:
		if st := c.Conversation(ctx, s.SessionID, r.Seat.Cwd, line.Homes); st.Exists == engine.Present {
			out = append(out, engine.Blocker{
				Code: CodeSessionInUse, Seat: r.Address,
				Message: "the id chosen for the new conversation is taken", Hint: "plan again: a new id is chosen each time",
			})
		}
	}
	return out
}

// continueBlockers turns the state of a stored conversation into blockers.
func continueBlockers(r engine.LaunchRequest, st engine.ConversationState, verb, home string) []engine.Blocker {
	block := func(code engine.Code, msg, hint string) []engine.Blocker {
		return []engine.Blocker{{Code: code, Seat: r.Address, Message: msg, Hint: hint}}
	}
	switch {
	case st.Live:
		return block("conversation_live", fmt.Sprintf("the conversation is open in process %d", st.LivePID),
			"end that process first, or attach to it")
	case st.Exists == engine.Absent:
		return block(CodeNoConversation, fmt.Sprintf("the conversation cannot be %s: %s", verb, st.Why),
			"look for it in another home than "+home+", or start fresh on purpose")
	case st.Exists == engine.Unknown:
		return block(engine.CodeUnavailable, "it cannot be told whether the conversation exists: "+st.Why,
			"make the folder readable and plan again")
	}
	if st.Details["blocks"] == true {
		return block("conversation_blocked", fmt.Sprintf("the conversation cannot be %s: %s", verb, st.Why),
			"see `rig restore-check` for what to do")
	}
	return nil
}
