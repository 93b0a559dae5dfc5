package engine

import "context"

// RestoreConsole is the part of Console that the Restore screen and its wizards
// stand on. Its methods read only.
type RestoreConsole interface {
	// RestoreCheck says what would become of each seat if this machine rebooted
	// now.
	RestoreCheck(ctx context.Context, opt RestoreCheckOptions) (RestoreCheckReport, error)
	// AllSnapshots lists the snapshots of every rig on record, newest first.
	AllSnapshots(ctx context.Context) ([]SnapshotView, error)
	// Snapshot shows one snapshot, without tokens.
	Snapshot(ctx context.Context, id string) (SnapshotDetail, error)
	// Restores lists the newest restores that have ended, each rig of each
	// attempt with its frozen and its current verdict; limit counts attempts,
	// 0 = 20.
	Restores(ctx context.Context, limit int) ([]RestoreStatus, error)
}
