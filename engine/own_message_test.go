package engine

import "testing"

func TestOwnMessagesAreTold(t *testing.T) {
	for text, want := range map[string]string{
		compactTag("01JDQ4ZK8W3M5N7P9R1T2V4X6Y") + " audit: …":                                       "compaction",
		"/compact " + compactTag("op-1") + " Keep why the work matters":                              "compaction",
		OpeningWords + "dev-impl@shop (codex), as its next occupant " + HandoverTag + "op-1].\nMore": "opening",
		goWords + "dev-impl@shop" + goCommitted + " Go on":                                           "go",
		"You are dev-impl@shop" + startupWords + "\n\nBe brief.":                                     "startup",
		"You are dev-impl@shop":         "",
		"please read [compaction op-1]": "",
		"":                              "",
	} {
		if got := OwnMessage(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
