package synth

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
)

func words() []string {
	return strings.Fields(`the build fails because parser test config returns an error when cart
		total rounds twice please check order queue worker and then run migration before deploy
		server client handler struct value token retry cache index table column review branch`)
}

func wide() []string {
	return []string{"設計を確認してください。", "测试全部通过了，", "계산이 맞지 않습니다. ", "größer als erwartet, ", "déjà vu 🎉 "}
}

func files() []string {
	return []string{
		"/home/op/project/internal/cart/total.go", "/home/op/project/cmd/shop/main.go",
		"web/footer.css", "internal/tax/rates.go", "docs/orders.md", "/home/op/project/go.mod",
		"/home/op/project/packages/daemon/source/domain/restore/planner.go",
	}
}

// prose is about n bytes of plain talk with some wide characters and paths.
func (m *maker) prose(n int) string {
	ws, wd, fs := words(), wide(), files()
	var b strings.Builder
	for b.Len() < n {
		switch k := m.r.below(60); {
		case k == 0:
			b.WriteString(fs[m.r.below(len(fs))])
			b.WriteByte(' ')
		case k < 3:
			b.WriteString(wd[m.r.below(len(wd))])
		case k < 6:
			b.WriteString(".\n")
		default:
			b.WriteString(ws[m.r.below(len(ws))])
			b.WriteByte(' ')
		}
	}
	return strings.TrimSpace(b.String())
}

// code is about n bytes that need many escapes once they are JSON.
func (m *maker) code(n int) string {
	ws := words()
	var b strings.Builder
	for line := 1; b.Len() < n; line++ {
		b.WriteString(strconv.Itoa(line))
		b.WriteString("\t")
		b.WriteString(strings.Repeat("\t", m.r.below(4)))
		b.WriteString("if " + ws[m.r.below(len(ws))] + ` == "` + ws[m.r.below(len(ws))] + "\" {\n")
	}
	return b.String()
}

// quote renders a JSON string; every tenth in the form in which all characters
// outside ASCII are escaped.
func (m *maker) quote(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		m.err = err
		return `""`
	}
	if m.r.below(10) != 0 {
		return string(raw)
	}
	var b strings.Builder
	for _, r := range string(raw) {
		if r < 0x80 {
			b.WriteByte(byte(r))
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			b.WriteString(`\u` + strconv.FormatUint(uint64(unit)|0x10000, 16)[1:])
		}
	}
	return b.String()
}
