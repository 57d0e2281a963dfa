/** `save`: the present state under a name. */
import { oneLine } from "../../base/text.ts";
import { saveManually } from "../../lifecycle/save.ts";
import type { Io } from "../io.ts";
import { withProgress } from "../progress.ts";
import { stepJson } from "../render/step-json.ts";
import { openWorkspace } from "../workspace.ts";

interface Options {
  message?: string[];
  json?: boolean;
}

export async function run(options: Options, io: Io): Promise<undefined> {
  const workspace = await openWorkspace(io);
  const name = (options.message ?? []).join(" ").trim() || null;
  const { step, chat, agent } = await withProgress(io, "Saving", () => saveManually(workspace, name));
  if (options.json) {
    io.json({ step: stepJson(step), chat, agent });
    return;
  }
  const { paint } = io.out;
  io.print(`Saved ${paint("magenta", step.id)}${step.name ? ` "${oneLine(step.name)}"` : ""}.`);
  io.print(`  code: recorded`);
  io.print(`  chat: ${chat}${chat === "recorded" && agent ? ` (${oneLine(agent)})` : ""}`);
  for (const { path } of step.snapshot.notCaptured)
    io.say(`${io.err.paint("yellow", "not captured:")} ${oneLine(path)}`);
  io.say(io.err.paint("dim", `\`backtrail rewind ${step.id}\` comes back to it.`));
}
