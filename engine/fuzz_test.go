package engine_test

import (
	"os/exec"
	"strings"
	"testing"

	"rig/engine"
)

func FuzzParseSeatRef(f *testing.F) {
	for _, s := range []string{"dev.impl", "dev-impl@shop", "dev.impl@shop", "@", "a@b@c", "", " x ", "\x00", "=other:0", "\u202ea@b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ref, err := engine.ParseSeatRef(s)
		if err != nil {
			if engine.CodeOf(err) == engine.CodeInternal {
				t.Errorf("%q: %v", s, err)
			}
			return
		}
		if again, err := engine.ParseSeatRef(ref.String()); err != nil || again.String() != strings.TrimSpace(ref.String()) {
			t.Errorf("%q → %q → %+v, %v", s, ref, again, err)
		}
		// A reference matches a seat by its name alone: whatever it holds, it is no pattern.
		if ref.Matches("shop", engine.Seat{Pod: "dev", Member: "impl"}) && strings.Trim(ref.String(), "devimplsho.-@") != "" {
			t.Errorf("%q matches", s)
		}
	})
}

func FuzzParseSource(f *testing.F) {
	for _, s := range []string{"", "fresh", "rebuild", "fork:dev.impl", "fork:", "discovered:01X", "fork:$(x)", "exec:rm"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		src, err := engine.ParseSource(s)
		if err != nil {
			return
		}
		switch src.Mode {
		case "fresh", "rebuild":
			if src.Ref != "" {
				t.Errorf("%q: %+v", s, src)
			}
		case "fork", "discovered":
			if src.Ref == "" || strings.TrimSpace(src.Ref) != src.Ref {
				t.Errorf("%q: %+v", s, src)
			}
		default:
			t.Errorf("%q: %+v", s, src)
		}
	})
}

// FuzzCommandLine: what is shown as a command to copy gives a shell these very
// words.
func FuzzCommandLine(f *testing.F) {
	f.Add("plain", "$(touch x)")
	f.Add("it's", "a\nb")
	f.Add("", "~ # ! \\ ` \" * ? [a] {a,b}")
	f.Fuzz(func(t *testing.T, a, b string) {
		if strings.ContainsRune(a+b, 0) {
			return
		}
		out, err := exec.CommandContext(t.Context(), "/bin/sh", "-c", "printf '%s\\001' "+engine.CommandLine(a, b)).Output()
		if err != nil || string(out) != a+"\x01"+b+"\x01" {
			t.Errorf("%q %q: the shell saw %q, %v", a, b, out, err)
		}
	})
}

func FuzzOlderBuild(f *testing.F) {
	f.Add("v1.2.3", "v1.2.4")
	f.Add("v1.2.3-4-gabc (x)", "v1.2.3-dirty")
	f.Add("", "-g")
	f.Fuzz(func(t *testing.T, a, b string) {
		if engine.OlderBuild(a, b) && engine.OlderBuild(b, a) || engine.OlderBuild(a, a) {
			t.Errorf("%q and %q are older than each other", a, b)
		}
	})
}
