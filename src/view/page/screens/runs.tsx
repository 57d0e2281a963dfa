/** Runs without a terminal, as a tree. */
import type { Route } from "../data/router.ts";
import { useQuery } from "../data/use-query.ts";
import { Empty, Problem, Skeleton } from "../parts/states.tsx";
import { SessionTree } from "./session/tree.tsx";

export function RunsScreen(_: { place: Route }) {
  const { data, error, loading, reload } = useQuery("runs", {}, ["runs", "sessions"]);
  return (
    <div class="screen">
      <h2>Runs</h2>
      {loading && <Skeleton lines={6} label="Loading the runs" />}
      {error && <Problem error={error} retry={reload} />}
      {data?.runs.length === 0 && (
        <Empty title="No runs yet">
          <p>
            <code>backtrail run "prompt"</code> runs an agent without a terminal. Its log appears here while it works.
          </p>
        </Empty>
      )}
      {data && data.runs.length > 0 && <SessionTree sessions={data.runs} target="run" />}
    </div>
  );
}
