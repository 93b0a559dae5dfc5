// Package tuitest is an engine without an engine: a Console over made-up rigs in
// every state a seat can be in, always the same. The console's own tests stand
// on it, and tuitest/demo shows it on a screen.
package tuitest

import (
	"encoding/json"
	"fmt"
	"time"

	"rig/engine"
)

// Start is the moment at which every made-up picture is taken.
func Start() time.Time { return time.Date(2026, 3, 14, 10, 30, 0, 0, time.UTC) }

// cast is one kind of seat: what it does, and what is known of it.
type cast struct {
	pod, member string
	runtime     engine.RuntimeName
	life        engine.SeatLife
	why         string
	state       engine.ActivityState
	doing       string
	percent     float64
	outcome     engine.Continuity
	ago         time.Duration
	screen      string // which pane it shows
}

// casts has a seat in each state.
func casts() []cast {
	const (
		claude   = engine.RuntimeClaude
		codex    = engine.RuntimeCodex
		terminal = engine.RuntimeTerminal
	)
	return []cast{
		{"dev", "impl", claude, engine.LifeRunning, "", engine.ActivityBusy, "a turn is under way", 62, engine.ContinuityResumed, 4 * time.Minute, "busy"},
		{"dev", "qa", claude, engine.LifeRunning, "", engine.ActivityWaiting, "permission prompt: Bash(mkdir build)", 41, engine.ContinuityFresh, 12 * time.Minute, "permission"},
		{"dev", "review", codex, engine.LifeRunning, "", engine.ActivityIdle, "", 18, engine.ContinuityForked, 33 * time.Minute, "codex"},
		{"plan", "architect", claude, engine.LifeRunning, "", engine.ActivityLimit, "usage limit, resets 1:35pm", 91, engine.ContinuityRebuilt, 2 * time.Hour, "limit"},
		{"plan", "scout", codex, engine.LifeDead, "exit code 1 at 09:58", engine.ActivityExited, "", 0, engine.ContinuityFailed, 32 * time.Minute, "dead"},
		{"ops", "shell", terminal, engine.LifeRunning, "", engine.ActivityIdle, "at a prompt", 0, engine.ContinuityFreshPrimed, 3 * time.Hour, "shell"},
		{"ops", "deploy", claude, engine.LifeRunning, "", engine.ActivityUnknown, "two sources disagree", 74, engine.ContinuityNone, 30 * time.Second, "idle"},
		{"ops", "night", codex, engine.LifeStopped, "stopped by ana at 21:10", engine.ActivityUnknown, "", 55, engine.ContinuityFresh, 13 * time.Hour, ""},
		{"lab", "spare", claude, engine.LifeNever, "", engine.ActivityUnknown, "", 0, engine.ContinuityNone, 0, ""},
		{"lab", "boot", claude, engine.LifeStarting, "up is running", engine.ActivityUnknown, "", 0, engine.ContinuityFresh, 20 * time.Second, ""},
		{"lab", "gate", claude, engine.LifeAttention, "trust dialog: the folder is not trusted", engine.ActivityWaiting, "trust dialog", 0, engine.ContinuityAttention, 7 * time.Minute, "trust"},
		{"lab", "gone", codex, engine.LifeLost, "its pane is not in tmux", engine.ActivityUnknown, "", 33, engine.ContinuityResumed, 26 * time.Hour, ""},
		{"lab", "fog", claude, engine.LifeUnknown, "tmux did not answer", engine.ActivityUnknown, "", 12, engine.ContinuityAwaiting, 6 * time.Minute, ""},
	}
}

// Fleet makes a picture with n seats, ten or so a rig. The first seven are those
// of a small working day; with more, every state appears. The revision is 1.
func Fleet(n int) *engine.Fleet {
	all := casts()
	f := &engine.Fleet{
		Revision: 1, At: Start(), Live: true,
		Server: engine.ServerView{State: engine.Present, Socket: "/tmp/rig.sock", Epoch: "4711-1773480000", Path: "control"},
	}
	perRig := 7
	if n > 7 {
		perRig = len(all)
	}
	for i := 0; i < n; i += perRig {
		name := "shop"
		if i > 0 {
			name = fmt.Sprintf("team-%02d", i/perRig)
		}
		f.Rigs = append(f.Rigs, rig(name, i/perRig+1, i, min(perRig, n-i), all))
	}
	for i := range f.Rigs {
		addAttention(f, &f.Rigs[i])
	}
	f.Sockets = Sockets(f)
	f.Attention = append([]engine.AttentionItem(nil), f.Attention...)
	sum(f)
	f.Recent = Events(f)
	return f
}

func rig(name string, number, first, n int, all []cast) engine.RigView {
	r := engine.RigView{
		ID: fmt.Sprintf("rig%02d", number), Name: name, Life: engine.RigDegraded,
		SpecPath: "/home/ana/rigs/" + name + ".yaml", CreatedAt: Start().Add(-5 * time.Hour),
	}
	labels := map[string]string{"dev": "Development", "plan": "Planning", "ops": "Operations", "lab": "Laboratory"}
	for i := range n {
		c := all[i%len(all)]
		s := seat(r, c, first+i)
		if len(r.Pods) == 0 || r.Pods[len(r.Pods)-1].Name != c.pod {
			r.Pods = append(r.Pods, engine.PodView{Name: c.pod, Label: labels[c.pod]})
		}
		r.Seats = append(r.Seats, s)
		if s.Life == engine.LifeRunning {
			r.Running++
		}
		if s.Life == engine.LifeUnknown {
			r.Unknown++
		}
		if s.Life == engine.LifeRunning && s.Activity.State == engine.ActivityBusy {
			r.Busy++
		}
	}
	return r
}

func seat(r engine.RigView, c cast, n int) engine.SeatView {
	now := Start()
	s := engine.SeatView{
		ID: fmt.Sprintf("seat%03d", n), Address: engine.Address(c.pod, c.member, r.Name), Logical: engine.Logical(c.pod, c.member),
		RigID: r.ID, Rig: r.Name, Pod: c.pod, Member: c.member, Runtime: c.runtime, Role: "member of " + c.pod,
		Cwd: "/home/ana/shop", Generation: 2, Life: c.life, LifeWhy: c.why, Origin: engine.OriginLaunched,
		Continuity: c.outcome, OutcomeAt: now.Add(-3 * time.Hour), OutcomeBy: "ana", StartedAt: now.Add(-5 * time.Hour),
		Activity: engine.Activity{Reading: engine.Reading{
			State: c.state, Why: c.doing, Source: "registry", Rule: "status " + string(c.state), At: now.Add(-20 * time.Second), Confidence: engine.ConfidenceHigh,
		}},
	}
	if c.ago > 0 {
		s.Since = now.Add(-c.ago)
	}
	if c.runtime == engine.RuntimeClaude {
		s.Model = "opus"
	}
	if c.screen != "" {
		s.Pane, s.PanePID, s.PaneSize = engine.PaneID(fmt.Sprintf("%%%d", n+1)), 4800+n, [2]int{120, 36}
		s.SessionName, s.Title, s.TokenPresent, s.TokenRank = s.Address, "✳ "+c.member+" at work", c.runtime != engine.RuntimeTerminal, engine.ProvenanceHook
	}
	if c.life == engine.LifeNever {
		s.Generation, s.Continuity = 0, engine.ContinuityNone
	}
	if c.life == engine.LifeRunning {
		s.Startup = engine.StartupReady
	}
	if c.life == engine.LifeDead {
		code := 1
		s.ExitCode = &code
	}
	if c.life == engine.LifeStarting {
		s.OpID, s.OpVerb = "op-running", engine.VerbUp
	}
	if c.state == engine.ActivityUnknown && c.life == engine.LifeRunning {
		s.Activity.Source, s.Activity.Confidence = "pane", engine.ConfidenceLow
		s.Activity.Competing = []engine.Reading{{State: engine.ActivityIdle, Why: "", Source: "hook", Rule: "Stop", At: now.Add(-4 * time.Minute), Confidence: engine.ConfidenceLow}}
	}
	if c.outcome == engine.ContinuityForked {
		s.ForkedFrom = engine.Address("dev", "impl", r.Name) + " (generation 1)"
	}
	if c.member == "review" {
		s.Activity.Draft, s.Origin = "also check the migr", engine.OriginClaimed
	}
	addUsage(&s, c)
	addEdges(&s)
	return s
}

func addUsage(s *engine.SeatView, c cast) {
	if c.runtime == engine.RuntimeTerminal || c.percent == 0 {
		s.Usage.Note = "no sample yet"
		return
	}
	s.Usage = engine.Usage{
		Known: true, Tokens: int64(c.percent * 2000), Window: 200_000, Percent: c.percent, Source: "statusline",
		SampledAt: Start().Add(-c.ago / 2), Generation: s.Generation, Confidence: engine.ConfidenceHigh,
	}
	if c.life != engine.LifeRunning || c.state == engine.ActivityUnknown {
		s.Usage.Confidence, s.Usage.Note = engine.ConfidenceLow, "the sample is older than the seat's last answer"
	}
}

func addEdges(s *engine.SeatView) {
	switch s.Member {
	case "impl":
		s.Edges = []engine.EdgeView{
			{Kind: engine.EdgeDelegatesTo, Seat: engine.Address("dev", "qa", s.Rig), Out: true},
			{Kind: engine.EdgeEscalatesTo, Seat: engine.Address("plan", "architect", s.Rig), Out: true},
		}
		s.Work = engine.WorkCount{SeatID: s.ID, Pending: 3, Claimed: 1}
	case "qa":
		s.Edges = []engine.EdgeView{{Kind: engine.EdgeDelegatesTo, Seat: engine.Address("dev", "impl", s.Rig)}}
	}
}

// attention gives the class, the words and the weight of what a seat waits for.
func attention(s *engine.SeatView) (class, reason, remedy string, weight int) {
	attach := "rig attach " + s.Address + " and answer it there"
	switch {
	case s.Life == engine.LifeDead:
		return engine.AttnDead, "its process has ended: " + s.LifeWhy, "rig launch " + s.Rig + " " + s.Logical, 70
	case s.Life == engine.LifeLost:
		return engine.AttnLost, "on record, but " + s.LifeWhy, "rig up " + s.Rig, 75
	case s.Life == engine.LifeAttention:
		return engine.AttnGate, s.LifeWhy, attach, 88
	case s.Life == engine.LifeRunning && s.Activity.State == engine.ActivityWaiting:
		return engine.AttnWaiting, s.Activity.Why, attach, 90
	case s.Life == engine.LifeRunning && s.Activity.State == engine.ActivityLimit:
		return engine.AttnLimit, s.Activity.Why, "wait for the reset, or hand the seat over", 50
	}
	return "", "", "", 0
}

func addAttention(f *engine.Fleet, r *engine.RigView) {
	for i := range r.Seats {
		s := &r.Seats[i]
		class, reason, remedy, weight := attention(s)
		if class == "" {
			continue
		}
		key := class + "/" + s.ID
		s.Attention = []string{key}
		r.Attention++
		at := len(f.Attention)
		for at > 0 && f.Attention[at-1].Weight < weight {
			at--
		}
		f.Attention = append(f.Attention, engine.AttentionItem{})
		copy(f.Attention[at+1:], f.Attention[at:])
		f.Attention[at] = engine.AttentionItem{
			Key: key, Class: class, Seat: s.Address, SeatID: s.ID, Rig: s.Rig, Reason: reason, Remedy: remedy, Weight: weight, Since: s.Since,
			Evidence: map[string]any{"source": s.Activity.Source, "rule": s.Activity.Rule},
		}
	}
}

func sum(f *engine.Fleet) {
	f.Totals = engine.Totals{Rigs: len(f.Rigs), Attention: len(f.Attention)}
	for _, r := range f.Rigs {
		f.Totals.Seats += len(r.Seats)
		f.Totals.Running += r.Running
		f.Totals.Unknown += r.Unknown
		f.Totals.Busy += r.Busy
		f.Totals.Waiting += r.Attention
	}
}

// Events makes the audit log of a picture, newest first.
func Events(f *engine.Fleet) []engine.Event {
	kinds := []string{"seat.activity_changed", "seat.launched", "operation.done", "seat.outcome", "operation.step_failed", "attention.acknowledged", "rig.up"}
	seats := f.Seats()
	var out []engine.Event
	for i := range 40 {
		if len(seats) == 0 {
			break
		}
		s := seats[i%len(seats)]
		payload, err := json.Marshal(map[string]any{"from": "busy", "to": string(s.Activity.State), "why": s.Activity.Why})
		if err != nil {
			continue
		}
		e := engine.Event{
			Seq: int64(900 - i), At: Start().Add(-time.Duration(i*i) * 20 * time.Second), Type: kinds[i%len(kinds)],
			RigID: s.RigID, SeatID: s.ID, Rig: s.Rig, Seat: s.Address, Payload: payload,
		}
		if i%3 == 1 {
			e.Operator = "ana"
		}
		out = append(out, e)
	}
	return out
}
