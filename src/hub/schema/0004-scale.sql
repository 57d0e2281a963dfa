-- Keeps answers quick in an index of millions of turns: counts by day are kept instead of counted, and a search for a
-- common word reads the newest rows instead of all that have it.

SET LOCAL search_path = backtrail;

-- One row per day (UTC), repository, agent and person. Triggers on `turns` keep it.
CREATE TABLE day_counts (
  day date NOT NULL,
  repository_id integer NOT NULL,
  agent text NOT NULL,
  person_id integer,
  turns bigint NOT NULL,
  files bigint NOT NULL,
  undone bigint NOT NULL,
  input_tokens numeric NOT NULL,
  output_tokens numeric NOT NULL,
  cache_read_tokens numeric NOT NULL,
  cache_write_tokens numeric NOT NULL,
  -- Exact, so that what is taken away leaves no remainder; and the number of turns whose cost is known.
  usd numeric NOT NULL,
  usd_turns bigint NOT NULL,
  UNIQUE NULLS NOT DISTINCT (day, repository_id, agent, person_id)
);

-- The counts of some turns, as `day_counts` has them.
CREATE VIEW counted AS
  SELECT (started_at AT TIME ZONE 'UTC')::date AS day, repository_id, agent, person_id,
    count(*) AS turns, sum(file_count) AS files, count(*) FILTER (WHERE status <> 'kept') AS undone,
    coalesce(sum(input_tokens), 0) AS input_tokens, coalesce(sum(output_tokens), 0) AS output_tokens,
    coalesce(sum(cache_read_tokens), 0) AS cache_read_tokens, coalesce(sum(cache_write_tokens), 0) AS cache_write_tokens,
    coalesce(sum(usd::numeric), 0) AS usd, count(usd) AS usd_turns
  FROM turns GROUP BY 1, 2, 3, 4;

INSERT INTO day_counts SELECT * FROM counted;

CREATE FUNCTION add_to_day_counts() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = backtrail
AS $$
BEGIN
  INSERT INTO day_counts AS c
    SELECT (started_at AT TIME ZONE 'UTC')::date, repository_id, agent, person_id,
      count(*), sum(file_count), count(*) FILTER (WHERE status <> 'kept'),
      coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0),
      coalesce(sum(cache_read_tokens), 0), coalesce(sum(cache_write_tokens), 0),
      coalesce(sum(usd::numeric), 0), count(usd)
    FROM added GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
    ON CONFLICT (day, repository_id, agent, person_id) DO UPDATE SET
      turns = c.turns + excluded.turns, files = c.files + excluded.files, undone = c.undone + excluded.undone,
      input_tokens = c.input_tokens + excluded.input_tokens, output_tokens = c.output_tokens + excluded.output_tokens,
      cache_read_tokens = c.cache_read_tokens + excluded.cache_read_tokens,
      cache_write_tokens = c.cache_write_tokens + excluded.cache_write_tokens,
      usd = c.usd + excluded.usd, usd_turns = c.usd_turns + excluded.usd_turns;
  RETURN NULL;
END
$$;

CREATE FUNCTION take_from_day_counts() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = backtrail
AS $$
BEGIN
  WITH gone AS (
    SELECT (started_at AT TIME ZONE 'UTC')::date AS day, repository_id, agent, person_id,
      count(*) AS turns, sum(file_count) AS files, count(*) FILTER (WHERE status <> 'kept') AS undone,
      coalesce(sum(input_tokens), 0) AS input_tokens, coalesce(sum(output_tokens), 0) AS output_tokens,
      coalesce(sum(cache_read_tokens), 0) AS cache_read_tokens, coalesce(sum(cache_write_tokens), 0) AS cache_write_tokens,
      coalesce(sum(usd::numeric), 0) AS usd, count(usd) AS usd_turns
    FROM removed GROUP BY 1, 2, 3, 4
  )
  UPDATE day_counts c SET
    turns = c.turns - gone.turns, files = c.files - gone.files, undone = c.undone - gone.undone,
    input_tokens = c.input_tokens - gone.input_tokens, output_tokens = c.output_tokens - gone.output_tokens,
    cache_read_tokens = c.cache_read_tokens - gone.cache_read_tokens,
    cache_write_tokens = c.cache_write_tokens - gone.cache_write_tokens,
    usd = c.usd - gone.usd, usd_turns = c.usd_turns - gone.usd_turns
  FROM gone
  WHERE c.day = gone.day AND c.repository_id = gone.repository_id AND c.agent = gone.agent
    AND c.person_id IS NOT DISTINCT FROM gone.person_id;
  DELETE FROM day_counts c USING removed r
    WHERE c.day = (r.started_at AT TIME ZONE 'UTC')::date AND c.repository_id = r.repository_id AND c.agent = r.agent
      AND c.person_id IS NOT DISTINCT FROM r.person_id AND c.turns = 0;
  RETURN NULL;
END
$$;

-- In this order, an update never lets a row of counts go that it still needs: triggers run by name.
CREATE TRIGGER counts_1 AFTER INSERT ON turns
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION add_to_day_counts();
CREATE TRIGGER counts_2 AFTER UPDATE ON turns
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION add_to_day_counts();
CREATE TRIGGER counts_3 AFTER UPDATE ON turns
  REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION take_from_day_counts();
CREATE TRIGGER counts_4 AFTER DELETE ON turns
  REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION take_from_day_counts();

ALTER TABLE day_counts ENABLE ROW LEVEL SECURITY;
CREATE POLICY read ON day_counts FOR SELECT TO backtrail_person
  USING (person_id = (SELECT me()) OR repository_id = ANY ((SELECT readable(0))::integer[]));
GRANT SELECT ON day_counts TO backtrail_person;

CREATE INDEX ON messages (started_at DESC, session_id DESC, number DESC);
CREATE INDEX ON turn_texts (started_at DESC, session_id DESC, number DESC);
-- For people who may read little: few of the rows with a common word are theirs.
CREATE INDEX ON messages (repository_id);
CREATE INDEX ON messages (person_id);
CREATE INDEX ON turn_texts (repository_id);
CREATE INDEX ON turn_texts (person_id);

-- As before, but what is above the level is found by its turns: no index leads from a person to messages.
CREATE OR REPLACE FUNCTION share_repository(wanted text, chosen integer, chosen_at timestamptz) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = backtrail
AS $$
DECLARE
  shared integer;
  current integer;
BEGIN
  PERFORM name_repositories(ARRAY[wanted]);
  SELECT id INTO shared FROM repositories WHERE name = wanted;
  INSERT INTO shares (person_id, repository_id, level, chosen_at)
    VALUES (me(), shared, chosen, least(share_repository.chosen_at, now()))
    ON CONFLICT (person_id, repository_id) DO UPDATE SET level = excluded.level, chosen_at = excluded.chosen_at
    WHERE excluded.chosen_at >= shares.chosen_at;
  SELECT level INTO current FROM shares WHERE person_id = me() AND repository_id = shared;
  IF current < 2 THEN
    DELETE FROM messages m USING turns t
      WHERE t.person_id = me() AND t.repository_id = shared AND t.level > current
        AND m.month = t.month AND m.session_id = t.session_id AND m.number = t.number;
  END IF;
  IF current < 1 THEN
    DELETE FROM turn_texts x USING turns t
      WHERE t.person_id = me() AND t.repository_id = shared AND t.level > current
        AND x.month = t.month AND x.session_id = t.session_id AND x.number = t.number;
  END IF;
  -- Without a digest, the next copy of the turn is stored again even if it is the same as before.
  UPDATE turns SET level = current, digest = '' WHERE person_id = me() AND repository_id = shared AND level > current;
  RETURN current;
END
$$;

-- The number of rows that the planner expects of a statement. PostgreSQL allows no EXPLAIN in a function that is STABLE.
CREATE FUNCTION expected_rows(statement text) RETURNS double precision
LANGUAGE plpgsql SET search_path = backtrail
AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT JSON) ' || statement INTO plan;
  RETURN (plan -> 0 -> 'Plan' ->> 'Plan Rows')::double precision;
END
$$;

-- The newest matching turns of one month, as far as the conditions allow. Rows with rare words are looked up in the
-- full-text index. Those with common words would be too many; they are soon met among the newest rows. `OFFSET 0` keeps
-- the planner from reading all rows in order of time in search of a word that is rarer than it expects.
CREATE FUNCTION newest_matching(of_table regclass, words tsquery, conditions text, place text, most integer)
RETURNS TABLE (session_id bigint, number integer, "position" integer, started_at timestamptz)
LANGUAGE plpgsql SET search_path = backtrail
AS $$
DECLARE
  matching text := format('FROM %s WHERE search @@ %L::tsquery', of_table, words);
  with_words double precision := expected_rows('SELECT ' || matching);
  to_show double precision := expected_rows(format('SELECT %s AND %s', matching, conditions));
  all_rows double precision := (SELECT reltuples FROM pg_class WHERE oid = of_table);
  -- Reading in order of time meets this many rows before there are enough. The estimates are rough.
  is_common boolean := all_rows > 0 AND 4 * most * all_rows / greatest(to_show, 1) < with_words;
BEGIN
  RETURN QUERY EXECUTE format(
    'SELECT DISTINCT ON (started_at, session_id, number) session_id, number, place, started_at
     FROM (SELECT session_id, number, %s AS place, started_at %s AND %s %s) found
     ORDER BY started_at DESC, session_id DESC, number DESC, place LIMIT %s',
    place, matching, conditions, CASE WHEN is_common THEN '' ELSE 'OFFSET 0' END, most);
END
$$;

-- Finds the keys of turns that match, newest month first, until there are enough. The function of one month stays for
-- hubs of the version before, which serve until they are restarted. PostgreSQL uses no full-text index
-- below a policy, because it cannot know that matching reveals nothing, so the policies' own conditions are here.
CREATE FUNCTION matching(words tsquery, wanted_repository text, wanted_person text, wanted_agent text, most integer)
RETURNS TABLE (month date, session_id bigint, number integer, "position" integer)
LANGUAGE plpgsql SECURITY DEFINER ROWS 20 SET search_path = backtrail
AS $$
DECLARE
  visible text := format('(person_id = %L::integer OR repository_id = ANY (%%L::integer[]))', me());
  filter text := '';
  left_over integer := most;
  found_rows integer;
  name text;
BEGIN
  IF wanted_repository IS NOT NULL THEN
    filter := filter || format(' AND repository_id = %L::integer', (SELECT id FROM repositories r WHERE r.name = wanted_repository));
  END IF;
  IF wanted_person IS NOT NULL THEN
    filter := filter || format(' AND person_id = %L::integer', (SELECT id FROM people p WHERE p.name = wanted_person));
  END IF;
  IF wanted_agent IS NOT NULL THEN
    filter := filter || format(' AND (SELECT s.agent FROM sessions s WHERE s.id = session_id) = %L', wanted_agent);
  END IF;
  FOR month, name IN
    SELECT CASE suffix WHEN 'other' THEN date '1970-01-01' ELSE to_date(suffix, 'YYYYMM') END, suffix
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid, substring(c.relname FROM '[^_]+$') suffix
    WHERE i.inhparent = 'turn_texts'::regclass ORDER BY 1 DESC
  LOOP
    RETURN QUERY
      SELECT matching.month, h.session_id, h.number, min(h.position) FROM (
        SELECT * FROM newest_matching(to_regclass('turn_texts_' || name), words, format(visible, readable(1)) || filter, '-1', left_over)
        UNION ALL
        SELECT * FROM newest_matching(to_regclass('messages_' || name), words, format(visible, readable(2)) || filter, 'position', left_over)
      ) h
      GROUP BY h.session_id, h.number ORDER BY max(h.started_at) DESC, h.session_id DESC, h.number DESC LIMIT left_over;
    GET DIAGNOSTICS found_rows = ROW_COUNT;
    left_over := left_over - found_rows;
    EXIT WHEN left_over <= 0;
  END LOOP;
END
$$;

REVOKE EXECUTE ON FUNCTION expected_rows, newest_matching, matching (tsquery, text, text, text, integer),
  add_to_day_counts, take_from_day_counts FROM PUBLIC;
GRANT EXECUTE ON FUNCTION matching (tsquery, text, text, text, integer) TO backtrail_person;
