/**
 * Merges three versions of a text line by line. git reports changes to neighboring lines as a conflict; here only
 * changes to the same line, or insertions at the same position, conflict.
 */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeDirectory, temporaryBeside } from "../../base/fs/files.ts";
import { tryGit } from "../run.ts";
import type { Workspace } from "../workspace.ts";

export interface ThreeTexts {
  base: Buffer;
  ours: Buffer;
  theirs: Buffer;
}

const MAX_BYTES = 1 << 20;
const NAMES = ["ours", "base", "theirs"] as const;

/** Returns undefined if the texts conflict, are binary or too large. */
export async function mergeLines(workspace: Workspace, texts: ThreeTexts): Promise<Buffer | undefined> {
  if (NAMES.some((name) => texts[name].length > MAX_BYTES || texts[name].includes(0))) return undefined;
  // Insert a common separator between all lines, so that changes to neighboring lines no longer touch.
  const between = `~${crypto.randomUUID()}~`;
  const directory = temporaryBeside(join(workspace.stateDir, "merge-lines"));
  try {
    makeDirectory(directory);
    for (const name of NAMES) {
      const lines = texts[name].toString("latin1").split("\n");
      writeFileSync(join(directory, name), `${lines.join(`\n${between}\n`)}\n`, "latin1");
    }
    const merged = await tryGit(["merge-file", "--stdout", ...NAMES], { cwd: directory });
    if (merged.code !== 0) return undefined;
    const lines = merged.stdout.toString("latin1").slice(0, -1).split("\n");
    return Buffer.from(lines.filter((line) => line !== between).join("\n"), "latin1");
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
