/**
 * Writes a handoff: summarizes a conversation for another agent within a size limit. Quotes prompts verbatim, shortens
 * answers, and lists files and unfinished work. Pure: also returns what it had to leave out.
 */
import { oneLine, plural, printable, shorten } from "../base/text.ts";
import type { Conversation } from "../model/conversation.ts";
import { turnsIn } from "./turns.ts";
import { type OpenEnd, openEnds } from "./unfinished-work.ts";

export interface HandoffRequest {
  /** The display name of the conversation's agent. */
  agent: string;
  /** The maximum number of characters. */
  limit: number;
  /** The changed files, if the caller knows them better than the conversation does. */
  files?: readonly string[];
}

export interface Handoff {
  text: string;
  /** Sentences about what was shortened or left out; empty if the handoff is complete. */
  cut: string[];
}

/** A shorter handoff would be useless. */
export const MIN_HANDOFF_CHARACTERS = 1_000;
export const DEFAULT_HANDOFF_CHARACTERS = 24_000;

/** The maximum length of each answer, tried from longest to shortest. */
const ANSWER_LENGTHS = [4_000, 1_500, 600, 200, 0];
const MAX_FILES = 100;
const FEW_FILES = 10;
const MAX_ENDS = 20;
const NAMED_IN_TURN = 8;

export function handOver(conversation: Conversation, request: HandoffRequest): Handoff {
  const limit = Math.max(request.limit, MIN_HANDOFF_CHARACTERS);
  const turns = turnsIn(conversation).map(({ prompt, answers, files: written }) => ({
    prompt: clean(prompt),
    answer: clean(answers.at(-1) ?? ""),
    files: written,
  }));
  const files = [...new Set(request.files ?? turns.flatMap((turn) => turn.files))];
  const ends = openEnds(conversation);
  const tell = (limits: Limits) => textOf(request.agent, turns, files, ends, limits);
  for (const answers of ANSWER_LENGTHS) {
    const limits = { answers, left: 0, prompts: Number.POSITIVE_INFINITY, files: MAX_FILES };
    if (tell(limits).text.length <= limit) return tell(limits);
  }
  for (const prompts of [Number.POSITIVE_INFINITY, Math.floor(limit / 4), 200]) {
    const without = (left: number) => tell({ answers: 0, left, prompts, files: FEW_FILES });
    const most = Math.max(turns.length - 2, 0);
    if (without(most).text.length <= limit) return without(fewest(most, (left) => without(left).text.length <= limit));
  }
  const last = tell({ answers: 0, left: Math.max(turns.length - 2, 0), prompts: 200, files: 0 });
  return { text: shorten(last.text, limit), cut: [...last.cut, "The end was cut off."] };
}

/** Binary search: the smallest count up to `most` that satisfies `does`, given that every larger count does too. */
function fewest(most: number, does: (count: number) => boolean): number {
  let [low, high] = [0, most];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (does(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

interface ToldTurn {
  prompt: string;
  answer: string;
  files: readonly string[];
}

interface Limits {
  answers: number;
  /** The number of oldest turns after the first one to skip. */
  left: number;
  prompts: number;
  files: number;
}

function textOf(
  agent: string,
  turns: readonly ToldTurn[],
  files: readonly string[],
  ends: readonly OpenEnd[],
  limits: Limits,
): Handoff {
  const cut: string[] = [];
  const parts: string[] = [];
  const isLeft = (i: number) => i > 0 && i <= limits.left;
  let shortened = 0;
  for (const [i, turn] of turns.entries()) {
    if (isLeft(i)) continue;
    const { prompt, answer } = turn;
    if (prompt.length > limits.prompts) cut.push(`Prompt ${i + 1} was cut from ${prompt.length} characters.`);
    if (answer.length > limits.answers) shortened++;
    parts.push(`### ${i + 1}. The user`, shorten(prompt, limits.prompts));
    if (answer !== "" && limits.answers > 0) parts.push(`${agent} answered:`, shorten(answer, limits.answers));
    if (turn.files.length > 0 && limits.answers > 0) parts.push(`Files: ${some(turn.files, NAMED_IN_TURN)}`);
  }
  if (shortened > 0) {
    const how = limits.answers === 0 ? "left out" : `shortened to ${limits.answers} characters`;
    cut.push(`${plural(shortened, "answer")} ${shortened === 1 ? "was" : "were"} ${how}.`);
  }
  if (limits.left > 0)
    cut.push(`${plural(limits.left, "turn")} after the first ${limits.left === 1 ? "was" : "were"} left out.`);
  if (files.length > limits.files) cut.push(`Only ${limits.files} of ${files.length} changed files are named.`);
  return { text: assembled(agent, parts, files.slice(0, limits.files), ends, cut), cut };
}

function assembled(
  agent: string,
  turns: readonly string[],
  files: readonly string[],
  ends: readonly OpenEnd[],
  cut: readonly string[],
): string {
  const parts = [
    "# You take over this work",
    `${agent} worked here before you. Below is what the user asked for and what was answered, oldest first. ` +
      "The files are as they were left: look at them before you change anything. Do not repeat what is done.",
  ];
  if (cut.length > 0) parts.push(`To keep this short: ${cut.join(" ")}`);
  parts.push("## The conversation", ...(turns.length > 0 ? turns : ["Nothing was said yet."]));
  if (files.length > 0) parts.push("## Files that were changed", files.map((file) => `- ${oneLine(file)}`).join("\n"));
  if (ends.length > 0) {
    const lines = ends.slice(0, MAX_ENDS).map(({ text }) => `- ${text}`);
    parts.push("## Open ends", lines.join("\n"));
  }
  parts.push(
    "## Now",
    ends.some(({ kind }) => kind === "unanswered")
      ? "Continue with the last prompt, which was not answered."
      : "Say in two or three sentences what you understood, then wait for the user.",
  );
  return `${parts.join("\n\n")}\n`;
}

function clean(text: string): string {
  return printable(text).trim();
}

function some(names: readonly string[], count: number): string {
  const shown = names.slice(0, count).map(oneLine).join(", ");
  return names.length > count ? `${shown} and ${names.length - count} more` : shown;
}
