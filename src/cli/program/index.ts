/**
 * The command table: the name, arguments and summary of every command. Help, commander and completion are derived from
 * it. A command's code loads when the command runs: `agents list` is `commands/agents/list.ts`.
 */
import { AGENT_COMMANDS } from "../commands/agents/commands.ts";
import { CHECKPOINT_COMMANDS } from "../commands/checkpoints/commands.ts";
import { CONFIG_COMMANDS } from "../commands/config/commands.ts";
import { DOCTOR_COMMANDS } from "../commands/doctor/commands.ts";
import { FORK_COMMANDS } from "../commands/fork/commands.ts";
import { HUB_COMMANDS } from "../commands/hub/commands.ts";
import { MAINTENANCE_COMMANDS } from "../commands/maintenance/commands.ts";
import { MCP_COMMANDS } from "../commands/mcp/commands.ts";
import { OPERATION_COMMANDS } from "../commands/ops/commands.ts";
import { PROPOSAL_COMMANDS } from "../commands/proposals/commands.ts";
import { REDACT_COMMANDS } from "../commands/redact/commands.ts";
import { RESTORE_COMMANDS } from "../commands/restore/commands.ts";
import { RUN_COMMANDS } from "../commands/run/commands.ts";
import { SEARCH_COMMANDS } from "../commands/search/commands.ts";
import { SESSION_COMMANDS } from "../commands/sessions/commands.ts";
import { SETUP_COMMANDS } from "../commands/setup/commands.ts";
import { STEP_COMMANDS } from "../commands/steps/commands.ts";
import { SYNC_COMMANDS } from "../commands/sync/commands.ts";
import { TEAM_COMMANDS } from "../commands/team/commands.ts";
import { TRIAL_COMMANDS } from "../commands/trials/commands.ts";
import type { CommandSpec } from "./spec.ts";

/** In the order of the help. */
export const COMMANDS: readonly CommandSpec[] = [
  ...SETUP_COMMANDS,
  ...STEP_COMMANDS,
  ...SEARCH_COMMANDS,
  ...CHECKPOINT_COMMANDS,
  ...SYNC_COMMANDS,
  ...TRIAL_COMMANDS,
  ...RESTORE_COMMANDS,
  ...OPERATION_COMMANDS,
  ...PROPOSAL_COMMANDS,
  ...FORK_COMMANDS,
  ...RUN_COMMANDS,
  ...SESSION_COMMANDS,
  ...MCP_COMMANDS,
  ...TEAM_COMMANDS,
  ...HUB_COMMANDS,
  ...AGENT_COMMANDS,
  ...CONFIG_COMMANDS,
  ...MAINTENANCE_COMMANDS,
  ...REDACT_COMMANDS,
  ...DOCTOR_COMMANDS,
];
