/** Both implementations do the same; Bun has the modules of Node, too. */
import { expect, test } from "bun:test";
import { temporaryDirectory } from "../../../test/support/index.ts";
import * as node from "./database.node.ts";
import * as bun from "./database.ts";
import { createSegmentTable, createTables } from "./schema.ts";

test.each([
  ["Bun", bun],
  ["Node", node],
])("%s opens databases and compresses", (_, { openDatabase, compress, decompress }) => {
  using place = temporaryDirectory();
  const path = `${place.path}/a b.db`;
  const database = openDatabase(path);
  createTables(database);
  createSegmentTable(database, 1);
  const insert = database.statement("insert into words_1 (rowid, words) values (?, ?)");
  insert.run(1, "one two");
  // As bytes, which is faster than as a string.
  insert.run(2, Buffer.from("two 検索"));
  const find = database.statement("select rowid from words_1 where words_1 match ?");
  const found = (query: string) => find.all(query).map((row) => (row as { rowid: number }).rowid);
  expect([found('"two"'), found('"on" *'), found('"検索"')]).toEqual([[1, 2], [1], [2]]);
  const data = Buffer.from("text ".repeat(100));
  database.statement("insert into blocks values (?, ?)").run(1, compress(data));
  const { data: stored } = database.statement("select data from blocks").get() as { data: Uint8Array };
  expect(decompress(stored).equals(data)).toBe(true);
  expect(database.statement("select 1 where 0").get()).toBeUndefined();
  database.close();
  const unwritable = openDatabase(`file:${encodeURI(path)}?immutable=1`, { readOnly: true });
  expect(() => unwritable.execute("create table t (a)")).toThrow();
  unwritable.close();
});
