package specs

import (
	"strings"

	"gopkg.in/yaml.v3"

	"rig/engine"
)

// name checks a rig, pod or member name and points at the first character that
// an address, a shell or tmux would not carry unchanged.
func (c *checker) name(n *yaml.Node, path string) {
	const hint = "use letters, digits, - and _, a letter or digit first, 64 characters at most"
	s := n.Value
	switch {
	case engine.ValidName(s):
	case len(s) > engine.MaxNameLen:
		c.add(n, path, CodeBadName, hint, "the name has %d characters", len(s))
	default:
		for i, r := range s {
			ok := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || i > 0 && (r == '-' || r == '_')
			if !ok {
				where := ""
				if i == 0 {
					where = " at the start"
				}
				c.add(n, path, CodeBadName, hint, "%s may not hold %s%s", show(s), show(string(r)), where)
				return
			}
		}
	}
}

// safePath checks a path that must stay inside the folder of its spec.
func (c *checker) safePath(n *yaml.Node, path string) {
	if why := pathFault(n.Value); why != "" {
		c.add(n, path, CodeUnsafePath, "write a path relative to the folder of this file, with / between the parts",
			"%s %s", show(n.Value), why)
	}
}

// pathFault says why a path may leave its folder, "" for a safe one.
func pathFault(p string) string {
	switch {
	case strings.HasPrefix(p, "/"):
		return "is absolute"
	case strings.HasPrefix(p, "~"):
		return "starts with ~, which is not expanded"
	case strings.Contains(p, `\`):
		return "has a backslash"
	case len(p) > 1 && p[1] == ':':
		return "has a drive letter"
	}
	for _, seg := range strings.Split(p, "/") {
		if seg == ".." {
			return "leaves its folder through .."
		}
	}
	return ""
}

// declared is a member with the place of its id.
type declared struct {
	pod, id string
	path    string
	at      place
}

// addresses reports seats that would share an address, and names that differ in
// the case of letters only.
func (c *checker) addresses(rig string, members []declared) {
	byAddress, byFold := map[string]declared{}, map[string]declared{}
	for _, m := range members {
		addr := engine.Address(m.pod, m.id, rig)
		if prior, taken := byAddress[addr]; taken && (prior.pod != m.pod || prior.id != m.id) {
			c.at(m.at, m.path, CodeCollision, "rename one of them",
				"member %s of pod %s and member %s of pod %s (line %d) would share the address %s",
				m.id, m.pod, prior.id, prior.pod, prior.at.line, addr)
			continue
		}
		byAddress[addr] = m
		fold := strings.ToLower(addr)
		if prior, near := byFold[fold]; near && (prior.pod != m.pod || prior.id != m.id) {
			c.advise(m.at, m.path, CodeCaseOnly, "rename one of them if they are easily confused",
				"%s and %s differ in upper and lower case only", addr, engine.Address(prior.pod, prior.id, rig))
			continue
		}
		byFold[fold] = m
	}
}
