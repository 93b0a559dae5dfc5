-- The record of rigs, seats and their occupants, version 1.
--
-- Times are UTC, RFC 3339 with three decimals, so that text order is time order;
-- NULL means that it has not happened. Ids are ULIDs. `version` is bumped by
-- every write of a row. Foreign keys stand where rows mean nothing without
-- their owner; operations, events, tenures and snapshots are history and have
-- none, so that they survive the rig they tell of.

PRAGMA application_id = 0x52494752; -- "RIGR": marks the file as ours

CREATE TABLE meta (
  key   TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE rigs (
  id          TEXT NOT NULL PRIMARY KEY,
  name        TEXT NOT NULL CHECK (name <> ''),
  summary     TEXT NOT NULL,
  spec_path   TEXT NOT NULL,
  spec_digest TEXT NOT NULL,
  root        TEXT NOT NULL,
  policies    TEXT NOT NULL CHECK (policies = '' OR json_valid(policies)),
  created_at  TEXT NOT NULL,
  updated_at  TEXT NOT NULL,
  archived_at TEXT,
  stopped_at  TEXT,
  version     INTEGER NOT NULL
) STRICT;

-- A name stands for at most one rig that can be addressed by it.
CREATE UNIQUE INDEX rigs_active_name ON rigs (name) WHERE archived_at IS NULL;
CREATE INDEX rigs_name ON rigs (name, created_at);

CREATE TABLE pods (
  id                TEXT NOT NULL PRIMARY KEY,
  rig_id            TEXT NOT NULL REFERENCES rigs (id) ON DELETE CASCADE,
  name              TEXT NOT NULL CHECK (name <> ''),
  label             TEXT NOT NULL,
  summary           TEXT NOT NULL,
  continuity_policy TEXT NOT NULL CHECK (continuity_policy = '' OR json_valid(continuity_policy)),
  ordinal           INTEGER NOT NULL,
  UNIQUE (rig_id, name),
  UNIQUE (rig_id, id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE seats (
  id                   TEXT NOT NULL PRIMARY KEY,
  rig_id               TEXT NOT NULL REFERENCES rigs (id) ON DELETE CASCADE,
  pod_id               TEXT NOT NULL,
  pod                  TEXT NOT NULL,
  member               TEXT NOT NULL CHECK (member <> ''),
  label                TEXT NOT NULL,
  runtime              TEXT NOT NULL,
  agent_ref            TEXT NOT NULL,
  profile              TEXT NOT NULL,
  role                 TEXT NOT NULL,
  model                TEXT NOT NULL,
  effort               TEXT NOT NULL,
  codex_profile        TEXT NOT NULL,
  permission_policy    TEXT NOT NULL,
  restore_policy       TEXT NOT NULL,
  cwd                  TEXT NOT NULL,
  env                  TEXT CHECK (env IS NULL OR json_valid(env)),
  readiness_timeout_ms INTEGER NOT NULL,
  ordinal              INTEGER NOT NULL,
  generation           INTEGER NOT NULL CHECK (generation >= 0),
  lifecycle            TEXT NOT NULL,
  continuity           TEXT NOT NULL,
  binding              TEXT NOT NULL,
  context_delivered    INTEGER NOT NULL CHECK (context_delivered IN (0, 1)),
  previous             TEXT NOT NULL,
  handover_at          TEXT,
  handover_by          TEXT NOT NULL,
  forked_from          TEXT NOT NULL,
  last_error           TEXT NOT NULL,
  created_at           TEXT NOT NULL,
  updated_at           TEXT NOT NULL,
  version              INTEGER NOT NULL,
  UNIQUE (rig_id, pod, member),
  UNIQUE (rig_id, id),
  -- The pod is one of the same rig, and its name here is its name there.
  FOREIGN KEY (rig_id, pod_id, pod) REFERENCES pods (rig_id, id, name) ON DELETE CASCADE
) STRICT;

-- Pod "a-b" with member "c" and pod "a" with member "b-c" share an address.
CREATE UNIQUE INDEX seats_address ON seats (rig_id, pod || '-' || member);
CREATE INDEX seats_logical ON seats (pod, member);
CREATE INDEX seats_pod ON seats (rig_id, pod_id, pod);

CREATE TABLE edges (
  rig_id    TEXT NOT NULL REFERENCES rigs (id) ON DELETE CASCADE,
  from_seat TEXT NOT NULL,
  to_seat   TEXT NOT NULL,
  kind      TEXT NOT NULL CHECK (kind IN
    ('delegates_to', 'spawned_by', 'can_observe', 'collaborates_with', 'escalates_to')),
  PRIMARY KEY (rig_id, from_seat, to_seat, kind),
  -- Both ends are seats of the edge's own rig.
  FOREIGN KEY (rig_id, from_seat) REFERENCES seats (rig_id, id) ON DELETE CASCADE,
  FOREIGN KEY (rig_id, to_seat) REFERENCES seats (rig_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE INDEX edges_to ON edges (rig_id, to_seat);

-- resume_token is the one column of the database that holds a raw native id.
CREATE TABLE sessions (
  id                TEXT NOT NULL PRIMARY KEY,
  seat_id           TEXT NOT NULL REFERENCES seats (id) ON DELETE CASCADE,
  generation        INTEGER NOT NULL CHECK (generation > 0),
  name              TEXT NOT NULL,
  runtime           TEXT NOT NULL,
  status            TEXT NOT NULL CHECK (status IN
    ('running', 'unknown', 'detached', 'exited', 'superseded')),
  origin            TEXT NOT NULL CHECK (origin IN ('launched', 'claimed')),
  startup           TEXT NOT NULL,
  startup_note      TEXT NOT NULL,
  continuity        TEXT NOT NULL,
  resume_token      TEXT NOT NULL,
  resume_provenance TEXT NOT NULL,
  last_verified     TEXT,
  pid               INTEGER NOT NULL,
  pid_start         TEXT NOT NULL,
  build             TEXT NOT NULL,
  homes             TEXT NOT NULL CHECK (json_valid(homes)),
  settings          TEXT NOT NULL CHECK (settings = '' OR json_valid(settings)),
  created_at        TEXT NOT NULL,
  ended_at          TEXT,
  exit_code         INTEGER,
  last_seen         TEXT,
  version           INTEGER NOT NULL,
  UNIQUE (seat_id, generation)
) STRICT;

CREATE INDEX sessions_live ON sessions (seat_id, generation) WHERE status IN ('running', 'unknown');

CREATE TABLE tenures (
  seat_id    TEXT NOT NULL,
  generation INTEGER NOT NULL CHECK (generation > 0),
  session_id TEXT NOT NULL,
  kind       TEXT NOT NULL,
  continuity TEXT NOT NULL,
  source     TEXT NOT NULL,
  reason     TEXT NOT NULL,
  operator   TEXT NOT NULL,
  started_at TEXT NOT NULL,
  ended_at   TEXT,
  PRIMARY KEY (seat_id, generation)
) STRICT, WITHOUT ROWID;

-- Who sat where, and when, is history: only the end of a tenure may change.
CREATE TRIGGER tenures_kept BEFORE DELETE ON tenures BEGIN
  SELECT RAISE(ABORT, 'tenures are never deleted');
END;
CREATE TRIGGER tenures_fixed
BEFORE UPDATE OF seat_id, generation, session_id, kind, continuity, source, reason, operator, started_at
ON tenures BEGIN
  SELECT RAISE(ABORT, 'a tenure may only end or be reopened');
END;

CREATE TABLE bindings (
  seat_id      TEXT NOT NULL PRIMARY KEY REFERENCES seats (id) ON DELETE CASCADE,
  socket       TEXT NOT NULL,
  epoch        TEXT NOT NULL,
  session_name TEXT NOT NULL,
  pane         TEXT NOT NULL,
  pane_pid     INTEGER NOT NULL,
  updated_at   TEXT NOT NULL,
  version      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE startup_context (
  seat_id TEXT NOT NULL PRIMARY KEY REFERENCES seats (id) ON DELETE CASCADE,
  runtime TEXT NOT NULL,
  files   TEXT CHECK (files IS NULL OR json_valid(files)),
  actions TEXT CHECK (actions IS NULL OR json_valid(actions)),
  version INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE discovered (
  id           TEXT NOT NULL PRIMARY KEY,
  socket       TEXT NOT NULL,
  epoch        TEXT NOT NULL,
  session_name TEXT NOT NULL,
  pane         TEXT NOT NULL,
  pid          INTEGER NOT NULL,
  cwd          TEXT NOT NULL,
  command      TEXT NOT NULL,
  runtime_hint TEXT NOT NULL,
  confidence   TEXT NOT NULL,
  evidence     TEXT NOT NULL,
  status       TEXT NOT NULL CHECK (status IN ('active', 'claimed', 'vanished')),
  claimed_by   TEXT NOT NULL,
  first_seen   TEXT NOT NULL,
  last_seen    TEXT NOT NULL,
  UNIQUE (socket, epoch, pane)
) STRICT, WITHOUT ROWID;

CREATE TABLE operations (
  id          TEXT NOT NULL PRIMARY KEY,
  verb        TEXT NOT NULL,
  target      TEXT NOT NULL,
  rig_id      TEXT NOT NULL,
  seat_id     TEXT NOT NULL,
  reason      TEXT NOT NULL,
  operator    TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  plan        TEXT CHECK (plan IS NULL OR json_valid(plan)),
  state       TEXT NOT NULL CHECK (state <> ''),
  receipt     TEXT CHECK (receipt IS NULL OR json_valid(receipt)),
  error       TEXT NOT NULL,
  owner       TEXT NOT NULL CHECK (json_valid(owner)),
  build       TEXT NOT NULL,
  committed   INTEGER NOT NULL CHECK (committed IN (0, 1)),
  undo_until  TEXT,
  started_at  TEXT NOT NULL,
  ended_at    TEXT,
  version     INTEGER NOT NULL
) STRICT;

CREATE INDEX operations_rig ON operations (rig_id, started_at);
CREATE INDEX operations_seat ON operations (seat_id, started_at);
CREATE INDEX operations_started ON operations (started_at);
CREATE INDEX operations_open ON operations (started_at)
  WHERE state NOT IN ('done', 'partial', 'failed', 'rolled_back', 'undone');

CREATE TABLE operation_steps (
  op_id      TEXT NOT NULL REFERENCES operations (id) ON DELETE CASCADE,
  seq        INTEGER NOT NULL CHECK (seq >= 0),
  unit       TEXT NOT NULL,
  phase      TEXT NOT NULL,
  step_id    TEXT NOT NULL,
  kind       TEXT NOT NULL,
  title      TEXT NOT NULL,
  seat       TEXT NOT NULL,
  effect     TEXT NOT NULL,
  state      TEXT NOT NULL CHECK (state <> ''),
  evidence   TEXT CHECK (evidence IS NULL OR json_valid(evidence)),
  error      TEXT NOT NULL,
  started_at TEXT,
  ended_at   TEXT,
  PRIMARY KEY (op_id, seq)
) STRICT;

CREATE TABLE leases (
  key        TEXT NOT NULL PRIMARY KEY CHECK (key <> ''),
  op_id      TEXT NOT NULL,
  owner      TEXT NOT NULL CHECK (json_valid(owner)),
  fence      INTEGER NOT NULL,
  granted_at TEXT NOT NULL,
  expires_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
  seq      INTEGER PRIMARY KEY AUTOINCREMENT,
  at       TEXT NOT NULL,
  type     TEXT NOT NULL CHECK (type <> ''),
  rig_id   TEXT NOT NULL,
  seat_id  TEXT NOT NULL,
  rig      TEXT NOT NULL,
  seat     TEXT NOT NULL,
  op_id    TEXT NOT NULL,
  operator TEXT NOT NULL,
  payload  TEXT CHECK (payload IS NULL OR json_valid(payload))
) STRICT;

CREATE INDEX events_rig ON events (rig_id, seq);
CREATE INDEX events_seat ON events (seat_id, seq);
CREATE INDEX events_op ON events (op_id, seq);
CREATE INDEX events_type ON events (type, seq);
CREATE INDEX events_at ON events (at);

CREATE TRIGGER events_kept BEFORE DELETE ON events BEGIN
  SELECT RAISE(ABORT, 'events are append-only');
END;
CREATE TRIGGER events_fixed BEFORE UPDATE ON events BEGIN
  SELECT RAISE(ABORT, 'events are append-only');
END;

CREATE TABLE snapshots (
  id         TEXT NOT NULL PRIMARY KEY,
  rig_id     TEXT NOT NULL,
  kind       TEXT NOT NULL CHECK (kind <> ''),
  status     TEXT NOT NULL CHECK (status IN ('complete', 'partial', 'failed')),
  note       TEXT NOT NULL,
  data       BLOB,
  created_at TEXT NOT NULL
) STRICT;

CREATE INDEX snapshots_rig ON snapshots (rig_id, created_at);

CREATE TABLE context_usage (
  seat_id    TEXT NOT NULL PRIMARY KEY REFERENCES seats (id) ON DELETE CASCADE,
  session_id TEXT NOT NULL,
  known      INTEGER NOT NULL CHECK (known IN (0, 1)),
  tokens     INTEGER NOT NULL,
  window     INTEGER NOT NULL,
  percent    REAL NOT NULL,
  source     TEXT NOT NULL,
  sampled_at TEXT NOT NULL,
  generation INTEGER NOT NULL,
  confidence TEXT NOT NULL,
  note       TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE usage_samples (
  seat_id    TEXT NOT NULL REFERENCES seats (id) ON DELETE CASCADE,
  sampled_at TEXT NOT NULL,
  session_id TEXT NOT NULL,
  known      INTEGER NOT NULL CHECK (known IN (0, 1)),
  tokens     INTEGER NOT NULL,
  window     INTEGER NOT NULL,
  percent    REAL NOT NULL,
  source     TEXT NOT NULL,
  generation INTEGER NOT NULL,
  confidence TEXT NOT NULL,
  note       TEXT NOT NULL,
  PRIMARY KEY (seat_id, sampled_at, session_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE work_items (
  id         TEXT NOT NULL PRIMARY KEY,
  seat_id    TEXT NOT NULL REFERENCES seats (id) ON DELETE CASCADE,
  title      TEXT NOT NULL,
  body       TEXT NOT NULL,
  state      TEXT NOT NULL CHECK (state IN ('pending', 'claimed', 'blocked', 'done')),
  generation INTEGER NOT NULL,
  sender     TEXT NOT NULL,
  note       TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  version    INTEGER NOT NULL
) STRICT;

CREATE INDEX work_items_seat ON work_items (seat_id, created_at);
CREATE INDEX work_items_open ON work_items (seat_id, state) WHERE state <> 'done';

CREATE TABLE seat_verdicts (
  seat_id    TEXT NOT NULL PRIMARY KEY REFERENCES seats (id) ON DELETE CASCADE,
  session_id TEXT NOT NULL,
  pane       TEXT NOT NULL,
  verdict    TEXT NOT NULL CHECK (verdict IN ('verified', 'mismatch', 'pane_missing')),
  reason     TEXT NOT NULL,
  at         TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE acks (
  key   TEXT NOT NULL PRIMARY KEY CHECK (key <> ''),
  by    TEXT NOT NULL,
  at    TEXT NOT NULL,
  until TEXT
) STRICT, WITHOUT ROWID;
