/** `disable`: stops recording here and takes our hooks out again. */
import { plural, printable, shownPath } from "../../base/text.ts";
import { disable } from "../../lifecycle/enable.ts";
import { listSteps } from "../../steps/list.ts";
import { ownExecutable } from "../executable.ts";
import { EXIT } from "../exit.ts";
import type { Io } from "../io.ts";
import { placeOf } from "../render/place.ts";

interface Options {
  agent?: string[];
  json?: boolean;
}

const DONE: Readonly<Record<string, string>> = {
  restored: "as it was before",
  removed: "removed: it was ours",
  edited: "our entries taken out",
  updated: "our entries taken out",
  kept: "left in place",
  unchanged: "nothing of ours in it",
};

export async function run(options: Options, io: Io): Promise<number | undefined> {
  const report = await disable(io.cwd, { agents: options.agent, executable: ownExecutable() });
  const { workspace, removed, failed, left } = report;
  const code = failed.length > 0 ? EXIT.failed : undefined;
  if (options.json) {
    io.json({ enabled: left.length > 0, agents: removed, failed, left });
    return code;
  }
  if (left.length === 0) io.print(`Recording is off in ${shownPath(workspace.root)}.`);
  else io.print(`Still recording: ${left.join(", ")}.`);
  for (const { file, action } of removed.flatMap(({ files }) => files)) {
    io.print(`  ${placeOf(file, workspace.root)}: ${DONE[action] ?? action}`);
  }
  const kept = listSteps(workspace, { all: true }).length;
  if (left.length === 0 && kept > 0)
    io.say(`${plural(kept, "step")} stay; \`backtrail enable\` brings them back into use.`);
  for (const note of removed.flatMap(({ notes }) => notes))
    io.say(`${io.err.paint("cyan", "note:")} ${printable(note)}`);
  for (const { agent, message } of failed) io.say(`${io.err.paint("red", "error:")} ${agent}: ${printable(message)}`);
  return code;
}
