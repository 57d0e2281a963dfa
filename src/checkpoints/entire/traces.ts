/** Detects the Entire CLI in a work tree: its hooks, which record alongside ours, its checkpoints and leftovers. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { listAgents } from "../../agents/registry/registry.ts";
import { readJson } from "../../base/fs/files.ts";
import { tryGit } from "../../git/run.ts";
import type { Workspace } from "../../git/workspace.ts";
import { BACKTRAIL_FILE, CHECKPOINT_BRANCH, CHECKPOINT_REFS, METADATA_FILE } from "../format/layout.ts";

const MAX_BYTES = 1 << 20;
const MAX_BRANCHES = 100;
const GIT_HOOKS = ["prepare-commit-msg", "commit-msg", "post-commit", "post-rewrite", "pre-push"];
/** Entire's calls in settings and git hooks: the program, perhaps with its path, and its verb. */
const CALLS_ENTIRE = /(?:^|[\s"'/\\;&|(])entire(?:\.exe)?["'\\]* hooks [a-z]/m;
const SESSION_FILE = /^(([0-9a-f]{2}\/[0-9a-f]{10})\/\d+)\/([^/]+)$/;
/** In Entire's reading order: the user's own file comes last and wins. */
const SETTINGS = ["settings.json", "settings.local.json"];

export interface EntireTraces {
  /** True if it has hooks and is not turned off: it records, and its pre-push hook pushes the branch. */
  isEnabled: boolean;
  /** Files that contain its hooks, relative to the work tree's root. */
  hooks: string[];
  /** The number of checkpoints in the user's repository that are not Backtrail's. */
  checkpoints: number;
  /** Its directory, and its branches for uncommitted work. */
  left: string[];
}

export async function findEntire(workspace: Workspace): Promise<EntireTraces> {
  const { root } = workspace;
  const hooks = await entireHooks(workspace);
  const left = statSync(join(root, ".entire"), { throwIfNoEntry: false })?.isDirectory() ? [".entire"] : [];
  return {
    isEnabled: hooks.length > 0 && !isTurnedOff(root),
    hooks,
    checkpoints: (await foreignCheckpoints(workspace)).size,
    left: [...left, ...(await shadowBranches(workspace))],
  };
}

export async function isEntireEnabled(workspace: Workspace): Promise<boolean> {
  return !isTurnedOff(workspace.root) && (await entireHooks(workspace)).length > 0;
}

/** Checkpoints in the user's repository, on the branch or in their own refs, that have no record of ours. */
export async function foreignCheckpoints({ kind, root }: Workspace): Promise<Set<string>> {
  const found = new Set<string>();
  if (kind !== "repository") return found;
  const listed = await tryGit(["ls-tree", "-r", "-z", "--name-only", "--full-tree", CHECKPOINT_BRANCH], { cwd: root });
  const names = new Set(listed.code === 0 ? listed.stdout.toString("utf8").split("\0") : []);
  for (const name of names) {
    const [, session, checkpoint = "", file] = SESSION_FILE.exec(name) ?? [];
    if (file === METADATA_FILE && !names.has(`${session}/${BACKTRAIL_FILE}`)) found.add(checkpoint.replace("/", ""));
  }
  const refs = await tryGit(["for-each-ref", "--format=%(refname)", CHECKPOINT_REFS], { cwd: root });
  for (const ref of refs.stdout.toString("utf8").split("\n")) if (ref !== "") found.add(ref.split("/").at(-1) ?? "");
  return found;
}

async function entireHooks({ kind, root, commonDir }: Workspace): Promise<string[]> {
  const settings = (await listAgents()).flatMap(({ profile }) => {
    const { local, project } = profile.hooks?.settings ?? {};
    return [local?.path, project?.path].flatMap((path) => path ?? []);
  });
  const hooks = [...new Set(settings)].filter((path) => callsEntire(join(root, path)));
  if (kind !== "repository") return hooks;
  const ofGit = GIT_HOOKS.filter((name) => callsEntire(join(commonDir, "hooks", name)));
  return [...hooks, ...ofGit.map((name) => `git's ${name}`)];
}

function isTurnedOff(root: string): boolean {
  let isOff = false;
  for (const name of SETTINGS) {
    try {
      const { enabled } = (readJson(join(root, ".entire", name)) ?? {}) as { enabled?: unknown };
      if (typeof enabled === "boolean") isOff = !enabled;
    } catch {
      // Unreadable settings do not turn Entire off.
    }
  }
  return isOff;
}

function callsEntire(file: string): boolean {
  try {
    const stat = statSync(file, { throwIfNoEntry: false });
    return stat?.isFile() === true && stat.size <= MAX_BYTES && CALLS_ENTIRE.test(readFileSync(file, "utf8"));
  } catch {
    return false;
  }
}

/** `entire/<commit>` and similar: Entire removes these branches when their work is committed. */
async function shadowBranches({ kind, root }: Workspace): Promise<string[]> {
  if (kind !== "repository") return [];
  const args = ["for-each-ref", `--count=${MAX_BRANCHES}`, "--format=%(refname:lstrip=2)", "refs/heads/entire/"];
  const { code, stdout } = await tryGit(args, { cwd: root });
  if (code !== 0) return [];
  return stdout
    .toString("utf8")
    .split("\n")
    .filter((name) => /^entire\/[0-9a-f]{7,}(?:-[0-9a-f]+)?$/.test(name));
}
