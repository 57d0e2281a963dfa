/** The current file, line by line, with the turn behind each line. */
import { useState } from "preact/hooks";
import type { BlamedLine, FileBlame } from "../../protocol.ts";
import { query } from "../data/client.ts";
import { type Route, to } from "../data/router.ts";
import { useQuery } from "../data/use-query.ts";
import { Agent } from "../parts/badges.tsx";
import { Problem, Skeleton } from "../parts/states.tsx";
import { TextLines } from "../parts/text-lines.tsx";
import { plural } from "../text/format.ts";
import { line, visible } from "../text/visible.ts";

export function BlameScreen({ place }: { place: Route }) {
  const [path = ""] = place.parts;
  const { data, error, loading, reload } = useQuery("blame", { path }, ["timeline"]);
  return (
    <div class="screen blame">
      <header class="file-head">
        <h2 class="path">
          <bdi>{visible(path)}</bdi>
        </h2>
        <a href={to("time", [], { path })}>History</a>
        <a href={to("", [], { path })}>Its turns</a>
      </header>
      {loading && <Skeleton lines={10} label="Loading the file" />}
      {error && <Problem error={error} retry={reload} />}
      {data && <Blamed key={path} first={data} />}
    </div>
  );
}

function Blamed({ first }: { first: FileBlame }) {
  const [rest, setRest] = useState<FileBlame[]>([]);
  const [busy, setBusy] = useState(false);
  const pages = [first, ...rest];
  const next = pages.at(-1)?.next ?? null;
  const rows = pages.flatMap((page) => page.lines.map((one) => ({ line: one, page })));
  const loadMore = () => {
    if (busy || next === null) return;
    setBusy(true);
    query("blame", { path: first.path, offset: String(next) })
      .then((page) => setRest((old) => [...old, page]))
      .catch(() => {})
      .finally(() => setBusy(false));
  };
  const byAgents = rows.filter((row) => row.line.turn !== null).length;
  return (
    <>
      <p class="muted">
        {plural(first.total, "line")}
        {rows.length > 0 && `, ${Math.round((byAgents / rows.length) * 100)} % by agents`}
      </p>
      {first.problems.map((problem) => (
        <p key={problem} class="notice">
          {visible(problem)}
        </p>
      ))}
      <TextLines
        lines={rows.map((row) => row.line.text)}
        path={first.path}
        gutter={(index) => {
          const row = rows[index];
          const before = rows[index - 1];
          const same = before !== undefined && row !== undefined && keyOf(before) === keyOf(row);
          return row ? <Author line={row.line} page={row.page} repeated={same} /> : null;
        }}
        more={next !== null}
        loadMore={loadMore}
      />
    </>
  );
}

function keyOf({ line: { turn, commit }, page }: { line: BlamedLine; page: FileBlame }): string {
  const found = turn === null ? undefined : page.turns[turn];
  return found ? `${found.session} ${found.number}` : `${commit === null ? "" : page.commits[commit]?.id}`;
}

/** The turn, once for each block of its lines. */
function Author({ line: { turn, commit }, page, repeated }: { line: BlamedLine; page: FileBlame; repeated: boolean }) {
  const found = turn === null ? undefined : page.turns[turn];
  const committed = commit === null ? undefined : page.commits[commit];
  if (repeated) return <span class={found ? "author by-agent" : "author"} />;
  if (!found)
    return (
      <span class="author muted">
        {committed ? (
          <a href={to("commit", [committed.id])}>{line(committed.subject, 60)}</a>
        ) : (
          "not committed, by hand"
        )}
      </span>
    );
  const title = found.prompt === null ? "(no prompt recorded)" : line(found.prompt, 200);
  const address = found.step === null ? to("session", [found.session]) : to("turn", [found.step]);
  return (
    <span class="author by-agent" title={title}>
      <Agent id={found.agent} />
      <a href={address}>{title}</a>
    </span>
  );
}
