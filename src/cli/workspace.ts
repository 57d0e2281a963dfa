/** The work tree a command works in, with whatever a killed process left half done put right first. */
import { messageOf } from "../base/errors.ts";
import { logTo } from "../base/log.ts";
import { printable } from "../base/text.ts";
import { requireWorkspace, type Workspace } from "../git/workspace.ts";
import { recover } from "../restore/recover.ts";
import type { Io } from "./io.ts";

/** For commands that change something: what cannot be put right stops them. */
export async function openWorkspace(io: Io): Promise<Workspace> {
  const workspace = requireWorkspace(io.cwd);
  logTo(workspace.storeDir);
  for (const sentence of await recover(workspace)) io.say(`${io.err.paint("cyan", "note:")} ${printable(sentence)}`);
  return workspace;
}

/** For commands that only look: they show what there is, whatever else is wrong. */
export async function lookIntoWorkspace(io: Io): Promise<Workspace> {
  try {
    return await openWorkspace(io);
  } catch (error) {
    const workspace = requireWorkspace(io.cwd);
    io.say(`${io.err.paint("yellow", "warning:")} ${printable(messageOf(error))} \`backtrail doctor\` may say more.`);
    return workspace;
  }
}
