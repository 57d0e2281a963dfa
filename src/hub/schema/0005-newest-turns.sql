-- A search for a common word goes through the newest turns that the person may read, by the indexes of `turns`, and looks
-- into the texts of each. So texts and messages need no indexes by time, repository and person of their own, into which
-- every message was written three times.

SET LOCAL search_path = backtrail;

DROP INDEX messages_started_at_session_id_number_idx, messages_repository_id_idx, messages_person_id_idx,
  turn_texts_started_at_session_id_number_idx, turn_texts_repository_id_idx, turn_texts_person_id_idx,
  turns_repository_id_started_at_idx, turns_person_id_started_at_idx;
-- In the whole order, or PostgreSQL reads the turns of everybody in that order in search of one person's.
CREATE INDEX ON turns (repository_id, started_at DESC, session_id DESC, number DESC);
CREATE INDEX ON turns (person_id, started_at DESC, session_id DESC, number DESC);

-- The number of rows of a table as it was last counted; 0 if that is unknown, or if the table is on another server.
CREATE FUNCTION known_rows(of_table regclass) RETURNS double precision
LANGUAGE sql STABLE SET search_path = backtrail
AS $$ SELECT CASE relkind WHEN 'r' THEN greatest(reltuples, 0) ELSE 0 END FROM pg_class WHERE oid = of_table $$;

-- A query for the newest turns of a month, at most so many. Where rights to a few repositories leave few of all turns,
-- the newest ones of each are merged; otherwise all turns are read in order of time.
CREATE FUNCTION newest_turns(of_table regclass, rights integer[], filter text, expected double precision, most integer)
RETURNS text
LANGUAGE plpgsql STABLE SET search_path = backtrail
AS $$
DECLARE
  newest_first text := 'ORDER BY started_at DESC, session_id DESC, number DESC LIMIT ' || most;
  -- Each part that is merged reads about so many rows before the first one is known.
  merged double precision := 32 * (cardinality(rights) + 1) + most;
  parts text[];
BEGIN
  IF filter <> '' OR cardinality(rights) > 200 OR most * known_rows(of_table) <= expected * merged THEN
    RETURN format('SELECT session_id, number, started_at FROM %s WHERE (person_id = %L::integer OR repository_id = ANY (%L::integer[])) %s %s',
      of_table, me(), rights, filter, newest_first);
  END IF;
  SELECT array_agg(format('(SELECT session_id, number, started_at FROM %s WHERE %s %s)', of_table, part, newest_first)) INTO parts
  FROM (
    SELECT format('person_id = %L::integer AND repository_id <> ALL (%L::integer[])', me(), rights) AS part
    UNION ALL SELECT format('repository_id = %s', id) FROM unnest(rights) id
  ) one;
  RETURN format('SELECT * FROM (%s) merged %s', array_to_string(parts, ' UNION ALL '), newest_first);
END
$$;

DROP FUNCTION newest_matching(regclass, tsquery, text, text, integer);

-- The newest matching turns of one month in `turn_texts` or `messages`. Looking a word up in the full-text index reads
-- every row that has it. Going through the newest turns reads all rows of each, and ends when there are enough: that is
-- less for a common word, and for a person who may read few turns.
CREATE FUNCTION newest_matching(
  of_month text, of_table text, words tsquery, rights integer[], filter text, agent_filter text, most integer)
RETURNS TABLE (session_id bigint, number integer, "position" integer, started_at timestamptz)
LANGUAGE plpgsql SET search_path = backtrail
AS $$
DECLARE
  texts regclass := to_regclass(of_table || '_' || of_month);
  turns regclass := to_regclass('turns_' || of_month);
  month date := CASE of_month WHEN 'other' THEN date '1970-01-01' ELSE to_date(of_month, 'YYYYMM') END;
  place text := CASE of_table WHEN 'messages' THEN 'position' ELSE '-1' END;
  visible text := format('(person_id = %L::integer OR repository_id = ANY (%L::integer[])) %s', me(), rights, filter);
  all_turns double precision := known_rows(turns);
  all_texts double precision := known_rows(texts);
  with_words double precision;
  readable_turns double precision;
  -- Numbers of turns: those that cost as much as the full-text index, those that are enough, those to go through.
  as_much double precision;
  enough double precision;
  through double precision := 0;
  found_rows integer := 0;
  is_all boolean := false;
BEGIN
  IF all_turns > 0 AND all_texts > 0 THEN
    with_words := greatest(1, expected_rows(format('SELECT FROM %s WHERE search @@ %L::tsquery', texts, words)));
    readable_turns := expected_rows(format('SELECT FROM %s WHERE %s', turns, visible));
    as_much := with_words * all_turns / all_texts;
    enough := most * greatest(1, all_turns / with_words);
    -- Estimates are rough, so there is some room.
    IF enough <= as_much THEN through := least(as_much, 16 * enough); END IF;
    IF readable_turns <= greatest(200, least(10000, as_much)) THEN
      through := greatest(through, 200, ceil(least(10000, as_much)));
      EXECUTE format('SELECT count(*) <= %s FROM (SELECT FROM %s WHERE %s LIMIT %s) readable',
        through::integer, turns, visible, through::integer + 1) INTO is_all;
      IF NOT is_all AND enough > as_much THEN through := 0; END IF;
    END IF;
  END IF;
  IF through > 0 THEN
    RETURN QUERY EXECUTE format(
      'SELECT v.session_id, v.number, x.place, v.started_at
       FROM (%s) v CROSS JOIN LATERAL (
         SELECT min(%s) AS place FROM %s WHERE month = %L AND session_id = v.session_id AND number = v.number AND search @@ %L::tsquery
       ) x WHERE x.place IS NOT NULL %s
       ORDER BY v.started_at DESC, v.session_id DESC, v.number DESC LIMIT %s',
      newest_turns(turns, rights, filter, readable_turns, ceil(through)::integer), place, texts, month, words, agent_filter, most);
    GET DIAGNOSTICS found_rows = ROW_COUNT;
    IF is_all OR found_rows >= most THEN RETURN; END IF;
  END IF;
  RETURN QUERY EXECUTE format(
    'SELECT DISTINCT ON (started_at, session_id, number) session_id, number, place, started_at
     FROM (SELECT session_id, number, %s AS place, started_at FROM %s v WHERE search @@ %L::tsquery AND %s %s OFFSET 0) found
     ORDER BY started_at DESC, session_id DESC, number DESC, place LIMIT %s',
    place, texts, words, visible, agent_filter, most);
END
$$;

-- As before, but with rights and filters apart from each other.
CREATE OR REPLACE FUNCTION matching(words tsquery, wanted_repository text, wanted_person text, wanted_agent text, most integer)
RETURNS TABLE (month date, session_id bigint, number integer, "position" integer)
LANGUAGE plpgsql SECURITY DEFINER ROWS 20 SET search_path = backtrail
AS $$
DECLARE
  readable_prompts integer[] := readable(1);
  readable_messages integer[] := readable(2);
  filter text := '';
  agent_filter text := '';
  left_over integer := most;
  found_rows integer := 0;
  name text;
BEGIN
  IF wanted_repository IS NOT NULL THEN
    filter := filter || format(' AND repository_id = %L::integer', (SELECT id FROM repositories r WHERE r.name = wanted_repository));
  END IF;
  IF wanted_person IS NOT NULL THEN
    filter := filter || format(' AND person_id = %L::integer', (SELECT id FROM people p WHERE p.name = wanted_person));
  END IF;
  IF wanted_agent IS NOT NULL THEN
    agent_filter := format(' AND (SELECT s.agent FROM sessions s WHERE s.id = v.session_id) = %L', wanted_agent);
  END IF;
  FOR month, name IN
    SELECT CASE suffix WHEN 'other' THEN date '1970-01-01' ELSE to_date(suffix, 'YYYYMM') END, suffix
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid, substring(c.relname FROM '[^_]+$') suffix
    WHERE i.inhparent = 'turn_texts'::regclass ORDER BY 1 DESC
  LOOP
    RETURN QUERY
      SELECT matching.month, h.session_id, h.number, min(h.position) FROM (
        SELECT * FROM newest_matching(name, 'turn_texts', words, readable_prompts, filter, agent_filter, left_over)
        UNION ALL
        SELECT * FROM newest_matching(name, 'messages', words, readable_messages, filter, agent_filter, left_over)
      ) h
      GROUP BY h.session_id, h.number ORDER BY max(h.started_at) DESC, h.session_id DESC, h.number DESC LIMIT left_over;
    GET DIAGNOSTICS found_rows = ROW_COUNT;
    left_over := left_over - found_rows;
    EXIT WHEN left_over <= 0;
  END LOOP;
END
$$;

REVOKE EXECUTE ON FUNCTION known_rows, newest_turns, newest_matching FROM PUBLIC;
