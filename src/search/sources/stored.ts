/**
 * Conversations that are not in transcript files: logs of headless runs that were not recorded, fetched checkpoints, and
 * (opencode.ts) an agent's database. A transcript or a recorded session takes precedence.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { hexDigest } from "../../base/digest.ts";
import { faultPoint } from "../../base/fault-point.ts";
import { readAs } from "../../checkpoints/blame/line-rationale.ts";
import { hasCheckpoints } from "../../checkpoints/branch/location.ts";
import { linkedCommits } from "../../checkpoints/links/committed-files.ts";
import { CheckpointReader } from "../../checkpoints/read/read.ts";
import type { Workspace } from "../../git/workspace.ts";
import { logsDirectory } from "../../run/log/layout.ts";
import { inOrder, type SessionNode } from "../../run/sessions/model.ts";
import { type StoryEntry, storyOf } from "../../run/sessions/story.ts";
import { sessionTree } from "../../run/sessions/tree.ts";
import type { ConversationName, NewDocument } from "../index/documents.ts";
import type { Field } from "../index/schema.ts";
import type { SearchIndex } from "../index/store.ts";
import { documentsOf } from "./documents.ts";
import { isReplaceable, ORIGIN } from "./origins.ts";
import type { IndexRedaction } from "./redaction.ts";

export interface StoredConversation extends ConversationName {
  repository: string | null;
  store: string | null;
  /** A path only if the agent can continue it from there. */
  origin: string;
  /** Milliseconds since 1970. */
  modified: number;
  size: number;
  documents(): Promise<NewDocument[]>;
}

const FIELD_OF: Readonly<Record<StoryEntry["kind"], Field>> = {
  prompt: "prompt",
  answer: "answer",
  tool: "command",
  output: "output",
  failure: "output",
};

/** The logs of runs that were started in a directory. `seen` gets what tells the next time that nothing is new. */
export async function loggedRuns(
  index: SearchIndex,
  root: string,
  store: string | null,
  seen: Map<string, number>,
): Promise<StoredConversation[]> {
  const logs = logsDirectory(root, process.env);
  const list = join(logs, ".index.jsonl");
  const modified = Math.round(statSync(list, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  const row = index.database.statement("select modified from folders where path = ?").get(list);
  if (modified === 0 || (row as { modified: number } | undefined)?.modified === modified) return [];
  seen.set(list, modified);
  const nodes = inOrder(await sessionTree(undefined, logs));
  return nodes.flatMap((node) => (node.log ? [runOf(node, node.log.path, root, store)] : []));
}

function runOf(node: SessionNode, path: string, repository: string, store: string | null): StoredConversation {
  const stat = statSync(path, { throwIfNoEntry: false });
  return {
    ...{ agent: node.agent, session: node.id, part: "", repository, store, origin: ORIGIN.run + path },
    size: stat?.size ?? 0,
    modified: Math.round(stat?.mtimeMs ?? 0),
    async documents() {
      const { entries } = await storyOf(undefined, node);
      const time = Date.parse(node.startedAt ?? node.updatedAt) || 0;
      let turn = 0;
      return entries.map(({ kind, text, name }, position) => {
        if (kind === "prompt") turn++;
        const whole = kind === "tool" ? [name ?? "", text].filter((one) => one !== "").join("\n") : text;
        return { field: FIELD_OF[kind], time, turn, position, text: whole };
      });
    },
  };
}

/**
 * The sessions of a repository's checkpoints, each from the newest that has it. `states` gets what tells the next time
 * that nothing is new.
 */
export async function fetchedCheckpoints(
  index: SearchIndex,
  workspace: Workspace,
  states: Map<string, string>,
): Promise<StoredConversation[]> {
  if (!hasCheckpoints(workspace)) return [];
  const commits = await linkedCommits(workspace);
  const ids = [...new Set(commits.flatMap(({ checkpoints }) => checkpoints))];
  const key = `checkpoints ${workspace.storeDir}`;
  const state = hexDigest("sha256", Buffer.from(ids.join("\n")));
  if (ids.length === 0 || index.state(key) === state) return [];
  const found = new Map<string, StoredConversation>();
  const reader = new CheckpointReader(workspace);
  try {
    for (const id of ids) {
      const checkpoint = await reader.find(id).catch(() => undefined);
      for (const { metadata, record, index: number, hasTranscript } of checkpoint?.sessions ?? []) {
        const { session_id: session } = metadata;
        const agent = record?.agent ?? metadata.agent;
        if (!hasTranscript || agent === "" || session === "") continue;
        found.set(`${agent}\0${session}`, {
          ...{ agent, session, part: "", repository: workspace.root, store: workspace.storeDir },
          origin: `${ORIGIN.checkpoint}${id}`,
          size: 0,
          modified: Date.parse(metadata.created_at) || 0,
          documents: () => checkpointTexts(workspace, id, number, agent, Date.parse(metadata.created_at) || 0),
        });
      }
    }
  } finally {
    reader.close();
  }
  states.set(key, state);
  return [...found.values()];
}

async function checkpointTexts(workspace: Workspace, id: string, session: number, agent: string, time: number) {
  const reader = new CheckpointReader(workspace);
  try {
    const transcript = await reader.transcript(id, session);
    const said = transcript ? await readAs(agent, transcript.bytes) : null;
    return said ? [...documentsOf(said.entries, { turns: 0, time }, ({ start }) => start)] : [];
  } finally {
    reader.close();
  }
}

/** Indexes the conversation, unless it is indexed from a better place. */
export async function indexStored(
  index: SearchIndex,
  stored: StoredConversation,
  redaction: IndexRedaction,
): Promise<void> {
  const { documents, ...named } = stored;
  const known = index.find(stored);
  const isOurs = known?.origin === stored.origin;
  if (known && !isOurs && !isReplaceable(known.origin)) return;
  const isSame = isOurs && known.size === stored.size && known.modified === stored.modified;
  if (isSame) return;
  const texts = (await documents()).map((one) => ({ ...one, text: redaction.text(one.text) }));
  index.transaction(() => {
    const turns = texts.reduce((most, { turn }) => Math.max(most, turn), 0);
    const fresh = { offset: 0, generation: 0, mark: "", title: null, model: null };
    const id = index.save({ ...fresh, ...known, ...named, turns });
    if (known) index.removeDocuments(id);
    for (const text of texts) index.add(id, text);
    faultPoint("search:stored");
  });
}
