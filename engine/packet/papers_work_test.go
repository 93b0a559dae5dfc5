package packet

import (
	"strings"
	"testing"

	"rig/engine"
)

// Open work is read before what is done, and a remark is told from the body.
func TestWorkPaperShowsWhatIsOpenFirst(t *testing.T) {
	in := engine.PacketInput{Work: []engine.WorkItem{
		{ID: "a", Title: "Old", State: engine.WorkDone, Note: "it went well"},
		{ID: "b", Title: "New", State: "pending", Body: "line"},
		{ID: "c", Title: "Stuck", State: "blocked", Note: "waits for qa"},
	}}
	page := workPage(in)
	heads := []string{}
	for _, p := range page.Parts {
		heads = append(heads, p.Head)
	}
	if got := strings.Join(heads, ","); got != "pending  b,blocked  c,done  a" {
		t.Errorf("%s", got)
	}
	if !strings.HasSuffix(page.Parts[1].Text, "\nnote: waits for qa") || !strings.HasSuffix(page.Parts[0].Text, "\nline") {
		t.Errorf("%q", page.Parts)
	}
}
