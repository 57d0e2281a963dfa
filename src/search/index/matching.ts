/** Finds a segment's documents that match an expression of tokens. Sets of documents are bits. */
import type { Expression } from "../query/narrow.ts";
import type { Database } from "./database-types.ts";
import { eachToken, type TokenRange, tokenRange } from "./runs.ts";
import { IDS, type Segment } from "./segments.ts";

type Bits = Uint32Array;

/** The ids of the documents, ascending. Some of them may be removed. */
export function documentsMatching(
  database: Database,
  { id, docs }: Pick<Segment, "id" | "docs">,
  expression: Expression,
): number[] {
  const bits = new Matching(database, id, docs).bitsOf(expression);
  const found: number[] = [];
  for (let index = 0; index < bits.length; index++) {
    for (let left = bits[index] as number; left !== 0; left &= left - 1) {
      const bit = 31 - Math.clz32(left & -left);
      found.push(id * IDS + index * 32 + bit);
    }
  }
  return found;
}

/** The tokens with this prefix, at most `limit`. */
export function tokensLike(database: Database, { id }: Pick<Segment, "id">, start: string, most: number): string[] {
  const found: string[] = [];
  eachToken(database, id, tokenRange(start, true), ({ token }) => {
    found.push(Buffer.from(token.bytes).toString("utf8", 0, token.end));
    return found.length < most;
  });
  return found;
}

class Matching {
  readonly #database: Database;
  readonly #segment: number;
  readonly #documents: number;

  constructor(database: Database, segment: number, documents: number) {
    this.#database = database;
    this.#segment = segment;
    this.#documents = documents;
  }

  bitsOf(expression: Expression): Bits {
    if ("token" in expression) return this.#bitsOfTokens(tokenRange(expression.token, expression.isPrefix));
    if ("any" in expression) return this.#together(expression.any, (a, b) => a | b);
    if ("all" in expression) return this.#together(expression.all, (a, b) => a & b);
    return this.#together([expression.some, ...expression.none], (a, b) => a & ~b);
  }

  #together([first, ...others]: readonly Expression[], join: (a: number, b: number) => number): Bits {
    const bits = first ? this.bitsOf(first) : this.#none();
    for (const other of others) {
      const more = this.bitsOf(other);
      for (let at = 0; at < bits.length; at++) bits[at] = join(bits[at] as number, more[at] as number);
    }
    return bits;
  }

  #bitsOfTokens(range: TokenRange): Bits {
    const bits = this.#none();
    eachToken(this.#database, this.#segment, range, (leaf) => {
      leaf.documents((document) => {
        bits[document >>> 5] = (bits[document >>> 5] as number) | (1 << (document & 31));
      });
      return true;
    });
    return bits;
  }

  #none(): Bits {
    return new Uint32Array((this.#documents + 31) >>> 5);
  }
}
