package store

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"rig/engine"
)

// Several tests need other processes on the same record. They run this test
// binary again, with the task in the environment.
const childEnv = "STORE_TEST_CHILD"

func TestMain(m *testing.M) {
	if mode := os.Getenv(childEnv); mode != "" {
		if err := children[mode](os.Args[1]); err != nil {
			fmt.Println("error:", engine.CodeOf(err), err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var children = map[string]func(path string) error{
	"count":    childCount,
	"hold":     childHold,
	"crash":    childCrash,
	"journal":  childJournal,
	"readonly": childReadOnly,
}

type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

// start runs a task in another process. As root it can run as a user without
// rights, for whom permissions mean something.
func start(t *testing.T, mode, path string, unprivileged bool) *process {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, path)
	if unprivileged && os.Geteuid() == 0 {
		cmd.Path = copyFile(t, exe)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	cmd.Env = append(os.Environ(), childEnv+"="+mode)
	cmd.Dir = filepath.Dir(path)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return &process{cmd, in, bufio.NewScanner(out)}
}

// line waits for the next line that the process prints.
func (p *process) line(t *testing.T) string {
	t.Helper()
	if !p.out.Scan() {
		t.Fatalf("the process ended without a word: %v", p.out.Err())
	}
	return p.out.Text()
}

// rest waits for the end and gives what else was printed.
func (p *process) rest(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for p.out.Scan() {
		b.WriteString(p.out.Text() + "\n")
	}
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("process: %v\n%s", err, b.String())
	}
	return b.String()
}

func copyFile(t *testing.T, from string) string {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "child")
	if err := os.WriteFile(to, b, 0o755); err != nil {
		t.Fatal(err)
	}
	return to
}

// childCount waits for the go, then raises a counter ten times: the read and the
// write of each step must not be split by another process.
func childCount(path string) error {
	if _, err := io.ReadAll(os.Stdin); err != nil {
		return err
	}
	db, err := Open(path)
	if err != nil {
		return err
	}
	for range 10 {
		if err := count(db); err != nil {
			return db.closeWith(err)
		}
	}
	return db.Close()
}

// count is a read-modify-write with its event.
func count(db *DB) error {
	return db.Write(context.Background(), func(tx engine.Tx) error {
		s, err := tx.Meta("counter")
		if err != nil {
			return err
		}
		n, _ := strconv.Atoi(s)
		if err := tx.SetMeta("counter", strconv.Itoa(n+1)); err != nil {
			return err
		}
		_, err = tx.AppendEvent(engine.Event{At: epoch, Type: "counted"})
		return err
	})
}

// childHold keeps the write lock for three seconds.
func childHold(path string) error {
	db, err := Open(path)
	if err != nil {
		return err
	}
	err = db.Write(context.Background(), func(tx engine.Tx) error {
		if err := tx.SetMeta("held", "yes"); err != nil {
			return err
		}
		fmt.Println("held")
		<-time.After(3 * time.Second)
		return nil
	})
	return db.closeWith(err)
}

// childCrash commits one event, then waits to be killed in the middle of a
// transaction that has written a lot.
func childCrash(path string) error {
	db, err := Open(path)
	if err != nil {
		return err
	}
	if err := count(db); err != nil {
		return err
	}
	return db.Write(context.Background(), func(tx engine.Tx) error {
		big := `"` + strings.Repeat("x", 4000) + `"`
		for range 3000 { // more than the page cache holds, so that pages reach the log
			if _, err := tx.AppendEvent(engine.Event{At: epoch, Type: "lost", Payload: []byte(big)}); err != nil {
				return err
			}
		}
		fmt.Println("halfway")
		_, err := io.ReadAll(os.Stdin)
		return err
	})
}

// childJournal leaves a file that is not in WAL mode with a hot rollback journal,
// as a death during the very first opening does.
func childJournal(path string) error {
	h, err := sql.Open("sqlite", dsn(path, "mode=rwc", "_pragma=cache_size(1)"))
	if err != nil {
		return err
	}
	h.SetMaxOpenConns(1)
	for _, q := range []string{
		"BEGIN", "CREATE TABLE junk (x TEXT)",
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO junk SELECT hex(randomblob(200)) FROM n",
	} {
		if _, err := h.Exec(q); err != nil {
			return err
		}
	}
	fmt.Println("halfway")
	_, err = io.ReadAll(os.Stdin)
	return err
}
