package engine

import "context"

// HandoverConsole is what the wizards of handovers and of resume tokens ask for
// beside plans.
type HandoverConsole interface {
	// HandoverSources lists where a seat's successor can come from, and what cannot
	// be a source with the reason. It looks at tmux for sessions of nobody.
	HandoverSources(ctx context.Context, seatID string) ([]SourceOption, error)
	// NoteTokenRefusal puts a refused resume token on record: who tried, when and
	// why not, never what.
	NoteTokenRefusal(ctx context.Context, r Request, cause error) error
}

// SourceOption is one --source of a handover.
type SourceOption struct {
	Source  string // as --source takes it
	Label   string // for people; "" = the source itself
	Note    string // what there is to know about it
	Trouble string // not empty: it cannot be chosen, and why
}

// HandoverSources implements HandoverConsole.
func (l *Local) HandoverSources(ctx context.Context, seatID string) ([]SourceOption, error) {
	return l.e.HandoverSources(ctx, seatID)
}

// NoteTokenRefusal implements HandoverConsole.
func (l *Local) NoteTokenRefusal(ctx context.Context, r Request, cause error) error {
	return l.e.NoteTokenRefusal(ctx, r, cause)
}
