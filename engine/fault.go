package engine

import "runtime/debug"

// contain runs f. A panic in it is a fault of the program: it goes to the log with
// its stack and comes back as CodeInternal, so that one seat's fault stays that
// seat's and whatever was begun for it is undone like after any other failure.
func (e *Engine) contain(what, target string, f func() error) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			e.d.Log.Error("panic", "in", what, "target", target, "fault", fault, "stack", string(debug.Stack()))
			err = Errorf(CodeInternal, "a fault of the program: %v", fault).On(what, target).
				WithHint("please report it, with the lines that say panic in the folder logs of RIG_HOME")
		}
	}()
	return f()
}
