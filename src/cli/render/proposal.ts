/** Renders an agent's proposal: one entry of a list, and the lines above its plan. */
import type { Proposal } from "../../api/proposals.ts";
import { oneLine, plural, printable, shorten } from "../../base/text.ts";
import type { Channel, Paint } from "../terminal/io.ts";
import { fit, wrap } from "./layout/text.ts";
import { age } from "./layout/time.ts";

const PROMPT_LENGTH = 60;
const WIDTH = 100;

/** `claude-code proposes to undo a turn` and its reason, which is the agent's and not ours. */
export function reasonLines(
  { kind, by, reason, plan }: Pick<Proposal, "kind" | "by" | "reason" | "plan">,
  paint: Paint,
): string[] {
  const who = by ? oneLine(by.agent) : "An agent";
  return [`${paint("bold", who)} proposes to ${action(kind, plan)}, because:`, ...reasonText(reason, WIDTH)];
}

/**
 * ```
 * kqtxlmnopqrs  undo 1 turn: "Cache the prices"  claude-code, 2 min ago
 *   The cache returns old prices.
 *   Would write 1 file and delete 1. Apply it: backtrail apply kqtxlmnopqrs
 * ```
 */
export function proposalLines(proposal: Proposal, { paint, columns }: Channel, now: Date): string[] {
  const { id, kind, state, by, time, expires, plan, reason } = proposal;
  const who = by ? `${oneLine(by.agent)}, ` : "";
  const effects =
    state === "applied"
      ? `${plural(plan.written, "file")} written, ${plan.deleted} deleted`
      : `Would write ${plural(plan.written, "file")} and delete ${plan.deleted}`;
  const left = state === "open" ? `Until ${expires.slice(0, 16).replace("T", " ")} UTC: backtrail apply ${id}` : state;
  return [
    fit(`${paint("magenta", id)}  ${action(kind, plan)}  ${paint("dim", `${who}${age(time, now)}`)}`, columns + 20),
    ...reasonText(reason, columns),
    `  ${effects}. ${left}`,
  ];
}

function action(kind: Proposal["kind"], { turns }: Proposal["plan"]): string {
  const [only, ...others] = turns;
  const prompt = only?.prompt && others.length === 0 ? ` "${shorten(oneLine(only.prompt), PROMPT_LENGTH)}"` : "";
  const count = plural(turns.length, "turn");
  return kind === "undo" ? `undo ${count}${prompt}` : `rewind ${count}${prompt}`;
}

function reasonText(reason: string, columns: number): string[] {
  return wrap(printable(reason).trim(), columns - 2).map((line) => `  ${line}`.trimEnd());
}
