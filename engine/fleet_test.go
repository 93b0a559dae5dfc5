package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"rig/engine"
)

// bigRecord makes a record and an inventory of n seats in rigs of twenty.
func bigRecord(n int) engine.FleetInput {
	now := time.Date(2026, 3, 3, 10, 0, 0, 0, time.UTC)
	in := engine.FleetInput{
		Record: &engine.Record{}, Live: true, Now: now, Activity: map[string]engine.Activity{}, Usage: map[string]engine.Usage{},
		Inv: engine.Inventory{Server: engine.Present, Epoch: "1:1", Path: "control"},
	}
	states := []engine.ActivityState{engine.ActivityIdle, engine.ActivityBusy, engine.ActivityWaiting, engine.ActivityLimit, engine.ActivityUnknown}
	for i := range n {
		rig := fmt.Sprintf("rig%03d", i/20)
		if i%20 == 0 {
			in.Record.Rigs = append(in.Record.Rigs, engine.Rig{ID: rig, Name: rig, CreatedAt: now})
			in.Record.Pods = append(in.Record.Pods, engine.Pod{ID: rig + "p", RigID: rig, Name: "dev", Label: "Development"})
		}
		id := fmt.Sprintf("seat%04d", i)
		pane := engine.PaneID(fmt.Sprintf("%%%d", i))
		in.Record.Seats = append(in.Record.Seats, engine.Seat{
			ID: id, RigID: rig, PodID: rig + "p", Pod: "dev", Member: fmt.Sprintf("m%d", i%20), Runtime: engine.RuntimeClaude, Generation: 1, Ordinal: i % 20,
		})
		in.Record.Sessions = append(in.Record.Sessions, engine.Session{
			ID: "s" + id, SeatID: id, Generation: 1, Status: engine.SessionRunning, Startup: engine.StartupReady, Token: engine.NewResumeToken("tok-" + id),
		})
		in.Record.Bindings = append(in.Record.Bindings, engine.Binding{SeatID: id, Epoch: "1:1", Pane: pane, SessionName: id})
		in.Inv.Panes = append(in.Inv.Panes, engine.Pane{ID: pane, Seat: id, Gen: "1", Session: id, PID: 100 + i, Width: 160, Height: 48})
		in.Activity[id] = engine.Activity{Reading: engine.Reading{State: states[i%len(states)], Source: "registry", Confidence: engine.ConfidenceHigh}}
		in.Usage[id] = engine.Usage{Known: true, Tokens: 1000, Window: 200000, Percent: 0.5, Generation: 1}
		if i%20 > 0 {
			in.Record.Edges = append(in.Record.Edges, engine.Edge{RigID: rig, From: fmt.Sprintf("seat%04d", i-1), To: id, Kind: engine.EdgeDelegatesTo})
		}
	}
	return in
}

func BenchmarkBuildFleet(b *testing.B) {
	for _, n := range []int{200, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			in := bigRecord(n)
			b.ReportAllocs()
			for b.Loop() {
				if f := engine.BuildFleet(in); len(f.Rigs) == 0 {
					b.Fatal("empty")
				}
			}
		})
	}
}

func TestUnknownIsNeverDrawnAsIdleOrDead(t *testing.T) {
	in := bigRecord(3)
	in.Inv = engine.Inventory{Server: engine.Unknown}
	f := engine.BuildFleet(in)
	for _, s := range f.Seats() {
		if s.Life != engine.LifeUnknown || s.Activity.State != engine.ActivityUnknown {
			t.Errorf("%s: %s %s", s.Address, s.Life, s.Activity.State)
		}
	}
	if f.Rigs[0].Life != engine.RigUnknown {
		t.Errorf("the rig reads %s", f.Rigs[0].Life)
	}
}

func TestFirstPictureFromTheRecordClaimsNothing(t *testing.T) {
	in := bigRecord(3)
	in.Live, in.Inv = false, engine.Inventory{}
	for _, s := range engine.BuildFleet(in).Seats() {
		if s.Life != engine.LifeUnknown {
			t.Errorf("%s: %s before tmux was asked", s.Address, s.Life)
		}
	}
}

func TestAServerThatDiedLosesItsSeats(t *testing.T) {
	in := bigRecord(2)
	in.Inv.Epoch = "2:9" // another life: every pane id is void, even equal ones
	f := engine.BuildFleet(in)
	for _, s := range f.Seats() {
		if s.Life != engine.LifeLost || s.Activity.State != engine.ActivityExited {
			t.Errorf("%s: %s %s", s.Address, s.Life, s.Activity.State)
		}
	}
	if len(f.Attention) != 2 || f.Attention[0].Class != engine.AttnLost {
		t.Errorf("attention: %+v", f.Attention)
	}
}

func TestADeadPaneShowsItsExitStatus(t *testing.T) {
	in := bigRecord(1)
	in.Inv.Panes[0].Dead, in.Inv.Panes[0].DeadCode = true, 3
	s := engine.BuildFleet(in).Seats()[0]
	if s.Life != engine.LifeDead || s.ExitCode == nil || *s.ExitCode != 3 || s.Activity.State != engine.ActivityExited {
		t.Errorf("%+v", s)
	}
}

// A client that somebody has stopped answers nothing in its pane: the remedy is the line that
// lets it go on, and in a session that a shell may have started also the shell's own word.
func TestTheRemedyOfAStopLetsTheClientGoOn(t *testing.T) {
	for origin, want := range map[engine.Origin]string{
		engine.OriginLaunched: "`kill -CONT 7` in a shell lets it go on",
		engine.OriginClaimed:  "`kill -CONT 7` in a shell lets it go on; so does `fg` in its pane, where a shell started it",
	} {
		in := bigRecord(1)
		in.Record.Sessions[0].Origin = origin
		in.Activity["seat0000"] = engine.Activity{Reading: engine.Reading{State: engine.ActivityWaiting, Code: engine.CodeSuspended, Why: "the client is stopped", Ends: "kill -CONT 7"}}
		f := engine.BuildFleet(in)
		if len(f.Attention) != 1 || f.Attention[0].Remedy != want {
			t.Errorf("%s: %+v", origin, f.Attention)
		}
	}
}

// What an operation of ours has stopped waits for that operation: a person who let it
// go on could set two agents to work in one directory.
func TestWhatAnOperationStoppedWaitsForNobody(t *testing.T) {
	stopped := engine.Activity{Reading: engine.Reading{State: engine.ActivityWaiting, Code: engine.CodeSuspended, Why: "the client is stopped", Ends: "kill -CONT 7"}}
	for _, c := range []struct {
		name      string
		held      bool
		dead      bool
		state     engine.ActivityState
		why, gate string
		attention string
	}{
		{"by a person", false, false, engine.ActivityWaiting, stopped.Why, "", engine.AttnSuspended},
		{"under way", true, false, engine.ActivityBusy, "stopped while the handover is under way", "", ""},
		{"at a gate", true, false, engine.ActivityBusy, "stopped while the handover is under way", "asks for trust", engine.AttnGate},
		{"cut off", true, true, engine.ActivityWaiting, "stopped by a handover that was cut off half-way: `rig op show op1`", "asks for trust", engine.AttnUnfinished},
	} {
		in := bigRecord(1)
		in.Activity["seat0000"] = stopped
		if c.held {
			in.Record.Open = []engine.Operation{{ID: "op1", Verb: engine.VerbHandover, SeatID: "seat0000", Target: "dev-m0@rig000", State: engine.OpRunning}}
			in.Record.Leases = []engine.Lease{{Key: "seat:seat0000", OpID: "op1"}}
			in.Dead = map[string]bool{"op1": c.dead}
		}
		if c.gate != "" {
			in.Steps = map[string][]engine.OperationStep{"op1": {{
				Kind: engine.StepReady, State: engine.StepStarted,
				Evidence: []byte(`{"gate":"trust_gate","why":"` + c.gate + `","session":"rig-staged","since":"2026-03-03T09:59:30Z","offered_until":"2026-03-03T10:00:30Z"}`),
			}}}
		}
		f := engine.BuildFleet(in)
		s := f.Seats()[0]
		if s.Activity.State != c.state || s.Activity.Why != c.why {
			t.Errorf("%s: %s, %s", c.name, s.Activity.State, s.Activity.Why)
		}
		if held := c.state == engine.ActivityBusy; s.Activity.Held() != held || held && (f.Totals.Busy != 0 || f.Rigs[0].Busy != 0) {
			t.Errorf("%s: held %v, and %d are busy", c.name, s.Activity.Held(), f.Totals.Busy)
		}
		var classes []string
		for _, it := range f.Attention {
			classes = append(classes, it.Class)
			if it.Class == engine.AttnGate && (it.Reason != "the successor waits at a gate: asks for trust" || in.Now.Sub(it.Since) != 30*time.Second) {
				t.Errorf("%s: %+v", c.name, it)
			}
		}
		if got := strings.Join(classes, " "); got != c.attention {
			t.Errorf("%s: attention %q, want %q", c.name, got, c.attention)
		}
		if want := map[bool]string{true: "rig-staged", false: s.SessionName}[c.attention == engine.AttnGate]; s.ToSee().Session != want {
			t.Errorf("%s: session %q, want %q", c.name, s.ToSee().Session, want)
		}
	}
}

func TestOneConversationInTwoSeatsIsNoticed(t *testing.T) {
	in := bigRecord(3)
	in.Record.Sessions[1].Token = in.Record.Sessions[0].Token
	f := engine.BuildFleet(in)
	n := 0
	for _, a := range f.Attention {
		if a.Class == engine.AttnShared {
			n++
		}
	}
	if n != 2 {
		t.Errorf("%d items: %+v", n, f.Attention)
	}
}

func TestAttentionIsSortedByWeightThenAge(t *testing.T) {
	in := bigRecord(20)
	in.Since = map[string]time.Time{"seat0002": in.Now.Add(-time.Hour), "seat0007": in.Now.Add(-2 * time.Hour)}
	f := engine.BuildFleet(in)
	if len(f.Attention) < 3 || f.Attention[0].SeatID != "seat0007" || f.Attention[1].SeatID != "seat0002" {
		t.Errorf("%+v", f.Attention)
	}
	in.Record.Acks = []engine.Ack{{Key: f.Attention[0].Key, By: "ann", At: in.Now}}
	g := engine.BuildFleet(in)
	if g.Attention[0].SeatID != "seat0002" || g.Totals.Attention != f.Totals.Attention-1 {
		t.Errorf("an acknowledged item still leads: %+v", g.Attention[0])
	}
}

// A wait that was acknowledged stays so in every process that tells its beginning
// a little differently, and a later one on the same seat is another.
func TestAcknowledgementIsForOneWait(t *testing.T) {
	in := bigRecord(3)
	began := in.Now.Add(-time.Minute)
	in.Since = map[string]time.Time{"seat0002": began}
	f := engine.BuildFleet(in)
	if len(f.Attention) != 1 || f.Attention[0].Class != engine.AttnWaiting || f.Attention[0].Acked != "" {
		t.Fatalf("attention: %+v", f.Attention)
	}
	in.Record.Acks = []engine.Ack{{Key: f.Attention[0].Key, By: "ana", At: began.Add(500 * time.Millisecond)}}
	for since, want := range map[time.Time]string{began: "ana", began.Add(time.Second): "ana", began.Add(-time.Second): "ana", began.Add(30 * time.Second): ""} {
		in.Since["seat0002"] = since
		if got := engine.BuildFleet(in).Attention[0].Acked; got != want {
			t.Errorf("a wait since %v is acknowledged by %q, want %q", since.Sub(began), got, want)
		}
	}
	in.Since["seat0002"] = began
	in.Record.Acks[0].Until = in.Now.Add(time.Minute)
	if got := engine.BuildFleet(in).Attention[0].Acked; got != "ana" {
		t.Errorf("a snoozed wait is acknowledged by %q", got)
	}
	in.Now = in.Now.Add(2 * time.Minute)
	if got := engine.BuildFleet(in).Attention[0].Acked; got != "" {
		t.Errorf("a wait whose snooze has ended is acknowledged by %q", got)
	}
}

// A server that does not answer has been silent since it last did, which only who
// saw it answer can tell, and an acknowledgement is for one silence.
func TestASilentServerIsAsOldAsItsSilence(t *testing.T) {
	in := bigRecord(2)
	in.Inv = engine.Inventory{Server: engine.Unknown, Err: engine.Errorf(engine.CodeUnavailable, "tmux did not answer within 4s").On("inventory", "/s").Wrap(context.DeadlineExceeded)}
	item := func() engine.AttentionItem {
		t.Helper()
		f := engine.BuildFleet(in)
		if f.Server.Why != "tmux did not answer within 4s" || len(f.Attention) != 1 || f.Attention[0].Class != engine.AttnServer {
			t.Fatalf("%q, %+v", f.Server.Why, f.Attention)
		}
		return f.Attention[0]
	}
	if got := item(); !got.Since.IsZero() {
		t.Errorf("a silence that was there before is told as %s old", in.Now.Sub(got.Since))
	}
	in.Unseen = in.Now.Add(-20 * time.Second)
	if got := item(); !got.Since.Equal(in.Unseen) {
		t.Errorf("since %v", got.Since)
	}
	in.Record.Acks = []engine.Ack{{Key: engine.AttnServer, By: "ana", At: in.Now.Add(-10 * time.Second)}}
	if got := item(); got.Acked != "ana" {
		t.Errorf("acknowledged by %q", got.Acked)
	}
	in.Unseen = in.Now.Add(-time.Second)
	if got := item(); got.Acked != "" {
		t.Errorf("another silence is acknowledged by %q", got.Acked)
	}
}

// A dead pane has been dead since its process ended, as tmux tells it. Where nobody
// tells, the age is not known: it is not that of the launch.
func TestADeadPaneIsAsOldAsItsDeath(t *testing.T) {
	in := bigRecord(2)
	launched := in.Now.Add(-time.Hour)
	for i := range in.Record.Sessions {
		in.Record.Sessions[i].CreatedAt = launched
	}
	died := in.Now.Add(-time.Minute)
	for i := range in.Inv.Panes {
		in.Inv.Panes[i].Dead, in.Inv.Panes[i].DeadCode = true, 0
	}
	in.Inv.Panes[0].DeadAt = died
	f := engine.BuildFleet(in)
	if s := f.Seats()[0]; !s.Since.Equal(died) {
		t.Errorf("dead since %v", s.Since)
	}
	if len(f.Attention) != 2 || !f.Attention[0].Since.Equal(died) || !f.Attention[1].Since.IsZero() {
		t.Errorf("%+v", f.Attention)
	}
}

// A gate that was answered is not the reason why a seat waits later; while it stands, and
// while nobody knows, it is.
func TestAnAnsweredGateIsNoReasonOfLater(t *testing.T) {
	for _, c := range []struct {
		note  string
		state engine.ActivityState
		code  engine.Code
		life  engine.SeatLife
		class string
	}{
		{"trust_gate: asks for trust", engine.ActivityWaiting, "trust_gate", engine.LifeAttention, engine.AttnStartup},
		{"trust_gate: asks for trust", engine.ActivityUnknown, "", engine.LifeAttention, engine.AttnStartup},
		{"trust_gate: asks for trust", engine.ActivityWaiting, "permission_prompt", engine.LifeRunning, engine.AttnWaiting},
		{"the running conversation was not proven to be the recorded one: no lock", engine.ActivityWaiting, "permission_prompt", engine.LifeAttention, engine.AttnStartup},
		{"trust_gate: asks for trust", engine.ActivityIdle, "", engine.LifeRunning, ""},
	} {
		in := bigRecord(1)
		in.Record.Sessions[0].Startup, in.Record.Sessions[0].StartupNote = engine.StartupAttention, c.note
		in.Activity["seat0000"] = engine.Activity{Reading: engine.Reading{State: c.state, Code: c.code, Why: "it asks"}}
		f := engine.BuildFleet(in)
		class := ""
		for _, it := range f.Attention {
			class = it.Class
		}
		if s := f.Seats()[0]; s.Life != c.life || class != c.class {
			t.Errorf("%+v: life %s, attention %q", c, s.Life, class)
		}
	}
}

// A seat to which an operation at work brings an occupant is starting, whatever was there
// before; one whose start failed or was cut off is not.
func TestASeatThatIsBroughtUpIsStarting(t *testing.T) {
	for _, c := range []struct {
		name   string
		verb   engine.Verb
		create engine.StepState
		cutOff bool
		never  bool
		life   engine.SeatLife
	}{
		{"a restore of a lost seat", engine.VerbRestore, engine.StepPending, false, false, engine.LifeStarting},
		{"the seat of a fork", engine.VerbFork, engine.StepStarted, false, true, engine.LifeStarting},
		{"its session is made", engine.VerbFork, engine.StepDone, false, true, engine.LifeStarting},
		{"it failed", engine.VerbFork, engine.StepFailed, false, true, engine.LifeNever},
		{"it was cut off", engine.VerbFork, engine.StepStarted, true, true, engine.LifeNever},
		{"a lost seat whose restore was cut off", engine.VerbRestore, engine.StepStarted, true, false, engine.LifeLost},
		{"another verb", engine.VerbHandover, engine.StepStarted, false, false, engine.LifeLost},
	} {
		in := bigRecord(1)
		in.Inv.Panes = nil
		if c.never {
			in.Record.Sessions, in.Record.Bindings = nil, nil
		}
		address := engine.BuildFleet(in).Seats()[0].Address
		in.Record.Open = []engine.Operation{{ID: "op1", Verb: c.verb, State: engine.OpRunning}}
		in.Dead = map[string]bool{"op1": c.cutOff}
		in.Steps = map[string][]engine.OperationStep{"op1": {
			{Seat: address, Kind: engine.StepCreate, Effect: engine.EffectReversible, State: c.create},
			{Seat: address, Kind: engine.StepOccupy, Effect: engine.EffectCommit, State: engine.StepPending},
		}}
		f := engine.BuildFleet(in)
		if s := f.Seats()[0]; s.Life != c.life {
			t.Errorf("%s: %s (%s), want %s", c.name, s.Life, s.LifeWhy, c.life)
		}
		for _, it := range f.Attention {
			if c.life == engine.LifeStarting && it.SeatID != "" {
				t.Errorf("%s: %+v", c.name, it)
			}
		}
	}
}

// A first start that failed is told of where one looks: nobody has sat there, so the seat
// itself has nothing to show.
func TestAFirstStartThatFailedNeedsAPerson(t *testing.T) {
	in := bigRecord(1)
	in.Inv.Panes, in.Record.Sessions, in.Record.Bindings = nil, nil, nil
	if f := engine.BuildFleet(in); len(f.Attention) != 0 {
		t.Errorf("never started: %+v", f.Attention)
	}
	in.Record.Seats[0].LastError, in.Record.Seats[0].UpdatedAt = "the client ended with code 1", in.Now.Add(-time.Minute)
	f := engine.BuildFleet(in)
	if len(f.Attention) != 1 {
		t.Fatalf("%+v", f.Attention)
	}
	it := f.Attention[0]
	if it.Reason != "its start failed: the client ended with code 1" || it.Remedy != "rig launch "+it.Rig+" "+f.Seats()[0].Logical || it.Since != in.Record.Seats[0].UpdatedAt {
		t.Errorf("%+v", it)
	}
}
