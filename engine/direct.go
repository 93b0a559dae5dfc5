package engine

import "context"

// Verbs of changes that are one transaction or one rename: they have a plan like
// every other, and need neither lease nor journal.
const (
	VerbWork        Verb = "work"
	VerbPacketWrite Verb = "restore-packet write"
)

// StepDirect is the one step of such a change. It has no executor: whoever planned
// it performs it, and it stands whole or not at all.
const StepDirect StepKind = "direct"

// DirectPlan is the plan of such a change, with one commit step. The caller adds
// facts, changes and what stays.
func (e *Engine) DirectPlan(verb Verb, target, title string) *Plan {
	return &Plan{
		ID: e.d.IDs.New(), Verb: verb, Target: target, Operator: e.Operator(), CreatedAt: e.d.Clock.Now(),
		Phases: []Phase{{ID: "change", Title: "Change", Steps: []Step{{
			ID: "change", Kind: StepDirect, Effect: EffectCommit, Title: title,
		}}}},
		Changes: []Change{}, Unchanged: []string{}, Blockers: []Blocker{}, Warnings: []string{}, Basis: []Fact{}, Leases: []string{},
	}
}

// PlanWork says what a change of inbound work would do: its plan, and how the
// pieces would stand. It fails as ChangeWork does.
func (e *Engine) PlanWork(ctx context.Context, c WorkChange) (*Plan, WorkResult, error) {
	if err := c.check(); err != nil {
		return nil, WorkResult{}, err
	}
	w, err := e.look(ctx)
	if err != nil {
		return nil, WorkResult{}, err
	}
	var p *Plan
	var res WorkResult
	err = e.d.Store.Read(ctx, func(r Reader) error {
		p, res, err = e.planWork(r, w, c)
		return err
	})
	return p, res, orErr(err, &res)
}

// planWork is PlanWork inside a transaction.
func (e *Engine) planWork(r Reader, w *world, c WorkChange) (*Plan, WorkResult, error) {
	res, err := e.decideWork(r, w, c)
	if err != nil {
		return nil, res, err
	}
	p := e.DirectPlan(VerbWork+Verb(" "+c.Verb), res.Seat, "record it, with its event")
	was := WorkItem{}
	if c.Verb != WorkAdd {
		if was, err = r.WorkItem(c.ID); err != nil {
			return nil, res, err
		}
		p.AddFact("work/"+was.ID, was.State+" "+itoa(was.Version))
	}
	p.Changes = append(p.Changes, Change{Seat: res.Seat, Field: "work “" + res.Item.Title + "”", Before: was.State, After: workWord(res.Item)})
	if res.Next != nil {
		p.Changes = append(p.Changes, Change{Seat: res.To, Field: "work “" + res.Next.Title + "”", After: res.Next.State})
	}
	p.Unchanged = append(p.Unchanged, "the occupant: nothing is typed")
	// What is added is told from what is there: a plan that added it is stale then.
	for address, id := range map[string]string{res.Seat: res.Item.SeatID, res.To: nextSeat(res)} {
		if id == "" {
			continue
		}
		seat, err := r.Seat(id)
		if err != nil {
			return nil, res, err
		}
		all, err := r.Work(id)
		if err != nil {
			return nil, res, err
		}
		p.AddFact("seat/"+address+"/generation", itoa(seat.Generation))
		if c.Verb == WorkAdd || c.Verb == WorkHandoff {
			p.AddFact("seat/"+address+"/work", itoa(int64(len(all))))
		}
	}
	p.AddFact("texts", secretDigest(c.Title+"\x00"+c.Body+"\x00"+c.Note))
	return p, res, nil
}

func nextSeat(res WorkResult) string {
	if res.Next == nil {
		return ""
	}
	return res.Next.SeatID
}

func workWord(it WorkItem) string {
	if it.State == WorkClaimed {
		return "claimed by generation " + itoa(it.Generation)
	}
	return it.State
}
