-- Version 1. Times are whole microseconds of store time. Texts are bytes, as encoding.data() makes
-- them: PostgreSQL's own text knows neither NUL nor half a surrogate pair.

-- `batch` is the newest one of the engine that was committed; `seen` is when.
CREATE TABLE engines (
  no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  owner bytea NOT NULL,
  batch bigint NOT NULL,
  seen bigint NOT NULL
);

-- `no` is the order in which runs were started.
CREATE SEQUENCE run_numbers;
CREATE TABLE runs (
  no bigint PRIMARY KEY,
  run_id bytea NOT NULL CONSTRAINT runs_run_id UNIQUE,
  flow_id bytea NOT NULL,
  flow_type bytea NOT NULL,
  status bytea NOT NULL,
  is_open boolean NOT NULL,
  version bigint NOT NULL,
  state bytea NOT NULL
);
CREATE INDEX runs_by_flow ON runs (flow_id, no);
CREATE INDEX runs_by_status ON runs (status, no);
CREATE UNIQUE INDEX runs_open ON runs (flow_id) WHERE is_open;

CREATE TABLE events (
  run_no bigint NOT NULL,
  seq bigint NOT NULL,
  text bytea NOT NULL,
  PRIMARY KEY (run_no, seq)
);

-- One row for each open run. Whoever changes a run, or sends to it, locks this row before: so a
-- message cannot slip into a run that is just being closed. `messages` are those of the turn.
CREATE TABLE run_locks (
  run_no bigint PRIMARY KEY,
  token text,
  lock_end bigint NOT NULL DEFAULT 0,
  messages bigint[] NOT NULL DEFAULT '{}'
) WITH (fillfactor = 50);
CREATE INDEX run_locks_held ON run_locks (lock_end) WHERE lock_end > 0;

CREATE TABLE messages (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run_no bigint NOT NULL,
  available_at bigint NOT NULL,
  attempt_count integer NOT NULL DEFAULT 0,
  text bytea NOT NULL
);
CREATE INDEX messages_due ON messages (available_at, id);
CREATE INDEX messages_of_run ON messages (run_no, available_at, id);

CREATE TABLE work_items (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run_no bigint NOT NULL,
  step_execution_id bytea NOT NULL,
  flow_type bytea NOT NULL,
  handler bytea NOT NULL,
  available_at bigint NOT NULL,
  token text,
  lock_end bigint,
  attempt integer NOT NULL,
  deliveries integer NOT NULL DEFAULT 0,
  first_attempt_at double precision,
  checkpoint bytea,
  payload bytea NOT NULL,
  CONSTRAINT work_of_run UNIQUE (run_no, step_execution_id)
) WITH (fillfactor = 80);
CREATE INDEX work_free ON work_items (available_at, id) WHERE token IS NULL;
CREATE INDEX work_leased ON work_items (lock_end) WHERE token IS NOT NULL;

-- A Stream in bytes ever taken: `head` by all messages, `first` before the oldest that is kept.
CREATE TABLE streams (
  flow_type bytea NOT NULL,
  stream bytea NOT NULL,
  head bigint NOT NULL DEFAULT 0,
  first bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (flow_type, stream)
);

-- `start` is how many bytes the Stream had ever taken before this message.
CREATE TABLE stream_messages (
  position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  flow_type bytea NOT NULL,
  stream bytea NOT NULL,
  flow_id bytea NOT NULL,
  run_id bytea NOT NULL,
  source bytea NOT NULL,
  wall double precision NOT NULL,
  start bigint NOT NULL,
  payload bytea NOT NULL
);
CREATE INDEX messages_of_stream ON stream_messages (flow_type, stream, position);

-- As above, counted by run.
CREATE TABLE telemetry_heads (
  run_id bytea PRIMARY KEY,
  head bigint NOT NULL
);
CREATE TABLE telemetry (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run_id bytea NOT NULL,
  first_seq bigint NOT NULL,
  last_seq bigint NOT NULL,
  start bigint NOT NULL,
  text bytea NOT NULL
);
CREATE INDEX telemetry_of_run ON telemetry (run_id, start);
