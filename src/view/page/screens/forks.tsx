/** Forks: other attempts beside the first. */
import { type Route, to } from "../data/router.ts";
import { useQuery } from "../data/use-query.ts";
import { Age } from "../parts/badges.tsx";
import { Row } from "../parts/row.tsx";
import { Empty, Problem, Skeleton } from "../parts/states.tsx";
import { line } from "../text/visible.ts";

export function ForksScreen(_: { place: Route }) {
  const { data, error, loading, reload } = useQuery("forks", {}, ["forks"]);
  return (
    <div class="screen">
      <h2>Forks</h2>
      {loading && <Skeleton lines={6} label="Loading the forks" />}
      {error && <Problem error={error} retry={reload} />}
      {data?.forks.length === 0 && (
        <Empty title="No forks yet">
          <p>
            <b>Fork from here</b> on a turn makes a second work tree with the files and the conversation of that moment.
          </p>
        </Empty>
      )}
      <ul class="rows" aria-label="Forks">
        {data?.forks.map((fork) => (
          <Row key={fork.id} href={to("fork", [fork.id])} title={line(fork.name, 200)}>
            <Age time={fork.time} />
            {fork.state !== "ready" && <span class="tag">{fork.state}</span>}
            {fork.branch !== null && <span class="mono">{line(fork.branch, 80)}</span>}
            {fork.prompt !== null && <span>before "{line(fork.prompt, 80)}"</span>}
          </Row>
        ))}
      </ul>
    </div>
  );
}
