package engine

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
)

// seatCheck gathers the checks of one seat.
type seatCheck struct {
	c   *checker
	s   Seat
	out RestoreCheckSeat
}

func (k *seatCheck) add(name string, status CheckStatus, evidence, source, remedy string) {
	k.c.add(RestoreCheckItem{
		Check: "seat." + k.out.Seat + "." + name, Status: status, Evidence: evidence, Source: source, Remedy: remedy,
		Rig: k.c.w.rigs[k.s.RigID].Name, Seat: k.out.Seat,
	})
	if worse(status, k.out.Status) {
		k.out.Status = status
		if rankOf(status) > rankOf(CheckYellow) || k.out.Remedy == "" {
			k.out.Remedy = remedy
		}
		if name != "conversation" && rankOf(status) > rankOf(CheckYellow) {
			k.out.Why = evidence
			if status == CheckRed && k.out.Action != string(ContinuityAwaiting) {
				k.out.Action = string(ContinuityFailed)
			}
		}
	}
}

// seat judges one seat as if the machine rebooted now: whether it runs at this
// moment is shown and not judged.
func (c *checker) seat(ctx context.Context, s Seat, contexts map[string]StartupContext) RestoreCheckSeat {
	k := &seatCheck{c: c, s: s}
	k.out = RestoreCheckSeat{
		Seat: c.w.address(s), SeatID: s.ID, Runtime: s.Runtime, Status: CheckGreen, Live: c.w.locate(s.ID).presence.String(),
	}
	fresh := k.conversation(ctx)
	k.startup(contexts, fresh)
	k.program(ctx, fresh)
	if !c.opt.NoHooks {
		k.hooks()
	}
	if !c.opt.NoQueue {
		k.queue(ctx)
	}
	k.spec(ctx)
	if c.w.inv.Server == Unknown && worse(CheckUnknown, k.out.Status) { // the check of the server tells it once
		k.out.Status, k.out.Remedy = CheckUnknown, "`rig doctor`"
		k.out.Why += "; whether it would come back cannot be told, as tmux does not answer"
	}
	return k.out
}

// spec tells in what the seat differs from the spec of its rig. A restore does not
// need the spec, so that is nothing to repair.
func (k *seatCheck) spec(ctx context.Context) {
	rig := k.c.w.rigs[k.s.RigID]
	own, read := k.c.specs[rig.ID]
	if !read {
		own = k.c.e.specOf(ctx, rig.SpecPath)
		k.c.specs[rig.ID] = own
	}
	d := own.drift(rig, k.s)
	k.add("spec", CheckGreen, string(d.State)+": "+d.Words(), "file", "")
}

// conversation checks what the seat would go on with. It reports whether the
// seat would start afresh.
func (k *seatCheck) conversation(ctx context.Context) (fresh bool) {
	last, had := k.c.w.latest[k.s.ID]
	primed := func(action, why string, status CheckStatus) bool {
		k.out.Action, k.out.Why = action, why
		k.add("conversation", status, why, "record", "")
		return true
	}
	switch {
	case k.s.Runtime == RuntimeTerminal:
		return primed(string(ContinuityFreshPrimed), "no_conversation_by_nature", CheckGreen)
	case !had:
		return primed("launch", "it never had an occupant, so nothing can be lost", CheckGreen)
	case k.s.RestorePolicy == RestoreFresh:
		return primed(string(ContinuityFreshPrimed), "its restore_policy is relaunch_fresh: it would start anew", CheckYellow)
	}
	j := k.c.e.continuable(ctx, k.c.w, k.s, last, false)
	k.out.Action, k.out.Why = "resume-original", j.why
	if j.outcome != "" {
		k.out.Action, k.out.Remedy, k.out.Code = string(j.outcome), j.hint, j.code
	}
	source := cmp.Or(withoutToken(j.conv.Path, last.Token), "record")
	switch {
	case j.code == CodeNeverAsked:
		k.add("conversation", CheckRed, j.why, "the client and its hooks", j.hint)
		return false
	case j.conv.Exists == Unknown && j.code == CodeUnavailable:
		k.out.Action = "unknown"
		k.add("conversation", CheckUnknown, j.why, source, j.hint)
		return false
	case j.outcome != "":
		k.add("conversation", CheckRed, j.why, source, j.hint)
		return false
	}
	k.add("conversation", CheckGreen, j.why, source, "")
	for _, caveat := range j.conv.Caveats {
		k.add("conversation-caveat", CheckYellow, caveat, source, "talk to the seat, or keep a copy of the file")
	}
	unsure := k.c.e.undecided(ctx, k.c.w, k.s, last)
	switch now := k.c.e.asItIsNow(ctx, k.c.w, k.s, last); {
	case unsure != "":
		k.add("conversation-moved", CheckYellow, "it would come back to the conversation on record, which may be an earlier one: "+unsure, "the client", "restart its client in that conversation, or `rig seat set-resume-token "+k.out.Seat+" --token-stdin --reason …`")
	case !SameNativeID(now.Token.Reveal(), last.Token.Reveal()):
		k.add("conversation-moved", CheckYellow, "its client has moved to another conversation since, and would come back to the one before", "the client",
			"`"+CommandLine("rig", "snapshot", "create", k.c.w.rigs[k.s.RigID].Name)+"` puts that one on record; `rig down` does too")
	case k.c.w.locate(k.s.ID).presence == Absent && k.c.e.movedUnseen(last):
		k.add("conversation-moved", CheckYellow, leftCaveat, "the client's hooks", "`rig seat set-resume-token "+k.out.Seat+" --token-stdin --reason …` gives it that one")
	}
	if j.conv.Live && k.c.w.locate(k.s.ID).presence == Absent {
		k.add("conversation-live", CheckYellow, fmt.Sprintf("process %d has it open, and that is not the seat's", j.conv.LivePID), "registry",
			fmt.Sprintf("end process %d before a restore", j.conv.LivePID))
	}
	if other, taken := k.c.token[strings.ToLower(last.Token.Reveal())]; taken {
		k.out.Action, k.out.Code = string(ContinuityAwaiting), CodeSharedConv
		k.add("conversation-shared", CheckRed, "its conversation is also on record for "+other+", and only one can continue it", "record", freshHint(k.c.w, k.s))
	} else {
		k.c.token[strings.ToLower(last.Token.Reveal())] = k.out.Seat
	}
	return false
}

// startup checks what a fresh start would be given. Only a seat that would start
// afresh depends on it.
func (k *seatCheck) startup(contexts map[string]StartupContext, fresh bool) {
	grade := CheckYellow
	if fresh && k.s.Runtime != RuntimeTerminal {
		grade = CheckRed
	}
	ctx, ok := contexts[k.s.ID]
	if !ok {
		k.add("startup-context", grade, "what a fresh occupant is told is not on record", "record", "bring the rig up from its spec again")
		return
	}
	m, err := memberOf(k.s, ctx)
	if err != nil {
		k.add("startup-context", grade, AsError(err).Msg, "record", AsError(err).Hint)
		return
	}
	for _, f := range m.Launch.Files {
		if _, err := os.Stat(f.Abs); err != nil && f.Required && !f.OfSeat() {
			k.add("startup-context", grade, "startup file "+f.Path+" is not there", f.Abs, "put it back, or mark it required: false")
			return
		}
	}
	k.add("startup-context", CheckGreen, Counted(len(m.Launch.Files), "file")+", "+Counted(len(m.Launch.Actions), "action"), "record", "")
}

// program checks the directory and the client, by the runtime's own preflight.
func (k *seatCheck) program(ctx context.Context, fresh bool) {
	rt, err := k.c.e.runtime(k.s.Runtime)
	if err != nil {
		k.add("program", CheckRed, AsError(err).Msg, "build", AsError(err).Hint)
		return
	}
	if info, err := os.Stat(k.s.Cwd); err != nil || !info.IsDir() {
		k.add("cwd", CheckRed, "its directory "+k.s.Cwd+" is not there", "file", CommandLine("mkdir", "-p", k.s.Cwd))
		return
	}
	k.add("cwd", CheckGreen, k.s.Cwd, "file", "")
	start := Start(StartFresh{})
	if last := k.c.w.latest[k.s.ID]; !fresh && !last.Token.Empty() && k.s.Runtime != RuntimeTerminal {
		start = StartResume{Token: last.Token}
	}
	bad := false
	for _, b := range rt.Preflight(ctx, LaunchRequest{Seat: k.s, Address: k.out.Seat, Start: withIDs(k.c.e.d.IDs, start), Env: k.c.e.d.Env}) {
		if slices.Contains(conversationCodes, b.Code) && b.Code != "no_conversation_found" {
			continue // the conversation's own check tells it
		}
		if b.Code == "no_conversation_found" && k.out.Status != CheckGreen {
			continue
		}
		bad = true
		k.add("launch", CheckRed, b.Message, "preflight", b.Hint)
	}
	if !bad {
		k.add("launch", CheckGreen, "its client can be started", "preflight", "")
	}
}

// hooks checks that the client's own reports reach us: what is known of a seat
// without them rests on weaker evidence.
func (k *seatCheck) hooks() {
	last, had := k.c.w.latest[k.s.ID]
	if k.s.Runtime != RuntimeClaude || !had {
		k.add("hooks", CheckGreen, "none are needed", "record", "")
		return
	}
	sig, err := k.c.e.d.Occupants.Signals(last.ID)
	switch {
	case err != nil:
		k.add("hooks", CheckYellow, "the reports of its hooks cannot be read: "+err.Error(), "spool", "`rig doctor`")
	case len(sig.Hooks) == 0 && last.Origin == OriginLaunched:
		k.add("hooks", CheckYellow, "none of its hooks has ever reported", "spool", "look for disableAllHooks in the client's settings")
	default:
		found := Counted(len(sig.Hooks), "report")
		if sig.Older {
			found += " and older ones"
		}
		k.add("hooks", CheckGreen, found, "spool", "")
	}
}

// queue checks the seat's inbound work: it waits for the seat, whoever sits
// there.
func (k *seatCheck) queue(ctx context.Context) {
	claimed := 0
	var items []WorkItem
	err := k.c.e.d.Store.Read(ctx, func(r Reader) error {
		var err error
		items, err = r.Work(k.s.ID)
		return err
	})
	if err != nil {
		k.add("queue-store", CheckYellow, "its inbound work cannot be read: "+err.Error(), "record", "`rig doctor`")
		return
	}
	for _, it := range items {
		if it.State == "claimed" && it.Generation < k.s.Generation {
			claimed++
		}
	}
	if claimed > 0 {
		k.add("queue-store", CheckYellow, Counted(claimed, "piece")+" of work claimed by a former occupant", "record", "ask the seat about them")
		return
	}
	k.add("queue-store", CheckGreen, Counted(len(items), "piece")+" of work", "record", "")
}
