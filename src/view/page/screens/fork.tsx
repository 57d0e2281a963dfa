/** A fork and the work tree that it came from, side by side. */
import { useState } from "preact/hooks";
import type { Attempt, ForkComparison } from "../../protocol.ts";
import { type Route, to } from "../data/router.ts";
import { useQuery } from "../data/use-query.ts";
import { Diff } from "../diff/diff.tsx";
import { LineSum } from "../diff/line-sum.tsx";
import { Age, CostSum, TokenSum } from "../parts/badges.tsx";
import { Command } from "../parts/copy.tsx";
import { Problem, Skeleton } from "../parts/states.tsx";
import { duration, plural } from "../text/format.ts";
import { line, visible } from "../text/visible.ts";

export function ForkScreen({ place }: { place: Route }) {
  const [id = ""] = place.parts;
  const { data, error, loading, reload } = useQuery("fork", { id }, ["forks", "timeline"]);
  return (
    <div class="screen wide-screen">
      <p>
        <a href={to("forks")}>← Forks</a>
      </p>
      {loading && <Skeleton lines={8} label="Loading the fork" />}
      {error && <Problem error={error} retry={reload} />}
      {data && <Compared data={data} />}
    </div>
  );
}

function Compared({ data: { fork, original, attempt, problem } }: { data: ForkComparison }) {
  const [direct, setDirect] = useState(false);
  return (
    <>
      <h2>{line(fork.name, 200)}</h2>
      <p class="facts">
        <Age time={fork.time} />
        {fork.branch !== null && <span class="mono">{line(fork.branch, 80)}</span>}
        {fork.directory !== null && <span class="mono">{line(fork.directory, 200)}</span>}
      </p>
      {fork.command !== null && <Command text={fork.command} />}
      {problem !== null && <p class="notice">{visible(problem)}</p>}
      <table class="compare">
        <thead>
          <tr>
            <td />
            <th scope="col">here</th>
            <th scope="col">{line(fork.name, 60)}</th>
          </tr>
        </thead>
        <tbody>
          <Fact name="files" original={original} attempt={attempt} show={filesOf} />
          <Fact name="lines" original={original} attempt={attempt} show={(one) => <LineSum {...one.lines} />} />
          <Fact name="turns" original={original} attempt={attempt} show={(one) => one.turns} />
          <Fact name="tokens" original={original} attempt={attempt} show={(one) => <TokenSum tokens={one.tokens} />} />
          <Fact name="cost" original={original} attempt={attempt} show={(one) => <CostSum cost={one.cost} />} />
          <Fact
            name="time"
            original={original}
            attempt={attempt}
            show={(one) => (one.seconds > 0 ? duration(one.seconds * 1000) : "–")}
          />
        </tbody>
      </table>
      {attempt && (
        <div class="segmented" role="group" aria-label="Comparison">
          <button type="button" aria-pressed={!direct} onClick={() => setDirect(false)}>
            Both since they parted
          </button>
          <button type="button" aria-pressed={direct} onClick={() => setDirect(true)}>
            One against the other
          </button>
        </div>
      )}
      {attempt && direct ? (
        <Diff comparison={{ from: original.state, to: attempt.state }} title="From here to the fork" />
      ) : (
        <div class="attempts">
          <Diff comparison={{ from: original.base, to: original.state }} title="Here" label="Diff here" />
          {attempt && (
            <Diff
              comparison={{ from: attempt.base, to: attempt.state }}
              title={line(fork.name, 60)}
              label="Diff of the fork"
            />
          )}
        </div>
      )}
    </>
  );
}

interface FactProps {
  name: string;
  original: Attempt;
  attempt: Attempt | null;
  show(attempt: Attempt): preact.ComponentChildren;
}

function Fact({ name, original, attempt, show }: FactProps) {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{show(original)}</td>
      <td>{attempt ? show(attempt) : "gone"}</td>
    </tr>
  );
}

function filesOf({ files }: Attempt): string {
  return plural(files.added.length + files.modified.length + files.deleted.length, "file");
}
