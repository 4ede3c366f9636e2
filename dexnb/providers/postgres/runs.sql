-- name: quiet_runs
-- Behind lock_runs and by a look of its own, so that nothing has changed since.
SELECT r.run_id, r.version
FROM runs r JOIN run_locks l ON l.run_no = r.no
WHERE r.run_id = ANY(%(runs)b::bytea[]) AND l.lock_end <= %(now)b
  AND NOT EXISTS (
    SELECT 1 FROM messages m WHERE m.run_no = r.no AND m.available_at <= %(now)b
  );

-- name: insert_runs
INSERT INTO runs (no, run_id, flow_id, flow_type, status, version, state, is_open)
SELECT *
FROM unnest(
  %(c0)b::int8[], %(c1)b::bytea[], %(c2)b::bytea[], %(c3)b::bytea[], %(c4)b::bytea[],
  %(c5)b::int8[], %(c6)b::bytea[], %(c7)b::bool[]
);

-- name: insert_run_locks
INSERT INTO run_locks (run_no) SELECT unnest(%(c0)b::int8[]);

-- name: update_runs
UPDATE runs r SET version = v.version, state = v.state, status = v.status, is_open = v.is_open
FROM unnest(
  %(c0)b::int8[], %(c1)b::int8[], %(c2)b::bytea[], %(c3)b::bytea[], %(c4)b::bool[]
) AS v (no, version, state, status, is_open)
WHERE r.no = v.no;

-- name: insert_events
INSERT INTO events (run_no, seq, text)
SELECT * FROM unnest(%(c0)b::int8[], %(c1)b::int8[], %(c2)b::bytea[]);

-- name: delete_fetched_messages
DELETE FROM messages m USING run_locks l
WHERE l.run_no = ANY(%(c0)b::int8[]) AND m.id = ANY(l.messages);

-- name: insert_messages
INSERT INTO messages (run_no, available_at, text)
SELECT v.run_no, v.available_at, v.text
FROM unnest(%(c0)b::int8[], %(c1)b::int8[], %(c2)b::bytea[])
  WITH ORDINALITY AS v (run_no, available_at, text, place)
ORDER BY v.place;

-- name: return_messages
UPDATE messages m SET
  attempt_count = greatest(0, m.attempt_count - v.back),
  available_at = greatest(m.available_at, v.due)
FROM unnest(%(c0)b::int8[], %(c1)b::int8[], %(c2)b::int8[]) AS v (run_no, due, back)
JOIN run_locks l USING (run_no)
WHERE m.id = ANY(l.messages);

-- name: free_runs
UPDATE run_locks SET token = NULL, lock_end = 0, messages = '{}'
WHERE run_no = ANY(%(c0)b::int8[]);

-- name: renew_runs
UPDATE run_locks l SET lock_end = v.lock_end
FROM unnest(%(c0)b::int8[], %(c1)b::int8[]) AS v (run_no, lock_end)
WHERE l.run_no = v.run_no;

-- name: empty_messages
DELETE FROM messages WHERE run_no = ANY(%(c0)b::int8[]);

-- name: empty_work
DELETE FROM work_items WHERE run_no = ANY(%(c0)b::int8[]);

-- name: delete_run_locks
DELETE FROM run_locks WHERE run_no = ANY(%(c0)b::int8[]);

-- name: claim_runs
-- Walks due messages in order and takes those that are their run's first, so that it ends as soon
-- as enough runs are found. What another engine just locks is not waited for.
WITH ready AS MATERIALIZED (
  SELECT l.run_no, m.available_at, m.id
  FROM messages m JOIN run_locks l ON l.run_no = m.run_no
  WHERE m.available_at <= %(now)b AND l.lock_end <= %(now)b
    AND NOT EXISTS (
      SELECT 1 FROM messages e
      WHERE e.run_no = m.run_no AND (e.available_at, e.id) < (m.available_at, m.id)
    )
  ORDER BY m.available_at, m.id
  LIMIT %(limit)b
  FOR UPDATE OF l SKIP LOCKED
)
UPDATE run_locks l
SET token = concat('r', l.run_no, %(suffix)s::text), lock_end = %(end)b, messages = '{}'
FROM ready
WHERE l.run_no = ready.run_no
RETURNING ready.available_at, ready.id, l.run_no, l.token;

-- name: next_run
-- When a run may be ready: a message comes, a lock ends, or now, where another engine was faster
-- at the row but may not keep it.
SELECT least(
  (SELECT min(available_at) FROM messages WHERE available_at > %(now)b),
  (SELECT min(lock_end) FROM run_locks WHERE lock_end > %(now)b AND lock_end > 0),
  (
    SELECT %(now)b::int8 WHERE EXISTS (
      SELECT 1 FROM messages m JOIN run_locks l ON l.run_no = m.run_no
      WHERE m.available_at <= %(now)b AND l.lock_end <= %(now)b
    )
  )
);

-- name: take_messages
-- A statement of its own behind the claim, so that it sees what was committed before the lock.
WITH taken AS (
  UPDATE messages SET attempt_count = attempt_count + 1
  WHERE run_no = ANY(%(runs)b::int8[]) AND available_at <= %(now)b
  RETURNING id, run_no, text, attempt_count
), grouped AS (
  SELECT
    run_no, array_agg(id) AS ids, array_agg(text ORDER BY id) AS texts,
    array_agg(attempt_count ORDER BY id) AS counts
  FROM taken GROUP BY run_no
), noted AS (
  UPDATE run_locks l SET messages = g.ids FROM grouped g WHERE l.run_no = g.run_no
)
SELECT r.no, r.run_id, r.flow_id, r.flow_type, r.state, r.version, g.texts, g.counts
FROM grouped g JOIN runs r ON r.no = g.run_no;

-- name: run_by_id
SELECT run_id, flow_id, flow_type, status, version, state FROM runs WHERE run_id = %(run_id)b;

-- name: newest_run
SELECT run_id, flow_id, flow_type, status, version, state
FROM runs WHERE flow_id = %(flow_id)b ORDER BY no DESC LIMIT 1;

-- name: list_runs
SELECT run_id, flow_id, flow_type, status, version, state
FROM runs
WHERE %(before)b = ''::bytea OR no < (SELECT b.no FROM runs b WHERE b.run_id = %(before)b)
ORDER BY no DESC LIMIT %(limit)b;

-- name: list_runs_of_status
SELECT run_id, flow_id, flow_type, status, version, state
FROM runs
WHERE status = %(status)b
  AND (%(before)b = ''::bytea OR no < (SELECT b.no FROM runs b WHERE b.run_id = %(before)b))
ORDER BY no DESC LIMIT %(limit)b;

-- name: read_events
SELECT e.text FROM runs r JOIN events e ON e.run_no = r.no
WHERE r.run_id = %(run_id)b AND e.seq > %(after)b
ORDER BY e.seq;

-- name: queue_depths
SELECT
  (SELECT count(*) FROM messages),
  (SELECT count(*) FROM work_items),
  (SELECT count(*) FROM work_items WHERE token IS NOT NULL AND lock_end > %(now)b);
