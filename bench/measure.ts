/** Starts programs directly and takes the time from start to end; compares two by turns, so that noise hits both. */
import { spawnSync } from "node:child_process";
import type { Comparison } from "./statistics.ts";

export interface Program {
  program: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
  input?: string;
}

/** One thing to be measured: what makes it ready is not counted. */
export interface Contender {
  prepare?: () => void;
  /** Gives the milliseconds that count. */
  run: () => number;
}

/** By turns, and each of them first half of the time. The first pair only warms up. */
export function compare(base: Contender, ours: Contender, pairs: number): Comparison {
  const times: Comparison = { base: [], ours: [] };
  for (let i = -1; i < pairs; i++) {
    const order = i % 2 === 0 ? (["base", "ours"] as const) : (["ours", "base"] as const);
    for (const side of order) {
      const contender = side === "base" ? base : ours;
      contender.prepare?.();
      const time = contender.run();
      if (i >= 0) times[side].push(time);
    }
  }
  return times;
}

/** Milliseconds from start to end. A program that fails measures nothing, so it ends the run. */
export function timed(command: Program): number {
  const began = performance.now();
  const result = spawnSync(command.program, command.args, {
    cwd: command.cwd,
    env: command.env,
    input: command.input ?? "",
    maxBuffer: 1 << 30,
  });
  const time = performance.now() - began;
  if (result.status !== 0) throw new Error(`${command.program} ${command.args[0]} failed: ${result.stderr}`);
  return time;
}
