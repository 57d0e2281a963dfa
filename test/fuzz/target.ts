/** What is fuzzed: a way to make an input, and a way to see that nothing bad comes of it. */
import type { Random } from "./random.ts";

export interface Target {
  name: string;
  /** How many of the cheapest cases one case of this costs: so many fewer are tried. */
  cost: number;
  open(): Promise<OpenTarget>;
}

/** Inputs are bytes, so that what was found can be kept in a file and tried again. */
export interface OpenTarget {
  input(random: Random): Uint8Array;
  /** Throws where an invariant is broken. */
  run(input: Uint8Array): Promise<void>;
  close?(): void;
}

export function demand(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(what);
}

/** A choice (which agent, which file) in the first line, then the bytes. */
export function labeled(about: Record<string, string>, body: Uint8Array | string): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify(about)}\n`), Buffer.from(body as Uint8Array)]);
}

export function unlabeled(input: Uint8Array): { about: Record<string, string>; body: Buffer } {
  const bytes = Buffer.from(input.buffer, input.byteOffset, input.byteLength);
  const end = bytes.indexOf(10);
  return { about: JSON.parse(bytes.toString("utf8", 0, end)), body: bytes.subarray(end + 1) };
}

const NAMES = Object.getOwnPropertyNames(Object.prototype).join();

/** Nobody may give every object a property. */
export function demandCleanPrototypes(): void {
  demand(Object.getOwnPropertyNames(Object.prototype).join() === NAMES, "Object.prototype was changed.");
  demand(!("polluted" in []) && !("polluted" in {}), "A prototype was polluted.");
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;

/** What is printed without colors has no control characters but line ends and tabs. */
export function demandPrintable(text: string, where: string): void {
  const found = CONTROL.exec(text);
  if (!found) return;
  const around = JSON.stringify(text.slice(Math.max(0, found.index - 40), found.index + 20));
  throw new Error(`${where} printed U+${found[0].charCodeAt(0).toString(16).padStart(4, "0")}: ${around}`);
}
