/** What a row of the table says, and the fault points that several rows have. */
import { readdirSync, statSync } from "node:fs";
import { executable } from "../../support/index.ts";
import type { World } from "../killed-world.ts";

export interface Operation {
  name: string;
  /** Fault points that it passes, in their order (`base/fault-point.ts`). */
  points: readonly string[];
  /** Killed before this point, nothing has happened; from it on, the next command finishes what was begun. */
  sealed?: string;
  /** What comes before it, once. The state after this is what "before" means. */
  prepare?(world: World): Promise<void>;
  start(world: World): Start;
  /** What the user does between the kill and the next command. */
  meanwhile?(world: World): void;
  /** What must be as before or as after, together with the work tree. */
  look?(world: World): Promise<unknown>;
  /** What else must hold after it was killed and made good: what is wrong, or null. May go on working. */
  wrong?(world: World, isAfter: boolean): Promise<string | null>;
  /** It has git commit as the user would: killed with it, git leaves locks of its own. A start of git itself always does. */
  commits?: true;
  /** Steps may go by it (pruning); otherwise every one that was there stays. */
  drops?: true;
}

export interface Start {
  program?: string;
  args: string[];
  input?: string;
  env?: Record<string, string>;
}

export const SAVE = [
  "save:segments",
  "save:objects",
  "save:journal",
  "save:ref",
  "save:copied",
  "save:listed",
  "save:state",
];

/** Of a restore that moves so many files, then what comes behind them. */
export function restore(files: number, ...rest: string[]): string[] {
  const moved = Array.from({ length: files }, (_, n) => `restore:file:${n}`);
  return ["restore:safety", "restore:staged", "restore:journal", ...moved, ...rest];
}

/** The program of a start: ours unless it says otherwise. */
export function programOf({ program }: Start): string {
  return program ?? executable();
}

/** Whether a git at work on the user's own index and branches is killed with it. */
export function killsGit(operation: Operation, world: World): boolean {
  return operation.commits === true || operation.start(world).program === "git";
}

/** Checkpoints that wait, by the names of their files. */
export function waiting(world: World): string[] {
  const queue = world.repository.at(".git/backtrail/queue");
  if (!statSync(queue, { throwIfNoEntry: false })) return [];
  return readdirSync(queue).flatMap((name) => /^\d+-([0-9a-f]{12})-/.exec(name)?.[1] ?? []);
}
