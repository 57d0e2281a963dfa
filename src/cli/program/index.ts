/**
 * The command table: the name, arguments and summary of every command. Help, commander and completion are derived from
 * it. A command's code loads when the command runs: `agents list` is `commands/agents/list.ts`.
 */
import { AGENT_COMMANDS } from "../commands/agents/commands.ts";
import { CHECKPOINT_COMMANDS } from "../commands/checkpoints/commands.ts";
import { CONFIG_COMMANDS } from "../commands/config/commands.ts";
import { FORK_COMMANDS } from "../commands/fork/commands.ts";
import { MAINTENANCE_COMMANDS } from "../commands/maintenance/commands.ts";
import { OPERATION_COMMANDS } from "../commands/ops/commands.ts";
import { MCP, PROPOSALS } from "../commands/proposals/commands.ts";
import { RESTORE_COMMANDS } from "../commands/restore/commands.ts";
import { RUN_COMMANDS } from "../commands/run/commands.ts";
import { SEARCH } from "../commands/search/commands.ts";
import { SETUP_COMMANDS } from "../commands/setup/commands.ts";
import { STEP_COMMANDS } from "../commands/steps/commands.ts";
import { TEAM } from "../commands/team/commands.ts";
import { TRIAL_COMMANDS } from "../commands/trials/commands.ts";
import type { CommandSpec } from "./spec.ts";

export const COMMANDS: readonly CommandSpec[] = [
  ...SETUP_COMMANDS,
  ...STEP_COMMANDS,
  ...SEARCH,
  ...CHECKPOINT_COMMANDS,
  ...TRIAL_COMMANDS,
  ...RESTORE_COMMANDS,
  ...OPERATION_COMMANDS,
  ...PROPOSALS,
  ...FORK_COMMANDS,
  ...RUN_COMMANDS,
  ...MCP,
  ...TEAM,
  ...AGENT_COMMANDS,
  ...CONFIG_COMMANDS,
  ...MAINTENANCE_COMMANDS,
];
