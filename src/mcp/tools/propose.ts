/** Tools: `propose_undo` and `propose_rewind` store a plan for a person to apply. They change no file. */
import * as z from "zod/v4";
import type { Proposed } from "../../api/proposals.ts";
import { plural } from "../../base/text.ts";
import type { Redaction } from "../../checkpoints/write/redaction.ts";
import type { Workspace } from "../../git/workspace.ts";
import { moment, named, page, QUOTED_NOTE, quote } from "../answer.ts";
import type { Context } from "../context.ts";
import { ADDS, tool } from "../tool.ts";

const SHOWN_FILES = 20;
const SHOWN_EFFECTS = 8;
const REASON = z.string().trim().min(1).max(1_000).describe("Why these changes should go, for the user who decides");

export const propose_undo = tool({
  name: "propose_undo",
  title: "Propose to undo a turn",
  description:
    "Proposes to take one turn's changes out of the files and to keep everything later. Nothing changes: the answer is a plan with an id, and the user decides with `backtrail apply <id>`. Show the user that command.",
  input: z.object({
    turn: z.string().min(1).max(200).describe("The turn's id from `turns`"),
    reason: REASON,
  }),
  annotations: ADDS,
  async answer({ turn, reason }, context) {
    const workspace = await context.write();
    const { proposeUndo } = await import("../../api/proposals.ts");
    const proposed = await proposeUndo(workspace, [turn], { reason, by: callerOf(workspace, context) });
    return answerWith(proposed, workspace, context);
  },
});

export const propose_rewind = tool({
  name: "propose_rewind",
  title: "Propose to go back to a state",
  description:
    "Proposes to bring all files back to a recorded state, with a copy of the conversation that ends there. Nothing changes: the answer is a plan with an id, and the user decides with `backtrail apply <id>`. Show the user that command.",
  input: z.object({
    target: z.string().min(1).max(200).describe("A state: a step's id, `last-green`, a savepoint's name, a commit"),
    reason: REASON,
  }),
  annotations: ADDS,
  async answer({ target, reason }, context) {
    const workspace = await context.write();
    const { proposeRewind } = await import("../../api/proposals.ts");
    const proposed = await proposeRewind(workspace, target, { reason, by: callerOf(workspace, context) });
    return answerWith(proposed, workspace, context);
  },
});

function callerOf(workspace: Workspace, context: Context): { agent: string; session: string } | null {
  const state = context.caller(workspace);
  return state ? { agent: state.agent, session: state.id } : null;
}

/** With a question to the person, if the user's settings want it. */
async function answerWith(proposed: Proposed, workspace: Workspace, context: Context) {
  const redaction = await context.redaction(workspace);
  const text = describe(proposed, redaction);
  const { loadConfig } = await import("../../config/load.ts");
  if (loadConfig(workspace).mcp.apply !== "ask") return text;
  const { applyQuestion } = await import("../apply-question.ts");
  return { text, question: applyQuestion(proposed, fileLines(proposed.plan, redaction), workspace, redaction) };
}

/** "delete src/a.ts", for each file of the plan. */
function fileLines(plan: Proposed["plan"], redaction: Redaction): string[] {
  return [
    ...plan.write.map((path) => `write ${named(redaction.name(path))}`),
    ...plan.chmod.map((path) => `change the mode of ${named(redaction.name(path))}`),
    ...plan.delete.map((path) => `delete ${named(redaction.name(path))}`),
  ];
}

function describe({ proposal, plan }: Proposed, redaction: Redaction): string {
  const what = proposal.kind === "undo" ? "undo" : "rewind";
  const turns = plan.turns.map(({ id }) => named(id));
  const files = fileLines(plan, redaction);
  const left = files.length - SHOWN_FILES;
  return page(
    [
      `Proposal ${proposal.id} (${what}). Nothing has changed yet: the user decides.`,
      "",
      "Tell the user what you propose and why, and that this command shows the plan and applies it:",
      `  backtrail apply ${proposal.id}`,
      "",
      ...(turns.length > 0 ? [`It undoes ${plural(turns.length, "turn")}: ${turns.slice(0, 10).join(", ")}.`] : []),
      `It would touch ${plural(files.length, "file")}:`,
      ...files.slice(0, SHOWN_FILES).map((line) => `  ${line}`),
      ...(left > 0 ? [`  and ${left} more`] : []),
      ...notUndone(plan, redaction),
      ...yours(plan),
      `The proposal expires at ${moment(proposal.expires)}. If these files change before, the plan is drawn up again.`,
      "Don't make these changes yourself meanwhile. Your next prompt says whether the user applied it.",
    ],
    undefined,
  );
}

function notUndone({ notUndone: effects }: Proposed["plan"], redaction: Redaction): string[] {
  if (effects.length === 0) return [];
  const shown = effects
    .slice(0, SHOWN_EFFECTS)
    .flatMap(({ what, why }) => quote(redaction.text(`${what}: ${why}`).replaceAll("\n", " "), 300));
  const left = effects.length - SHOWN_EFFECTS;
  return [`Not undone by it. ${QUOTED_NOTE}`, ...shown, ...(left > 0 ? [`and ${left} more`] : [])];
}

function yours({ yours: files }: Proposed["plan"]): string[] {
  const lost = files.filter(({ kept }) => !kept);
  return lost.length > 0 ? [`It also undoes changes that the user made in ${plural(lost.length, "file")}.`] : [];
}
