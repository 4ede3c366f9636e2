-- Version 1. Times are whole microseconds of store time: `available_at` of the clock for what is
-- due, `lock_end` of the clock for locks. Text is stored as rows.stored() writes it.

CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Numbers are never used twice: they are part of lock tokens.
CREATE TABLE owners (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  owner TEXT NOT NULL UNIQUE,
  boot_id TEXT NOT NULL,
  pid INTEGER NOT NULL
) STRICT;

-- `no` is the order in which runs were started.
CREATE TABLE runs (
  no INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL UNIQUE,
  flow_id TEXT NOT NULL,
  flow_type TEXT NOT NULL,
  status TEXT NOT NULL,
  version INTEGER NOT NULL,
  state TEXT NOT NULL
) STRICT;
CREATE INDEX runs_by_flow ON runs (flow_id);
CREATE INDEX runs_by_status ON runs (status);
CREATE UNIQUE INDEX runs_open ON runs (flow_id) WHERE status = 'RUNNING';

CREATE TABLE events (
  run_no INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (run_no, seq)
) STRICT, WITHOUT ROWID;

-- A message is held while it belongs to a locked turn.
CREATE TABLE messages (
  id INTEGER PRIMARY KEY,
  run_no INTEGER NOT NULL,
  available_at INTEGER NOT NULL,
  held INTEGER NOT NULL DEFAULT 0,
  attempt_count INTEGER NOT NULL DEFAULT 0,
  text TEXT NOT NULL
) STRICT;
CREATE INDEX messages_due ON messages (available_at, id, run_no) WHERE held = 0;
CREATE INDEX messages_by_run ON messages (run_no, held, available_at, id);

-- `messages` is the JSON array of the ids that the turn fetched.
CREATE TABLE run_locks (
  run_no INTEGER PRIMARY KEY,
  token TEXT NOT NULL,
  lock_end INTEGER NOT NULL,
  owner INTEGER NOT NULL,
  messages TEXT NOT NULL
) STRICT;
CREATE INDEX run_locks_end ON run_locks (lock_end);

CREATE TABLE work_items (
  id INTEGER PRIMARY KEY,
  run_no INTEGER NOT NULL,
  step_execution_id TEXT NOT NULL,
  flow_type TEXT NOT NULL,
  handler TEXT NOT NULL,
  available_at INTEGER NOT NULL,
  token TEXT,
  lock_end INTEGER,
  owner INTEGER,
  attempt INTEGER NOT NULL,
  deliveries INTEGER NOT NULL DEFAULT 0,
  first_attempt_at TEXT,
  checkpoint TEXT,
  payload TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX work_of_run ON work_items (run_no, step_execution_id);
CREATE INDEX work_free ON work_items (handler, available_at, id) WHERE token IS NULL;
CREATE INDEX work_leased ON work_items (lock_end) WHERE token IS NOT NULL;

-- `start` is how many bytes the Stream had ever taken before this message.
CREATE TABLE stream_messages (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  flow_type TEXT NOT NULL,
  stream TEXT NOT NULL,
  flow_id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  source TEXT NOT NULL,
  wall TEXT NOT NULL,
  start INTEGER NOT NULL,
  size INTEGER NOT NULL,
  payload TEXT NOT NULL
) STRICT;
CREATE INDEX messages_of_stream ON stream_messages (flow_type, stream);

-- `start` as above, counted by run.
CREATE TABLE telemetry (
  id INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL,
  first_seq INTEGER NOT NULL,
  last_seq INTEGER NOT NULL,
  start INTEGER NOT NULL,
  size INTEGER NOT NULL,
  text TEXT NOT NULL
) STRICT;
CREATE INDEX telemetry_of_run ON telemetry (run_id, start);
