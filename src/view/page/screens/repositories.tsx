/** Every repository in which Backtrail records, with its open sessions and proposals. */

import { isHub } from "../data/hub.ts";
import { type Route, to } from "../data/router.ts";
import { useQuery } from "../data/use-query.ts";
import { Age } from "../parts/badges.tsx";
import { Row } from "../parts/row.tsx";
import { Empty, Problem, Skeleton } from "../parts/states.tsx";
import { plural } from "../text/format.ts";
import { line } from "../text/visible.ts";

export function RepositoriesScreen(_: { place: Route }) {
  const { data, error, loading, reload } = useQuery("repositories", {}, ["timeline", "sessions"]);
  return (
    <div class="screen">
      <h2>Repositories</h2>
      {loading && <Skeleton lines={6} label="Loading the repositories" />}
      {error && <Problem error={error} retry={reload} />}
      {data?.repositories.length === 0 && <Empty title="No repositories" />}
      {isHub && (
        <p>
          <a href={to("", [], { repository: undefined })}>All repositories</a>
        </p>
      )}
      <ul class="rows" aria-label="Repositories">
        {data?.repositories.map(({ id, name, root, branch, kind, working, waiting, pending, lastTurn }) => (
          <Row key={id} href={to("", [], { repository: id })} title={line(name, 100)}>
            <span class="mono">{line(root, 200)}</span>
            {branch !== null && <span class="mono">{line(branch, 60)}</span>}
            {kind === "folder" && <span class="tag">no git</span>}
            {working > 0 && <span class="tag running">{plural(working, "agent")} working</span>}
            {waiting > 0 && <span class="tag">{waiting} waiting</span>}
            {pending > 0 && <span class="tag">{plural(pending, "commit")} pending</span>}
            <Age time={lastTurn} />
          </Row>
        ))}
      </ul>
    </div>
  );
}
