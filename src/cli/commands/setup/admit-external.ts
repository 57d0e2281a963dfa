/** Asks the user before an external program may run as an agent. */
import { realpathSync } from "node:fs";
import { basename } from "node:path";
import { infoFrom } from "../../../agents/external/info.ts";
import { findProgram } from "../../../agents/external/programs.ts";
import { requireAgent } from "../../../agents/registry/registry.ts";
import { UserError } from "../../../base/errors.ts";
import { isInside } from "../../../base/paths.ts";
import { shownPath } from "../../../base/text.ts";
import { loadSettings } from "../../../config/load.ts";
import { fileOf, setValue } from "../../../config/write.ts";
import { findWorkspace } from "../../../git/workspace.ts";
import { confirm, interrupted } from "../../terminal/ask.ts";
import type { Io } from "../../terminal/io.ts";

const KEY = "external_agents";

/**
 * For each name that is an external program instead of a known agent: adds it to the user's own settings once allowed.
 */
export async function admitExternals(names: readonly string[], allowed: boolean, io: Io): Promise<void> {
  for (const name of names) {
    if (await isKnown(name)) continue;
    const program = findProgram(name);
    if (!program) continue;
    const { path } = program;
    requireOutside(path, io.cwd);
    const question = `${basename(path)} is a program (${shownPath(path)}). Let Backtrail run it at every turn?`;
    if (!allowed && !(await confirm(io, question, "--external"))) throw interrupted();
    // Fail now: a program that does not answer here would not answer at any turn either.
    infoFrom(program, true);
    const listed = loadSettings(null, { environment: {} }).config.external_agents;
    setValue(fileOf("user", null), "user", KEY, [...listed.filter((entry) => entry !== path), path]);
    io.say(`${io.err.paint("cyan", "note:")} ${shownPath(path)} is now in your setting \`${KEY}\`.`);
  }
}

/** Refuses programs inside the repository, because other people's pushes can change them. */
function requireOutside(path: string, cwd: string): void {
  const root = findWorkspace(cwd)?.root;
  if (root === undefined || (!isInside(root, path) && !isInside(root, realpathSync(path)))) return;
  throw new UserError(
    "refused",
    `${shownPath(path)} is in this repository, where others may change it.`,
    "Install it outside the repository.",
  );
}

async function isKnown(name: string): Promise<boolean> {
  try {
    await requireAgent(name);
    return true;
  } catch (error) {
    if (error instanceof UserError) return false;
    throw error;
  }
}
