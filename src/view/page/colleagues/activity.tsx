/** The current activity of the team's agents, and their activity by day, repository and agent. */
import type { ActivityOfDay } from "../../protocol.ts";
import { type Route, replace, to } from "../data/router.ts";
import { useQuery } from "../data/use-query.ts";
import { Agent, CostSum, TokenSum } from "../parts/badges.tsx";
import { useNow } from "../parts/now.ts";
import { Empty, Problem, Skeleton } from "../parts/states.tsx";
import { count, dayName } from "../text/format.ts";
import { line } from "../text/visible.ts";
import { TurnLine } from "../timeline/rows.tsx";

const SPANS = ["1", "7", "14", "30", "90"] as const;

export function ActivityScreen({ place }: { place: Route }) {
  const days = place.query["days"] ?? "14";
  const { data, error, loading, reload } = useQuery("teamActivity", { days }, ["timeline"]);
  return (
    <div class="screen">
      <h2>At work now</h2>
      {loading && <Skeleton lines={6} label="Loading the activity" />}
      {error && <Problem error={error} retry={reload} />}
      {data?.running.length === 0 && <p class="muted">No turn that you may see is running.</p>}
      <ul class="rows" aria-label="Running turns">
        {data?.running.map((turn) => (
          <li key={turn.key}>
            <TurnLine turn={turn} selected={false} />
          </li>
        ))}
      </ul>
      <h2>By day</h2>
      <label>
        Days{" "}
        <select
          value={days}
          onChange={(event) => replace(to("activity", [], { ...place.query, days: event.currentTarget.value }))}
        >
          {SPANS.map((span) => (
            <option key={span} value={span}>
              {span}
            </option>
          ))}
        </select>
      </label>
      {data?.days.length === 0 && <Empty title="Nothing in these days" />}
      {data && data.days.length > 0 && <Days rows={data.days} />}
    </div>
  );
}

function Days({ rows }: { rows: readonly ActivityOfDay[] }) {
  const now = useNow();
  return (
    <div class="activity">
      <table aria-label="Activity by day">
        <thead>
          <tr>
            <th scope="col">Day</th>
            <th scope="col">Repository</th>
            <th scope="col">Agent</th>
            {["Turns", "People", "Files", "Undone", "Tokens"].map((heading) => (
              <th key={heading} scope="col" class="number">
                {heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={`${row.day} ${row.repository} ${row.agent}`}>
              <td>{dayName(row.day, now)}</td>
              <td>
                <a href={to("", [], { repository: row.repositoryId })}>{line(row.repository, 100)}</a>
              </td>
              <td>
                <Agent id={row.agent} />
              </td>
              <td class="number">{count(row.turns)}</td>
              <td class="number">{count(row.people)}</td>
              <td class="number">{count(row.files)}</td>
              <td class="number">{count(row.undone)}</td>
              <td class="number">
                <TokenSum tokens={row.tokens} />{" "}
                <CostSum cost={row.usd === null ? null : { usd: row.usd, estimated: false }} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
