package engine

import "maps"

// stepTable lists how each kind of step happens. It is the only way from a plan
// to the world.
func stepTable() map[StepKind]executor {
	table := map[StepKind]executor{
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
		StepPacket:     {do: doPacket, undo: undoPacket},
		StepFreeze:     {do: doFreeze, undo: undoFreeze},
		StepArrive:     {do: doArrive},
		StepSwap:       {do: doSwap, undo: undoSwap, probe: probeSwap},
		StepPromote:    {do: doPromote, undo: undoPromote},
		StepRebind:     {commit: commitHandover},
		StepGo:         {do: doGo},
		StepRetire:     {do: doRetire},
		StepSwapBack:   {do: doSwapBack, undo: undoSwapBack, probe: probeSwapBack},
		StepUndo:       {commit: commitUndo},
		StepThaw:       {do: doThaw},
		StepDiscard:    {do: doDiscard},

		StepSeatStopped:    {commit: commitSeatStopped},
		StepReap:           {do: doReap, probe: probeReap},
		StepSeatCleaned:    {commit: commitSeatCleaned},
		StepFreshMark:      {do: doFreshMark, undo: undoFreshMark},
		StepFreshOccupy:    {commit: commitFreshLaunch},
		StepSetModel:       {commit: commitModel},
		StepUnchanged:      {do: doUnchanged},
		StepSetToken:       {commit: commitToken},
		StepClearAttention: {commit: commitClearAttention},

		StepExpandRows: {commit: commitExpandRows},
		StepPrimed:     {do: doPrimed},

		StepGCRecord:  {commit: commitGC},
		StepGCDiscard: {do: doGCDiscard},
	}
	maps.Copy(table, shrinkSteps())
	maps.Copy(table, imageSteps())
	maps.Copy(table, recapSteps())
	maps.Copy(table, restoreSteps())
	maps.Copy(table, compactSteps())
	return table
}
