/** Which version of an agent is installed, by asking its program, and how that compares to those that were tested. */
import { spawnSync } from "node:child_process";
import type { Profile } from "./profile.ts";

const LONGEST_MS = 5_000;

/** Undefined where its program is not on PATH, or does not say. */
export function installedVersion({ resume, run }: Profile): string | undefined {
  const program = resume?.[0] ?? run?.name;
  const path = program && /^[a-z][a-z0-9-]*$/.test(program) ? Bun.which(program) : null;
  if (!path) return undefined;
  const options = {
    timeout: LONGEST_MS,
    killSignal: "SIGKILL",
    input: "",
    encoding: "utf8",
    maxBuffer: 1 << 20,
  } as const;
  const { stdout, status } = spawnSync(path, ["--version"], options);
  return status === 0 ? /\d{1,9}\.\d{1,9}\.\d{1,9}/.exec(stdout)?.[0] : undefined;
}

/** Between two versions that were tested, it counts as tested. */
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
