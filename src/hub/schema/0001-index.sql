-- The shared index: people and their devices, repositories, sessions, and turns by sharing level. docs/formats/hub.md
-- documents every table.
--
-- Turns are in three tables, one per level: `turns` has counts, `turn_texts` prompts and names of files, `messages`
-- the rest of the conversation. So a row that a person may not read is a row, and row-level security can withhold it.

CREATE SCHEMA backtrail;
SET LOCAL search_path = backtrail;

DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'backtrail_person') THEN
    CREATE ROLE backtrail_person NOLOGIN;
  END IF;
  EXECUTE format('GRANT backtrail_person TO %I', current_user);
END
$$;

-- One row. The generation changes when the index is made anew, so that clients send everything again.
CREATE TABLE hub (
  id boolean PRIMARY KEY DEFAULT true CHECK (id),
  generation text NOT NULL DEFAULT replace(gen_random_uuid()::text, '-', '')
);
INSERT INTO hub DEFAULT VALUES;

CREATE TABLE people (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE,
  -- Matches the authors of checkpoints that come from git. Lower case.
  email text UNIQUE,
  role text NOT NULL CHECK (role IN ('admin', 'member', 'reader')),
  -- The level up to which the person may read every repository; null: only those in `grants`.
  reads_all smallint CHECK (reads_all BETWEEN 0 AND 2),
  created_at timestamptz NOT NULL DEFAULT now(),
  removed_at timestamptz
);

CREATE TABLE invitations (
  digest bytea PRIMARY KEY,
  person_id integer NOT NULL REFERENCES people,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  used_at timestamptz
);

CREATE TABLE devices (
  id text PRIMARY KEY,
  person_id integer NOT NULL REFERENCES people,
  name text NOT NULL,
  secret_digest bytea NOT NULL,
  scopes text[] NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_seen_at timestamptz,
  revoked_at timestamptz
);
CREATE INDEX ON devices (person_id);

CREATE TABLE repositories (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE grants (
  person_id integer NOT NULL REFERENCES people,
  repository_id integer NOT NULL REFERENCES repositories,
  level smallint NOT NULL CHECK (level BETWEEN 0 AND 2),
  PRIMARY KEY (person_id, repository_id)
);

-- What each person shares. The hub keeps nothing above this level, whatever a machine sends or git has.
CREATE TABLE shares (
  person_id integer NOT NULL REFERENCES people,
  repository_id integer NOT NULL REFERENCES repositories,
  level smallint NOT NULL CHECK (level BETWEEN 0 AND 2),
  chosen_at timestamptz NOT NULL,
  PRIMARY KEY (person_id, repository_id)
);

-- `month` decides the partition of everything that belongs to the session. It never changes, so a turn that is sent
-- twice always meets its own row.
CREATE TABLE sessions (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  repository_id integer NOT NULL REFERENCES repositories,
  key bytea NOT NULL,
  person_id integer REFERENCES people,
  month date NOT NULL,
  agent text NOT NULL,
  source text NOT NULL CHECK (source IN ('client', 'git')),
  UNIQUE (repository_id, key)
);
CREATE INDEX ON sessions (key);

CREATE TABLE turns (
  month date NOT NULL,
  session_id bigint NOT NULL,
  number integer NOT NULL,
  repository_id integer NOT NULL,
  person_id integer,
  agent text NOT NULL,
  model text,
  started_at timestamptz NOT NULL,
  ended_at timestamptz,
  status text NOT NULL CHECK (status IN ('kept', 'undone', 'rewound')),
  file_count integer NOT NULL,
  input_tokens bigint,
  output_tokens bigint,
  cache_read_tokens bigint,
  cache_write_tokens bigint,
  api_calls integer,
  usd double precision,
  level smallint NOT NULL,
  source text NOT NULL CHECK (source IN ('client', 'git')),
  revision bigint NOT NULL,
  digest bytea NOT NULL,
  -- Stored more than once: there may be texts of an earlier copy.
  revised boolean NOT NULL DEFAULT false,
  changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (month, session_id, number)
) PARTITION BY RANGE (month);
CREATE INDEX ON turns (repository_id, started_at DESC);
CREATE INDEX ON turns (person_id, started_at DESC);
CREATE INDEX ON turns (changed_at);

CREATE TABLE turn_texts (
  month date NOT NULL,
  session_id bigint NOT NULL,
  number integer NOT NULL,
  repository_id integer NOT NULL,
  person_id integer,
  started_at timestamptz NOT NULL,
  session text NOT NULL,
  prompt text,
  paths text[] NOT NULL,
  checkpoints text[] NOT NULL,
  search tsvector NOT NULL,
  PRIMARY KEY (month, session_id, number)
) PARTITION BY RANGE (month);
CREATE INDEX ON turn_texts USING gin (search) WITH (gin_pending_list_limit = 1024);
CREATE INDEX ON turn_texts USING gin (checkpoints) WITH (gin_pending_list_limit = 1024);

CREATE TABLE messages (
  month date NOT NULL,
  session_id bigint NOT NULL,
  number integer NOT NULL,
  position integer NOT NULL,
  repository_id integer NOT NULL,
  person_id integer,
  started_at timestamptz NOT NULL,
  kind text NOT NULL CHECK (kind IN ('answer', 'tool-use', 'tool-result')),
  tool text,
  text text NOT NULL,
  search tsvector NOT NULL,
  PRIMARY KEY (month, session_id, number, position)
) PARTITION BY RANGE (month);
CREATE INDEX ON messages USING gin (search) WITH (gin_pending_list_limit = 1024);

-- Sessions whose times are impossible go here; `month` is then 1970-01-01.
CREATE TABLE turns_other PARTITION OF turns DEFAULT;
CREATE TABLE turn_texts_other PARTITION OF turn_texts DEFAULT;
CREATE TABLE messages_other PARTITION OF messages DEFAULT;

CREATE TABLE tombstones (
  key bytea PRIMARY KEY,
  person_id integer REFERENCES people,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE sources (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  repository_id integer NOT NULL REFERENCES repositories,
  address text NOT NULL UNIQUE,
  level smallint NOT NULL CHECK (level BETWEEN 0 AND 2),
  commit text,
  read_at timestamptz,
  error text
);

CREATE TABLE audit (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT now(),
  person_id integer,
  device_id text,
  action text NOT NULL,
  detail jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX ON audit (at);

-- The person on whose behalf this transaction runs.
CREATE FUNCTION me() RETURNS integer
LANGUAGE sql STABLE
AS $$ SELECT nullif(current_setting('backtrail.person', true), '')::integer $$;

-- The repositories that the person may read at this level, as one array: policies compare with it once per query, not
-- once per row.
CREATE FUNCTION readable(lowest integer) RETURNS integer[]
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = backtrail
AS $$
  SELECT coalesce(array_agg(id), '{}') FROM repositories
  WHERE id IN (SELECT repository_id FROM grants WHERE person_id = me() AND level >= lowest)
    OR EXISTS (SELECT FROM people WHERE id = me() AND reads_all >= lowest AND removed_at IS NULL)
$$;

CREATE FUNCTION ensure_month(wanted date) RETURNS void
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
    END IF;
  END LOOP;
END
$$;

-- Takes sessions for the person. Returns every wanted session, and whether it is the person's own: a session of
-- somebody else is never touched, one from git whose author sends it now becomes the author's.
CREATE FUNCTION claim_sessions(wanted jsonb)
RETURNS TABLE (key text, repository_id integer, session_id bigint, month date, own boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = backtrail
AS $$
#variable_conflict use_column
DECLARE
  taken sessions;
BEGIN
  FOR taken IN
    UPDATE sessions s SET person_id = me(), source = 'client'
    FROM jsonb_to_recordset(wanted) AS w(repository text, key text, month date, agent text), repositories r
    WHERE r.name = w.repository AND s.repository_id = r.id AND s.key = decode(w.key, 'hex')
      AND s.source = 'git' AND (s.person_id IS NULL OR s.person_id = me())
    RETURNING s.*
  LOOP
    UPDATE messages SET person_id = me() WHERE month = taken.month AND session_id = taken.id;
    UPDATE turn_texts SET person_id = me() WHERE month = taken.month AND session_id = taken.id;
    UPDATE turns SET person_id = me() WHERE month = taken.month AND session_id = taken.id;
  END LOOP;
  INSERT INTO sessions (repository_id, key, person_id, month, agent, source)
    SELECT r.id, decode(w.key, 'hex'), me(), w.month, w.agent, 'client'
    FROM jsonb_to_recordset(wanted) AS w(repository text, key text, month date, agent text)
    JOIN repositories r ON r.name = w.repository
    ORDER BY r.id, w.key
    ON CONFLICT (repository_id, key) DO NOTHING;
  RETURN QUERY
    SELECT w.key, s.repository_id, s.id, s.month, s.person_id IS NOT DISTINCT FROM me()
    FROM jsonb_to_recordset(wanted) AS w(repository text, key text, month date, agent text)
    JOIN repositories r ON r.name = w.repository
    JOIN sessions s ON s.repository_id = r.id AND s.key = decode(w.key, 'hex');
END
$$;

-- PostgreSQL uses no full-text index below a policy, because it cannot know that matching reveals nothing. So these two
-- functions find the keys of rows, with the policies' own conditions, and the caller reads the rows through the policies.
CREATE FUNCTION matching(
  wanted_month date, words tsquery, wanted_repository text, wanted_person text, wanted_agent text, most integer)
RETURNS TABLE (session_id bigint, number integer, "position" integer, started_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = backtrail
AS $$
  SELECT h.session_id, h.number, min(h.position), max(h.started_at) FROM (
    SELECT session_id, number, -1 AS position, started_at FROM turn_texts
    WHERE month = wanted_month AND search @@ words
      AND (person_id = (SELECT me()) OR repository_id = ANY ((SELECT readable(1))::integer[]))
      AND (wanted_repository IS NULL OR repository_id = (SELECT id FROM repositories WHERE name = wanted_repository))
      AND (wanted_person IS NULL OR person_id = (SELECT id FROM people WHERE name = wanted_person))
    UNION ALL
    SELECT session_id, number, position, started_at FROM messages
    WHERE month = wanted_month AND search @@ words
      AND (person_id = (SELECT me()) OR repository_id = ANY ((SELECT readable(2))::integer[]))
      AND (wanted_repository IS NULL OR repository_id = (SELECT id FROM repositories WHERE name = wanted_repository))
      AND (wanted_person IS NULL OR person_id = (SELECT id FROM people WHERE name = wanted_person))
  ) h
  WHERE wanted_agent IS NULL OR (SELECT s.agent FROM sessions s WHERE s.id = h.session_id) = wanted_agent
  GROUP BY h.session_id, h.number ORDER BY 4 DESC, 1 DESC, 2 DESC LIMIT most
$$;

CREATE FUNCTION turns_in_checkpoint(wanted text) RETURNS TABLE (month date, session_id bigint, number integer)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = backtrail
AS $$
  SELECT month, session_id, number FROM turn_texts
  WHERE checkpoints @> ARRAY[wanted]
    AND (person_id = (SELECT me()) OR repository_id = ANY ((SELECT readable(1))::integer[]))
$$;

-- Deletes sessions and keeps their keys, so that they do not come back. Sessions of other people stay, unless an
-- administrator asks. Returns the keys that are forgotten now.
CREATE FUNCTION forget_sessions(wanted text[]) RETURNS TABLE (key text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = backtrail
AS $$
#variable_conflict use_column
DECLARE
  allowed bytea[];
  doomed sessions;
BEGIN
  SELECT coalesce(array_agg(w.key), '{}') INTO allowed
    FROM (SELECT DISTINCT decode(unnest, 'hex') AS key FROM unnest(wanted)) w
    WHERE EXISTS (SELECT FROM people WHERE id = me() AND role = 'admin')
      OR NOT EXISTS (SELECT FROM sessions s WHERE s.key = w.key AND s.person_id <> me());
  INSERT INTO tombstones (key, person_id)
    SELECT unnest, me() FROM unnest(allowed) ORDER BY 1 ON CONFLICT DO NOTHING;
  FOR doomed IN SELECT * FROM sessions WHERE sessions.key = ANY (allowed) LOOP
    DELETE FROM messages WHERE month = doomed.month AND session_id = doomed.id;
    DELETE FROM turn_texts WHERE month = doomed.month AND session_id = doomed.id;
    DELETE FROM turns WHERE month = doomed.month AND session_id = doomed.id;
    DELETE FROM sessions WHERE id = doomed.id;
  END LOOP;
  RETURN QUERY SELECT encode(unnest, 'hex') FROM unnest(allowed);
END
$$;

ALTER TABLE sessions ENABLE ROW LEVEL SECURITY;
ALTER TABLE turns ENABLE ROW LEVEL SECURITY;
ALTER TABLE turn_texts ENABLE ROW LEVEL SECURITY;
ALTER TABLE messages ENABLE ROW LEVEL SECURITY;
ALTER TABLE repositories ENABLE ROW LEVEL SECURITY;
ALTER TABLE shares ENABLE ROW LEVEL SECURITY;
ALTER TABLE audit ENABLE ROW LEVEL SECURITY;

CREATE POLICY read ON sessions FOR SELECT TO backtrail_person
  USING (person_id = (SELECT me()) OR repository_id = ANY ((SELECT readable(0))::integer[]));
CREATE POLICY read ON turns FOR SELECT TO backtrail_person
  USING (person_id = (SELECT me()) OR repository_id = ANY ((SELECT readable(0))::integer[]));
CREATE POLICY read ON turn_texts FOR SELECT TO backtrail_person
  USING (person_id = (SELECT me()) OR repository_id = ANY ((SELECT readable(1))::integer[]));
CREATE POLICY read ON messages FOR SELECT TO backtrail_person
  USING (person_id = (SELECT me()) OR repository_id = ANY ((SELECT readable(2))::integer[]));
CREATE POLICY read ON repositories FOR SELECT TO backtrail_person
  USING (id = ANY ((SELECT readable(0))::integer[]) OR id IN (SELECT repository_id FROM shares WHERE person_id = me()));

CREATE POLICY own ON turns FOR ALL TO backtrail_person
  USING (person_id = (SELECT me())) WITH CHECK (person_id = (SELECT me()));
CREATE POLICY own ON turn_texts FOR ALL TO backtrail_person
  USING (person_id = (SELECT me())) WITH CHECK (person_id = (SELECT me()));
CREATE POLICY own ON messages FOR ALL TO backtrail_person
  USING (person_id = (SELECT me())) WITH CHECK (person_id = (SELECT me()));
CREATE POLICY own ON shares FOR ALL TO backtrail_person
  USING (person_id = (SELECT me())) WITH CHECK (person_id = (SELECT me()));
CREATE POLICY add ON audit FOR INSERT TO backtrail_person WITH CHECK (person_id = (SELECT me()));

CREATE FUNCTION name_repositories(wanted text[]) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = backtrail
AS $$
  INSERT INTO repositories (name) SELECT DISTINCT unnest FROM unnest(wanted) ORDER BY 1 ON CONFLICT DO NOTHING
$$;

-- Sets the level and deletes what is above it. A request that was overtaken by a later choice changes nothing. Returns
-- the level that holds now.
CREATE FUNCTION share_repository(wanted text, chosen integer, chosen_at timestamptz) RETURNS integer
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
    DELETE FROM messages WHERE repository_id = shared AND person_id = me();
  END IF;
  IF current < 1 THEN
    DELETE FROM turn_texts WHERE repository_id = shared AND person_id = me();
  END IF;
  -- Without a digest, the next copy of the turn is stored again even if it is the same as before.
  UPDATE turns SET level = current, digest = '' WHERE repository_id = shared AND person_id = me() AND level > current;
  RETURN current;
END
$$;

REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA backtrail FROM PUBLIC;
GRANT USAGE ON SCHEMA backtrail TO backtrail_person;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA backtrail TO backtrail_person;
GRANT SELECT ON hub, repositories, sessions, turns, turn_texts, messages, tombstones, shares TO backtrail_person;
GRANT SELECT (id, name) ON people TO backtrail_person;
GRANT INSERT, UPDATE, DELETE ON turns, turn_texts, messages TO backtrail_person;
GRANT INSERT ON audit TO backtrail_person;
