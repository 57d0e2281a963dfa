/** Renders the origin of lines for `why`, `blame` and `explain`. */
import { oneLine, printable, shorten, shortSession } from "../../base/text.ts";
import type { LineStory, TurnStory } from "../../checkpoints/blame/blame.ts";
import type { Paint } from "../terminal/io.ts";
import { wrap } from "./layout/text.ts";
import { age } from "./layout/time.ts";

const LABEL = 12;
export const SHORT_COMMIT = 10;

export function labeled(label: string, value: string | null, paint: Paint): string[] {
  return value ? [`${paint("dim", label.padEnd(LABEL))}${value}`] : [];
}

export function section(title: string, text: string | null, columns: number, paint: Paint): string[] {
  const shown = text && printable(text).trim();
  if (!shown) return [];
  return ["", paint("bold", title), ...wrap(shown, columns - 2).map((line) => `  ${line}`.trimEnd())];
}

/** "claude-code 5f0f2b1e, turn 3" */
export function turnName({ agent, session, turn }: Pick<TurnStory, "agent" | "session" | "turn">): string {
  const name = `${oneLine(agent)} ${shortSession(session)}`;
  return turn === null ? name : `${name}, turn ${turn}`;
}

/** "3f2a… Fix the parser (Ada, 2 h ago)" */
export function commitLine(commit: LineStory["commit"], now: Date, paint: Paint): string {
  if (!commit) return "not committed yet";
  const who = `(${oneLine(commit.author)}, ${age(commit.time, now)})`;
  return `${paint("yellow", commit.id.slice(0, SHORT_COMMIT))} ${shorten(oneLine(commit.subject), 72)} ${paint("dim", who)}`;
}

export function storyJson({ line, text, commit, turn }: LineStory) {
  return {
    line,
    text,
    commit,
    checkpoint: turn?.checkpoint ?? null,
    agent: turn?.agent ?? null,
    session: turn?.session ?? null,
    turn: turn?.turn ?? null,
    step: turn?.step?.id ?? null,
    prompt: turn?.prompt ?? null,
    response: turn?.response ?? null,
  };
}
