package tui

import (
	"fmt"
	"sort"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rig/engine"
)

// scope is where an action is valid: a set of screens and kinds of dialog.
type scope uint32

// The scopes. A key means one thing in each.
const (
	scopeFleet scope = 1 << iota
	scopeAttention
	scopePressure
	scopeWall
	scopeSeat
	scopeImages
	scopeOps
	scopeEvents
	scopeRestore

	scopeFilter  // the filter line
	scopePick    // a searchable list: palette, help
	scopeChoose  // a short list without typing
	scopeRead    // a text to scroll
	scopePaper   // a paper of a seat
	scopeFind    // its search field
	scopeSend    // the message box
	scopeAsk     // wizard: fields
	scopeText    // wizard: a text of many lines
	scopePlan    // wizard: planning, or a refusal
	scopePreview // wizard: the plan
	scopeConfirm // wizard: the last question, answered with a key
	scopeName    // wizard: the last question, answered with a name
	scopeRun     // wizard: steps under way
	scopeReceipt // wizard: what happened

	scopeScreens = scopeFleet | scopeAttention | scopePressure | scopeWall | scopeSeat | scopeImages | scopeOps | scopeEvents | scopeRestore
	scopeSeats   = scopeFleet | scopeAttention | scopePressure | scopeWall | scopeSeat
	scopeDialogs = scopePick | scopeChoose | scopeRead | scopePaper | scopeFind | scopeSend | scopeAsk | scopeText | scopePlan | scopePreview | scopeConfirm |
		scopeName | scopeRun | scopeReceipt
)

// scopeNames are the words for single scopes, in help and refusals.
func scopeNames() map[scope]string {
	return map[scope]string{
		scopeFleet: "Fleet", scopeAttention: "Attention", scopePressure: "Pressure", scopeWall: "Wall", scopeSeat: "Seat", scopeImages: "Images",
		scopeOps: "Operations", scopeEvents: "Events", scopeRestore: "Restore", scopeFilter: "filter", scopePick: "search list", scopeChoose: "choice",
		scopeRead: "text", scopePaper: "paper", scopeFind: "paper search", scopeSend: "message", scopeAsk: "wizard questions", scopeText: "wizard text", scopePlan: "wizard planning",
		scopePreview: "wizard preview", scopeConfirm: "wizard confirmation", scopeName: "wizard name", scopeRun: "wizard run",
		scopeReceipt: "wizard receipt",
	}
}

// action is one thing that a key can do. It is the only place where a key is
// named: dispatch, footer, help and palette all read it.
type action struct {
	id    string   // stable, for the configuration
	keys  []string // as Bubble Tea names them
	label string   // footer: one or two words
	help  string   // help and palette: a sentence
	group string   // heading in the help
	in    scope
	foot  int    // place in the footer, lower first; 0 = not in the footer
	pair  string // the action whose key stands beside its own in the footer
	opens bool   // a click on the row under the cursor does it too
	write bool   // opens a wizard or changes something: refused in read-only mode

	// disabled says why the action cannot be done now, "" when it can.
	disabled func(m *Model) string
	run      func(m *Model) tea.Cmd
	// word, where set, is the label while it depends on where one is; "" leaves the
	// action out of the footer.
	word func(m *Model) string
}

// text is the label in the footer.
func (a *action) text(m *Model) string {
	if a.word != nil {
		return a.word(m)
	}
	return a.label
}

// why says why the action cannot be done now.
func (a *action) why(m *Model) string {
	if a.write && m.opt.ReadOnly {
		return "read-only mode: no wizard opens and nothing is sent"
	}
	if a.disabled == nil {
		return ""
	}
	return a.disabled(m)
}

// screens names the screens on which the action is valid.
func (a *action) screens() string {
	var on []string
	for _, s := range screenList() {
		if s.in&a.in != 0 {
			on = append(on, s.name)
		}
	}
	return strings.Join(on, ", ")
}

// key is the first key of the action as a person reads it.
func (a *action) key() string {
	if len(a.keys) == 0 {
		return ""
	}
	return keyWord(a.keys[0])
}

// footKey is the key of an action in the footer, with that of its counterpart.
func (r *registry) footKey(a *action) string {
	if b := r.byID(a.pair); b != nil && len(b.keys) > 0 {
		return a.key() + "/" + b.key()
	}
	return a.key()
}

// keyWord writes a key as footers and help show it.
func keyWord(k string) string {
	switch k {
	case "enter":
		return "Enter"
	case "esc":
		return "Esc"
	case "tab":
		return "Tab"
	case "space":
		return "Space"
	case "up":
		return "Up"
	case "down":
		return "Down"
	case "left":
		return "Left"
	case "right":
		return "Right"
	case "pgup":
		return "PgUp"
	case "pgdown":
		return "PgDn"
	case "home":
		return "Home"
	case "end":
		return "End"
	case "shift+tab":
		return "S-Tab"
	}
	if c, ok := strings.CutPrefix(k, "ctrl+"); ok {
		return "^" + c
	}
	return k
}

// registry is every action of the console, indexed by scope and key.
type registry struct {
	actions []*action
	byKey   map[string][]*action
}

// newRegistry builds the registry and applies the operator's own keys: action id
// to the keys that replace its default ones. An id that does not exist and a key
// that would mean two things are refused with both names.
func newRegistry(custom map[string][]string) (*registry, error) {
	r := &registry{actions: allActions(), byKey: map[string][]*action{}}
	byID := map[string]*action{}
	for _, a := range r.actions {
		byID[a.id] = a
	}
	ids := make([]string, 0, len(custom))
	for id := range custom {
		ids = append(ids, id)
	}
	sort.Strings(ids)
	for _, id := range ids {
		a := byID[id]
		if a == nil {
			return nil, engine.Errorf(engine.CodeInvalid, "keys: there is no action %q", id).
				WithHint("an action is called as in the help (?), in small letters with hyphens, such as page-down")
		}
		a.keys = custom[id]
	}
	for _, a := range r.actions {
		for _, k := range a.keys {
			for _, other := range r.byKey[k] {
				if shared := other.in & a.in; shared != 0 {
					return nil, engine.Errorf(engine.CodeInvalid, "keys: %s means both %q and %q in %s", keyWord(k), other.id, a.id, where(shared)).
						WithHint("give one of them another key in the configuration")
				}
			}
			r.byKey[k] = append(r.byKey[k], a)
		}
	}
	return r, r.safeConfirm()
}

// safeConfirm refuses keys under which a slip would apply a plan: the key that
// confirms is never Enter and never one that opens a wizard or the question.
func (r *registry) safeConfirm() error {
	confirm := r.byID("confirm")
	for _, k := range confirm.keys {
		if k == "enter" || k == "space" {
			return engine.Errorf(engine.CodeInvalid, "keys: %s cannot be the key that confirms", keyWord(k)).
				WithHint("choose a letter that opens no wizard")
		}
		for _, a := range r.byKey[k] {
			if a.write || a.id == "apply" {
				return engine.Errorf(engine.CodeInvalid, "keys: %s means both %q and %q: what confirms must not be what opens", keyWord(k), a.id, confirm.id).
					WithHint("choose a letter that opens no wizard")
			}
		}
	}
	return nil
}

// where names the first scope of a set.
func where(s scope) string {
	for bit := scope(1); bit <= scopeReceipt; bit <<= 1 {
		if s&bit != 0 {
			return scopeNames()[bit]
		}
	}
	return fmt.Sprintf("scope %d", s)
}

// find gives the action of a key in a scope, nil when there is none.
func (r *registry) find(in scope, key string) *action {
	for _, a := range r.byKey[key] {
		if a.in&in != 0 {
			return a
		}
	}
	return nil
}

// byID gives an action by its id, nil when there is none.
func (r *registry) byID(id string) *action {
	for _, a := range r.actions {
		if a.id == id {
			return a
		}
	}
	return nil
}

// in lists the actions of a scope in registry order.
func (r *registry) in(s scope) []*action {
	var out []*action
	for _, a := range r.actions {
		if a.in&s != 0 {
			out = append(out, a)
		}
	}
	return out
}

// footer lists the actions of a scope that the footer shows, most useful first.
func (r *registry) footer(s scope) []*action {
	var out []*action
	for _, a := range r.in(s) {
		if a.foot > 0 && len(a.keys) > 0 {
			out = append(out, a)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].foot < out[j].foot })
	return out
}

// hint names the key of an action inside a sentence.
func (r *registry) hint(id string) string {
	if a := r.byID(id); a != nil && len(a.keys) > 0 {
		return a.key()
	}
	return ":"
}
