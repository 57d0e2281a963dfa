/**
 * Indexes what steps tell about each turn: the lines that it added and removed, by comparing the snapshots before and
 * after it, so that changes by shell commands count as much as those of the agent's tools; and its prompt and answer, if
 * no conversation was stored.
 */

import { keptLines } from "../../attribution/line-diff.ts";
import { textLines } from "../../attribution/lines.ts";
import { faultPoint } from "../../base/fault-point.ts";
import { forgottenSessions } from "../../checkpoints/forget/tombstones.ts";
import { ObjectReader } from "../../git/objects/reader.ts";
import { entryAt, GITLINK_MODE, TREE_MODE, TreeStore } from "../../git/objects/trees.ts";
import { ObjectWriter } from "../../git/objects/writer.ts";
import type { Workspace } from "../../git/workspace.ts";
import { changedPaths } from "../../model/changes.ts";
import type { Step } from "../../model/step.ts";
import { isTurnStep, turnKey } from "../../model/turn.ts";
import { stepsIn } from "../../steps/log.ts";

import { CHANGES, type NewDocument } from "../index/documents.ts";
import type { SearchIndex } from "../index/store.ts";
import { ORIGIN } from "./origins.ts";
import type { IndexRedaction } from "./redaction.ts";
import type { Progress } from "./transcript.ts";

const MAX_FILE = 4 << 20;
const MAX_FILES = 2_000;

interface EndedTurn {
  end: Step;
  start: Step | undefined;
}

/** Returns false if there are turns left to index. */
export async function indexChanges(
  index: SearchIndex,
  workspace: Workspace,
  redaction: IndexRedaction,
  progress: Progress,
): Promise<boolean> {
  const turns = newTurns(index, workspace);
  if (turns.length === 0) return true;
  const isForgotten = forgottenSessions(workspace);
  const reader = new ObjectReader(workspace);
  try {
    const trees = new TreeStore(reader, new ObjectWriter(workspace));
    for (const { end, start } of turns) {
      const before = start ?? (end.parent === null ? undefined : stepsIn(workspace).byId(end.parent));
      const documents = before ? await changedLines(reader, trees, before, end, redaction) : [];
      const texts = isForgotten?.(end.session ?? "") ? [] : saidIn(end, redaction);
      add(index, workspace, end, documents, texts);
      if (!progress.keepsGoing([...documents, ...texts].reduce((sum, { text }) => sum + text.length, 0)))
        return end === turns.at(-1)?.end;
    }
    return true;
  } finally {
    reader.close();
  }
}

/** Turns that ended since the last time, oldest first. */
function newTurns(index: SearchIndex, workspace: Workspace): EndedTurn[] {
  const last = index.state(lastStepKey(workspace));
  const found: EndedTurn[] = [];
  const open = new Map<string, EndedTurn>();
  let isKnown = false;
  for (const step of stepsIn(workspace).newestFirst()) {
    isKnown ||= step.id === last;
    if (isKnown && open.size === 0) break;
    if (!isTurnStep(step)) continue;
    if (step.kind === "turn-start") {
      const turn = open.get(turnKey(step));
      if (turn) turn.start = step;
      open.delete(turnKey(step));
    }
    if (isKnown || step.kind !== "turn-end" || step.agent === null || step.session === null) continue;
    if (hasStep(index, step)) continue;
    const turn = { end: step, start: undefined };
    found.push(turn);
    if (changedPaths(step.files).length > 0) open.set(turnKey(step), turn);
  }
  return found.reverse();
}

function hasStep(index: SearchIndex, { id }: Step): boolean {
  return index.database.statement("select 1 from docs where step = ?").get(id) !== undefined;
}

function lastStepKey({ storeDir }: Workspace): string {
  return `changes ${storeDir}`;
}

function add(
  index: SearchIndex,
  workspace: Workspace,
  step: Step,
  changes: readonly NewDocument[],
  texts: readonly NewDocument[],
): void {
  const { agent, session } = step;
  if (agent === null || session === null) return;
  const { root: repository, storeDir } = workspace;
  const save = (part: string, origin: string, documents: readonly NewDocument[]) => {
    const name = { agent, session, part };
    const known = index.find(name);
    if (documents.length === 0) return;
    // A conversation that is indexed from a better place has these texts.
    if (part === "" && known && !known.origin.startsWith(ORIGIN.steps)) return;
    const id = index.save({
      ...{ size: 0, offset: 0, generation: 0, mark: "", title: null },
      ...known,
      ...{ ...name, repository, store: storeDir, origin },
      modified: Date.parse(step.time),
      turns: Math.max(known?.turns ?? 0, step.turn),
      model: step.model ?? known?.model ?? null,
    });
    for (const document of documents) index.add(id, document);
  };
  index.transaction(() => {
    save(CHANGES, storeDir, changes);
    save("", ORIGIN.steps + storeDir, texts);
    index.setState(lastStepKey(workspace), step.id);
    faultPoint("search:changes");
  });
}

/** What the hooks told of a turn whose conversation could not be read; nothing if it is stored. */
function saidIn({ id, time, turn, transcript, prompt, response }: Step, redaction: IndexRedaction): NewDocument[] {
  if (transcript !== null && transcript.offset > 0) return [];
  const common = { time: Date.parse(time), turn, position: 0, step: id };
  const texts = [
    ["prompt", prompt],
    ["answer", response],
  ] as const;
  return texts.flatMap(([field, text]) => (text ? [{ ...common, field, text: redaction.text(text) }] : []));
}

/** Only files that the turn itself changed: another session may have worked in the same tree meanwhile. */
async function changedLines(
  reader: ObjectReader,
  trees: TreeStore,
  before: Step,
  end: Step,
  redaction: IndexRedaction,
): Promise<NewDocument[]> {
  const paths = changedPaths(end.files).slice(0, MAX_FILES);
  const common = { time: Date.parse(end.time), turn: end.turn, position: end.transcript?.offset ?? 0, step: end.id };
  const documents: NewDocument[] = [];
  for (const path of paths) {
    const was = await linesAt(reader, trees, before.snapshot.work, path);
    const is = await linesAt(reader, trees, end.snapshot.work, path);
    if (!was || !is) continue;
    const { added, removed } = differenceOf(was, is);
    for (const [field, lines] of [
      ["added", added],
      ["removed", removed],
    ] as const) {
      if (lines.length > 0) documents.push({ ...common, field, path, text: redaction.text(lines.join("\n")) });
    }
  }
  if (paths.length > 0) documents.push({ ...common, field: "path", text: redaction.text(paths.join("\n")) });
  return documents;
}

/** No lines for a missing file; undefined for one that is not text, or too large. */
async function linesAt(
  reader: ObjectReader,
  trees: TreeStore,
  tree: string,
  path: string,
): Promise<string[] | undefined> {
  try {
    const entry = await entryAt(trees, tree, path);
    if (entry === null) return [];
    if (entry.mode === TREE_MODE || entry.mode === GITLINK_MODE) return undefined;
    const data = await reader.require(entry.id, "blob");
    return data.length > MAX_FILE ? undefined : textLines(data);
  } catch {
    // The objects of an old step may be gone.
    return undefined;
  }
}

function differenceOf(before: readonly string[], after: readonly string[]): { added: string[]; removed: string[] } {
  const kept = keptLines(before, after);
  const staying = new Set(kept);
  return {
    added: after.filter((_, line) => kept[line] === -1),
    removed: before.filter((_, line) => !staying.has(line)),
  };
}
