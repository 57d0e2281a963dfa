/** The question whether to apply a proposal, and what happens if the person says yes. */
import { applyProposal, type Proposed } from "../api/proposals.ts";
import { oneLine, plural, shorten } from "../base/text.ts";
import type { Redaction } from "../checkpoints/write/redaction.ts";
import type { Workspace } from "../git/workspace.ts";
import { page } from "./answer.ts";
import type { Question } from "./tool.ts";

const SHOWN_FILES = 15;
const SHOWN_EFFECTS = 5;

/** `files` says what happens to each file. */
export function applyQuestion(
  proposed: Proposed,
  files: readonly string[],
  workspace: Workspace,
  redaction: Redaction,
): Question {
  const { id, kind, revision } = proposed.proposal;
  return {
    message: messageOf(proposed, files, redaction),
    async accept() {
      // Only the plan that the person has read: a changed one is drawn up again and refused.
      const { written, deleted, safetyStep } = await applyProposal(workspace, id, { revision });
      return page(
        [
          `The user agreed, and proposal ${id} (${kind}) is applied: ${plural(written, "file")} written, ${deleted} deleted.`,
          `The state before is saved as ${safetyStep}; the user can go back to it with \`backtrail redo\`.`,
          "Read the files again before you change them. Don't repeat undone work, and don't propose it again.",
        ],
        undefined,
      );
    },
  };
}

function messageOf({ proposal, plan }: Proposed, files: readonly string[], redaction: Redaction): string {
  const left = files.length - SHOWN_FILES;
  const effects = plan.notUndone.map(({ what, why }) => line(`${what}: ${why}`, redaction));
  const hidden = effects.length - SHOWN_EFFECTS;
  return [
    `An agent proposes to ${proposal.kind === "undo" ? "undo a turn" : "rewind"} (Backtrail proposal ${proposal.id}).`,
    `Its reason: ${JSON.stringify(line(proposal.reason, redaction))}`,
    "",
    `It would touch ${plural(files.length, "file")}:`,
    ...files.slice(0, SHOWN_FILES).map((file) => `  ${file}`),
    ...(left > 0 ? [`  and ${left} more`] : []),
    ...(effects.length > 0 ? ["Not undone by it:", ...effects.slice(0, SHOWN_EFFECTS).map((text) => `  ${text}`)] : []),
    ...(hidden > 0 ? [`  and ${hidden} more`] : []),
    "",
    "The current state is saved first: `backtrail redo` takes it back.",
  ].join("\n");
}

function line(text: string, redaction: Redaction): string {
  return shorten(oneLine(redaction.text(text)), 300);
}
