/**
 * Stores imported sessions from before Backtrail: private files in `imported/<key>/` of the store, a record and the
 * transcript, without snapshots. Earlier versions used `refs/backtrail/imported/`: this file also reads those, and
 * `migrateImported` moves them.
 */

import { rmSync } from "node:fs";
import { join } from "node:path";
import { getAgent } from "../../agents/registry/registry.ts";
import { faultPoint } from "../../base/fault-point.ts";
import { namesIn, readText, writeJson } from "../../base/fs/files.ts";
import { sessionKey } from "../../base/ids.ts";
import { isRecord } from "../../base/json.ts";
import { gitIn } from "../../git/git.ts";
import { ObjectStore } from "../../git/objects/object-store.ts";
import { ObjectReader } from "../../git/objects/reader.ts";
import { removeReflog } from "../../git/reflog.ts";
import { compareAndSwapRef, readRef } from "../../git/refs.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { Conversation } from "../../model/conversation.ts";
import type { Tokens } from "../../model/tokens.ts";
import { joinSegments, readSegments, rewriteStream } from "../../steps/conversation/files.ts";
import { noteOldObjects } from "../../steps/upkeep/old-objects.ts";
import { chunkNames, joinLines } from "../../transcripts/chunks.ts";

export interface ImportedSession {
  v: 1;
  agent: string;
  session: string;
  title: string | null;
  model: string | null;
  tokens: Tokens | null;
  importedAt: string;
  /** The size of the transcript in bytes. */
  size: number;
  /** The copy of the transcript that the record describes: importing a session again creates a new one. */
  generation?: number;
  turns: ImportedTurn[];
}

export interface ImportedTurn {
  time: string | null;
  prompt: string;
  response: string | null;
  /** Relative to the work tree's root, as the agent's tools report them. */
  files: string[];
}

const REFS = "refs/backtrail/imported/";
const RECORD = "session.json";
const TRANSCRIPT = "transcript";
const SESSION_KEY = /^[0-9a-f]{20}$/;

export async function importedSessions(workspace: Workspace): Promise<ImportedSession[]> {
  const stored = importedKeys(workspace).flatMap((key) => recordOf(workspace, key) ?? []);
  const known = new Set(stored.map(keyOf));
  const earlier = await earlierImports(workspace);
  return [...stored, ...earlier.map(({ session }) => session).filter((session) => !known.has(keyOf(session)))];
}

/** Keys of the sessions that have files, including those without a record, which a killed import leaves. */
export function importedKeys({ storeDir }: Workspace): string[] {
  return namesIn(join(storeDir, "imported")).filter((name) => SESSION_KEY.test(name));
}

export function importedDirectory({ storeDir }: Workspace, key: string): string {
  return join(storeDir, "imported", key);
}

/** Writes the record last: a session without a record is not imported. */
export function writeImported(workspace: Workspace, session: ImportedSession, transcript: Uint8Array): void {
  const key = keyOf(session);
  const directory = importedDirectory(workspace, key);
  const generation = (recordOf(workspace, key)?.generation ?? -1) + 1;
  rewriteStream(directory, TRANSCRIPT, generation, [{ offset: 0, data: Buffer.from(transcript) }]);
  faultPoint("import:transcript");
  writeJson(join(directory, RECORD), { ...session, generation }, { sync: true, beside: `${directory}.record` });
  for (const name of namesIn(join(directory, TRANSCRIPT)))
    if (name !== String(generation)) rmSync(join(directory, TRANSCRIPT, name), { recursive: true, force: true });
}

export async function dropImported(workspace: Workspace, key: string): Promise<void> {
  rmSync(importedDirectory(workspace, key), { recursive: true, force: true });
  const before = await readRef(workspace, REFS + key);
  if (before === null) return;
  noteOldObjects(workspace, key, await objectsIn(workspace, before));
  await compareAndSwapRef(workspace, REFS + key, before, null);
  await removeReflog(workspace, REFS + key);
}

export async function importedConversation(
  workspace: Workspace,
  session: ImportedSession,
): Promise<Conversation | null> {
  const analyzer = (await getAgent(session.agent))?.analyzer;
  if (!analyzer) return null;
  const bytes = await importedTranscript(workspace, session);
  return bytes === null ? null : analyzer.read(bytes);
}

/** Moves imports of earlier versions from the object store into files. Returns the number of sessions. */
export async function migrateImported(workspace: Workspace): Promise<number> {
  const earlier = await earlierImports(workspace);
  for (const { session, root } of earlier) {
    const key = keyOf(session);
    if (recordOf(workspace, key) === undefined)
      writeImported(workspace, session, await earlierTranscript(workspace, root));
    faultPoint("import:moved");
    noteOldObjects(workspace, key, await objectsIn(workspace, root));
    await compareAndSwapRef(workspace, REFS + key, root, null);
    await removeReflog(workspace, REFS + key);
  }
  return earlier.length;
}

/** The bytes of an imported transcript; null if they are missing. */
export async function importedTranscript(workspace: Workspace, session: ImportedSession): Promise<Uint8Array | null> {
  const { generation, size } = session;
  if (generation === undefined) {
    const root = await readRef(workspace, REFS + keyOf(session));
    return root === null ? null : earlierTranscript(workspace, root);
  }
  const directory = importedDirectory(workspace, keyOf(session));
  return joinSegments(readSegments(directory, TRANSCRIPT, generation, size), size);
}

/** Returns imports of earlier versions that have not been migrated. */
async function earlierImports(workspace: Workspace): Promise<{ session: ImportedSession; root: string }[]> {
  const listed = await gitIn(workspace).text(["for-each-ref", "--format=%(refname) %(objectname)", REFS]);
  if (listed === "") return [];
  const reader = new ObjectReader(workspace);
  try {
    const found: { session: ImportedSession; root: string }[] = [];
    for (const line of listed.split("\n")) {
      const [ref = "", root = ""] = line.split(" ");
      const session = parseRecord((await reader.read(`${root}:${RECORD}`))?.data.toString("utf8"));
      if (session && REFS + keyOf(session) === ref) found.push({ session, root });
    }
    return found;
  } finally {
    reader.close();
  }
}

async function earlierTranscript(workspace: Workspace, root: string): Promise<Uint8Array> {
  using objects = new ObjectStore(workspace);
  const tree = await objects.trees.read(root);
  const chunks: Uint8Array[] = [];
  for (const name of chunkNames(TRANSCRIPT, tree.keys()))
    chunks.push(await objects.reader.require(tree.get(name)?.id ?? "", "blob"));
  return joinLines(chunks);
}

async function objectsIn(workspace: Workspace, root: string): Promise<string[]> {
  using objects = new ObjectStore(workspace);
  return [...(await objects.trees.read(root)).values()].map(({ id }) => id);
}

function keyOf({ agent, session }: Pick<ImportedSession, "agent" | "session">): string {
  return sessionKey(agent, session);
}

function recordOf(workspace: Workspace, key: string): ImportedSession | undefined {
  const session = parseRecord(readText(join(importedDirectory(workspace, key), RECORD)));
  return session && keyOf(session) === key ? session : undefined;
}

function parseRecord(text: string | undefined): ImportedSession | undefined {
  if (text === undefined) return undefined;
  try {
    const record: unknown = JSON.parse(text);
    return isRecord(record) && record["v"] === 1 ? (record as unknown as ImportedSession) : undefined;
  } catch {
    return undefined;
  }
}
