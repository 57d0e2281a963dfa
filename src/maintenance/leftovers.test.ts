import { expect, test } from "bun:test";
import { existsSync, mkdirSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryRepository } from "../../test/support/index.ts";
import { enabledWorkspace, ownHome } from "../../test/support/own-process.ts";
import { temporaryBeside } from "../base/fs/files.ts";
import { changePruneMark, privatePlace } from "../git/private/store.ts";
import { leftoversIn, removeLeftovers } from "./leftovers.ts";

ownHome();

/** Above what any system gives to a process. */
const NO_AGENT = 2 ** 30;

test("a file that a live process writes is not a leftover, whatever numbers its name has", async () => {
  using repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  mkdirSync(workspace.stateDir, { recursive: true });
  const index = join(workspace.stateDir, `index.137.1794929992170803176.${NO_AGENT}`);
  const own = [temporaryBeside(index), temporaryBeside(join(workspace.storeDir, "steps.jsonl"))];
  const dead = own.map((name) => name.replace(`.${process.pid}.`, `.${NO_AGENT}.`));
  for (const file of [...own, ...dead]) writeFileSync(file, "");
  expect(leftoversIn(workspace).files.sort()).toEqual([...dead].sort());
  removeLeftovers(workspace);
  expect([...own, ...dead].map((file) => existsSync(file))).toEqual([true, true, false, false]);
});

test("the mark of the private store is written where a killed process's file is found", async () => {
  using repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  privatePlace(workspace)();
  const { promise, resolve } = Promise.withResolvers<string>();
  using watcher = { of: watch(workspace.storeDir), [Symbol.dispose]: () => watcher.of.close() };
  watcher.of.on("change", (_, name) => {
    if (String(name).endsWith(".tmp")) resolve(String(name));
  });
  changePruneMark(workspace);
  const left = join(workspace.storeDir, (await promise).replace(`.${process.pid}.`, `.${NO_AGENT}.`));
  writeFileSync(left, "");
  expect(leftoversIn(workspace).files).toEqual([left]);
});
