-- name: insert_stream_messages
INSERT INTO stream_messages (
  flow_type, stream, flow_id, run_id, source, wall, start, payload
)
SELECT
  v.flow_type, v.stream, v.flow_id, v.run_id, v.source, v.wall, v.start, v.payload
FROM unnest(
  %(c0)b::bytea[], %(c1)b::bytea[], %(c2)b::bytea[], %(c3)b::bytea[], %(c4)b::bytea[],
  %(c5)b::float8[], %(c6)b::int8[], %(c7)b::bytea[]
) WITH ORDINALITY AS v (flow_type, stream, flow_id, run_id, source, wall, start, payload, place)
ORDER BY v.place;

-- name: trim_streams
DELETE FROM stream_messages m
USING unnest(%(c0)b::bytea[], %(c1)b::bytea[], %(c2)b::int8[]) AS v (flow_type, stream, start)
WHERE m.flow_type = v.flow_type AND m.stream = v.stream AND m.start < v.start;

-- name: note_streams
UPDATE streams s SET
  head = v.head,
  first = coalesce(
    (
      SELECT m.start FROM stream_messages m
      WHERE m.flow_type = v.flow_type AND m.stream = v.stream
      ORDER BY m.position LIMIT 1
    ),
    v.head
  )
FROM unnest(%(c0)b::bytea[], %(c1)b::bytea[], %(c2)b::int8[]) AS v (flow_type, stream, head)
WHERE s.flow_type = v.flow_type AND s.stream = v.stream;

-- name: read_stream
SELECT position, flow_type, stream, flow_id, run_id, source, payload, wall
FROM stream_messages
WHERE flow_type = %(flow_type)b AND stream = %(stream)b AND position > %(after)b
  AND (%(flow_id)b = ''::bytea OR flow_id = %(flow_id)b)
ORDER BY position LIMIT %(limit)b;

-- name: insert_telemetry
INSERT INTO telemetry (run_id, first_seq, last_seq, start, text)
SELECT v.run_id, v.first_seq, v.last_seq, v.start, v.text
FROM unnest(%(c0)b::bytea[], %(c1)b::int8[], %(c2)b::int8[], %(c3)b::int8[], %(c4)b::bytea[])
  WITH ORDINALITY AS v (run_id, first_seq, last_seq, start, text, place)
ORDER BY v.place;

-- name: trim_telemetry
DELETE FROM telemetry t
USING unnest(%(c0)b::bytea[], %(c1)b::int8[]) AS v (run_id, start)
WHERE t.run_id = v.run_id AND t.start < v.start;

-- name: read_telemetry
SELECT run_id, first_seq, last_seq, text
FROM telemetry WHERE run_id = %(run_id)b ORDER BY start, id;
