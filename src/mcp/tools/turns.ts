/** Tools: `turns` lists prompts and changes, `turn` shows one turn. */
import * as z from "zod/v4";
import type { Turn } from "../../api/turns.ts";
import { now } from "../../base/clock.ts";
import { UserError } from "../../base/errors.ts";
import { plural, shortSession } from "../../base/text.ts";
import { parseTime } from "../../base/time/parse.ts";
import type { Redaction } from "../../checkpoints/write/redaction.ts";
import type { Workspace } from "../../git/workspace.ts";
import { changedPaths } from "../../model/changes.ts";
import type { CheckResults } from "../../restore/targets/check-results.ts";
import { moment, more, named, page, QUOTED_NOTE, quote, takeBlocks } from "../answer.ts";
import type { Context } from "../context.ts";
import { READS, tool } from "../tool.ts";

const PROMPT = 300;
const ANSWER = 600;
const MAX_TURNS = 40;
const SHOWN_FILES = 8;
const MAX_FILES = 200;

export const turns = tool({
  name: "turns",
  title: "Recorded turns",
  description:
    "Lists the turns of every agent in this repository, newest first: id, prompt, changed files, and whether the changes were kept, undone or rewound. Use it to see what was tried before. Other tools and `backtrail` commands take the ids.",
  input: z.object({
    since: z
      .string()
      .max(100)
      .optional()
      .describe('Only turns that ended since then: "2 hours ago", "3d", "2026-11-17"'),
    cursor: z.string().max(100).optional().describe("From an earlier answer, to continue its list"),
  }),
  annotations: READS,
  async answer({ since, cursor }, context) {
    const workspace = context.read();
    const after = since === undefined ? undefined : parseTime(since, now(), "first").toISOString();
    const { listTurns } = await import("../../api/turns.ts");
    const found = listTurns(workspace).filter(
      ({ endedAt, startedAt }) => after === undefined || (endedAt ?? startedAt ?? "") >= after,
    );
    const from = cursor === undefined ? 0 : indexAfter(found, cursor);
    const rest = found.slice(from, from + MAX_TURNS);
    if (rest.length === 0) return since === undefined ? "No turn is recorded here yet." : "No turn ended since then.";
    const redaction = await context.redaction(workspace);
    const checks = await checksOf(workspace);
    const blocks = rest.map((turn) => ["", ...row(turn, redaction, checks)]);
    const { lines, taken } = takeBlocks(blocks, [`${plural(found.length, "turn")}, newest first. ${QUOTED_NOTE}`]);
    const left = found.length - from - taken;
    const last = rest[taken - 1];
    if (left > 0 && last) lines.push("", more(left, last.id));
    return lines.join("\n");
  },
});

export const turn = tool({
  name: "turn",
  title: "One turn",
  description:
    "Shows one turn: its prompt, the agent's last answer, every changed file, its check result, and the states before and after it, which `diff` takes.",
  input: z.object({
    id: z.string().min(1).max(200).describe("A turn's id from `turns`, or `last`"),
    cursor: z.string().max(100).optional().describe("From an earlier answer, to continue it"),
  }),
  annotations: READS,
  async answer({ id, cursor }, context) {
    return page(await turnLines(id, context), cursor);
  },
});

/** Everything about one turn. */
export async function turnLines(id: string, context: Context): Promise<string[]> {
  const workspace = context.read();
  const redaction = await context.redaction(workspace);
  const { getTurn } = await import("../../api/turns.ts");
  const found = await getTurn(workspace, id);
  const { prompt, response, files, steps, model, tokens } = found;
  const before = steps.findLast(({ kind }) => kind === "turn-start")?.id;
  const end = steps.find(({ kind }) => kind === "turn-end")?.id;
  return [
    headline(found, await checksOf(workspace)),
    ...(before === undefined ? [] : [`state before: ${before}`]),
    end === undefined ? "The turn is still running." : `state after: ${end}`,
    ...(model === null ? [] : [`model: ${named(model)}`]),
    ...(tokens === null ? [] : [`tokens: ${tokens.input} in, ${tokens.output} out`]),
    QUOTED_NOTE,
    ...(prompt === null ? [] : ["prompt:", ...quote(redaction.text(prompt), 4_000)]),
    ...fileLines(files, redaction),
    ...(response === null ? [] : ["answer:", ...quote(redaction.text(response), 4_000)]),
  ];
}

/** The turns of one session, newest first, in blocks: prompt, changes and answer. */
export async function sessionBlocks(found: readonly Turn[], context: Context): Promise<string[][]> {
  const workspace = context.read();
  const redaction = await context.redaction(workspace);
  const checks = await checksOf(workspace);
  return found.map((turn) => [
    "",
    ...row(turn, redaction, checks),
    ...(turn.response === null ? [] : ["answer:", ...quote(redaction.text(turn.response), ANSWER)]),
  ]);
}

async function checksOf(workspace: Workspace): Promise<CheckResults> {
  return (await import("../../restore/targets/check-results.ts")).readCheckResults(workspace);
}

function row(turn: Turn, redaction: Redaction, checks: CheckResults): string[] {
  const paths = changedPaths(turn.files);
  const lines = [headline(turn, checks), ...quote(redaction.text((turn.prompt ?? "").slice(0, PROMPT * 4)), PROMPT)];
  if (paths.length > 0) {
    const shown = paths.slice(0, SHOWN_FILES).map((path) => named(redaction.name(path)));
    const left = paths.length - shown.length;
    lines.push(`files: ${shown.join(", ")}${left > 0 ? ` and ${left} more` : ""}`);
  }
  return lines;
}

/** "yyqxylmplkwz: claude-code 8d89c872, turn 3, kept, 2026-11-18 07:20 UTC, check passed" */
function headline(
  { id, agent, session, number, status, endedAt, startedAt, steps }: Turn,
  checks: CheckResults,
): string {
  const time = endedAt ?? startedAt;
  const verdict = steps[0] && checks.of(steps[0]);
  const facts = [
    `${named(agent)} ${named(shortSession(session))}`,
    `turn ${number}`,
    endedAt === null ? "running" : status,
    ...(time === null ? [] : [moment(time)]),
    ...(verdict === undefined ? [] : [verdict === "pass" ? "check passed" : verdict === "fail" ? "check failed" : ""]),
  ];
  return `${id}: ${facts.filter(Boolean).join(", ")}`;
}

function fileLines(files: Turn["files"], redaction: Redaction): string[] {
  const lines = (["added", "modified", "deleted"] as const).flatMap((kind) =>
    files[kind].map((path) => `${kind} ${named(redaction.name(path))}`),
  );
  const left = lines.length - MAX_FILES;
  if (lines.length === 0) return ["No file was changed."];
  return ["files:", ...lines.slice(0, MAX_FILES), ...(left > 0 ? [`and ${left} more`] : [])];
}

function indexAfter(turns: readonly Turn[], cursor: string): number {
  const at = turns.findIndex(({ steps }) => steps.some(({ id }) => id === cursor));
  if (at >= 0) return at + 1;
  throw new UserError("usage", "The cursor is not one of this list.", "Call again without a cursor.");
}
