/** `doctor bundle`: what helps to find a fault, in one file that may be shown to others. */

import { closeSync, openSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { now } from "../../../base/clock.ts";
import { codeOf, UserError } from "../../../base/errors.ts";
import { writeAll } from "../../../base/files.ts";
import { shownPath } from "../../../base/text.ts";
import { findWorkspace } from "../../../git/workspace.ts";
import { bundle } from "../../../lifecycle/bundle.ts";
import { ownExecutable } from "../../executable.ts";
import type { Io } from "../../io.ts";
import { withProgress } from "../../progress.ts";

export async function run(options: { file?: string; json?: boolean }, io: Io): Promise<undefined> {
  const content = await withProgress(io, "Examining", () => bundle(findWorkspace(io.cwd), ownExecutable()));
  const stamp = now()
    .toISOString()
    .replaceAll(/[-:]|\.\d+/g, "");
  const file = options.file ? resolve(io.cwd, options.file) : join(tmpdir(), `backtrail-doctor-${stamp}.json`);
  write(file, `${JSON.stringify(content, null, 2)}\n`);
  if (options.json) {
    io.json({ file });
    return;
  }
  io.print(shownPath(file));
  io.say("It has no prompts, answers, code or names of your files. Read it before you send it.");
}

/** Never over something that is there, nor through a link that somebody laid in a shared directory. */
function write(file: string, text: string): void {
  let fd: number;
  try {
    fd = openSync(file, "wx", 0o600);
  } catch (error) {
    const why = codeOf(error) === "EEXIST" ? "it is there already" : `it can't be made (${codeOf(error)})`;
    throw new UserError(
      "failed",
      `${file} was not written: ${why}.`,
      "Name another file: `backtrail doctor bundle <file>`.",
    );
  }
  try {
    writeAll(fd, Buffer.from(text));
  } finally {
    closeSync(fd);
  }
}
