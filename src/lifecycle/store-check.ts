/** The list of steps against what the refs hold: the refs are the truth, the list is made from them. */
import { gitLocation } from "../git/location.ts";
import { ObjectWriter } from "../git/objects.ts";
import { ObjectReader } from "../git/reader.ts";
import { git, tryGit } from "../git/run.ts";
import { TREE_MODE, TreeStore } from "../git/trees.ts";
import type { Workspace } from "../git/workspace.ts";
import { rewriteIndex, stepsNewestFirst } from "../steps/index-file.ts";
import type { Step } from "../steps/model.ts";
import { directoryAt } from "../steps/session-tree.ts";

const REFS = "refs/backtrail/sessions/";

export interface IndexComparison {
  inRefs: number;
  /** Stored, but not in the list. */
  unlisted: string[];
  /** In the list, but not stored. */
  unheld: string[];
  /** Refs whose tree cannot be read. */
  broken: string[];
}

export async function compareIndex(workspace: Workspace): Promise<IndexComparison> {
  const { steps, broken } = await storedSteps(workspace);
  const listed = new Set([...stepsNewestFirst(workspace)].map(({ id }) => id));
  return {
    inRefs: steps.size,
    unlisted: [...steps.keys()].filter((id) => !listed.has(id)),
    unheld: broken.length > 0 ? [] : [...listed].filter((id) => !steps.has(id)),
    broken,
  };
}

/** Writes the list anew from the refs; the number of steps in it. */
export async function rebuildIndex(workspace: Workspace): Promise<number> {
  const { unlisted, unheld } = await compareIndex(workspace);
  const { steps } = await storedSteps(workspace);
  const reader = new ObjectReader(workspace);
  try {
    const missing: Step[] = [];
    for (const id of unlisted) {
      const record = await readStep(reader, steps.get(id) ?? "");
      if (record) missing.push(record);
    }
    let count = 0;
    // What was saved since is listed by whoever saved it: only what was found wrong is changed.
    rewriteIndex(workspace, (listed) => {
      const here = new Set(listed.map(({ id }) => id));
      const records = listed.filter(({ id }) => !unheld.includes(id));
      // The others stay in the order they were saved, which is not that of their times where a clock went back.
      for (const step of missing.filter(({ id }) => !here.has(id)).sort(byTime))
        records.splice(records.findLastIndex((other) => other.time <= step.time) + 1, 0, step);
      count = records.length;
      return records;
    });
    return count;
  } finally {
    reader.close();
  }
}

/** What git says is missing below our refs; undefined where nothing is. */
export async function missingObjects(workspace: Workspace): Promise<string | undefined> {
  const refs = [...(await sessionRefs(workspace)).keys()];
  if (refs.length === 0) return undefined;
  const { args, cwd } = gitLocation(workspace);
  const input = `${refs.join("\n")}\n`;
  const result = await tryGit([...args, "rev-list", "--objects", "--quiet", "--stdin"], {
    cwd,
    input,
    timeoutMs: 600_000,
  });
  if (result.code === 0) return undefined;
  return (
    result.stderr
      .trim()
      .split("\n")
      .at(-1)
      ?.replace(/^fatal: /, "") ?? "git could not say what"
  );
}

/** Tree ids of steps by step id. */
async function storedSteps(workspace: Workspace): Promise<{ steps: Map<string, string>; broken: string[] }> {
  const steps = new Map<string, string>();
  const broken: string[] = [];
  const reader = new ObjectReader(workspace);
  const trees = new TreeStore(reader, new ObjectWriter(workspace));
  try {
    for (const [ref, root] of await sessionRefs(workspace)) {
      try {
        for (const [group, entry] of await directoryAt(trees, root, "steps")) {
          if (entry.mode !== TREE_MODE) continue;
          for (const [id, step] of await directoryAt(trees, root, `steps/${group}`)) steps.set(id, step.id);
        }
      } catch {
        broken.push(ref);
      }
    }
  } finally {
    reader.close();
  }
  return { steps, broken };
}

async function readStep(reader: ObjectReader, tree: string): Promise<Step | undefined> {
  const object = await reader.read(`${tree}:step.json`);
  if (!object) return undefined;
  try {
    const step = JSON.parse(object.data.toString("utf8")) as Step;
    return step.v === 1 && typeof step.id === "string" ? step : undefined;
  } catch {
    return undefined;
  }
}

async function sessionRefs(workspace: Workspace): Promise<Map<string, string>> {
  const { args, cwd } = gitLocation(workspace);
  const output = await git([...args, "for-each-ref", "--format=%(refname) %(objectname)", REFS], { cwd });
  const refs = new Map<string, string>();
  for (const line of output.toString("utf8").split("\n")) {
    const [ref, id] = line.split(" ");
    if (ref && id) refs.set(ref, id);
  }
  return refs;
}

function byTime(a: Step, b: Step): number {
  return a.time < b.time ? -1 : a.time > b.time ? 1 : 0;
}
