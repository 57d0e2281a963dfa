/** One turn: its texts, tool calls, side effects, checks and neighbors. */
import { listSideEffects } from "../../../../api/restore/side-effects.ts";
import { UserError } from "../../../../base/errors.ts";
import { shellWord } from "../../../../model/command.ts";
import type { Step } from "../../../../model/step.ts";
import { readCheckResults } from "../../../../restore/targets/check-results.ts";
import type { CheckResult, SideEffect, ToolCallDetails, TurnDetails } from "../../../protocol.ts";
import { entriesOfTurn, inputText } from "../../repository/conversations.ts";
import type { OpenRepository } from "../../repository/open.ts";
import type { StepGroup, TurnIndex } from "../../repository/turn-index.ts";
import type { Context } from "../../routes.ts";
import { commitsAfter } from "../commits/commits.ts";
import type { Query } from "../query.ts";
import { rowFacts, turnRow } from "../timeline/turn-rows.ts";
import { pairedCalls, toolCalls } from "./tool-calls.ts";

const MAX_TOOL_TEXT = 1 << 20;
const MAX_NEIGHBOR_DISTANCE = 500;

export async function turn({ repository }: Context, query: Query): Promise<TurnDetails> {
  const { turns } = repository.indexWithMark();
  const group = requireTurn(turns, query.required("id"));
  const redaction = await repository.redaction(query.flag("reveal"));
  const row = turnRow(group, "current", rowFacts(repository, turns, redaction));
  if (!row) throw notATurn();
  const { steps } = group;
  const end = steps.find(({ kind }) => kind === "turn-end");
  const start = steps.findLast(({ kind }) => kind === "turn-start");
  const entries = await entriesOfTurn(repository, steps).catch(() => null);
  const answers = entries?.filter(({ type, text }) => type === "answer" && text.trim() !== "").map(({ text }) => text);
  const prompt = [end, ...steps].find((step) => step?.prompt)?.prompt ?? null;
  // Steps keep a shortened answer; the conversation has the whole one.
  const answer = end ? (answers?.at(-1) ?? end.response) : null;
  return {
    turn: row,
    prompt: prompt === null ? null : redaction.text(prompt),
    answer: answer === null ? null : redaction.text(answer),
    before: start?.id ?? null,
    after: end?.id ?? null,
    tools: entries ? await toolCalls(row.agent, entries, steps, redaction, repository.workspace.root) : [],
    noTools: entries || !end ? null : whyNoTools(steps),
    notUndone: end ? await effects(repository, end.id, redaction.text) : [],
    checks: checksOf(repository, start, end),
    commits: end ? await commitsAfter(repository, turns, group) : [],
    previous: neighbor(turns, group, 1),
    next: neighbor(turns, group, -1),
    notCaptured: (end ?? steps[0]).snapshot.notCaptured.map(({ path, why }) => ({ path, why })),
  };
}

function whyNoTools(steps: StepGroup["steps"]): TurnDetails["noTools"] {
  return steps.some(({ transcript }) => transcript !== null) ? "unreadable" : "no-transcript";
}

export async function toolCall({ repository }: Context, query: Query): Promise<ToolCallDetails> {
  const group = requireTurn(repository.indexWithMark().turns, query.required("turn"));
  const id = query.required("call");
  const redaction = await repository.redaction(query.flag("reveal"));
  const entries = (await entriesOfTurn(repository, group.steps)) ?? [];
  const call = pairedCalls(entries).find((one) => one.id === id);
  if (!call) throw new UserError("not-found", "This tool call is not recorded here.");
  const input = redaction.text(inputText(call.use.toolInput));
  const output = call.result ? redaction.text(call.result.text) : null;
  return {
    id,
    name: call.use.toolName ?? "tool",
    input: input.slice(0, MAX_TOOL_TEXT),
    output: output?.slice(0, MAX_TOOL_TEXT) ?? null,
    cut: input.length > MAX_TOOL_TEXT || (output?.length ?? 0) > MAX_TOOL_TEXT,
  };
}

function requireTurn(turns: TurnIndex, id: string): StepGroup {
  const group = turns.of(id);
  if (group?.isTurn) return group;
  throw notATurn();
}

function notATurn(): UserError {
  return new UserError("not-found", "This turn is not recorded here, or it has expired.");
}

async function effects(
  { workspace }: OpenRepository,
  end: string,
  redact: (text: string) => string,
): Promise<SideEffect[]> {
  const rows = await listSideEffects(workspace, end).catch(() => []);
  return rows.map(({ kind, what, why, command }) => ({
    kind: kind ?? null,
    what: redact(what),
    why,
    command: command === undefined ? null : redact(command),
  }));
}

function checksOf({ workspace }: OpenRepository, before: Step | undefined, after: Step | undefined): CheckResult[] {
  const checks = readCheckResults(workspace);
  const command = (checks.command ?? []).map(shellWord).join(" ");
  const found: CheckResult[] = [];
  for (const [when, step] of [
    ["before", before],
    ["after", after],
  ] as const) {
    const verdict = step && checks.of(step);
    if (step && verdict) found.push({ step: step.id, when, command, verdict });
  }
  return found;
}

/** The next turn in a direction: 1 is older, -1 is newer. */
function neighbor(turns: TurnIndex, { position }: StepGroup, direction: 1 | -1): string | null {
  for (let distance = 1; distance < MAX_NEIGHBOR_DISTANCE; distance++) {
    const at = position + direction * distance;
    const group = at < 0 ? undefined : turns.at(at);
    if (!group) return null;
    if (group.isTurn) return (group.steps.find(({ kind }) => kind === "turn-end") ?? group.steps[0]).id;
  }
  return null;
}
