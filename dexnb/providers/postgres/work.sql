-- name: delete_work
DELETE FROM work_items WHERE id = ANY(%(c0)b::int8[]);

-- name: insert_work
INSERT INTO work_items (
  run_no, step_execution_id, flow_type, handler, available_at, attempt, first_attempt_at,
  checkpoint, payload
)
SELECT
  v.run_no, v.step_execution_id, v.flow_type, v.handler, v.available_at, v.attempt,
  v.first_attempt_at, v.checkpoint, v.payload
FROM unnest(
  %(c0)b::int8[], %(c1)b::bytea[], %(c2)b::bytea[], %(c3)b::bytea[], %(c4)b::int8[],
  %(c5)b::int8[], %(c6)b::float8[], %(c7)b::bytea[], %(c8)b::bytea[]
) WITH ORDINALITY AS v (
  run_no, step_execution_id, flow_type, handler, available_at, attempt, first_attempt_at,
  checkpoint, payload, place
)
ORDER BY v.place;

-- name: cancel_work
DELETE FROM work_items w
USING unnest(%(c0)b::int8[], %(c1)b::bytea[]) AS v (run_no, step_execution_id)
WHERE w.run_no = v.run_no AND w.step_execution_id = v.step_execution_id;

-- name: return_work
UPDATE work_items w SET
  token = NULL,
  lock_end = NULL,
  available_at = greatest(w.available_at, v.due),
  deliveries = greatest(0, w.deliveries - v.back)
FROM unnest(%(c0)b::int8[], %(c1)b::int8[], %(c2)b::int8[]) AS v (id, due, back)
WHERE w.id = v.id;

-- name: renew_work
UPDATE work_items w SET lock_end = v.lock_end
FROM unnest(%(c0)b::int8[], %(c1)b::int8[]) AS v (id, lock_end)
WHERE w.id = v.id;

-- name: record_beats
UPDATE work_items w SET checkpoint = v.checkpoint
FROM unnest(%(c0)b::int8[], %(c1)b::bytea[]) AS v (id, checkpoint)
WHERE w.id = v.id;

-- name: free_expired_work
UPDATE work_items SET token = NULL, lock_end = NULL
WHERE id IN (
  SELECT id FROM work_items WHERE token IS NOT NULL AND lock_end <= %(now)b
  FOR UPDATE SKIP LOCKED
);

-- name: claim_work
WITH free AS MATERIALIZED (
  SELECT id FROM work_items
  WHERE token IS NULL AND available_at <= %(now)b AND handler = ANY(%(handlers)b::bytea[])
  ORDER BY available_at, id
  LIMIT %(limit)b
  FOR UPDATE SKIP LOCKED
)
UPDATE work_items w SET
  token = concat('w', w.id, %(suffix)s::text),
  lock_end = %(end)b,
  deliveries = w.deliveries + 1,
  first_attempt_at = coalesce(w.first_attempt_at, %(began)b)
FROM free, runs r
WHERE w.id = free.id AND r.no = w.run_no
RETURNING
  w.available_at, w.id, w.token, r.run_id, r.flow_id, w.flow_type, w.handler,
  w.step_execution_id, w.payload, w.attempt, w.deliveries, w.checkpoint, w.first_attempt_at;

-- name: next_work
SELECT least(
  (
    SELECT available_at FROM work_items
    WHERE token IS NULL AND handler = ANY(%(handlers)b::bytea[])
    ORDER BY available_at, id LIMIT 1
  ),
  (SELECT min(lock_end) FROM work_items WHERE token IS NOT NULL)
);
