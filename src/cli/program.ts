/**
 * The table of commands: what each is called, takes and does in a few words. Help, commander and completion are
 * made from it. A command's code is loaded when it is run: `agents list` is `commands/agents/list.ts`.
 */
import { AGENTS } from "./program/agents.ts";
import { BACK } from "./program/back.ts";
import { COMMITS } from "./program/commits.ts";
import { LOOK } from "./program/look.ts";
import { RUN } from "./program/run.ts";
import { SETTINGS } from "./program/settings.ts";
import type { CommandSpec } from "./program/spec.ts";
import { START } from "./program/start.ts";
import { UPKEEP } from "./program/upkeep.ts";

export const COMMANDS: readonly CommandSpec[] = [
  ...START,
  ...LOOK,
  ...COMMITS,
  ...BACK,
  ...RUN,
  ...AGENTS,
  ...SETTINGS,
  ...UPKEEP,
];
