/** Runs hold every token with its documents, however long the lists are and however often runs were merged. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { Postings } from "../words/postings.ts";
import { tokensOf } from "../words/split.ts";
import { openDatabase } from "./database.ts";
import type { Database } from "./database-types.ts";
import { LeafReader } from "./leaves.ts";
import { documentsMatching, tokensLike } from "./matching.ts";
import { eachToken, mergeRuns, tokenRange, writeRun } from "./runs.ts";
import { createTables } from "./schema.ts";
import { IDS } from "./segments.ts";

/** Long enough for lists that fill leaves. */
const DOCUMENTS = 9_000;

/** Token by token, the documents that have it. */
type Lists = Map<string, number[]>;

/** Writes the texts as documents of one segment, with a run after each of the given numbers of them. */
function written(texts: readonly string[], runs: ReadonlySet<number>): { database: Database; lists: Lists } {
  const database = openDatabase(":memory:");
  createTables(database);
  const postings = new Postings();
  const lists: Lists = new Map();
  for (const [number, text] of texts.entries()) {
    postings.add(number, Buffer.from(text));
    for (const token of tokensOf(text)) {
      const list = lists.get(token) ?? [];
      list.push(number);
      lists.set(token, list);
    }
    if (runs.has(number)) writeRun(database, 1, postings);
  }
  writeRun(database, 1, postings);
  return { database, lists };
}

function found(database: Database, token: string, isPrefix: boolean): number[] {
  return documentsMatching(database, { id: 1, docs: DOCUMENTS }, { token, isPrefix }).map((id) => id - IDS);
}

/** Reading every list. */
function scanned(lists: Lists, token: string, isPrefix: boolean): number[] {
  if (!isPrefix) return lists.get(token) ?? [];
  const all = [...lists].filter(([one]) => one.startsWith(token)).flatMap(([, documents]) => documents);
  return [...new Set(all)].sort((a, b) => a - b);
}

/** Neighbors in the order of bytes, some of them in nearly all documents. */
const NAMES = "a aa ab aé b m ma ma0 mé m検 mz n no nowhere of the then z zz 検索 索 é".split(" ");
const share = fc.constantFrom(0, 0, 0.000_2, 0.001, 0.1, 0.5, 0.95, 1);

test("every token is found in exactly its documents, across leaves and runs", () => {
  fc.assert(
    fc.property(
      fc.array(share, { minLength: NAMES.length, maxLength: NAMES.length }),
      fc.array(fc.nat(DOCUMENTS - 1), { maxLength: 12 }),
      fc.nat(1_000),
      fc.boolean(),
      (shares, runs, seed, isMerged) => {
        let state = seed + 1;
        const random = () => {
          state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
          return state / 2 ** 32;
        };
        const texts = Array.from({ length: DOCUMENTS }, (_, number) =>
          [...NAMES.filter((_, at) => random() < (shares[at] ?? 0)), `x${number % 997}`].join(" "),
        );
        const { database, lists } = written(texts, new Set(runs));
        if (isMerged) mergeRuns(database, 1);
        for (const name of [...NAMES, "x5", "x996", "y", "nowher", "$", "\uffff"]) {
          for (const isPrefix of [false, true])
            expect({ name, isPrefix, found: found(database, name, isPrefix) }).toEqual({
              ...{ name, isPrefix, found: scanned(lists, name, isPrefix) },
            });
        }
        database.close();
      },
    ),
    { numRuns: 15 },
  );
}, 60_000);

test("a token with a long list has a separate leaf, and other tokens are looked up without it", () => {
  const texts = Array.from({ length: DOCUMENTS }, (_, number) => `common of the z rare${number}`);
  const { database } = written([...texts, "commoner"], new Set());
  const rows = database.statement("select first, data from words order by first").all();
  const leaves = (rows as { first: Uint8Array; data: Uint8Array }[]).map(({ first, data }) => ({
    ...{ first: Buffer.from(first).toString(), isLong: data.length > 8_192, isEmpty: data.length === 0 },
  }));
  const long = ["common", "of", "rare", "the", "z"];
  expect(leaves.filter(({ isLong }) => isLong).map(({ first }) => first)).toEqual(long);
  for (const token of long) {
    const after = leaves[leaves.findIndex(({ first }) => first === token) + 1];
    expect(after).toEqual({ first: `${token}\0`, isLong: false, isEmpty: !/^(?:common|rare)$/.test(token) });
  }
  expect(found(database, "commoner", false)).toEqual([DOCUMENTS]);
  expect(found(database, "common", true)).toHaveLength(DOCUMENTS + 1);
  expect(found(database, "rare8999", false)).toEqual([8_999]);
  expect(["office", "zzz", "nowhere"].flatMap((token) => found(database, token, true))).toEqual([]);
  expect(tokensLike(database, { id: 1 }, "commo", 5)).toEqual(["common", "commoner"]);
  database.close();
});

test("any bytes are read as a leaf without an error", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (data) => {
      const leaf = new LeafReader();
      leaf.open(data);
      for (let tokens = 0; leaf.next(); tokens++) {
        leaf.documents(() => {});
        expect(tokens).toBeLessThan(300);
      }
    }),
  );
  const database = openDatabase(":memory:");
  createTables(database);
  database.statement("insert into runs (segment, bytes) values (1, 9)").run();
  database.statement("insert into words values (1, ?, ?)").run(Buffer.from("a"), Buffer.alloc(64, 0xff));
  expect(found(database, "a", true)).toBeArray();
  eachToken(database, 1, tokenRange("", true), () => true);
  database.close();
});
