package engine

import (
	"context"
	"strconv"
	"strings"
)

// PaperConsole is what the Seat screen asks to read: what a seat has said and
// kept. All of it reads, and nothing else.
type PaperConsole interface {
	// Papers lists what can be read of a seat, and what cannot, with why.
	Papers(ctx context.Context, seatID string) ([]Paper, error)
	// ReadPaper gives one page. Pages are bounded, whatever the size of the paper.
	ReadPaper(ctx context.Context, seatID string, ask PaperAsk) (PaperPage, error)
}

// PaperTranscript addresses the conversation of a seat's present occupant;
// "transcript:3" that of its third. PaperWork addresses its inbound work.
const (
	PaperTranscript = "transcript"
	PaperWork       = "work"
)

// Paper is one thing to read.
type Paper struct {
	Address string
	Label   string // for people
	Note    string // size, age
	Trouble string // not empty: it cannot be read, and why
}

// PaperAsk asks for one page of a paper that has several.
type PaperAsk struct {
	Address string
	// At is a byte offset: the page begins there, or with Back ends there. -1 with
	// Back is the end.
	At   int64
	Back bool
	// Find, when not empty, is looked for from At on, or with Back before it; the
	// page then begins with the message that holds it.
	Find string
}

// PaperPage is a page: its text passed redaction and holds no control characters.
type PaperPage struct {
	Parts []PaperPart
	// From and To are the bytes that it covers, of Size. A paper of one page has
	// From 0 and To = Size.
	From, To, Size int64
	// Missing says that what was to be found is not there; then there are no parts.
	Missing bool
}

// PaperPart is one message or one text.
type PaperPart struct {
	Head string // who and when; "" for a text
	Text string
}

// paperKeeper is what Contexts offers when it can show a seat's papers.
type paperKeeper interface {
	Papers(ctx context.Context, in PacketInput) ([]Paper, error)
	ReadPaper(ctx context.Context, in PacketInput, ask PaperAsk) (PaperPage, error)
}

func (e *Engine) papers() (paperKeeper, error) {
	if k, ok := e.d.Contexts.(paperKeeper); ok {
		return k, nil
	}
	return nil, Errorf(CodeNotSupported, "this build cannot show papers").WithHint("use a build with packets")
}

// Papers lists what can be read of a seat that is named by its id.
func (e *Engine) Papers(ctx context.Context, seatID string) ([]Paper, error) {
	k, err := e.papers()
	if err != nil {
		return nil, err
	}
	in, err := e.gatherByID(ctx, seatID, 0)
	if err != nil {
		return nil, err
	}
	return k.Papers(ctx, in)
}

// ReadPaper reads a page of one of a seat's papers.
func (e *Engine) ReadPaper(ctx context.Context, seatID string, ask PaperAsk) (PaperPage, error) {
	k, err := e.papers()
	if err != nil {
		return PaperPage{}, err
	}
	var generation int64
	if rest, ok := strings.CutPrefix(ask.Address, PaperTranscript+":"); ok {
		if generation, err = strconv.ParseInt(rest, 10, 64); err != nil {
			return PaperPage{}, Errorf(CodeInvalid, "%q is no generation", rest).WithHint("transcript:NUMBER")
		}
		ask.Address = PaperTranscript
	}
	in, err := e.gatherByID(ctx, seatID, generation)
	if err != nil {
		return PaperPage{}, err
	}
	return k.ReadPaper(ctx, in, ask)
}

func (e *Engine) gatherByID(ctx context.Context, seatID string, generation int64) (PacketInput, error) {
	seat, rig, err := e.seatAndRig(ctx, seatID)
	if err != nil {
		return PacketInput{}, err
	}
	return e.Gather(ctx, Address(seat.Pod, seat.Member, rig.Name), generation)
}

// Papers implements PaperConsole.
func (l *Local) Papers(ctx context.Context, seatID string) ([]Paper, error) {
	return l.e.Papers(ctx, seatID)
}

// ReadPaper implements PaperConsole.
func (l *Local) ReadPaper(ctx context.Context, seatID string, ask PaperAsk) (PaperPage, error) {
	return l.e.ReadPaper(ctx, seatID, ask)
}
