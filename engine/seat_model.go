package engine

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Step kinds of the verbs that only write the record.
const (
	StepSetModel  StepKind = "commit_model"
	StepUnchanged StepKind = "report_unchanged"
)

// SetModelArgs are the arguments of `rig seat set-model`.
type SetModelArgs struct {
	Model string `json:"model"`
}

// maxModel is the longest model id that is stored, in bytes.
const maxModel = 200

// planSetModel plans a new model for a seat. The id is not checked against any
// list: clients learn new models faster than we do. It must only be something
// that can travel as one argument.
func planSetModel(ctx context.Context, e *Engine, w *world, p *Plan) error {
	args, err := DecodeArgs[SetModelArgs](p.Request)
	if err != nil {
		return err
	}
	if err := needReason(p); err != nil {
		return err
	}
	model := strings.TrimSpace(args.Model)
	if model == "" {
		return Errorf(CodeMissingModel, "no model was named").WithHint("add --model <id>, as the client's own --model takes it")
	}
	if err := checkModel(model); err != nil {
		return err
	}
	s, err := e.planSeat(ctx, w, p)
	if err != nil {
		return err
	}
	s.command("set-model", "--model", model)
	s.fact("model", s.seat.Model)
	s.stays("the running occupant: it keeps its model until the next launch, resume or handover",
		"name, seat id, role, edges and inbound work of "+s.address, "its occupants, tokens and history")
	if s.seat.Runtime == RuntimeTerminal {
		p.Warnings = append(p.Warnings, "a terminal has no model: nothing will read it")
	}
	args2 := []string{"from", s.seat.Model, "to", model}
	if model == s.seat.Model {
		p.Intents = append(p.Intents, Intent{s.address, "unchanged", "its model is " + model + " already"})
		p.Phases = append(p.Phases, Phase{ID: "model", Title: "Nothing to record", Steps: []Step{
			s.step("unchanged", StepUnchanged, EffectNone, "leave the model as it is; there is no event", args2...),
		}})
		return nil
	}
	s.change("model", s.seat.Model, model)
	p.Phases = append(p.Phases, Phase{ID: "model", Title: "Set the model of " + s.address, Steps: []Step{
		s.step("model", StepSetModel, EffectCommit, "record the model, and the event", args2...),
	}})
	return nil
}

// checkModel refuses what would not arrive as the model it names.
func checkModel(model string) error {
	switch {
	case len(model) > maxModel || !utf8.ValidString(model):
		return Errorf(CodeInvalidModel, "the model id is longer than %d bytes or not UTF-8", maxModel).WithHint("give the id as the client's --model takes it")
	case strings.HasPrefix(model, "-"):
		return Errorf(CodeInvalidModel, "the model id looks like an option").WithHint("give the id as the client's --model takes it")
	case strings.ContainsFunc(model, func(r rune) bool {
		return r == utf8.RuneError || unicode.IsControl(r) || unicode.IsSpace(r) || unicode.Is(unicode.Cf, r)
	}):
		return Errorf(CodeInvalidModel, "the model id holds blanks or control characters").WithHint("give the id as the client's --model takes it")
	}
	return nil
}

// commitModel writes the one column and its event.
func commitModel(_ context.Context, r *run, s Step, tx Tx) (Evidence, error) {
	seat, err := unchangedSeat(tx, s)
	if err != nil {
		return nil, err
	}
	ev := Evidence{"from": seat.Model, "to": s.Args["to"], "changed": true}
	seat.Model = s.Args["to"]
	if err := tx.UpdateSeat(&seat); err != nil {
		return nil, err
	}
	r.settle(SeatReceipt{Seat: s.Seat, Action: "model_changed", Generation: seat.Generation, Evidence: ev})
	return ev, r.event(tx, "node.model_changed", seat, s.Seat, map[string]any{"logical_id": seat.Logical(), "from": ev["from"], "to": ev["to"]})
}

// doUnchanged says in the receipt that there was nothing to do.
func doUnchanged(_ context.Context, r *run, s Step) (Evidence, error) {
	ev := Evidence{"from": s.Args["from"], "to": s.Args["to"], "changed": false}
	r.settle(SeatReceipt{Seat: s.Seat, Action: "unchanged", Evidence: ev})
	return ev, nil
}
