package tui

// lookup is how far a screen came with what it reads from the record: whether a
// request is under way, and what came of the last one.
type lookup struct {
	asked  int // number of the latest request
	busy   bool
	loaded bool
	mark   string // what of the picture it was read for
	err    string
}

// ask begins a request and gives its number.
func (r *lookup) ask(m *Model) int {
	r.asked, r.busy = m.next(), true
	return r.asked
}

// answered takes the answer to a request. mine is false for one that a later
// request has replaced; good says that there is something to show.
func (r *lookup) answered(id int, err error) (mine, good bool) {
	if id != r.asked {
		return false, false
	}
	r.busy, r.loaded, r.err = false, true, ""
	if err != nil {
		r.err = errorText(err)
	}
	return true, err == nil
}

// stale reports whether what was read is to be read again for a mark. A request
// under way is waited for.
func (r *lookup) stale(mark string) bool { return !r.busy && (!r.loaded || mark != r.mark) }

// unread says that a screen's subject is being read, or why it cannot be.
func (m *Model) unread(w, h int, r *lookup, what string) []string {
	if r.err != "" {
		return m.notice(w, h, "The "+what+" cannot be read", r.err, m.reg.hint("reload")+" tries again.")
	}
	return m.notice(w, h, "Reading the "+what)
}
