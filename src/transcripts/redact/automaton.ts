/** Finds every word of a list in one pass (Aho-Corasick), ignoring case. */
import { isCapital } from "./bytes.ts";

export interface Automaton {
  /** The next state for each state and byte class. States are multiples of the number of classes. */
  next: Int32Array;
  /** The class of each byte. Bytes that occur in no word share class 0. */
  classes: Uint8Array;
  width: number;
  /** In this state and every later one, a word ends. */
  firstEnd: number;
  /** The words that end in a state, by (state - firstEnd) / width, longest first. */
  ends: number[][];
  /** How long each word is. */
  lengths: number[];
}

interface Node {
  children: Map<number, number>;
  fail: number;
  words: number[];
}

export function buildAutomaton(words: readonly string[]): Automaton {
  const nodes = trieOf(words);
  const order = linkFailures(nodes);
  const { classes, width } = classesOf(words);
  // Number the states in which words end last, so that one comparison recognizes them.
  const sorted = [...order.filter((n) => nodes[n]?.words.length === 0), ...order.filter((n) => nodes[n]?.words.length)];
  const place = new Int32Array(nodes.length);
  for (const [index, node] of sorted.entries()) place[node] = index * width;
  const next = new Int32Array(nodes.length * width);
  for (const index of order) {
    const { children, fail } = node(nodes, index);
    const row = place[index] as number;
    if (index !== 0) next.copyWithin(row, place[fail] as number, (place[fail] as number) + width);
    for (const [byte, child] of children) next[row + (classes[byte] as number)] = place[child] as number;
  }
  const ending = sorted.filter((index) => node(nodes, index).words.length > 0);
  return {
    next,
    classes,
    width,
    firstEnd: (sorted.length - ending.length) * width,
    ends: ending.map((index) => node(nodes, index).words),
    lengths: words.map((word) => Buffer.byteLength(word)),
  };
}

function trieOf(words: readonly string[]): Node[] {
  const nodes: Node[] = [{ children: new Map(), fail: 0, words: [] }];
  for (const [index, word] of words.entries()) {
    let at = 0;
    for (const byte of Buffer.from(word.toLowerCase())) {
      const child = node(nodes, at).children.get(byte) ?? nodes.push({ children: new Map(), fail: 0, words: [] }) - 1;
      node(nodes, at).children.set(byte, child);
      at = child;
    }
    node(nodes, at).words.push(index);
  }
  return nodes;
}

/** Returns the nodes in order of depth: a node's failure link always leads to one before it. */
function linkFailures(nodes: Node[]): number[] {
  const order = [0];
  for (let i = 0; i < order.length; i++) {
    const index = order[i] as number;
    for (const [byte, child] of node(nodes, index).children) {
      order.push(child);
      if (index === 0) continue;
      let fail = node(nodes, index).fail;
      while (fail !== 0 && !node(nodes, fail).children.has(byte)) fail = node(nodes, fail).fail;
      const link = node(nodes, fail).children.get(byte) ?? 0;
      node(nodes, child).fail = link;
      node(nodes, child).words.push(...node(nodes, link).words);
    }
  }
  return order;
}

function classesOf(words: readonly string[]): { classes: Uint8Array; width: number } {
  const classes = new Uint8Array(256);
  let width = 1;
  for (const byte of Buffer.from(words.join("").toLowerCase())) if (classes[byte] === 0) classes[byte] = width++;
  for (let byte = 0; byte < 256; byte++) if (isCapital(byte)) classes[byte] = classes[byte + 32] as number;
  return { classes, width };
}

function node(nodes: Node[], index: number): Node {
  return nodes[index] as Node;
}
