/** `ops`: lists the user's operations in this work tree, newest first. */

import { now } from "../../../base/clock.ts";
import { listOperations } from "../../../restore/operations/list.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { operationJson, operationLines } from "../../render/operations/list.ts";
import { openForReading } from "../../shared/workspace.ts";
import type { Io } from "../../terminal/io.ts";
import { page } from "../../terminal/pager.ts";
import type { opsLogCommand } from "./commands.ts";

const DEFAULT_OPERATIONS = 20;

type Options = OptionsOf<typeof opsLogCommand>;

export async function run(options: Options, io: Io): Promise<undefined> {
  const workspace = await openForReading(io);
  const limit = options.limit ?? (options.json ? 0 : DEFAULT_OPERATIONS);
  const all = listOperations(workspace);
  const shown = limit === 0 ? all : all.slice(0, limit);
  if (options.json) {
    io.json({ operations: shown.map((operation) => operationJson(workspace, operation)) });
    return;
  }
  if (shown.length === 0) {
    io.say("You have not rewound, undone or saved anything here yet.");
    return;
  }
  const { paint, columns } = io.out;
  await page(io, operationLines(workspace, shown, { paint, columns, now: now() }).join("\n"));
  if (all.length > shown.length) io.say(io.err.paint("dim", "Older operations not shown; use --limit 0 for all."));
  io.say(io.err.paint("dim", "`backtrail ops undo <id>` undoes one of them."));
}
