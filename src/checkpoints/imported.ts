/**
 * Sessions from before Backtrail, as they were imported: `refs/backtrail/imported/<key>`, a tree with `session.json`
 * and the transcript in chunks. They have no snapshots.
 */
import { getAgent } from "../agents/registry.ts";
import { sessionKey } from "../base/ids.ts";
import { gitLocation } from "../git/location.ts";
import { ObjectWriter } from "../git/objects.ts";
import { ObjectReader } from "../git/reader.ts";
import { compareAndSwapRef, readRef } from "../git/refs.ts";
import { gitText } from "../git/run.ts";
import { FILE_MODE, type TreeEntry, TreeStore } from "../git/trees.ts";
import type { Workspace } from "../git/workspace.ts";
import { chunkName, chunkNames, joinLines, splitLines } from "../transcripts/chunks.ts";
import type { Conversation, Tokens } from "../transcripts/model.ts";

export interface ImportedSession {
  v: 1;
  agent: string;
  session: string;
  title: string | null;
  model: string | null;
  tokens: Tokens | null;
  importedAt: string;
  /** Bytes of the transcript. */
  size: number;
  turns: ImportedTurn[];
}

export interface ImportedTurn {
  time: string | null;
  prompt: string;
  response: string | null;
  /** From the work tree's root, as the agent's tools say. */
  files: string[];
}

const REFS = "refs/backtrail/imported/";
const RECORD = "session.json";
const TRANSCRIPT = "transcript";
const CHUNK = 1024 * 1024;

export async function importedSessions(workspace: Workspace): Promise<ImportedSession[]> {
  const { args, cwd } = gitLocation(workspace);
  const refs = await gitText([...args, "for-each-ref", "--format=%(refname)", REFS], { cwd });
  if (refs === "") return [];
  const reader = new ObjectReader(workspace);
  try {
    const found = await Promise.all(refs.split("\n").map((ref) => reader.read(`${ref}:${RECORD}`)));
    return found.flatMap((object) => (object ? (parseRecord(object.data) ?? []) : []));
  } finally {
    reader.close();
  }
}

export async function writeImported(
  workspace: Workspace,
  session: ImportedSession,
  transcript: Uint8Array,
): Promise<void> {
  const ref = refOf(session);
  const reader = new ObjectReader(workspace);
  const writer = new ObjectWriter(workspace);
  try {
    const entry = (data: Uint8Array): TreeEntry => ({ mode: FILE_MODE, id: writer.add("blob", data) });
    const files = new Map([[RECORD, entry(Buffer.from(`${JSON.stringify(session, null, 2)}\n`))]]);
    for (const [index, chunk] of splitLines(transcript, CHUNK).entries())
      files.set(chunkName(TRANSCRIPT, index), entry(chunk));
    const tree = await new TreeStore(reader, writer).apply(null, files);
    writer.flush();
    const before = await readRef(workspace, ref);
    if (!(await compareAndSwapRef(workspace, ref, before, tree))) throw new Error(`The ref ${ref} has just changed.`);
  } finally {
    reader.close();
  }
}

/** `key` is the session's. */
export async function dropImported(workspace: Workspace, key: string): Promise<void> {
  const before = await readRef(workspace, REFS + key);
  if (before !== null) await compareAndSwapRef(workspace, REFS + key, before, null);
}

export async function importedConversation(
  workspace: Workspace,
  session: ImportedSession,
): Promise<Conversation | null> {
  const analyser = (await getAgent(session.agent))?.analyser;
  const root = await readRef(workspace, refOf(session));
  if (!analyser || root === null) return null;
  const reader = new ObjectReader(workspace);
  try {
    const tree = await new TreeStore(reader, new ObjectWriter(workspace)).read(root);
    const names = chunkNames(TRANSCRIPT, tree.keys());
    const chunks: Uint8Array[] = [];
    for (const name of names) chunks.push(await reader.require(tree.get(name)?.id ?? "", "blob"));
    return analyser.read(joinLines(chunks));
  } finally {
    reader.close();
  }
}

function refOf({ agent, session }: Pick<ImportedSession, "agent" | "session">): string {
  return REFS + sessionKey(agent, session);
}

function parseRecord(data: Buffer): ImportedSession | undefined {
  try {
    const record: unknown = JSON.parse(data.toString("utf8"));
    const isOurs = typeof record === "object" && record !== null && "v" in record && record.v === 1;
    return isOurs ? (record as ImportedSession) : undefined;
  } catch {
    return undefined;
  }
}
