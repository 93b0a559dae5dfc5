package engine

// PromptForTest gives the opening prompt that a plan leaves for a seat.
func PromptForTest(p *Plan, address string) string {
	v, _ := p.Input(startKey(address))
	st, _ := v.(seatStart)
	return st.Prompt
}
