/** `save`: saves the current state under a name. */

import { now } from "../../../base/clock.ts";
import { oneLine } from "../../../base/text.ts";
import { shellWord } from "../../../model/command.ts";
import type { Step } from "../../../model/step.ts";
import { saveManually } from "../../../recording/save.ts";
import { sessionOfShell } from "../../../recording/session/store.ts";
import { namedStep, requireFreeName } from "../../../restore/targets/names.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { age } from "../../render/layout/time.ts";
import { stepJson } from "../../render/step/json.ts";
import { WHY_NOT_CAPTURED } from "../../render/step/step.ts";
import { openWorkspace } from "../../shared/workspace.ts";
import type { Io } from "../../terminal/io.ts";
import { withProgress } from "../../terminal/progress.ts";
import type { saveCommand } from "./commands.ts";

type Options = OptionsOf<typeof saveCommand>;

export async function run(options: Options, io: Io): Promise<undefined> {
  const workspace = await openWorkspace(io);
  const name = (options.message ?? []).join(" ").trim() || null;
  if (name !== null) await requireFreeName(workspace, name);
  const previous = name === null ? undefined : namedStep(workspace, name);
  const { step, chat, agent } = await withProgress(io, "Saving", () =>
    saveManually(workspace, name, sessionOfShell(workspace)),
  );
  if (options.json) {
    io.json({ step: stepJson(step), chat, agent, previous: previous ? stepJson(previous) : null });
    return;
  }
  const { paint } = io.out;
  io.print(`Saved ${paint("magenta", step.id)}${step.name ? ` "${oneLine(step.name)}"` : ""}.`);
  if (previous) {
    const before = `${paint("magenta", previous.id)} (${age(previous.time, now())})`;
    io.print(`  name: referred to ${before} before; that step is kept`);
  }
  io.print(`  code: recorded`);
  io.print(`  chat: ${chat}${chat === "recorded" && agent ? ` (${oneLine(agent)})` : ""}`);
  for (const { path, why } of step.snapshot.notCaptured)
    io.say(`${io.err.paint("yellow", "not recorded:")} ${oneLine(path)} (${WHY_NOT_CAPTURED[why]})`);
  io.say(io.err.paint("dim", `Return to it with \`backtrail rewind ${targetOf(step)}\`.`));
}

/** The name as a shell takes it. A name that would be an option, or that a terminal can't show, is left to the id. */
function targetOf({ id, name }: Step): string {
  return name === null || name !== oneLine(name) || /^-|`/.test(name) ? id : shellWord(name);
}
