package tui

import "context"

func starters(context.Context) ([]Choice, error) {
	return []Choice{
		{Value: "terminals", Note: "three shells, no agent needed"},
		{Value: "pair", Note: "a claude and a codex that review each other"},
	}, nil
}

func discovered(context.Context) ([]Choice, error) {
	return []Choice{
		{Value: "d-01", Label: "work:2", Note: "claude in /home/ana/shop"},
		{Value: "d-02", Label: "mail:0", Note: "codex in /home/ana", Reason: "claimed by dev-qa@shop"},
	}, nil
}
