package agentsim

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// bg is the context of work that outlives a turn.
func bg() context.Context { return context.Background() }

// apiFault acts out an API error or the usage limit. It reports true when Esc
// ended the retries, which takes the prompt back.
func (c *claude) apiFault(ctx context.Context, s script) (rewind bool) {
	status := s.number("err", 0)
	if s.has("limit") {
		status = 429
	}
	switch status {
	case 400, 403, 404, 413, 422:
		c.fault(fmt.Sprintf("API Error: %d mock error %d", status, status), "unknown", status, "invalid_request_error", nil)
	case 429:
		c.limitFault(s.has("limit"))
	case 529:
		if !c.retry(ctx, status, 3) {
			return true
		}
		c.fault("API Error: Repeated 529 Overloaded errors", "unknown", status, "overloaded_error", nil)
	default:
		if !c.retry(ctx, status, 10) {
			return true
		}
		c.fault(fmt.Sprintf("API Error: %d mock error %d", status, status), "unknown", status, "api_error", nil)
	}
	return false
}

// retry shows the attempts; false when Esc stopped them.
func (c *claude) retry(ctx context.Context, status, attempts int) bool {
	step := c.env.ms("AGENTSIM_RETRY_MS", time.Second)
	for n := 1; n < attempts; n++ {
		wait := min(time.Duration(1<<min(n-1, 5))*step, 32*step)
		until := c.env.Now().Add(wait)
		c.do(func() {
			c.work.override = func(now time.Time) string {
				left := max(0, int((until.Sub(now)+time.Second-1)/time.Second))
				return fmt.Sprintf("✻ %d mock error %d · retrying in %ds · attempt %d/10", status, status, left, n+1)
			}
		})
		if !pause(ctx, wait) {
			return false
		}
	}
	return true
}

// limitFault is a refused request: for a subscriber the usage limit, which the
// client announces to wait out; for a key a plain error.
func (c *claude) limitFault(unified bool) {
	if !unified || !c.subscriber() {
		text := "API Error: Request rejected (429) · mock error 429"
		if unified {
			text = "API Error: Request rejected (429) · This request would exceed your account's rate limit. Please try again later."
		}
		c.fault(text, "rate_limit", 429, "rate_limit_error", nil)
		return
	}
	reset := c.env.Now().Add(time.Hour)
	at := strings.ToLower(reset.Format("3:04PM"))
	text := "You've hit your 5-hour limit · resets " + at + " (" + zoneName(reset) + ")"
	extra := obj("apiError", "usage_limit_reached", "apiErrorParams", obj("rate_limit_info", obj("status", "rejected", "resetsAt", reset.Unix(), "rateLimitType", "five_hour", "isUsingOverage", false)),
		"quotaLimits", obj("status", "rejected", "resetsAt", reset.Unix(), "unifiedRateLimitFallbackAvailable", false, "rateLimitType", "five_hour", "isUsingOverage", false))
	c.fault(text, "rate_limit", 429, "rate_limit_error", extra)
	c.do(func() {
		c.limit = at
		c.show(item{mark: "● ", text: "Usage limit reached · set to continue automatically at " + at})
	})
}

func zoneName(t time.Time) string {
	if z, off := t.Zone(); off != 0 {
		return z
	}
	return "UTC"
}

// fault records an error in the place of an answer and runs StopFailure; there
// is no Stop.
func (c *claude) fault(text, kind string, status int, apiType string, extra rec) {
	c.do(func() {
		c.block()
		rest := obj("requestId", "req_standin")
		rest = append(rest, extra...).when(status == 429 && extra == nil, "apiErrorIsTransient", false).
			add("error", kind, "isApiErrorMessage", true, "apiErrorStatus", status, "apiErrorType", apiType, "perTurnEffort", c.effort, "failedResponseHadNoToolCall", true, "madeBy", "model")
		c.synthetic(text, true, rest)
		mark, tight := "● ", false
		if extra != nil {
			mark, tight = "  ⎿ \u00a0", true
		}
		c.show(item{mark: mark, text: text, tight: tight})
		c.faulted, c.lastFault = true, text
	})
	c.fire(bg(), "StopFailure", "", c.build("StopFailure", partEffort, obj("error", kind, "last_assistant_message", text)))
}
