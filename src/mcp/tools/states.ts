/** Tools about states: `last_green` finds the newest one that passed the check, `savepoint` names the current one. */
import * as z from "zod/v4";
import { UserError } from "../../base/errors.ts";
import { moment, named, namedAll, QUOTED_NOTE, quote } from "../answer.ts";
import { ADDS, READS, tool } from "../tool.ts";

export const last_green = tool({
  name: "last_green",
  title: "Newest state that passed the check",
  description:
    "Finds the newest recorded state in which the project's check passed, so that you can compare with it (`diff`) or propose to go back to it (`propose_rewind`).",
  input: z.object({}),
  annotations: READS,
  async answer(_, context) {
    const workspace = context.read();
    const { lastGreen, readCheckResults } = await import("../../restore/targets/check-results.ts");
    const { command } = readCheckResults(workspace);
    if (command === null)
      return "No state has been checked here. A person can start it with `backtrail check -- <command>`.";
    const redaction = await context.redaction(workspace);
    const check = quote(redaction.text(command.join(" ")), 300);
    const step = lastGreen(workspace);
    if (!step) return ["No state that led here has passed the check:", ...check].join("\n");
    const when = { "turn-end": `after turn ${step.turn}`, "turn-start": `before turn ${step.turn}` }[
      step.kind as string
    ];
    return [
      `${step.id}: ${[when, moment(step.time)].filter(Boolean).join(", ")}. ${QUOTED_NOTE}`,
      ...quote(redaction.text(step.prompt ?? ""), 500),
      "check:",
      ...check,
    ].join("\n");
  },
});

export const savepoint = tool({
  name: "savepoint",
  title: "Save the current state",
  description:
    "Saves the current files and the conversation under a name. Turns are recorded anyway: use it within a turn, before something risky. Changes no file.",
  input: z.object({
    name: z.string().trim().min(1).max(80).describe('A name for the state, such as "before the migration"'),
  }),
  annotations: { ...ADDS, idempotentHint: false },
  async answer({ name }, context) {
    const workspace = await context.write();
    const { meaningOf } = await import("../../restore/targets/names.ts");
    const { saveManually } = await import("../../recording/save.ts");
    if (/\p{Cc}/u.test(name)) throw new UserError("usage", "The name contains control characters.");
    if (await meaningOf(workspace, name))
      throw new UserError(
        "usage",
        "This name means another state already.",
        `Choose another, such as "before ${name}".`,
      );
    const { step } = await saveManually(workspace, name, context.caller(workspace));
    const missed = step.snapshot.notCaptured.map(({ path }) => path);
    return [
      `Saved as ${step.id}. \`diff\` and \`propose_rewind\` take this id or the name.`,
      ...(missed.length > 0 ? [`Not saved: ${namedAll(missed.map(named), 5)}.`] : []),
    ].join("\n");
  },
});
