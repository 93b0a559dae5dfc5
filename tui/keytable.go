package tui

import "slices"

// KeyInfo is one action of the console with the keys that lead to it.
type KeyInfo struct {
	Action   string   `json:"action"`
	Keys     []string `json:"keys"`    // as the configuration writes them
	Default  []string `json:"default"` // what they are without a configuration
	Help     string   `json:"help"`
	Group    string   `json:"group"` // heading in the help
	Where    []string `json:"where"` // screens and dialogs in which they hold
	Changes  bool     `json:"changes"`
	Rebound  bool     `json:"rebound"`
	Readable string   `json:"-"` // the keys as the help writes them
}

// KeyTable lists every action of the console, in the order of its help, with the
// operator's own keys applied: action to the keys that replace its default ones.
// It refuses what the console refuses: an action that does not exist, a key that
// would mean two things, and a key that must not confirm.
func KeyTable(custom map[string][]string) ([]KeyInfo, error) {
	r, err := newRegistry(custom)
	if err != nil {
		return nil, err
	}
	var out []KeyInfo
	for i, plain := range allActions() {
		a := r.actions[i]
		info := KeyInfo{
			Action: a.id, Keys: slices.Clone(a.keys), Default: slices.Clone(plain.keys), Help: a.help, Group: a.group,
			Changes: a.write, Rebound: !slices.Equal(a.keys, plain.keys),
		}
		for bit := scope(1); bit <= scopeReceipt; bit <<= 1 {
			if a.in&bit != 0 {
				info.Where = append(info.Where, scopeNames()[bit])
			}
		}
		for j, k := range a.keys {
			if j > 0 {
				info.Readable += " "
			}
			info.Readable += keyWord(k)
		}
		out = append(out, info)
	}
	return out, nil
}
