-- name: insert_runs
INSERT INTO runs (no, run_id, flow_id, flow_type, status, version, state)
SELECT
  v.value ->> 0, v.value ->> 1, v.value ->> 2, v.value ->> 3, v.value ->> 4, v.value ->> 5,
  v.value ->> 6
FROM json_each(:rows) v;

-- name: update_runs
UPDATE runs SET version = v.value ->> 1, state = v.value ->> 2
FROM json_each(:rows) v
WHERE runs.no = v.value ->> 0;

-- name: close_runs
-- Apart from update_runs, so that only the last turn touches the indexes on status.
UPDATE runs SET status = v.value ->> 1
FROM json_each(:rows) v
WHERE runs.no = v.value ->> 0;

-- name: insert_events
INSERT INTO events (run_no, seq, text)
SELECT v.value ->> 0, v.value ->> 1, v.value ->> 2
FROM json_each(:rows) v;

-- name: insert_messages
INSERT INTO messages (run_no, available_at, text)
SELECT r.no, max(v.value ->> 1, :now), v.value ->> 2
FROM json_each(:rows) v CROSS JOIN runs r ON r.run_id = v.value ->> 0
WHERE r.status = 'RUNNING';

-- name: delete_fetched_messages
DELETE FROM messages
WHERE id IN (
  SELECT m.value
  FROM json_each(:rows) v
  CROSS JOIN run_locks l ON l.run_no = v.value
  CROSS JOIN json_each(l.messages) m
);

-- name: return_messages
WITH given AS MATERIALIZED (
  SELECT m.value AS id, v.value ->> 1 AS due, v.value ->> 2 AS back
  FROM json_each(:rows) v
  CROSS JOIN run_locks l ON l.run_no = v.value ->> 0
  CROSS JOIN json_each(l.messages) m
)
UPDATE messages SET
  held = 0,
  attempt_count = max(0, attempt_count - given.back),
  available_at = max(available_at, given.due)
FROM given
WHERE messages.id = given.id;

-- name: delete_run_locks
DELETE FROM run_locks WHERE run_no IN (SELECT value FROM json_each(:rows));

-- name: renew_run_locks
UPDATE run_locks SET lock_end = v.value ->> 1
FROM json_each(:rows) v
WHERE run_locks.run_no = v.value ->> 0;

-- name: empty_messages_of_closed
DELETE FROM messages
WHERE run_no IN (SELECT value FROM json_each(:rows));

-- name: free_expired_messages
UPDATE messages SET held = 0
WHERE id IN (
  SELECT m.value FROM run_locks l CROSS JOIN json_each(l.messages) m WHERE l.lock_end <= :lease
);

-- name: free_expired_runs
DELETE FROM run_locks WHERE lock_end <= :lease;

-- name: ready_turns
-- Walks due messages in order and takes those that are their run's first, so that it ends as soon
-- as enough runs are found.
SELECT
  (
    SELECT json_group_array(json_array(
      r.no, r.run_id, r.flow_id, r.flow_type, r.state, r.version,
      json((
        SELECT json_group_array(json_array(m.id, m.text, m.attempt_count))
        FROM messages m
        WHERE m.run_no = r.no AND m.held = 0 AND m.available_at <= :now
      ))
    ))
    FROM (
      SELECT m.run_no
      FROM messages m INDEXED BY messages_due
      WHERE m.held = 0 AND m.available_at <= :now
        AND NOT EXISTS (SELECT 1 FROM run_locks l WHERE l.run_no = m.run_no)
        AND NOT EXISTS (
          SELECT 1 FROM messages e
          WHERE e.run_no = m.run_no AND e.held = 0
            AND (e.available_at, e.id) < (m.available_at, m.id)
        )
      ORDER BY m.available_at, m.id
      LIMIT :limit
    ) ready
    CROSS JOIN runs r ON r.no = ready.run_no
  ),
  EXISTS (SELECT 1 FROM run_locks WHERE lock_end <= :lease);

-- name: hold_messages
UPDATE messages SET held = 1, attempt_count = attempt_count + 1
WHERE id IN (SELECT value FROM json_each(:rows));

-- name: lock_runs
INSERT INTO run_locks (run_no, token, lock_end, owner, messages)
SELECT v.value ->> 0, v.value ->> 1, v.value ->> 2, :owner, v.value ->> 3
FROM json_each(:rows) v;

-- name: next_turn
SELECT
  (
    SELECT min(available_at) FROM messages INDEXED BY messages_due
    WHERE held = 0 AND available_at > :now
  ),
  (SELECT min(lock_end) FROM run_locks);

-- name: run_by_id
SELECT json_array(run_id, flow_id, flow_type, status, version, state)
FROM runs WHERE run_id = :run_id;

-- name: newest_run
SELECT json_array(run_id, flow_id, flow_type, status, version, state)
FROM runs WHERE flow_id = :flow_id ORDER BY no DESC LIMIT 1;

-- name: list_runs
SELECT json_group_array(json_array(run_id, flow_id, flow_type, status, version, state))
FROM (
  SELECT * FROM runs
  WHERE no < iif(
    :before = '', 9223372036854775807, (SELECT b.no FROM runs b WHERE b.run_id = :before)
  )
  ORDER BY no DESC LIMIT :limit
);

-- name: list_runs_of_status
SELECT json_group_array(json_array(run_id, flow_id, flow_type, status, version, state))
FROM (
  SELECT * FROM runs
  WHERE status = :status AND no < iif(
    :before = '', 9223372036854775807, (SELECT b.no FROM runs b WHERE b.run_id = :before)
  )
  ORDER BY no DESC LIMIT :limit
);

-- name: read_events
SELECT json_group_array(text)
FROM (
  SELECT e.text FROM runs r CROSS JOIN events e ON e.run_no = r.no
  WHERE r.run_id = :run_id AND e.seq > :after
  ORDER BY e.seq
);
