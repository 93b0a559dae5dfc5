package tmuxctl

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"rig/engine"
)

var (
	clientFixed = []string{"client_pid", "client_width", "client_height", "client_control_mode", "client_readonly"}
	clientFree  = []string{"client_name", "client_session"}
)

// Clients lists the attached terminals and control clients; those that packages
// like this one keep for themselves are left out. No server means no clients.
func (m *Mux) Clients(ctx context.Context) ([]engine.Client, error) {
	nonce := newNonce()
	answers, _, err := m.ask(ctx, [][]string{{"list-clients", "-F", fieldFormat(nonce, clientFixed, clientFree)}})
	if err == nil {
		err = firstError(answers)
	}
	if err != nil {
		var te *tmuxError
		if errors.As(err, &te) && te.ctx == nil && noServer(te.stderr) {
			return nil, nil
		}
		return nil, on(asEngine(err), "list_clients", m.run.socket)
	}
	clients, faults := parseClients(answers[0].out, nonce)
	if len(faults) > 0 {
		return clients, engine.Errorf(engine.CodeTmuxProbeFailed, "a client row cannot be read: %s", faults[0]).
			WithHint("run `rig doctor`").On("list_clients", m.run.socket)
	}
	return clients, nil
}

// parseClients reads the answer to one list-clients call.
func parseClients(out, nonce string) (clients []engine.Client, faults []string) {
	rows, faults := splitRows(out, nonce)
	for _, row := range rows {
		head, tail, err := splitFields(row, nonce, len(clientFixed), len(clientFree))
		if err != nil {
			faults = append(faults, err.Error())
			continue
		}
		f := fieldReader{values: head}
		c := engine.Client{PID: f.number("client_pid"), Width: f.optional(), Height: f.optional()}
		c.Control, c.ReadOnly = f.flag(), f.flag()
		c.Name, c.Session = tail[0], tail[1]
		if f.err != nil {
			faults = append(faults, fmt.Sprintf("client %q: %v", clip(c.Name, 40), f.err))
			continue
		}
		if !strings.HasPrefix(c.Session, controlPrefix) {
			clients = append(clients, c)
		}
	}
	return clients, faults
}

// SwitchClient points a client at exactly this place. It changes nothing but what the
// session shows. Without such a client, or without the place, it refuses with
// CodeNotFound and says how to attach.
func (m *Mux) SwitchClient(ctx context.Context, client string, to engine.Place) error {
	const op = "switch_client"
	session := to.Session
	t, err := At(to)
	if err != nil {
		return on(err, op, session)
	}
	if client == "" {
		return engine.Errorf(engine.CodeNotFound, "no tmux client is named").
			WithHint("attach instead: %s", ShellLine(m.AttachArgv(to))).On(op, session)
	}
	clients, err := m.Clients(ctx)
	if err != nil {
		return on(err, op, session)
	}
	if !hasClient(clients, client) {
		return engine.Errorf(engine.CodeNotFound, "no client %q is attached to this tmux server", clip(client, 80)).
			WithHint("attach instead: %s", ShellLine(m.AttachArgv(to))).On(op, session).With("clients", len(clients))
	}
	_, err = m.run.run(ctx, runSpec{words: []string{"switch-client", "-c", client, "-t", t.String()}})
	return on(asEngine(err), op, session)
}

func hasClient(clients []engine.Client, name string) bool {
	for _, c := range clients {
		if c.Name == name {
			return true
		}
	}
	return false
}

// AttachArgv is the command line that attaches a terminal to exactly this place,
// also from inside another tmux. Print it with ShellLine: zsh would expand =name.
// What [At] refuses gives nil.
func (m *Mux) AttachArgv(to engine.Place) []string {
	t, err := At(to)
	if err != nil {
		return nil
	}
	return []string{
		"env", "-u", "TMUX", "-u", "TMUX_PANE",
		m.run.bin, "-u", "-S", m.run.socket, "attach-session", "-t", t.String(),
	}
}

// PopupArgv is the command line that shows a place of this server in a popup over
// a client of the server on socket. It ends when the popup is closed. An empty
// client leaves the choice to tmux, which takes the one that shows pane. Nil for a
// what [At] refuses.
func (m *Mux) PopupArgv(socket, client, pane string, to engine.Place) []string {
	inner := m.AttachArgv(to)
	if inner == nil {
		return nil
	}
	argv := []string{m.run.bin, "-u", "-S", socket, "-N", "display-popup", "-E", "-w", "90%", "-h", "90%"}
	switch {
	case client != "":
		argv = append(argv, "-c", argWord(client))
	case pane != "":
		argv = append(argv, "-t", argWord(pane))
	}
	return append(append(argv, "--"), inner...)
}
