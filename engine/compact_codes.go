package engine

// Codes of a guided compaction.
const (
	CodeRuntimeFilter     Code = "runtime_filter"          // not a Claude seat
	CodeNoUsage           Code = "no_usage_data"           // no known sample: nobody acts blind
	CodeAlreadyCompacting Code = "already_in_progress"     // something acts on the seat
	CodeNeedsInput        Code = "target_needs_input"      // a prompt waits for a person
	CodeMidWork           Code = "mid_work"                // a turn is under way
	CodeActivityUnknown   Code = "target_activity_unknown" // nobody can tell what it does
	CodeIdleTimeout       Code = "wait_for_idle_timeout"   // it never became idle
	CodeSessionMissing    Code = "session_missing"         // nothing runs in the seat
	CodeInvalidThreshold  Code = "invalid_threshold"       // a threshold that is no number of its kind
	CodePrepIncomplete    Code = "preparation_incomplete"  // the restore map was not finished in time
	CodePrepCancelled     Code = "preparation_cancelled"
	CodeStaleGeneration   Code = "stale_generation" // another occupant sits there now
	CodeUncertain         Code = "delivery_uncertain"
	CodeNoGeneration      Code = "occupant_generation_unavailable"
	CodeUsageLimited      Code = "usage_limit"
	CodeCompactionFailed  Code = "compaction_failed"
	CodeNotCompacted      Code = "compaction_unproven"
	CodeNoCompaction      Code = "no_compaction" // nothing to show or to cancel
)
