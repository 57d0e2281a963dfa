/** Starts programs and measures the time from start to end. Compares two alternately, so that noise affects both. */
import { spawnSync } from "node:child_process";
import type { Comparison } from "./statistics.ts";

export interface Program {
  program: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
  input?: string;
}

/** One thing to measure. The time of `prepare` does not count. */
export interface Contender {
  prepare?: () => void;
  /** Returns the milliseconds that count. */
  run: () => number;
}

/** Runs both alternately, each one first half of the time. The first pair only warms up. */
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

/** Milliseconds from start to end. Throws if the program fails, since its time means nothing. */
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
