/** The built-in rules: what credentials of known services look like, ready to be compared with bytes. */
import { ALPHANUMERIC, type ByteSet, byteSet, CAPITALS, DIGITS, SMALL } from "./bytes.ts";
import stored from "./rules.json";

type Piece = { fixed: Uint8Array } | { set: ByteSet; least: number; most: number };

export interface Rule {
  id: string;
  pieces: Piece[];
  /** At most so many bytes. */
  longest: number;
  keyword: string | undefined;
  offset: number;
  near: readonly string[];
  entropy: number;
}

interface StoredRule {
  id: string;
  shape: (string | (string | number)[])[];
  keyword?: string;
  offset?: number;
  near?: string[];
  entropy?: number;
}

/** Random tokens of so few characters have less, so that a rule without a figure asks only for some variety. */
const USUAL_ENTROPY = 2;

export function builtInRules(): Rule[] {
  const sets = classes();
  return (stored.rules as StoredRule[]).map((rule) => {
    const pieces = rule.shape.map((piece): Piece => {
      if (typeof piece === "string") return { fixed: Buffer.from(piece) };
      const [kind, least, most] = piece;
      const set = sets[String(kind)];
      if (!set) throw new Error(`rules.json: no class "${kind}"`);
      return { set, least: Number(least), most: Number(most) };
    });
    return {
      id: rule.id,
      pieces,
      longest: pieces.reduce((sum, piece) => sum + ("set" in piece ? piece.most : piece.fixed.length), 0),
      keyword: rule.keyword,
      offset: rule.offset ?? 0,
      near: rule.near ?? [],
      entropy: rule.entropy ?? USUAL_ENTROPY,
    };
  });
}

/**
 * Behind the shape that begins at `start`. Where it does not hold: the complement (`~`) of how far it was read.
 * Each byte is looked at once: there is no going back.
 */
export function matchShape(rule: Rule, bytes: Uint8Array, start: number, to: number): number {
  let at = start;
  for (const piece of rule.pieces) {
    if ("set" in piece) {
      const limit = Math.min(to, at + piece.most);
      const begin = at;
      while (at < limit && piece.set[bytes[at] as number] === 1) at++;
      if (at - begin < piece.least) return ~at;
    } else {
      const { fixed } = piece;
      if (at + fixed.length > to) return ~at;
      for (let i = 0; i < fixed.length; i++) if (bytes[at + i] !== fixed[i]) return ~at;
      at += fixed.length;
    }
  }
  return at;
}

/** The letters for classes in facts.txt. */
function classes(): Record<string, ByteSet> {
  return {
    A: byteSet(ALPHANUMERIC),
    a: byteSet(SMALL + DIGITS),
    U: byteSet(CAPITALS + DIGITS),
    l: byteSet(CAPITALS + SMALL),
    d: byteSet(DIGITS),
    h: byteSet(`abcdef${DIGITS}`),
    H: byteSet(`ABCDEFabcdef${DIGITS}`),
    w: byteSet(`${ALPHANUMERIC}_-`),
    v: byteSet(`${ALPHANUMERIC}_-.=`),
    b: byteSet(`${ALPHANUMERIC}+/`),
    B: byteSet(`${ALPHANUMERIC}+/=`),
    t: byteSet(`${CAPITALS}234567`),
    s: byteSet(`${ALPHANUMERIC}./`),
    p: byteSet(`${ALPHANUMERIC}+/=%_-.~`),
  };
}
