package engine

import "context"

// OtherServers asks tmux servers other than the one that the engine works with:
// seats of the same record may be bound there. Nothing is ever changed on them.
type OtherServers interface {
	// InventoryAt lists every pane of the server on another socket, in one process.
	// Like Inventory it never fails, and it answers within a few seconds.
	InventoryAt(ctx context.Context, socket string) Inventory
}
