package tmuxctl

import (
	"fmt"
	"strings"
	"testing"

	"rig/engine"
)

// rowText builds a row as tmux prints it.
func rowText(nonce, sep string, fixed, free []string) string {
	return rowStart(nonce) + sep + strings.Join(fixed, sep) + sep + nonce + strings.Join(free, nonce) + nonce + "\n"
}

func sampleFixed(id string) []string {
	return []string{
		id, "777", "$3", "0", "120", "40", "1790000100", "0", "", "", "",
	}
}

var sampleFree = []string{"seat-1", "2", "op-9", "dev-impl@shop", "a title", "node", "/home/op/my project"}

func TestParseRow(t *testing.T) {
	rows, faults := parseRows(rowText("zNONCE", "\t", sampleFixed("%5"), sampleFree), "zNONCE", Caps{})
	if len(rows) != 1 || len(faults) != 0 {
		t.Fatalf("%d rows, faults %q", len(rows), faults)
	}
	r := rows[0]
	if r.ID != "%5" || r.PID != 777 || r.SessionID != "$3" ||
		r.Dead || r.DeadCode != -1 || r.Width != 120 || r.Height != 40 ||
		r.Activity.Unix() != 1790000100 || r.Seat != "seat-1" || r.Gen != "2" || r.Op != "op-9" ||
		r.Session != "dev-impl@shop" || r.Title != "a title" || r.Command != "node" || r.Path != "/home/op/my project" {
		t.Errorf("wrong row: %+v", r)
	}
}

// A row must read the same whichever way tmux shows the separator, and whatever the
// free fields hold.
func TestParseRowHostileText(t *testing.T) {
	free := []string{"s", "1", "", "my work", "build -:- ok | \"", "x\ty", "/tmp/a\tb\n\n-:- c_d\n"}
	for _, sep := range []string{"\t", "_", `\011`} {
		out := rowText("z9", sep, sampleFixed("%1"), free) + rowText("z9", sep, sampleFixed("%2"), sampleFree)
		rows, faults := parseRows(out, "z9", Caps{})
		if len(rows) != 2 || len(faults) != 0 {
			t.Fatalf("separator %q: %d rows, faults %q", sep, len(rows), faults)
		}
		if r := rows[0]; r.Path != free[6] || r.Command != free[5] || r.Title != free[4] || r.Session != free[3] {
			t.Errorf("separator %q: %+v", sep, r)
		}
	}
}

func TestBadRowFailsAlone(t *testing.T) {
	good := rowText("z9", "\t", sampleFixed("%1"), sampleFree)
	short := rowText("z9", "\t", sampleFixed("%2")[:10], sampleFree)
	extra := rowText("z9", "\t", sampleFixed("%3"), append([]string{"x"}, sampleFree...))
	notID := rowText("z9", "\t", sampleFixed("5"), sampleFree)
	noPID := sampleFixed("%4")
	noPID[1] = "many"
	out := "noise\n" + short + good + extra + notID + rowText("z9", "\t", noPID, sampleFree) + "y9\tcut off"
	rows, faults := parseRows(out, "z9", Caps{})
	if len(rows) != 1 || rows[0].ID != "%1" {
		t.Errorf("rows: %+v", rows)
	}
	if len(faults) != 6 {
		t.Errorf("%d faults: %q", len(faults), faults)
	}
}

// tmux 3.8 tells no process of a dead pane. That of a live one is never left out.
func TestDeadPaneWithoutProcess(t *testing.T) {
	row := func(dead string) string {
		fixed := sampleFixed("%1")
		fixed[1], fixed[7] = "", dead
		return rowText("z9", "\t", fixed, sampleFree)
	}
	rows, faults := parseRows(row("1")+row("0"), "z9", Caps{})
	if len(rows) != 1 || !rows[0].Dead || rows[0].PID != 0 || len(faults) != 1 {
		t.Errorf("rows %+v, faults %q", rows, faults)
	}
}

func TestControlSessionsAreNotSeats(t *testing.T) {
	free := append([]string(nil), sampleFree...)
	free[3] = controlPrefix + "z1"
	rows, faults := parseRows(rowText("z9", "\t", sampleFixed("%1"), free), "z9", Caps{})
	if len(rows) != 0 || len(faults) != 0 {
		t.Errorf("rows %+v, faults %q", rows, faults)
	}
}

func TestDollarOf34(t *testing.T) {
	free := append([]string(nil), sampleFree...)
	free[6] = `/tmp/a\$b`
	out := rowText("z9", "\t", sampleFixed("%1"), free)
	for _, caps := range []Caps{{}, {DollarEscaped: true}} {
		rows, _ := parseRows(out, "z9", caps)
		want := map[bool]string{false: `/tmp/a\$b`, true: "/tmp/a$b"}[caps.DollarEscaped]
		if rows[0].Path != want {
			t.Errorf("caps %+v: path %q, want %q", caps, rows[0].Path, want)
		}
	}
}

func TestDeadCode(t *testing.T) {
	tests := []struct {
		status, signal string
		want           int
	}{{"3", "", 3}, {"0", "", 0}, {"", "9", 137}, {"", "KILL", 137}, {"", "SIGTERM", 143}, {"", "hup", 129}, {"", "", -1}, {"x", "?", -1}}
	for _, tt := range tests {
		if got := deadCode(tt.status, tt.signal); got != tt.want {
			t.Errorf("deadCode(%q, %q) = %d, want %d", tt.status, tt.signal, got, tt.want)
		}
	}
}

func TestParseClients(t *testing.T) {
	row := func(fixed ...string) string {
		return rowText("z9", "\t", fixed, []string{"/dev/pts/3", "dev-impl@shop"})
	}
	out := row("10", "80", "24", "0", "1") + row("x", "80", "24", "0", "0") + row("1")
	clients, faults := parseClients(out, "z9")
	if len(clients) != 1 || len(faults) != 2 {
		t.Fatalf("clients %+v, faults %q", clients, faults)
	}
	want := engine.Client{Name: "/dev/pts/3", Session: "dev-impl@shop", PID: 10, Width: 80, Height: 24, ReadOnly: true}
	if clients[0] != want {
		t.Errorf("got %+v, want %+v", clients[0], want)
	}
}

func FuzzParseRows(f *testing.F) {
	f.Add(rowText("z9", "\t", sampleFixed("%1"), sampleFree))
	f.Add("y9\t\ny9_z9\nz9\\011z9")
	f.Add("noise\n\n")
	f.Add(rowText("z9", "_", sampleFixed("%1"), []string{"", "", "", "", "", "", "", "a\nb"}))
	f.Fuzz(func(t *testing.T, out string) {
		rows, faults := parseRows(out, "z9", Caps{DollarEscaped: true})
		for _, r := range rows {
			if _, err := Pane(r.ID); err != nil {
				t.Errorf("a row with pane id %q passed", r.ID)
			}
		}
		if n := strings.Count(out, "\n") + 1; len(rows)+len(faults) > n {
			t.Errorf("%d rows and %d faults from %d lines", len(rows), len(faults), n)
		}
		parseClients(out, "z9")
		parseServer(out, "z9") //nolint:errcheck // only that it does not panic
		parseCreated(out, "z9")
	})
}

// Whatever the free fields hold, a row that was written is a row that is read.
func FuzzRowRoundTrip(f *testing.F) {
	f.Add("title", "cmd", "/path\nwith\tall")
	f.Add("z9", "\t", "\n")
	f.Add("\n", "\ty", "y")
	f.Fuzz(func(t *testing.T, title, command, path string) {
		const nonce = "zfedcba9876543210"
		if strings.Contains(title+command+path, nonce[1:]) {
			return // the nonce is unknown to whoever sets these
		}
		free := []string{"s", "1", "o", "n", title, command, path}
		rows, faults := parseRows(rowText(nonce, "\t", sampleFixed("%1"), free), nonce, Caps{})
		if len(rows) != 1 || len(faults) != 0 {
			t.Fatalf("%d rows, faults %q", len(rows), faults)
		}
		if r := rows[0]; r.Title != title || r.Command != command || r.Path != path {
			t.Errorf("got %q %q %q", r.Title, r.Command, r.Path)
		}
	})
}

func FuzzParseCaps(f *testing.F) {
	for _, s := range []string{"tmux 3.3a", "next-3.4", "master", "3.2", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if c, err := parseCaps(s); err == nil && c.Version == "" {
			t.Errorf("%q passed without a version", s)
		}
	})
}

func benchRows(n int) string {
	var b strings.Builder
	for i := range n {
		free := append([]string(nil), sampleFree...)
		free[3], free[5] = fmt.Sprintf("dev-%d@shop", i), "✳ working on a longer title"
		b.WriteString(rowText("z0123456789abcdef", "\t", sampleFixed(fmt.Sprintf("%%%d", i)), free))
	}
	return b.String()
}

func BenchmarkParseRows(b *testing.B) {
	for _, n := range []int{200, 1000} {
		out := benchRows(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(len(out)))
			b.ReportAllocs()
			for b.Loop() {
				if rows, _ := parseRows(out, "z0123456789abcdef", Caps{}); len(rows) != n {
					b.Fatal(len(rows))
				}
			}
		})
	}
}
