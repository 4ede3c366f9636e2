-- name: begin
BEGIN ISOLATION LEVEL READ COMMITTED;

-- name: do_not_wait
-- What is committed like this may be lost with the server's machine, never with a process.
SET LOCAL synchronous_commit = off;

-- name: commit
COMMIT;

-- name: mark_batch
INSERT INTO engines (no, owner, batch, seen) OVERRIDING SYSTEM VALUE
VALUES (%(engine)b, %(owner)b, %(batch)b, %(now)b)
ON CONFLICT (no) DO UPDATE SET batch = excluded.batch, seen = excluded.seen;

-- name: lock_runs
-- All rows that the batch changes or sends to, in one order for all engines: no deadlock.
SELECT l.run_no, l.token, l.lock_end, r.run_id, r.version
FROM run_locks l JOIN runs r ON r.no = l.run_no
WHERE l.run_no IN (
  SELECT unnest(%(turns)b::int8[])
  UNION ALL
  SELECT t.no FROM runs t WHERE t.run_id = ANY(%(targets)b::bytea[]) AND t.is_open
)
ORDER BY l.run_no FOR UPDATE OF l;

-- name: lock_work
-- As above; those that turns take away, too.
SELECT w.id, w.run_no, w.token, w.lock_end
FROM work_items w
WHERE w.id IN (
  SELECT unnest(%(work)b::int8[])
  UNION ALL
  SELECT c.id
  FROM unnest(%(runs)b::bytea[], %(steps)b::bytea[]) AS v (run_id, step_execution_id)
  JOIN runs r ON r.run_id = v.run_id
  JOIN work_items c ON c.run_no = r.no AND c.step_execution_id = v.step_execution_id
  UNION ALL
  SELECT c.id FROM runs r JOIN work_items c ON c.run_no = r.no
  WHERE r.run_id = ANY(%(closing)b::bytea[])
)
ORDER BY w.id FOR UPDATE;

-- name: open_flows
SELECT flow_id, run_id FROM runs WHERE flow_id = ANY(%(flows)b::bytea[]) AND is_open;

-- name: run_numbers
SELECT nextval('run_numbers') FROM generate_series(1, %(count)b);

-- name: lock_streams
INSERT INTO streams (flow_type, stream)
SELECT v.flow_type, v.stream
FROM unnest(%(c0)b::bytea[], %(c1)b::bytea[]) AS v (flow_type, stream)
ORDER BY v.flow_type, v.stream
ON CONFLICT (flow_type, stream) DO UPDATE SET head = streams.head
RETURNING flow_type, stream, head, first;

-- name: grow_telemetry
INSERT INTO telemetry_heads (run_id, head)
SELECT v.run_id, v.size FROM unnest(%(c0)b::bytea[], %(c1)b::int8[]) AS v (run_id, size)
ORDER BY v.run_id
ON CONFLICT (run_id) DO UPDATE SET head = telemetry_heads.head + excluded.head
RETURNING run_id, head;

-- name: notify
SELECT pg_notify(%(channel)s, %(payload)s);
