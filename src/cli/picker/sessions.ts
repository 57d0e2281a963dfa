/** Lets a person pick a session to go on with. */
import { now } from "../../base/clock.ts";
import { UserError } from "../../base/errors.ts";
import { oneLine } from "../../base/text.ts";
import type { Step } from "../../steps/model.ts";
import { askLine, interrupted } from "../ask.ts";
import type { Io } from "../io.ts";
import { fit } from "../render/text.ts";
import { age } from "../render/time.ts";

/** Each by its newest step. */
export async function pickSession(sessions: readonly Step[], io: Io): Promise<Step> {
  if (sessions.length === 0) {
    throw new UserError(
      "not-found",
      "No conversation is recorded here yet.",
      "Start an agent and give it something to do.",
    );
  }
  const labels = sessions.map((step) => labelOf(step, io.err.columns - 8));
  if (!io.dumb) {
    const { select, isCancel } = await import("@clack/prompts");
    const options = labels.map((label, value) => ({ value, label }));
    const picked = await select({ message: "Go on with", options, output: process.stderr });
    if (isCancel(picked)) throw interrupted();
    return sessions[picked] ?? missing(String(picked), sessions.length);
  }
  io.say("Go on with:");
  for (const [i, label] of labels.entries()) io.say(`${String(i + 1).padStart(3)}. ${label}`);
  const answer = await askLine("Number, or nothing to stop: ");
  if (answer === "") throw interrupted();
  const chosen = /^\d+$/.test(answer) ? sessions[Number(answer) - 1] : undefined;
  return chosen ?? missing(answer, sessions.length);
}

function labelOf(step: Step, room: number): string {
  const prompt = oneLine(step.prompt ?? "(no prompt)");
  return fit(`${age(step.time, now())}, ${oneLine(step.agent ?? "")}: ${prompt}`, Math.max(30, room));
}

function missing(answer: string, count: number): never {
  throw new UserError("usage", `"${answer}" is none of 1 to ${count}.`);
}
