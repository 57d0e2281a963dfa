/**
 * Backtrail as a library: reads what agents did in a repository, and reverts it. Runs the same code as the command
 * line, on Node 22 or later and on Bun. docs/library.md introduces the library.
 *
 * Functions take the `Workspace` that `openWorkspace` returns. Errors that a caller can act on are thrown as a
 * `UserError`, with a `kind`, a message and often a hint.
 *
 * @example
 * import { applyRestore, listTurns, openWorkspace, planRewind } from "backtrail";
 *
 * const workspace = await openWorkspace(process.cwd());
 * const [turn] = listTurns(workspace, { limit: 1 });
 * const plan = await planRewind(workspace, "1");
 * console.log(`Before "${turn?.prompt}": ${plan.write.length} files to write, ${plan.delete.length} to delete`);
 * const receipt = await applyRestore(workspace, plan);
 * console.log(`The previous state is saved as step ${receipt.safetyStep}.`);
 */
import { installWords } from "./cli/render/words/index.ts";

export type { Agent } from "./agents/contract/agent.ts";
export type { Profile } from "./agents/contract/profile.ts";
export { getAgent, listAgents } from "./api/agents.ts";
export { type Diff, type DiffOptions, diff } from "./api/diff.ts";
export { type FileEntry, listFiles, readFile } from "./api/files.ts";
export {
  applyProposal,
  dismissProposal,
  listProposals,
  type Proposal,
  type Proposed,
  type ProposeOptions,
  planProposal,
  proposeRewind,
  proposeUndo,
} from "./api/proposals.ts";
export { listRepositories } from "./api/repositories.ts";
export { applyRestore, planRedo, planRewind, planUndo } from "./api/restore/restore.ts";
export { listSideEffects } from "./api/restore/side-effects.ts";
export { type Fate, type SearchHit, type SearchOptions, type SearchResult, search } from "./api/search.ts";
export { type Fork, type ForkOptions, fork, listSessions, save } from "./api/sessions.ts";
export { getTurn, type ListOptions, listSteps, listTurns, type Turn } from "./api/turns.ts";
export type {
  ApplyOptions,
  Conflict,
  ConversationPlan,
  PlannedTurn,
  Receipt,
  RestorePlan,
  RewindOptions,
  SideEffect,
  UndoOptions,
} from "./api/types.ts";
export { type OpenOptions, openWorkspace } from "./api/workspace.ts";
export { UserError } from "./base/errors.ts";
export { version } from "./base/version.ts";
export type { Workspace } from "./git/workspace.ts";
export type { FileChanges } from "./model/changes.ts";
export type { Event, EventType, HookEnvelope } from "./model/event.ts";
export type { Step, StepKind } from "./model/step.ts";
export type { Tokens } from "./model/tokens.ts";
export { PlanOutdated } from "./restore/changes/same-plan.ts";
export type { SessionNode as Session } from "./run/sessions/model.ts";

installWords();
