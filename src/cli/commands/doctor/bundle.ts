/** `doctor bundle`: writes diagnostics into one file that is safe to share. */

import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { now } from "../../../base/clock.ts";
import { shownPath } from "../../../base/text.ts";
import { findWorkspace } from "../../../git/workspace.ts";
import { bundle } from "../../../maintenance/doctor/bundle.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { findingText } from "../../render/words/setup/doctor.ts";
import { ownExecutable } from "../../shared/executable.ts";
import type { Io } from "../../terminal/io.ts";
import { jsonText } from "../../terminal/json.ts";
import { requireFree, writeOutput } from "../../terminal/output-file.ts";
import { withProgress } from "../../terminal/progress.ts";
import type { doctorBundleCommand } from "./commands.ts";

export async function run(options: OptionsOf<typeof doctorBundleCommand>, io: Io): Promise<undefined> {
  const stamp = now()
    .toISOString()
    .replaceAll(/[-:]|\.\d+/g, "");
  const file = options.file ? resolve(io.cwd, options.file) : join(tmpdir(), `backtrail-doctor-${stamp}.json`);
  requireFree(file, options.yes);
  const content = await withProgress(io, "Examining", () =>
    bundle(findWorkspace(io.cwd), ownExecutable(), (finding) => findingText(finding).message),
  );
  writeOutput(file, jsonText(content), options.yes);
  if (options.json) {
    io.json({ file });
    return;
  }
  io.print(shownPath(file));
  io.say("It has no prompts, answers, code or names of your files. Read it before you send it.");
}
