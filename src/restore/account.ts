/** What an agent is told of a restore when its conversation goes on: what is undone, what is not, and why. */
import { oneLine, plural, printable, shorten, shownPath } from "../base/text.ts";
import type { NotUndone, RewindPlan } from "./model.ts";

const SHOWN_FILES = 12;
const SHOWN_EFFECTS = 8;
const REASON_LENGTH = 2_000;
const PROMPT_LENGTH = 200;

export function accountOf(plan: RewindPlan): string {
  const sentences = [
    `[Backtrail] ${happened(plan)}`,
    ...files(plan),
    ...reason(plan),
    ...stillThere(plan.notUndone),
    "Read a file again before you rely on what you know of it, and don't do again what was undone unless you are asked to.",
  ];
  return sentences.join("\n");
}

function happened({ target, options, chat }: RewindPlan): string {
  if (target.kind === "turns") {
    const turns = target.turns.map(({ turn, subagent, prompt }) => {
      const what = subagent === null ? `turn ${turn}` : `a subagent's work in turn ${turn}`;
      return prompt === null ? what : `${what} ("${shorten(oneLine(prompt), PROMPT_LENGTH)}")`;
    });
    return `The user took back what was done in ${turns.join(", ")}. What came later is still there.`;
  }
  if (options.chatOnly) return "The user took this conversation back to this point. The files were left as they are.";
  if (chat.kind !== "fork")
    return "The user took the files back to an earlier state. What was done after it is undone.";
  return "The user took this conversation and the files back to this point. What was done after it is undone.";
}

function files({ write, delete: removed, chmod, conflicts }: RewindPlan): string[] {
  const restored = [...write, ...chmod];
  const marked = conflicts.filter(({ markers }) => markers).map(({ path }) => path);
  return [
    ...(restored.length > 0 ? [`${plural(restored.length, "file")} changed: ${listed(restored)}.`] : []),
    ...(removed.length > 0 ? [`${plural(removed.length, "file")} removed: ${listed(removed)}.`] : []),
    ...(marked.length > 0 ? [`With conflict markers in them: ${listed(marked)}.`] : []),
  ];
}

function reason({ options }: RewindPlan): string[] {
  const words = printable(options.reason ?? "").trim();
  return words === "" ? [] : [`The user's reason: ${shorten(words, REASON_LENGTH)}`];
}

function stillThere(effects: readonly NotUndone[]): string[] {
  if (effects.length === 0) return [];
  const shown = effects.slice(0, SHOWN_EFFECTS).map(({ what, why }) => `- ${oneLine(what)}: ${oneLine(why)}`);
  const more = effects.length - shown.length;
  return ["Not undone:", ...shown, ...(more > 0 ? [`- and ${more} more`] : [])];
}

function listed(paths: readonly string[]): string {
  const shown = paths.slice(0, SHOWN_FILES).map(shownPath);
  const more = paths.length - shown.length;
  return more > 0 ? `${shown.join(", ")} and ${more} more` : shown.join(", ");
}
