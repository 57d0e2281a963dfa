/** Completes recorded steps, turns, sessions, runs and forks. Must be fast. */

import { type Dirent, readdirSync } from "node:fs";
import { resolve } from "node:path";
import { PACKAGED } from "../../agents/registry/packaged.ts";
import { listProposals } from "../../api/proposals.ts";
import { now } from "../../base/clock.ts";
import { oneLine } from "../../base/text.ts";
import { KEYS } from "../../config/keys.ts";
import { findWorkspace, type Workspace } from "../../git/workspace.ts";
import { runWorktrees } from "../../git/worktrees/runs.ts";
import { TIMELINE_KINDS } from "../../model/step.ts";
import { newestTurns, type Turn } from "../../model/turn.ts";
import { listOperations } from "../../restore/operations/list.ts";
import { readTurnStatuses } from "../../restore/targets/turn-status.ts";
import { readLedger } from "../../run/log/index-file.ts";
import { flatten, logsDirectory, walkLogs } from "../../run/log/layout.ts";
import { listForks } from "../../steps/forks.ts";
import { stepsIn } from "../../steps/log.ts";
import { fit } from "../render/layout/text.ts";
import { age } from "../render/layout/time.ts";
import { operationSentence } from "../render/operations/sentence.ts";
import { titleOf, turnNumber } from "../render/timeline/timeline.ts";

export type Offer = (value: string, description: string) => void;

const OFFERED_TURNS = 20;
const OFFERED_STEPS = 100;
const OFFERED_RUNS = 30;
const OFFERED_PATHS = 200;
/** The built-in tiers; `tier` also accepts the name of a user-defined tier. */
const TIERS = ["minimal", "balanced", "aggressive"];
const TITLE = 50;

/** Agents and people choose these names, and a shell parses the line they end up on. */
function isPlain(value: string): boolean {
  return /^\w[\w.:/-]*$/.test(value);
}

/**
 * Offers the states before and after each turn, and other steps by id or name. Includes older steps whose id starts
 * with `typed`.
 */
export function offerSteps(offer: Offer, cwd: string, typed = ""): void {
  const workspace = findWorkspace(cwd);
  if (!workspace) return;
  if (/^[k-z]{2,12}$/.test(typed)) offerOlder(offer, workspace, typed);
  offer("last", "after the last turn");
  offer("prev", "before the last turn");
  offer("last-green", "the newest state that passed its check");
  for (const { head, steps, prompt } of turnsIn(workspace).turns) {
    const title = prompt === null ? titleOf(head) : oneLine(prompt);
    const start = steps.find(({ kind }) => kind === "turn-start");
    if (start && start.id !== head.id) offer(start.id, about(start.time, `before: ${title}`));
    offer(head.id, about(head.time, start ? `after: ${title}` : title));
    if (head.name !== null && isPlain(head.name)) offer(head.name, about(head.time, "saved"));
  }
}

function offerOlder(offer: Offer, workspace: Workspace, typed: string): void {
  const recent = new Set(turnsIn(workspace).turns.flatMap(({ steps }) => steps.map(({ id }) => id)));
  let left = OFFERED_TURNS;
  const { worktree } = workspace;
  for (const step of stepsIn(workspace).newestFirst({ id: typed, worktree, kinds: TIMELINE_KINDS })) {
    if (recent.has(step.id)) continue;
    offer(step.id, about(step.time, titleOf(step)));
    if (--left === 0) return;
  }
}

/** Offers the files and directories below the typed path; a directory ends in a slash. */
export function offerPaths(offer: Offer, cwd: string, typed: string): void {
  const directory = typed.slice(0, typed.lastIndexOf("/") + 1);
  const start = typed.slice(directory.length);
  let names: Dirent[];
  try {
    names = readdirSync(resolve(cwd, directory), { withFileTypes: true });
  } catch {
    return;
  }
  const shown = names.filter(({ name }) => name.startsWith(start) && (start !== "" || !name.startsWith(".")));
  for (const entry of shown.slice(0, OFFERED_PATHS)) {
    if (entry.name === oneLine(entry.name)) offer(`${directory}${entry.name}${entry.isDirectory() ? "/" : ""}`, "");
  }
}

/** Offers the values of the setting `name`. */
export function offerValues(offer: Offer, name: string): void {
  const key = KEYS.find((each) => each.name === name);
  const values = key?.choices ?? (key?.kind === "boolean" ? ["true", "false"] : []);
  for (const value of name === "tier" ? TIERS : values) offer(value, "");
  if (name === "default_agent" || name === "summarise.agent") for (const id of Object.keys(PACKAGED)) offer(id, "");
}

/** Offers only turns that are not reverted yet. */
export function offerTurns(offer: Offer, cwd: string): void {
  const workspace = findWorkspace(cwd);
  if (!workspace) return;
  offer("last", "the newest turn");
  const { turns, read } = turnsIn(workspace);
  const fates = readTurnStatuses(workspace, read);
  for (const { head, prompt } of turns) {
    if (head.kind !== "turn-end" || fates.of(head) !== null) continue;
    const back = fates.turnsBack(head);
    offer(head.id, about(head.time, `${back === null ? "" : `${turnNumber(back)}: `}${oneLine(prompt ?? "")}`));
  }
}

/** Offers recorded sessions and runs, each once. */
export function offerSessions(offer: Offer, cwd: string): void {
  const workspace = findWorkspace(cwd);
  const known = new Set<string>();
  for (const step of workspace ? stepsIn(workspace).list({ limit: OFFERED_STEPS }) : []) {
    if (step.session === null || known.has(step.session) || !isPlain(step.session)) continue;
    known.add(step.session);
    offer(step.session, about(step.time, titleOf(step)));
  }
  offerRuns((id, description) => {
    if (!known.has(id)) offer(id, description);
  }, cwd);
}

/** Offers runs that have a log, newest first, without reading the logs. */
export function offerRuns(offer: Offer, cwd: string): void {
  const logs = logsDirectory(cwd, process.env);
  const names = flatten(walkLogs(logs)).map(({ name }) => name);
  const entries = names.length > 0 ? [...readLedger(logs, new Set(names))] : [];
  entries.sort(([, a], [, b]) => b.at - a.at);
  for (const [name, { at, prompt }] of entries.slice(0, OFFERED_RUNS)) {
    if (isPlain(name)) offer(name, about(new Date(at).toISOString(), oneLine(prompt)));
  }
}

export function offerForks(offer: Offer, cwd: string): void {
  const workspace = findWorkspace(cwd);
  for (const { name, time, from } of workspace ? listForks(workspace) : []) {
    if (isPlain(name)) offer(name, about(time, oneLine(from.prompt ?? "")));
  }
  for (const { branch, time } of workspace ? runWorktrees(workspace) : []) {
    if (isPlain(branch)) offer(branch, about(time, "the worktree of a run"));
  }
}

/** Offers operations that are not reverted yet. */
export function offerOperations(offer: Offer, cwd: string): void {
  const workspace = findWorkspace(cwd);
  if (!workspace) return;
  const standing = listOperations(workspace).filter(({ takenBackBy }) => takenBackBy === null);
  for (const operation of standing.slice(0, OFFERED_TURNS))
    offer(operation.id, about(operation.time, operationSentence(workspace, operation)));
}

export function offerProposals(offer: Offer, cwd: string): void {
  const workspace = findWorkspace(cwd);
  if (!workspace) return;
  for (const { id, time, reason } of listProposals(workspace)) offer(id, about(time, oneLine(reason)));
}

function turnsIn(workspace: Workspace): { turns: Turn[]; read: ReturnType<typeof newestTurns>["read"] } {
  return newestTurns(
    stepsIn(workspace).newestFirst({ worktree: workspace.worktree, kinds: TIMELINE_KINDS }),
    OFFERED_TURNS,
  );
}

function about(time: string, title: string): string {
  return `${age(time, now())}: ${fit(title, TITLE)}`;
}
