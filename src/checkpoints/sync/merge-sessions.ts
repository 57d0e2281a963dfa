/** Merges the sessions of a checkpoint that two machines wrote: each session once, in its more complete form. */
import type { ObjectStore } from "../../git/objects/object-store.ts";
import { FILE_MODE, TREE_MODE, type Tree, type TreeEntry } from "../../git/objects/trees.ts";
import {
  layoutJson,
  METADATA_FILE,
  type SessionMetadata,
  type SessionPaths,
  sessionPaths,
  TRANSCRIPT_FILE,
} from "../format/layout.ts";
import { parseSessionMetadata } from "../format/parse.ts";
import { blobOf, othersFields, summaryOf, unknownSession, withOthers } from "../write/write.ts";

const MAX_METADATA = 8 * 1024 * 1024;

interface Session {
  entry: TreeEntry;
  /** The agent and session id; if the metadata is unreadable, the id of the tree. */
  key: string;
  metadata: SessionMetadata | null;
}

export function isSessionName(name: string): boolean {
  return /^(?:0|[1-9]\d{0,5})$/.test(name);
}

/** True if `tree` has every session of `other`, with at least as many turns. */
export async function holdsAtLeast(objects: ObjectStore, tree: Tree, other: Tree): Promise<boolean> {
  const here = new Map((await sessionsIn(objects, tree)).map((session) => [session.key, session]));
  return (await sessionsIn(objects, other)).every(({ key, metadata }) => {
    const same = here.get(key);
    return same && turnsOf(same.metadata) >= turnsOf(metadata);
  });
}

export async function mergeSessions(
  objects: ObjectStore,
  left: Tree,
  right: Tree,
  id: string,
): Promise<{ sessions: Tree; summary: string }> {
  const [one, other] = [await sessionsIn(objects, left), await sessionsIn(objects, right)];
  const isFirst = comesFirst(one, other);
  const [first, second] = isFirst ? [one, other] : [other, one];
  const others = new Map(second.map((session) => [session.key, session]));
  const united: Session[] = [];
  for (const session of first) {
    const same = others.get(session.key);
    others.delete(session.key);
    united.push(same ? await richer(objects, session, same) : session);
  }
  united.push(...others.values());
  const said = async (tree: Tree) => blobOf(objects.reader, tree.get(METADATA_FILE));
  const words = [await said(isFirst ? left : right), await said(isFirst ? right : left)] as const;
  const sessions: Tree = new Map(united.map(({ entry }, index) => [String(index), entry]));
  return { sessions, summary: layoutJson(await summaryFrom(objects, id, united, first, words)) };
}

/** Sessions that keep their index keep their paths, and the checkpoint keeps the fields of other tools. */
async function summaryFrom(
  { trees }: ObjectStore,
  id: string,
  united: readonly Session[],
  first: readonly Session[],
  [before, other]: readonly [Buffer | undefined, Buffer | undefined],
): Promise<Record<string, unknown>> {
  const fresh = new Map<number, SessionPaths>();
  for (const [index, { entry }] of united.entries()) {
    if (first[index]?.entry.id === entry.id || entry.mode !== TREE_MODE) continue;
    fresh.set(index, sessionPaths(id, index, await trees.read(entry.id)));
  }
  const known = united.map(({ metadata }) => metadata ?? unknownSession());
  return { ...othersFields(other), ...withOthers(before, summaryOf(id, known), fresh) };
}

/** Sessions keep their indexes on the side that has more of them; the others follow. */
function comesFirst(a: readonly Session[], b: readonly Session[]): boolean {
  if (a.length !== b.length) return a.length > b.length;
  // Older sessions first; those without a creation time last. The ids of the trees break a tie.
  const words = (all: readonly Session[]) =>
    [
      ...all.map(({ key, metadata }) => `${metadata?.created_at || "~"} ${key}`),
      ...all.map(({ entry }) => entry.id),
    ].join("\n");
  return words(a) <= words(b);
}

async function sessionsIn({ reader, trees }: ObjectStore, checkpoint: Tree): Promise<Session[]> {
  const names = [...checkpoint.keys()].filter(isSessionName).sort((a, b) => Number(a) - Number(b));
  const sessions: Session[] = [];
  for (const name of names) {
    const entry = checkpoint.get(name);
    if (!entry) continue;
    const file = entry.mode === TREE_MODE ? (await trees.read(entry.id)).get(METADATA_FILE) : undefined;
    const data = await blobOf(reader, file);
    const parsed = data && data.length <= MAX_METADATA ? parseSessionMetadata(data) : undefined;
    const metadata = parsed?.ok ? parsed.value : null;
    // A duplicate id would drop a session, so fall back to the id of the tree.
    const id = metadata ? `${metadata.agent}\0${metadata.session_id}` : `\0${entry.id}`;
    const key = sessions.some((other) => other.key === id) ? `\0${entry.id}` : id;
    sessions.push({ entry, key, metadata });
  }
  return sessions;
}

async function richer(objects: ObjectStore, a: Session, b: Session): Promise<Session> {
  if (a.entry.id === b.entry.id) return a;
  const more =
    turnsOf(a.metadata) - turnsOf(b.metadata) ||
    (await saidIn(objects, a)) - (await saidIn(objects, b)) ||
    Number(a.metadata?.summary !== undefined) - Number(b.metadata?.summary !== undefined);
  const first = more > 0 || (more === 0 && a.entry.id < b.entry.id);
  const [chosen, other] = first ? [a, b] : [b, a];
  const summary = other.metadata?.summary;
  return summary && chosen.metadata && !chosen.metadata.summary ? withSummary(objects, chosen, summary) : chosen;
}

/** Preserves a summary that only the other form has. */
async function withSummary(
  { reader, writer, trees }: ObjectStore,
  session: Session,
  summary: NonNullable<SessionMetadata["summary"]>,
): Promise<Session> {
  const tree: Tree = new Map(await trees.read(session.entry.id));
  const data = await blobOf(reader, tree.get(METADATA_FILE));
  const fields = JSON.parse(data?.toString("utf8") ?? "{}") as Record<string, unknown>;
  const id = writer.add("blob", Buffer.from(layoutJson({ ...fields, summary })));
  tree.set(METADATA_FILE, { mode: FILE_MODE, id });
  const metadata = session.metadata && { ...session.metadata, summary };
  return { ...session, metadata, entry: { mode: TREE_MODE, id: trees.write(tree) } };
}

/** Returns the size of the conversation in bytes. Reads one chunk at a time. */
async function saidIn({ reader, trees }: ObjectStore, { entry }: Session): Promise<number> {
  let size = 0;
  if (entry.mode !== TREE_MODE) return size;
  for (const [name, file] of await trees.read(entry.id))
    if (name.startsWith(TRANSCRIPT_FILE)) size += (await blobOf(reader, file))?.length ?? 0;
  return size;
}

function turnsOf(metadata: SessionMetadata | null): number {
  return metadata?.checkpoints_count ?? 0;
}
