/** Finds what is secret in a stretch of bytes: one pass for the words, each rule only where its word was found. */
import { assignedAfter, endOfName, holdsSecret, NAMES, type NameKind } from "./assignment.ts";
import { type Automaton, buildAutomaton } from "./automaton.ts";
import { credentialsAfter, loginInAddress, loginInOption, PrivateKeys } from "./blocks.ts";
import { beginsToken, isCapital, isSmall, isWord } from "./bytes.ts";
import { eachRandom } from "./random.ts";
import { builtInRules, matchShape, type Rule } from "./rules.ts";
import { entropyOf, isStandIn } from "./value.ts";

export interface Candidate {
  rule: string;
  start: number;
  end: number;
  /** Of two that overlap, the heavier gives its name. */
  weight: number;
}

export const WEIGHT = { literal: 9, custom: 8, block: 7, shape: 6, address: 5, near: 4, named: 3, random: 1 } as const;

/** What to do where a word was found. */
interface Word {
  shapes: Rule[];
  near: Rule[];
  name: NameKind | undefined;
  own: "address" | "private-key" | "credentials" | "login" | undefined;
}

const OWN: Readonly<Record<string, Word["own"]>> = {
  "://": "address",
  "-----begin": "private-key",
  "bearer ": "credentials",
  "basic ": "credentials",
  " -u ": "login",
  " --user ": "login",
};
/** Words that are parts of others («compass»), so that they have to stand by themselves. */
const ALONE = new Set(["pwd", "_pass", "_auth"]);
/**
 * What a rule that can be this long has read is not read again from within: a text of nothing but prefixes would
 * otherwise be read over and over.
 */
const LONG = 64;

/** What one scan remembers. */
interface Progress {
  keys: PrivateKeys;
  /** Behind the last stretch that a long rule has read. */
  read: Map<Rule, number>;
}

export class Scanner {
  readonly rules: readonly Rule[];
  /** So many bytes were read because a word was found, besides the one pass: grows with the text and no faster. */
  work = 0;
  readonly #automaton: Automaton;
  readonly #words: Word[];
  readonly #alone: boolean[];

  constructor(rules: readonly Rule[] = builtInRules()) {
    this.rules = rules;
    const words = new Map<string, Word>();
    const wordOf = (text: string): Word => {
      const word = words.get(text) ?? { shapes: [], near: [], name: undefined, own: undefined };
      words.set(text, word);
      return word;
    };
    for (const rule of rules) {
      if (rule.keyword) wordOf(rule.keyword).shapes.push(rule);
      for (const near of rule.near) wordOf(near).near.push(rule);
    }
    for (const [name, kind] of Object.entries(NAMES)) wordOf(name).name = kind;
    for (const [text, own] of Object.entries(OWN)) wordOf(text).own = own;
    const texts = [...words.keys()];
    this.#words = [...words.values()];
    this.#alone = texts.map((text) => ALONE.has(text));
    this.#automaton = buildAutomaton(texts);
  }

  /** Everything that looks secret between `from` and `to`; overlaps are still in it. */
  scan(bytes: Buffer, from: number, to: number, random = true): Candidate[] {
    const { next, classes, width, firstEnd, ends, lengths } = this.#automaton;
    const found: Candidate[] = [];
    let state: Progress | undefined;
    let at = 0;
    for (let i = from; i < to; i++) {
      at = next[at + (classes[bytes[i] as number] as number)] as number;
      if (at < firstEnd) continue;
      state ??= { keys: new PrivateKeys(), read: new Map() };
      for (const word of ends[(at - firstEnd) / width] as number[]) {
        this.#look(bytes, from, to, word, i + 1 - (lengths[word] as number), i + 1, found, state);
      }
    }
    this.work += state?.keys.work ?? 0;
    if (random)
      eachRandom(bytes, from, to, (start, end) =>
        found.push({ rule: "high-entropy", start, end, weight: WEIGHT.random }),
      );
    return found;
  }

  #look(
    bytes: Buffer,
    from: number,
    to: number,
    index: number,
    start: number,
    end: number,
    found: Candidate[],
    state: Progress,
  ): void {
    const word = this.#words[index] as Word;
    for (const rule of word.shapes) {
      const candidate = this.#shapeAt(rule, bytes, from, start - rule.offset, to, state.read);
      if (candidate) found.push(candidate);
    }
    if (word.own) {
      const span = ownAt(word.own, bytes, from, start, end, to, state.keys);
      this.work += span ? span.end - start : 0;
      if (span) found.push(span);
    }
    if (this.#alone[index] && !standsAlone(bytes, from, start)) return;
    if (word.name) {
      const assigned = assignedAfter(bytes, from, start, end, to);
      if (assigned) this.work += assigned.end - start;
      if (assigned && holdsSecret(bytes, assigned, word.name))
        found.push({ rule: word.name, start: assigned.start, end: assigned.end, weight: WEIGHT.named });
    }
    if (word.near.length === 0) return;
    const assigned = assignedAfter(bytes, from, start, endOfName(bytes, end, to), to);
    if (!assigned) return;
    this.work += (assigned.end - start) * word.near.length;
    const candidate = nearAt(word.near, bytes, assigned.start, assigned.end);
    if (candidate) found.push(candidate);
  }

  #shapeAt(
    rule: Rule,
    bytes: Buffer,
    from: number,
    start: number,
    to: number,
    read: Map<Rule, number>,
  ): Candidate | undefined {
    if (start < from || !beginsToken(bytes, from, start)) return undefined;
    const long = rule.longest > LONG;
    if (long && start < (read.get(rule) ?? 0)) return undefined;
    const end = matchShape(rule, bytes, start, to);
    this.work += (end < 0 ? ~end : end) - start;
    if (long) read.set(rule, end < 0 ? ~end : end);
    if (end < 0 || (end < to && isWord(bytes[end]))) return undefined;
    if (entropyOf(bytes, start, end) < rule.entropy || isFiller(bytes, start, end)) return undefined;
    return { rule: rule.id, start, end, weight: WEIGHT.shape };
  }
}

/** `ghp_xxxxxxxx`, `AKIAIOSFODNN7EXAMPLE`: written where a secret would be. */
function isFiller(bytes: Buffer, start: number, end: number): boolean {
  if (end - start > 120) return false;
  return isStandIn(bytes.toString("latin1", start, end));
}

function nearAt(rules: readonly Rule[], bytes: Buffer, start: number, end: number): Candidate | undefined {
  const rule = rules.find((one) => matchShape(one, bytes, start, end) === end);
  if (!rule || entropyOf(bytes, start, end) < rule.entropy || isFiller(bytes, start, end)) return undefined;
  return { rule: rule.id, start, end, weight: WEIGHT.near };
}

function ownAt(
  own: NonNullable<Word["own"]>,
  bytes: Buffer,
  from: number,
  start: number,
  end: number,
  to: number,
  keys: PrivateKeys,
): Candidate | undefined {
  if (own === "private-key") {
    const span = keys.at(bytes, start, to);
    return span && { rule: "private-key", ...span, weight: WEIGHT.block };
  }
  if (own === "address") {
    const span = loginInAddress(bytes, end, to);
    return span && { rule: "url-password", ...span, weight: WEIGHT.address };
  }
  if (own === "login") {
    const span = loginInOption(bytes, end, to);
    return span && { rule: "password", ...span, weight: WEIGHT.named };
  }
  const span = beginsToken(bytes, from, start) ? credentialsAfter(bytes, end, to) : undefined;
  return span && { rule: "authorization", ...span, weight: WEIGHT.named };
}

function standsAlone(bytes: Uint8Array, from: number, start: number): boolean {
  if (start === from) return true;
  const before = bytes[start - 1] as number;
  if (bytes[start] === 0x5f) return true;
  if (isCapital(bytes[start] as number) && isSmall(before)) return true;
  return !isSmall(before) && !isCapital(before);
}

/**
 * In order and without overlaps: those that overlap become one, under the heavier one's name. What only looks
 * random gives way, because it may reach over what is around a secret.
 */
export function settle<T extends Candidate>(candidates: T[]): T[] {
  if (candidates.length < 2) return candidates;
  candidates.sort((a, b) => a.start - b.start || b.end - a.end);
  const settled: T[] = [];
  for (const candidate of candidates) {
    const last = settled.at(-1);
    if (!last || candidate.start >= last.end) settled.push({ ...candidate });
    else if (candidate.weight === WEIGHT.random) continue;
    else if (last.weight === WEIGHT.random) Object.assign(last, candidate);
    else {
      last.end = Math.max(last.end, candidate.end);
      if (candidate.weight > last.weight) [last.weight, last.rule] = [candidate.weight, candidate.rule];
    }
  }
  return settled;
}
