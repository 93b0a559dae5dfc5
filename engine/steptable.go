package engine

// stepTable lists how each kind of step happens. It is the only way from a plan
// to the world.
func stepTable() map[StepKind]executor {
	return map[StepKind]executor{
		StepRigRows:    {commit: commitRigRows},
		StepCreate:     {do: doCreate, undo: undoCreate, probe: probeCreate},
		StepReady:      {do: doReady},
		StepIdentify:   {do: doIdentify},
		StepOccupy:     {commit: commitOccupant},
		StepStop:       {do: doStop, probe: probeStop},
		StepVacate:     {commit: commitVacate},
		StepUntag:      {do: doUntag, undo: undoUntag},
		StepSnapshot:   {do: doSnapshot},
		StepRigStopped: {commit: commitRigStopped},
		StepRigDeleted: {commit: commitRigDeleted},
		StepAdoptTag:   {do: doAdoptTag, undo: undoAdoptTag, probe: probeAdoptTag},
		StepAdopt:      {commit: commitAdopt},
	}
}
