package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// Code names a kind of refusal or failure. Codes are stable: scripts match on
// them, and docs list each with its remedy.
type Code string

// The codes of the engine. Adapters add their own where a reference names one.
const (
	CodeInvalid          Code = "invalid"               // the request itself is malformed
	CodeMissingReason    Code = "missing_reason"        // a reason is required and was blank
	CodeNotFound         Code = "not_found"             // nothing by that name or id
	CodeRigNotFound      Code = "rig_not_found"         // no such rig
	CodeSeatRefRequired  Code = "seat_ref_required"     // an empty seat reference
	CodeSeatNotFound     Code = "seat_not_found"        // no such seat in an active rig
	CodeSeatAmbiguous    Code = "seat_ambiguous"        // the reference matches several seats
	CodeAmbiguousName    Code = "ambiguous_name"        // several active rigs share the name
	CodeConflict         Code = "conflict"              // a row changed under the writer
	CodePlanStale        Code = "plan_stale"            // the facts of the plan moved
	CodePlanUsed         Code = "plan_used"             // the plan was applied before
	CodeInProgress       Code = "operation_in_progress" // another operation holds the seat or rig
	CodeNotInASeat       Code = "not_in_a_seat"         // nobody said which seat, and this shell sits in none
	CodeWaitTimeout      Code = "wait_timeout"          // the seat is known, and not in the state that was waited for
	CodeUnavailable      Code = "unavailable"           // tmux or the record cannot be read: unknown
	CodeTmuxProbeFailed  Code = "tmux_probe_failed"     // tmux did not answer: neither present nor absent
	CodeTmuxTooOld       Code = "tmux_too_old"          // below the version floor
	CodeOtherServer      Code = "seat_elsewhere"        // the seat is on another tmux server, or may be
	CodeSessionExists    Code = "session_exists"        // a tmux session of that name is there already
	CodePaneMismatch     Code = "pane_mismatch"         // the pane is not the one the caller meant
	CodePaneDead         Code = "pane_dead"             // the pane's process has ended
	CodeNotSupported     Code = "not_supported"         // a known thing that this build does not do
	CodeRuntime          Code = "runtime_failed"        // the client refused, failed or vanished
	CodeRuntimeMissing   Code = "runtime_missing"       // the client's program cannot be found
	CodeNotReady         Code = "not_ready"             // the client did not become ready in time
	CodeRecordNewer      Code = "record_newer"          // the database was written by a newer build
	CodeRecordReadOnly   Code = "record_read_only"      // the database cannot be written
	CodeRecordDamaged    Code = "record_damaged"        // the database cannot be read
	CodeLeaseLost        Code = "lease_lost"            // the fencing number moved on
	CodeCancelled        Code = "cancelled"             // the caller gave up before the commit
	CodeInternal         Code = "internal"              // a fault of the program
	CodeRigNameRunning   Code = "rig_name_running"      // a rig of that name is up already
	CodeRigNameTaken     Code = "rig_name_taken"        // a stopped rig of that name is on record
	CodeCycle            Code = "cycle_error"           // launch edges form a circle
	CodeValidationFailed Code = "validation_failed"     // the spec has errors; they are listed

	CodeArtifactMissing     Code = "artifact_missing"          // a file that a rebuild or an image is to hold cannot be read
	CodeNoSpace             Code = "no_space"                  // the disk is full
	CodeNotDelivered        Code = "context_delivery_failed"   // what an occupant was to be told did not arrive, or cannot be proven to
	CodeOccupantRequired    Code = "current_occupant_required" // the seat has no occupant to take over from
	CodeDiscoveredNotFound  Code = "discovered_not_found"      // no session of the operator by that id
	CodeDraftUnknown        Code = "draft_unknown"             // the input box cannot be read, so a draft may stand in it
	CodeDraftPresent        Code = "draft_present"             // a draft stands in the input box; it is never typed over
	CodeForkSourceNotFound  Code = "fork_source_not_found"     // the record knows no such conversation
	CodeNotSubmitted        Code = "not_submitted"             // a message was typed and not submitted: it stands in the input box
	CodeInvalidModel        Code = "invalid_model"             // not the name of a model
	CodeOperationEnded      Code = "operation_ended"           // the operation has ended; there is nothing to finish or roll back
	CodeOperationUnfinished Code = "operation_unfinished"      // an operation was cut off half-way
	CodePodNotFound         Code = "pod_not_found"             // no such pod in the rig
	CodeTokenUnavailable    Code = "resume_token_unavailable"  // the source has no native id on record
	CodeRuntimeMismatch     Code = "runtime_mismatch"          // the source runs another client than the seat
	CodeStartupFileMissing  Code = "startup_file_missing"      // a startup file of the seat cannot be read
	CodeWorkOpen            Code = "work_open"                 // what is to be removed has inbound work
)

// Error is the one error type of the product: what was attempted, on what, why
// it did not happen, and what to do next. A refusal without a hint is a bug.
type Error struct {
	Code   Code   `json:"code"`
	Op     string `json:"op,omitempty"`     // the verb or step, such as "handover" or "create_session"
	Target string `json:"target,omitempty"` // the seat, rig, pane or file it was about
	Msg    string `json:"message"`
	Hint   string `json:"hint,omitempty"`
	// Details helps a script: matches, blockers, the holder of a lease. It must
	// marshal to JSON and must never hold a token.
	Details map[string]any `json:"details,omitempty"`
	Err     error          `json:"-"`
}

// Error renders "op target: message: cause"; the hint is printed apart.
func (e *Error) Error() string {
	s := e.Msg
	if e.Target != "" {
		s = e.Target + ": " + s
	}
	if e.Op != "" {
		s = e.Op + ": " + s
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap gives the cause to errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is an *Error of the same code, so that
// errors.Is(err, &Error{Code: CodePlanStale}) asks for a code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// Errorf makes an Error of a code with a formatted message. Use WithHint to add
// what to do next.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Msg: fmt.Sprintf(format, args...)}
}

// WithHint returns a copy of e that says what to do next.
func (e *Error) WithHint(format string, args ...any) *Error {
	c := *e
	c.Hint = fmt.Sprintf(format, args...)
	return &c
}

// On returns a copy of e that names the operation and its target.
func (e *Error) On(op, target string) *Error {
	c := *e
	c.Op, c.Target = op, target
	return &c
}

// Wrap returns a copy of e that carries the cause.
func (e *Error) Wrap(cause error) *Error {
	c := *e
	c.Err = cause
	return &c
}

// With returns a copy of e with one more detail.
func (e *Error) With(key string, value any) *Error {
	c := *e
	c.Details = make(map[string]any, len(e.Details)+1)
	for k, v := range e.Details {
		c.Details[k] = v
	}
	c.Details[key] = value
	return &c
}

// CodeOf gives the code of AsError, "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	return AsError(err).Code
}

// AsError gives the first *Error in err's chain. An error of the system that nobody
// put into words on the way is told by what a person can do about it; what is left
// is a fault of the program.
func AsError(err error) *Error {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, context.Canceled):
		return Errorf(CodeCancelled, "given up before it was done").Wrap(err).WithHint("run it again; `rig op list` shows what it began")
	case errors.Is(err, context.DeadlineExceeded):
		return Errorf(CodeUnavailable, "there was no answer in time").Wrap(err).WithHint("try again; `rig doctor` looks for what is in the way")
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return Errorf(CodeNoSpace, "there is no room left on the disk").Wrap(err).WithHint("free some space, then run it again")
	case errors.Is(err, syscall.EFBIG):
		return Errorf(CodeUnavailable, "a file would be longer than the system lets this process write").Wrap(err).WithHint("raise the limit that `ulimit -f` shows, then run it again")
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EISDIR):
		return Errorf(CodeUnavailable, "a file stands where a folder should be, or the other way round").Wrap(err).WithHint("move it away, then run it again")
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.ENOMEM):
		return Errorf(CodeUnavailable, "the system has no processes, files or memory left to give").Wrap(err).
			WithHint("end what is not needed, or raise the limits that `ulimit -a` shows, then run it again")
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return Errorf(CodeUnavailable, "the system does not allow it").Wrap(err).WithHint("check the owner and the permissions of the path")
	case errors.As(err, new(syscall.Errno)):
		return Errorf(CodeUnavailable, "the system refused what was asked of it").Wrap(err).WithHint("`rig doctor` looks for what is in the way; then run it again")
	}
	return Errorf(CodeInternal, "%s", err.Error()).WithHint("this is a fault of the program: please report it")
}

// Blocker is one reason why a plan cannot be applied now. Planners collect all
// of them before they answer.
type Blocker struct {
	Code    Code   `json:"code"`
	Seat    string `json:"seat,omitempty"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
}

// BlockerFrom turns an error into a blocker, keeping its code and hint.
func BlockerFrom(err error) Blocker {
	var e *Error
	if errors.As(err, &e) {
		msg := e.Msg
		if e.Err != nil {
			msg += ": " + e.Err.Error()
		}
		return Blocker{Code: e.Code, Seat: e.Target, Message: msg, Hint: e.Hint}
	}
	return BlockerFrom(AsError(err))
}
