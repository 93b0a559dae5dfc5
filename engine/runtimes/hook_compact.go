package runtimes

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"rig/engine"
)

// Compaction is what a PreCompact hook knows about the compaction that begins.
type Compaction struct {
	Attempt    string // ours, names the packet
	Home       string // RIG_HOME
	Seat       string // address
	Pod        string // "" of an occupant that an older build launched
	Member     string
	Session    string // our id of the occupant
	Generation int64
	Cwd        string // of the project
	Transcript string
	Trigger    string // manual or auto
	At         time.Time
}

// PacketWriter writes a restore packet without the record and gives its folder,
// "" with the reason among the gaps when there is nothing to make one of.
type PacketWriter func(c Compaction) (dir string, gaps []string, err error)

// packetLimit leaves the client's ten seconds for a PreCompact hook some slack.
const packetLimit = 8 * time.Second

// prepareCompaction writes the packet of a compaction and arms its directive. A
// guided compaction has done both before; then nothing is done twice.
func prepareCompaction(dir string, in hookPayload, env []string, pack PacketWriter) error {
	if in.AgentID != "" || validToken(engine.RuntimeClaude, in.SessionID) != nil {
		return nil
	}
	if err := checkSpool(dir); err != nil {
		return err
	}
	armed, err := readDirective(filepath.Join(dir, armedName))
	if err == nil && armed.By == "operation" && boundTo(armed, in, env) {
		return nil
	}
	c, ok := compactionOf(in, env, time.Now())
	if !ok {
		return nil
	}
	packet, gaps := packed(c, pack)
	d := engine.Directive{
		Attempt: c.Attempt, Seat: c.Seat, Session: c.Session, Generation: c.Generation,
		Conversation: engine.ConversationDigest(in.SessionID), Packet: packet, By: "hook", CreatedAt: c.At.UTC(),
	}
	d.Text = engine.DirectiveText(d, gaps)
	dropOrphans(dir)
	return armDirective(dir, d)
}

// packed runs the writer within its limit. A packet that comes too late is left
// on disk; the directive says that there is none.
func packed(c Compaction, pack PacketWriter) (dir string, gaps []string) {
	type result struct {
		dir  string
		gaps []string
		err  error
	}
	done := make(chan result, 1)
	go func() {
		dir, gaps, err := pack(c)
		done <- result{dir, gaps, err}
	}()
	limit := time.NewTimer(packetLimit)
	defer limit.Stop()
	select {
	case r := <-done:
		if r.err != nil {
			return "", append(r.gaps, "no restore packet could be written: "+printable(redactText(r.err.Error()), 300))
		}
		return r.dir, r.gaps
	case <-limit.C:
		return "", []string{"the restore packet was not ready within " + packetLimit.String()}
	}
}

// compactionOf reads who compacts from the occupant's environment and the event.
func compactionOf(in hookPayload, env []string, now time.Time) (Compaction, bool) {
	c := Compaction{
		Home: lookup(env, "RIG_HOME"), Seat: lookup(env, "RIG_SEAT"), Pod: lookup(env, engine.EnvPod), Member: lookup(env, engine.EnvMember), Session: lookup(env, "RIG_SESSION"),
		Cwd: lookup(env, "CLAUDE_PROJECT_DIR"), Trigger: in.Trigger, At: now,
		Attempt: "compaction-" + now.UTC().Format("20060102T150405.000000000"),
	}
	if c.Cwd == "" {
		c.Cwd = in.Cwd
	}
	gen, err := strconv.ParseInt(lookup(env, "RIG_GENERATION"), 10, 64)
	c.Generation = gen
	if filepath.IsAbs(in.Path) && in.Path == filepath.Clean(in.Path) && strings.EqualFold(filepath.Base(in.Path), in.SessionID+".jsonl") {
		c.Transcript = in.Path
	}
	return c, err == nil && c.Seat != "" && checkID(c.Session) == nil && filepath.IsAbs(c.Cwd)
}

// withdrawDirective forgets what a PreCompact hook has armed when the compaction
// then failed. What an operation has armed is the operation's to take back.
func withdrawDirective(dir string, in hookPayload) {
	if checkSpool(dir) != nil {
		return
	}
	path := filepath.Join(dir, armedName)
	d, err := readDirective(path)
	if err == nil && d.By == "hook" && d.Conversation == engine.ConversationDigest(in.SessionID) {
		_ = os.Remove(path)
	}
}

// dropOrphans forgets claims of an earlier compaction that nobody finished.
func dropOrphans(dir string) {
	names, err := filepath.Glob(filepath.Join(dir, claimPrefix+"*"))
	if err != nil {
		return
	}
	for _, path := range names {
		if !claimAlive(filepath.Base(path)) {
			_ = os.Remove(path)
		}
	}
}
