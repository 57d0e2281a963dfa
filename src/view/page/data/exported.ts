/** The data of an exported page, which has no server: answers the queries that its screens ask. */
import type { ExportedData, Queries, QueryName, TimelineQuery, ToolCallDetails, TurnRow } from "../../protocol.ts";

/** Null on a page with a server. */
export const exported: ExportedData | null = read();

/** Screens of an exported page. */
export const EXPORTED_SCREENS: readonly string[] = ["", "turn", "subagent", "session", "sessions"];

function read(): ExportedData | null {
  if (typeof document === "undefined") return null;
  const text = document.getElementById("exported")?.textContent;
  return text ? (JSON.parse(text) as ExportedData) : null;
}

type Answers = {
  [Name in QueryName]?: (data: ExportedData, query: Queries[Name]["query"]) => Queries[Name]["answer"] | undefined;
};

/** Undefined if the file does not contain it. */
export function exportedAnswer(data: ExportedData, name: QueryName, query: object): unknown {
  const answer = ANSWERS[name] as ((data: ExportedData, query: object) => unknown) | undefined;
  return answer?.(data, query);
}

const ANSWERS: Answers = {
  state: ({ state }) => state,
  proposals: () => ({ available: false }),
  timeline: ({ turns, branches }, query) => ({
    items: turns.map(({ row }) => row).filter((row) => matches(row, query)),
    branches,
    next: null,
    revision: JSON.stringify(query),
  }),
  lines: () => ({ lines: {} }),
  turnCommits: () => ({ commits: {} }),
  turn: ({ turns }, { id }) =>
    turns.find(({ row }) => row.id === id || row.subagents.some((subagent) => subagent.id === id))?.details,
  toolCall: ({ turns, sessions }, { turn, call }): ToolCallDetails | undefined => {
    const session = turns.find(({ row }) => row.id === turn)?.row.session;
    const entries = sessions.find(({ details }) => details.session.id === session)?.entries ?? [];
    const use = entries.find(({ type, tool }) => type === "tool-use" && tool?.id === call);
    const result = entries.find(({ type, tool }) => type === "tool-result" && tool?.id === call);
    if (!use?.tool) return undefined;
    const { name, input } = use.tool;
    return { id: call, name, input, output: result?.text ?? null, cut: use.shortened || (result?.shortened ?? false) };
  },
  changes: ({ changes }, query) => ("turn" in query ? changes[query.turn]?.changes : undefined),
  fileDiff: ({ changes }, query) =>
    "turn" in query ? changes[query.turn]?.diffs.find(({ path }) => path === query.path) : undefined,
  sessions: ({ sessions: [first] }) => ({ sessions: first ? [first.details.session] : [] }),
  session: ({ sessions }, { id }) => sessions.find(({ details }) => details.session.id === id)?.details,
  conversation: ({ sessions }, { session, from = "0", limit = "200" }) => {
    const found = sessions.find(({ details }) => details.session.id === session);
    if (!found) return undefined;
    const end = Number(from) + Number(limit);
    const total = found.entries.length;
    return { entries: found.entries.slice(Number(from), end), total, next: end < total ? end : null };
  },
};

function matches(row: TurnRow, { session, agent, fate, check, text, path }: TimelineQuery): boolean {
  if (session && row.session !== session) return false;
  if (agent && row.agent !== agent) return false;
  if (fate && row.fate !== fate) return false;
  if (check && !(check === "broke" ? row.broke : row.check === check)) return false;
  if (path && !row.paths.includes(path)) return false;
  const said = `${row.prompt ?? ""}\n${row.answer ?? ""}`.toLowerCase();
  return (text ?? "")
    .toLowerCase()
    .split(/\s+/)
    .every((word) => said.includes(word));
}
