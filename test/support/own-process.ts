/** For tests that call the code itself instead of the executable: this process gets a home of its own meanwhile. */
import { afterAll, beforeAll } from "bun:test";
import { createWorkspace, type Workspace, writeStore } from "../../src/git/workspace.ts";
import { TemporaryDirectory } from "./directory.ts";
import { cleanEnvironment } from "./environment.ts";

const OWN = [
  "HOME",
  "BACKTRAIL_HOME",
  "XDG_CONFIG_HOME",
  "XDG_DATA_HOME",
  "XDG_STATE_HOME",
  "GIT_CONFIG_GLOBAL",
  "GIT_CONFIG_NOSYSTEM",
  "GIT_CEILING_DIRECTORIES",
  "BACKTRAIL_CLOCK",
];

/** To be called once at the head of a test file. */
export function ownHome(): void {
  const before: Record<string, string | undefined> = {};
  let place: TemporaryDirectory;
  beforeAll(() => {
    place = new TemporaryDirectory();
    const fresh = cleanEnvironment(place.path);
    for (const name of OWN) {
      before[name] = process.env[name];
      if (fresh[name] === undefined) delete process.env[name];
      else process.env[name] = fresh[name];
    }
  });
  afterAll(() => {
    for (const name of OWN) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
    place.remove();
  });
}

/** The workspace at `path`, enabled. */
export async function enabledWorkspace(path: string): Promise<Workspace> {
  const workspace = await createWorkspace(path);
  writeStore(workspace, { v: 1, enabledAt: new Date().toISOString(), agents: {} });
  return workspace;
}

/** How often a property is tried: `usual` times, or as often as `BACKTRAIL_TEST_RUNS` says. */
export function runs(usual: number): { numRuns: number } {
  return { numRuns: Number(process.env["BACKTRAIL_TEST_RUNS"]) || usual };
}
