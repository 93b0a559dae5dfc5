package runtimes

import (
	"fmt"
	"strings"
	"testing"

	"rig/engine"
)

// A client is in front before its first instruction, and no signal is ignored or
// blocked for it that was not so in its pane, whether tmux ignores those of background
// processes there or not. That also holds where one processor is all there is.
func TestClientStartsInFront(t *testing.T) {
	// The shell reads all of it itself: while it starts a program it has signals blocked.
	const script = `read -r _ _ _ _ group _ _ front _ </proc/$$/stat; echo "front:$((front == group))"
while read -r row; do case $row in SigBlk*|SigIgn*) echo "$row";; esac; done </proc/$$/status; echo done; exec sleep 600`
	for name, pane := range map[string][]string{"tmux": nil, "plain": {"env", "--default-signal=TTIN,TTOU"}} {
		s := newTmux(t)
		s.run("set-environment", "-g", "GOMAXPROCS", "1")
		s.run(append(append([]string{"new-session", "-d", "-s", "pane"}, pane...), "/bin/sh", "-c", script)...)
		until(t, "the pane's own", func() bool { return strings.Contains(s.screen("pane"), "done") })
		want := signals(s.screen("pane"))
		for i := range 6 {
			seat := fmt.Sprintf("%s%d", name, i)
			line, err := s.files.WriteLaunch(seat, engine.LaunchFile{
				Argv: []string{"/bin/sh", "-c", script}, Env: []string{"PATH=/usr/bin:/bin"}, Dir: s.dir, Seat: seat + "@shop",
			})
			if err != nil {
				t.Fatal(err)
			}
			s.run(append(append([]string{"new-session", "-d", "-s", seat}, pane...), line...)...)
			until(t, "the client's words", func() bool { return strings.Contains(s.screen(seat), "done") })
			if screen := s.screen(seat); !strings.Contains(screen, "front:1") || signals(screen) != want {
				t.Errorf("%s, in a pane with %s:\n%s", seat, want, screen)
			}
		}
	}
}

// signals are the rows of a screen that tell what is ignored and blocked.
func signals(screen string) string {
	_, rows, _ := strings.Cut(screen, "SigBlk")
	rows, _, _ = strings.Cut(rows, "done")
	return rows
}

// A client that ends at once is reported with its status, whoever was told of it.
func TestClientThatEndsAtOnce(t *testing.T) {
	s := newTmux(t)
	for i := range 6 {
		name := fmt.Sprintf("e%d", i)
		s.seat(name, nil, "/bin/sh", "-c", "exit 7")
		until(t, "its end", func() bool { return s.state(name).Exited })
		if st := s.state(name); st.ExitCode != 7 || st.PID == 0 || st.ExitedAt.Before(st.StartedAt) {
			t.Errorf("%+v", st)
		}
	}
}
