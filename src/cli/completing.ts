/** What the shell is offered of what is recorded here: steps, turns, sessions, runs, forks. It has to come at once. */
import { now } from "../base/clock.ts";
import { oneLine } from "../base/text.ts";
import { findWorkspace, type Workspace } from "../git/workspace.ts";
import { fatesOf } from "../restore/fates.ts";
import { flatten, logsDirectory, walkLogs } from "../run/layout.ts";
import { readLedger } from "../run/ledger.ts";
import { listForks } from "../steps/forks.ts";
import { listSteps, stepsOf } from "../steps/list.ts";
import { fit } from "./render/text.ts";
import { age } from "./render/time.ts";
import { titleOf } from "./render/timeline.ts";
import { newestTurns, type Turn } from "./render/turns.ts";

export type Offer = (value: string, description: string) => void;

const OFFERED_TURNS = 20;
const OFFERED_STEPS = 100;
const OFFERED_RUNS = 30;
const TITLE = 50;

/** Names come from agents and people, and land on a line that a shell reads. */
function isPlain(value: string): boolean {
  return /^\w[\w.:/-]*$/.test(value);
}

/** A turn by the states before and after it, a moment by itself or by its name. */
export function offerSteps(offer: Offer, cwd: string): void {
  const workspace = findWorkspace(cwd);
  if (!workspace) return;
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

/** Only what is still there to be taken back. */
export function offerTurns(offer: Offer, cwd: string): void {
  const workspace = findWorkspace(cwd);
  if (!workspace) return;
  offer("last", "the newest turn");
  const { turns, read } = turnsIn(workspace);
  const fates = fatesOf(workspace, read);
  for (const { head, prompt } of turns) {
    if (head.kind !== "turn-end" || fates.of(head) !== null) continue;
    offer(head.id, about(head.time, `turn ${head.turn}: ${oneLine(prompt ?? "")}`));
  }
}

/** Recorded ones and runs, each once. */
export function offerSessions(offer: Offer, cwd: string): void {
  const workspace = findWorkspace(cwd);
  const known = new Set<string>();
  for (const step of workspace ? listSteps(workspace, { limit: OFFERED_STEPS, all: true }) : []) {
    if (step.session === null || known.has(step.session) || !isPlain(step.session)) continue;
    known.add(step.session);
    offer(step.session, about(step.time, titleOf(step)));
  }
  offerRuns((id, description) => {
    if (!known.has(id)) offer(id, description);
  }, cwd);
}

/** Those that have a log, the newest first, without reading one. */
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
}

function turnsIn(workspace: Workspace): { turns: Turn[]; read: ReturnType<typeof newestTurns>["read"] } {
  return newestTurns(stepsOf(workspace), OFFERED_TURNS);
}

function about(time: string, title: string): string {
  return `${age(time, now())}: ${fit(title, TITLE)}`;
}
