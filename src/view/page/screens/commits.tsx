/** Commits, newest first, with the sessions behind each. */
import { useState } from "preact/hooks";
import type { Commits } from "../../protocol.ts";
import { query } from "../data/client.ts";
import { type Route, to } from "../data/router.ts";
import { useQuery } from "../data/use-query.ts";
import { Age, Agent } from "../parts/badges.tsx";
import { Row } from "../parts/row.tsx";
import { Empty, Problem, Skeleton } from "../parts/states.tsx";
import { line } from "../text/visible.ts";

export function CommitsScreen(_: { place: Route }) {
  const { data, error, loading, reload } = useQuery("commits", {}, ["timeline"]);
  const [rest, setRest] = useState<Commits[]>([]);
  const commits = [...(data ? [data] : []), ...rest];
  const next = commits.at(-1)?.next ?? null;
  const loadMore = () => {
    if (next === null) return;
    query("commits", { before: next })
      .then((page) => setRest((old) => [...old, page]))
      .catch(() => {});
  };
  return (
    <div class="screen">
      <h2>Commits</h2>
      {loading && <Skeleton lines={8} label="Loading the commits" />}
      {error && <Problem error={error} retry={reload} />}
      {data?.commits.length === 0 && <Empty title="No commits yet" />}
      <ul class="rows" aria-label="Commits">
        {commits
          .flatMap((page) => page.commits)
          .map(({ id, subject, author, time, sessions }) => (
            <Row key={id} href={to("commit", [id])} title={line(subject, 300)}>
              <span class="mono">{id.slice(0, 7)}</span>
              <span>{line(author, 60)}</span>
              <Age time={time} />
              {sessions.map((session) => (
                <span key={session.checkpoint + session.session} class="linked">
                  <Agent id={session.agent} />
                  {line(session.prompts[0] ?? "", 60)}
                </span>
              ))}
            </Row>
          ))}
      </ul>
      {next !== null && (
        <button type="button" class="wide" onClick={loadMore}>
          Show older commits
        </button>
      )}
    </div>
  );
}
