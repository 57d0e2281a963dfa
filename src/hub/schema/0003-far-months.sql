-- Lets months of messages lie on another server: a partition by postgres_fdw is refused while the table above it has a
-- unique index. So each month has its own; rows are always stored by month, after those that they replace are deleted.

SET LOCAL search_path = backtrail;

ALTER TABLE messages DROP CONSTRAINT messages_pkey;

DO $$
DECLARE
  leaf regclass;
BEGIN
  FOR leaf IN SELECT inhrelid FROM pg_inherits WHERE inhparent = 'messages'::regclass LOOP
    EXECUTE format('ALTER TABLE %s ADD PRIMARY KEY (month, session_id, number, position)', leaf);
  END LOOP;
END
$$;

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
      IF parent = 'messages' THEN
        EXECUTE format('ALTER TABLE %I ADD PRIMARY KEY (month, session_id, number, position)', partition);
      END IF;
      PERFORM lengthen_pending_lists(to_regclass('backtrail.' || partition));
    END IF;
  END LOOP;
END
$$;
