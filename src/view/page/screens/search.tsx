/** What a search found: in prompts, answers, commands, output, changed lines and paths. */
import type { SearchHit } from "../../protocol.ts";
import { type Route, to } from "../data/router.ts";
import { useQuery } from "../data/use-query.ts";
import { Age, Agent, CheckTag, FateTag } from "../parts/badges.tsx";
import { useKept } from "../parts/kept.ts";
import { Empty, Problem, Skeleton } from "../parts/states.tsx";
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
            Type words in the search box: they are looked for in prompts, answers, commands, output and changed lines.
          </p>
          <Examples />
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
        <Empty title="Nothing found">
          <p>Try fewer words, or the beginning of one with a star: tok*</p>
        </Empty>
      )}
      <ul class="rows" aria-label="Hits">
        {found?.hits.map((hit, i) => (
          <Hit key={`${hit.id} ${hit.field} ${i}`} hit={hit} />
        ))}
      </ul>
    </div>
  );
}

const EXAMPLES = [
  ["parse*", "words that begin like this"],
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

function Hit({ hit }: { hit: SearchHit }) {
  const repository = hit.repositoryId ?? undefined;
  const address = hit.id === null ? to("session", [hit.session], { repository }) : to("turn", [hit.id], { repository });
  return (
    <li>
      <a class="row hit" href={address}>
        <span class="row-main">
          <span class="snippet">
            <Snippet text={hit.snippet} />
          </span>
          <span class="second">
            <span class="tag">{FIELDS[hit.field] ?? hit.field}</span>
            {hit.person !== undefined && <b>{line(hit.person ?? "somebody", 40)}</b>}
            <Agent id={hit.agent} />
            <Age time={hit.time} />
            {hit.path !== null && <span class="mono">{line(hit.path, 80)}</span>}
            <FateTag fate={hit.fate.state} />
            <CheckTag check={hit.fate.check} />
            {hit.fate.commit !== null && <span class="mono">{hit.fate.commit.slice(0, 7)}</span>}
            {hit.repository !== null && <span>{line(hit.repository.split("/").at(-1) ?? "", 40)}</span>}
          </span>
        </span>
      </a>
    </li>
  );
}

/** Matches stand between U+0001 and U+0002. */
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
