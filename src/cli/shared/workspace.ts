/** Opens the work tree for a command, after repairing whatever a killed process left unfinished. */
import { existsSync } from "node:fs";
import { recover } from "../../api/restore/recover.ts";
import { messageOf } from "../../base/errors.ts";
import { logTo } from "../../base/log.ts";
import { userScopeFile } from "../../base/paths.ts";
import { printable } from "../../base/text.ts";
import { loadConfig } from "../../config/load.ts";
import { findWorkspace, isEnabled, requireWorkspace, type Workspace } from "../../git/workspace.ts";
import { putBackSettings } from "../../maintenance/put-back.ts";
import { noteText } from "../render/words/restore/notes.ts";
import type { Io } from "../terminal/io.ts";
import { ownExecutable } from "./executable.ts";

/** For commands that change something: a failed repair stops them. */
export async function openWorkspace(io: Io): Promise<Workspace> {
  await startUserScope(io);
  const workspace = requireWorkspace(io.cwd);
  logTo(workspace.storeDir);
  const events = [...(await recover(workspace)), ...(await putBackSettings(workspace, ownExecutable()))];
  for (const event of events) io.say(`${io.err.paint("cyan", "note:")} ${printable(noteText(event))}`);
  return workspace;
}

/** A repository that `enable --scope user` covers needs no separate `enable`. */
async function startUserScope(io: Io): Promise<void> {
  const workspace = findWorkspace(io.cwd);
  if (!workspace || isEnabled(workspace) || !existsSync(userScopeFile())) return;
  const { startUserScopeStore } = await import("../../recording/user-scope/start.ts");
  await startUserScopeStore(workspace, loadConfig(workspace));
}

/** For commands that only read: they show what exists, even if a repair fails. */
export async function openForReading(io: Io): Promise<Workspace> {
  try {
    return await openWorkspace(io);
  } catch (error) {
    const workspace = requireWorkspace(io.cwd);
    io.say(`${io.err.paint("yellow", "warning:")} ${printable(messageOf(error))} \`backtrail doctor\` may say more.`);
    return workspace;
  }
}
