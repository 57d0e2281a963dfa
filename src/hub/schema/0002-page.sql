-- Signing in to the hub's page, and longer pending lists of the full-text indexes. docs/formats/hub.md documents the tables.

SET LOCAL search_path = backtrail;

-- Links that sign in one browser, once, for a few minutes.
CREATE TABLE links (
  digest bytea PRIMARY KEY,
  device_id text NOT NULL REFERENCES devices,
  expires_at timestamptz NOT NULL
);

-- Browsers that are signed in. Each belongs to the device whose link it used, and ends when that one is revoked.
CREATE TABLE browsers (
  digest bytea PRIMARY KEY,
  device_id text NOT NULL REFERENCES devices,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL
);
CREATE INDEX ON browsers (device_id);

-- The newest turns of all repositories.
CREATE INDEX ON turns (started_at DESC, session_id DESC, number DESC);

-- New words wait in a list before they go into the index, and the longer the list, the fewer pages a word costs. Every
-- search reads the whole list; hubs empty it when sending pauses.
CREATE FUNCTION lengthen_pending_lists(of_table regclass) RETURNS void
LANGUAGE plpgsql SET search_path = backtrail
AS $$
DECLARE
  leaf regclass;
BEGIN
  FOR leaf IN
    SELECT i.indexrelid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam
    WHERE i.indrelid = of_table AND a.amname = 'gin' AND c.relkind = 'i'
  LOOP
    EXECUTE format('ALTER INDEX %s SET (gin_pending_list_limit = 16384)', leaf);
  END LOOP;
END
$$;

SELECT lengthen_pending_lists(inhrelid) FROM pg_inherits
  WHERE inhparent IN ('turn_texts'::regclass, 'messages'::regclass);

CREATE OR REPLACE FUNCTION ensure_month(wanted date) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = backtrail
AS $$
DECLARE
  parent text;
  partition text;
BEGIN
  IF wanted <> date_trunc('month', wanted) OR wanted < '2020-01-01' OR wanted > now() + interval '2 months' THEN
    RAISE EXCEPTION 'There is no partition for %', wanted;
  END IF;
  PERFORM pg_advisory_xact_lock(hashtext('backtrail.month'));
  FOREACH parent IN ARRAY ARRAY['turns', 'turn_texts', 'messages'] LOOP
    partition := parent || '_' || to_char(wanted, 'YYYYMM');
    IF to_regclass('backtrail.' || partition) IS NULL THEN
      EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)',
        partition, parent, wanted, wanted + interval '1 month');
      PERFORM lengthen_pending_lists(to_regclass('backtrail.' || partition));
    END IF;
  END LOOP;
END
$$;

-- Moves what waits into the indexes of these months. Returns the number of pages that it emptied.
CREATE FUNCTION empty_pending_lists(months date[]) RETURNS bigint
LANGUAGE sql SET search_path = backtrail
AS $$
  SELECT coalesce(sum(gin_clean_pending_list(i.indexrelid)), 0)::bigint
  FROM unnest(months) m
  CROSS JOIN unnest(ARRAY['turn_texts', 'messages']) parent
  JOIN pg_index i ON i.indrelid = to_regclass('backtrail.' || parent || '_' || CASE
    WHEN m = '1970-01-01' THEN 'other' ELSE to_char(m, 'YYYYMM') END)
  JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam
  WHERE a.amname = 'gin'
$$;

REVOKE EXECUTE ON FUNCTION lengthen_pending_lists, empty_pending_lists FROM PUBLIC;
