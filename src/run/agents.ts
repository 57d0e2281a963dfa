/** Finds the agents that `run` can start, by the names that runs use. */

import { delimiter, isAbsolute, join } from "node:path";
import type { Profile, RunSection } from "../agents/contract/profile.ts";
import { isProgram } from "../agents/external/programs.ts";
import { holds } from "../agents/registry/conditions.ts";
import { textAt } from "../agents/registry/paths.ts";
import { getProfile, listProfiles, type RepositoryProfiles } from "../agents/registry/registry.ts";
import { RunError } from "./problems.ts";

export interface Runner {
  /** The name that runs use, such as `claude`. */
  name: string;
  profile: Profile;
  run: RunSection;
}

/** Accepts a run name, an agent id or another short name. Throws if the agent cannot be run. */
export async function requireRunner(name: string, repository?: RepositoryProfiles): Promise<Runner> {
  const found = await findRunner(name, repository);
  if (found) return found;
  const names = (await runners(repository)).map((runner) => runner.name);
  throw new RunError("usage", { kind: "runner-unknown", name, names });
}

export async function findRunner(name: string, repository?: RepositoryProfiles): Promise<Runner | undefined> {
  const direct = runnerOf(await getProfile(name, repository));
  return direct ?? (await runners(repository)).find((runner) => answersTo(runner, name));
}

export async function runners(repository?: RepositoryProfiles): Promise<Runner[]> {
  const profiles = await listProfiles(repository);
  return profiles.flatMap((profile) => runnerOf(profile) ?? []).sort(byName);
}

/** Finds the agent that printed these lines, by the stream rules of its profile. */
export async function recognizeRunner(lines: readonly Record<string, unknown>[]): Promise<Runner | undefined> {
  let best: { runner: Runner; count: number } | undefined;
  for (const runner of await runners()) {
    const count = lines.filter((line) => isLineOf(runner.run, line)).length;
    if (count > (best?.count ?? 0)) best = { runner, count };
  }
  return best?.runner;
}

function isLineOf({ stream }: RunSection, line: Record<string, unknown>): boolean {
  if (textAt(line, stream.session_id) === null) return false;
  return stream.rules.some((rule) => Object.keys(rule.when).length > 0 && holds(rule.when, line));
}

function runnerOf(profile: Profile | undefined): Runner | undefined {
  const run = profile?.run;
  // A user's own profile is validated when the user asks for it; here an invalid one is only skipped.
  if (!profile || !Array.isArray(run?.command) || !Array.isArray(run.stream?.rules)) return undefined;
  return { name: run.name ?? profile.id, profile, run };
}

function answersTo({ name, profile }: Runner, word: string): boolean {
  return name === word || profile.short_names?.includes(word) === true;
}

/** Agents with a place in the order come first. */
function byName(a: Runner, b: Runner): number {
  const place = ({ run }: Runner) => run.order ?? Number.MAX_SAFE_INTEGER;
  return place(a) - place(b) || a.name.localeCompare(b.name);
}

/** Finds the agent's program on PATH. Relative directories are skipped: they would resolve inside the repository. */
export function requireProgram({ name, profile }: Runner, path: string | undefined): string {
  const program = profile.executable ?? profile.id;
  for (const directory of (path ?? "").split(delimiter)) {
    const candidate = join(directory, process.platform === "win32" ? `${program}.exe` : program);
    if (isAbsolute(directory) && isProgram(candidate)) return candidate;
  }
  throw new RunError("failed", { kind: "runner-missing", name, program, agent: profile.display_name });
}
