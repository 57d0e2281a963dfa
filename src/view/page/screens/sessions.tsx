/** All sessions, newest first, each with the sessions that it started below it. */
import type { Route } from "../data/router.ts";
import { useQuery } from "../data/use-query.ts";
import { Empty, Problem, Skeleton } from "../parts/states.tsx";
import { SessionTree } from "./session/tree.tsx";

export function SessionsScreen(_: { place: Route }) {
  const { data, error, loading, reload } = useQuery("sessions", {}, ["sessions", "timeline"]);
  return (
    <div class="screen">
      <h2>Sessions</h2>
      {loading && <Skeleton lines={8} label="Loading the sessions" />}
      {error && <Problem error={error} retry={reload} />}
      {data?.sessions.length === 0 && (
        <Empty title="No sessions yet">
          <p>Sessions of every agent that works here appear in this list.</p>
        </Empty>
      )}
      {data && data.sessions.length > 0 && <SessionTree sessions={data.sessions} target="session" />}
    </div>
  );
}
