package engine

// restoreSteps are the step kinds of snapshots and restores.
func restoreSteps() map[StepKind]executor {
	return map[StepKind]executor{
		StepSnapshotLook: {do: doSnapshotLook},
		StepSnapshotMade: {commit: commitSnapshot},
	}
}
