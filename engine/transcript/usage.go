package transcript

import (
	"fmt"
	"time"
)

// Usage is how full the context was at one recorded reply.
type Usage struct {
	// Tokens is the context in use: for Claude input + cache creation + cache
	// read of the newest main-chain reply, for Codex the last call's total.
	Tokens int64 `json:"tokens"`
	// Window is the model's context size in tokens; 0 where the file does not
	// say it (Claude transcripts never do).
	Window int64 `json:"window,omitempty"`
	// OutputTokens is what that reply produced.
	OutputTokens int64 `json:"output_tokens,omitempty"`
	// LifetimeTokens is the sum over the whole session (Codex). It says
	// nothing about how full the context is.
	LifetimeTokens int64 `json:"lifetime_tokens,omitempty"`
	// At is the time of that record; zero when it has none.
	At    time.Time `json:"at"`
	Model string    `json:"model,omitempty"`
	// Offset is the byte offset of the record's line.
	Offset int64 `json:"offset"`
	// Stale is set when a compaction was recorded after this sample: the
	// number describes a context that no longer exists.
	Stale bool `json:"stale,omitempty"`
	// Inherited is set when the sample was copied from a fork's parent.
	Inherited bool `json:"inherited,omitempty"`
	// RateLimits are the account limits that came with the record (Codex).
	RateLimits []RateLimit `json:"rate_limits,omitempty"`
}

// Occupancy judges u's numbers; see [Occupy].
func (u Usage) Occupancy() Occupancy { return Occupy(u.Tokens, u.Window) }

// RateLimit is one account limit as a client reported it.
type RateLimit struct {
	// Name is the window's name, "primary" or "secondary" for Codex,
	// "five_hour" and the like for Claude.
	Name string `json:"name"`
	// UsedPercent is 0 to 100.
	UsedPercent float64 `json:"used_percent"`
	// WindowMinutes is the window's length; 0 when not recorded.
	WindowMinutes int64 `json:"window_minutes,omitempty"`
	// ResetsAt is when it starts anew; zero when not recorded.
	ResetsAt time.Time `json:"resets_at"`
}

// Occupancy is a context share that knows when not to be believed.
type Occupancy struct {
	Tokens int64 `json:"tokens"`
	Window int64 `json:"window"`
	// Percent is Tokens of Window, 0 to 100, only meaningful if Reliable.
	Percent float64 `json:"percent"`
	// Reliable is false when the window is unknown or contradicts the tokens.
	Reliable bool `json:"reliable"`
	// Caveat says why not, for a person.
	Caveat string `json:"caveat,omitempty"`
}

// Occupy divides tokens in use by the context window. More tokens than the
// window holds is a contradiction: clients have been seen to report a window
// smaller than the one the model really has, so the tokens are kept and the
// share is marked unreliable instead of being capped at 100 %.
func Occupy(tokens, window int64) Occupancy {
	o := Occupancy{Tokens: tokens, Window: window}
	switch {
	case tokens < 0:
		o.Tokens, o.Caveat = 0, "the client reported a negative token count"
	case window <= 0:
		o.Window, o.Caveat = 0, "the context window is not on record"
	case tokens > window:
		o.Caveat = fmt.Sprintf("%d tokens in use exceed the reported window of %d: the window is wrong", tokens, window)
	default:
		o.Percent = float64(tokens) * 100 / float64(window)
		o.Reliable = true
	}
	return o
}

// TurnState says how the latest turn stands, as far as the file tells.
type TurnState string

// The states of a turn. An open turn in a file whose client is dead stays open
// for ever: nothing closes it, so combine it with the process being alive.
const (
	TurnUnknown     TurnState = "unknown"
	TurnOpen        TurnState = "open"
	TurnDone        TurnState = "done"
	TurnInterrupted TurnState = "interrupted"
	TurnFailed      TurnState = "failed"
)

// Turn is the latest turn.
type Turn struct {
	State TurnState `json:"state"`
	// ID is the turn's id (Codex); empty for Claude.
	ID string `json:"id,omitempty"`
	// Since is when the turn reached this state; zero when not recorded.
	Since time.Time `json:"since"`
	// Limit is set when the turn ended at a usage limit of the account.
	Limit bool `json:"limit,omitempty"`
	// ResetsAt is when that limit ends; zero when not recorded.
	ResetsAt time.Time `json:"resets_at"`
	// LimitName is the limit's name, for example "five_hour".
	LimitName string `json:"limit_name,omitempty"`
	// ErrorCode is the client's own code, for example "rate_limit" or
	// "usage_limit_exceeded", ErrorText what it showed.
	ErrorCode string `json:"error_code,omitempty"`
	ErrorText string `json:"error_text,omitempty"`
	// LastText is the final answer when the record carries it (Codex).
	LastText string `json:"-"`
	// Offset is the byte offset of the deciding record.
	Offset int64 `json:"offset"`
}
