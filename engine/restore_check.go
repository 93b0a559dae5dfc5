package engine

import (
	"cmp"
	"context"
	"os"
	"strings"
	"time"
)

// CheckStatus grades one check.
type CheckStatus string

// Grades of a check. Unknown is neither good nor bad: it cannot be told.
const (
	CheckGreen   CheckStatus = "green"
	CheckYellow  CheckStatus = "yellow" // it would work, with something to know
	CheckRed     CheckStatus = "red"
	CheckUnknown CheckStatus = "unknown"
)

// RestoreCheckItem is one check with what it saw and what repairs it.
type RestoreCheckItem struct {
	Check    string      `json:"check"` // host.x, tmux.x, rig.<name>.x, seat.<address>.x
	Status   CheckStatus `json:"status"`
	Evidence string      `json:"evidence"`
	Source   string      `json:"source,omitempty"`      // where the evidence comes from
	Remedy   string      `json:"remediation,omitempty"` // in words, with the command
	Safe     bool        `json:"remediation_safe"`      // the command ends and overwrites nothing
	Rig      string      `json:"rig,omitempty"`
	Seat     string      `json:"seat,omitempty"`
}

// Verdicts of restore-check.
const (
	VerdictRestorable    = "restorable"
	VerdictCaveats       = "restorable_with_caveats"
	VerdictNotRestorable = "not_restorable"
	VerdictUnknownState  = "unknown"
)

// RestoreCheckOptions select what is checked and what is listed. Everything that
// is checked counts toward the verdict, whether it is listed or not.
type RestoreCheckOptions struct {
	Rig     string // name or id; "" = all
	Full    bool   // list every check
	Ready   bool   // list the green checks of seats too
	NoQueue bool
	NoHooks bool
	Host    []RestoreCheckItem // checks that the caller has made of the machine
}

// RestoreCheckSeat is what would become of one seat if this machine rebooted now.
type RestoreCheckSeat struct {
	Seat    string      `json:"seat"`
	SeatID  string      `json:"seat_id"`
	Runtime RuntimeName `json:"runtime"`
	Status  CheckStatus `json:"status"` // the worst of its checks
	Action  string      `json:"action"` // resume-original, fresh-primed, launch, awaiting-decision, failed, unknown
	Why     string      `json:"why"`
	Code    Code        `json:"code,omitempty"` // of a seat that would wait or fail, such as conversation_gone
	Remedy  string      `json:"remediation,omitempty"`
	Live    string      `json:"live"` // present, absent or unknown now: shown, not judged
}

// RestoreCheckRig sums up one rig.
type RestoreCheckRig struct {
	Rig      string             `json:"rig"`
	RigID    string             `json:"rig_id"`
	Verdict  string             `json:"verdict"`
	Snapshot SnapshotSelection  `json:"snapshot"`
	Seats    []RestoreCheckSeat `json:"seats"`

	stopped bool // before its first seat
}

// RestoreCheckReport is the answer to "could each seat come back if this machine
// rebooted now".
type RestoreCheckReport struct {
	Verdict string             `json:"verdict"`
	At      time.Time          `json:"at"`
	Counts  CheckCounts        `json:"counts"` // of all checks, listed or not
	Seats   SeatCounts         `json:"seat_counts"`
	Rigs    []RestoreCheckRig  `json:"rigs"`
	Checks  []RestoreCheckItem `json:"checks"`
	Repairs []RestoreCheckItem `json:"repairs"` // what is red, then what is unknown, then what is yellow
}

// CheckCounts counts checks by grade.
type CheckCounts struct {
	Green   int `json:"green"`
	Yellow  int `json:"yellow"`
	Red     int `json:"red"`
	Unknown int `json:"unknown"`
}

// SeatCounts counts seats by what would become of them.
type SeatCounts struct {
	Restorable int `json:"restorable"`
	Not        int `json:"not_restorable"`
	Unknown    int `json:"unknown"`
}

// ExitCode is 0 for restorable, also with caveats, 1 for not, 2 for unknown.
func (r RestoreCheckReport) ExitCode() int {
	switch r.Verdict {
	case VerdictRestorable, VerdictCaveats:
		return 0
	case VerdictNotRestorable:
		return 1
	}
	return 2
}

// checker gathers the checks of one report.
type checker struct {
	e     *Engine
	w     *world
	opt   RestoreCheckOptions
	all   []RestoreCheckItem
	rep   RestoreCheckReport
	token map[string]string  // native id → first seat that has it on record
	specs map[string]ownSpec // of each rig, read once
}

// RestoreCheck judges every intended seat as if this machine rebooted now. It
// reads only. A record or a server that cannot be read makes the verdict
// unknown; only a malformed request is an error.
func (e *Engine) RestoreCheck(ctx context.Context, opt RestoreCheckOptions) (RestoreCheckReport, error) {
	c := &checker{e: e, opt: opt, all: append([]RestoreCheckItem(nil), opt.Host...), token: map[string]string{}, specs: map[string]ownSpec{}}
	c.rep.At, c.rep.Rigs = e.d.Clock.Now(), []RestoreCheckRig{}
	w, err := e.look(ctx)
	if err != nil {
		c.add(RestoreCheckItem{Check: "record.readable", Status: CheckUnknown, Evidence: err.Error(), Source: e.d.Store.Path(), Remedy: AsError(err).Hint})
		return c.report(), nil
	}
	c.w = w
	c.add(RestoreCheckItem{Check: "record.readable", Status: CheckGreen, Evidence: Counted(len(w.rec.Rigs), "rig") + ", " + Counted(len(w.rec.Seats), "seat"), Source: e.d.Store.Path()})
	c.server()
	for _, rig := range w.rec.Rigs {
		if opt.Rig == "" || opt.Rig == rig.Name || opt.Rig == rig.ID {
			c.rig(ctx, rig)
		}
	}
	if opt.Rig != "" && len(c.rep.Rigs) == 0 {
		c.add(RestoreCheckItem{
			Check: "rig." + opt.Rig + ".exists", Status: CheckRed, Evidence: "no rig of that name or id is on record",
			Source: "record", Remedy: "`rig ps` lists the rigs", Safe: true,
		})
	}
	return c.report(), nil
}

func (c *checker) add(it RestoreCheckItem) { c.all = append(c.all, it) }

func (c *checker) server() {
	it := RestoreCheckItem{Check: "tmux.server", Status: CheckGreen, Source: c.e.d.Mux.Socket()}
	switch c.w.inv.Server {
	case Present:
		it.Evidence = "it answers"
	case Absent:
		it.Evidence = "none runs; the first launch starts it"
	case Unknown:
		it.Status, it.Evidence, it.Remedy, it.Safe = CheckUnknown, "it does not answer", "`rig doctor`", true
		if c.w.inv.Err != nil {
			it.Evidence += ": " + c.w.inv.Err.Error()
		}
	}
	c.add(it)
}

// rig checks what a restore of the whole rig stands on, then its seats.
func (c *checker) rig(ctx context.Context, rig Rig) {
	start := len(c.all)
	v := RestoreCheckRig{Rig: rig.Name, RigID: rig.ID, Seats: []RestoreCheckSeat{}}
	add := func(name string, status CheckStatus, evidence, source, remedy string, safe bool) {
		c.add(RestoreCheckItem{Check: "rig." + rig.Name + "." + name, Status: status, Evidence: evidence, Source: source, Remedy: remedy, Safe: safe, Rig: rig.Name})
	}
	choice, err := c.e.chooseSnapshot(ctx, c.w, rig)
	v.Snapshot = choice.SnapshotSelection
	switch {
	case err != nil:
		add("snapshot", CheckUnknown, err.Error(), "record", AsError(err).Hint, false)
	case choice.ID == "":
		remedy, blind := "`"+CommandLine("rig", "snapshot", "create", rig.Name)+"`", c.w.blindness(rig) != ""
		if blind { // it would be partial, and no restore would choose it
			remedy = "`" + CommandLine("rig", "up", rig.Name) + "`, then " + remedy + ": without sight of its seats it would be partial"
		}
		add("snapshot", CheckYellow, choice.words(), "record", remedy, !blind)
	default:
		add("snapshot", CheckGreen, choice.words(), "record", "", false)
	}
	switch info, err := os.Stat(rig.SpecPath); {
	case rig.SpecPath == "" || strings.HasPrefix(rig.SpecPath, "builtin:"):
		add("spec-present", CheckGreen, cmp.Or(rig.SpecPath, "none was recorded"), "record", "", false)
	case err != nil || info.IsDir():
		add("spec-present", CheckYellow, rig.SpecPath+" is not there; the record has the seats", "file", "put the spec back, or bring the rig up from another", false)
	default:
		add("spec-present", CheckGreen, rig.SpecPath, "file", "", false)
	}
	v.stopped = !c.preconditions(rig, add)
	contexts, err := c.e.startups(ctx, c.w.seatsOf(rig.ID))
	if err != nil {
		add("restore-preconditions", CheckUnknown, err.Error(), "record", AsError(err).Hint, false)
	}
	for _, s := range c.w.seatsOf(rig.ID) {
		if choice.data != nil && !c.intended(choice, s) {
			continue
		}
		v.Seats = append(v.Seats, c.seat(ctx, s, contexts))
	}
	v.Verdict = verdictOfChecks(c.all[start:])
	c.rep.Rigs = append(c.rep.Rigs, v)
}

func (c *checker) intended(choice chosenSnapshot, s Seat) bool {
	for _, l := range choice.data.Roster.Intended {
		if l == s.Logical() {
			return true
		}
	}
	return false
}

// preconditions looks for what would stop a restore before its first seat; false when
// something does.
func (c *checker) preconditions(rig Rig, add func(name string, status CheckStatus, evidence, source, remedy string, safe bool)) bool {
	if _, err := OrderMembers(logicals(c.w.seatsOf(rig.ID)), c.w.edgeSpecs(rig.ID)); err != nil {
		add("restore-preconditions", CheckRed, AsError(err).Msg, "record", "correct the edges: "+AsError(err).Hint, false)
		return false
	}
	switch op, dead := c.holderOf(rig); {
	case dead:
		add("restore-preconditions", CheckRed, string(op.Verb)+" of "+op.Target+" was cut off half-way and holds what it would bring up", "record",
			"`"+closes(op.ID, op.Committed)+"`", false)
		return false
	case op.ID != "":
		add("restore-preconditions", CheckYellow, string(op.Verb)+" of "+op.Target+" is under way: a restart would cut it off, and what it holds stays down until that is closed", "record",
			"wait for its end: `rig op show "+op.ID+"`", false)
	default:
		add("restore-preconditions", CheckGreen, "the launch order is clear, and nothing holds the rig", "record", "", false)
	}
	return true
}

// holderOf is the operation that holds the rig or one of its seats, as a restore would find
// it: one whose process is gone before one that is at work. Without an id there is none.
func (c *checker) holderOf(rig Rig) (found Operation, dead bool) {
	keys := []string{"rig:" + rig.ID}
	for _, s := range c.w.seatsOf(rig.ID) {
		keys = append(keys, "seat:"+s.ID)
	}
	for _, key := range keys {
		held, ok := c.w.leases[key]
		if !ok {
			continue
		}
		for _, op := range c.w.rec.Open {
			if op.ID == held.OpID && (found.ID == "" || !dead) {
				found, dead = op, c.e.ownerDead(held.Owner)
			}
		}
	}
	return found, dead
}

// worse reports whether a grade is worse than another.
func worse(a, b CheckStatus) bool { return rankOf(a) > rankOf(b) }

func rankOf(s CheckStatus) int {
	switch s {
	case CheckRed:
		return 3
	case CheckUnknown:
		return 2
	case CheckYellow:
		return 1
	case CheckGreen:
	}
	return 0
}

// verdictOfChecks sums grades up: one red is enough, then one unknown.
func verdictOfChecks(list []RestoreCheckItem) string {
	worst := CheckGreen
	for _, it := range list {
		if worse(it.Status, worst) {
			worst = it.Status
		}
	}
	switch worst {
	case CheckRed:
		return VerdictNotRestorable
	case CheckUnknown:
		return VerdictUnknownState
	case CheckYellow:
		return VerdictCaveats
	case CheckGreen:
	}
	return VerdictRestorable
}

// report counts everything and lists what was asked for.
func (c *checker) report() RestoreCheckReport {
	r := &c.rep
	r.Verdict, r.Checks, r.Repairs = verdictOfChecks(c.all), []RestoreCheckItem{}, []RestoreCheckItem{}
	for _, it := range c.all {
		switch it.Status {
		case CheckGreen:
			r.Counts.Green++
		case CheckYellow:
			r.Counts.Yellow++
		case CheckRed:
			r.Counts.Red++
		case CheckUnknown:
			r.Counts.Unknown++
		}
		if it.Status != CheckGreen || c.opt.Full || (c.opt.Ready && it.Seat != "") {
			r.Checks = append(r.Checks, it)
		}
	}
	for _, grade := range []CheckStatus{CheckRed, CheckUnknown, CheckYellow} {
		for _, it := range c.all {
			if it.Status == grade && it.Remedy != "" {
				r.Repairs = append(r.Repairs, it)
			}
		}
	}
	for _, rig := range r.Rigs {
		for _, s := range rig.Seats {
			switch {
			case s.Status == CheckUnknown:
				r.Seats.Unknown++
			case rig.stopped, s.Status == CheckRed, s.Action == string(ContinuityAwaiting): // it would wait for a person
				r.Seats.Not++
			default:
				r.Seats.Restorable++
			}
		}
	}
	return *r
}
