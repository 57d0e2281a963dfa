/** Scans bytes for secrets: one pass finds the rules' words, and each rule runs only where its word occurs. */

import { type Automaton, buildAutomaton } from "./automaton.ts";
import { ALPHANUMERIC, beginsToken, byteSet, isWord } from "./bytes.ts";
import { type Candidate, RULE_OF, WEIGHT } from "./candidate.ts";
import { OWN, type Own, type OwnState, ownAt } from "./find/announced.ts";
import { type Assigned, assignedAfter, holdsSecret, MAX_VALUE } from "./find/assignment.ts";
import { discordToken, PrivateKeys, type Span } from "./find/blocks.ts";
import { base64At, isProse, MIN_BASE64, percentRun, withoutPercent } from "./find/encoded.ts";
import { eachMnemonic } from "./find/mnemonic.ts";
import { ALONE, endOfName, NAMES, type NameKind, standsAlone } from "./find/names.ts";
import { eachRun, lookForRandom } from "./find/random.ts";
import { entropyOf, isStandIn } from "./find/value.ts";
import { continuation, isLineEnd, matchWrapped } from "./find/wrapped.ts";
import { builtInRules, matchShape, type Rule } from "./rules.ts";

export interface ScanOptions {
  /** Whether to search for random tokens without a keyword. */
  random?: boolean;
  /** Treats `_` as a separator too, for file names. */
  loose?: boolean;
  /** How many times the bytes were decoded. */
  depth?: number;
}

/** What to do at an occurrence of a word. */
interface Word {
  shapes: Rule[];
  near: Rule[];
  name: NameKind | undefined;
  own: Own | undefined;
}

/**
 * Text that a rule of this length or more has read is not read again from inside it: otherwise a text that consists
 * only of prefixes would take quadratic time.
 */
const LONG = 64;
const MAX_DEPTH = 3;
/** In longer encoded texts, such as source maps, random-looking text is not a secret. */
const MAX_RANDOM_INSIDE = 512;

/** The state of one scan. */
interface Progress extends OwnState {
  options: ScanOptions;
  found: Candidate[];
  /** The end of the last range that a long rule has read. */
  read: Map<Rule, number>;
  /** The end of the last decoded address, and of the last very long value. */
  decoded: number;
  long: number;
  /** The end of a value, and the number of named values found inside it. */
  value: number;
  names: number;
}

export class Scanner {
  readonly rules: readonly Rule[];
  /**
   * The number of bytes read at occurrences of words, besides the one pass. Must stay linear in the length of the text.
   */
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

  /** All candidates between `from` and `to`, including overlapping ones. */
  scan(bytes: Buffer, from: number, to: number, options: ScanOptions = {}): Candidate[] {
    const { next, classes, width, firstEnd, ends, lengths } = this.#automaton;
    const found: Candidate[] = [];
    let state: Progress | undefined;
    let at = 0;
    for (let i = from; i < to; i++) {
      at = next[at + (classes[bytes[i] as number] as number)] as number;
      if (at < firstEnd) continue;
      state ??= {
        bytes,
        from,
        to,
        options,
        found,
        keys: new PrivateKeys(),
        read: new Map(),
        decoded: from,
        jwk: from,
        cookies: from,
        declared: from,
        long: from,
        value: from,
        names: 0,
      };
      for (const word of ends[(at - firstEnd) / width] as number[]) {
        this.#look(word, i + 1 - (lengths[word] as number), i + 1, state);
      }
    }
    this.work += state?.keys.work ?? 0;
    eachMnemonic(bytes, from, to, (start, end) =>
      found.push({ rule: "recovery-phrase", start, end, weight: WEIGHT.block }),
    );
    eachRun(bytes, from, to, MIN_BASE64, (start, end) => this.#run(bytes, from, start, end, to, options, found));
    return found;
  }

  /** Examines a run of letters and digits: it may be random, or base64 of a secret. Returns where to continue. */
  #run(
    bytes: Buffer,
    from: number,
    start: number,
    end: number,
    to: number,
    options: ScanOptions,
    found: Candidate[],
  ): number {
    const { random = true, depth = 0 } = options;
    const token = discordToken(bytes, start, end, to);
    if (token) found.push({ rule: "discord-token", ...token, weight: WEIGHT.shape });
    const encoded = depth < MAX_DEPTH ? base64At(bytes, from, start, end, to) : undefined;
    if (random && !(encoded && isProse(encoded.text)))
      lookForRandom(bytes, from, start, end, to, (first, last) =>
        found.push({ rule: "high-entropy", start: first, end: last, weight: WEIGHT.random }),
      );
    if (!encoded) return end + 1;
    this.work += encoded.end - start;
    const isShort = encoded.text.length <= MAX_RANDOM_INSIDE;
    const inside = this.scan(encoded.text, 0, encoded.text.length, {
      random: random && isShort,
      depth: depth + 1,
    }).reduce<Candidate | undefined>((best, one) => (best && best.weight >= one.weight ? best : one), undefined);
    if (!inside) return end + 1;
    found.push({ rule: inside.rule, start: encoded.start, end: encoded.end, weight: inside.weight });
    return encoded.end;
  }

  #look(index: number, start: number, end: number, state: Progress): void {
    const { bytes, from, to, found } = state;
    const word = this.#words[index] as Word;
    for (const rule of word.shapes) {
      const candidate = this.#shapeAt(rule, start - rule.offset, state);
      if (candidate) found.push(candidate);
    }
    const isForm = bytes[end] === 0x2b || (start > from && bytes[start - 1] === 0x2b);
    if (word.own === "percent" || isForm) this.#percent(start, state, isForm);
    if (word.own && word.own !== "percent") this.#own(word.own, start, end, state);
    if (this.#alone[index] && !standsAlone(bytes, from, start)) return;
    if (word.name) {
      const assigned = assignedAfter(bytes, from, start, end, to, word.name);
      if (assigned) this.work += assigned.end - start;
      const { name } = word;
      const span =
        assigned &&
        !isCrowded(assigned, state) &&
        valueIn(assigned, state, (text, value) => holdsSecret(text, value, name));
      if (span && span.end - span.start > MAX_VALUE) state.long = span.end;
      if (span) found.push({ rule: RULE_OF[name], ...span, weight: WEIGHT.named });
    }
    if (word.near.length === 0) return;
    const assigned = assignedAfter(bytes, from, start, endOfName(bytes, end, to), to);
    if (!assigned || isCrowded(assigned, state)) return;
    this.work += (assigned.end - start) * word.near.length;
    let near: Candidate | undefined;
    const span = valueIn(assigned, state, (text, { start: first, end: last }) => {
      near = nearAt(word.near, text, first, last);
      return near !== undefined;
    });
    if (span && near) found.push({ ...near, ...span });
  }

  #shapeAt(rule: Rule, start: number, { bytes, from, to, options, read }: Progress): Candidate | undefined {
    const { loose = false } = options;
    if (start < from || (isWord(bytes[start]) && !beginsToken(bytes, from, start, loose))) return undefined;
    const long = rule.longest > LONG;
    if (long && start < (read.get(rule) ?? 0)) return undefined;
    const match = matchShape(rule, bytes, start, to);
    const reached = match < 0 ? ~match : match;
    this.work += reached - start;
    const end = isLineEnd(bytes, reached, to) ? this.#wrapped(rule, bytes, start, to, match) : match;
    if (long) read.set(rule, Math.max(reached, end));
    if (end < 0 || (end < to && isWord(bytes[end]) && !(loose && bytes[end] === 0x5f))) return undefined;
    if (entropyOf(bytes, start, end) < rule.entropy || isFiller(bytes, start, end)) return undefined;
    return { rule: rule.id, start, end, weight: WEIGHT.shape };
  }

  #wrapped(rule: Rule, bytes: Buffer, start: number, to: number, match: number): number {
    const end = matchWrapped(rule, bytes, start, to);
    this.work += Math.max(0, end - start);
    return end < 0 || (end < to && isWord(bytes[end])) ? match : end;
  }

  /**
   * Decodes each address once, as a whole, because the text before a `%` may name the value after it. With `isForm`,
   * a `+` beside a word also counts as encoding.
   */
  #percent(at: number, state: Progress, isForm: boolean): void {
    const { bytes, to, options, found } = state;
    const { depth = 0, random = true } = options;
    if (at < state.decoded || depth >= MAX_DEPTH) return;
    const run = percentRun(bytes, state.decoded, at, to, isForm);
    if (!run) return;
    state.decoded = run.end;
    this.work += run.end - run.start;
    const raw = bytes.subarray(run.start, run.end);
    const ways = [
      ...(raw.includes(0x25) ? [false] : []),
      ...(raw.includes(0x2b) && !raw.includes("%20") ? [true] : []),
    ];
    for (const form of ways) {
      const { text, places } = withoutPercent(bytes, run.start, run.end, form);
      for (const one of this.scan(text, 0, text.length, { ...options, random: random && !form, depth: depth + 1 })) {
        found.push({ ...one, start: places[one.start] as number, end: places[one.end] as number });
      }
    }
  }

  #own(own: Exclude<Own, "percent">, start: number, end: number, state: Progress): void {
    const { found } = state;
    for (const span of ownAt(own, start, end, state)) {
      this.work += span.end - span.start;
      found.push(span);
    }
    if (own === "command" || own === "cookie") this.work += end - start;
  }
}

/** Without this limit, a text of only names would examine everything after each name. */
function isCrowded({ start, end }: Assigned, state: Progress): boolean {
  if (start < state.value) return ++state.names > MAX_NAMES_IN_VALUE;
  state.value = end;
  state.names = 0;
  return false;
}

const MAX_NAMES_IN_VALUE = 16;

/** Returns the value if it is a secret, including the next line if the value continues there. */
function valueIn(
  assigned: Assigned,
  { bytes, to, long }: Progress,
  isSecret: (text: Buffer, value: Assigned) => boolean,
): Span | undefined {
  const { start, end, open } = assigned;
  if (end - start > MAX_VALUE) {
    const isLong = start >= long && isSecret(bytes, { ...assigned, end: start + MAX_VALUE });
    return isLong ? { start, end: endOfLong(bytes, end, to) } : undefined;
  }
  const more = isLineEnd(bytes, end, to) ? continuation(bytes, end, to, open) : undefined;
  if (more) {
    const text = Buffer.concat([bytes.subarray(start, end), bytes.subarray(more.start, more.end)]);
    if (isSecret(text, { ...assigned, start: 0, end: text.length })) return { start, end: more.end };
  }
  return open === undefined && isSecret(bytes, assigned) ? { start, end } : undefined;
}

/** Extends a value beyond the part that was examined, as long as it consists of token characters. */
function endOfLong(bytes: Uint8Array, from: number, to: number): number {
  let end = from;
  while (end < to && end < from + MAX_LONG_VALUE && LONG_VALUE[bytes[end] as number] === 1) end++;
  return end;
}

const MAX_LONG_VALUE = 16_384;
const LONG_VALUE = byteSet(`${ALPHANUMERIC}+/=_-.~%`);

/** `ghp_xxxxxxxx`, `AKIAIOSFODNN7EXAMPLE`: placeholders that people write in place of a secret. */
function isFiller(bytes: Buffer, start: number, end: number): boolean {
  // `&sig=` and the like begin with `&`, as variables do.
  return isStandIn(bytes.toString("latin1", isWord(bytes[start]) || bytes[start] === 0x24 ? start : start + 1, end));
}

/** The rules of the services named in a JSON key. */
export function rulesNear(rules: readonly Rule[], key: string): Rule[] {
  const lower = key.toLowerCase();
  return rules.filter(({ near }) => near.some((word) => lower.includes(word)));
}

export function nearAt(rules: readonly Rule[], bytes: Buffer, start: number, end: number): Candidate | undefined {
  const rule = rules.find((one) => matchShape(one, bytes, start, end) === end);
  if (!rule || entropyOf(bytes, start, end) < rule.entropy || isFiller(bytes, start, end)) return undefined;
  return { rule: rule.id, start, end, weight: WEIGHT.near };
}
