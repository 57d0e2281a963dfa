/** Finds a session by its id, an id prefix, or the word `last`. */
import { oneLine } from "../../base/text.ts";
import { RunError } from "../problems.ts";
import { inOrder, type SessionNode } from "./model.ts";

/** The session with the newest activity, as in `resume last`. */
const LAST = "last";
const MIN_LENGTH = 4;
const USUAL = 8;

export function findSession(nodes: readonly SessionNode[], text: string): SessionNode | undefined {
  const all = inOrder(nodes);
  if (text === LAST) return all.toSorted((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))[0];
  const exact = all.filter((node) => node.id === text);
  const found = exact.length > 0 || text.length < MIN_LENGTH ? exact : all.filter((node) => node.id.startsWith(text));
  if (found.length <= 1) return found[0];
  throw new RunError("usage", {
    kind: "run-session-ambiguous",
    text,
    sessions: found.map(({ agent, id }) => ({ agent, id })),
  });
}

export function requireSession(nodes: readonly SessionNode[], text: string): SessionNode {
  const found = findSession(nodes, text);
  if (found) return found;
  throw new RunError("not-found", { kind: "run-session-unknown", text });
}

/** The shortest unique id prefixes, at least eight characters long. */
export function shortIds(nodes: readonly SessionNode[]): Map<SessionNode, string> {
  const ids = nodes.map(({ id }) => id).sort();
  const lengths = new Map<string, number>();
  for (const [i, id] of ids.entries()) {
    const shared = Math.max(common(id, ids[i - 1]), common(id, ids[i + 1]));
    lengths.set(id, Math.max(USUAL, shared + 1));
  }
  return new Map(nodes.map((node) => [node, oneLine(node.id.slice(0, lengths.get(node.id)))]));
}

function common(a: string, b: string | undefined): number {
  let length = 0;
  while (b !== undefined && length < a.length && a[length] === b[length]) length++;
  return length;
}
