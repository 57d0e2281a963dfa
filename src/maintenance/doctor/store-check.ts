/**
 * Compares the list of steps with the store: the refs determine which steps exist; the records with the conversations
 * (in earlier versions, `step.json` in the refs) describe them.
 */
import { gitIn } from "../../git/git.ts";
import { ObjectReader } from "../../git/objects/reader.ts";
import { TREE_MODE, TreeStore } from "../../git/objects/trees.ts";
import { ObjectWriter } from "../../git/objects/writer.ts";
import { privateObjects, privateRepository } from "../../git/private/store.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { Step } from "../../model/step.ts";
import { recordsFile } from "../../steps/conversation/files.ts";
import { readTranscript } from "../../steps/conversation/transcript.ts";
import { appendRecord, parseStep, recordsNewestFirst, rewriteIndex } from "../../steps/index-file.ts";
import { stepsIn } from "../../steps/log.ts";
import { sessionRoots } from "../../steps/session-refs.ts";
import { directoryAt, sessionRef } from "../../steps/session-tree.ts";
import { ownerKey } from "../../steps/upkeep/retention.ts";
import type { MissingObjects } from "./facts.ts";

/** A step that a ref holds. */
interface HeldStep {
  key: string;
  /** The record with the conversation or in the tree; undefined if there is none. */
  record: Step | undefined;
}

export interface IndexComparison {
  inRefs: number;
  /** Stored, but not in the list. */
  unlisted: string[];
  /** Stored, but without any record. */
  unknown: string[];
  /** In the list, but not stored. */
  unheld: string[];
  /** In the list, but without the second copy of their record. */
  uncopied: string[];
  /** Refs whose tree cannot be read. */
  broken: string[];
}

export async function compareIndex(workspace: Workspace): Promise<IndexComparison> {
  const { steps, broken } = await heldSteps(workspace);
  const listed = new Set(
    stepsIn(workspace)
      .newestFirst()
      .map(({ id }) => id),
  );
  const held = [...steps];
  return {
    inRefs: steps.size,
    unlisted: held.filter(([id, { record }]) => !listed.has(id) && record).map(([id]) => id),
    unknown: held.filter(([id, { record }]) => !listed.has(id) && !record).map(([id]) => id),
    unheld: broken.length > 0 ? [] : [...listed].filter((id) => !steps.has(id)),
    uncopied: held.filter(([id, { record }]) => listed.has(id) && !record).map(([id]) => id),
    broken,
  };
}

/** Rebuilds the list from the store, and restores missing second copies from the list. Returns the number of steps. */
export async function rebuildIndex(workspace: Workspace): Promise<number> {
  const { unlisted, unheld, uncopied } = await compareIndex(workspace);
  const { steps } = await heldSteps(workspace);
  const missing = unlisted.flatMap((id) => steps.get(id)?.record ?? []);
  let count = 0;
  // Change only what was found wrong: processes that have saved steps since then list them themselves.
  rewriteIndex(workspace, (listed) => {
    const here = new Set(listed.map(({ id }) => id));
    const records = listed.filter(({ id }) => !unheld.includes(id));
    // Keep the save order of the other steps, which differs from their times if the clock was set back.
    for (const step of missing.filter(({ id }) => !here.has(id)).sort(byTime))
      records.splice(records.findLastIndex((other) => other.time <= step.time) + 1, 0, step);
    count = records.length;
    return records;
  });
  for (const step of stepsIn(workspace).newestFirst())
    if (uncopied.includes(step.id))
      appendRecord(recordsFile(workspace, steps.get(step.id)?.key ?? ownerKey(step)), step);
  return count;
}

/** What git reports missing from our refs, in the repository or the private store; undefined if nothing is missing. */
export async function missingObjects(workspace: Workspace): Promise<MissingObjects | undefined> {
  const own = privateObjects(workspace) === undefined ? [] : [privateRepository(workspace)];
  for (const holder of [workspace, ...own]) {
    const missing = await missingIn(holder);
    if (missing !== undefined) return missing;
  }
  const lost = await lostPrivateStates(workspace);
  return lost.length === 0 ? undefined : { kind: "private-files-missing", steps: lost.length };
}

async function missingIn(holder: Workspace): Promise<MissingObjects | undefined> {
  const refs = [...(await sessionRoots(holder)).keys()].map(sessionRef);
  if (refs.length === 0) return undefined;
  const input = `${refs.join("\n")}\n`;
  const result = await gitIn(holder).try(["rev-list", "--objects", "--quiet", "--stdin"], {
    input,
    timeoutMs: 600_000,
  });
  if (result.code === 0) return undefined;
  const reason = result.stderr
    .trim()
    .split("\n")
    .at(-1)
    ?.replace(/^fatal: /, "");
  return { kind: "objects-missing", reason: reason ?? null };
}

/** Steps whose complete state should be in the private store but is missing. */
async function lostPrivateStates(workspace: Workspace): Promise<string[]> {
  const steps = stepsIn(workspace)
    .list()
    .filter(({ snapshot }) => snapshot.shared);
  if (steps.length === 0) return [];
  const reader = new ObjectReader(workspace);
  try {
    const lost: string[] = [];
    for (const { id, snapshot } of steps) if (!(await reader.read(snapshot.work))) lost.push(id);
    return lost;
  } finally {
    reader.close();
  }
}

/** Sessions whose stored conversation is shorter than their steps record. */
export async function brokenConversations(workspace: Workspace): Promise<string[]> {
  const furthest = new Map<string, { key: string; generation: number; offset: number }>();
  for (const step of stepsIn(workspace).newestFirst()) {
    if (!step.transcript) continue;
    const { generation, offset } = step.transcript;
    const key = ownerKey(step);
    const known = furthest.get(`${key} ${generation}`);
    if (!known || known.offset < offset) furthest.set(`${key} ${generation}`, { key, generation, offset });
  }
  const broken = new Set<string>();
  for (const { key, generation, offset } of furthest.values()) {
    const { length } = await readTranscript(workspace, key, generation, offset);
    if (length < offset) broken.add(key);
  }
  return [...broken];
}

/** By step id. */
async function heldSteps(workspace: Workspace): Promise<{ steps: Map<string, HeldStep>; broken: string[] }> {
  const steps = new Map<string, HeldStep>();
  const broken: string[] = [];
  const reader = new ObjectReader(workspace);
  const trees = new TreeStore(reader, new ObjectWriter(workspace));
  try {
    for (const [key, root] of await sessionRoots(workspace)) {
      const records = new Map([...recordsNewestFirst(recordsFile(workspace, key))].map((step) => [step.id, step]));
      try {
        for (const [hour, entry] of await directoryAt(trees, root, "steps")) {
          if (entry.mode !== TREE_MODE) continue;
          for (const [id, { id: tree }] of await directoryAt(trees, root, `steps/${hour}`)) {
            const record = records.get(id) ?? (await earlierRecord(reader, tree));
            steps.set(id, { key, record });
          }
        }
      } catch {
        broken.push(sessionRef(key));
      }
    }
  } finally {
    reader.close();
  }
  return { steps, broken };
}

async function earlierRecord(reader: ObjectReader, tree: string): Promise<Step | undefined> {
  const object = await reader.read(`${tree}:step.json`);
  return object && parseStep(object.data);
}

function byTime(a: Step, b: Step): number {
  return a.time < b.time ? -1 : a.time > b.time ? 1 : 0;
}
