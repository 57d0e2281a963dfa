/**
 * Searches the prompts and answers of sessions. Logs are read as a stream, and a log is parsed only if its bytes
 * contain the words.
 */

import { importedSessions } from "../../checkpoints/import/store.ts";
import type { Workspace } from "../../git/workspace.ts";
import { sessionRefKey } from "../../model/session.ts";
import { stepsIn } from "../../steps/log.ts";
import { findRunner } from "../agents.ts";
import { readChunks, readLog } from "../log/read.ts";
import { inOrder, type SessionNode } from "./model.ts";

export interface Hit {
  where: "prompt" | "result";
  /** The match with its surrounding text. */
  excerpt: string;
}

const AROUND = 60;

/** Returns the first hit of each matching session. */
export async function searchSessions(
  workspace: Workspace | undefined,
  nodes: readonly SessionNode[],
  text: string,
): Promise<Map<SessionNode, Hit>> {
  const wanted = text.toLowerCase();
  const found = new Map<SessionNode, Hit>();
  const recorded = new Map<string, SessionNode>();
  const inPieces = await agentsInPieces(inOrder(nodes));
  for (const node of inOrder(nodes)) {
    const { log } = node;
    const mayBe = log !== null && (inPieces.has(log.agent) || mayHold(log.path, wanted));
    const hit = hitIn("prompt", node.prompt, wanted) ?? (log && mayBe ? await inLog(log, wanted) : undefined);
    if (hit) found.set(node, hit);
    else if (node.recorded || node.imported) recorded.set(sessionRefKey({ agent: node.agent, session: node.id }), node);
  }
  if (workspace && recorded.size > 0) await inRecords(workspace, recorded, wanted, found);
  return found;
}

async function inRecords(
  workspace: Workspace,
  sessions: ReadonlyMap<string, SessionNode>,
  wanted: string,
  found: Map<SessionNode, Hit>,
): Promise<void> {
  const consider = (agent: string, session: string, prompt: string | null, answer: string | null) => {
    const node = sessions.get(sessionRefKey({ agent, session }));
    if (!node || found.has(node)) return;
    const hit = hitIn("prompt", prompt ?? "", wanted) ?? hitIn("result", answer ?? "", wanted);
    if (hit) found.set(node, hit);
  };
  for (const { agent, session, prompt, response } of stepsIn(workspace).newestFirst()) {
    if (agent !== null && session !== null) consider(agent, session, prompt, response);
  }
  for (const { agent, session, turns } of await importedSessions(workspace)) {
    for (const { prompt, response } of turns) consider(agent, session, prompt, response);
  }
}

/** The agents that stream answers in pieces: no line of their logs contains a whole answer. */
async function agentsInPieces(nodes: readonly SessionNode[]): Promise<Set<string>> {
  const names = new Set(nodes.flatMap(({ log }) => (log ? [log.agent] : [])));
  const runners = await Promise.all([...names].map(async (name) => ({ name, runner: await findRunner(name) })));
  const isInPieces = ({ runner }: (typeof runners)[number]) =>
    runner?.run.stream.rules.some(({ is }) => is === "delta");
  return new Set(runners.filter(isInPieces).map(({ name }) => name));
}

async function inLog(log: NonNullable<SessionNode["log"]>, wanted: string): Promise<Hit | undefined> {
  let found: Hit | undefined;
  await readLog(log, {
    run: (start) => {
      found ??= hitIn("prompt", start?.prompt ?? "", wanted);
    },
    end: (result) => {
      found ??= hitIn("result", result.text, wanted);
    },
  });
  return found;
}

/** Only plain words can be matched on raw bytes: JSON can encode other characters in several ways. */
function mayHold(path: string, wanted: string): boolean {
  if (!/^[a-z0-9 ,.;:!?_-]+$/.test(wanted)) return true;
  let holds = false;
  let before = "";
  readChunks(path, (chunk) => {
    const text = before + chunk.toString("latin1").toLowerCase();
    holds = text.includes(wanted);
    before = text.slice(-wanted.length);
    return holds;
  });
  return holds;
}

function hitIn(where: Hit["where"], text: string, wanted: string): Hit | undefined {
  const at = text.toLowerCase().indexOf(wanted);
  if (at < 0) return undefined;
  const from = Math.max(0, at - AROUND);
  const to = at + wanted.length + AROUND;
  return {
    where,
    excerpt: `${from > 0 ? "…" : ""}${text.slice(from, to)}${to < text.length ? "…" : ""}`,
  };
}
