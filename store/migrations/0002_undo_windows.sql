-- Version 2: what still has an undo window is found however old it is. A window
-- whose owner was killed stays until somebody closes it, and may lie behind any
-- number of newer operations.

CREATE INDEX operations_undo ON operations (started_at) WHERE undo_until IS NOT NULL;
