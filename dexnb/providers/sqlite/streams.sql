-- name: insert_stream_messages
INSERT INTO stream_messages (
  flow_type, stream, flow_id, run_id, source, wall, start, size, payload
)
SELECT
  v.value ->> 0, v.value ->> 1, v.value ->> 2, v.value ->> 3, v.value ->> 4, v.value ->> 5,
  v.value ->> 6, v.value ->> 7, v.value ->> 8
FROM json_each(:rows) v;

-- name: stream_starts
SELECT json_group_array(start)
FROM (
  SELECT start FROM stream_messages
  WHERE flow_type = :flow_type AND stream = :stream
  ORDER BY position
);

-- name: trim_streams
DELETE FROM stream_messages
WHERE position IN (
  SELECT m.position
  FROM json_each(:rows) v
  CROSS JOIN stream_messages m ON m.flow_type = v.value ->> 0 AND m.stream = v.value ->> 1
  WHERE m.start < v.value ->> 2
);

-- name: read_stream
SELECT json_group_array(
  json_array(position, flow_type, stream, flow_id, run_id, source, payload, wall)
)
FROM (
  SELECT * FROM stream_messages
  WHERE flow_type = :flow_type AND stream = :stream AND position > :after
    AND (:flow_id = '' OR flow_id = :flow_id)
  ORDER BY position LIMIT :limit
);

-- name: insert_telemetry
INSERT INTO telemetry (run_id, first_seq, last_seq, start, size, text)
SELECT
  v.value ->> 0, v.value ->> 1, v.value ->> 2, v.value ->> 3, v.value ->> 4, v.value ->> 5
FROM json_each(:rows) v;

-- name: trim_telemetry
DELETE FROM telemetry
WHERE id IN (
  SELECT t.id
  FROM json_each(:rows) v CROSS JOIN telemetry t ON t.run_id = v.value ->> 0
  WHERE t.start < v.value ->> 1
);

-- name: read_telemetry
SELECT json_group_array(json_array(run_id, first_seq, last_seq, text))
FROM (SELECT * FROM telemetry WHERE run_id = :run_id ORDER BY start, id);
