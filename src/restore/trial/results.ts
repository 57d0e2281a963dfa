/**
 * trials.jsonl: what came out, by what was tried and on which files. The same files give the same result, so nothing is
 * run twice, and `check` finds here which steps passed.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { now } from "../../base/clock.ts";
import { hexDigest } from "../../base/digest.ts";
import { appendLine, readText, writeFileAtomic } from "../../base/files.ts";
import { tryAcquire } from "../../base/lock.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { Experiment, Outcome, TrialState, Verdict } from "./model.ts";

/** Then the older half goes. */
const MOST_BYTES = 1 << 20;

export interface TrialResult {
  v: 1;
  /** Of the experiment. */
  key: string;
  tree: string;
  raw: string | null;
  verdict: Verdict;
  /** null where it was ended for taking longer than `timeout`. */
  code: number | null;
  timeout: number | null;
  ms: number;
  time: string;
  /** For people: the key says it all. */
  command: string[];
  /** Who wanted to know. */
  by: "bisect" | "check";
}

export function keyOf({ command, directory, link, copy }: Experiment): string {
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

  /** The result that tells how `experiment` comes out on these files: one that ran out of time may be given more. */
  known(experiment: Experiment, state: TrialState): TrialResult | undefined {
    const result = this.find(keyOf(experiment), state);
    if (!result || result.timeout === null) return result;
    return experiment.timeoutMs !== null && experiment.timeoutMs <= result.timeout ? result : undefined;
  }

  /** The newest result of a check. */
  lastChecked(): TrialResult | undefined {
    return [...this.#all().values()].findLast(({ by }) => by === "check");
  }

  /** What a signal ended, or could not begin, may come out otherwise the next time. */
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

  /** The newest result counts. */
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
    if (statSync(file).size <= MOST_BYTES) return;
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
