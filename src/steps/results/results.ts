/**
 * Reads and writes trials.jsonl: trial results by experiment and files. The same files give the same result, so no
 * trial runs twice, and `check` finds here which steps passed.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { now } from "../../base/clock.ts";
import { hexDigest } from "../../base/digest.ts";
import { appendLine, readText, writeFileAtomic } from "../../base/fs/files.ts";
import { tryAcquire } from "../../base/fs/lock.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { Experiment, Outcome, TrialState, Verdict } from "./types.ts";

/** Beyond this size, the older half is deleted. */
const MAX_BYTES = 1 << 20;

export interface TrialResult {
  v: 1;
  /** The experiment's key. */
  key: string;
  tree: string;
  raw: string | null;
  verdict: Verdict;
  /** Null if the command exceeded `timeout`. */
  code: number | null;
  timeout: number | null;
  ms: number;
  time: string;
  /** For display only: the key identifies the experiment. */
  command: string[];
  /** The command that ran the trial. */
  by: "bisect" | "check";
}

function keyOf({ command, directory, link, copy }: Experiment): string {
  return hexDigest("sha256", JSON.stringify([command, directory, link, copy])).slice(0, 20);
}

export class Results {
  readonly #workspace: Workspace;
  #found: Map<string, TrialResult> | undefined;

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  find(key: string, { work, raw }: Pick<TrialState, "work" | "raw">): TrialResult | undefined {
    return this.#all().get(nameOf(key, work, raw));
  }

  /** The usable result of `experiment` on these files; a timed-out result does not count for a longer timeout. */
  known(experiment: Experiment, state: TrialState): TrialResult | undefined {
    const result = this.find(keyOf(experiment), state);
    if (!result || result.timeout === null) return result;
    return experiment.timeoutMs !== null && experiment.timeoutMs <= result.timeout ? result : undefined;
  }

  /** The newest result of a check. */
  lastChecked(): TrialResult | undefined {
    return [...this.#all().values()].findLast(({ by }) => by === "check");
  }

  /** Skips trials that a signal ended or that did not start: the next run may give another result. */
  add(experiment: Experiment, { work, raw }: TrialState, outcome: Outcome, by: TrialResult["by"]): void {
    const { verdict, code, why, milliseconds: ms } = outcome;
    if (code === null && why !== "timeout") return;
    const key = keyOf(experiment);
    const result: TrialResult = {
      v: 1,
      key,
      tree: work,
      raw,
      verdict,
      code,
      timeout: why === "timeout" ? experiment.timeoutMs : null,
      ms,
      time: now().toISOString(),
      command: [...experiment.command],
      by,
    };
    this.#all().delete(nameOf(key, work, raw));
    this.#all().set(nameOf(key, work, raw), result);
    appendLine(fileOf(this.#workspace), JSON.stringify(result));
    this.#bound();
  }

  /** All results; for duplicates, the newest one. */
  #all(): Map<string, TrialResult> {
    if (this.#found) return this.#found;
    this.#found = new Map();
    for (const line of (readText(fileOf(this.#workspace)) ?? "").split("\n")) {
      const result = parse(line);
      if (!result) continue;
      const name = nameOf(result.key, result.tree, result.raw);
      this.#found.delete(name);
      this.#found.set(name, result);
    }
    return this.#found;
  }

  #bound(): void {
    const file = fileOf(this.#workspace);
    if (statSync(file).size <= MAX_BYTES) return;
    const lock = tryAcquire(`${file}.lock`);
    if (!lock) return;
    try {
      const lines = (readText(file) ?? "").split("\n").filter((line) => line !== "");
      writeFileAtomic(file, `${lines.slice(Math.floor(lines.length / 2)).join("\n")}\n`);
    } finally {
      lock.release();
    }
  }
}

function nameOf(key: string, tree: string, raw: string | null): string {
  return `${key} ${tree} ${raw ?? "-"}`;
}

function fileOf(workspace: Workspace): string {
  return join(workspace.storeDir, "trials.jsonl");
}

function parse(line: string): TrialResult | undefined {
  if (line === "") return undefined;
  try {
    const result = JSON.parse(line) as TrialResult;
    const whole =
      result?.v === 1 && [result.key, result.tree, result.verdict].every((text) => typeof text === "string");
    return whole ? result : undefined;
  } catch {
    return undefined;
  }
}
