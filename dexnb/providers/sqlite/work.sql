-- name: delete_work
DELETE FROM work_items WHERE id IN (SELECT value FROM json_each(:rows));

-- name: insert_work
-- An item of a run that does not exist has no number and is refused by the table.
INSERT INTO work_items (
  run_no, step_execution_id, flow_type, handler, available_at, attempt, first_attempt_at,
  checkpoint, payload
)
SELECT
  r.no, v.value ->> 1, v.value ->> 2, v.value ->> 3, max(v.value ->> 4, :now), v.value ->> 5,
  v.value ->> 6, v.value ->> 7, v.value ->> 8
FROM json_each(:rows) v LEFT JOIN runs r ON r.run_id = v.value ->> 0;

-- name: insert_taken_work
INSERT INTO work_items (
  id, run_no, step_execution_id, flow_type, handler, available_at, attempt, first_attempt_at,
  checkpoint, payload, token, lock_end, owner, deliveries
)
SELECT
  v.value ->> 0, v.value ->> 1, v.value ->> 2, v.value ->> 3, v.value ->> 4, :now, v.value ->> 5,
  v.value ->> 6, v.value ->> 7, v.value ->> 8, v.value ->> 9, v.value ->> 10, :owner, 1
FROM json_each(:rows) v;

-- name: cancel_work
DELETE FROM work_items
WHERE id IN (
  SELECT w.id
  FROM json_each(:rows) v
  CROSS JOIN work_items w ON w.run_no = v.value ->> 0 AND w.step_execution_id = v.value ->> 1
);

-- name: empty_work_of_closed
DELETE FROM work_items
WHERE run_no IN (SELECT value FROM json_each(:rows));

-- name: return_work
UPDATE work_items SET
  token = NULL,
  lock_end = NULL,
  owner = NULL,
  available_at = max(available_at, v.value ->> 1),
  deliveries = max(0, deliveries - (v.value ->> 2))
FROM json_each(:rows) v
WHERE work_items.id = v.value ->> 0;

-- name: renew_work
UPDATE work_items SET lock_end = v.value ->> 1
FROM json_each(:rows) v
WHERE work_items.id = v.value ->> 0;

-- name: record_beats
UPDATE work_items SET checkpoint = v.value ->> 1
FROM json_each(:rows) v
WHERE work_items.id = v.value ->> 0;

-- name: free_expired_work
UPDATE work_items SET token = NULL, lock_end = NULL, owner = NULL
WHERE token IS NOT NULL AND lock_end <= :lease;

-- name: ready_work
-- At most `limit` items of each handler are looked at, however many wait.
SELECT
  (
    SELECT json_group_array(json_array(
      id, run_id, flow_id, flow_type, handler, step_execution_id, payload, attempt, deliveries,
      checkpoint, first_attempt_at
    ))
    FROM (
      SELECT w.*, r.run_id, r.flow_id
      FROM json_each(:handlers) h
      CROSS JOIN work_items w
      CROSS JOIN runs r ON r.no = w.run_no
      WHERE w.id IN (
        SELECT f.id FROM work_items f INDEXED BY work_free
        WHERE f.handler = h.value AND f.token IS NULL AND f.available_at <= :now
        ORDER BY f.available_at, f.id
        LIMIT :limit
      )
      ORDER BY w.available_at, w.id
      LIMIT :limit
    )
  ),
  EXISTS (SELECT 1 FROM work_items WHERE token IS NOT NULL AND lock_end <= :lease);

-- name: lock_work
UPDATE work_items SET
  token = v.value ->> 1,
  lock_end = v.value ->> 2,
  owner = :owner,
  deliveries = deliveries + 1,
  first_attempt_at = v.value ->> 3
FROM json_each(:rows) v
WHERE work_items.id = v.value ->> 0;

-- name: next_work
SELECT
  min((
    SELECT w.available_at FROM work_items w INDEXED BY work_free
    WHERE w.handler = h.value AND w.token IS NULL
    ORDER BY w.available_at LIMIT 1
  )),
  (SELECT min(lock_end) FROM work_items WHERE token IS NOT NULL)
FROM json_each(:handlers) h;
