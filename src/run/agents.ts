/** The agents that can be run, by the names that runs call them. */
import { delimiter, isAbsolute, join } from "node:path";
import { isProgram } from "../agents/external/programs.ts";
import type { Profile, RunSection } from "../agents/profile.ts";
import { getProfile, listProfiles, type RepositoryProfiles } from "../agents/registry.ts";
import { UserError } from "../base/errors.ts";

export interface Runner {
  /** `claude`. */
  name: string;
  profile: Profile;
  run: RunSection;
}

/** By a run's name, an id or another short name; only agents that can be run. */
export async function requireRunner(name: string, repository?: RepositoryProfiles): Promise<Runner> {
  const found = await findRunner(name, repository);
  if (found) return found;
  const names = (await runners(repository)).map((runner) => runner.name);
  throw new UserError(
    "usage",
    `Unknown agent: ${name}. Available: ${names.join(", ")}`,
    "Give one of them to --agent.",
  );
}

export async function findRunner(name: string, repository?: RepositoryProfiles): Promise<Runner | undefined> {
  const direct = runnerOf(await getProfile(name, repository));
  return direct ?? (await runners(repository)).find((runner) => answersTo(runner, name));
}

export async function runners(repository?: RepositoryProfiles): Promise<Runner[]> {
  const profiles = await listProfiles(repository);
  return profiles.flatMap((profile) => runnerOf(profile) ?? []).sort(byName);
}

function runnerOf(profile: Profile | undefined): Runner | undefined {
  const run = profile?.run;
  // A profile of the user's own is checked when they ask for it; here it must only not break anything.
  if (!profile || !Array.isArray(run?.command) || !Array.isArray(run.stream?.rules)) return undefined;
  return { name: run.name ?? profile.id, profile, run };
}

function answersTo({ name, profile }: Runner, word: string): boolean {
  return name === word || profile.short_names?.includes(word) === true;
}

/** Those that the contract names come first, in its order. */
const FIRST = ["claude", "gemini", "codex", "opencode"];

function byName(a: Runner, b: Runner): number {
  const place = ({ name }: Runner) => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);
  return place(a) - place(b) || a.name.localeCompare(b.name);
}

/** The agent's program on PATH; directories that are not absolute are the repository's own, and don't count. */
export function requireProgram({ name, profile }: Runner, path: string | undefined): string {
  const program = profile.executable ?? profile.id;
  for (const directory of (path ?? "").split(delimiter)) {
    const candidate = join(directory, process.platform === "win32" ? `${program}.exe` : program);
    if (isAbsolute(directory) && isProgram(candidate)) return candidate;
  }
  const hint = program === name ? "" : `Its program is called ${program}. `;
  throw new UserError(
    "failed",
    `${name} not found in PATH`,
    `${hint}Install ${profile.display_name}, or choose another with --agent.`,
  );
}
