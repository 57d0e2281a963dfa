/** Composes the undo notice for an agent whose conversation continues: what is undone, what is not, and why. */

import { oneLine, plural, printable, shorten, shownPath } from "../../../../base/text.ts";
import type { SideEffect } from "../../../../restore/side-effects/model.ts";
import type { RestorePlan, RewindOptions, StateTarget } from "../../../../restore/types.ts";
import { sideEffectRow } from "./side-effects.ts";

const SHOWN_FILES = 12;
const SHOWN_EFFECTS = 8;
const SHOWN_TURNS = 5;
const ID_LENGTH = 40;
const REASON_LENGTH = 2_000;
const PROMPT_LENGTH = 200;

export function undoNotice(plan: RestorePlan): string {
  const sentences = [
    `[Backtrail] ${happened(plan)}`,
    ...files(plan),
    ...reason(plan),
    ...stillThere(plan.notUndone),
    ...(plan.options.proposal ? [DELIVERED] : []),
    "Read a file again before you rely on what you know of it, and do not repeat undone work unless you are asked to.",
  ];
  return sentences.join("\n");
}

/** The notice for a session that stays open and whose conversation does not mention the restore. */
export function openSessionNotice(plan: RestorePlan): string {
  const { proposal } = plan.options;
  const sentences = [
    `[Backtrail] ${restored(plan)}`,
    ...files(plan),
    ...reason(plan),
    ...(proposal ? [...stillThere(plan.notUndone), DELIVERED] : []),
    "This conversation describes the files as they were before. Read a file again before you rely on it or edit it, and do not repeat undone work unless the user asks for it.",
  ];
  return sentences.join("\n");
}

/** Without this an agent answers and proposes the same again, because its context ends with the proposal. */
const DELIVERED =
  "This is done: do not propose it again. Your earlier messages have reached the user: do not repeat them.";

function restored({ kind, target, options }: RestorePlan): string {
  if (kind === "redo")
    return "Since your last turn, the user reverted an earlier rewind, undo or take in this work tree, with `backtrail redo` or `backtrail ops undo`.";
  if (target.kind === "turns" && target.fork !== undefined)
    return `The user ran \`backtrail fork take\` since your last turn: it merged the changes of the fork ${oneLine(target.fork)} into this work tree.`;
  if (target.kind === "turns") {
    const shown = target.turns.slice(0, SHOWN_TURNS).map(({ agent, session, turn, subagent, prompt }) => {
      const what = subagent === null ? `turn ${turn}` : `a subagent's work in turn ${turn}`;
      return `${what} of ${oneLine(agent)} session ${shorten(oneLine(session), ID_LENGTH)}${quote(prompt)}`;
    });
    const more = target.turns.length - shown.length;
    const turns = more > 0 ? [...shown, `${more} more`] : shown;
    return `The user ran \`${commandOf(options, "undo")}\` since your last turn: it removed the changes of ${turns.join(", ")}. Later changes are still there.`;
  }
  const { where, prompt } = destination(target);
  if (options.keepMine)
    return `The user ran \`backtrail rewind --keep-mine\` since your last turn: it removed the changes of all turns since the state ${where}${quote(prompt)}. The user's own changes are still there.`;
  return `The user ran \`${commandOf(options, "rewind")}\` since your last turn: the files are as they were ${where}${quote(prompt)}. Later changes are gone.`;
}

function commandOf({ proposal }: RewindOptions, command: "undo" | "rewind"): string {
  return proposal ? `backtrail apply ${proposal.id}` : `backtrail ${command}`;
}

function destination(target: StateTarget): { where: string; prompt: string | null } {
  if (target.kind === "commit") return { where: `in commit ${target.commit.slice(0, 12)}`, prompt: null };
  const { kind, turn, time, prompt } = target.step;
  const when = `${time.slice(0, 16).replace("T", " ")} UTC`;
  if (kind === "turn-start") return { where: `before turn ${turn} (${when})`, prompt };
  if (kind === "turn-end") return { where: `after turn ${turn} (${when})`, prompt };
  return { where: `at ${when}`, prompt: null };
}

function quote(prompt: string | null): string {
  return prompt === null ? "" : ` ("${shorten(oneLine(prompt), PROMPT_LENGTH)}")`;
}

function happened({ target, options, chat }: RestorePlan): string {
  if (target.kind === "turns") {
    const turns = target.turns.map(({ turn, subagent, prompt }) => {
      const what = subagent === null ? `turn ${turn}` : `a subagent's work in turn ${turn}`;
      return prompt === null ? what : `${what} ("${shorten(oneLine(prompt), PROMPT_LENGTH)}")`;
    });
    return `The user undid ${turns.join(", ")}. Later changes are still there.`;
  }
  if (options.chatOnly) return "The user rewound this conversation to this point. The files were not changed.";
  const undone = options.keepMine
    ? "Later changes by agents are undone; the user's own changes are still there."
    : "Later changes are undone.";
  if (chat.kind !== "fork") return `The user rewound the files to an earlier state. ${undone}`;
  return `The user rewound this conversation and the files to this point. ${undone}`;
}

function files({ write, delete: removed, chmod, conflicts }: RestorePlan): string[] {
  const restored = [...write, ...chmod];
  const marked = conflicts.filter(({ markers }) => markers).map(({ path }) => path);
  return [
    ...(restored.length > 0 ? [`${plural(restored.length, "file")} changed: ${listed(restored)}.`] : []),
    ...(removed.length > 0 ? [`${plural(removed.length, "file")} removed: ${listed(removed)}.`] : []),
    ...(marked.length > 0 ? [`With conflict markers in them: ${listed(marked)}.`] : []),
  ];
}

function reason({ options }: RestorePlan): string[] {
  const words = printable(options.reason ?? "").trim();
  if (words === "") return [];
  const label = options.proposal ? "The reason in the proposal" : "The user's reason";
  return [`${label}: ${shorten(words, REASON_LENGTH)}`];
}

function stillThere(effects: readonly SideEffect[]): string[] {
  if (effects.length === 0) return [];
  const rows = effects.slice(0, SHOWN_EFFECTS).map(sideEffectRow);
  const shown = rows.map(({ what, why }) => `- ${oneLine(what)}: ${oneLine(why)}`);
  const more = effects.length - shown.length;
  return ["Not undone:", ...shown, ...(more > 0 ? [`- and ${more} more`] : [])];
}

function listed(paths: readonly string[]): string {
  const shown = paths.slice(0, SHOWN_FILES).map(shownPath);
  const more = paths.length - shown.length;
  return more > 0 ? `${shown.join(", ")} and ${more} more` : shown.join(", ");
}
