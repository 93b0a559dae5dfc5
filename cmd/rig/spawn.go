package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"rig/engine"
)

// spawner starts detached operations: a process of this binary in a session of
// its own, with its descriptors on a log file, that outlives the caller.
type spawner struct{ paths paths }

// Spawn implements engine.Spawner.
func (s spawner) Spawn(_ context.Context, t engine.Ticket) error {
	file, err := s.writeTicket(t)
	if err != nil {
		return err
	}
	log, err := s.openLog(t.OpID)
	if err != nil {
		return err
	}
	defer log.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	// Not CommandContext: the operation must outlive whoever asked for it.
	cmd := exec.Command(s.paths.self, "op-exec", file) //nolint:noctx // it has a life of its own
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{w}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Dir = "/"
	err = cmd.Start()
	w.Close()
	if err != nil {
		why := engine.AsError(err) // a full process table, most of all
		return engine.Errorf(why.Code, "the detached process cannot be started: %s", why.Msg).Wrap(err).WithHint("%s", why.Hint)
	}
	go func() { _ = cmd.Wait() }() // its outcome is on record
	_, err = io.Copy(io.Discard, r)
	return err
}

func (s spawner) openLog(opID string) (*os.File, error) {
	err := os.MkdirAll(s.paths.logs(), 0o700)
	if err == nil {
		var f *os.File
		if f, err = os.OpenFile(filepath.Join(s.paths.logs(), "op-"+opID+".log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600); err == nil {
			return f, nil
		}
	}
	return nil, s.unwritable(s.paths.logs(), err)
}

// unwritable says that a folder of ours cannot be written.
func (spawner) unwritable(dir string, err error) error {
	return engine.Errorf(engine.CodeRecordReadOnly, "%s cannot be written", dir).Wrap(err).WithHint("set RIG_HOME to a folder that you may write")
}

// ticketFile is a ticket with the directory that relative paths mean.
type ticketFile struct {
	engine.Ticket
	Dir string `json:"dir"`
}

func (s spawner) writeTicket(t engine.Ticket) (string, error) {
	dir := filepath.Join(s.paths.home, "run")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", s.unwritable(dir, err)
	}
	cwd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	b, err := json.Marshal(ticketFile{t, cwd})
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "op-"+t.OpID+".ticket")
	if err := writeAnew(file, b); err != nil {
		_ = os.Remove(file) // half of a ticket is none
		return "", fmt.Errorf("the ticket of the operation: %w", err)
	}
	return file, nil
}

// readTicket reads and deletes a ticket and moves to its directory.
func readTicket(file string) (engine.Ticket, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return engine.Ticket{}, err
	}
	if err := os.Remove(file); err != nil {
		return engine.Ticket{}, err
	}
	var t ticketFile
	if err := json.Unmarshal(b, &t); err != nil {
		return engine.Ticket{}, err
	}
	return t.Ticket, os.Chdir(t.Dir)
}
