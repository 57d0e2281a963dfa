/** The hits of a search: in prompts, answers, commands, output, changed lines and paths. */
import type { SearchHit } from "../../protocol.ts";
import { isHub } from "../data/hub.ts";
import { type Route, to } from "../data/router.ts";
import { useQuery } from "../data/use-query.ts";
import { Age, Agent, CheckTag, FateTag } from "../parts/badges.tsx";
import { useKept } from "../parts/kept.ts";
import { Problem, Skeleton } from "../parts/states.tsx";
import { useApp } from "../shell/context.ts";
import { plural } from "../text/format.ts";
import { line, visible } from "../text/visible.ts";

const FIELDS = {
  prompt: "prompt",
  answer: "answer",
  thinking: "thinking",
  command: "command",
  output: "output",
  added: "added line",
  removed: "removed line",
  path: "path",
} as const;

export function SearchScreen({ place }: { place: Route }) {
  const q = place.query["q"] ?? "";
  const loaded = useQuery("search", q === "" ? null : { q, limit: "100" }, ["timeline"]);
  const data = useKept(loaded.data, q === "");
  const found = data?.available ? data : undefined;
  return (
    <div class="screen">
      <h2>Search</h2>
      {q === "" && (
        <>
          <p class="muted">
            Type words in the search box: they are looked for in prompts, answers, commands, output and{" "}
            {isHub ? "names of files" : "changed lines"}.
          </p>
          {!isHub && <Examples />}
        </>
      )}
      {loaded.loading && !data && <Skeleton lines={6} label="Searching" />}
      {loaded.error && <Problem error={loaded.error} />}
      {data && !data.available && <p class="notice">This copy of Backtrail has no search.</p>}
      {found && (
        <p class="muted" role="status">
          {found.total === 0 ? "No hits" : plural(found.total, "hit")} for "{line(q, 80)}"
          {found.pending > 0 && `, ${plural(found.pending, "source")} not read yet`}
        </p>
      )}
      {found?.total === 0 && (
        <p>
          Try fewer words, or the beginning of one with a star: <span class="mono">tok*</span>
        </p>
      )}
      <ul class="rows" aria-label="Hits">
        {grouped(found?.hits ?? []).map((hits) => (
          <Group key={hits[0].id ?? `${hits[0].session} ${hits[0].turn}`} hits={hits} />
        ))}
      </ul>
    </div>
  );
}

type Hits = readonly [SearchHit, ...SearchHit[]];

/** The hits of one turn together, where its best one is. */
function grouped(hits: readonly SearchHit[]): Hits[] {
  const groups = new Map<string, [SearchHit, ...SearchHit[]]>();
  for (const hit of hits) {
    const key = JSON.stringify([hit.repository, hit.session, hit.id ?? hit.turn]);
    const known = groups.get(key);
    if (known) known.push(hit);
    else groups.set(key, [hit]);
  }
  return [...groups.values()];
}

const EXAMPLES = [
  ["parse*", "words with this beginning"],
  ['"retry(fetchToken"', "exactly this text"],
  ["field:removed retry", "lines that a turn took out"],
  ["file:*.sql", "turns that changed such a file"],
  ["is:undone", "turns that were undone or rewound"],
  ["is:red since:2d", "turns of the last two days that failed the check"],
] as const;

function Examples() {
  return (
    <dl class="facts-list">
      {EXAMPLES.map(([query, finds]) => (
        <>
          <dt key={query}>
            <a class="mono" href={to("search", [], { q: query })}>
              {query}
            </a>
          </dt>
          <dd class="muted">{finds}</dd>
        </>
      ))}
    </dl>
  );
}

/** Of a turn with many hits, the best ones. */
const MAX_SNIPPETS = 3;

function Group({ hits }: { hits: Hits }) {
  const { repository: own } = useApp();
  const [hit] = hits;
  const repository = hit.repositoryId ?? undefined;
  const address = hit.id === null ? to("session", [hit.session], { repository }) : to("turn", [hit.id], { repository });
  const elsewhere = hit.repository !== null && hit.repository !== own.root;
  return (
    <li>
      <a class="row hit" href={address}>
        <span class="row-main">
          {hit.prompt && <span class="prompt">{line(hit.prompt, 200)}</span>}
          <span class="second">
            {hit.person !== undefined && <b>{line(hit.person ?? "somebody", 40)}</b>}
            <Agent id={hit.agent} />
            <Age time={hit.time} />
            <FateTag fate={hit.fate.state} />
            <CheckTag check={hit.fate.check} />
            {hit.fate.commit !== null && <span class="mono">{hit.fate.commit.slice(0, 7)}</span>}
            {elsewhere && <span>{line(hit.repository?.split("/").at(-1) ?? "", 40)}</span>}
          </span>
          {hits.slice(0, MAX_SNIPPETS).map((one, i) => (
            <span key={i} class="found">
              <span class="tag">{FIELDS[one.field] ?? one.field}</span>
              {one.path !== null && <span class="mono muted">{line(one.path, 80)}</span>}
              <span class="snippet">
                <Snippet text={one.snippet} />
              </span>
            </span>
          ))}
          {hits.length > MAX_SNIPPETS && (
            <span class="muted more-hits">and {plural(hits.length - MAX_SNIPPETS, "more hit")} in this turn</span>
          )}
        </span>
      </a>
    </li>
  );
}

/** Matches are between U+0001 and U+0002. */
function Snippet({ text }: { text: string }) {
  return (
    <>
      {text.split("\u0001").map((part, i) => {
        const end = i === 0 ? -1 : part.indexOf("\u0002");
        if (end < 0) return visible(part.replaceAll("\u0002", ""));
        return (
          <>
            <mark>{visible(part.slice(0, end))}</mark>
            {visible(part.slice(end + 1).replaceAll("\u0002", ""))}
          </>
        );
      })}
    </>
  );
}
