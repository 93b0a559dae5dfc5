package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// mapKeeper is what Contexts offers for restore maps. A map is the seat's own: it
// writes a draft that ends with a marker line, and we publish it by a rename.
type mapKeeper interface {
	// PrepareMap makes the folder of an attempt in a directory and gives the path
	// of the map to come.
	PrepareMap(cwd, attempt string) (path string, err error)
	// PublishMap gives true when the map is there and whole.
	PublishMap(path, marker string) (bool, error)
	// CheckPacket proves that a packet is on disk and whole.
	CheckPacket(dir string) error
}

func (e *Engine) maps() (mapKeeper, error) {
	if m, ok := e.d.Contexts.(mapKeeper); ok {
		return m, nil
	}
	return nil, Errorf(CodeNotSupported, "this build cannot keep restore maps").WithHint("use a build with packets")
}

func (e *Engine) directives() (directiveKeeper, error) {
	if k, ok := e.d.Occupants.(directiveKeeper); ok {
		return k, nil
	}
	return nil, Errorf(CodeNotSupported, "this build cannot leave restore directives").WithHint("use a build with hooks")
}

// doCompactPacket writes the packet and reads it back: without one on disk nothing
// is compacted.
func doCompactPacket(ctx context.Context, r *run, s Step) (Evidence, error) {
	m, err := r.e.maps()
	if err != nil {
		return nil, err
	}
	in, err := r.packetInput(ctx, s)
	if err != nil {
		return nil, err
	}
	in.Reason = "" // the occupant does not change
	h, err := r.e.d.Contexts.WritePacket(ctx, in)
	if err != nil {
		return nil, err
	}
	ev := Evidence{"dir": h.Dir, "gaps": h.Gaps, "sources": h.Sources}
	if h.Dir == "" {
		return ev, Errorf(CodePrepIncomplete, "no restore packet could be written: %s", strings.Join(h.Gaps, "; ")).On("compact", s.Seat).
			WithHint("nothing was sent to the seat; `rig explain %s identity`", s.Seat)
	}
	return ev, m.CheckPacket(h.Dir)
}

// mapMarker is the last line of a finished restore map.
func mapMarker(opID string, s Step) string {
	b, err := json.Marshal(struct {
		Attempt    string `json:"attempt"`
		Seat       string `json:"seat"`
		Generation string `json:"generation"`
	}{opID, s.Seat, s.Args["generation"]})
	if err != nil { // strings always marshal
		panic("engine: marker does not marshal: " + err.Error())
	}
	return "<!-- rig-compaction-complete " + string(b) + " -->"
}

// doCompactPrep asks the seat for its restore map and waits until it is whole.
func doCompactPrep(ctx context.Context, r *run, s Step) (Evidence, error) {
	c := r.compaction(ctx, s)
	m, err := r.e.maps()
	if err != nil {
		return nil, err
	}
	t, err := c.target(ctx)
	if err != nil {
		return nil, err
	}
	path, err := m.PrepareMap(t.seat.Cwd, r.plan.ID)
	if err != nil {
		return nil, err
	}
	marker, limit := mapMarker(r.plan.ID, s), r.e.d.Config.CompactWait
	ev := Evidence{"map": path, "delivery": "not sent", "deadline": c.deadline()}
	if err := c.cancelled(ctx); err != nil {
		return ev, err
	}
	d, err := c.line(ctx, c.prepText(path, marker, limit), true)
	ev["delivery"] = cmp.Or(d.Outcome, "not sent")
	if err != nil {
		return ev, err
	}
	if err := r.note(ctx, s, StepStarted, ev, nil); err != nil {
		return ev, err
	}
	err = c.until(ctx, limit, func(ctx context.Context, t target, p Probe) (bool, error) {
		if err := c.cancelled(ctx); err != nil {
			return false, err
		}
		act := t.rt.Activity(ctx, p)
		if act.State == ActivityWaiting || act.State == ActivityLimit || act.State == ActivityExited {
			return false, mayCompact(t, act, p.Screen)
		}
		whole, err := m.PublishMap(path, marker)
		return whole && act.State == ActivityIdle, err
	}, func() error {
		return Errorf(CodePrepIncomplete, "the restore map was not finished within %s; /compact was not typed", limit).On("compact", s.Seat).
			WithHint("the attempt is over; try again, or `rig compact %s --skip-map`", s.Seat).With("map", path).With("delivery", ev["delivery"])
	})
	ev["whole"] = err == nil
	return ev, err
}

func (c compaction) prepText(path, marker string, limit time.Duration) string {
	who := "An operator asked for a compaction of this conversation"
	if c.s.Args["mode"] == "automatic" {
		who = "This rig's compaction policy asks for a compaction of this conversation"
	}
	return oneLine(fmt.Sprintf("%s %s; it may or may not follow within %s. %s Write your restore map with your edit tool, no shell, to %s.tmp : a ranked reading list "+
		"(files with why, current work, why it matters, next owner, constraints). Its last line must be exactly: %s", c.tag, who, limit, c.text.PreCompactInstruction, path, marker))
}

// oneLine keeps a text on one line: a line break would submit or split it.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// doCompactSend arms the restore directive and types /compact, once.
func doCompactSend(ctx context.Context, r *run, s Step) (Evidence, error) {
	c := r.compaction(ctx, s)
	if err := c.idle(ctx, r.e.d.Config.CompactWait, true); err != nil {
		return nil, err
	}
	t, err := c.target(ctx)
	if err != nil {
		return nil, err
	}
	witness, err := t.compactor()
	if err != nil {
		return nil, err
	}
	probe := t.probe(r.e, Screen{})
	mark, err := witness.CompactionMark(ctx, probe)
	if err != nil {
		return nil, err
	}
	if err := c.arm(ctx, t, probe); err != nil {
		return nil, err
	}
	ev := Evidence{"file": ConversationDigest(mark.Path), "offset": mark.Offset, "at": mark.At.UTC().Format(time.RFC3339Nano), "event": mark.Event, "directive": "armed", "delivery": "not sent", "session_id": t.session.ID}
	if err := r.note(ctx, s, StepStarted, ev, nil); err != nil { // what is typed is on record before it is typed
		return ev, err
	}
	if err := c.cancelled(ctx); err != nil {
		ev[typedKey] = false
		return ev, err
	}
	d, err := c.line(ctx, oneLine("/compact "+c.tag+" Keep why the work matters, what is under way and who comes next. "+c.text.CompactInstruction), false)
	ev["delivery"] = cmp.Or(d.Outcome, "not sent")
	if err != nil && (d.Outcome == "" || d.Outcome == "not-sent") {
		ev[typedKey] = false // the line was not begun: what is asked again is not asked twice
	}
	return ev, err
}

// arm leaves the restore directive for the seat's own SessionStart hook.
func (c compaction) arm(ctx context.Context, t target, p Probe) error {
	k, err := c.r.e.directives()
	if err != nil {
		return err
	}
	id := t.rt.Identify(ctx, p).Token
	if id.Empty() {
		id = t.session.Token
	}
	d := Directive{
		Attempt: c.r.plan.ID, Seat: t.address, Session: t.session.ID, Generation: t.session.Generation, By: "operation",
		Conversation: ConversationDigest(id.Reveal()), CreatedAt: c.r.e.d.Clock.Now().UTC(), Packet: c.r.saw(t.address + "/packet").Str("dir"),
	}
	if prep := c.r.saw(t.address + "/prep"); prep["whole"] == true {
		d.Map = prep.Str("map")
	}
	var gaps []string
	if d.Map == "" {
		gaps = append(gaps, "no restore map was asked for")
	}
	d.Text = DirectiveText(d, gaps)
	return k.ArmDirective(d)
}

// undoCompactSend takes the directive back; what the client has already been told
// to do is left to it.
func undoCompactSend(ctx context.Context, r *run, s Step) error {
	c := r.compaction(ctx, s)
	if mark, err := c.mark(ctx); err == nil {
		if t, err := c.target(ctx); err == nil {
			witness, ok := t.rt.(compactor)
			if ok && witness.CompactionSince(ctx, t.probe(r.e, Screen{}), mark).State == CompactionDone {
				return nil // it did compact: its restore directive is due
			}
		}
	}
	k, err := r.e.directives()
	session := r.saw(s.ID).Str("session_id")
	if err != nil || session == "" {
		return err
	}
	_, err = k.DisarmDirective(session, r.plan.ID)
	return err
}

// mark gives the moment from which this attempt's compaction counts, as journaled
// before anything was typed: also after the process that typed it has died.
func (c compaction) mark(ctx context.Context) (CompactionMark, error) {
	ev := c.r.saw(c.s.Seat + "/send")
	at, err := time.Parse(time.RFC3339Nano, ev.Str("at"))
	if err != nil || ev.Str("file") == "" {
		return CompactionMark{}, Errorf(CodeInternal, "no mark of this attempt is on record").WithHint("this is a fault of the program: report it")
	}
	m, err := c.recall(ctx, ev)
	m.At, m.Tag = at, c.tag
	return m, err
}

// recall turns a journaled mark into one that can be read from. The journal names
// the client's file by a digest only, because its name is the conversation's id.
func (c compaction) recall(ctx context.Context, ev Evidence) (CompactionMark, error) {
	t, err := c.target(ctx)
	if err != nil {
		return CompactionMark{}, err
	}
	witness, err := t.compactor()
	if err != nil {
		return CompactionMark{}, err
	}
	now, err := witness.CompactionMark(ctx, t.probe(c.r.e, Screen{}))
	if err != nil {
		return CompactionMark{}, err
	}
	if ConversationDigest(now.Path) != ev.Str("file") {
		return CompactionMark{}, Errorf(CodeStaleGeneration, "the seat holds another conversation now").On("compact", c.s.Seat).
			WithHint("`rig seat status %s`", c.s.Seat)
	}
	return CompactionMark{Path: now.Path, Offset: int64(ev.Int("offset")), At: now.At, Event: ev.Str("event")}, nil
}

// doCompactProve waits for the outcome. A failure is told with the client's words,
// and nothing more is typed: no Esc, no /clear, no second try.
func doCompactProve(ctx context.Context, r *run, s Step) (Evidence, error) {
	c := r.compaction(ctx, s)
	mark, err := c.mark(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.note(ctx, s, StepStarted, Evidence{"deadline": c.deadline()}, nil); err != nil {
		return nil, err
	}
	var got CompactionProof
	err = c.until(ctx, r.e.d.Config.CompactWait, func(ctx context.Context, t target, p Probe) (bool, error) {
		witness, err := t.compactor()
		if err != nil {
			return false, err
		}
		if got = witness.CompactionSince(ctx, p, mark); got.State == CompactionFailed {
			return false, Errorf(CodeCompactionFailed, "the client could not compact: %s", got.Why).On("compact", s.Seat).
				WithHint("nothing further was typed; hand the seat over (rig handover %s --reason …), or use its restore packet", s.Seat).With("pane_tail", got.Tail)
		}
		return got.State == CompactionDone, nil
	}, func() error {
		return Errorf(CodeNotCompacted, "no proof of the compaction within %s: %s", r.e.d.Config.CompactWait, got.Why).On("compact", s.Seat).
			WithHint("it may still come; /compact is not typed again: rig attach %s", s.Seat)
	})
	ev := Evidence{"state": string(got.State), "why": got.Why, "source": got.Source, "trigger": got.Trigger, "pre_tokens": told(got.PreTokens), "post_tokens": told(got.PostTokens)}
	if len(got.Tail) > 0 {
		ev["pane_tail"] = got.Tail
	}
	return ev, err
}
