/** The session that a person means: by its id or the beginning of it. */
import { UserError } from "../../base/errors.ts";
import { oneLine, shorten } from "../../base/text.ts";
import { inOrder, type SessionNode } from "./model.ts";

const SHORTEST = 4;
const USUAL = 8;
const SHOWN = 5;

export function findSession(nodes: readonly SessionNode[], text: string): SessionNode | undefined {
  const all = inOrder(nodes);
  const exact = all.filter((node) => node.id === text);
  const found = exact.length > 0 || text.length < SHORTEST ? exact : all.filter((node) => node.id.startsWith(text));
  if (found.length <= 1) return found[0];
  const names = found.slice(0, SHOWN).map(({ agent, id }) => `${oneLine(id)} (${oneLine(agent)})`);
  throw new UserError(
    "usage",
    `Several sessions begin with ${oneLine(text)}: ${names.join(", ")}`,
    "Give more of the id.",
  );
}

export function requireSession(nodes: readonly SessionNode[], text: string): SessionNode {
  const found = findSession(nodes, text);
  if (found) return found;
  throw new UserError(
    "not-found",
    `There is no session "${shorten(oneLine(text), 60)}".`,
    "`backtrail sessions` lists them; the beginning of an id is enough.",
  );
}

/** The shortest beginnings by which the sessions can be told apart, at least eight characters long. */
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
