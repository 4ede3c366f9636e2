-- name: admit
-- Which tokens are live, which flow ids are taken, how full Streams and telemetry are, and which
-- numbers the newest run and the newest work item have.
SELECT
  (
    SELECT json_group_array(v.key)
    FROM json_each(:work) v CROSS JOIN work_items w ON w.id = v.value ->> 0
    WHERE w.token = v.value ->> 1 AND w.lock_end > :lease
  ),
  (
    SELECT json_group_array(json_array(v.key, r.run_id, r.version))
    FROM json_each(:turns) v
    CROSS JOIN run_locks l ON l.run_no = v.value ->> 0
    CROSS JOIN runs r ON r.no = l.run_no
    WHERE l.token = v.value ->> 1 AND l.lock_end > :lease
  ),
  (
    SELECT json_group_array(json_array(v.key, r.no, r.run_id, r.version))
    FROM json_each(:ended) v
    CROSS JOIN work_items w ON w.id = v.value ->> 0
    CROSS JOIN runs r ON r.no = w.run_no
    WHERE w.token = v.value ->> 1 AND w.lock_end > :lease AND r.status = 'RUNNING'
      AND NOT EXISTS (SELECT 1 FROM run_locks l WHERE l.run_no = r.no)
      AND NOT EXISTS (
        SELECT 1 FROM messages m
        WHERE m.run_no = r.no AND m.held = 0 AND m.available_at <= :now
      )
  ),
  (
    SELECT json_group_array(json_array(v.key, r.run_id))
    FROM json_each(:starts) v CROSS JOIN runs r ON r.flow_id = v.value
    WHERE r.status = 'RUNNING'
  ),
  (
    SELECT json_group_array(json_array(
      v.key,
      (
        SELECT m.start + m.size FROM stream_messages m
        WHERE m.flow_type = v.value ->> 0 AND m.stream = v.value ->> 1
        ORDER BY m.position DESC LIMIT 1
      ),
      (
        SELECT m.start FROM stream_messages m
        WHERE m.flow_type = v.value ->> 0 AND m.stream = v.value ->> 1
        ORDER BY m.position LIMIT 1
      )
    ))
    FROM json_each(:streams) v
  ),
  (
    SELECT json_group_array(json_array(
      v.key,
      (
        SELECT t.start + t.size FROM telemetry t WHERE t.run_id = v.value
        ORDER BY t.start DESC, t.id DESC LIMIT 1
      )
    ))
    FROM json_each(:telemetry) v
  ),
  (SELECT max(no) FROM runs),
  (SELECT max(id) FROM work_items);

-- name: read_meta
SELECT json_group_object(key, value) FROM meta;

-- name: write_meta
INSERT INTO meta (key, value)
SELECT v.value ->> 0, v.value ->> 1 FROM json_each(:rows) v WHERE true
ON CONFLICT (key) DO UPDATE SET value = excluded.value;

-- name: end_long_leases_of_work
UPDATE work_items SET lock_end = :latest WHERE token IS NOT NULL AND lock_end > :latest;

-- name: end_long_leases_of_runs
UPDATE run_locks SET lock_end = :latest WHERE lock_end > :latest;

-- name: add_owner
INSERT INTO owners (owner, boot_id, pid) VALUES (:owner, :boot_id, :pid);

-- name: owners
SELECT json_group_array(json_array(no, owner, boot_id)) FROM owners;

-- name: free_work_of_owners
UPDATE work_items SET token = NULL, lock_end = NULL, owner = NULL
WHERE token IS NOT NULL AND owner IN (SELECT value FROM json_each(:rows));

-- name: free_messages_of_owners
UPDATE messages SET held = 0
WHERE id IN (
  SELECT m.value FROM run_locks l CROSS JOIN json_each(l.messages) m
  WHERE l.owner IN (SELECT value FROM json_each(:rows))
);

-- name: free_runs_of_owners
DELETE FROM run_locks WHERE owner IN (SELECT value FROM json_each(:rows));

-- name: remove_owners
DELETE FROM owners WHERE no IN (SELECT value FROM json_each(:rows));

-- name: queue_depths
SELECT json_array(
  (SELECT count(*) FROM messages),
  (SELECT count(*) FROM work_items),
  (SELECT count(*) FROM work_items WHERE token IS NOT NULL AND lock_end > :lease)
);
