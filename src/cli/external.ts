/** A program that wants to be an agent is run only once its user has said so. */
import { realpathSync } from "node:fs";
import { basename } from "node:path";
import { infoFrom } from "../agents/external/info.ts";
import { findProgram } from "../agents/external/programs.ts";
import { requireAgent } from "../agents/registry.ts";
import { UserError } from "../base/errors.ts";
import { isInside } from "../base/paths.ts";
import { shownPath } from "../base/text.ts";
import { loadSettings } from "../config/load.ts";
import { fileOf, setValue } from "../config/write.ts";
import { findWorkspace } from "../git/workspace.ts";
import { confirm, interrupted } from "./ask.ts";
import type { Io } from "./io.ts";

const KEY = "external_agents";

/** Of the names that no agent has: those of programs, added to the user's own settings once they are allowed. */
export async function admitExternals(names: readonly string[], allowed: boolean, io: Io): Promise<void> {
  for (const name of names) {
    if (await isKnown(name)) continue;
    const program = findProgram(name);
    if (!program) continue;
    const { path } = program;
    requireOutside(path, io.cwd);
    const question = `${basename(path)} is a program of its own (${shownPath(path)}). Let Backtrail run it at every turn?`;
    if (!allowed && !(await confirm(io, question, "--external"))) throw interrupted();
    // Whoever does not answer now would not at every turn.
    infoFrom(program, true);
    const listed = loadSettings(null, { environment: {} }).config.external_agents;
    setValue(fileOf("user", null), "user", KEY, [...listed.filter((entry) => entry !== path), path]);
    io.say(`${io.err.paint("cyan", "note:")} ${shownPath(path)} is now in your setting \`${KEY}\`.`);
  }
}

/** What lies in the repository changes with what others push. */
function requireOutside(path: string, cwd: string): void {
  const root = findWorkspace(cwd)?.root;
  if (root === undefined || (!isInside(root, path) && !isInside(root, realpathSync(path)))) return;
  throw new UserError(
    "refused",
    `${shownPath(path)} lies in this repository, where others may change it.`,
    "Install it somewhere of your own.",
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
