/** Lets the user pick a session to continue. */
import { now } from "../../base/clock.ts";
import { UserError } from "../../base/errors.ts";
import { oneLine } from "../../base/text.ts";
import type { Step } from "../../model/step.ts";
import type { RecentSession } from "../../restore/resume/source.ts";
import { fit } from "../render/layout/text.ts";
import { age } from "../render/layout/time.ts";
import { askLine, interrupted } from "../terminal/ask.ts";
import type { Io } from "../terminal/io.ts";

export async function pickSession(sessions: readonly RecentSession[], io: Io): Promise<Step> {
  if (sessions.length === 0) {
    throw new UserError("not-found", "No conversation is recorded here yet.", "Start an agent and give it a task.");
  }
  const labels = sessions.map((session) => labelOf(session, io.err.columns - 8));
  if (!io.dumb) {
    const { select, isCancel } = await import("@clack/prompts");
    const options = labels.map((label, value) => ({ value, label }));
    const picked = await select({ message: "Continue which conversation?", options, output: process.stderr });
    if (isCancel(picked)) throw interrupted();
    return sessions[picked]?.step ?? missing(String(picked), sessions.length);
  }
  io.say("Continue which conversation?");
  for (const [i, label] of labels.entries()) io.say(`${String(i + 1).padStart(3)}. ${label}`);
  const answer = await askLine("Number, or Enter to cancel: ");
  if (answer === "") throw interrupted();
  const chosen = /^\d+$/.test(answer) ? sessions[Number(answer) - 1] : undefined;
  return chosen?.step ?? missing(answer, sessions.length);
}

function labelOf({ step, prompt }: RecentSession, room: number): string {
  const title = oneLine(prompt ?? "(no prompt)");
  return fit(`${age(step.time, now())}, ${oneLine(step.agent ?? "")}: ${title}`, Math.max(30, room));
}

function missing(answer: string, count: number): never {
  throw new UserError("usage", `"${answer}" is not a number from 1 to ${count}.`);
}
