/** Finds the session of a run whose agent reports no id, in its output or by hooks: the new transcript. */
import { readFileSync, statSync } from "node:fs";
import { sessionsAt } from "../agents/generic/place.ts";
import { textAt } from "../agents/registry/paths.ts";
import { isInside } from "../base/paths.ts";
import { findWorkspace } from "../git/workspace.ts";
import { completeLines, isOneDocument, parseLine } from "../transcripts/lines.ts";
import type { RunRequest } from "./headless.ts";

const MAX_READ = 4 * 1024 * 1024;

/** Null where nothing is recorded. */
export function toldByFiles({ cwd, runner: { profile } }: RunRequest) {
  const workspace = findWorkspace(cwd);
  if (!workspace) return null;
  const { root } = workspace;
  const before = new Set(sessionsAt(profile, root).keys());
  let told = false;
  const ask = (identify: (id: string) => void) => {
    if (told) return;
    const added = [...sessionsAt(profile, root)].filter(([id]) => !before.has(id));
    const [only, ...others] = added.filter(([, path]) => isOf(path, profile.transcript?.lines?.cwd, root));
    // With two new transcripts, the run's is unknown.
    if (!only || others.length > 0) return;
    told = true;
    identify(only[0]);
  };
  return { ask, conclude: ask };
}

/** Whether the transcript names this project, if this agent's transcripts name projects. */
function isOf(path: string, cwd: readonly string[] | undefined, root: string): boolean {
  if (cwd === undefined) return true;
  try {
    if (statSync(path).size > MAX_READ) return false;
    const bytes = readFileSync(path);
    const lines = isOneDocument(bytes) ? [{ start: 0, end: bytes.length }] : completeLines(bytes);
    for (const line of lines) {
      const directory = textAt(parseLine(bytes, line), cwd);
      if (directory !== null) return directory === root || isInside(root, directory);
    }
  } catch {
    // It is being written or was deleted: check again later.
  }
  return false;
}
