/** The built-in rules: the shapes of credentials of known services, compiled for matching bytes. */
import { ALPHANUMERIC, type ByteSet, byteSet, CAPITALS, DIGITS, SMALL } from "./bytes.ts";
import stored from "./rules.json";

type Piece = { fixed: Uint8Array } | { set: ByteSet; least: number; most: number };

export interface Rule {
  id: string;
  pieces: Piece[];
  /** The maximum length in bytes. */
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

/** Short random tokens have less entropy, so a rule without its own minimum requires only some variety. */
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
 * Returns the end of the shape that begins at `start`; if it does not match, the complement (`~`) of the offset that
 * was reached. Reads each byte once, without backtracking.
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

/** The letters that stand for character classes in facts.txt. */
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
