/** The objects in a transcript's lines, with the words that show the kind of each. */
import { isRecord } from "../../../base/json.ts";
import type { Condition } from "../../contract/profile.ts";

export type Tests = Record<string, Condition>;

/** An object in a line, or in a member of a list of the line. */
export interface Node {
  line: number;
  /** The list's path in the line; null if the object is not in a list. */
  list: string | null;
  /** From the line, or from the list's member. */
  path: string;
  value: Record<string, unknown>;
  /** What the line, and what the member must say. */
  when: Tests;
  each: Tests;
}

const TAGS = ["type", "role", "kind", "subtype"];
/** What tools were given or gave back; objects in there mean nothing. */
const CLOSED =
  /^(input|args|arguments|parameters|params|tool_?input|tool_?use_?result|display|snapshot|schema|tools)$/i;
const MAX_DEPTH = 5;
const MAX_NODES = 400;

export function nodesOf(line: unknown, index: number): Node[] {
  const nodes: Node[] = [];
  if (isRecord(line)) visit(line, { line: index, list: null, path: "$", when: {}, each: {} }, 0, nodes);
  return nodes;
}

function visit(value: Record<string, unknown>, at: Omit<Node, "value">, depth: number, nodes: Node[]): void {
  if (depth > MAX_DEPTH || nodes.length >= MAX_NODES) return;
  const tags = tagsOf(value, at.path);
  const node: Node =
    at.list === null
      ? { ...at, value, when: { ...at.when, ...tags } }
      : { ...at, value, each: { ...at.each, ...tags } };
  nodes.push(node);
  for (const [key, inner] of Object.entries(value)) {
    if (!/^[A-Za-z0-9_-]+$/.test(key) || CLOSED.test(key)) continue;
    const path = `${at.path}.${key}`;
    if (isRecord(inner)) visit(inner, { ...node, path }, depth + 1, nodes);
    else if (Array.isArray(inner) && at.list === null) {
      for (const member of inner.slice(0, 100)) {
        if (isRecord(member)) visit(member, { ...node, list: path, path: "$", each: {} }, depth + 1, nodes);
      }
    }
  }
}

function tagsOf(value: Record<string, unknown>, path: string): Tests {
  const found = TAGS.flatMap((key) => {
    const tag = Object.hasOwn(value, key) ? value[key] : undefined;
    return typeof tag === "string" && /^[A-Za-z][A-Za-z0-9_.:-]{0,39}$/.test(tag) ? [[`${path}.${key}`, tag]] : [];
  });
  return Object.fromEntries(found);
}

/** Nodes of one kind have the same conditions and path. */
export function kindOf({ list, path, when, each }: Omit<Node, "line" | "value">): string {
  return JSON.stringify([list, path, when, each]);
}

/** All words that the line and the member say of themselves. */
export function tagWords({ when, each }: Pick<Node, "when" | "each">): string[] {
  return [...Object.values(when), ...Object.values(each)].filter((tag): tag is string => typeof tag === "string");
}

/** Groups of the same kind, in the order of their first member. */
export function grouped<T extends { node: Node }>(found: readonly T[], keyOf: (each: T) => string): T[][] {
  const groups = new Map<string, T[]>();
  for (const each of found) {
    const key = keyOf(each);
    groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  return [...groups.values()];
}

/**
 * Some agents write the same thing in lines of several kinds. Chooses the groups that cover everything: the largest
 * first, then the one that is written earliest.
 */
export function covering<T extends { node: Node }>(groups: readonly T[][], whatOf: (each: T) => string): T[][] {
  const score = (group: T[]) => new Set(group.map(whatOf)).size;
  const middle = (group: T[]) => group.reduce((sum, { node }) => sum + node.line, 0) / group.length;
  const covered = new Set<string>();
  return [...groups]
    .sort((a, b) => score(b) - score(a) || middle(a) - middle(b))
    .filter((group) => {
      const adds = group.some((each) => !covered.has(whatOf(each)));
      for (const each of group) covered.add(whatOf(each));
      return adds;
    });
}
