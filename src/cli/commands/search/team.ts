/** `search --team` and `team search`: finds turns that colleagues share and that the user may read. */
import { now } from "../../../base/clock.ts";
import { oneLine, plural, shorten } from "../../../base/text.ts";
import type { SearchHit } from "../../../team/protocol.ts";
import { age } from "../../render/layout/time.ts";
import { ask } from "../../shared/team.ts";
import { EXIT } from "../../terminal/exit.ts";
import type { Io } from "../../terminal/io.ts";

export interface TeamQuery {
  text: string;
  repository?: string | undefined;
  person?: string | undefined;
  agent?: string | undefined;
  limit?: number | undefined;
}

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;

export async function searchTeam({ text, limit, ...filter }: TeamQuery, json: boolean, io: Io): Promise<number> {
  const most = limit === 0 ? MAX_LIMIT : Math.min(limit ?? DEFAULT_LIMIT, MAX_LIMIT);
  const { items } = await ask((hub) => hub.search({ q: text, ...filter, limit: most }));
  if (json) io.json({ hits: items.map(hitJson), total: items.length, pending: 0 });
  else for (const hit of items) for (const line of hitLines(hit, io)) io.print(line);
  if (!json)
    io.say(items.length === 0 ? "No turn that you may read has all these words." : plural(items.length, "hit"));
  return items.length === 0 ? EXIT.nothing : EXIT.done;
}

/** The same keys as a hit on this machine has, and who it was. */
function hitJson(hit: SearchHit) {
  return {
    id: null,
    person: hit.person,
    session: hit.session,
    agent: hit.agent,
    repository: hit.repository,
    turn: hit.turn,
    time: hit.startedAt,
    field: hit.field,
    snippet: hit.snippet,
    prompt: hit.prompt,
    path: null,
    fate: { state: hit.status, commit: null, check: null },
  };
}

function hitLines(hit: SearchHit, io: Io): string[] {
  const { paint } = io.out;
  const who = [hit.person ?? "somebody", hit.agent, hit.repository].map(oneLine).join("  ");
  const status = hit.status === "kept" ? "" : `  ${hit.status}`;
  return [
    `${paint("bold", who)}  ${paint("dim", age(hit.startedAt, now()))}${status}`,
    ...(hit.prompt && hit.field !== "prompt" ? [`  > ${shorten(oneLine(hit.prompt), 120)}`] : []),
    `  ${oneLine(hit.snippet)}`,
  ];
}
