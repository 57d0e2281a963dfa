/** A run as a list of operations, made from a seed alone; what each does in a world is found out when it is its turn. */
import { Random } from "../fuzz/random.ts";
import type { Action } from "./actors/action.ts";
import { CLAUDE } from "./actors/claude.ts";
import { COMMANDS } from "./actors/commands.ts";
import { GEMINI } from "./actors/gemini.ts";
import { USER_BRANCHES } from "./actors/user-branches.ts";
import { USER_CONVERSIONS } from "./actors/user-conversions.ts";
import { USER_FILES } from "./actors/user-files.ts";
import { USER_GIT } from "./actors/user-git.ts";
import { USER_PROTECTION } from "./actors/user-protection.ts";
import { motif } from "./motifs.ts";
import { type Variant, variantOf } from "./variants.ts";

type Where = "repository" | "other";

type Kill =
  /** After a part of the time that such a command takes, with everything that it has started or alone. */
  | { part: number; alone: boolean }
  /** Where the source has a fault point of that name. */
  | { point: string };

export interface Operation {
  what: string;
  seed: number;
  kill?: Kill;
  /** What others do meanwhile, after a part of the time that such a command takes. */
  meanwhile?: { part: number; operation: Operation }[];
  /** The clock is off by so many seconds. */
  clock?: number;
  disk?: "full" | "read-only";
  /** In which work tree, where that is not left to chance. */
  where?: Where;
}

export interface Program {
  seed: number;
  variant: Variant;
  operations: Operation[];
}

export const ACTIONS: Record<string, Action> = {
  ...USER_FILES,
  ...USER_GIT,
  ...USER_BRANCHES,
  ...USER_CONVERSIONS,
  ...USER_PROTECTION,
  ...CLAUDE,
  ...GEMINI,
  ...COMMANDS,
};

const WHILE_RUNNING = Object.fromEntries(Object.entries(ACTIONS).filter(([, action]) => action.meanwhile));
/** What a command of Backtrail's, or a hook, may be killed in. */
const KILLABLE = { ...CLAUDE, ...GEMINI, ...COMMANDS };
const CLOCKS = [-7 * 365 * 86_400, -3600, -10, 10, 3600, 12 * 365 * 86_400];
/** Fault points by what passes them: moments at which a kill leaves something that others see. */
const RESTORE_POINTS = [
  "restore:safety",
  "restore:journal",
  "restore:deleted",
  "restore:aside:0",
  "restore:file:0",
  "restore:file:1",
  "restore:files",
  "restore:settled",
  "restore:head",
  "restore:index",
  "restore:chat",
];
const FORK_POINTS = [
  "fork:record",
  "fork:worktree",
  "fork:files",
  "fork:hooks",
  "fork:staged",
  "fork:chat",
  "fork:ready",
];
const DROP_POINTS = ["fork:saved", "fork:dropping", "fork:kept", "fork:renamed", "fork:removed", "fork:unbranched"];
const SAVE_POINTS = ["save:objects", "save:journal", "save:ref", "save:listed", "save:state"];
const POINTS: Record<string, string[]> = {
  rewind: RESTORE_POINTS,
  undo: RESTORE_POINTS,
  redo: RESTORE_POINTS,
  "fork take": RESTORE_POINTS,
  fork: FORK_POINTS,
  "fork drop": DROP_POINTS,
};
/** What a world begins with, so that there is something to go back to. */
const PRELUDE = [
  "save",
  "claude is asked",
  "claude writes",
  "claude writes",
  "claude answers",
  "save",
  "edit in place",
  "fork",
];

export function makeProgram(seed: number, length: number): Program {
  const random = new Random(seed);
  const variant = variantOf(random);
  const prelude = PRELUDE.map((what) => ({ what, seed: random.below(2 ** 31) }));
  const operations: Operation[] = [...prelude];
  while (operations.length < PRELUDE.length + length) {
    if (random.below(100) < 70) operations.push(makeOperation(draw(ACTIONS, random), random, variant));
    else operations.push(...makeMotif(random, variant));
  }
  return { seed, variant, operations };
}

/** A few operations in a row in one work tree that are likely to meet. */
function makeMotif(random: Random, variant: Variant): Operation[] {
  const { names, killed } = motif(random);
  const where = random.below(3) === 0 ? "other" : "repository";
  return names.map((what, at) => {
    const operation = makeOperation(what, random, variant);
    return { ...operation, where, ...(at === killed ? { kill: makeKill(random, what) } : {}) };
  });
}

function makeOperation(what: string, random: Random, variant: Variant): Operation {
  const operation: Operation = { what, seed: random.below(2 ** 31) };
  if (!(what in KILLABLE)) {
    if (what in USER_GIT && random.once(25)) operation.kill = { part: partOf(random), alone: true };
    return operation;
  }
  if (random.below(100) < 35) operation.kill = makeKill(random, what);
  if (random.below(100) < 25) operation.meanwhile = makeMeanwhile(random, what);
  // Who cleans up by hand is asked, and sees what would go.
  if (random.once(30) && what !== "clean") operation.clock = random.pick(CLOCKS);
  if (variant === "small" && random.once(5)) operation.disk = random.pick(["full", "read-only"] as const);
  return operation;
}

function makeKill(random: Random, what: string): Kill {
  if (random.once(2)) return { point: random.pick(POINTS[what] ?? SAVE_POINTS) };
  return { part: partOf(random), alone: random.once(2) };
}

/** From the beginning to a little after the end. */
function partOf(random: Random): number {
  return random.below(110) / 100;
}

function makeMeanwhile(random: Random, what: string): NonNullable<Operation["meanwhile"]> {
  // A hook has ended long before the worker that it has started.
  const parts = COMMANDS[what] ? 1 : 3;
  return Array.from({ length: 1 + random.below(3) }, () => ({
    part: parts * partOf(random),
    operation: { what: draw(WHILE_RUNNING, random), seed: random.below(2 ** 31) },
  })).sort((a, b) => a.part - b.part);
}

function draw(actions: Record<string, Action>, random: Random): string {
  const entries = Object.entries(actions);
  const total = entries.reduce((sum, [, { weight }]) => sum + weight, 0);
  let left = (random.below(1_000_000) / 1_000_000) * total;
  for (const [name, { weight }] of entries) {
    left -= weight;
    if (left < 0) return name;
  }
  return entries[0]?.[0] ?? "";
}
