//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// rlimitNproc is the number of the limit on processes of a user; package syscall has no name for it.
const rlimitNproc = 6

// fault is one kind of trouble. inject makes it, waits until it is over, and tells whether it took place.
type fault struct {
	kind   string
	weight int // of the draws beyond the one in each round
	inject func(ctx context.Context, w *world) bool
}

// allFaults is what goes wrong.
var allFaults = []fault{
	{"kill -9 a command line", 4, func(ctx context.Context, w *world) bool { return w.killOne(ctx, isCommand) }},
	{"kill -9 a detached operation", 5, func(ctx context.Context, w *world) bool { return w.killOne(ctx, isDetached) }},
	{"kill -9 a console", 1, func(ctx context.Context, w *world) bool { return w.killOne(ctx, isConsole) }},
	{"kill -9 an agent", 3, func(ctx context.Context, w *world) bool { return w.killOne(ctx, isAgent) }},
	{"kill -9 a supervisor", 2, func(ctx context.Context, w *world) bool { return w.killOne(ctx, isSupervisor) }},
	{"kill -9 the tmux server", 0, killServer},
	{"disk full", 1, fullDisk},
	{"file size limit", 1, sizeLimit},
	{"read-only record", 1, readOnly},
	{"locked record", 1, locked},
	{"record cut in the middle", 0, cutRecord},
	{"clock jump", 2, clockJump},
	{"process table", 1, processTable},
}

// faultsOf injects this round's share: each kind once, the rest drawn by weight, in any order.
func (w *world) faultsOf(ctx context.Context, round int) {
	share := w.faults*round/w.rounds - w.faults*(round-1)/w.rounds
	var deck []fault
	for _, f := range allFaults {
		for range fewest {
			deck = append(deck, f)
		}
	}
	for len(deck) < share {
		if f := allFaults[w.pick(len(allFaults))]; w.pick(5) < f.weight {
			deck = append(deck, f)
		}
	}
	for i := range deck {
		j := i + w.pick(len(deck)-i)
		deck[i], deck[j] = deck[j], deck[i]
	}
	for _, f := range deck {
		wait(ctx, time.Duration(w.pick(400))*time.Millisecond)
		for try := 0; try < 20 && ctx.Err() == nil; try++ {
			w.during(f.kind, 1)
			done := f.inject(ctx, w)
			w.during(f.kind, -1)
			if done {
				w.hit(f.kind)
				break
			}
		}
	}
}

// during marks that a fault of this kind is in force.
func (w *world) during(kind string, by int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faultsOn[kind] += by
}

// process is a process as /proc shows it.
type process struct {
	pid  int
	args []string
	line string
}

// processes lists what runs one of this world's programs.
func (w *world) processes() (out []process) {
	dirs, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return nil
	}
	for _, path := range dirs {
		b, err := os.ReadFile(path)
		if err != nil || len(b) == 0 {
			continue
		}
		p := process{args: strings.Split(strings.TrimRight(string(b), "\x00"), "\x00")}
		p.line = strings.Join(p.args, " ")
		if _, err := fmt.Sscan(filepath.Base(filepath.Dir(path)), &p.pid); err == nil && len(p.args) > 1 {
			out = append(out, p)
		}
	}
	return out
}

// hiddenVerbs are started by clients and by rig itself, not by a person.
var hiddenVerbs = []string{"op-exec", "seat-exec", "agentsim", "hook", "statusline", "tui"}

func isCommand(p process) bool    { return !slices.Contains(hiddenVerbs, p.args[1]) }
func isDetached(p process) bool   { return p.args[1] == "op-exec" }
func isConsole(p process) bool    { return p.args[1] == "tui" }
func isAgent(p process) bool      { return p.args[1] == "agentsim" }
func isSupervisor(p process) bool { return p.args[1] == "seat-exec" && len(p.args) == 3 }

// killOne waits for a process of a kind and kills it a moment later, wherever it is by then.
func (w *world) killOne(ctx context.Context, is func(process) bool) bool {
	for range 200 {
		var list []process
		for _, p := range w.processes() {
			if p.args[0] == w.rig && is(p) {
				list = append(list, p)
			}
		}
		if len(list) == 0 {
			wait(ctx, 20*time.Millisecond)
			continue
		}
		p := list[w.pick(len(list))]
		wait(ctx, time.Duration(w.pick(250))*time.Millisecond)
		return ctx.Err() == nil && syscall.Kill(p.pid, syscall.SIGKILL) == nil
	}
	return false
}

// killServer kills the tmux server of the fleet.
func killServer(ctx context.Context, w *world) bool {
	return w.onServer(ctx, func(pid int) bool { return syscall.Kill(pid, syscall.SIGKILL) == nil })
}

// onServer does something to the fleet's tmux server, if there is one.
func (w *world) onServer(ctx context.Context, do func(pid int) bool) bool {
	out, err := w.tmux(ctx, w.socket, "display-message", "-p", "#{pid}")
	var pid int
	if _, serr := fmt.Sscan(out, &pid); err != nil || serr != nil {
		w.do(ctx, "up", w.anyRig(), "--fresh-unprompted")
		return false
	}
	return do(pid)
}

// moment is how long a fault stays in force.
func (w *world) moment() time.Duration { return time.Duration(300+w.pick(900)) * time.Millisecond }

// ballast is the file that fills the disk.
func (w *world) ballast() string { return filepath.Join(w.disk, "ballast") }

// fullDisk fills the small disk to the last block for a moment. Without a disk of its own the fault is a limit on file sizes.
func fullDisk(ctx context.Context, w *world) bool {
	if !w.small {
		return sizeLimit(ctx, w)
	}
	f, err := os.Create(w.ballast())
	if err != nil {
		return false
	}
	block := make([]byte, 64<<10)
	for err == nil {
		_, err = f.Write(block)
	}
	for n := len(block) / 2; n > 0; n /= 2 {
		_, _ = f.Write(block[:n]) // up to the last page
	}
	wait(ctx, w.moment())
	return f.Close() == nil && os.Remove(w.ballast()) == nil
}

// sizeLimit runs a command line whose files may not grow beyond a little more than the record is long.
func sizeLimit(ctx context.Context, w *world) bool {
	info, err := os.Stat(filepath.Join(w.home, "rig.db-wal"))
	if err != nil {
		return false
	}
	limit := []int64{0, 4 << 10, info.Size(), info.Size() + 20<<10}[w.pick(4)]
	w.limitedAct(ctx, "fsize", limit)
	return true
}

// limitedAct runs a handover or a launch behind a limit.
func (w *world) limitedAct(ctx context.Context, kind string, value int64) {
	s := w.anySeat("")
	prefix := []string{filepath.Join(w.dir, "bin", "chaos"), "-stage", stageLimit, "--", kind, fmt.Sprint(value)}
	args := [][]string{{"handover", s.Address, "--reason", "limited"}, {"launch", s.Rig}, {"seat", "stop", s.Address, "--reason", "limited"}}
	w.tried.Add(1)
	w.doAs(ctx, prefix, args[w.pick(len(args))]...)
}

// readOnly takes the right to write away from the record and its folder for a moment.
func readOnly(ctx context.Context, w *world) bool {
	db := filepath.Join(w.home, "rig.db")
	if os.Chmod(db, 0o400) != nil {
		return false
	}
	deep := w.pick(2) == 0
	if deep && os.Chmod(w.home, 0o500) != nil {
		return false
	}
	w.tried.Add(1)
	on("", "seat", "stop", "SEAT", "--reason", "chaos")(ctx, w)
	wait(ctx, w.moment())
	return os.Chmod(w.home, 0o700) == nil && os.Chmod(db, 0o600) == nil
}

// locked holds the write lock of the record for a moment and gives it up without a commit; now and then it stays longer than
// anybody waits for it.
func locked(ctx context.Context, w *world) bool {
	db, err := w.open("rw")
	if err != nil {
		return false
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return false
	}
	d := w.moment()
	if w.pick(5) == 0 {
		d = 11 * time.Second
	}
	_, err = db.ExecContext(ctx, "INSERT INTO meta VALUES ('chaos', 'never committed')")
	wait(ctx, d)
	return err == nil
}

// clockJump sets every clock of rig forward or back, and leaves it so until the next jump.
func clockJump(_ context.Context, w *world) bool {
	jumps := []string{"0s", "3s", "-3s", "90s", "-90s", "2h", "-2h", "720h", "-720h", "26280h"}
	return os.WriteFile(w.clock, []byte(jumps[w.pick(len(jumps))]), 0o600) == nil
}

// processTable lets the user have hardly more processes than run now: either for the tmux server, which then cannot start a
// pane, or for a command line, which then cannot start anything.
func processTable(ctx context.Context, w *world) bool {
	if w.pick(2) == 0 {
		w.limitedAct(ctx, "nproc", int64(w.threads()+w.pick(14)))
		return true
	}
	return w.onServer(ctx, func(pid int) bool {
		var old syscall.Rlimit
		if prlimit(pid, rlimitNproc, nil, &old) != nil {
			return false
		}
		low := syscall.Rlimit{Cur: 1, Max: old.Max}
		if prlimit(pid, rlimitNproc, &low, nil) != nil {
			return false
		}
		w.limitedActPlain(ctx)
		// The server may have been killed meanwhile; then there is nothing to give back.
		_ = prlimit(pid, rlimitNproc, &old, nil)
		return true
	})
}

// limitedActPlain runs a launch that needs a new pane.
func (w *world) limitedActPlain(ctx context.Context) {
	w.tried.Add(1)
	on("", "handover", "SEAT", "--reason", "full process table")(ctx, w)
}

// threads counts what the limit on processes counts: every thread of this user.
func (w *world) threads() (n int) {
	dirs, err := filepath.Glob("/proc/[0-9]*/task/*")
	if err != nil {
		return 0
	}
	for _, d := range dirs {
		var st syscall.Stat_t
		if syscall.Stat(d, &st) == nil && int(st.Uid) == os.Getuid() {
			n++
		}
	}
	return n
}

// prlimit reads or sets a limit of another process.
func prlimit(pid, which int, set, old *syscall.Rlimit) error {
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(pid), uintptr(which), uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(old)), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// healed ends every fault that could still be in force, and sets the clock right.
func (w *world) healed(ctx context.Context) error {
	if err := os.Remove(w.ballast()); err != nil && !os.IsNotExist(err) {
		return err
	}
	wait(ctx, 200*time.Millisecond)
	return os.WriteFile(w.clock, []byte("0s"), 0o600)
}

// command runs a program of the suite's own and gives what it printed.
func command(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}
