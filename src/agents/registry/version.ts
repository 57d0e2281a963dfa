/** Asks an agent's program for its version, and compares it to the tested versions. */
import { spawnSync } from "node:child_process";
import { findProgram } from "../../base/process/program.ts";
import type { Profile } from "../contract/profile.ts";

const MAX_MS = 5_000;

/** Undefined if the program is not on PATH or reports no version. */
export function installedVersion({ resume, run }: Profile): string | undefined {
  const program = resume?.[0] ?? run?.name;
  const path = program && /^[a-z][a-z0-9-]*$/.test(program) ? findProgram(program) : null;
  if (!path) return undefined;
  const options = {
    timeout: MAX_MS,
    killSignal: "SIGKILL",
    input: "",
    encoding: "utf8",
    maxBuffer: 1 << 20,
  } as const;
  const { stdout, status } = spawnSync(path, ["--version"], options);
  return status === 0 ? /\d{1,9}\.\d{1,9}\.\d{1,9}/.exec(stdout)?.[0] : undefined;
}

/** A version between two tested versions counts as tested. */
export function standingOf(version: string, tested: readonly string[]): "tested" | "newer" | "older" {
  const sorted = [...tested].sort(compareVersions);
  const [first, last] = [sorted[0], sorted.at(-1)];
  if (last === undefined || first === undefined || compareVersions(version, last) > 0) return "newer";
  return compareVersions(version, first) < 0 ? "older" : "tested";
}

function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split(".").map(Number));
  for (let i = 0; i < 3; i++) {
    const difference = (left?.[i] ?? 0) - (right?.[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
