-- name: server_time
-- The one look at the server's clock, when an engine comes. Where that was set back meanwhile, time
-- goes on from what another engine has seen.
SELECT greatest(
  extract(epoch FROM clock_timestamp())::float8,
  (SELECT max(seen) / 1000000.0 FROM engines)::float8
);

-- name: server_version
SELECT current_setting('server_version_num')::int8;

-- name: schema_exists
SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = %(schema)s);

-- name: one_at_a_time
SELECT pg_advisory_xact_lock(hashtextextended(concat('dexnb.', %(schema)s::text), 0));

-- name: schema_content
SELECT
  to_regclass(concat(quote_ident(%(schema)s), '.dexnb_versions'))::text,
  (
    SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = %(schema)s
  );

-- name: make_versions
CREATE TABLE dexnb_versions (version int8 PRIMARY KEY);

-- name: version
SELECT max(version) FROM dexnb_versions;

-- name: add_version
INSERT INTO dexnb_versions (version) VALUES (%(version)b);

-- name: add_engine
INSERT INTO engines (owner, batch, seen) VALUES (%(owner)b, 0, %(now)b) RETURNING no;

-- name: forget_engines
-- Killed ones leave a row; those that live write theirs with every batch.
DELETE FROM engines WHERE seen < %(before)b;

-- name: remove_engine
DELETE FROM engines WHERE no = %(engine)b;

-- name: newest_batch
SELECT coalesce(max(batch), 0) FROM engines WHERE no = %(engine)b;

-- name: end_former_backends
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE application_name = %(application)s AND pid <> pg_backend_pid() AND datname = current_database();

-- name: former_backends
SELECT count(*) FROM pg_stat_activity
WHERE application_name = %(application)s AND pid <> pg_backend_pid() AND datname = current_database();

-- name: is_alive
SELECT 1;
