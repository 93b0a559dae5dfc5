package engine

import (
	"math"
	"sort"
	"time"
)

// The thresholds of `rig compact-plan` when none are given.
const (
	PlanThresholdTokens  int64   = 400_000
	PlanThresholdPercent float64 = 80
)

// NearWall is the share of a window, in percent, from which a compact plan with
// its defaults calls a seat near its wall. A window that is not known (0) has the
// default share.
func NearWall(window int64) float64 {
	if window <= 0 {
		return PlanThresholdPercent
	}
	return min(PlanThresholdPercent, float64(PlanThresholdTokens)/float64(window)*100)
}

// CompactPlanOptions says what a compact plan looks at. Zero thresholds mean the
// defaults.
type CompactPlanOptions struct {
	Rig     string  // exact rig name, "" = all
	Tokens  int64   // tokens in use from which a seat is a candidate
	Percent float64 // share of the window, 0 to 100
	Refresh bool    // store the samples that were taken
}

// CompactPlan says which seats are near their wall and in which order to compact
// them. It is made by reading only: nothing is sent to any seat.
type CompactPlan struct {
	OK               bool           `json:"ok"`
	At               time.Time      `json:"at"`
	Summary          CompactSummary `json:"summary"`
	Policy           CompactRules   `json:"policy"`
	RecommendedOrder []string       `json:"recommended_order"` // addresses
	Schedule         []CompactSlot  `json:"schedule"`
	Candidates       []CompactEntry `json:"candidates"`
	Blocked          []CompactEntry `json:"blocked"`
	Skipped          []CompactEntry `json:"skipped"`
}

// CompactSummary counts the entries of a plan.
type CompactSummary struct {
	TotalSeats            int  `json:"total_seats"`
	ClaudeSeats           int  `json:"claude_seats"`
	CandidateCount        int  `json:"candidate_count"`
	BlockedCount          int  `json:"blocked_count"`
	SkippedCount          int  `json:"skipped_count"`
	RequiresAuthorization bool `json:"requires_authorization"`
}

// CompactRules are the rules that a plan was made by.
type CompactRules struct {
	Mode                  string  `json:"mode"` // read_only_plan
	DefaultTokens         int64   `json:"default_threshold_tokens"`
	DefaultPercent        float64 `json:"default_threshold_percent"`
	Tokens                int64   `json:"threshold_tokens"`
	Percent               float64 `json:"threshold_percent"`
	OneSeatAtATime        bool    `json:"one_seat_at_a_time"`
	AutoCompactAllowed    bool    `json:"auto_compact_allowed"`
	ExplicitAuthorization bool    `json:"explicit_authorization_required"`
}

// CompactSlot is one round of a schedule: seats that may be compacted side by
// side, because no two of them are of one rig.
type CompactSlot struct {
	Slot  int      `json:"slot"` // from 1
	Seats []string `json:"seats"`
}

// CompactEntry is one seat in a plan.
type CompactEntry struct {
	SeatID     string      `json:"seat_id"`
	Session    *string     `json:"session"` // its tmux session, null without one
	Seat       string      `json:"seat"`
	Rig        string      `json:"rig"`
	Logical    string      `json:"logical_id"`
	Runtime    RuntimeName `json:"runtime"`
	Percent    *float64    `json:"used_percentage"`
	Window     *int64      `json:"context_window_size"`
	Tokens     *int64      `json:"estimated_used_tokens"`
	Freshness  string      `json:"context_freshness"` // fresh, stale, unknown
	SampledAt  time.Time   `json:"sampled_at,omitzero"`
	Age        string      `json:"sample_age,omitempty"`
	Source     string      `json:"sample_source,omitempty"`
	Note       string      `json:"context_note,omitempty"`
	Life       SeatLife    `json:"session_status"`
	Startup    string      `json:"startup_status"`
	Status     string      `json:"status"`                     // candidate_with_caveats, blocked, skipped
	Reason     string      `json:"reason,omitempty"`           // of a skipped seat
	Threshold  string      `json:"threshold_reason,omitempty"` // which threshold it has reached
	Reasons    []string    `json:"reasons,omitempty"`
	Missing    []string    `json:"missing_evidence,omitempty"`
	Required   []string    `json:"precompact_requirements,omitempty"`
	SeatPolicy *SeatRules  `json:"seat_policy,omitempty"`
	Notify     *NotifyText `json:"notification_packet,omitempty"`
	Next       string      `json:"next_action,omitempty"`
	Forecast   Forecast    `json:"forecast"`
	// Trend is the occupant's tokens over time, oldest first, also across
	// compactions; the last point is the present sample.
	Trend []TrendPoint `json:"trend,omitempty"`

	score float64 // share of its own limit, in percent
}

// SeatRules repeat for one seat what a plan may not do.
type SeatRules struct {
	OneSeatAtATime        bool `json:"one_seat_at_a_time"`
	AutoCompactAllowed    bool `json:"auto_compact_allowed"`
	ExplicitAuthorization bool `json:"explicit_authorization_required"`
}

// NotifyText is what an operator could tell whoever decides.
type NotifyText struct {
	Recipient string `json:"recipient"`
	Subject   string `json:"subject"`
	Text      string `json:"text"`
}

// Words of a compact plan.
const (
	ReasonTokens        = "above_token_threshold"
	ReasonPercent       = "above_percent_threshold"
	ReasonPercentNoSize = "above_percent_threshold_missing_window"
	ReasonBelow         = "below_threshold"
	ReasonCodex         = "codex_not_managed_by_claude_compact_in_place"
	ReasonNotClaude     = "non_claude_runtime"
	ReasonAwaiting      = "no_sample_since_compaction"
	ReasonAuthorization = "authorization_required"                    // nothing compacts it without a person's word
	MissingPacket       = "checkpoint_or_restore_packet_verification" // no restore packet of it was checked yet

	entryCandidate = "candidate_with_caveats"
	entryBlocked   = "blocked"
	entrySkipped   = "skipped"
)

// NoteAwaitingReply begins the note of a usage reading that is void because the
// conversation was compacted and has not answered since.
const NoteAwaitingReply = "no sample since the compaction"

// PlanCompaction makes the plan from a picture and each seat's stored samples
// (newest first, by seat id). It is a pure function of both.
func PlanCompaction(f *Fleet, history map[string][]StoredUsage, o CompactPlanOptions) *CompactPlan {
	if o.Tokens == 0 {
		o.Tokens = PlanThresholdTokens
	}
	if o.Percent == 0 {
		o.Percent = PlanThresholdPercent
	}
	p := &CompactPlan{
		OK: true, At: f.At, RecommendedOrder: []string{}, Schedule: []CompactSlot{},
		Candidates: []CompactEntry{}, Blocked: []CompactEntry{}, Skipped: []CompactEntry{},
		Policy: CompactRules{
			Mode: "read_only_plan", DefaultTokens: PlanThresholdTokens, DefaultPercent: PlanThresholdPercent,
			Tokens: o.Tokens, Percent: o.Percent, OneSeatAtATime: true, ExplicitAuthorization: true,
		},
	}
	for _, s := range f.Seats() {
		if o.Rig != "" && s.Rig != o.Rig {
			continue
		}
		p.Summary.TotalSeats++
		if s.Runtime == RuntimeClaude {
			p.Summary.ClaudeSeats++
		}
		e := compactEntry(s, history[s.ID], f.At, o)
		switch e.Status {
		case entryCandidate:
			p.Candidates = append(p.Candidates, e)
		case entryBlocked:
			p.Blocked = append(p.Blocked, e)
		default:
			p.Skipped = append(p.Skipped, e)
		}
	}
	p.order()
	return p
}

// order sorts the candidates by nearness to their own wall and lays out the
// rounds.
func (p *CompactPlan) order() {
	sort.SliceStable(p.Candidates, func(i, j int) bool {
		a, b := &p.Candidates[i], &p.Candidates[j]
		if a.score != b.score {
			return a.score > b.score
		}
		return a.Seat < b.Seat
	})
	used := map[string]int{}
	for i := range p.Candidates {
		c := &p.Candidates[i]
		p.RecommendedOrder = append(p.RecommendedOrder, c.Seat)
		n := used[c.Rig]
		used[c.Rig]++
		if n == len(p.Schedule) {
			p.Schedule = append(p.Schedule, CompactSlot{Slot: n + 1})
		}
		p.Schedule[n].Seats = append(p.Schedule[n].Seats, c.Seat)
	}
	p.Summary.CandidateCount, p.Summary.BlockedCount, p.Summary.SkippedCount = len(p.Candidates), len(p.Blocked), len(p.Skipped)
	p.Summary.RequiresAuthorization = true
}

// compactEntry judges one seat.
func compactEntry(s *SeatView, history []StoredUsage, now time.Time, o CompactPlanOptions) CompactEntry {
	e := entryOf(s, now)
	e.Forecast, e.Trend = forecastOf(s, history, now), trendPoints(s, history, now)
	if s.Runtime != RuntimeClaude {
		e.Status, e.Reason = entrySkipped, ReasonNotClaude
		if s.Runtime == RuntimeCodex {
			e.Reason = ReasonCodex
		}
		return e
	}
	hit, blockers := e.reached(s.Usage, o), e.blockers(s)
	if len(blockers) == 0 && len(hit) == 0 {
		e.Status, e.Reason = entrySkipped, ReasonBelow
		return e
	}
	if len(hit) > 0 {
		e.Threshold = hit[0]
		blockers = append(blockers, stuck(s)...)
	}
	e.explain(hit, blockers)
	return e
}

// entryOf fills in what every entry carries.
func entryOf(s *SeatView, now time.Time) CompactEntry {
	e := CompactEntry{
		SeatID: s.ID, Seat: s.Address, Rig: s.Rig, Logical: s.Logical, Runtime: s.Runtime, Life: s.Life, Startup: string(s.Startup),
		Freshness: "unknown", Note: s.Usage.Note,
	}
	if s.SessionName != "" {
		name := s.SessionName
		e.Session = &name
	}
	u := s.Usage
	if !u.Known {
		return e
	}
	e.Freshness, e.SampledAt, e.Age, e.Source = "fresh", u.SampledAt, Age(u.SampledAt, now), u.Source
	if u.Stale {
		e.Freshness = "stale"
	}
	if u.Window > 0 {
		w := u.Window
		e.Window = &w
	}
	if u.Percent > 0 || u.Window > 0 {
		pct := math.Round(u.Percent*10) / 10
		e.Percent = &pct
	}
	if u.Tokens > 0 || u.Window > 0 {
		n := u.Tokens
		e.Tokens = &n
	}
	return e
}

// reached lists the thresholds that a reading is at or above, and scores it. The
// share of the real window counts whenever it is known, the tokens too.
func (e *CompactEntry) reached(u Usage, o CompactPlanOptions) []string {
	if !u.Known {
		return nil
	}
	e.score = u.Percent
	if u.Percent == 0 && o.Tokens > 0 {
		e.score = min(100, float64(u.Tokens)/float64(o.Tokens)*o.Percent)
	}
	var hit []string
	switch {
	case u.Percent < o.Percent || e.Percent == nil:
	case u.Window > 0:
		hit = append(hit, ReasonPercent)
	default:
		hit = append(hit, ReasonPercentNoSize)
	}
	if u.Tokens >= o.Tokens {
		hit = append(hit, ReasonTokens)
	}
	return hit
}
