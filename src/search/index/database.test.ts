/** Both implementations do the same; Bun has the modules of Node, too. */
import { expect, test } from "bun:test";
import { temporaryDirectory } from "../../../test/support/index.ts";
import * as node from "./database.node.ts";
import * as bun from "./database.ts";
import { createTables } from "./schema.ts";

test.each([
  ["Bun", bun],
  ["Node", node],
])("%s opens databases and compresses", (_, { openDatabase, compress, decompress }) => {
  using place = temporaryDirectory();
  const path = `${place.path}/a b.db`;
  const database = openDatabase(path);
  createTables(database);
  const insert = database.statement("insert into words values (?, ?, ?)");
  for (const token of ["one", "two", "検索"]) insert.run(1, Buffer.from(token), Buffer.from([0, 255]));
  const find = database.statement("select first from words where run = ? and first <= ? order by first desc limit 1");
  const found = (token: string) => find.get(1, Buffer.from(token)) as { first: Uint8Array } | undefined;
  const names = ["o", "one", "onf", "検", "検索"].map((token) => found(token)?.first);
  expect(names.map((first) => first && Buffer.from(first).toString())).toEqual([
    undefined,
    "one",
    "one",
    "two",
    "検索",
  ]);
  expect(database.statement("select value from json_each(?)").all("[3,1]")).toMatchObject([{ value: 3 }, { value: 1 }]);
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
